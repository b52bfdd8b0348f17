#include "harness/plan/decidable.h"
#include "lib/document/json_text.h"
#include "lib/document/paths.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_VALUES 6

bool plan_judgement(const struct cell *cell, size_t i, struct judgement *out)
{
    const struct scenario_expect *expect = cell->scenario.expect.items;
    const struct scenario_published *published = cell->scenario.published.items;
    size_t first = cell->scenario.expect.count, k = i - first;
    if (i < first)
        *out = (struct judgement){"expect",       expect[i].name,    i,
                                  "check",        expect[i].check,   cell->checks[i],
                                  expect[i].when, expect[i].against, &expect[i].needs};
    else if (k < cell->scenario.published.count)
        *out = (struct judgement){"published",
                                  published[k].name,
                                  k,
                                  "of",
                                  published[k].of,
                                  cell->published[k],
                                  published[k].when,
                                  published[k].against,
                                  &published[k].needs};
    return i < first || k < cell->scenario.published.count;
}

/* Does the request itself give what is judged, or when: with its list, as an item, or by a key of it? */
static bool request_sets(const struct plan *plan, const struct judgement *j)
{
    static const char *const keys[] = {"", ".when", ".against", ".check", ".of"};
    char number[24];
    const char *path;
    json_t *value;
    snprintf(number, sizeof number, "%zu", j->index);
    json_object_foreach(plan->from.requested, path, value)
    {
        size_t length = strcspn(path, ".");
        if (json_is_null(value) || strlen(j->list) != length || strncmp(path, j->list, length) != 0)
            continue;
        const char *item = path[length] ? path + length + 1 : "*";
        length = strcspn(item, ".");
        char *pattern = strndup(item, length);
        bool this =
            pattern && (fnmatch(pattern, number, 0) == 0 || (j->name && fnmatch(pattern, j->name, 0) == 0));
        free(pattern);
        for (size_t i = 0; this && i < sizeof keys / sizeof *keys; i++) {
            size_t key = strlen(keys[i]);
            if (key ? strncmp(item + length, keys[i], key) == 0 : !item[length])
                return true;
        }
    }
    return false;
}

/* ---- decisions */

void decisions_open(struct decisions *d, const struct cell *first)
{
    struct judgement j;
    *d = (struct decisions){0};
    while (plan_judgement(first, d->count, &j))
        d->count++;
    d->items = xcalloc(d->count + 1, sizeof *d->items);
}

bool decisions_lack(const struct decisions *d, const struct cell *cell, size_t i, struct judgement *out)
{
    return !d->items[i].decided && plan_judgement(cell, i, out) && plan_when(cell, out->when);
}

void decisions_note(struct decisions *d, size_t i, bool decided, const struct error *why_not)
{
    struct decision *decision = &d->items[i];
    decision->decided = decided;
    if (!decided && !decision->asked)
        decision->why_not = *why_not;
    decision->asked = true;
}

int decisions_end(const struct decisions *d, const struct plan *plan, struct error *e)
{
    struct judgement j;
    for (size_t i = 0; i < d->count && plan_judgement(&plan->first, i, &j); i++) {
        if (!d->items[i].asked || d->items[i].decided || (plan->changed && !request_sets(plan, &j)))
            continue;
        *e = d->items[i].why_not;
        return error_prefix(e, "%s[%zu].%s: \"%.200s\"", j.list, j.index, j.key, j.text);
    }
    return 0;
}

void decisions_close(struct decisions *d)
{
    free(d->items);
    *d = (struct decisions){0};
}

/* ---- when */

/* The distinct values at a path in all cells, as a text: "host", "gpu". False if the path matches nothing in
 * any cell. */
static bool values_in_cells(const struct plan *plan, const char *path, struct text *out)
{
    json_t *distinct = json_object();
    for (size_t c = 0; c < plan->cell_count; c++) {
        struct error ignored; /* every cell was made before */
        const struct cell *cell = plan_cell(plan, c, &ignored);
        json_t *values = cell ? plan_values(cell, path) : NULL, *value;
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
        plan_release(plan, cell);
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
    for (size_t c = 0; !found && c < plan->cell_count; c++) {
        struct error ignored; /* every cell was made before */
        const struct cell *cell = plan_cell(plan, c, &ignored);
        found = cell && plan_when(cell, alone);
        plan_release(plan, cell);
    }
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
            no_such_path(&plan->first, path, e);
        }
        text_free(&values);
        return -1;
    }
    return error_set(e, "each value occurs, but no run has all of them");
}

/* Without a lab, paths into it are not judged. */
static bool is_judged(const struct plan *plan, const struct judgement *j)
{
    return !paths_any_in_lab(j->when) || plan->first.lab_json;
}

/* "!= gpuu" of a path that the sweep varies holds in every run, if none has the value. */
static int check_unlike(const struct plan *plan, const json_t *when, struct error *e)
{
    const char *path;
    json_t *wanted;
    json_object_foreach((json_t *)(uintptr_t)when, path, wanted)
    {
        const char *text = json_string_value(wanted);
        struct text values = {0};
        if (!text || strncmp(text, "!=", 2) != 0 || strstr(text, " and ") ||
            !json_object_get(plan->sweep, path))
            continue;
        json_t *same = json_textf("==%.200s", text + 2);
        bool occurs = value_in_a_cell(plan, path, same);
        json_decref(same);
        if (occurs)
            continue;
        values_in_cells(plan, path, &values);
        error_set(e, "%.100s is \"%.80s\" in every run: it is %s", path, text, text_string(&values));
        text_free(&values);
        return -1;
    }
    return 0;
}

static int check_when(const struct decidable *d, const struct judgement *j, size_t i, struct error *e)
{
    const struct condition *condition = &d->conditions[i];
    if (j->when && !json_is_object(j->when))
        return error_set(e, "%s[%zu].when: expected an object such as {\"PATH\": VALUE}", j->list, j->index);
    if (!is_judged(d->plan, j) || (condition->holds > 0 && check_unlike(d->plan, j->when, e) == 0))
        return 0;
    if (condition->holds < 0)
        *e = condition->why;
    else if (condition->holds == 0)
        explain_when(d->plan, j->when, e);
    return error_prefix(e, "%s[%zu].when", j->list, j->index);
}

/* ---- other cells */

static bool has_value(const json_t *values, const json_t *wanted)
{
    size_t i;
    json_t *value;
    json_array_foreach(values, i, value)
    {
        if (json_same(value, wanted))
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

static int check_against(const struct decidable *d, const struct judgement *j, size_t i, struct error *e)
{
    const struct plan *plan = d->plan;
    int result = 0;
    if (!j->against)
        return 0;
    if (json_object_size(j->against) == 0)
        result = error_set(e, "expected an object such as {\"PATH\": VALUE}");
    else if (json_object_size(plan->sweep) == 0)
        result = error_set(e, "there is no sweep, so there is no other cell");
    else if (check_other_values(plan, j->against, e) != 0)
        result = -1;
    else if (is_judged(plan, j) && !d->conditions[i].compared)
        result =
            error_set(e, "no cell of the sweep%s has another one with these and otherwise the same values",
                      j->when ? " in which \"when\" holds" : "");
    return result == 0 ? 0 : error_prefix(e, "%s[%zu].against", j->list, j->index);
}

/* Has this cell another one? */
static bool has_other(const struct decidable *d, const struct cell *cell, const json_t *against)
{
    size_t other = cell_places_other(&d->places, cell, against);
    return other != NO_CELL && other != cell_places_other(&d->places, cell, NULL);
}

static void note_conditions(struct decidable *d, const struct cell *cell)
{
    struct judgement j;
    for (size_t i = 0; i < d->decisions.count && plan_judgement(cell, i, &j); i++) {
        struct condition *condition = &d->conditions[i];
        if (condition->holds == 0)
            condition->holds = plan_judge_when(cell, j.when, &condition->why);
        if (j.against && d->places.by_choice && !condition->compared)
            condition->compared = plan_when(cell, j.when) && has_other(d, cell, j.against);
    }
}

/* ---- names */

static bool same_needs(const struct list_of *a, const struct list_of *b)
{
    return a->count == b->count && (!a->count || memcmp(a->items, b->items, a->count * sizeof(int)) == 0);
}

/* Results, --expect and comparisons find a judgement by its name, which those of other cells may share. */
static void note_names(struct decidable *d, const struct cell *cell)
{
    struct judgement one, other;
    for (size_t i = 0; !d->twice && plan_judgement(cell, i, &one); i++)
        for (size_t k = 0; k < i && plan_judgement(cell, k, &other); k++) {
            if (strcmp(one.list, other.list) != 0 || strcmp(one.name, other.name) != 0 ||
                !same_needs(one.needs, other.needs) || !plan_when(cell, one.when) ||
                !plan_when(cell, other.when))
                continue;
            d->twice = true;
            error_set(&d->why_twice,
                      "%s[%zu].name: \"%.100s\" is the name of %s[%zu], too, and both are of the same run",
                      one.list, one.index, one.name, other.list, other.index);
            break;
        }
}

/* ---- times */

static int refuse_late_start(const char *path, size_t i, int64_t start_ns, int64_t end_ns, const char *of,
                             struct error *e)
{
    char start[40], end[40];
    return error_set(e, "%s[%zu].start: %s of the run is not before the end %s, at %s", path, i,
                     units_format(UNIT_TIME_NS, start_ns, start, sizeof start), of,
                     units_format(UNIT_TIME_NS, end_ns, end, sizeof end));
}

int plan_check_starts(const struct scenario *scenario, struct error *e)
{
    const struct scenario_flow *flows = scenario->flows.items;
    const struct scenario_traffic *traffic = scenario->traffic.items;
    const struct scenario_storm *storms = scenario->storms.items;
    const struct link_fault *faults = scenario->faults.items;
    const struct injection_rule *rules = scenario->injections.items;
    int64_t end_ns = scenario->phases.warmup_ns + scenario->phases.measure_ns, start_ns, phase_ns[4];
    scenario_phase_starts(scenario, phase_ns);
    for (size_t i = 0; i < scenario->flows.count; i++)
        if (flows[i].start_ns >= end_ns)
            return refuse_late_start("flows", i, flows[i].start_ns, end_ns, "of the measure phase", e);
    for (size_t i = 0; i < scenario->traffic.count; i++)
        if (traffic[i].start_ns >= end_ns)
            return refuse_late_start("traffic", i, traffic[i].start_ns, end_ns, "of the measure phase", e);
    for (size_t i = 0; i < scenario->storms.count; i++)
        if (storms[i].start_ns >= phase_ns[3])
            return refuse_late_start("storms", i, storms[i].start_ns, phase_ns[3], "of the run", e);
    for (size_t i = 0; i < scenario->faults.count; i++)
        if ((start_ns = link_fault_start_ns(&faults[i], phase_ns)) >= phase_ns[3])
            return refuse_late_start("faults", i, start_ns, phase_ns[3], "of the run", e);
    for (size_t i = 0; i < scenario->injections.count; i++)
        if ((start_ns = injection_start_ns(&rules[i], phase_ns)) >= phase_ns[3])
            return refuse_late_start("inject", i, start_ns, phase_ns[3], "of the run", e);
    return 0;
}

static int refuse_late_end(const char *path, size_t i, const char *key, const char *what, int64_t end_ns,
                           int64_t run_ns, struct error *e)
{
    char end[40], run[40];
    return error_set(e, "%s[%zu].%s: the %s lasts until %s, the run ends at %s", path, i, key, what,
                     units_format(UNIT_TIME_NS, end_ns, end, sizeof end),
                     units_format(UNIT_TIME_NS, run_ns, run, sizeof run));
}

/* A run that was made shorter may end within a fault; one as it is written may not. */
static int check_ends(const struct scenario *scenario, struct error *e)
{
    const struct link_fault *faults = scenario->faults.items;
    const struct injection_rule *rules = scenario->injections.items;
    int64_t end_ns, phase_ns[4];
    scenario_phase_starts(scenario, phase_ns);
    for (size_t i = 0; i < scenario->faults.count; i++)
        if ((end_ns = link_fault_end_ns(&faults[i], phase_ns)) > phase_ns[3])
            return refuse_late_end("faults", i, faults[i].kind == LINK_FLAP ? "count" : "stop", "fault",
                                   end_ns, phase_ns[3], e);
    for (size_t i = 0; i < scenario->injections.count; i++)
        if ((end_ns = injection_end_ns(&rules[i], phase_ns)) > phase_ns[3])
            return refuse_late_end("inject", i, "stop", "rule", end_ns, phase_ns[3], e);
    return 0;
}

static int check_times(const struct plan *plan, const struct scenario *scenario, struct error *e)
{
    return plan_check_starts(scenario, e) != 0 ? -1 : plan->changed ? 0 : check_ends(scenario, e);
}

/* Does a path of the map give a start: by itself, or with its item or list? */
static bool gives_start(const json_t *map)
{
    static const char *const lists[] = {"flows", "traffic", "storms", "faults", "inject"};
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)map, path, value)
    {
        size_t length = strcspn(path, ".");
        const char *item = strchr(path, '.'), *key = item ? strchr(item + 1, '.') : NULL;
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
            if (strlen(lists[i]) == length && strncmp(path, lists[i], length) == 0 &&
                (!key || strcmp(key, ".start") == 0 || strcmp(key, ".phase") == 0))
                return true;
    }
    return false;
}

/* Is nothing but the length of its phases why something of the file begins after the end? Then the run is
 * meant to be short, and warned of. */
static bool is_shortened(const struct plan *plan)
{
    const char *path;
    json_t *value;
    bool shortened = false, sweeps = false;
    json_object_foreach(plan->from.requested, path, value)
    {
        shortened = shortened || strncmp(path, "phases", 6) == 0;
        sweeps = sweeps || strncmp(path, "sweep", 5) == 0;
    }
    return shortened && !gives_start(plan->from.requested) && !(sweeps && gives_start(plan->sweep));
}

/* ---- all */

bool plan_compares(const struct plan *plan)
{
    struct judgement j;
    bool any = false;
    for (size_t i = 0; plan_judgement(&plan->first, i, &j); i++)
        any |= j.against != NULL;
    return any;
}

void decidable_open(struct decidable *d, const struct plan *plan)
{
    *d = (struct decidable){.plan = plan};
    decisions_open(&d->decisions, &plan->first);
    d->conditions = xcalloc(d->decisions.count + 1, sizeof *d->conditions);
    if (plan_compares(plan))
        cell_places_make(&d->places, plan);
}

void decidable_note(struct decidable *d, const struct cell *cell)
{
    struct judgement j;
    struct error why_not;
    d->late = d->late || check_times(d->plan, &cell->scenario, &d->why_late) != 0;
    note_conditions(d, cell);
    note_names(d, cell);
    for (size_t i = 0; i < d->decisions.count; i++)
        if (decisions_lack(&d->decisions, cell, i, &j))
            decisions_note(&d->decisions, i, expr_decidable(j.expr, &cell->scenario, &why_not) == 0,
                           &why_not);
}

int decidable_end(const struct decidable *d, struct error *e)
{
    struct judgement j;
    if (d->late || d->twice) {
        *e = d->late ? d->why_late : d->why_twice;
        return -1;
    }
    for (size_t i = 0; i < d->decisions.count && plan_judgement(&d->plan->first, i, &j); i++)
        if (check_when(d, &j, i, e) != 0 || check_against(d, &j, i, e) != 0)
            return -1;
    return decisions_end(&d->decisions, d->plan, e);
}

void decidable_close(struct decidable *d)
{
    decisions_close(&d->decisions);
    cell_places_free(&d->places);
    free(d->conditions);
    *d = (struct decidable){0};
}

static int check_keys(const struct judgement *j, struct error *e)
{
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)j->when, path, value)
    {
        if (!paths_in_lab(path) && table_check_path(&scenario_table, path, e) != 0)
            return error_prefix(e, "%s[%zu].when: %.100s", j->list, j->index, path);
    }
    return 0;
}

int decidable_end_changed(const struct decidable *d, struct error *e)
{
    struct judgement j;
    bool late = d->late && !is_shortened(d->plan);
    if (late || d->twice) {
        *e = late ? d->why_late : d->why_twice;
        return -1;
    }
    for (size_t i = 0; plan_judgement(&d->plan->first, i, &j); i++)
        if (request_sets(d->plan, &j) ? check_when(d, &j, i, e) != 0 || check_against(d, &j, i, e) != 0
                                      : check_keys(&j, e) != 0)
            return -1;
    return decisions_end(&d->decisions, d->plan, e);
}

int decidable_end_planned(const struct decidable *d, struct error *e)
{
    return d->plan->as_written ? decidable_end(d, e) : decidable_end_changed(d, e);
}

/* *whole: all cells could be made; else the error says which cannot. */
static int judge_cells(const struct plan *plan, int (*end)(const struct decidable *, struct error *),
                       bool *whole, struct error *e)
{
    struct decidable d;
    *whole = true;
    decidable_open(&d, plan);
    for (size_t i = 0; *whole && i < plan->cell_count; i++) {
        const struct cell *cell = plan_cell(plan, i, e);
        if (cell)
            decidable_note(&d, cell);
        *whole = cell;
        plan_release(plan, cell);
    }
    int result = !*whole ? -1 : end(&d, e) != 0 ? error_prefix(e, "%s", plan->scenario_path) : 0;
    decidable_close(&d);
    return result;
}

/* A document that cannot be planned as it is written is left to the plan that the request made of it. */
int decidable_as_written(const struct plan *plan, struct error *e)
{
    struct error ignored;
    struct plan written;
    bool whole;
    if (!plan->as_written && plan_load_as_written(plan, &written, &ignored) != 0)
        return 0;
    int result = judge_cells(plan->as_written ? plan : &written, decidable_end, &whole, e);
    if (!plan->as_written)
        plan_free(&written);
    return whole ? result : 0;
}

int decidable_planned(const struct plan *plan, struct error *e)
{
    bool whole;
    return judge_cells(plan, decidable_end_planned, &whole, e);
}
