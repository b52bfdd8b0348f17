/* Two burn-ins, an accepted one and a later one: findings, versions, and figures of NICs that moved. */
#ifndef HARNESS_BURN_IN_COMPARE_H
#define HARNESS_BURN_IN_COMPARE_H

#include "lib/document/table.h"

/* Is the folder that of a burn-in? */
bool burn_in_is(const char *folder);
/* The comparison as a document (docs/burn-in.md), a new reference. Rules (char *) are "FIGURE SIGN LIMIT":
 * host_tx, host_rx, gpu_tx or gpu_rx of each NIC, against a rate or "97% of old"; or "findings > 0". */
json_t *burn_in_compare(const char *old_folder, const char *new_folder, const struct list_of *rules,
                        struct error *e);
/* Can all of them be read? `old`: there is an old one, against which they may be. */
int burn_in_check_rules(const struct list_of *rules, bool old, struct error *e);
/* Rules over two documents: a list of {rule, verdict, reason}; a new reference. */
json_t *burn_in_judge_rules(const json_t *old, const json_t *new, const struct list_of *rules);
/* For people. */
void burn_in_compare_print(const json_t *comparison, size_t width);
/* The exit status: 1 if a rule holds; else 4 if one could not be judged, or nothing was compared. */
int burn_in_compare_status(const json_t *comparison);

#endif
