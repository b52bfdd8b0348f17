#include "harness/labs/sim/series.h"
#include "lib/document/json_text.h"
#include "lib/document/nearest.h"
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLOW_LIMIT 64 /* of one host: more curves would not be readable */

static size_t own_columns(const struct sim *sim, struct sim_node node, const struct sim_counter **columns)
{
    switch (node.kind) {
    case SIM_SWITCH:
        return sim_switch_counters(sim, node.index, columns);
    case SIM_BRIDGE:
        return sim_bridge_counters(sim, node.index, columns);
    default:
        return sim_host_counters(sim, node.index, columns);
    }
}

/* The host whose reaction point keeps a flow's rate: the sender of the data. */
static uint32_t data_sender(const struct sim_flow_config *flow)
{
    return flow->operation == SIM_READ ? flow->to : flow->from;
}

static bool is_wanted(uint32_t groups, enum counter_group group)
{
    return groups >> group & 1;
}

static void choose_flows(struct sim_series *s, const struct sim *sim, const struct sim_setup *setup)
{
    for (size_t i = 0; i < setup->config.flow_count && s->flow_count < FLOW_LIMIT; i++)
        if (data_sender(&setup->flows[i]) == s->node.index && sim_flow_gauges(sim, i))
            s->gauge_count += sim_flow_gauges(sim, s->flows[s->flow_count++] = i);
}

int sim_series_open(struct sim_series *s, const struct sim *sim, const struct sim_setup *setup,
                    struct sim_node node, uint32_t groups, struct error *e)
{
    const struct sim_counter *columns;
    *s = (struct sim_series){.node = node, .own_count = own_columns(sim, node, &columns)};
    s->flows = calloc(FLOW_LIMIT, sizeof *s->flows);
    s->kept = calloc(s->own_count + 1, sizeof *s->kept);
    if (!s->flows || !s->kept)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < s->own_count; i++) {
        s->kept[i] = is_wanted(groups, columns[i].is->group);
        s->count += s->kept[i];
    }
    if (node.kind == SIM_HOST && is_wanted(groups, COUNTER_GROUP_DCQCN))
        choose_flows(s, sim, setup);
    s->count += s->gauge_count;
    return 0;
}

void sim_series_close(struct sim_series *s)
{
    free(s->flows);
    free(s->kept);
    s->flows = NULL;
    s->kept = NULL;
}

size_t sim_series_room(const struct sim_series *s)
{
    return s->own_count + s->gauge_count;
}

static void add(json_t *columns, const char *name, const struct counter *is)
{
    json_array_append_new(columns, json_make("{s:s,s:s,s:s,s:s,s:s}", "name", name, "unit", is->unit, "kind",
                                             is->kind == COUNTER_GAUGE ? "gauge" : "counter", "source", "sim",
                                             "group", counter_group_names[is->group]));
}

/* A slash in an expression is a division, so it is replaced here. */
static void name_gauge(char *name, size_t size, const char *control, const char *flow, const char *gauge)
{
    snprintf(name, size, "%.20s_%.120s_%.40s", control, flow, gauge);
    for (char *c = name; *c; c++)
        if (*c == '/')
            *c = '-';
}

/* The column's meaning does not depend on the flow's name. */
static void add_gauge(json_t *columns, const char *control, const char *flow, const char *gauge)
{
    char name[200], pattern[80];
    name_gauge(name, sizeof name, control, flow, gauge);
    snprintf(pattern, sizeof pattern, "%.20s_flow_%.40s", control, gauge);
    add(columns, name, counters_find(pattern));
}

bool sim_series_match(const struct sim_series *s, const struct sim *sim, const struct sim_setup *setup,
                      const char *glob)
{
    const struct sim_counter *own;
    char name[200];
    own_columns(sim, s->node, &own);
    for (size_t i = 0; i < s->own_count; i++)
        if (s->kept[i] && fnmatch(glob, own[i].name, 0) == 0)
            return true;
    for (size_t i = 0; i < s->flow_count; i++)
        for (size_t k = 0; k < sim_flow_gauges(sim, s->flows[i]); k++) {
            name_gauge(name, sizeof name, sim_flow_congestion_control(sim, s->flows[i]),
                       setup->flows[s->flows[i]].name, sim_flow_gauge_name(sim, s->flows[i], k));
            if (fnmatch(glob, name, 0) == 0)
                return true;
        }
    return false;
}

const char *sim_series_nearest(const struct sim_series *s, const struct sim *sim, const char *name)
{
    const struct sim_counter *own;
    const char **words = calloc(s->own_count + 1, sizeof *words);
    own_columns(sim, s->node, &own);
    for (size_t i = 0; words && i < s->own_count; i++)
        words[i] = own[i].name;
    const char *near = words ? nearest_word(name, words) : NULL;
    free(words);
    return near;
}

json_t *sim_series_columns(const struct sim_series *s, const struct sim *sim, const struct sim_setup *setup)
{
    const struct sim_counter *own;
    json_t *columns = json_array();
    own_columns(sim, s->node, &own);
    for (size_t i = 0; i < s->own_count; i++)
        if (s->kept[i])
            add(columns, own[i].name, own[i].is);
    for (size_t i = 0; i < s->flow_count; i++)
        for (size_t k = 0; k < sim_flow_gauges(sim, s->flows[i]); k++)
            add_gauge(columns, sim_flow_congestion_control(sim, s->flows[i]), setup->flows[s->flows[i]].name,
                      sim_flow_gauge_name(sim, s->flows[i], k));
    return columns;
}

void sim_series_values(const struct sim_series *s, const struct sim *sim, int64_t *values)
{
    switch (s->node.kind) {
    case SIM_SWITCH:
        sim_switch_values(sim, s->node.index, values);
        break;
    case SIM_BRIDGE:
        sim_bridge_values(sim, s->node.index, values);
        break;
    case SIM_HOST:
        sim_host_values(sim, s->node.index, values);
        break;
    }
    int64_t *value = values;
    for (size_t i = 0; i < s->own_count; i++)
        if (s->kept[i])
            *value++ = values[i];
    for (size_t i = 0; i < s->flow_count; i++)
        for (size_t k = 0; k < sim_flow_gauges(sim, s->flows[i]); k++)
            *value++ = llround(sim_flow_gauge_value(sim, s->flows[i], k));
}
