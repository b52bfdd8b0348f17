/* Files that set what a search found: a scenario, settings for nic-config, entries for SONiC switches. */
#ifndef HARNESS_USE_H
#define HARNESS_USE_H

#include "harness/search/candidates.h"

/* Write them into the folder `staged`; runs are in that of the study. The scenario is checked as `harness
 * check` does, settings by the table of nic-config; entries of CONFIG_DB are those that the winner's own run
 * had set.
 * {"files": [{"file", "is", "roles"}], "not_made": {WHAT: WHY}}: a new reference. NULL: one could not be
 * written.
 */
json_t *use_write(const struct study *study, const struct candidate *winner, const char *folder,
                  const char *staged, struct error *e);
/* Remove those that `use` does not name. */
void use_forget_others(const json_t *use, const char *folder);
void use_print(const json_t *use, const char *folder);

#endif
