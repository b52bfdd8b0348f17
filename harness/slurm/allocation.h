/* The nodes of the job of Slurm that this program runs in, as the hosts of a lab. */
#ifndef HARNESS_ALLOCATION_H
#define HARNESS_ALLOCATION_H

#include "lib/error.h"
#include "lib/words.h"

/* Append the names of a list as SLURM_JOB_NODELIST has it: "n[01-04,7],gpu3". */
int allocation_names(const char *list, struct words *nodes, struct error *e);
/* Append assignments (--set) that give the hosts of the ssh lab, in its order, the nodes' names in place of
 * the lab's: the user of USER@HOST stays. `lab`: --lab, NULL: the user's own. Spare nodes are left. */
int allocation_sets(const char *lab, struct words *sets, struct error *e);

#endif
