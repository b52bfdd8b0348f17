#include "harness/plan/plan.h"
#include "lib/formats/find.h"
#include "harness/plan/paths.h"
#include "lib/document/json_file.h"
#include "lib/text.h"
#include "lib/units.h"
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#define CELL_LIMIT 10000

/* ---- expressions */

static int compile(const char *text, bool check, const struct scenario *scenario, struct expr **into,
                   const char *path, size_t i, struct error *e)
{
    *into = expr_compile(text, check, e);
    if (!*into)
        return error_prefix(e, "%s[%zu].%s", path, i, check ? "check" : "of");
    if (expr_validate(*into, scenario, e) != 0)
        return error_prefix(e, "%s[%zu].%s: \"%.200s\"", path, i, check ? "check" : "of", text);
    return 0;
}

static int check_when(const json_t *when, const json_t *document, const char *path, size_t i, struct error *e)
{
    const char *key;
    json_t *value;
    if (when && !json_is_object(when))
        return error_set(e, "%s[%zu].when: expected an object such as {\"PATH\": VALUE}", path, i);
    json_object_foreach((json_t *)(uintptr_t)when, key, value)
    {
        json_t *copy = json_deep_copy(document);
        int result = strncmp(key, "lab.", 4) == 0 ? 0 : paths_set(copy, key, value, e);
        json_decref(copy);
        if (result != 0)
            return error_prefix(e, "%s[%zu].when", path, i);
    }
    return 0;
}

static int compile_all(struct cell *cell, struct error *e)
{
    const struct scenario *scenario = &cell->scenario;
    const struct scenario_expect *expect = scenario->expect.items;
    const struct scenario_published *published = scenario->published.items;
    cell->checks = calloc(scenario->expect.count + 1, sizeof(struct expr *));
    cell->published = calloc(scenario->published.count + 1, sizeof(struct expr *));
    if (!cell->checks || !cell->published)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < scenario->expect.count; i++)
        if (compile(expect[i].check, true, scenario, &cell->checks[i], "expect", i, e) != 0 ||
            check_when(expect[i].when, cell->scenario_json, "expect", i, e) != 0)
            return -1;
    for (size_t i = 0; i < scenario->published.count; i++)
        if (compile(published[i].of, false, scenario, &cell->published[i], "published", i, e) != 0 ||
            check_when(published[i].when, cell->scenario_json, "published", i, e) != 0)
            return -1;
    return 0;
}

bool plan_when(const struct cell *cell, const json_t *when)
{
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)when, path, value)
    {
        const json_t *chosen = json_object_get(cell->choice, path);
        bool lab = strncmp(path, "lab.", 4) == 0;
        bool fits = chosen ? json_equal(chosen, value)
                           : paths_all_equal(lab ? cell->lab_json : cell->scenario_json,
                                             lab ? path + 4 : path, value);
        if (!fits)
            return false;
    }
    return true;
}

/* ---- a cell */

static void cell_free(struct cell *cell)
{
    for (size_t i = 0; cell->checks && i < cell->scenario.expect.count; i++)
        expr_free(cell->checks[i]);
    for (size_t i = 0; cell->published && i < cell->scenario.published.count; i++)
        expr_free(cell->published[i]);
    free(cell->checks);
    free(cell->published);
    scenario_free(&cell->scenario);
    lab_free(&cell->lab);
    json_decref(cell->choice);
    json_decref(cell->scenario_json);
    json_decref(cell->lab_json);
    memset(cell, 0, sizeof *cell);
}

/* Parse a scenario document into the cell; *document is replaced by its expanded and resolved form. */
static int take_scenario(struct cell *cell, const json_t *document, struct error *e)
{
    json_t *expanded = scenario_expand(document, e);
    if (!expanded)
        return -1;
    json_object_del(expanded, "sweep");
    int result = scenario_parse(expanded, &cell->scenario, e);
    if (result == 0)
        cell->scenario_json = table_resolve(&scenario_table, expanded);
    json_decref(expanded);
    return result == 0 ? compile_all(cell, e) : -1;
}

static int take_lab(struct cell *cell, const json_t *document, struct error *e)
{
    json_t *expanded = lab_expand(document, e);
    if (!expanded)
        return -1;
    int result = lab_parse(expanded, &cell->lab, e);
    json_decref(expanded);
    if (result == 0)
        cell->lab_json = table_resolve(&lab_kind(&cell->lab)->table, document);
    return result;
}

static int bind_roles(const struct cell *cell, struct error *e)
{
    const char *role;
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++)
        if (lab_host_of(&cell->lab, role) < 0 && lab_switch_of(&cell->lab, role) < 0)
            return error_set(
                e,
                "role \"%s\" of the scenario has no host in lab %s: give a host that name, or assign one "
                "with \"roles\": {\"%s\": HOST}",
                role, cell->lab.name, role);
    return 0;
}

/* ---- the sweep */

static int check_sweep(const json_t *sweep, size_t *cells, struct error *e)
{
    const char *path;
    json_t *values;
    *cells = 1;
    if (sweep && !json_is_object(sweep))
        return error_set(e, "sweep: expected an object such as {\"PATH\": [VALUE, ...]}");
    json_object_foreach((json_t *)(uintptr_t)sweep, path, values)
    {
        if (!json_is_array(values) || json_array_size(values) == 0)
            return error_set(e, "sweep.%s: expected a list of values", path);
        if (json_array_size(values) > CELL_LIMIT || (*cells *= json_array_size(values)) > CELL_LIMIT)
            return error_set(e, "sweep: more than %d cells", CELL_LIMIT);
    }
    return 0;
}

static int assign(json_t *scenario, json_t *lab, const char *path, const json_t *value, struct error *e)
{
    if (strncmp(path, "lab.", 4) == 0)
        return lab ? paths_set(lab, path + 4, value, e) : 0;
    return paths_set(scenario, path, value, e);
}

/* The i-th combination: the last path of the sweep changes fastest. */
static json_t *choice_of(const json_t *sweep, size_t i, size_t cells)
{
    json_t *choice = json_object(), *values;
    const char *path;
    json_object_foreach((json_t *)(uintptr_t)sweep, path, values)
    {
        cells /= json_array_size(values);
        json_object_set(choice, path, json_array_get(values, i / cells % json_array_size(values)));
    }
    return choice;
}

/* A lab may replace values that the scenario sets (such as RED's thresholds where links are a thousand times slower),
 * but never adds any. */
static int scale(json_t *scenario, const json_t *lab, struct error *e)
{
    const json_t *scaled = json_object_get(lab, "scaled");
    const char *path;
    json_t *value;
    if (scaled && !json_is_object(scaled))
        return error_set(e, "scaled: expected an object such as {\"PATH\": VALUE}");
    json_object_foreach((json_t *)(uintptr_t)scaled, path, value)
    {
        if (paths_exist(scenario, path) && paths_set(scenario, path, value, e) != 0)
            return error_prefix(e, "scaled");
    }
    return 0;
}

struct documents {
    json_t *scenario, *lab;
    const char *scenario_path, *lab_path;
};

static int make_cell(const struct documents *d, json_t *choice, struct cell *cell, struct error *e)
{
    json_t *scenario = json_deep_copy(d->scenario), *lab = json_deep_copy(d->lab), *value;
    const char *path;
    int result = 0;
    cell->choice = choice;
    json_object_foreach(choice, path, value)
    {
        if (result == 0 && assign(scenario, lab, path, value, e) != 0)
            result = error_prefix(e, "%s: sweep", d->scenario_path);
    }
    if (result == 0 && lab && scale(scenario, lab, e) != 0)
        result = error_prefix(e, "%s", d->lab_path);
    if (result == 0 && take_scenario(cell, scenario, e) != 0)
        result = error_prefix(e, "%s", d->scenario_path);
    if (result == 0 && lab && take_lab(cell, lab, e) != 0)
        result = error_prefix(e, "%s", d->lab_path);
    if (result == 0 && lab && bind_roles(cell, e) != 0)
        result = error_prefix(e, "%s", d->lab_path);
    json_decref(scenario);
    json_decref(lab);
    return result;
}

static int make_cells(const struct documents *d, struct plan *plan, struct error *e)
{
    size_t cells;
    if (check_sweep(json_object_get(d->scenario, "sweep"), &cells, e) != 0)
        return error_prefix(e, "%s", d->scenario_path);
    json_t *sweep = json_object_get(d->scenario, "sweep");
    plan->sweep = sweep ? json_deep_copy(sweep) : json_object();
    plan->cells = calloc(cells, sizeof *plan->cells);
    if (!plan->cells)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < cells; i++) {
        plan->cell_count = i + 1;
        if (make_cell(d, choice_of(plan->sweep, i, cells), &plan->cells[i], e) != 0)
            return -1;
    }
    return 0;
}

/* ---- documents */

static json_t *load_object(const char *path, struct error *e)
{
    json_t *document = json_file_load(path, e);
    if (document && !json_is_object(document)) {
        error_set(e, "%s: expected an object", path);
        json_decref(document);
        return NULL;
    }
    return document;
}

/* The lab that a scenario names: scenarios/../labs/NAME. */
static char *own_lab(const char *scenario_path, const json_t *scenario)
{
    const char *said = json_string_value(json_object_get(scenario, "lab"));
    char *copy = strdup(scenario_path), *found = NULL;
    struct text path = {0};
    if (said && copy) {
        text_add(&path, "%s/../%s", dirname(copy), said);
        found = find_file(FIND_LAB, text_string(&path), NULL);
    }
    free(copy);
    text_free(&path);
    return found ? found : said ? strdup(said) : NULL;
}

static int apply_sets(const struct plan_request *request, struct documents *d, struct error *e)
{
    for (size_t i = 0; i < request->set_count; i++) {
        char *path;
        json_t *value;
        if (paths_assignment(request->sets[i], &path, &value, e) != 0)
            return error_prefix(e, "--set");
        int result = assign(d->scenario, d->lab, path, value, e);
        free(path);
        json_decref(value);
        if (result != 0)
            return error_prefix(e, "--set %s", request->sets[i]);
    }
    if (request->duration_ns != FIELD_UNSET) {
        char written[40];
        json_t *value =
            json_string(units_format(UNIT_TIME_NS, request->duration_ns, written, sizeof written));
        int result = paths_set(d->scenario, "phases.measure", value, e);
        json_decref(value);
        if (result != 0)
            return error_prefix(e, "--duration");
    }
    return 0;
}

int plan_load(const struct plan_request *request, struct plan *plan, struct error *e)
{
    struct documents d = {0};
    char *fallback = NULL;
    int result = -1;
    memset(plan, 0, sizeof *plan);
    plan->scenario_path = find_file(FIND_SCENARIO, request->scenario, e);
    if (!plan->scenario_path || !(d.scenario = load_object(plan->scenario_path, e)))
        goto done;
    fallback = own_lab(plan->scenario_path, d.scenario);
    plan->lab_path = find_lab(request->lab, fallback, &plan->lab_why, e);
    if (!plan->lab_path || !(d.lab = load_object(plan->lab_path, e)))
        goto done;
    d.scenario_path = plan->scenario_path;
    d.lab_path = plan->lab_path;
    if (apply_sets(request, &d, e) == 0)
        result = make_cells(&d, plan, e);
done:
    free(fallback);
    json_decref(d.scenario);
    json_decref(d.lab);
    if (result != 0)
        plan_free(plan);
    return result;
}

void plan_free(struct plan *plan)
{
    for (size_t i = 0; i < plan->cell_count; i++)
        cell_free(&plan->cells[i]);
    free(plan->cells);
    free(plan->scenario_path);
    free(plan->lab_path);
    json_decref(plan->sweep);
    memset(plan, 0, sizeof *plan);
}

int plan_check_scenario(const char *path, struct error *e)
{
    struct documents d = {.scenario = load_object(path, e), .scenario_path = path};
    struct plan plan = {0};
    int result = d.scenario ? make_cells(&d, &plan, e) : -1;
    json_decref(d.scenario);
    plan_free(&plan);
    return result;
}

int plan_check_lab(const char *path, struct error *e)
{
    json_t *lab = load_object(path, e);
    struct cell cell = {0};
    int result = lab ? take_lab(&cell, lab, e) : -1;
    if (lab && result != 0)
        error_prefix(e, "%s", path);
    json_decref(lab);
    cell_free(&cell);
    return result;
}
