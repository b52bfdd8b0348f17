#include "harness/plan/decidable.h"
#include "harness/plan/paths.h"
#include "lib/document/json_text.h"
#include "lib/text.h"
#include <stdlib.h>
#include <string.h>

#define SHOWN_VALUES 6

bool plan_judgement(const struct cell *cell, size_t i, struct judgement *out)
{
    const struct scenario_expect *expect = cell->scenario.expect.items;
    const struct scenario_published *published = cell->scenario.published.items;
    size_t first = cell->scenario.expect.count, k = i - first;
    if (i < first)
        *out = (struct judgement){
            "expect",        i, "check", expect[i].check, cell->checks[i], expect[i].when, expect[i].against,
            &expect[i].needs};
    else if (k < cell->scenario.published.count)
        *out = (struct judgement){"published",
                                  k,
                                  "of",
                                  published[k].of,
                                  cell->published[k],
                                  published[k].when,
                                  published[k].against,
                                  &published[k].needs};
    return i < first || k < cell->scenario.published.count;
}

int plan_each_decidable(const struct plan *plan, plan_decide decide, void *context, struct error *e)
{
    struct judgement first, j;
    for (size_t i = 0; plan->cell_count && plan_judgement(&plan->cells[0], i, &first); i++) {
        bool asked = false, decided = false;
        for (size_t c = 0; !decided && c < plan->cell_count; c++) {
            const struct cell *cell = &plan->cells[c];
            struct error later;
            if (!plan_judgement(cell, i, &j) || !plan_when(cell, j.when))
                continue;
            decided = decide(context, cell, &j, asked ? &later : e) == 0;
            asked = true;
        }
        if (asked && !decided)
            return error_prefix(e, "%s[%zu].%s: \"%.200s\"", first.list, first.index, first.key, first.text);
    }
    return 0;
}

/* ---- when */

/* The distinct values at a path in all cells, as a text: "host", "gpu". False if the path matches nothing in any cell. */
static bool values_in_cells(const struct plan *plan, const char *path, struct text *out)
{
    json_t *distinct = json_object();
    for (size_t c = 0; c < plan->cell_count; c++) {
        json_t *values = plan_values(&plan->cells[c], path), *value;
        size_t i;
        json_array_foreach(values, i, value)
        {
            char *shown = json_shown(value);
            size_t before = json_object_size(distinct);
            json_object_set_new(distinct, shown ? shown : "?", json_true());
            if (before < SHOWN_VALUES && json_object_size(distinct) > before)
                text_add(out, "%s%.80s", out->length ? ", " : "", shown ? shown : "?");
            free(shown);
        }
        json_decref(values);
    }
    size_t count = json_object_size(distinct);
    if (count > SHOWN_VALUES)
        text_add(out, ", ... (%zu)", count);
    json_decref(distinct);
    return count;
}

static bool value_in_a_cell(const struct plan *plan, const char *path, json_t *value)
{
    json_t *alone = json_make("{s:O}", path, value);
    bool found = false;
    for (size_t c = 0; !found && c < plan->cell_count; c++)
        found = plan_when(&plan->cells[c], alone);
    json_decref(alone);
    return found;
}

static int no_such_path(const struct cell *cell, const char *path, struct error *e)
{
    const char *in_lab = paths_in_lab(path);
    struct text near = {0};
    if (!in_lab && table_check_path(&scenario_table, path, e) != 0)
        return error_prefix(e, "%.100s", path);
    paths_nearest(in_lab ? cell->lab_json : cell->scenario_json, in_lab ? in_lab : path, &near);
    error_set(e, "nothing in the %s matches %.100s%s%s%s%s", in_lab ? "lab" : "scenario", path,
              near.length ? "; did you mean \"" : "", near.length && in_lab ? "lab." : "", text_string(&near),
              near.length ? "\"?" : "");
    text_free(&near);
    return -1;
}

/* Why a "when" that holds in no cell does not. */
static int explain_when(const struct plan *plan, const json_t *when, struct error *e)
{
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)when, path, value)
    {
        struct text values = {0};
        if (value_in_a_cell(plan, path, value))
            continue;
        if (values_in_cells(plan, path, &values)) {
            char *shown = json_shown(value);
            error_set(e, "%.100s is %.80s in no run: it is %s", path, shown ? shown : "?",
                      text_string(&values));
            free(shown);
        } else {
            no_such_path(&plan->cells[0], path, e);
        }
        text_free(&values);
        return -1;
    }
    return error_set(e, "each value occurs, but no run has all of them");
}

static int check_when(const struct plan *plan, const struct judgement *j, size_t i, struct error *e)
{
    struct judgement there;
    if (j->when && !json_is_object(j->when))
        return error_set(e, "%s[%zu].when: expected an object such as {\"PATH\": VALUE}", j->list, j->index);
    if (paths_any_in_lab(j->when) &&
        !plan->cells[0].lab_json) /* without a lab, paths into it are not judged */
        return 0;
    int holds = 0;
    for (size_t c = 0; holds == 0 && c < plan->cell_count; c++)
        if (plan_judgement(&plan->cells[c], i, &there))
            holds = plan_judge_when(&plan->cells[c], there.when, e);
    if (holds > 0)
        return 0;
    if (holds == 0)
        explain_when(plan, j->when, e);
    return error_prefix(e, "%s[%zu].when", j->list, j->index);
}

/* ---- other cells */

static bool has_value(const json_t *values, const json_t *wanted)
{
    size_t i;
    json_t *value;
    json_array_foreach(values, i, value)
    {
        if (json_equal(value, wanted))
            return true;
    }
    return false;
}

/* The paths of "against" are the sweep's, and so are their values. */
static int check_other_values(const struct plan *plan, const json_t *against, struct error *e)
{
    const char *path;
    json_t *wanted;
    json_object_foreach((json_t *)(uintptr_t)against, path, wanted)
    {
        json_t *values = json_object_get(plan->sweep, path);
        struct text known = {0};
        if (!values)
            return error_set(e, "%.100s is not varied by the sweep", path);
        if (has_value(values, wanted))
            continue;
        char *shown = json_shown(wanted);
        values_in_cells(plan, path, &known);
        error_set(e, "%.100s is %.80s in no cell: it is %s", path, shown ? shown : "?", text_string(&known));
        text_free(&known);
        free(shown);
        return -1;
    }
    return 0;
}

/* Is there a cell in which it is judged that has another one to be compared with? */
static bool any_other(const struct plan *plan, size_t i, const struct cell_places *places)
{
    struct judgement j;
    for (size_t c = 0; c < plan->cell_count; c++) {
        const struct cell *cell = &plan->cells[c];
        if (!plan_judgement(cell, i, &j) || !plan_when(cell, j.when))
            continue;
        size_t other = cell_places_other(places, cell, j.against);
        if (other != NO_CELL && other != c)
            return true;
    }
    return false;
}

static int check_against(const struct plan *plan, const struct judgement *j, size_t i, struct error *e)
{
    struct cell_places places = {0};
    int result = 0;
    if (!j->against)
        return 0;
    if (json_object_size(j->against) == 0)
        result = error_set(e, "expected an object such as {\"PATH\": VALUE}");
    else if (json_object_size(plan->sweep) == 0)
        result = error_set(e, "there is no sweep, so there is no other cell");
    else if (check_other_values(plan, j->against, e) != 0 || cell_places_make(&places, plan, e) != 0)
        result = -1;
    else if ((plan->cells[0].lab_json || !paths_any_in_lab(j->when)) && !any_other(plan, i, &places))
        result =
            error_set(e, "no cell of the sweep%s has another one with these and otherwise the same values",
                      j->when ? " in which \"when\" holds" : "");
    cell_places_free(&places);
    return result == 0 ? 0 : error_prefix(e, "%s[%zu].against", j->list, j->index);
}

/* ---- times */

static int late(const char *path, size_t i, int64_t start_ns, int64_t end_ns, const char *of, struct error *e)
{
    char start[40], end[40];
    return error_set(e, "%s[%zu].start: %s is not before the end %s, at %s", path, i,
                     units_format(UNIT_TIME_NS, start_ns, start, sizeof start), of,
                     units_format(UNIT_TIME_NS, end_ns, end, sizeof end));
}

static int check_times(const struct scenario *scenario, struct error *e)
{
    const struct scenario_flow *flows = scenario->flows.items;
    const struct scenario_traffic *traffic = scenario->traffic.items;
    const struct scenario_storm *storms = scenario->storms.items;
    int64_t end_ns = scenario->phases.warmup_ns + scenario->phases.measure_ns;
    int64_t whole_ns = end_ns + scenario->phases.cooldown_ns;
    for (size_t i = 0; i < scenario->flows.count; i++)
        if (flows[i].start_ns >= end_ns)
            return late("flows", i, flows[i].start_ns, end_ns, "of the measure phase", e);
    for (size_t i = 0; i < scenario->traffic.count; i++)
        if (traffic[i].start_ns >= end_ns)
            return late("traffic", i, traffic[i].start_ns, end_ns, "of the measure phase", e);
    for (size_t i = 0; i < scenario->storms.count; i++)
        if (storms[i].start_ns >= whole_ns)
            return late("storms", i, storms[i].start_ns, whole_ns, "of the run", e);
    return 0;
}

/* ---- all */

static int decide_by_scenario(void *context, const struct cell *cell, const struct judgement *j,
                              struct error *e)
{
    (void)context;
    return expr_decidable(j->expr, &cell->scenario, e);
}

int plan_check_decidable(const struct plan *plan, struct error *e)
{
    struct judgement j;
    for (size_t c = 0; c < plan->cell_count; c++)
        if (check_times(&plan->cells[c].scenario, e) != 0)
            return -1;
    for (size_t i = 0; plan->cell_count && plan_judgement(&plan->cells[0], i, &j); i++)
        if (check_when(plan, &j, i, e) != 0 || check_against(plan, &j, i, e) != 0)
            return -1;
    return plan_each_decidable(plan, decide_by_scenario, NULL, e);
}
