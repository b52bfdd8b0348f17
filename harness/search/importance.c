#include "harness/search/importance.h"

#include "lib/document/json_text.h"
#include "lib/output/print.h"
#include "lib/random.h"
#include "lib/statistics/distribution.h"
#include "lib/xalloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PARTS        4  /* of a range */
#define MOST_PARTS   16 /* of a list: the values behind count with the last */
#define PERMUTATIONS 200
#define FEWEST       12 /* candidates */

/* The candidates of one objective: each one's part of the parameter, and value. */
struct sample {
    size_t count, parts;
    size_t *part;
    double *value;
};

struct part {
    size_t count;
    double sum, squares;
};

/* The share of the variance that lies between the parts: the correlation ratio, eta squared. */
static double share_between(const struct sample *s, struct part *parts)
{
    double sum = 0, squares = 0, between = 0;
    memset(parts, 0, MOST_PARTS * sizeof *parts);
    for (size_t i = 0; i < s->count; i++) {
        struct part *p = &parts[s->part[i]];
        p->count++;
        p->sum += s->value[i];
        p->squares += s->value[i] * s->value[i];
        sum += s->value[i];
        squares += s->value[i] * s->value[i];
    }
    double mean = sum / (double)s->count, all = squares - sum * mean;
    for (size_t k = 0; k < s->parts; k++)
        if (parts[k].count)
            between += (double)parts[k].count * pow(parts[k].sum / (double)parts[k].count - mean, 2);
    return all > 0 ? between / all : 0;
}

/* What the parts of values tell that were dealt by chance. */
static void share_by_chance(const struct sample *s, double *mean, double *most)
{
    struct sample dealt = *s;
    struct part parts[MOST_PARTS];
    struct random random;
    double shares[PERMUTATIONS];
    *mean = 0;
    dealt.part = xcalloc(s->count, sizeof *dealt.part);
    memcpy(dealt.part, s->part, s->count * sizeof *dealt.part);
    random_seed(&random, 1);
    for (int k = 0; k < PERMUTATIONS; k++) {
        for (size_t i = s->count; i > 1; i--) {
            size_t other = random_below(&random, i), was = dealt.part[other];
            dealt.part[other] = dealt.part[i - 1];
            dealt.part[i - 1] = was;
        }
        shares[k] = share_between(&dealt, parts);
        *mean += shares[k] / PERMUTATIONS;
    }
    *most = distribution_quantile(shares, PERMUTATIONS, 0.95);
    free(dealt.part);
}

/* ---- which values are as good as the best */

/* A value of a parameter that was tried, with the candidates that have it. */
struct tried_value {
    double place;
    const struct candidate *of; /* one of them */
    bool as_good;               /* is one of them not told from the best? */
};

static json_t *value_of(const struct parameter *p, size_t parameter, const struct candidate *c)
{
    json_t *value = json_object_get(c->choice, p->path);
    return value ? json_incref(value) : value_range_at(&p->range, c->places[parameter], 0);
}

/* By what its seeds tell: with less than two runs, or where seeds change nothing, only the same value. */
static bool is_as_good(const struct candidate *c, const struct candidate *best, size_t objective)
{
    if (!c->whole || !candidate_is_feasible(c))
        return false;
    const struct spread is = spread_of_sums(&c->figures[objective]),
                        least = spread_of_sums(&best->figures[objective]);
    double squares = pow(is.stddev, 2) / (double)is.count + pow(least.stddev, 2) / (double)least.count;
    return fabs(is.mean - least.mean) <= (isfinite(squares) ? 2 * sqrt(squares) : 0);
}

static int by_place(const void *one, const void *other)
{
    const struct tried_value *a = one, *b = other;
    return (a->place > b->place) - (a->place < b->place);
}

/* In ascending order, each once; the number of them. */
static size_t list_tried(const struct study *study, const struct candidates *all, size_t parameter,
                         size_t objective, const struct candidate *best, struct tried_value *values)
{
    const struct parameter *p = &study->parameters[parameter];
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct candidate *c = all->items[i];
        if (!c->places || !candidate_was_tried(c))
            continue;
        json_t *value = value_of(p, parameter, c);
        values[count++] =
            (struct tried_value){value_range_place(&p->range, value), c, is_as_good(c, best, objective)};
        json_decref(value);
    }
    qsort(values, count, sizeof *values, by_place);
    for (size_t i = 0; i < count; i++)
        if (i && values[i].place == values[kept - 1].place)
            values[kept - 1].as_good |= values[i].as_good;
        else
            values[kept++] = values[i];
    return kept;
}

/* The values around the best that were tried and are as good: the least and the largest; NULL: no other. */
static json_t *flat_range(const struct study *study, const struct candidates *all, size_t parameter,
                          size_t objective)
{
    const struct parameter *p = &study->parameters[parameter];
    const struct candidate *best = NULL;
    size_t low = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct candidate *c = all->items[i];
        if (c->places && c->whole && candidate_is_feasible(c) &&
            (!best || candidate_vector(c, study).of[objective] < candidate_vector(best, study).of[objective]))
            best = c;
    }
    if (!best || !p->ordered)
        return NULL;
    struct tried_value *values = xcalloc(all->count + 1, sizeof *values);
    json_t *at = value_of(p, parameter, best), *flat = NULL;
    size_t count = list_tried(study, all, parameter, objective, best, values);
    while (low < count && values[low].place != value_range_place(&p->range, at))
        low++;
    size_t high = low;
    while (low > 0 && values[low - 1].as_good)
        low--;
    while (high + 1 < count && values[high + 1].as_good)
        high++;
    if (high > low)
        flat = json_make("[o,o]", value_of(p, parameter, values[low].of),
                         value_of(p, parameter, values[high].of));
    json_decref(at);
    free(values);
    return flat;
}

static json_t *one_json(const struct study *study, const struct candidates *all, size_t parameter,
                        size_t objective, struct sample *s)
{
    const struct parameter *p = &study->parameters[parameter];
    size_t values = json_array_size(p->range.list);
    struct part parts[MOST_PARTS];
    double mean, most;
    *s = (struct sample){.part = s->part, .value = s->value, .parts = values ? values : PARTS};
    s->parts = s->parts < MOST_PARTS ? s->parts : MOST_PARTS;
    for (size_t i = 0; i < all->count; i++) {
        const struct candidate *c = all->items[i];
        if (!c->places || !candidate_is_feasible(c))
            continue;
        size_t part = (size_t)(c->places[parameter] * (double)(values ? values : PARTS));
        s->part[s->count] = part < s->parts ? part : s->parts - 1;
        s->value[s->count++] = candidate_vector(c, study).of[objective];
    }
    if (s->count < FEWEST)
        return NULL;
    share_by_chance(s, &mean, &most);
    double share = share_between(s, parts);
    json_t *flat = flat_range(study, all, parameter, objective);
    json_t *entry =
        json_make("{s:s,s:s,s:f,s:b}", "path", p->path, "objective", study->objectives[objective].name,
                  "share", fmax(0, (share - mean) / (1 - mean)), "told", share > most);
    if (flat)
        json_object_set_new(entry, "flat", flat);
    return entry;
}

json_t *importance_json(const struct study *study, const struct candidates *all)
{
    json_t *list = json_array();
    struct sample s = {.part = xcalloc(all->count + 1, sizeof *s.part),
                       .value = xcalloc(all->count + 1, sizeof *s.value)};
    for (size_t k = 0; k < study->objective_count; k++)
        for (size_t i = 0; i < study->parameter_count; i++) {
            json_t *entry = one_json(study, all, i, k, &s);
            if (entry)
                json_array_append_new(list, entry);
        }
    free(s.part);
    free(s.value);
    return list;
}

void importance_print(const json_t *importance)
{
    const json_t *entry;
    size_t i;
    bool any = false;
    json_array_foreach((json_t *)(uintptr_t)importance, i, entry)
    {
        const json_t *flat = json_object_get(entry, "flat");
        struct text words = {0};
        if (!json_is_true(json_object_get(entry, "told")))
            continue;
        if (flat) {
            char *low = json_bare(json_array_get(flat, 0)), *high = json_bare(json_array_get(flat, 1));
            text_add(&words, "; tried, and not told from the best: from %s to %s", low, high);
            free(low);
            free(high);
        }
        if (!any)
            print_out_line(
                "what matters, by the share of an objective's variance that a parameter alone tells:");
        any = true;
        print_out_line("  %s for %s: %.0f %%%s", json_string_value(json_object_get(entry, "path")),
                       json_string_value(json_object_get(entry, "objective")),
                       100 * json_number_value(json_object_get(entry, "share")), text_string(&words));
        text_free(&words);
    }
    if (!any && json_array_size(importance))
        print_out_line("what matters: no parameter alone tells more of an objective's variance than chance");
}
