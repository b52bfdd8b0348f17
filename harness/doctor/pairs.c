#include "harness/doctor/pairs.h"

#include "lib/roce/traffic_pattern.h"
#include <stdlib.h>
#include <string.h>

#define MOST_KINDS 64 /* of settings in a scenario */

/* Roles with equal settings are of one kind. */
struct search {
    const struct cell *cell;
    const struct scenario_traffic *pattern;
    json_t *kinds; /* settings_of a role, as text -> number of the kind */
    bool met[MOST_KINDS][MOST_KINDS];
    struct list_of *flows;
};

/* -1: there are too many. */
static int kind_of(struct search *s, const char *role)
{
    const json_t *own = json_object_get(json_object_get(s->cell->scenario_json, "settings_of"), role);
    char *text = json_object_size(own) ? json_dumps(own, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    const char *key = text ? text : "";
    size_t count = json_object_size(s->kinds);
    const json_t *known = json_object_get(s->kinds, key);
    int kind = known ? (int)json_integer_value(known) : count < MOST_KINDS ? (int)count : -1;
    if (!known && kind >= 0)
        json_object_set_new(s->kinds, key, json_integer(kind));
    free(text);
    return kind;
}

static int add_flow(struct search *s, const char *from, const char *to, struct error *e)
{
    struct list_of *flows = s->flows;
    struct scenario_flow *grown = realloc(flows->items, (flows->count + 1) * sizeof *grown);
    if (!grown)
        return error_set(e, "out of memory");
    flows->items = grown;
    grown[flows->count++] = (struct scenario_flow){.name = s->pattern->name,
                                                   .from = (char *)(uintptr_t)from,
                                                   .to = (char *)(uintptr_t)to,
                                                   .priority = s->pattern->priority};
    return 0;
}

static int meet(struct search *s, const char *from, const char *to, struct error *e)
{
    int a = kind_of(s, from), b = kind_of(s, to);
    if (a < 0 || b < 0)
        return error_set(
            e,
            "traffic %s: its hosts have more than %d different settings_of: not all of its pairs "
            "were compared",
            s->pattern->name, MOST_KINDS);
    if (s->met[a][b] || strcmp(from, to) == 0)
        return 0;
    s->met[a][b] = true;
    return add_flow(s, from, to, e);
}

/* Two roles of each kind stand for all, so that one of them is not the other end. The caller frees them. */
static const char **take_two(struct search *s, const struct list_of *roles, size_t *count)
{
    char *const *names = roles->items;
    size_t taken[MOST_KINDS + 1] = {0};
    const char **two = calloc(roles->count + 1, sizeof *two);
    *count = 0;
    for (size_t i = 0; two && i < roles->count; i++) {
        int kind = kind_of(s, names[i]);
        if (taken[kind < 0 ? MOST_KINDS : kind]++ < 2)
            two[(*count)++] = names[i];
    }
    return two;
}

/* Any sender may send to any receiver. */
static int meet_all(struct search *s, const struct list_of *senders, const struct list_of *receivers,
                    struct error *e)
{
    size_t from_count, to_count;
    const char **from = take_two(s, senders, &from_count), **to = take_two(s, receivers, &to_count);
    int result = from && to ? 0 : error_set(e, "out of memory");
    for (size_t i = 0; result == 0 && i < from_count; i++)
        for (size_t k = 0; result == 0 && k < to_count; k++)
            result = meet(s, from[i], to[k], e);
    free(from);
    free(to);
    return result;
}

/* Each sender has one receiver. */
static int meet_next(struct search *s, const struct list_of *senders, const struct list_of *receivers,
                     size_t shift, struct error *e)
{
    char *const *from = senders->items, *const *to = receivers->items;
    for (size_t i = 0; i < senders->count; i++)
        if (meet(s, from[i], to[(i + shift) % receivers->count], e) != 0)
            return -1;
    return 0;
}

/* A permutation without a shift is drawn in the run. */
static int take_pattern(struct search *s, struct error *e)
{
    const struct scenario_traffic *t = s->pattern;
    const struct list_of *to = t->to.count ? &t->to : &t->from;
    memset(s->met, 0, sizeof s->met);
    if (t->pattern == PATTERN_RING_ALL_REDUCE)
        return meet_next(s, &t->from, to, 1, e);
    if (t->pattern == PATTERN_PERMUTATION && t->shift != FIELD_UNSET && t->shift != 0)
        return meet_next(s, &t->from, to, (size_t)t->shift % to->count, e);
    return meet_all(s, &t->from, to, e);
}

int pairs_flows(const struct cell *cell, struct list_of *flows, struct error *e)
{
    const struct scenario *scenario = &cell->scenario;
    const struct scenario_traffic *traffic = scenario->traffic.items;
    struct search s = {.cell = cell, .kinds = json_object(), .flows = flows};
    size_t size = sizeof(struct scenario_flow);
    bool simulated = lab_kind(&cell->lab)->simulated;
    *flows = (struct list_of){.items = calloc(scenario->flows.count + 1, size)};
    int result = flows->items ? 0 : error_set(e, "out of memory");
    if (result == 0 && scenario->flows.count)
        memcpy(flows->items, scenario->flows.items, scenario->flows.count * size);
    flows->count = result == 0 ? scenario->flows.count : 0;
    for (size_t i = 0; result == 0 && simulated && i < scenario->traffic.count; i++) {
        s.pattern = &traffic[i];
        result = take_pattern(&s, e);
    }
    json_decref(s.kinds);
    return result;
}
