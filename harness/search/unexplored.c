#include "harness/search/unexplored.h"

#include "lib/document/json_text.h"
#include "lib/random.h"
#include "lib/xalloc.h"
#include <math.h>
#include <stdlib.h>

#define PARTS  4    /* of a range */
#define DRAWN  200  /* values, to see how many the conditions leave out */
#define AT_END 0.02 /* of a range: so near to its end */

static void add_sentence(json_t *out, struct text *line)
{
    json_array_append_new(out, json_text(text_string(line)));
    text_free(line);
}

/* ---- parts of ranges */

static void add_part(const struct parameter *p, size_t part, size_t parts, struct text *line)
{
    if (p->range.list) {
        char *value = json_bare(json_array_get(p->range.list, part));
        text_add(line, "%s", value ? value : "?");
        free(value);
        return;
    }
    json_t *from = value_range_at(&p->range, (double)part / (double)parts, 0),
           *to = value_range_at(&p->range, fmin(((double)part + 1) / (double)parts, 0.999999), 0);
    char *low = json_bare(from), *high = json_bare(to);
    text_add(line, "from %s to %s", low ? low : "?", high ? high : "?");
    free(low);
    free(high);
    json_decref(from);
    json_decref(to);
}

static void say_parts(const struct study *study, const struct candidates *all, size_t parameter, json_t *out)
{
    const struct parameter *p = &study->parameters[parameter];
    size_t values = json_array_size(p->range.list), parts = values ? values : PARTS;
    size_t *tried = xcalloc(parts, sizeof *tried), *feasible = xcalloc(parts, sizeof *feasible);
    for (size_t i = 0; i < all->count; i++) {
        const struct candidate *c = all->items[i];
        size_t part = c->places ? (size_t)(c->places[parameter] * (double)parts) : parts;
        if (!c->runs || candidate_is_unknown(c) || part >= parts)
            continue;
        tried[part]++;
        feasible[part] += candidate_is_feasible(c);
    }
    for (size_t k = 0; k < parts; k++) {
        struct text line = {0};
        if (feasible[k])
            continue;
        text_add(&line, "%s ", p->path);
        add_part(p, k, parts, &line);
        if (tried[k])
            text_add(&line, ": none of %zu that were tried there meets the constraints", tried[k]);
        else
            text_add(&line, ": nothing was tried");
        add_sentence(out, &line);
    }
    free(tried);
    free(feasible);
}

/* ---- ends of ranges */

static void say_ends(const struct study *study, const struct candidate *winner, json_t *out)
{
    for (size_t i = 0; winner && winner->places && i < study->parameter_count; i++) {
        const struct parameter *p = &study->parameters[i];
        size_t values = json_array_size(p->range.list);
        double at = winner->places[i], near = values ? 1.0 / (double)values : AT_END;
        if (!p->ordered || (values && values < 3) || (at >= near && at <= 1 - near))
            continue;
        struct text line = {0};
        char *value = json_bare(json_object_get(winner->choice, p->path));
        text_add(&line, "%s: the best value%s%s, is at the %s end of its range: widen it, if there is more",
                 p->path, value ? ", " : "", value ? value : "", at < near ? "lower" : "upper");
        free(value);
        add_sentence(out, &line);
    }
}

/* ---- what conditions leave out, and what failed */

static void say_left_out(const struct study *study, json_t *out)
{
    struct random random;
    struct error ignored;
    struct text line = {0};
    size_t left_out = 0;
    random_seed(&random, 1);
    for (int k = 0; k < DRAWN; k++) {
        double places[STUDY_MOST_PARAMETERS];
        for (size_t i = 0; i < study->parameter_count; i++)
            places[i] = random_unit(&random);
        json_t *choice = study_choice(study, places);
        left_out += study_admits(study, choice, &ignored) != 1;
        json_decref(choice);
    }
    if (!left_out)
        return;
    text_add(&line, "about %.0f %% of the ranges: %s no valid scenario", 100.0 * (double)left_out / DRAWN,
             study->search->only || study->search->except
                 ? "\"only\" and \"except\" leave it out, or it makes"
                 : "it makes");
    add_sentence(out, &line);
}

static void say_failed(const struct candidates *all, bool unknown, json_t *out)
{
    const struct candidate *first = NULL;
    size_t failed = 0, tried = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct candidate *c = all->items[i];
        bool is = candidate_was_tried(c) && !c->known,
             fails = is && (unknown ? candidate_is_unknown(c) : c->unmet);
        tried += is;
        failed += fails;
        first = !first && fails ? c : first;
    }
    if (first) {
        struct text line = {0};
        text_add(&line, "%zu of %zu candidates, %s, as %s", failed, tried,
                 unknown ? "of which it is not known whether they meet the constraints"
                         : "which did not meet the constraints",
                 first->why ? first->why : "a run that failed");
        add_sentence(out, &line);
    }
}

json_t *unexplored_json(const struct study *study, const struct candidates *all,
                        const struct candidate *winner, const char *ended)
{
    json_t *out = json_array();
    say_ends(study, winner, out);
    for (size_t i = 0; i < study->parameter_count; i++)
        say_parts(study, all, i, out);
    say_left_out(study, out);
    say_failed(all, false, out);
    say_failed(all, true, out);
    json_array_append_new(out, json_text(ended ? ended : "the rest: it has not ended"));
    return out;
}
