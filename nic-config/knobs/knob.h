/*
 * A knob is one setting of one interface, or several that the kernel sets together: how it is read, checked
 * and written. Knobs do not depend on documents, journals and transactions; those do not depend on netlink
 * and sysfs.
 */
#ifndef NIC_CONFIG_KNOB_H
#define NIC_CONFIG_KNOB_H

#include "nic-config/device/device.h"
#include "lib/clock.h"
#include "lib/formats/settings.h"
#include "lib/text.h"
#include <jansson.h>

/* Drivers that reopen their queues drop the carrier within the call; a port that retrains its link drops it
 * some time later. */
#define FLAP_SOON_NS  (100 * NS_PER_MS)
#define FLAP_LATER_NS (500 * NS_PER_MS)

enum knob_answer {
    KNOB_READ,    /* the values were added */
    KNOB_MISSING, /* this interface does not have the setting; the error says why */
    KNOB_FAILED,  /* the setting exists but could not be read; the error says why */
};

struct knob {
    const char *name;
    const char *const *keys; /* keys of the settings document that the knob reads and writes; ended by NULL */
    bool follows; /* the driver changes it together with other settings: only restore writes it back without a
                     request */
    /* The value read takes effect at the next reload: a write that was begun and not recorded as done is
     * repeated. */
    bool deferred;
    int64_t flap_ns; /* a write may take the link down within this time: wait for it, then for carrier and
                        GIDs; 0: never */
    /* Add every one of `keys` to settings, in the document's canonical form, and report where it was read. */
    enum knob_answer (*read)(struct device *d, json_t *settings, struct text *place, struct error *e);
    /* Complete target (the current settings merged with `wanted`) where `wanted` leaves values open. May be
     * NULL. */
    int (*complete)(struct device *d, const json_t *wanted, json_t *target, struct error *e);
    /* Check target against what the device supports, before the write; messages may be added to `warnings`.
     * May be NULL. */
    int (*check)(struct device *d, const struct settings *now, const struct settings *target,
                 json_t *warnings, struct error *e);
    int (*write)(struct device *d, const struct settings *now, const struct settings *target,
                 struct error *e);
    bool adds; /* values are lists, of which a write adds what is missing: what else is there stays */
    /* NULL: the values of `keys` are equal. */
    bool (*same)(const struct settings *now, const struct settings *target);
};

/* Are its keys settings of RoCE? They are not looked at while RoCE is switched off. */
bool knob_is_of_roce(const struct knob *knob);

/* Every knob; SETTINGS_KNOBS has the order of writing. */
#define KNOB_DECLARE(name) extern const struct knob knob_##name;
SETTINGS_KNOBS(KNOB_DECLARE)
/* In that order; ended by NULL. */
extern const struct knob *const knobs[];

/* MISSING for errors that mean "not on this device" (EOPNOTSUPP, ENODEV, ENOENT, ...), else FAILED. */
enum knob_answer knob_answer_of(int number);
/* The value of a key "0".."limit" of a map in struct settings, or `otherwise`. */
int64_t knob_map_value(const struct list_of *map, int key, int64_t otherwise);
/* Bit mask of a list of priorities. */
uint8_t knob_mask(const struct list_of *priorities);
json_t *knob_mask_list(uint8_t mask);

#endif
