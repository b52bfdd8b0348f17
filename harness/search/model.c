/*
 * Candidates by a model of what was tried: where a Gaussian process expects most of an improvement (Jones,
 * Schonlau and Welch 1998). Several objectives are made one with weights that are drawn anew for each
 * candidate, by the augmented Tchebycheff norm (ParEGO, Knowles 2006), so that candidates spread over the
 * front. It begins with a Latin hypercube.
 * In a search for what makes an expression true every other candidate is the best one so far with one of its
 * values at an end of its range, or another of its list, each in turn: what leads to the extremes does not
 * lead to a wrong setting that shows only there.
 */
#include "harness/search/gaussian.h"
#include "harness/search/strategy.h"

#include "lib/statistics/distribution.h"
#include "lib/xalloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MODELLED   100  /* points of a model at most: its cost grows with the cube */
#define TRIED_FAR  400  /* places anywhere of which the best is taken, */
#define TRIED_NEAR 200  /* places near the best points, */
#define REFINED    60   /* and steps from the best of both */
#define WORST      2.0  /* what is this much worse than most is as bad as what is not feasible */
#define RHO        0.05 /* ParEGO */

/* One parameter at an end of its range, or one value of its list. */
struct turn {
    size_t parameter;
    double place;
};

struct model {
    void *first; /* the Latin hypercube's state */
    struct random random;
    size_t parameters;
    bool *ordered;
    size_t *parts;
    struct gaussian learned;  /* lengths and noise */
    size_t learned_at;        /* by so many tries; 0: not yet */
    struct gaussian fitted;   /* of one objective: of all tries of the round, by those lengths */
    size_t fitted_at;         /* with so many tries; 0: not yet */
    struct vector best, span; /* of each objective in this round: the best value, how much worse most are */
    size_t measured_at;       /* by so many tries */
    struct turn *turns;
    size_t turn_count, turned;
};

static void list_turns(struct model *m)
{
    for (size_t i = 0; i < m->parameters; i++) {
        size_t places = m->ordered[i] ? 2 : m->parts[i];
        m->turns = xreallocarray(m->turns, m->turn_count + places, sizeof *m->turns);
        for (size_t k = 0; k < places; k++)
            m->turns[m->turn_count++] =
                (struct turn){i, m->ordered[i] ? k * (1 - 1e-9) : ((double)k + 0.5) / (double)places};
    }
}

static void *begin_model(const struct study *study, uint64_t seed)
{
    struct model *m = xcalloc(1, sizeof *m);
    m->parameters = study->parameter_count;
    m->ordered = xcalloc(m->parameters, sizeof *m->ordered);
    m->parts = xcalloc(m->parameters, sizeof *m->parts);
    for (size_t i = 0; i < m->parameters; i++) {
        m->ordered[i] = study->parameters[i].ordered;
        m->parts[i] = json_array_size(study->parameters[i].range.list);
    }
    list_turns(m);
    random_seed(&m->random, seed + 1);
    m->first = strategy_latin_hypercube.begin(study, seed);
    return m;
}

static void end_model(void *state)
{
    struct model *m = state;
    strategy_latin_hypercube.end(m->first);
    if (m->learned_at)
        gaussian_free(&m->learned);
    if (m->fitted_at)
        gaussian_free(&m->fitted);
    free(m->ordered);
    free(m->parts);
    free(m->turns);
    free(m);
}

/* ---- one value of several objectives */

/* Weights whose sum is 1, each mixture as likely as the others. */
static void draw_weights(struct model *m, size_t count, double *weights)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += weights[k] = random_exponential(&m->random, 1);
    for (size_t k = 0; k < count; k++)
        weights[k] /= sum;
}

/* Of each objective the best value, and how much worse three of four are not. */
static void measure(struct model *m, const struct tries *tries)
{
    if (m->measured_at == tries->count)
        return;
    double *values = xcalloc(tries->count + 1, sizeof *values);
    m->measured_at = tries->count;
    for (size_t k = 0; k < tries->study->objective_count; k++) {
        size_t count = 0;
        for (size_t i = 0; i < tries->count; i++)
            if (tries->items[i].feasible)
                values[count++] = tries->items[i].values.of[k];
        double high = count ? distribution_quantile(values, count, 0.75) : 0;
        m->best.of[k] = count ? values[0] : 0; /* sorted now */
        m->span.of[k] = high > m->best.of[k] ? high - m->best.of[k] : 1;
    }
    free(values);
}

static double worth_of(const struct model *m, const struct tries *tries, const struct tried *t,
                       const double *weights)
{
    double most = 0, sum = 0;
    if (!t->feasible)
        return WORST;
    for (size_t k = 0; k < tries->study->objective_count; k++) {
        double is = weights[k] * fmin((t->values.of[k] - m->best.of[k]) / m->span.of[k], WORST);
        most = fmax(most, is);
        sum += is;
    }
    return most + RHO * sum;
}

/* ---- the points of the model */

struct points {
    const double **places;
    double *values;
    size_t count;
};

/* All that have places; of more than MODELLED the best half, and of the others the last ones. */
static void choose_points(const struct tries *tries, const double *values, struct points *points)
{
    bool *taken = xcalloc(tries->count + 1, sizeof *taken);
    size_t best[MODELLED] = {0}, kept = 0, most = MODELLED, left, placed = 0;
    for (size_t i = 0; i < tries->count; i++)
        placed += tries->items[i].places != NULL;
    most = placed > MODELLED ? MODELLED / 2 : MODELLED;
    for (size_t i = 0; i < tries->count; i++) { /* the first ones of an ascending list */
        size_t k = kept < most ? kept : most;
        if (!tries->items[i].places || (k == most && values[i] >= values[best[most - 1]]))
            continue;
        for (k = k == most ? most - 1 : k; k > 0 && values[i] < values[best[k - 1]]; k--)
            best[k] = best[k - 1];
        best[k] = i;
        kept += kept < most;
    }
    for (size_t k = 0; k < kept; k++)
        taken[best[k]] = true;
    left = placed > MODELLED ? MODELLED - kept : 0;
    for (size_t i = tries->count; left > 0 && i-- > 0;)
        if (tries->items[i].places && !taken[i]) {
            taken[i] = true;
            left--;
        }
    for (size_t i = 0; i < tries->count; i++)
        if (taken[i]) {
            points->places[points->count] = tries->items[i].places;
            points->values[points->count++] = values[i];
        }
    free(taken);
}

/* ---- where most is expected */

static double gauss(struct model *m)
{
    double radius = sqrt(-2 * log1p(-random_unit(&m->random)));
    return radius * cos(2 * M_PI * random_unit(&m->random));
}

/* Near a place: about a third of the parameters move. */
static void step_from(struct model *m, const double *from, double size, double *to)
{
    size_t sure = random_below(&m->random, m->parameters);
    for (size_t i = 0; i < m->parameters; i++) {
        to[i] = from[i];
        if (i != sure && random_unit(&m->random) > 1.0 / 3)
            continue;
        to[i] = m->ordered[i] ? from[i] + size * gauss(m) : random_unit(&m->random);
        to[i] = fmin(fmax(to[i], 0), 1 - 1e-9);
    }
}

static void take_better(const struct model *m, const struct gaussian *g, double best, const double *place,
                        double *most, double *into)
{
    double is = gaussian_improvement(g, place, best, *most);
    if (is > *most) {
        *most = is;
        memcpy(into, place, m->parameters * sizeof *into);
    }
}

static size_t best_point(const struct points *points)
{
    size_t at = 0;
    for (size_t i = 1; i < points->count; i++)
        if (points->values[i] < points->values[at])
            at = i;
    return at;
}

/* A long study has many proposals, of which each may be looked for at fewer places. */
static int looks(int most, size_t tries)
{
    return tries > MODELLED ? (int)(most * fmax((double)MODELLED / (double)tries, 0.1)) : most;
}

static void maximise(struct model *m, const struct gaussian *g, const struct points *points, size_t tries,
                     double *places)
{
    double *place = xcalloc(m->parameters, sizeof *place), most = -INFINITY, size = 0.1;
    size_t at = best_point(points);
    double best = points->values[at];
    for (int k = 0; k < looks(TRIED_FAR, tries); k++) {
        for (size_t i = 0; i < m->parameters; i++)
            place[i] = random_unit(&m->random);
        take_better(m, g, best, place, &most, places);
    }
    for (int k = 0; k < looks(TRIED_NEAR, tries); k++) {
        step_from(m, points->places[at], 0.1, place);
        take_better(m, g, best, place, &most, places);
    }
    for (int k = 0; k < looks(REFINED, tries); k++, size *= 0.97) {
        step_from(m, places, size, place);
        take_better(m, g, best, place, &most, places);
    }
    free(place);
}

/* What was proposed in this round and has not run counts as what the model expects of it. */
static void believe(const struct gaussian *g, const double *const *beside, size_t proposed,
                    struct points *points)
{
    for (size_t i = 0; i < proposed; i++) {
        double deviation;
        points->places[points->count] = beside[i];
        gaussian_at(g, beside[i], &points->values[points->count], &deviation);
        points->count++;
    }
}

/* Lengths are learned in every round; once the points are fewer than the tries, when these have grown by a
 * tenth. */
static bool has_learned(const struct model *m, size_t tries)
{
    return m->learned_at &&
           (tries == m->learned_at || (tries > MODELLED && tries - m->learned_at < tries / 10));
}

/* The best point, with the value whose turn it is; all turns come once before one comes again. */
static void vary_best(struct model *m, const struct points *points, double *places)
{
    size_t rest = m->turn_count - m->turned, drawn = m->turned + random_below(&m->random, rest);
    struct turn turn = m->turns[drawn];
    m->turns[drawn] = m->turns[m->turned];
    m->turns[m->turned] = turn;
    m->turned = (m->turned + 1) % m->turn_count;
    const double *best = points->places[best_point(points)];
    for (size_t i = 0; i < m->parameters; i++)
        places[i] = best[i]; /* choose_points takes those that have places: NOLINT */
    places[turn.parameter] = turn.place;
}

static void keep_fit(struct gaussian *kept, size_t *kept_at, struct gaussian g, size_t tries)
{
    if (*kept_at && kept->factor != g.factor)
        gaussian_free(kept);
    *kept = g;
    *kept_at = tries;
}

/* false: nothing can be said yet. */
static bool propose_by_model(struct model *m, const struct tries *tries, const double *const *beside,
                             size_t proposed, double *places)
{
    struct points points = {xcalloc(tries->count + proposed + 1, sizeof *points.places),
                            xcalloc(tries->count + proposed + 1, sizeof *points.values), 0};
    double *values = xcalloc(tries->count + 1, sizeof *values), weights[SEARCH_MOST_OBJECTIVES];
    struct gaussian g = {0}, more = {0};
    draw_weights(m, tries->study->objective_count, weights);
    measure(m, tries);
    for (size_t i = 0; i < tries->count; i++)
        values[i] = worth_of(m, tries, &tries->items[i], weights);
    choose_points(tries, values, &points);
    if (tries->study->margin && proposed % 2 && points.count) {
        vary_best(m, &points, places);
        free(points.places);
        free(points.values);
        free(values);
        return true;
    }
    const struct gaussian *like = has_learned(m, tries->count) ? &m->learned : NULL;
    bool alone = tries->study->objective_count == 1, kept = alone && m->fitted_at == tries->count;
    if (kept)
        g = m->fitted;
    bool fitted = kept || gaussian_fit(&g, m->parameters, m->ordered, m->parts, points.places, points.values,
                                       points.count, like) == 0;
    if (fitted && proposed) {
        believe(&g, beside, proposed, &points);
        if (gaussian_fit(&more, m->parameters, m->ordered, m->parts, points.places, points.values,
                         points.count, &g) == 0) {
            maximise(m, &more, &points, tries->count, places);
            gaussian_free(&more);
        } else {
            maximise(m, &g, &points, tries->count, places);
        }
    } else if (fitted) {
        maximise(m, &g, &points, tries->count, places);
    }
    if (fitted && !like)
        keep_fit(&m->learned, &m->learned_at, g, tries->count);
    else if (fitted && alone)
        keep_fit(&m->fitted, &m->fitted_at, g, tries->count);
    else if (fitted)
        gaussian_free(&g);
    free(points.places);
    free(points.values);
    free(values);
    return fitted;
}

/* So many candidates by chance first: two for each parameter and one, but no more than a third of all. */
static size_t first_ones(const struct model *m, const struct tries *tries)
{
    size_t wanted = 2 * (m->parameters + 1), third = tries->budget / 3;
    return tries->budget && third < wanted ? third : wanted;
}

static void propose_model(void *state, const struct tries *tries, const double *const *beside,
                          size_t proposed, double *places)
{
    struct model *m = state;
    struct tries first = *tries;
    size_t begin = first_ones(m, tries), done = 0;
    for (size_t i = 0; i < tries->count; i++)
        done += tries->items[i].places != NULL;
    first.budget = begin;
    if (done + proposed < begin || !propose_by_model(m, tries, beside, proposed, places))
        strategy_latin_hypercube.propose(m->first, &first, beside, proposed, places);
}

const struct strategy strategy_model = {"model", begin_model, propose_model, end_model};
