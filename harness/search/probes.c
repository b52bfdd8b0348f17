#include "harness/search/probes.h"

#include "harness/plan/condition.h"
#include "harness/run/precheck.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/random.h"
#include "lib/xalloc.h"
#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MOST    512
#define CHANCE       32       /* rows by chance */
#define OF_CONDITION 4        /* rows for each condition, that differ in what it does not name */
#define LAST         0.999999 /* the place of a range's upper end */
#define BESIDE       1e-3     /* so far from a value that a condition names another one is tried */

struct probes {
    const struct study *study;
    json_t *rows; /* choices: path -> value */
    struct random random;
};

static bool is_full(const struct probes *p)
{
    return json_array_size(p->rows) >= ROWS_MOST;
}

/* Takes the row. */
static void add_row(struct probes *p, json_t *row)
{
    if (is_full(p))
        json_decref(row);
    else
        json_array_append_new(p->rows, row);
}

static json_t *row_by_chance(struct probes *p)
{
    json_t *row = json_object();
    for (size_t i = 0; i < p->study->parameter_count; i++) {
        const struct parameter *of = &p->study->parameters[i];
        json_object_set_new(row, of->path, value_range_at(&of->range, random_unit(&p->random), 0));
    }
    return row;
}

/* What the parameters are as it is written, or with known settings. */
static void add_known(struct probes *p, const json_t *settings)
{
    json_t *row = json_object();
    for (size_t i = 0; i < p->study->parameter_count; i++) {
        const char *path = p->study->parameters[i].path;
        const json_t *set = json_object_get(settings, path);
        json_t *values = set ? json_make("[O]", set) : plan_values(&p->study->plan.first, path);
        if (json_array_size(values))
            json_object_set(row, path, json_array_get(values, 0));
        json_decref(values);
    }
    if (json_object_size(row) == p->study->parameter_count)
        add_row(p, row);
    else
        json_decref(row);
}

/* The ends and the middle of a range, all values of a list. A new reference. */
static json_t *values_to_try(const struct parameter *of)
{
    static const double places[] = {0, LAST, 0.5, 0.25, 0.75};
    json_t *values = of->range.list ? json_copy(of->range.list) : json_array();
    for (size_t k = 0; !of->range.list && k < sizeof places / sizeof *places; k++)
        json_array_append_new(values, value_range_at(&of->range, places[k], 0));
    return values;
}

/* ---- what conditions name */

/* The value that a condition names first, those around it, and what lies between it and the next one. */
static void add_named(const struct parameter *of, const json_t *wanted, json_t *values)
{
    const char *text = json_string_value(wanted);
    double before = NAN;
    if (!text && isfinite(value_range_place(&of->range, wanted)))
        json_array_append(values, (json_t *)(uintptr_t)wanted);
    while (text && *text) {
        const char *end = strstr(text, " and ");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        while (length && strchr("<>=! ", *text))
            text++, length--;
        json_t *value = json_file_parse(text, length, "value", DOCUMENT_LINE, NULL);
        value = value ? value : json_textn(text, length);
        double at = value ? value_range_place(&of->range, value) : NAN;
        const double places[] = {at, at - BESIDE, at + BESIDE, (at + before) / 2};
        for (size_t k = 0; !of->range.list && k < sizeof places / sizeof *places; k++)
            if (places[k] >= 0 && places[k] < 1)
                json_array_append_new(values, value_range_at(&of->range, places[k], 0));
        if (value && isfinite(at))
            json_array_append(values, value);
        json_decref(value);
        before = at;
        text = end ? end + strlen(" and ") : NULL;
    }
}

struct row_of {
    const struct probes *probes;
    const json_t *row;
};

static json_t *values_of_row(const void *context, const char *path)
{
    const struct row_of *of = context;
    const json_t *value = json_object_get(of->row, path);
    return value ? json_make("[O]", value) : plan_values(&of->probes->study->plan.first, path);
}

/* Give the row a value with which this part of a condition holds; of other paths that lead to the same place
 * (by a glob) one by turn. */
static void set_wanted(struct probes *p, json_t *row, const struct parameter *of, const char *path,
                       const json_t *wanted, size_t turn)
{
    const struct row_of in = {p, row};
    json_t *values = json_array(), *alone = json_make("{s:O}", path, wanted), *value, *others;
    struct error ignored; /* what cannot be read is refused where the condition is judged */
    bool holds = false, same = strcmp(of->path, path) == 0;
    size_t i;
    add_named(of, wanted, values);
    others = values_to_try(of);
    json_array_extend(values, others);
    json_decref(others);
    json_array_foreach(values, i, value)
    {
        json_object_set(row, of->path, value);
        holds = same ? condition_holds(alone, values_of_row, &in, &ignored) == 1
                     : i == turn % json_array_size(values);
        if (holds)
            break;
    }
    json_decref(alone);
    json_decref(values);
}

/* Rows in which the condition holds, if there are any. */
static void add_for_condition(struct probes *p, const json_t *condition)
{
    const char *path;
    json_t *wanted;
    for (size_t k = 0; condition && k < OF_CONDITION; k++) {
        json_t *row = row_by_chance(p);
        json_object_foreach((json_t *)(uintptr_t)condition, path, wanted)
        {
            for (size_t i = 0; i < p->study->parameter_count; i++) {
                const struct parameter *of = &p->study->parameters[i];
                if (fnmatch(of->path, path, 0) == 0 || fnmatch(path, of->path, 0) == 0)
                    set_wanted(p, row, of, path, wanted, k);
            }
        }
        add_row(p, row);
    }
}

static void add_for_conditions(struct probes *p, const json_t *list)
{
    const json_t *condition;
    size_t i;
    json_array_foreach((json_t *)(uintptr_t)list, i, condition) add_for_condition(p, condition);
}

static void make_rows(struct probes *p)
{
    const struct study *study = p->study;
    const struct scenario *scenario = &study->plan.first.scenario;
    const struct scenario_expect *expect = scenario->expect.items;
    const struct scenario_published *published = scenario->published.items;
    random_seed(&p->random, 1);
    for (size_t i = 0; i < study->baseline_count; i++)
        add_known(p, study->baselines[i].values);
    add_for_conditions(p, study->search->except);
    add_for_conditions(p, study->search->only);
    for (size_t i = 0; i < scenario->expect.count; i++)
        add_for_condition(p, expect[i].when);
    for (size_t i = 0; i < scenario->published.count; i++)
        add_for_condition(p, published[i].when);
    for (size_t i = 0; i < study->parameter_count; i++) {
        json_t *values = values_to_try(&study->parameters[i]), *value;
        size_t k;
        json_array_foreach(values, k, value)
        {
            json_t *row = row_by_chance(p);
            json_object_set(row, study->parameters[i].path, value);
            add_row(p, row);
        }
        json_decref(values);
    }
    for (size_t k = 0; k < CHANCE; k++)
        add_row(p, row_by_chance(p));
}

/* ---- what they tell */

/* Leave those rows, each once, that the search may try; and is what its conditions ask for there? */
static int keep_admitted(struct probes *p, struct error *e)
{
    const struct scenario_search *search = p->study->search;
    struct choice_conditions conditions = {.of = "search",
                                           .except = search->except,
                                           .only = search->only,
                                           .seen = json_object(),
                                           .met = json_object()};
    json_t *kept = json_array(), *known = json_object(), *row;
    size_t i;
    int result = 0;
    json_array_foreach(p->rows, i, row)
    {
        int admitted = plan_admits(&p->study->plan, &conditions, row, NULL, NULL, e);
        char *key = admitted == 1 ? json_dumps(row, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
        result = admitted < 0 ? -1 : result;
        if (key && !json_object_get(known, key)) {
            json_object_set_new(known, key, json_true());
            json_array_append(kept, row);
        }
        free(key);
    }
    if (result == 0 && p->study->plan.as_written)
        result = conditions_check_met(&conditions, e);
    json_decref(conditions.seen);
    json_decref(conditions.met);
    json_decref(known);
    json_decref(p->rows);
    p->rows = kept;
    return result;
}

/* The rows as a sweep whose paths change together. A new reference. */
static json_t *sweep_of_rows(const struct probes *p)
{
    json_t *lists = json_object(), *row;
    for (size_t k = 0; k < p->study->parameter_count; k++) {
        json_t *list = json_array();
        size_t i;
        json_array_foreach(p->rows, i, row)
            json_array_append(list, json_object_get(row, p->study->parameters[k].path));
        json_object_set_new(lists, p->study->parameters[k].path, list);
    }
    return json_object_size(lists) == 1 ? lists : json_make("{s:[o]}", "zip", lists);
}

/* The sweep is judged as what was written, or as what the request made of it. */
static int judge_sweep(const struct probes *p, uint64_t seed, struct error *e)
{
    const struct plan *of = &p->study->plan;
    struct plan plan;
    json_t *scenario = json_copy(of->from.scenario);
    json_object_set_new(scenario, "sweep", sweep_of_rows(p));
    const struct plan_documents documents = {.scenario = scenario,
                                             .lab = of->from.lab,
                                             .scenario_path = of->scenario_path,
                                             .lab_path = of->lab_path,
                                             .lab_why = of->lab_why,
                                             .folder = of->folder};
    const struct plan_request request = {
        .documents = &documents, .duration_ns = FIELD_UNSET, .seed = of->from.seed};
    struct precheck precheck = {.seed = seed, .threads = 1, .candidates = true};
    int result = plan_load(&request, &plan, e);
    if (result == 0) {
        plan.changed = of->changed;
        plan.as_written = of->as_written;
        json_decref(plan.from.requested);
        plan.from.requested = json_incref(of->from.requested);
        result = precheck_plan(&plan, &precheck, e);
        plan_free(&plan);
    }
    json_decref(scenario);
    return result;
}

int probes_check(const struct study *study, uint64_t seed, struct error *e)
{
    struct probes p = {.study = study, .rows = json_array()};
    make_rows(&p);
    int result = keep_admitted(&p, e);
    if (result != 0)
        error_prefix(e, "%s", study->plan.scenario_path);
    else if (json_array_size(p.rows)) /* else something rare is looked for, which was drawn before */
        result = judge_sweep(&p, seed, e);
    json_decref(p.rows);
    return result;
}
