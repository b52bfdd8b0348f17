#include "harness/search/study.h"

#include "harness/run/precheck.h"
#include "harness/search/find.h"

#include "lib/document/json_text.h"
#include "lib/document/paths.h"
#include "lib/random.h"
#include "lib/xalloc.h"
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters */

/* Are all values numbers, or quantities of one unit, in ascending order? */
static bool is_ordered(const json_t *list)
{
    double last = -INFINITY;
    enum unit first = UNIT_COUNT;
    json_t *value;
    size_t i;
    json_array_foreach((json_t *)(uintptr_t)list, i, value)
    {
        enum unit unit = UNIT_COUNT;
        int64_t number;
        double is = json_number_value(value);
        if (json_is_string(value) && units_find(json_string_value(value), &unit, &number))
            is = (double)number;
        else if (!json_is_number(value))
            return false;
        first = i == 0 ? unit : first;
        if (unit != first || is <= last)
            return false;
        last = is;
    }
    return true;
}

/* Is the path one of what says which runs there are and how they are judged, and not what runs? */
static bool is_of_study(const char *path)
{
    static const char *const keys[] = {"schema", "name", "title", "sweep", "search", "expect", "published"};
    char first[PATHS_PART];
    bool is = false;
    (void)paths_first_part(path, first);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        is = is || fnmatch(first, keys[i], 0) == 0;
    return is;
}

static int open_parameters(struct study *study, struct error *e)
{
    const char *path;
    json_t *written;
    json_object_foreach(study->search->over, path, written)
    {
        struct parameter *p = &study->parameters[study->parameter_count];
        if (study->parameter_count == STUDY_MOST_PARAMETERS)
            return error_set(e, "over: more than %d paths", STUDY_MOST_PARAMETERS);
        *p = (struct parameter){.path = path, .written = written, .ordered = true};
        if (is_of_study(path))
            return error_set(
                e, "over.%.100s: a search does not vary itself, nor how its runs are called and judged",
                path);
        if (value_range_parse(written, &p->range, e) != 0)
            return error_prefix(e, "over.%.100s", path);
        if (json_array_size(p->range.list) == 1 || (!p->range.list && p->range.from == p->range.to))
            return error_set(
                e, "over.%.100s: it has one value alone, and is not varied: expected at least two", path);
        if (p->range.list)
            p->ordered = is_ordered(p->range.list);
        study->parameter_count++;
    }
    return study->parameter_count
               ? 0
               : error_set(e,
                           "over: expected an object such as {\"PATH\": {\"from\": VALUE, \"to\": VALUE}}");
}

/* ---- objectives */

static int open_objective(struct study *study, const char *name, const char *text, bool max, struct error *e)
{
    struct objective *o = &study->objectives[study->objective_count];
    const struct scenario *scenario = &study->plan.first.scenario;
    for (size_t i = 0; i < study->objective_count; i++)
        if (strcmp(study->objectives[i].name, name) == 0)
            return error_set(e, "\"%.100s\" is the name of an earlier one, too", name);
    *o = (struct objective){.name = name, .text = text, .max = max, .of = expr_compile(text, false, e)};
    if (!o->of)
        return -1;
    study->objective_count++;
    expr_name_roles(o->of, scenario);
    if (expr_reads_other(o->of))
        return error_set(e, "other(...) reads another cell of a sweep, and there is none");
    return expr_validate(o->of, scenario, e) == 0 ? expr_decidable(o->of, scenario, e) : -1;
}

/* What is looked for is an objective: how near it is. */
static int open_find(struct study *study, struct error *e)
{
    const struct scenario_search *s = study->search;
    char *const *led_by = s->led_by.items;
    struct expr *check = expr_compile(s->find, true, e);
    enum expr_foregone is = check ? expr_foregone(check, NULL) : EXPR_OPEN;
    study->margin = check && is == EXPR_OPEN ? finder_margin(s->find, &study->at_margin, e) : NULL;
    expr_free(check);
    if (is != EXPR_OPEN)
        return error_set(e,
                         "find: \"%.200s\" %s holds: expected what some values make true and others do not",
                         s->find, is == EXPR_ALWAYS ? "always" : "never");
    if (!study->margin || open_objective(study, s->find, study->margin, true, e) != 0)
        return error_prefix(e, "find");
    for (size_t i = 0; i < s->led_by.count; i++)
        if (open_objective(study, led_by[i], led_by[i], true, e) != 0)
            return error_prefix(e, "led_by[%zu]", i);
    return 0;
}

static int open_objectives(struct study *study, struct error *e)
{
    const struct search_objective *written = study->search->objectives.items;
    if (study->search->find)
        return open_find(study, e);
    for (size_t i = 0; i < study->search->objectives.count; i++) {
        const char *text = written[i].max ? written[i].max : written[i].min;
        if (open_objective(study, written[i].name ? written[i].name : text, text, written[i].max != NULL,
                           e) != 0)
            return error_prefix(e, "objectives[%zu]", i);
    }
    return 0;
}

/* The lab has what objectives read: without that they have no value in any run. */
static int check_reads(const struct study *study, struct error *e)
{
    const struct expr *exprs[SEARCH_MOST_OBJECTIVES];
    size_t at;
    for (size_t i = 0; i < study->objective_count; i++)
        exprs[i] = study->objectives[i].of;
    if (precheck_reads(&study->plan.first, study->plan.from.seed, exprs, study->objective_count, &at, e) == 0)
        return 0;
    return at == study->objective_count ? -1
           : !study->margin             ? error_prefix(e, "objectives[%zu]", at)
           : at == 0                    ? error_prefix(e, "find")
                                        : error_prefix(e, "led_by[%zu]", at - 1);
}

/* ---- constraints */

static bool is_named(const struct list_of *globs, const char *name)
{
    char *const *items = globs->items;
    bool is = false;
    for (size_t i = 0; i < globs->count; i++)
        is = is || strcmp(items[i], name) == 0 || fnmatch(items[i], name, 0) == 0;
    return is;
}

bool study_is_constraint(const struct study *study, const char *name)
{
    const struct scenario_search *s = study->search;
    return (s->constraints.count == 0 && !s->find) || is_named(&s->constraints, name) ||
           is_named(&s->guard, name);
}

bool study_stops(const void *study, const char *name)
{
    return study_is_constraint(study, name);
}

bool study_is_guarded(const struct study *study)
{
    return study->search->guard.count && !lab_kind(&study->plan.first.lab)->simulated;
}

bool study_guards(const struct study *study, const char *name)
{
    return study_is_guarded(study) && is_named(&study->search->guard, name);
}

static int check_names(const struct study *study, const struct list_of *globs, const char *key,
                       struct error *e)
{
    const struct scenario *scenario = &study->plan.first.scenario;
    const struct scenario_expect *expect = scenario->expect.items;
    for (size_t k = 0; k < globs->count; k++) {
        const struct list_of one = {.items = (char **)globs->items + k, .count = 1};
        struct text all = {0};
        bool found = false;
        for (size_t i = 0; i < scenario->expect.count; i++) {
            found = found || is_named(&one, expect[i].name);
            text_add(&all, "%s\"%.100s\"", i ? ", " : "", expect[i].name);
        }
        if (!found)
            error_set(e, "%s[%zu]: there is no expectation \"%.100s\": expected some of %.600s", key, k,
                      ((char **)globs->items)[k],
                      all.length ? text_string(&all) : "none, as the scenario has none");
        text_free(&all);
        if (!found)
            return -1;
    }
    return 0;
}

static int check_constraints(const struct study *study, struct error *e)
{
    const struct scenario *scenario = &study->plan.first.scenario;
    const struct scenario_expect *expect = scenario->expect.items;
    if (check_names(study, &study->search->constraints, "constraints", e) != 0 ||
        check_names(study, &study->search->guard, "guard", e) != 0)
        return -1;
    for (size_t i = 0; i < scenario->expect.count; i++)
        if (study_is_constraint(study, expect[i].name) && (expect[i].over != OVER_RUN || expect[i].against))
            return error_set(
                e,
                "constraints: \"%.100s\" is judged over several runs: expected an expectation of "
                "one run, or \"constraints\" that do not name it",
                expect[i].name);
    return 0;
}

/* ---- known settings */

static int open_known(const json_t *written, const char *key, struct known_settings *known, size_t *count,
                      struct error *e)
{
    const char *name;
    json_t *values;
    if (written && !json_is_object(written))
        return error_set(e, "%s: expected an object such as {\"NAME\": {\"PATH\": VALUE}}", key);
    json_object_foreach((json_t *)(uintptr_t)written, name, values)
    {
        if (!*name || !json_is_object(values) || json_object_size(values) == 0)
            return error_set(e, "%s.%.60s: expected an object such as {\"PATH\": VALUE}", key, name);
        known[(*count)++] = (struct known_settings){.name = name, .values = json_incref(values)};
    }
    return 0;
}

static int check_known(const struct study *study, const struct known_settings *known, size_t count,
                       const char *key, struct error *e)
{
    for (size_t i = 0; i < count; i++)
        if (known[i].values && study_can_run_known(study, key, known[i].values, e) != 1)
            return error_prefix(e, "%s.%.60s", key, known[i].name);
    return 0;
}

#define SCENARIO_ITSELF "as written"

static int open_all_known(struct study *study, struct error *e)
{
    const struct scenario_search *s = study->search;
    study->absent = json_object();
    study->baselines = calloc(json_object_size(s->baselines) + 1, sizeof *study->baselines);
    study->other = calloc(json_object_size(s->other) + 1, sizeof *study->other);
    if (!study->baselines || !study->other)
        return error_set(e, "out of memory");
    study->baselines[study->baseline_count++] = (struct known_settings){.name = SCENARIO_ITSELF};
    if (open_known(s->baselines, "baselines", study->baselines, &study->baseline_count, e) != 0 ||
        open_known(s->other, "other", study->other, &study->other_count, e) != 0)
        return -1;
    return check_known(study, study->baselines, study->baseline_count, "baselines", e) == 0
               ? check_known(study, study->other, study->other_count, "other", e)
               : -1;
}

/* ---- choices */

json_t *study_choice(const struct study *study, const double *places)
{
    json_t *choice = json_object();
    for (size_t i = 0; i < study->parameter_count; i++)
        json_object_set_new(choice, study->parameters[i].path,
                            value_range_at(&study->parameters[i].range, places[i], 0));
    return choice;
}

static int admits(const struct study *study, const json_t *choice, cell_check *check, void *context,
                  struct error *e)
{
    struct choice_conditions conditions = {
        .of = "search", .except = study->search->except, .only = study->search->only, .seen = json_object()};
    int admitted = plan_admits(&study->plan, &conditions, choice, check, context, e);
    json_decref(conditions.seen);
    return admitted;
}

int study_admits(const struct study *study, const json_t *choice, struct error *e)
{
    return admits(study, choice, NULL, NULL, e);
}

struct lab_asked {
    const struct study *study;
    bool refuses;
};

static int ask_lab(void *context, const struct cell *cell, struct error *e)
{
    struct lab_asked *asked = context;
    asked->refuses = precheck_alone(cell, asked->study->plan.from.seed, e) != 0;
    return asked->refuses ? -1 : 0;
}

int study_can_run(const struct study *study, const json_t *choice, bool *by_lab, struct error *e)
{
    struct lab_asked asked = {.study = study};
    int admitted = admits(study, choice, ask_lab, &asked, e);
    *by_lab = asked.refuses;
    return admitted;
}

int study_can_run_known(const struct study *study, const char *of, const json_t *values, struct error *e)
{
    const struct choice_conditions none = {.of = of};
    struct lab_asked asked = {.study = study};
    return plan_admits(&study->plan, &none, values, ask_lab, &asked, e);
}

/* ---- what settings make of the scenario */

static int take_scenario(void *context, const struct cell *cell, struct error *e)
{
    (void)e;
    *(json_t **)context = json_incref(cell->scenario_json);
    return 0;
}

json_t *study_scenario(const struct study *study, const json_t *settings)
{
    const struct choice_conditions none = {.of = "search"};
    struct error ignored;
    json_t *scenario = NULL;
    plan_admits(&study->plan, &none, settings, take_scenario, &scenario, &ignored);
    return scenario;
}

struct values_asked {
    const json_t *paths;
    json_t *values;
};

/* A null for each flow or other place that has no value where others have one. */
static void add_unset(const struct cell *cell, const char *path, json_t *values)
{
    const char *last = strrchr(path, '.');
    char *in = last ? xstrndup(path, (size_t)(last - path)) : NULL;
    json_t *places = in && json_array_size(values) ? plan_values(cell, in) : NULL;
    for (size_t i = json_array_size(values); i < json_array_size(places); i++)
        json_array_append_new(values, json_null());
    json_decref(places);
    free(in);
}

static int ask_values(void *context, const struct cell *cell, struct error *e)
{
    struct values_asked *asked = context;
    const char *path;
    json_t *ignored, *values;
    (void)e;
    json_object_foreach((json_t *)(uintptr_t)asked->paths, path, ignored)
    {
        values = plan_values(cell, path);
        values = values ? values : json_array();
        add_unset(cell, path, values);
        json_put(asked->values, path, values);
    }
    return 0;
}

json_t *study_values(const struct study *study, const json_t *settings, const json_t *paths)
{
    const struct choice_conditions none = {.of = "search"};
    struct values_asked asked = {paths, json_object()};
    struct error ignored; /* settings that make no scenario were refused before */
    if (json_object_size(settings))
        plan_admits(&study->plan, &none, settings, ask_values, &asked, &ignored);
    else
        ask_values(&asked, &study->plan.first, &ignored);
    return asked.values;
}

json_t *study_has(const struct study *study, const json_t *settings)
{
    json_t *all = study_values(study, settings, study->search->over), *has = json_object(), *values, *value;
    const char *path;
    size_t i;
    json_object_foreach(all, path, values)
    {
        bool same = true;
        json_array_foreach(values, i, value)
        {
            same = same && json_same(value, json_array_get(values, 0));
        }
        if (same)
            json_put(has, path, i ? json_incref(json_array_get(values, 0)) : json_null());
    }
    json_decref(all);
    return has;
}

/* Both ends and the middle of all ranges: do the paths lead to something, and can the conditions be read? */
static int check_choices(const struct study *study, struct error *e)
{
    static const double tried[] = {0.5, 0, 0.999999, 0.25, 0.75};
    struct choice_conditions conditions = {
        .of = "search", .except = study->search->except, .only = study->search->only, .seen = json_object()};
    int result = conditions_check(&conditions, e), admitted = 0;
    for (size_t k = 0; result == 0 && k < sizeof tried / sizeof *tried; k++) {
        double places[STUDY_MOST_PARAMETERS];
        for (size_t i = 0; i < study->parameter_count; i++)
            places[i] = tried[k];
        json_t *choice = study_choice(study, places);
        admitted = plan_admits(&study->plan, &conditions, choice, NULL, NULL, e);
        if (admitted < 0)
            result = -1;
        json_decref(choice);
    }
    if (result == 0)
        result = conditions_check_seen(&conditions, e);
    json_decref(conditions.seen);
    return result;
}

#define DRAWN_MOST 1000

/* Is there anything that can be run? */
static int check_any(const struct study *study, struct error *e)
{
    struct random random;
    bool by_lab;
    int admitted = 0;
    random_seed(&random, 1);
    for (int k = 0; admitted == 0 && k < DRAWN_MOST; k++) {
        double places[STUDY_MOST_PARAMETERS];
        for (size_t i = 0; i < study->parameter_count; i++)
            places[i] = random_unit(&random);
        json_t *choice = study_choice(study, places);
        admitted = study_can_run(study, choice, &by_lab, e);
        json_decref(choice);
    }
    return admitted == 1 ? 0
           : admitted < 0
               ? -1
               : error_prefix(e, "none of %d values that were drawn can be run; of the last one", DRAWN_MOST);
}

/* A path that leads nowhere is said as such, and not as a candidate that cannot be run. */
static int check_paths(const struct study *study, struct error *e)
{
    const struct choice_conditions none = {.of = "search"};
    for (size_t i = 0; i < study->parameter_count; i++) {
        const struct parameter *p = &study->parameters[i];
        bool fits = false, replaced = false;
        for (int k = 0; k < 8; k++) {
            json_t *choice = json_object();
            json_object_set_new(choice, p->path, value_range_at(&p->range, k / 8.0 + 0.06, 0));
            replaced = replaced || plan_replaces(&study->plan, choice);
            fits = fits || plan_admits(&study->plan, &none, choice, NULL, NULL, e) == 1;
            json_decref(choice);
        }
        if (replaced)
            return error_set(e,
                             "over.%.100s: lab %s replaces what is there, by its \"scaled\": expected "
                             "another path, or --set lab.scaled=null",
                             p->path, study->plan.first.lab.name);
        json_t *values = plan_values(&study->plan.first, p->path);
        bool there = json_array_size(values) > 0;
        json_decref(values);
        if (!fits && !there)
            return error_prefix(e, "over.%.100s", p->path);
    }
    return 0;
}

bool study_places(const struct study *study, const struct known_settings *settings, double *places)
{
    json_t *has = study_has(study, settings->values);
    bool all = true;
    for (size_t i = 0; i < study->parameter_count; i++) {
        const struct parameter *p = &study->parameters[i];
        const json_t *value = json_object_get(has, p->path);
        places[i] = value ? value_range_place(&p->range, value) : NAN;
        all = all && isfinite(places[i]);
    }
    json_decref(has);
    return all;
}

/* ---- the whole */

int study_open(const struct plan_request *request, struct study *study, struct error *e)
{
    *study = (struct study){0};
    if (plan_load(request, &study->plan, e) != 0)
        return -1;
    study->search = study->plan.search;
    if (!study->search)
        return error_set(e,
                         "%s has no \"search\", which says what is varied and what is "
                         "wanted",
                         study->plan.scenario_path);
    if (json_object_size(study->plan.sweep))
        return error_set(e, "%s has a sweep and a search: expected one of them, as with --set sweep=null",
                         study->plan.scenario_path);
    if (open_parameters(study, e) == 0 && open_objectives(study, e) == 0 &&
        check_constraints(study, e) == 0 && check_paths(study, e) == 0 && open_all_known(study, e) == 0 &&
        check_choices(study, e) == 0 && check_any(study, e) == 0 && check_reads(study, e) == 0)
        return 0;
    return error_prefix(e, "%s: search", study->plan.scenario_path);
}

static void free_known(struct known_settings *known, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        json_decref(known[i].values);
        json_decref(known[i].left_out);
    }
    free(known);
}

void study_close(struct study *study)
{
    for (size_t i = 0; i < study->objective_count; i++)
        expr_free(study->objectives[i].of);
    free(study->margin);
    free_known(study->baselines, study->baseline_count);
    free_known(study->other, study->other_count);
    json_decref(study->absent);
    plan_free(&study->plan);
    *study = (struct study){0};
}
