/* How candidates are chosen: a file for each strategy. Places are those of the parameters in their ranges, in
 * [0, 1). */
#ifndef HARNESS_STRATEGY_H
#define HARNESS_STRATEGY_H

#include "harness/search/front.h"
#include "harness/search/study.h"
#include "lib/random.h"

/* What is known of a candidate that has run. */
struct tried {
    const double *places;
    bool feasible;        /* the constraints held, and all objectives had values */
    struct vector values; /* means over its runs; of one that is not feasible not to be used */
};

struct tries {
    const struct study *study;
    const struct tried *items; /* in the order in which they were proposed, the baselines first */
    size_t count;
    size_t budget; /* candidates that the study may have in all, about; 0: not known */
};

struct strategy {
    const char *name; /* as in search_strategies */
    /* Before the first proposal. NULL when memory ran out. */
    void *(*begin)(const struct study *study, uint64_t seed);
    /* The places of another candidate. Those of a round do not know of each other's results,
     * only of each other: the first `proposed` of `beside`. It may be asked again for one that cannot be run.
     */
    void (*propose)(void *state, const struct tries *tries, const double *const *beside, size_t proposed,
                    double *places);
    void (*end)(void *state);
};

extern const struct strategy strategy_random, strategy_latin_hypercube, strategy_annealing, strategy_model;

/* By its number in search_strategies. */
const struct strategy *strategy_of(int number);

#endif
