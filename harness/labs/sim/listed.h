/* Which roles of a simulated lab are listed: their samples are written, and their counters are in the result one by one. */
#ifndef HARNESS_SIM_LISTED_H
#define HARNESS_SIM_LISTED_H

#include "harness/labs/sim/lab.h"

/* Without sample.roles as many columns are listed, and with it no more than the second: a column takes about 350 bytes of result.json. */
#define LISTED_COLUMNS      16384
#define LISTED_COLUMNS_MOST 98304

/* Tell the recorder which roles are not listed, before it has their columns; lab->series are open. -1: sample.roles names more than
 * a result has room for. */
int listed_choose(struct sim_lab *lab, struct error *e);

#endif
