/* Settings that everybody knows, which every search is compared with: what was published, and what the hosts
 * had before. */
#ifndef HARNESS_KNOWN_H
#define HARNESS_KNOWN_H

#include "harness/search/study.h"

/* Those that were published, as far as they say something of what is varied. Values that are not varied are
 * set in a simulated lab, and where the scenario has them; hosts keep their own. A name that the scenario has
 * among its own baselines is not added. */
void known_add_published(struct study *study);

/* The first of the known settings, up to this one itself, that sets the same. */
size_t known_same(const struct study *study, size_t number);

/* Of a lab of hosts: known_add_in_force() will add one. */
bool known_reads_hosts(const struct study *study);
/* What was in force before the study of what is varied, by settings.json of its first run in `folder`; or why
 * there is nothing to try, in study->absent. */
void known_add_in_force(struct study *study, const char *folder);

#endif
