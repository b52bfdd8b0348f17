/* Completion times of a traffic pattern's flows, and their slowdown over an empty network. */
#ifndef HARNESS_LABS_SIM_COMPLETIONS_H
#define HARNESS_LABS_SIM_COMPLETIONS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct completion {
    int64_t bytes, start_ps;
    double ns, slowdown; /* ns < 0: it has begun and not finished */
    size_t number;       /* of the flow: those of one size are in this order */
};

struct completions {
    struct completion *all;
    size_t count, capacity;
};

/* Flow `number` of so many bytes began at start_ps; finished_ps < 0: it has not finished. ideal_ps: of all
 * its messages on an empty network. */
void completions_add(struct completions *c, size_t number, int64_t bytes, int64_t start_ps,
                     int64_t finished_ps, double ideal_ps);
void completions_free(struct completions *c);

/* Of the flows that began at from_ps or later (all, when none did): {"flows": {"started", "finished", and
 * where some are left out "earlier"}, "completion_ns": {...}, "slowdown": {...}, "by_size": [...]}; the last
 * three only when some have finished. Sorts them. A new reference. */
json_t *completions_json(struct completions *c, int64_t from_ps);

#endif
