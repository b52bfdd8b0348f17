#include "harness/plan/plan.h"
#include "lib/document/json_text.h"
#include "lib/formats/find.h"
#include "harness/plan/borrow.h"
#include "harness/plan/decidable.h"
#include "harness/plan/paths.h"
#include "harness/plan/patterns.h"
#include "harness/plan/settings_fit.h"
#include "lib/document/json_file.h"
#include "lib/text.h"
#include "lib/units.h"
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- expressions */

/* other(...) and "against" go together. */
static int check_other(const struct expr *expr, const json_t *against, struct error *e)
{
    bool reads = expr_reads_other(expr);
    if (reads && !against)
        return error_set(e, "other() is of another cell: say which with \"against\": {\"PATH\": VALUE}");
    if (against && !reads)
        return error_set(e, "\"against\" names another cell, and nothing reads it: write other(...)");
    return 0;
}

static int compile(const char *text, bool check, const json_t *against, const struct scenario *scenario,
                   struct expr **into, const char *path, size_t i, struct error *e)
{
    *into = expr_compile(text, check, e);
    if (!*into)
        return error_prefix(e, "%s[%zu].%s", path, i, check ? "check" : "of");
    if (expr_validate(*into, scenario, e) != 0 || check_other(*into, against, e) != 0)
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
        if (compile(expect[i].check, true, expect[i].against, scenario, &cell->checks[i], "expect", i, e) !=
            0)
            return -1;
    for (size_t i = 0; i < scenario->published.count; i++)
        if (compile(published[i].of, false, published[i].against, scenario, &cell->published[i], "published",
                    i, e) != 0 ||
            check_unit(&published[i], cell->published[i], scenario, i, e) != 0)
            return -1;
    return 0;
}

/* ---- a cell */

/* Parse a scenario document into the cell, with its expanded and resolved form. */
static int take_scenario(struct cell *cell, const json_t *document, const struct cell *first, struct error *e)
{
    json_t *expanded = scenario_expand(document, e);
    if (!expanded)
        return -1;
    int result = scenario_parse(expanded, &cell->scenario, e);
    if (result == 0)
        cell->scenario_json = table_resolve(&scenario_table, expanded);
    json_decref(expanded);
    return result == 0 && !(first && borrow_expressions(cell, first)) ? compile_all(cell, e) : result;
}

static int take_lab(struct cell *cell, const json_t *document, struct error *e)
{
    json_t *expanded = lab_expand(document, e);
    if (!expanded)
        return -1;
    int result = lab_parse(expanded, &cell->lab, e);
    if (result == 0) {
        const struct lab_kind *kind = lab_kind(&cell->lab);
        cell->lab_json = table_resolve(&kind->table, kind->simulated ? document : expanded);
    }
    json_decref(expanded);
    return result;
}

static int bind_roles(const struct cell *cell, struct error *e)
{
    const char *role;
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++)
        if (lab_host_of(&cell->lab, role) < 0 && lab_switch_of(&cell->lab, role) < 0 &&
            !lab_real_switch(&cell->lab, role))
            return error_set(
                e,
                "role \"%s\" of the scenario has no host in lab %s: give a host that name, or assign one "
                "with \"roles\": {\"%s\": HOST}",
                role, cell->lab.name, role);
    return 0;
}

/* ---- the sweep */

static int assign(json_t *scenario, json_t *lab, const char *path, const json_t *value, struct error *e)
{
    const char *in_lab = paths_in_lab(path);
    if (in_lab)
        return lab ? paths_set(lab, in_lab, value, e) : 0;
    if (json_is_null(value) && table_check_path(&scenario_table, path, e) != 0)
        return error_prefix(e, "%.100s", path);
    return paths_set(scenario, path, value, e);
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

/* The scenario without its sweep, which may be long. */
static json_t *copy_scenario(const json_t *scenario)
{
    json_t *shallow = json_copy((json_t *)(uintptr_t)scenario);
    json_object_del(shallow, "sweep");
    json_t *copy = json_deep_copy(shallow);
    json_decref(shallow);
    return copy;
}

/* The values at a path in the documents with a choice put in. */
static json_t *values_with_choice(const void *context, const json_t *choice, const char *path)
{
    const struct cell_sources *d = context;
    const char *in_lab = paths_in_lab(path);
    json_t *scenario = in_lab ? NULL : copy_scenario(d->scenario),
           *lab = in_lab ? json_deep_copy(d->lab) : NULL, *value;
    const char *at;
    struct error ignored; /* a path that matches nothing is refused with its cell */
    json_object_foreach((json_t *)(uintptr_t)choice, at, value)
    {
        if (!paths_in_lab(at) == !in_lab)
            assign(scenario, lab, at, value, &ignored);
    }
    json_t *values = in_lab ? paths_values(lab, in_lab) : paths_values(scenario, path);
    json_decref(scenario);
    json_decref(lab);
    return values;
}

/* Takes over `choice`. `first`: of the same plan; NULL if it is this one. */
static int make_cell(const struct cell_sources *d, json_t *choice, const struct cell *first,
                     struct cell *cell, struct error *e)
{
    cell->choice = choice;
    bool has_lab = d->lab && first && borrow_lab(cell, first);
    json_t *scenario = copy_scenario(d->scenario),
           *lab = has_lab ? json_incref(d->lab) : json_deep_copy(d->lab);
    json_t *value;
    const char *path;
    int result = 0;
    json_object_foreach(choice, path, value)
    {
        if (result == 0 && assign(scenario, lab, path, value, e) != 0)
            result = error_prefix(e, "%s: sweep", d->scenario_path);
    }
    if (result == 0 && lab && scale(scenario, lab, d->requested, e) != 0)
        result = error_prefix(e, "%s", d->lab_path);
    if (result == 0 && take_scenario(cell, scenario, first, e) != 0)
        result = error_prefix(e, "%s", d->scenario_path);
    if (result == 0 && lab && !has_lab && take_lab(cell, lab, e) != 0)
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

/* Nothing is left allocated on error. */
static int begin_cell(const struct cell_sources *d, json_t *choice, const struct cell *first,
                      struct cell *cell, struct error *e)
{
    *cell = (struct cell){0};
    if (make_cell(d, choice, first, cell, e) == 0)
        return 0;
    cell_free(cell);
    return -1;
}

int plan_cell(const struct plan *plan, size_t i, struct cell *cell, struct error *e)
{
    return begin_cell(&plan->from, choices_at(&plan->choices, i), &plan->first, cell, e);
}

static struct cell_sources keep_sources(const struct cell_sources *d)
{
    struct cell_sources kept = *d;
    json_incref(kept.scenario);
    json_incref(kept.lab);
    json_incref(kept.requested);
    return kept;
}

/* The choices, and the first cell. */
static int begin_plan(const struct cell_sources *d, bool many, struct plan *plan, struct error *e)
{
    if (choices_parse(json_object_get(d->scenario, "sweep"), many, values_with_choice, d, &plan->choices,
                      e) != 0)
        return error_prefix(e, "%s", d->scenario_path);
    plan->sweep = json_incref(plan->choices.lists);
    plan->from = keep_sources(d);
    if (begin_cell(d, choices_at(&plan->choices, 0), NULL, &plan->first, e) != 0)
        return -1;
    plan->cell_count = plan->choices.count;
    return 0;
}

/* Every cell can be made, and what is said of all of them is judged: `decidable` or NULL, and the request's. */
static int visit_cells(const struct plan_request *request, const struct plan *plan,
                       struct decidable *decidable, struct error *e)
{
    for (size_t i = 0; i < plan->cell_count; i++) {
        struct cell made;
        if (i > 0 && plan_cell(plan, i, &made, e) != 0)
            return -1;
        const struct cell *cell = i > 0 ? &made : &plan->first;
        if (decidable)
            decidable_note(decidable, cell);
        if (request && request->each)
            request->each(request->context, cell);
        if (i > 0)
            cell_free(&made);
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

/* A copy of the document in its place: what was read stays as it is. */
static int own_copy(json_t **document, struct error *e)
{
    json_t *copy = *document ? json_deep_copy(*document) : NULL;
    if (*document && !copy)
        return error_set(e, "out of memory");
    json_decref(*document);
    *document = copy;
    return 0;
}

static int apply_sets(const struct plan_request *request, struct cell_sources *d, struct error *e)
{
    if (request->set_count || request->duration_ns != FIELD_UNSET)
        if (own_copy(&d->scenario, e) != 0 || own_copy(&d->lab, e) != 0)
            return -1;
    for (size_t i = 0; i < request->set_count; i++) {
        char *path;
        json_t *value;
        if (paths_assignment(request->sets[i], &path, &value, e) != 0)
            return error_prefix(e, "--set");
        int result =
            paths_in_lab(path) && !d->lab ? error_set(e, "the scenario names no lab, and none is given")
            : strcmp(path, "sweep") == 0 && !json_is_null(value) /* two sweeps merged would be neither */
                ? json_object_set(d->scenario, path, value)
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
                    struct cell_sources *d, struct error *e)
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

/* Paths lead to single hosts: "lab.hosts.h3". */
static int write_ranges_out(struct cell_sources *d, struct error *e)
{
    json_t *lab = d->lab ? lab_expand_ranges(d->lab, e) : NULL;
    if (d->lab && !lab)
        return error_prefix(e, "%s", d->lab_path);
    json_decref(d->lab);
    d->lab = lab;
    return 0;
}

static bool same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

enum judged { JUDGED_GOOD, JUDGED_UNDECIDABLE, JUDGED_NOT };

/* JUDGED_NOT: a cell cannot be made. */
static enum judged judge(const struct plan_request *request, const struct plan *plan, struct error *e)
{
    struct decidable decidable;
    if (decidable_open(&decidable, plan, e) != 0)
        return JUDGED_NOT;
    enum judged judged = visit_cells(request, plan, &decidable, e) != 0 ? JUDGED_NOT
                         : decidable_end(&decidable, e) != 0            ? JUDGED_UNDECIDABLE
                                                                        : JUDGED_GOOD;
    decidable_close(&decidable);
    return judged;
}

/* What can never be decided is judged by the scenario as it is written, with the lab that it names. A document that cannot be
 * planned so is left to the request's own plan. */
static int check_as_written(const struct plan_request *request, const struct cell_sources *d, const char *own,
                            struct error *e)
{
    struct error ignored;
    struct plan written = {0};
    struct cell_sources documents = *d;
    char *path = own ? find_file(FIND_LAB, own, NULL) : NULL;
    int result = 0;
    documents.lab = !own ? json_incref(d->lab) : path ? load_object(path, DOCUMENT_LAB, &ignored) : NULL;
    documents.lab_path = path;
    if (write_ranges_out(&documents, &ignored) == 0 &&
        begin_plan(&documents, request->many, &written, &ignored) == 0)
        result = judge(NULL, &written, e) == JUDGED_UNDECIDABLE ? -1 : 0;
    plan_free(&written);
    json_decref(documents.lab);
    free(path);
    return result == 0 ? 0 : error_prefix(e, "%s", d->scenario_path);
}

static int make_plan(const struct plan_request *request, const char *own, struct cell_sources *d,
                     struct plan *plan, struct error *e)
{
    bool as_written = !plan->changed && (!own || !d->lab || same_file(own, d->lab_path));
    if (!request->documents && !as_written && check_as_written(request, d, own, e) != 0)
        return -1;
    if (apply_sets(request, d, e) != 0 || begin_plan(d, request->many, plan, e) != 0)
        return -1;
    if (request->documents || !as_written)
        return visit_cells(request, plan, NULL, e);
    enum judged judged = judge(request, plan, e);
    return judged == JUDGED_UNDECIDABLE ? error_prefix(e, "%s", d->scenario_path)
           : judged == JUDGED_GOOD      ? 0
                                        : -1;
}

/* The documents of the request. `own`: the lab that the scenario names. */
static int load_documents(const struct plan_request *request, struct plan *plan, struct cell_sources *d,
                          char **own, struct error *e)
{
    plan->scenario_path = find_file(FIND_SCENARIO, request->scenario, e);
    if (!plan->scenario_path || !(d->scenario = load_object(plan->scenario_path, DOCUMENT_SCENARIO, e)))
        return -1;
    *own = own_lab(plan->scenario_path, d->scenario);
    return load_lab(request, *own, plan, d, e);
}

/* They were judged as they are written when they were read first. */
static int take_documents(const struct plan_documents *from, struct plan *plan, struct cell_sources *d,
                          char **own, struct error *e)
{
    plan->scenario_path = strdup(from->scenario_path);
    plan->lab_path = strdup(from->lab_path);
    plan->lab_why = from->lab_why;
    d->scenario = json_incref(from->scenario);
    d->lab = json_incref(from->lab);
    d->lab_path = plan->lab_path;
    if (!plan->scenario_path || !plan->lab_path)
        return error_set(e, "out of memory");
    *own = NULL;
    return 0;
}

int plan_load(const struct plan_request *request, struct plan *plan, struct error *e)
{
    struct cell_sources d = {.requested = json_object(), .seed = request->seed};
    char *own = NULL;
    memset(plan, 0, sizeof *plan);
    plan->changed = request->set_count || request->duration_ns != FIELD_UNSET;
    int result = request->documents ? take_documents(request->documents, plan, &d, &own, e)
                                    : load_documents(request, plan, &d, &own, e);
    d.scenario_path = plan->scenario_path;
    plan->read.scenario = json_incref(d.scenario);
    plan->read.lab = json_incref(d.lab);
    if (result == 0)
        result = write_ranges_out(&d, e);
    if (result == 0)
        result = make_plan(request, own, &d, plan, e);
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
    cell_free(&plan->first);
    json_decref(plan->from.scenario);
    json_decref(plan->from.lab);
    json_decref(plan->from.requested);
    free(plan->scenario_path);
    free(plan->lab_path);
    json_decref(plan->sweep);
    json_decref(plan->read.scenario);
    json_decref(plan->read.lab);
    choices_free(&plan->choices);
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
