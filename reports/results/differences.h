/* Settings that differ between compared runs. */
#ifndef REPORTS_DIFFERENCES_H
#define REPORTS_DIFFERENCES_H

#include <jansson.h>
#include <stddef.h>

/* {"settings.cable": ["2m", "7m"], "lab.sim.hosts.a.gpu.pcie": [...]}: values of scenario, lab, seed and program that
 * differ between the `count` results (result.json), as texts; null if a result has none. If scenarios or labs have
 * different names, only their names are listed. A new reference; NULL: out of memory. */
json_t *differences_between(const json_t *const *results, size_t count);
/* "cable 7m, seed 2": the differences of result `i`, by the last parts of their paths; empty if there are none or too
 * many for a label. The caller frees. */
char *differences_label(const json_t *differences, size_t i);

#endif
