/* What went wrong in a run, whatever its expectations say. */
#ifndef HARNESS_TROUBLE_H
#define HARNESS_TROUBLE_H

#include "harness/plan/cell.h"

/* Add to the "warnings" of a whole run's result what its figures tell: flows that moved nothing, patterns
 * whose queue pairs gave up, senders that sent more again than arrived, goodput above what a line carries,
 * which the flows' "above_line_bps" says, too (docs/result.md). */
void trouble_find(const struct cell *cell, json_t *result);

#endif
