/* Which roles of a simulated lab are listed: their samples are written, and their counters are in the result one by one. */
#ifndef HARNESS_SIM_LISTED_H
#define HARNESS_SIM_LISTED_H

#include "harness/labs/sim/lab.h"

/* Without sample.roles about as many columns are listed, and with it no more than the second: a column takes about 350 bytes of
 * result.json. */
#define LISTED_COLUMNS      16384
#define LISTED_COLUMNS_MOST 98304

/* Before a run: -1 when a role that will be listed has more columns than a line of samples may have, or all of them together more than a
 * result has room for. */
int listed_check(const struct cell *cell, const struct sim *sim, const struct sim_setup *setup,
                 struct error *e);
/* Tell the recorder which roles are not listed, before it has their columns; lab->series are open. -1 when memory ran out. */
int listed_choose(struct sim_lab *lab);

#endif
