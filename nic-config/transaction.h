/* Applies a document completely or not at all, and restores the previous settings. prepare.c does the steps
 * before the first write. */
#ifndef NIC_CONFIG_TRANSACTION_H
#define NIC_CONFIG_TRANSACTION_H

#include "nic-config/document.h"
#include "nic-config/journal.h"
#include "nic-config/knobs/knob.h"

/* ---- a subject: one interface, its current and its wanted settings */

/* One interface that a command works on: its properties, its current settings, the wanted settings. */

struct subject {
    struct device device;
    char known_as[IFNAMSIZ];  /* the name that it has in the journal: its own may have changed since */
    char out_of_reach[160];   /* why its settings cannot be restored from here, or "" */
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

/* Read all settings into before, places, missing and unread. A setting that cannot be read is an error only
 * for a caller that needs it. */
void subject_read_before(struct subject *s);
/* Whether one of the knob's keys is wanted. */
bool subject_wants(const struct subject *s, const struct knob *knob);

struct transaction {
    struct host *host;
    struct journal *journal; /* NULL: nothing will be written */
    bool skip_missing;
    struct subject *subjects;
    size_t count;
    bool wrote; /* something was changed, or may have been */
    bool undoing;
    /* lists for the output, see docs/nic-config.1 */
    json_t *changes, *skipped, *warnings, *thresholds, *restored, *failed, *gone;
    json_t *asked, *read; /* of a mismatch; NULL without one */
};

void transaction_init(struct transaction *t, struct host *host, struct journal *journal);
void transaction_free(struct transaction *t);

/* One more interface; NULL with a sentence. */
struct subject *transaction_add(struct transaction *t, const char *name, struct error *e);
/* Add to `changes` every key of the target whose current value differs. */
void transaction_note_change(struct transaction *t, const struct subject *s, const struct knob *knob,
                             const json_t *now, const json_t *target);

/* Read interfaces: a list of names. */
int transaction_read(struct transaction *t, const json_t *names, struct error *e);
/* Read what a document (interfaces -> settings) names, complete and check it. Nothing is written. */
int transaction_prepare(struct transaction *t, const json_t *interfaces, struct error *e);
/* What would be written, into changes. */
void transaction_compare(struct transaction *t);
/* Write, read back, compare. On error the caller undoes. 0 done, 1 interrupted, -1 error. */
int transaction_apply(struct transaction *t, struct error *e);
/* After apply: the thresholds that the driver uses, where it shows them. */
void transaction_read_thresholds(struct transaction *t);
/* Restore every subject to its `before`; -1 when something could not be restored, see `failed`. */
int transaction_undo(struct transaction *t, struct error *e);
/* Load the subjects from the journal, and undo. */
int transaction_restore(struct transaction *t, struct error *e);

/* Interfaces -> settings: 'b' before, 'w' wanted, 'r' read now. A new reference. */
json_t *transaction_document(struct transaction *t, char which);

#endif
