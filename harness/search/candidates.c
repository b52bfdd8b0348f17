#include "harness/search/candidates.h"

#include "lib/document/json_text.h"
#include "lib/xalloc.h"
#include "reports/results/sweep_table.h"
#include "reports/results/run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the list */

static char *key_of(const json_t *choice)
{
    struct text key = {0};
    json_add_canonical(choice, &key);
    return text_take(&key);
}

bool candidates_have(const struct candidates *all, const json_t *choice)
{
    char *key = key_of(choice);
    bool have = json_object_get(all->seen, key) != NULL;
    free(key);
    return have;
}

struct candidate *candidates_add(struct candidates *all, json_t *choice, const char *known)
{
    struct candidate *c = xcalloc(1, sizeof *c);
    char *key = key_of(choice);
    if ((all->count & (all->count - 1)) == 0) /* at 1, 2, 4, ... there is no more room */
        all->items = xreallocarray(all->items, all->count ? all->count * 2 : 1, sizeof *all->items);
    all->items[all->count++] = c;
    all->seen = all->seen ? all->seen : json_object();
    json_put(all->seen, key, json_true());
    free(key);
    *c = (struct candidate){
        .choice = choice, .known = known, .folders = json_array(), .warnings = json_object()};
    return c;
}

const char *candidates_unit(const struct candidates *all, size_t objective)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i]->figures[objective].count)
            return all->items[i]->units[objective];
    return "";
}

void candidates_free(struct candidates *all)
{
    for (size_t i = 0; i < all->count; i++) {
        json_decref(all->items[i]->choice);
        json_decref(all->items[i]->folders);
        json_decref(all->items[i]->warnings);
        free(all->items[i]->places);
        free(all->items[i]->why);
        free(all->items[i]->harm);
        free(all->items[i]);
    }
    free(all->items);
    json_decref(all->seen);
    *all = (struct candidates){0};
}

/* ---- results */

static void note_unmet(struct candidate *c, const char *format, const char *what, const char *why)
{
    struct text words = {0};
    if (c->unmet++)
        return;
    text_add(&words, format, what, why);
    free(c->why);
    c->why = text_take(&words);
}

void candidate_miss(struct candidate *c, const char *why)
{
    c->lost++;
    c->why = c->why ? c->why : xasprintf("a run is not complete, nor was it when made once more: %s", why);
}

/* Is a constraint not met? One whose "when" does not hold of these values is none of theirs. */
static bool is_unmet(struct candidate *c, const struct study *study, const json_t *result)
{
    const json_t *entry;
    size_t i;
    json_array_foreach(json_object_get(result, "expectations"), i, entry)
    {
        bool skipped = strcmp(run_member(entry, "verdict"), "skipped") == 0;
        if (!study_is_constraint(study, run_member(entry, "name")) || run_expects_of_others(entry) ||
            strcmp(run_member(entry, "verdict"), "passed") == 0)
            continue;
        note_unmet(c, skipped ? "\"%s\" could not be judged: %s" : "\"%s\": %s", run_member(entry, "name"),
                   run_member(entry, "reason"));
        return true;
    }
    return false;
}

char *candidate_harm(const struct study *study, const json_t *result)
{
    const json_t *entry;
    size_t i;
    json_array_foreach(json_object_get(result, "expectations"), i, entry)
    {
        if (study_guards(study, run_member(entry, "name")) &&
            strcmp(run_member(entry, "verdict"), "failed") == 0)
            return xasprintf("\"%s\": %s", run_member(entry, "name"), run_member(entry, "reason"));
    }
    return NULL;
}

bool candidate_has_run(const json_t *result)
{
    return json_is_true(json_object_get(result, "complete")) ||
           json_is_true(json_object_get(result, "stopped_early"));
}

void candidate_take(struct candidate *c, const struct study *study, const json_t *result, const char *folder)
{
    const json_t *warning;
    bool unmet = false;
    size_t i;
    c->harm = c->harm ? c->harm : candidate_harm(study, result);
    json_array_foreach(json_object_get(result, "warnings"), i, warning)
    {
        json_put(c->warnings, json_is_string(warning) ? json_string_value(warning) : "?", json_true());
    }
    json_array_append_new(c->folders, json_text(folder));
    if (!candidate_has_run(result)) {
        candidate_miss(c, run_member(result, "reason"));
        return;
    }
    c->runs++;
    if (json_is_true(json_object_get(result, "stopped_early"))) { /* its figures are none of a whole run */
        c->early++;
        note_unmet(c, "%s%s", "", run_member(result, "reason"));
        return;
    }
    for (size_t k = 0; k < study->objective_count; k++) {
        struct expr_result r;
        expr_name_roles_of(study->objectives[k].of, result);
        if (expr_evaluate(study->objectives[k].of, result, NULL, &r) == EXPR_TRUE && isfinite(r.left)) {
            spread_add(&c->figures[k], r.left);
            c->found += k == 0 && study->margin && (study->at_margin ? r.left >= 0 : r.left > 0);
            snprintf(c->units[k], sizeof c->units[k], "%s", r.unit);
        } else if (!unmet) {
            note_unmet(c, "%s has no value: %s", study->objectives[k].name, r.reason);
            unmet = true;
        }
    }
    if (!unmet)
        is_unmet(c, study, result);
}

void candidate_share(struct candidate *c, const struct candidate *with)
{
    json_decref(c->folders);
    json_decref(c->warnings);
    c->runs = with->runs;
    c->lost = with->lost;
    c->found = with->found;
    c->unmet = with->unmet;
    c->why = with->why ? xstrdup(with->why) : NULL;
    c->folders = json_deep_copy(with->folders);
    c->warnings = json_deep_copy(with->warnings);
    c->whole = with->whole;
    memcpy(c->figures, with->figures, sizeof c->figures);
    memcpy(c->units, with->units, sizeof c->units);
}

bool candidate_is_feasible(const struct candidate *c)
{
    return c->runs > 0 && c->unmet == 0 && c->lost == 0;
}

bool candidate_was_tried(const struct candidate *c)
{
    return c->runs + c->lost > 0;
}

bool candidate_is_unknown(const struct candidate *c)
{
    return c->lost > 0 && c->unmet == 0;
}

struct vector candidate_vector(const struct candidate *c, const struct study *study)
{
    struct vector v = {0};
    for (size_t k = 0; k < study->objective_count; k++)
        v.of[k] = study->objectives[k].max ? -c->figures[k].mean : c->figures[k].mean;
    return v;
}

json_t *candidate_json(const struct candidate *c, const struct study *study)
{
    json_t *objectives = json_object();
    json_t *whole = json_make("{s:O,s:s*,s:I,s:I,s:s*,s:o,s:O}", "values", c->choice, "known", c->known,
                              "round", (json_int_t)c->round, "runs", (json_int_t)c->runs, "why", c->why,
                              "objectives", objectives, "folders", c->folders);
    if (c->known)
        json_object_set_new(whole, "has", study_has(study, c->choice));
    if (!candidate_is_unknown(c))
        json_object_set_new(whole, "feasible", json_boolean(candidate_is_feasible(c)));
    if (c->lost)
        json_object_set_new(whole, "not_run", json_integer((json_int_t)c->lost));
    if (json_object_size(c->warnings))
        json_object_set_new(whole, "warnings", json_keys(c->warnings));
    for (size_t k = 0; k < study->objective_count; k++) {
        struct spread spread = spread_of_sums(&c->figures[k]);
        if (spread.count)
            json_put(objectives, study->objectives[k].name, spread_json(&spread));
    }
    return whole;
}

/* ---- for people */

void candidate_add_value(const json_t *entry, const json_t *objective, struct text *out)
{
    const json_t *spread =
        json_object_get(json_object_get(entry, "objectives"), run_member(objective, "name"));
    const json_t *ci95 = json_object_get(spread, "ci95");
    double mean = json_number_value(json_object_get(spread, "mean"));
    struct sweep_unit unit = sweep_unit_near(run_member(objective, "unit"), mean);
    if (!spread) {
        text_add(out, "-");
        return;
    }
    text_add(out, "%.4g", mean * unit.factor);
    if (json_is_number(ci95) && json_number_value(ci95) > 0)
        text_add(out, " +- %.2g", json_number_value(ci95) * unit.factor);
    if (*unit.name)
        text_add(out, " %s", unit.name);
}
