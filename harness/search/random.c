/* Candidates by chance: each alone, or so many at once that every part of every range is met (a Latin
 * hypercube, McKay, Beckman and Conover 1979). */
#include "harness/search/strategy.h"

#include "lib/xalloc.h"
#include <stdlib.h>

struct chance {
    struct random random;
    size_t parameters;
    size_t left; /* places of the hypercube that were not given out */
    size_t parts;
    double *cube; /* by parameter, then by part */
};

static void *begin_chance(const struct study *study, uint64_t seed)
{
    struct chance *c = xcalloc(1, sizeof *c);
    c->parameters = study->parameter_count;
    random_seed(&c->random, seed);
    return c;
}

static void end_chance(void *state)
{
    struct chance *c = state;
    free(c->cube);
    free(c);
}

static void propose_random(void *state, const struct tries *tries, const double *const *beside,
                           size_t proposed, double *places)
{
    struct chance *c = state;
    (void)tries;
    (void)beside;
    (void)proposed;
    for (size_t i = 0; i < c->parameters; i++)
        places[i] = random_unit(&c->random);
}

/* The parts of a range in random order (Fisher and Yates), a place in each. */
static void fill_row(struct chance *c, double *row)
{
    for (size_t i = 0; i < c->parts; i++)
        row[i] = ((double)i + random_unit(&c->random)) / (double)c->parts;
    for (size_t i = c->parts; i > 1; i--) {
        size_t k = random_below(&c->random, i);
        double other = row[k];
        row[k] = row[i - 1];
        row[i - 1] = other;
    }
}

#define PARTS_UNKNOWN 64

static void propose_latin(void *state, const struct tries *tries, const double *const *beside,
                          size_t proposed, double *places)
{
    struct chance *c = state;
    (void)beside;
    (void)proposed;
    if (c->left == 0) {
        c->parts = c->left = tries->budget > 0 && tries->budget < 4096 ? tries->budget : PARTS_UNKNOWN;
        free(c->cube);
        c->cube = xcalloc(c->parameters * c->parts, sizeof *c->cube);
        for (size_t i = 0; i < c->parameters; i++)
            fill_row(c, c->cube + i * c->parts);
    }
    c->left--;
    for (size_t i = 0; i < c->parameters; i++)
        places[i] = c->cube[i * c->parts + c->left];
}

const struct strategy strategy_random = {"random", begin_chance, propose_random, end_chance};
const struct strategy strategy_latin_hypercube = {"latin-hypercube", begin_chance, propose_latin, end_chance};
