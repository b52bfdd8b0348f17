/* One interface that a command works on: its properties, its current settings, the wanted settings. */
#ifndef NIC_CONFIG_SUBJECT_H
#define NIC_CONFIG_SUBJECT_H

#include "nic-config/journal.h"
#include "nic-config/knobs/knob.h"

struct subject {
    struct device device;
    bool to_be_made;          /* it does not exist yet: its settings can be read only after it is created */
    bool upon;                /* it is upon one that the document names: only restore writes to it */
    json_t *before;           /* settings in force */
    json_t *places;           /* setting -> where it was read */
    json_t *missing;          /* setting -> why it is unavailable */
    json_t *unread;           /* setting -> why it could not be read although it should exist */
    json_t *wanted;           /* as requested, or NULL */
    json_t *target;           /* `before` merged with `wanted`, completed */
    json_t *bound;            /* addresses, routes and others that it had (bound.h), or NULL */
    struct settings recalled; /* how RED was last written, from the journal */
    bool has_recalled;
};

/* journal may be NULL. */
int subject_open(struct subject *s, struct host *host, const struct journal *journal, const char *name,
                 struct error *e);
void subject_close(struct subject *s);
/* Tell the device how RED was last written. Called again after each write, because the journal has changed. */
void subject_recall(struct subject *s, const struct journal *journal);

/* Read one knob into settings; its place, or the reason of its absence, is recorded if these arguments are
 * not NULL. */
enum knob_answer subject_read(struct subject *s, const struct knob *knob, json_t *settings, json_t *places,
                              json_t *missing, struct error *e);
/* Read all settings into before, places, missing and unread. A setting that cannot be read is an error only
 * for a caller that needs it. */
void subject_read_before(struct subject *s);
/* Whether one of the knob's keys is wanted. */
bool subject_wants(const struct subject *s, const struct knob *knob);

#endif
