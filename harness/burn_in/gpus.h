/* Which GPU copies less than others like it: by nvbandwidth (ask.h). */
#ifndef HARNESS_BURN_IN_GPUS_H
#define HARNESS_BURN_IN_GPUS_H

#include <jansson.h>

/* Add to "findings" and "unknown" of a burn-in (findings.h) what the machines' answers tell:
 * seen.nvbandwidth, and that of seen.baseline. */
void judge_gpu_copies(const json_t *seen, json_t *findings, json_t *unknown);

#endif
