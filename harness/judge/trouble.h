/* What went wrong in a run, whatever its expectations say. */
#ifndef HARNESS_TROUBLE_H
#define HARNESS_TROUBLE_H

#include "harness/plan/cell.h"

/* Add to the "warnings" of a whole run's result what its figures tell: packets that were lost (`losses`: by
 * role and counter, {"before": the measured phase, "measured": in it}), flows that moved nothing, or nothing
 * for most of the measured phase, or that DCQCN had not settled (`evenness`, as recorder_evenness has it),
 * phases too short for rates, patterns whose queue pairs gave up, senders that sent more again than arrived,
 * more moved than NICs counted, links and settings that changed meanwhile, CNPs that no mark asked for,
 * goodput above what a line carries or other than what was delivered, which the flows' "above_line_bps" says,
 * too (docs/result.md). */
void trouble_find(const struct cell *cell, const json_t *losses, const json_t *evenness, json_t *result);

#endif
