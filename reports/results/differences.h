/* What was set differently in runs that are compared. */
#ifndef REPORTS_DIFFERENCES_H
#define REPORTS_DIFFERENCES_H

#include <jansson.h>
#include <stddef.h>

/* {"settings.cable": ["2m", "7m"], "lab.sim.hosts.a.gpu.pcie": [...]}: values of scenario, lab, seed and program that are not the same in all
 * `count` results (result.json), a text each, null where a result has none. A scenario or lab of another name stands for all that is in it. A new
 * reference; NULL when memory runs out. */
json_t *differences_between(const json_t *const *results, size_t count);
/* "cable 7m, seed 2": those of result `i`, by the last parts of their paths; empty when there are none or more than a label holds. The caller
 * frees. */
char *differences_label(const json_t *differences, size_t i);

#endif
