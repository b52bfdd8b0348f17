#include "harness/plan/plan.h"
#include "lib/document/json_text.h"
#include "lib/formats/find.h"
#include "harness/plan/decidable.h"
#include "harness/plan/paths.h"
#include "harness/plan/patterns.h"
#include "harness/plan/settings_fit.h"
#include "harness/plan/sweep_values.h"
#include "lib/document/json_file.h"
#include "lib/text.h"
#include "lib/units.h"
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CELL_LIMIT         10000
#define MEMORY_LIMIT_BYTES ((size_t)4 << 30) /* of the documents of all cells: each has its own */

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

/* A figure and the value that is compared with it are in one unit: only plain numbers have units that the scenario names. */
static int check_unit(const struct scenario_published *p, const struct expr *of,
                      const struct scenario *scenario, size_t i, struct error *e)
{
    const char *unit = expr_value_unit(of, scenario);
    if (!*unit || (p->unit && strcmp(p->unit, unit) == 0))
        return 0;
    return error_set(
        e, "published[%zu].unit: \"%s\", but \"%.200s\" is in %s: divide it, such as by 1Gb/s or 1us", i,
        p->unit ? p->unit : "", p->of, unit);
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
        if (compile(expect[i].check, true, scenario, &cell->checks[i], "expect", i, e) != 0)
            return -1;
    for (size_t i = 0; i < scenario->published.count; i++)
        if (compile(published[i].of, false, scenario, &cell->published[i], "published", i, e) != 0 ||
            check_unit(&published[i], cell->published[i], scenario, i, e) != 0)
            return -1;
    return 0;
}

/* ---- a cell */

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

/* The sweep with all its lists written out, and how many cells they make. NULL with an error. */
static json_t *take_sweep(const json_t *sweep, size_t *cells, struct error *e)
{
    const char *path;
    json_t *written, *lists = json_object();
    *cells = 1;
    if (sweep && !json_is_object(sweep)) {
        error_set(e, "sweep: expected an object such as {\"PATH\": [VALUE, ...]}");
        goto failed;
    }
    json_object_foreach((json_t *)(uintptr_t)sweep, path, written)
    {
        json_t *values = sweep_values(written, path, e);
        if (!values)
            goto failed;
        json_object_set_new(lists, path, values);
        if (json_array_size(values) > CELL_LIMIT || (*cells *= json_array_size(values)) > CELL_LIMIT) {
            error_set(e, "sweep: more than %d cells", CELL_LIMIT);
            goto failed;
        }
    }
    return lists;
failed:
    json_decref(lists);
    return NULL;
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
 * but never adds any, and leaves what the request itself has set. */
static int scale(json_t *scenario, const json_t *lab, const json_t *requested, struct error *e)
{
    const json_t *scaled = json_object_get(lab, "scaled");
    const char *path;
    json_t *value;
    if (scaled && !json_is_object(scaled))
        return error_set(e, "scaled: expected an object such as {\"PATH\": VALUE}");
    json_object_foreach((json_t *)(uintptr_t)scaled, path, value)
    {
        if (!json_object_get(requested, path) && paths_exist(scenario, path) &&
            paths_set(scenario, path, value, e) != 0)
            return error_prefix(e, "scaled");
    }
    return 0;
}

struct documents {
    json_t *scenario, *lab;
    json_t *requested; /* paths that the request sets */
    const char *scenario_path, *lab_path;
    uint64_t seed;
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
    if (result == 0 && lab && scale(scenario, lab, d->requested, e) != 0)
        result = error_prefix(e, "%s", d->lab_path);
    if (result == 0 && take_scenario(cell, scenario, e) != 0)
        result = error_prefix(e, "%s", d->scenario_path);
    if (result == 0 && lab && take_lab(cell, lab, e) != 0)
        result = error_prefix(e, "%s", d->lab_path);
    if (result == 0 && lab && bind_roles(cell, e) != 0)
        result = error_prefix(e, "%s", d->lab_path);
    if (result == 0 && lab && settings_fit(cell, e) != 0)
        result = error_prefix(e, "%s", d->scenario_path);
    if (result == 0 && lab && !lab_kind(&cell->lab)->simulated &&
        plan_expand_patterns(&cell->scenario, &cell->lab, d->seed, e) != 0)
        result = error_prefix(e, "%s", d->scenario_path);
    json_decref(scenario);
    json_decref(lab);
    return result;
}

static int make_cells(const struct documents *d, struct plan *plan, struct error *e)
{
    size_t cells;
    plan->sweep = take_sweep(json_object_get(d->scenario, "sweep"), &cells, e);
    if (!plan->sweep)
        return error_prefix(e, "%s", d->scenario_path);
    size_t memory = json_file_memory_of(d->scenario) + json_file_memory_of(d->lab);
    if (memory > MEMORY_LIMIT_BYTES / cells)
        return error_set(e, "%s: sweep: %zu cells would take %zu MiB of memory: at most %zu MiB",
                         d->scenario_path, cells, memory * cells >> 20, MEMORY_LIMIT_BYTES >> 20);
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

static json_t *load_object(const char *path, enum document_kind kind, struct error *e)
{
    json_t *document = json_file_load(path, kind, e);
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
        int result = strncmp(path, "lab.", 4) == 0 && !d->lab
                         ? error_set(e, "the scenario names no lab, and none is given")
                         : assign(d->scenario, d->lab, path, value, e);
        json_object_set_new(d->requested, path, json_true());
        free(path);
        json_decref(value);
        if (result != 0)
            return error_prefix(e, "--set %s", request->sets[i]);
    }
    if (request->duration_ns != FIELD_UNSET) {
        char written[40];
        json_t *value = json_text(units_format(UNIT_TIME_NS, request->duration_ns, written, sizeof written));
        int result = paths_set(d->scenario, "phases.measure", value, e);
        json_object_set_new(d->requested, "phases.measure", json_true());
        json_decref(value);
        if (result != 0)
            return error_prefix(e, "--duration");
    }
    return 0;
}

/* The lab of the request, or the one that the user's choice or the scenario names; with own_lab there may be none. */
static int load_lab(const struct plan_request *request, const char *own, struct plan *plan,
                    struct documents *d, struct error *e)
{
    if (request->own_lab && !request->lab) {
        if (!own)
            return 0;
        plan->lab_why = "the scenario";
        plan->lab_path = find_file(FIND_LAB, own, e);
        if (!plan->lab_path)
            return error_prefix(e, "%s: lab", plan->scenario_path);
    } else {
        plan->lab_path = find_lab(request->lab, own, &plan->lab_why, e);
    }
    d->lab_path = plan->lab_path;
    d->lab = plan->lab_path ? load_object(plan->lab_path, DOCUMENT_LAB, e) : NULL;
    return d->lab ? 0 : -1;
}

static bool same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* What can never be decided is judged by the scenario as it is written, with the lab that it names. A document that cannot be
 * planned so is left to the request's own plan. */
static int check_as_written(const struct documents *d, const char *own, struct error *e)
{
    struct error ignored;
    struct plan written = {0};
    struct documents documents = *d;
    char *path = own ? find_file(FIND_LAB, own, NULL) : NULL;
    documents.lab = !own ? json_incref(d->lab) : path ? load_object(path, DOCUMENT_LAB, &ignored) : NULL;
    documents.lab_path = path;
    int result = make_cells(&documents, &written, &ignored) == 0 ? plan_check_decidable(&written, e) : 0;
    plan_free(&written);
    json_decref(documents.lab);
    free(path);
    return result == 0 ? 0 : error_prefix(e, "%s", d->scenario_path);
}

static int make_plan(const struct plan_request *request, const char *own, struct documents *d,
                     struct plan *plan, struct error *e)
{
    bool as_written = !plan->changed && (!own || !d->lab || same_file(own, d->lab_path));
    if (!as_written && check_as_written(d, own, e) != 0)
        return -1;
    if (apply_sets(request, d, e) != 0 || make_cells(d, plan, e) != 0)
        return -1;
    return !as_written || plan_check_decidable(plan, e) == 0 ? 0 : error_prefix(e, "%s", d->scenario_path);
}

int plan_load(const struct plan_request *request, struct plan *plan, struct error *e)
{
    struct documents d = {.requested = json_object()};
    char *own = NULL;
    int result = -1;
    memset(plan, 0, sizeof *plan);
    plan->changed = request->set_count || request->duration_ns != FIELD_UNSET;
    plan->scenario_path = find_file(FIND_SCENARIO, request->scenario, e);
    if (!plan->scenario_path || !(d.scenario = load_object(plan->scenario_path, DOCUMENT_SCENARIO, e)))
        goto done;
    d.scenario_path = plan->scenario_path;
    d.seed = request->seed;
    own = own_lab(plan->scenario_path, d.scenario);
    if (load_lab(request, own, plan, &d, e) == 0)
        result = make_plan(request, own, &d, plan, e);
done:
    free(own);
    json_decref(d.scenario);
    json_decref(d.lab);
    json_decref(d.requested);
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

int plan_check_lab(const char *path, struct error *e)
{
    json_t *lab = load_object(path, DOCUMENT_LAB, e);
    struct cell cell = {0};
    int result = lab ? take_lab(&cell, lab, e) : -1;
    if (lab && result != 0)
        error_prefix(e, "%s", path);
    json_decref(lab);
    cell_free(&cell);
    return result;
}
