/* The figures of repeated runs, in memory that does not grow with the runs, and the entries of the index
 * about them. */
#include "harness/judge/repeated.h"

#include "harness/expression/expr_units.h"
#include "harness/plan/decidable.h"
#include "lib/collective/result_collectives.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/formats/result_flows.h"
#include "lib/roce/counters.h"
#include "lib/text.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SAME_NAMES 1000 /* expectations of a scenario, all of which might have one name */

/* ---- the figures */

static struct spread_figure *spreads_new_figure(struct spreads *s, const char *name, const char *unit)
{
    if (!s->figures || s->count == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 64;
        struct spread_figure *grown = realloc(s->figures, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        s->figures = grown;
        s->capacity = capacity;
    }
    struct spread_figure *figure = &s->figures[s->count];
    *figure = (struct spread_figure){.name = strdup(name), .unit = strdup(unit)};
    if (!figure->name || !figure->unit ||
        json_put(s->places, name, json_integer((json_int_t)s->count)) != 0) {
        free(figure->name);
        free(figure->unit);
        return NULL;
    }
    s->count++;
    return figure;
}

static struct spread_figure *spreads_find(const struct spreads *s, const char *name)
{
    const json_t *place = json_object_get(s->places, name);
    return place ? &s->figures[json_integer_value(place)] : NULL;
}

/* A name that the run has had is another figure: two expectations may have one name. */
int spreads_add(struct spreads *s, const char *name, const char *unit, double value)
{
    struct text unique = {0};
    struct spread_figure *figure;
    text_add(&unique, "%s", name);
    for (int i = 2;
         (figure = spreads_find(s, text_string(&unique))) && figure->run == s->runs && i <= SAME_NAMES; i++) {
        text_clear(&unique);
        text_add(&unique, "%s (%d)", name, i);
    }
    if (!figure)
        figure = spreads_new_figure(s, text_string(&unique), unit);
    text_free(&unique);
    if (!figure)
        return -1;
    figure->run = s->runs;
    spread_add(&figure->sums, value);
    return 0;
}

static int spreads_add_named(struct spreads *s, const char *group, const char *of, const char *name,
                             const char *unit, const json_t *value)
{
    struct text whole = {0};
    text_add(&whole, "%s.%s%s%s", group, of, *of ? "." : "", name);
    int result =
        json_is_number(value) ? spreads_add(s, text_string(&whole), unit, json_number_value(value)) : 0;
    text_free(&whole);
    return result;
}

/* The figure of this run is a quantile of too few values: pages leave it out, and the mean over the runs says
 * of how many it is so. */
static void spreads_note_few(struct spreads *s, const char *flow, const char *value)
{
    struct text whole = {0};
    text_add(&whole, "flows.%s.%s", flow, value);
    struct spread_figure *figure = spreads_find(s, text_string(&whole));
    if (figure)
        figure->few++;
    text_free(&whole);
}

/* ---- of a result */

static int spreads_add_totals(struct spreads *s, const json_t *flows)
{
    static const char *const values[][2] = {
        {"goodput_bps", "b/s"}, {"goodput_MiBps", "MiB/s"}, {"messages_per_s", "/s"}};
    int result = 0;
    for (size_t i = 0; result == 0 && i < sizeof values / sizeof *values; i++) {
        double sum = result_flows_sum(flows, values[i][0]);
        result = isfinite(sum) ? spreads_add(s, values[i][0], values[i][1], sum) : -1;
    }
    bool delivered;
    double sum = result_flows_throughput(flows, &delivered);
    if (result == 0 && delivered)
        result = isfinite(sum) ? spreads_add(s, "delivered_bps", "b/s", sum) : -1;
    return result;
}

/* Flows and patterns, or the single flows of patterns. */
static int spreads_add_flows(struct spreads *s, const json_t *flows, bool parts)
{
    const char *name, *value;
    enum dimension dimension;
    json_t *flow;
    int result = 0;
    json_object_foreach((json_t *)(uintptr_t)flows, name, flow)
    {
        if (result_flow_is_part(flows, name) != parts)
            continue;
        for (size_t i = 0; result == 0 && (value = expr_flow_value(i, &dimension)); i++) {
            const json_t *number = result_flow_value(flow, value);
            result = spreads_add_named(s, "flows", name, value, expr_flow_value_unit(i), number);
            if (result == 0 && json_is_number(number) && isnan(result_flow_figure(flow, value)))
                spreads_note_few(s, name, value);
        }
    }
    return result;
}

static int spreads_add_collectives(struct spreads *s, const json_t *collectives)
{
    const char *name, *value, *unit, *words;
    json_t *collective;
    int result = 0;
    json_object_foreach((json_t *)(uintptr_t)collectives, name, collective)
    {
        double number;
        for (size_t i = 0; result == 0 && (value = result_collective_name(i, &unit, &words)); i++) {
            if (!result_collective_value(collective, value, &number))
                continue;
            json_t *json = json_real(number);
            result = json ? spreads_add_named(s, "collectives", name, value, unit, json) : -1;
            json_decref(json);
        }
    }
    return result;
}

/* The end of each job whose ranks have all ended. */
static int spreads_add_jobs(struct spreads *s, const json_t *jobs)
{
    const char *name;
    json_t *job;
    int result = 0;
    json_object_foreach((json_t *)(uintptr_t)jobs, name, job)
    {
        const json_t *end = json_object_get(job, "end_ns");
        if (result == 0 && json_is_number(end))
            result = spreads_add_named(s, "jobs", name, "end_ns", "ns", end);
    }
    return result;
}

/* Expectations and published figures, by their names. */
static int spreads_add_entries(struct spreads *s, const json_t *result, const char *list, const char *value)
{
    size_t i;
    json_t *entry;
    int done = 0;
    json_array_foreach(json_object_get(result, list), i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name")),
                   *unit = json_string_value(json_object_get(entry, "unit"));
        if (done == 0 && name)
            done = spreads_add_named(s, list, "", name, unit ? unit : "", json_object_get(entry, value));
    }
    return done;
}

static int spreads_add_pauses(struct spreads *s, const json_t *hosts)
{
    const char *role, *name;
    json_t *host, *counter;
    int result = 0;
    json_object_foreach((json_t *)(uintptr_t)hosts, role, host)
    {
        json_object_foreach(json_object_get(host, "counters"), name, counter)
        {
            const char *group = json_string_value(json_object_get(counter, "group")),
                       *unit = json_string_value(json_object_get(counter, "unit"));
            if (result == 0 && group && strcmp(group, counter_group_names[COUNTER_GROUP_PFC]) == 0)
                result = spreads_add_named(s, "pauses", role, name, unit ? unit : "",
                                           json_object_get(counter, "delta"));
        }
    }
    return result;
}

int spreads_next_run(struct spreads *s)
{
    if (!s->places && !(s->places = json_object()))
        return -1;
    s->runs++;
    return 0;
}

int spreads_add_result(struct spreads *s, const json_t *result)
{
    const json_t *flows = json_object_get(result, "flows"),
                 *collectives = json_object_get(result, "collectives");
    if (spreads_next_run(s) != 0)
        return -1;
    const json_t *jobs = json_object_get(result, "jobs");
    if (json_object_size(flows) + json_object_size(collectives) + json_object_size(jobs) ==
        0) /* it did not run: there are no figures */
        return 0;
    return (json_object_size(flows) && spreads_add_totals(s, flows) != 0) ||
                   spreads_add_flows(s, flows, false) != 0 || spreads_add_collectives(s, collectives) != 0 ||
                   spreads_add_jobs(s, jobs) != 0 ||
                   spreads_add_entries(s, result, "expectations", "left") != 0 ||
                   spreads_add_entries(s, result, "published", "value") != 0 ||
                   spreads_add_pauses(s, json_object_get(result, "hosts")) != 0 ||
                   spreads_add_flows(s, flows, true) != 0
               ? -1
               : 0;
}

/* ---- reading them */

struct spread spreads_of(const struct spreads *s, const char *name)
{
    const struct spread_figure *figure = spreads_find(s, name);
    return spread_of_sums(figure ? &figure->sums : &(struct spread_sums){0});
}

/* What a value takes in a document that json_file_save writes, indented by so much. */
static struct room room_of(const json_t *value, size_t indent)
{
    char *text = json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    size_t lines = 2, length = text ? strlen(text) : SIZE_MAX / 16, depth;
    for (const char *at = text; at && (at = strchr(at, '\n')); at++)
        lines++;
    struct room room = {.text = length + lines * indent};
    room.memory = (text ? json_file_memory(text, length, &depth) : length) + 2 * lines * indent;
    free(text);
    return room;
}

json_t *spreads_json(const struct spreads *s, struct room room, size_t *left_out)
{
    json_t *all = json_object();
    *left_out = 0;
    for (size_t i = 0; all && i < s->count; i++) {
        const struct spread_figure *figure = &s->figures[i];
        struct spread spread = spread_of_sums(&figure->sums);
        json_t *shown = spread_json(&spread), *named = json_object();
        json_object_set_new(shown, "unit", json_text(figure->unit));
        if (figure->few)
            json_object_set_new(shown, "few", json_integer((json_int_t)figure->few));
        json_put(named, figure->name, json_incref(shown));
        struct room needed = room_of(named, 6);
        if (shown && named && *left_out == 0 && needed.text <= room.text && needed.memory <= room.memory) {
            room.text -= needed.text;
            room.memory -= needed.memory;
            json_put(all, figure->name, json_incref(shown));
        } else {
            ++*left_out;
        }
        json_decref(shown);
        json_decref(named);
    }
    return all;
}

bool spreads_are_identical(const struct spreads *s)
{
    bool identical = s->runs > 1 && s->count > 0;
    for (size_t i = 0; identical && i < s->count; i++)
        identical = s->figures[i].sums.count == s->runs && s->figures[i].sums.squares == 0;
    return identical;
}

void spreads_free(struct spreads *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->figures[i].name);
        free(s->figures[i].unit);
    }
    free(s->figures);
    json_decref(s->places);
    *s = (struct spreads){0};
}

/* ---- what is judged over them */

bool repeated_wanted(const struct plan *plan, size_t repeats)
{
    return repeats > 1 || (plan->cell_count > 1 && plan_compares(plan));
}

/* ---- a cell */

struct gathered {
    json_t *folders;
    const char *first; /* of them: the source's */
    struct spreads spreads;
    struct over over;
};

static void gathered_add_run(const struct repeated_source *source, struct gathered *g, size_t repeat,
                             const char *name, const json_t *result)
{
    json_t *other = NULL;
    size_t loaded = NO_CELL;
    for (size_t i = 0; i < g->over.count; i++) {
        struct over_item *item = &g->over.items[i];
        if (item->other != NO_CELL && item->other != loaded && !item->why) {
            json_decref(other);
            other = source->load(source->context, item->other * source->repeats + repeat);
            loaded = item->other;
        }
        over_take(item, name, result, item->other != NO_CELL ? other : NULL);
    }
    json_decref(other);
}

static int gathered_read_runs(const struct repeated_source *source, size_t cell, struct gathered *g,
                              struct error *e)
{
    int outcome = 0;
    for (size_t r = 0; outcome == 0 && r < source->repeats; r++) {
        size_t run = cell * source->repeats + r;
        const char *name = source->name(source->context, run);
        json_t *result = name ? source->load(source->context, run) : NULL;
        if (!result)
            continue;
        g->first = g->first ? g->first : name;
        json_array_append_new(g->folders, json_text(name));
        if (spreads_add_result(&g->spreads, result) != 0)
            outcome = error_set(e, "out of memory for the figures of %s", name);
        gathered_add_run(source, g, r, name, result);
        json_decref(result);
    }
    return outcome;
}

static bool room_fits(struct room needed, struct room room)
{
    return needed.text <= room.text && needed.memory <= room.memory;
}

/* The entry of the index, with as many figures as there is room for; NULL if there is none for the rest. */
static json_t *index_entry_of(const struct repeated_source *source, const struct gathered *g,
                              const struct repeated_cell *judged, struct room room)
{
    size_t left_out = 0;
    json_t *entry = json_make("{s:O,s:O}", "cell", judged->cell->choice, "folders", g->folders);
    if (json_array_size(judged->expectations))
        json_object_set(entry, "expectations", judged->expectations);
    if (json_array_size(judged->published))
        json_object_set(entry, "published", judged->published);
    struct room rest = room_of(entry, 4);
    if (!room_fits(rest, room)) {
        json_decref(entry);
        return NULL;
    }
    if (source->repeats == 1)
        return entry; /* the figures are the run's own */
    room = (struct room){room.text - rest.text, room.memory - rest.memory};
    if (judged->identical)
        json_object_set_new(entry, "identical", json_true());
    json_object_set_new(entry, "figures", spreads_json(&g->spreads, room, &left_out));
    if (left_out)
        json_object_set_new(entry, "figures_left_out", json_integer((json_int_t)left_out));
    return entry;
}

/* Cells are named by the folders of their first runs. */
static void repeated_add_cell(const struct repeated_source *source, const struct cell *cell,
                              const struct gathered *g, struct room room, struct text_names *identical,
                              struct repeated *out)
{
    struct repeated_cell judged = {.cell = cell,
                                   .goodput_bps = spreads_of(&g->spreads, "goodput_bps"),
                                   .delivered_bps = spreads_of(&g->spreads, "delivered_bps"),
                                   .figures = &g->spreads,
                                   .identical = source->repeats > 1 && spreads_are_identical(&g->spreads)};
    judged.expectations = over_expectations(&g->over, &judged.verdict);
    judged.published = over_published(&g->over);
    out->with[judged.verdict] += json_array_size(judged.expectations) > 0;
    source->judged(source->context, &judged);
    if (judged.identical)
        text_names_add(identical, g->first);
    json_t *entry = index_entry_of(source, g, &judged, room);
    if (entry)
        json_array_append_new(out->cells, entry);
    else
        out->left_out++;
    json_decref(judged.expectations);
    json_decref(judged.published);
}

static int repeated_judge_cell(const struct repeated_source *source, size_t i,
                               const struct cell_places *places, struct room room,
                               struct text_names *identical, struct repeated *out, struct error *e)
{
    const struct verdict_scope scope = {source->repeats, source->plan->cell_count};
    struct gathered g = {.folders = json_array()};
    const struct cell *cell = plan_cell(source->plan, i, e);
    if (!cell) {
        json_decref(g.folders);
        return -1;
    }
    int result = over_open(&g.over, cell, &scope, places, e);
    if (result == 0 && (source->repeats > 1 || g.over.count))
        result = gathered_read_runs(source, i, &g, e);
    if (result == 0 && json_array_size(g.folders))
        repeated_add_cell(source, cell, &g, room, identical, out);
    json_decref(g.folders);
    over_close(&g.over);
    spreads_free(&g.spreads);
    plan_release(source->plan, cell);
    return result;
}

/* ---- all */

/* What is left of an index that can be read again, in equal shares. */
static struct room room_of_each_cell(const struct repeated_source *source)
{
    struct room room, taken = room_of(source->index, 0);
    size_t cells = source->plan->cell_count;
    json_file_limits(DOCUMENT_INDEX, &room.text, &room.memory);
    room.text -= room.text / 16; /* for the words around it */
    room.memory -= room.memory / 16;
    room.text = taken.text < room.text ? (room.text - taken.text) / cells : 0;
    room.memory = taken.memory < room.memory ? (room.memory - taken.memory) / cells : 0;
    return room;
}

static json_t *warnings_of(const struct repeated_source *source, const struct text_names *identical)
{
    json_t *warnings = json_array();
    struct text words = {0};
    if (!identical->count)
        return warnings;
    size_t more = source->repeats - 1;
    text_add_names(&words, "run", identical);
    text_add(&words,
             " and %s %zu %s%s have the same value in every figure%s: they count as one, and a "
             "spread or an "
             "interval of 0 from them is no evidence",
             identical->count > 1 ? "the" : "its", more, THINGS(more, "repetition"),
             identical->count > 1 ? " of each" : "",
             lab_kind(&source->plan->first.lab)->simulated ? ", as their seeds change nothing" : "");
    json_array_append_new(warnings, json_text(text_string(&words)));
    text_free(&words);
    return warnings;
}

int repeated_make(const struct repeated_source *source, struct repeated *out, struct error *e)
{
    struct cell_places places = {0};
    struct room share = room_of_each_cell(source);
    struct text_names identical = {0};
    *out = (struct repeated){.cells = json_array()};
    int result = 0;
    cell_places_make(&places, source->plan);
    for (size_t i = 0; result == 0 && i < source->plan->cell_count; i++)
        result = repeated_judge_cell(source, i, &places, share, &identical, out, e);
    out->warnings = warnings_of(source, &identical);
    cell_places_free(&places);
    return result;
}
