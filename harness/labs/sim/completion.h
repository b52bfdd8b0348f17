/* Completion times of a traffic pattern's flows, and their slowdown over an empty network. */
#ifndef HARNESS_SIM_COMPLETION_H
#define HARNESS_SIM_COMPLETION_H

#include "harness/labs/sim/sim_config.h"

/* Of the flows first..end-1 that started at from_ps or later (of all, when none did): {"flows": {"started", "finished"},
 * "completion_ns": {...}, "slowdown": {...}, "by_size": [...]}; the last three only when some have finished. A new reference. */
json_t *sim_completion_json(const struct sim *sim, const struct sim_setup *setup, size_t first, size_t end,
                            int64_t from_ps);

#endif
