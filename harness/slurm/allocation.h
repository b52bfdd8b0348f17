/* The nodes of the job of Slurm that this program runs in, as the hosts of a lab. */
#ifndef HARNESS_ALLOCATION_H
#define HARNESS_ALLOCATION_H

#include "lib/error.h"
#include "lib/words.h"

/* Append assignments (--set) that give the hosts of the ssh lab, in its order, the nodes' names in place of
 * the lab's: the user of USER@HOST stays. `lab`: --lab, NULL: the user's own. Spare nodes are left. */
int allocation_sets(const char *lab, struct words *sets, struct error *e);

#endif
