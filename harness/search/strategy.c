#include "harness/search/strategy.h"

#include <string.h>

const struct strategy *strategy_of(int number)
{
    static const struct strategy *const all[] = {
        [SEARCH_MODEL] = &strategy_model,
        [SEARCH_ANNEALING] = &strategy_annealing,
        [SEARCH_LATIN_HYPERCUBE] = &strategy_latin_hypercube,
        [SEARCH_RANDOM] = &strategy_random,
    };
    return all[number];
}
