/*
 * Simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983) with the schedule of Paraleon (ICNP 2024): the
 * temperature falls from 0.1 to 0.01 by a factor of 0.76 after every 8 candidates, up to 8 parameters move at
 * once, each by a part of its range times a number from 0.5 to 1. Several objectives are one: the mean of
 * their places between the best and the worst seen.
 */
#include "harness/search/strategy.h"

#include "lib/xalloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HOTTEST 0.1
#define COLDEST 0.01
#define COOLING 0.76
#define STAGE   8 /* candidates of one temperature */
#define MOVED   8 /* parameters, at most */
#define STEP    0.15
#define MIDDLE  0.5

struct annealing {
    struct random random;
    size_t parameters;
    size_t seen;     /* candidates whose results it has looked at */
    double *current; /* places; the first ones are those of a baseline, or the middle */
    struct vector value;
    bool has_value;
};

static void *begin_annealing(const struct study *study, uint64_t seed)
{
    struct annealing *a = xcalloc(1, sizeof *a);
    a->parameters = study->parameter_count;
    a->current = xcalloc(a->parameters, sizeof *a->current);
    for (size_t i = 0; i < a->parameters; i++)
        a->current[i] = MIDDLE;
    random_seed(&a->random, seed);
    return a;
}

static void end_annealing(void *state)
{
    struct annealing *a = state;
    free(a->current);
    free(a);
}

/* The mean place of the values between the best and the worst: 0 is best. */
static double cost_of(const struct tries *tries, const struct vector *values)
{
    size_t dimensions = tries->study->objective_count;
    double sum = 0;
    for (size_t k = 0; k < dimensions; k++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < tries->count; i++)
            if (tries->items[i].feasible) {
                low = fmin(low, tries->items[i].values.of[k]);
                high = fmax(high, tries->items[i].values.of[k]);
            }
        sum += high > low ? (values->of[k] - low) / (high - low) : 0;
    }
    return sum / (double)dimensions;
}

static double temperature(size_t candidates)
{
    return fmax(HOTTEST * pow(COOLING, (double)(candidates / STAGE)), COLDEST);
}

/* Go to a candidate that is better, or, the hotter the more often, to one that is worse. */
static void look_at(struct annealing *a, const struct tries *tries)
{
    for (; a->seen < tries->count; a->seen++) {
        const struct tried *t = &tries->items[a->seen];
        if (!t->feasible || !t->places)
            continue;
        double worse = a->has_value ? cost_of(tries, &t->values) - cost_of(tries, &a->value) : -1;
        if (worse > 0 && random_unit(&a->random) >= exp(-worse / temperature(a->seen)))
            continue;
        memcpy(a->current, t->places, a->parameters * sizeof *a->current);
        a->value = t->values;
        a->has_value = true;
    }
}

static void move(struct annealing *a, const struct parameter *p, double *place)
{
    double step = STEP * (0.5 + 0.5 * random_unit(&a->random));
    if (!p->ordered) {
        *place = random_unit(&a->random);
        return;
    }
    *place += random_unit(&a->random) < 0.5 ? -step : step;
    if (*place < 0 || *place >= 1) /* from the end back */
        *place = fmin(fmax(*place < 0 ? -*place : 2 - *place, 0), 1 - 1e-9);
}

static void propose_annealing(void *state, const struct tries *tries, const double *const *beside,
                              size_t proposed, double *places)
{
    struct annealing *a = state;
    size_t moves = 1 + random_below(&a->random, a->parameters < MOVED ? a->parameters : MOVED);
    (void)beside;
    (void)proposed;
    look_at(a, tries);
    memcpy(places, a->current, a->parameters * sizeof *places);
    for (size_t k = 0; k < moves; k++) {
        size_t i = random_below(&a->random, a->parameters);
        move(a, &tries->study->parameters[i], &places[i]);
    }
}

const struct strategy strategy_annealing = {"annealing", begin_annealing, propose_annealing, end_annealing};
