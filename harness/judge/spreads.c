#include "harness/judge/spreads.h"

#include "harness/expression/expr_units.h"
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

struct spread_figure {
    char *name, *unit;
    struct spread_sums sums;
    size_t run; /* the last one that had it */
};

/* ---- the figures */

static struct spread_figure *new_figure(struct spreads *s, const char *name, const char *unit)
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

static struct spread_figure *find(const struct spreads *s, const char *name)
{
    const json_t *place = json_object_get(s->places, name);
    return place ? &s->figures[json_integer_value(place)] : NULL;
}

/* A name that the run has had is another figure: two expectations may have one name. */
static int add(struct spreads *s, const char *name, const char *unit, const json_t *value)
{
    struct text unique = {0};
    struct spread_figure *figure;
    if (!json_is_number(value))
        return 0;
    text_add(&unique, "%s", name);
    for (int i = 2; (figure = find(s, text_string(&unique))) && figure->run == s->runs && i <= SAME_NAMES;
         i++) {
        text_clear(&unique);
        text_add(&unique, "%s (%d)", name, i);
    }
    if (!figure)
        figure = new_figure(s, text_string(&unique), unit);
    text_free(&unique);
    if (!figure)
        return -1;
    figure->run = s->runs;
    spread_add(&figure->sums, json_number_value(value));
    return 0;
}

static int add_named(struct spreads *s, const char *group, const char *of, const char *name, const char *unit,
                     const json_t *value)
{
    struct text whole = {0};
    text_add(&whole, "%s.%s%s%s", group, of, *of ? "." : "", name);
    int result = add(s, text_string(&whole), unit, value);
    text_free(&whole);
    return result;
}

/* ---- of a result */

static int add_totals(struct spreads *s, const json_t *flows)
{
    static const char *const values[][2] = {
        {"goodput_bps", "b/s"}, {"goodput_MiBps", "MiB/s"}, {"messages_per_s", "/s"}};
    int result = 0;
    for (size_t i = 0; result == 0 && i < sizeof values / sizeof *values; i++) {
        json_t *sum = json_real(result_flows_sum(flows, values[i][0]));
        result = sum ? add(s, values[i][0], values[i][1], sum) : -1;
        json_decref(sum);
    }
    return result;
}

/* Flows and patterns, or the single flows of patterns. */
static int add_flows(struct spreads *s, const json_t *flows, bool parts)
{
    const char *name, *value;
    enum dimension dimension;
    json_t *flow;
    int result = 0;
    json_object_foreach((json_t *)(uintptr_t)flows, name, flow)
    {
        if (result_flow_is_part(flows, name) != parts)
            continue;
        for (size_t i = 0; result == 0 && (value = expr_flow_value(i, &dimension)); i++)
            result =
                add_named(s, "flows", name, value, expr_flow_value_unit(i), result_flow_value(flow, value));
    }
    return result;
}

static int add_collectives(struct spreads *s, const json_t *collectives)
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
            result = json ? add_named(s, "collectives", name, value, unit, json) : -1;
            json_decref(json);
        }
    }
    return result;
}

/* Expectations and published figures, by their names. */
static int add_entries(struct spreads *s, const json_t *result, const char *list, const char *value)
{
    size_t i;
    json_t *entry;
    int done = 0;
    json_array_foreach(json_object_get(result, list), i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name")),
                   *unit = json_string_value(json_object_get(entry, "unit"));
        if (done == 0 && name)
            done = add_named(s, list, "", name, unit ? unit : "", json_object_get(entry, value));
    }
    return done;
}

static int add_pauses(struct spreads *s, const json_t *hosts)
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
                result =
                    add_named(s, "pauses", role, name, unit ? unit : "", json_object_get(counter, "delta"));
        }
    }
    return result;
}

int spreads_add_result(struct spreads *s, const json_t *result)
{
    const json_t *flows = json_object_get(result, "flows"),
                 *collectives = json_object_get(result, "collectives");
    if (!s->places && !(s->places = json_object()))
        return -1;
    s->runs++;
    if (json_object_size(flows) + json_object_size(collectives) ==
        0) /* it did not run: there are no figures */
        return 0;
    return (json_object_size(flows) && add_totals(s, flows) != 0) || add_flows(s, flows, false) != 0 ||
                   add_collectives(s, collectives) != 0 ||
                   add_entries(s, result, "expectations", "left") != 0 ||
                   add_entries(s, result, "published", "measured") != 0 ||
                   add_pauses(s, json_object_get(result, "hosts")) != 0 || add_flows(s, flows, true) != 0
               ? -1
               : 0;
}

/* ---- reading them */

struct spread spreads_of(const struct spreads *s, const char *name)
{
    const struct spread_figure *figure = find(s, name);
    return spread_of_sums(figure ? &figure->sums : &(struct spread_sums){0});
}

struct room room_of(const json_t *value, size_t indent)
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
