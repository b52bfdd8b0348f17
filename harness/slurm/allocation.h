/* The nodes of the job of Slurm that this program runs in, as the hosts of a lab. */
#ifndef HARNESS_ALLOCATION_H
#define HARNESS_ALLOCATION_H

#include "lib/document/table.h"
#include "lib/error.h"
#include "lib/words.h"

/* --hosts-from (NULL: not given): put assignments (--set) that give the hosts of the ssh lab, in its order,
 * the nodes' names in place of the lab's before those of a request (char *), which are kept as such; the user
 * of USER@HOST stays, spare nodes are left. `lab`: --lab, NULL: the user's own. The texts are those of
 * `words`. */
int allocation_take(const char *hosts_from, const char *lab, struct list_of *sets, struct words *words,
                    struct error *e);

#endif
