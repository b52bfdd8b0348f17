/*
 * A knob is one setting, or a few that the kernel takes together, of one interface: how it is read, checked and written.
 * Knobs know nothing of documents, journals and transactions; those know nothing of netlink and sysfs.
 */
#ifndef NIC_CONFIG_KNOB_H
#define NIC_CONFIG_KNOB_H

#include "nic-config/device/device.h"
#include "lib/clock.h"
#include "lib/formats/settings.h"
#include "lib/text.h"
#include <jansson.h>

/* Drivers that reopen their queues drop the carrier within the call; a port that trains anew does so some time after. */
#define FLAP_SOON_NS  (100 * NS_PER_MS)
#define FLAP_LATER_NS (500 * NS_PER_MS)

enum knob_answer {
    KNOB_READ,    /* the values are in */
    KNOB_MISSING, /* this interface has no such thing; the sentence says why */
    KNOB_FAILED,  /* it should have been read; the sentence says why it was not */
};

struct knob {
    const char *name;
    const char *const *keys; /* of the settings document that it reads and writes; ended by NULL */
    bool follows; /* the driver moves it along with other settings: only restore puts it back unasked */
    /* What is read is what will be after the next reload: a write that was begun and not noted as done is done again. */
    bool deferred;
    int64_t
        flap_ns; /* a write may take the link down within this time: wait, then for carrier and GIDs; 0: never */
    /* Put every one of `keys` into settings, in the document's canonical form, and say where it was read. */
    enum knob_answer (*read)(struct device *d, json_t *settings, struct text *place, struct error *e);
    /* Fill in what `wanted` leaves open, in target (what is in force, with `wanted` laid over it). May be NULL. */
    int (*complete)(struct device *d, const json_t *wanted, json_t *target, struct error *e);
    /* What the device can be told before it is tried; sentences may be added to `warnings`. May be NULL. */
    int (*check)(struct device *d, const struct settings *now, const struct settings *target,
                 json_t *warnings, struct error *e);
    int (*write)(struct device *d, const struct settings *now, const struct settings *target,
                 struct error *e);
    /* NULL: the values of `keys` are equal. */
    bool (*same)(const struct settings *now, const struct settings *target);
};

/* Every knob, in the order of writing: what makes or reloads an interface first, then what may take its link down, PFC after its
 * buffers (the driver refuses a lossless buffer that is too small), RED last, when packets already take their way. What is put
 * back goes the other way: RED's going leaves a default qdisc whose quantum is looked at once the MTU is as it was. */
#define KNOBS(KNOB)                                                                               \
    KNOB(kind)                                                                                    \
    KNOB(roce)                                                                                    \
    KNOB(quantum)                                                                                 \
    KNOB(mtu) KNOB(ring) KNOB(coalesce) KNOB(pause) KNOB(up) KNOB(bridge) KNOB(address) KNOB(ets) \
        KNOB(cable) KNOB(buffers) KNOB(pfc) KNOB(trust) KNOB(stall) KNOB(ecn) KNOB(dcqcn)         \
            KNOB(traffic_class) KNOB(counters) KNOB(red)
#define KNOB_DECLARE(name) extern const struct knob knob_##name;
KNOBS(KNOB_DECLARE)
/* In that order; ended by NULL. */
extern const struct knob *const knobs[];

/* MISSING for errors that mean "not on this device" (EOPNOTSUPP, ENODEV, ENOENT, ...), else FAILED. */
enum knob_answer knob_answer_of(int number);
/* A list of numbers as a document holds it. */
json_t *knob_list(const int64_t *values, size_t count);
/* Value of a key "0".."limit" of a map in struct settings, or `otherwise`. */
int64_t knob_map_value(const struct list_of *map, int key, int64_t otherwise);
/* Bit mask of a list of priorities. */
uint8_t knob_mask(const struct list_of *priorities);
json_t *knob_mask_list(uint8_t mask);

#endif
