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

/* Values as large as their mean is not told from that of the best part. */
static json_t *flat_range(const struct study *study, size_t parameter, const struct sample *s,
                          const struct part *parts)
{
    const struct parameter *p = &study->parameters[parameter];
    size_t best = SIZE_MAX, first = SIZE_MAX, last = 0;
    for (size_t k = 0; k < s->parts; k++)
        if (parts[k].count > 1 && (best == SIZE_MAX || parts[k].sum / (double)parts[k].count <
                                                           parts[best].sum / (double)parts[best].count))
            best = k;
    if (best == SIZE_MAX || !p->ordered)
        return NULL;
    for (size_t k = 0; k < s->parts; k++) {
        double n = (double)parts[k].count, m = (double)parts[best].count;
        if (parts[k].count < 2)
            continue;
        double mean = parts[k].sum / n, low = parts[best].sum / m;
        double error = sqrt((parts[k].squares / n - mean * mean) / (n - 1) +
                            (parts[best].squares / m - low * low) / (m - 1));
        if (mean - low > 2 * error)
            continue;
        first = first == SIZE_MAX ? k : first;
        last = k;
    }
    return json_make("[o,o]", value_range_at(&p->range, (double)first / (double)s->parts, 0),
                     value_range_at(&p->range, ((double)last + 1) / (double)s->parts, 0));
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
    json_t *flat = flat_range(study, parameter, s, parts);
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
    if (json_array_size(importance))
        print_out_line("what matters, by the share of an objective's variance that a parameter alone tells:");
    json_array_foreach((json_t *)(uintptr_t)importance, i, entry)
    {
        const json_t *flat = json_object_get(entry, "flat");
        struct text words = {0};
        if (flat) {
            char *low = json_bare(json_array_get(flat, 0)), *high = json_bare(json_array_get(flat, 1));
            text_add(&words, "; best, or not told from it, from %s to %s", low, high);
            free(low);
            free(high);
        }
        if (json_is_true(json_object_get(entry, "told")))
            print_out_line("  %s for %s: %.0f %%%s", json_string_value(json_object_get(entry, "path")),
                           json_string_value(json_object_get(entry, "objective")),
                           100 * json_number_value(json_object_get(entry, "share")), text_string(&words));
        text_free(&words);
    }
}
