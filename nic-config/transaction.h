/* Applies a document completely or not at all, and restores the previous settings. prepare.c does the steps
 * before the first write. */
#ifndef NIC_CONFIG_TRANSACTION_H
#define NIC_CONFIG_TRANSACTION_H

#include "nic-config/document.h"
#include "nic-config/journal.h"
#include "nic-config/subject.h"

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
void transaction_note_change(struct transaction *t, const struct subject *s, const json_t *now,
                             const json_t *target);

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
