#include "harness/labs/sim/series.h"
#include "lib/document/json_text.h"
#include "lib/document/nearest.h"
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GAUGE_NAME 200 /* bytes */
#define FLOW_LIMIT 64  /* of one host: more curves would not be readable */

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

int sim_senders_make(struct sim_senders *senders, const struct sim_setup *setup)
{
    size_t flows = setup->config.flow_count, hosts = setup->config.host_count;
    *senders = (struct sim_senders){setup, calloc(hosts + 2, sizeof *senders->first),
                                    calloc(flows + 1, sizeof *senders->flows)};
    if (!senders->first || !senders->flows) {
        sim_senders_free(senders);
        return -1;
    }
    for (size_t i = 0; i < flows; i++)
        senders->first[data_sender(&setup->flows[i]) + 2]++;
    for (size_t h = 2; h < hosts + 2; h++)
        senders->first[h] += senders->first[h - 1];
    for (size_t i = 0; i < flows; i++)
        senders->flows[senders->first[data_sender(&setup->flows[i]) + 1]++] = i;
    return 0;
}

void sim_senders_free(struct sim_senders *senders)
{
    free(senders->first);
    free(senders->flows);
    *senders = (struct sim_senders){0};
}

static int choose_flows(struct sim_series *s, const struct sim *sim, const struct sim_senders *senders)
{
    size_t first = senders->first[s->node.index], end = senders->first[s->node.index + 1];
    size_t most = end - first < FLOW_LIMIT ? end - first : FLOW_LIMIT;
    s->flows = calloc(most + 1, sizeof *s->flows);
    for (size_t i = first; s->flows && i < end && s->flow_count < FLOW_LIMIT; i++)
        if (sim_flow_gauges(sim, senders->flows[i])) {
            s->flows[s->flow_count++] = senders->flows[i];
            s->gauge_count += sim_flow_gauges(sim, senders->flows[i]);
        }
    return s->flows ? 0 : -1;
}

int sim_series_open(struct sim_series *s, const struct sim *sim, const struct sim_senders *senders,
                    struct sim_node node, uint32_t groups, struct error *e)
{
    const struct sim_counter *columns;
    *s = (struct sim_series){.node = node, .own_count = own_columns(sim, node, &columns)};
    s->kept = calloc(s->own_count + 1, sizeof *s->kept);
    if (!s->kept)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < s->own_count; i++) {
        s->kept[i] = is_wanted(groups, columns[i].is->group);
        s->count += s->kept[i];
    }
    if (node.kind == SIM_HOST && is_wanted(groups, COUNTER_GROUP_DCQCN) && choose_flows(s, sim, senders) != 0)
        return error_set(e, "out of memory");
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

void sim_series_count_groups(const struct sim_series *s, const struct sim *sim, size_t *groups)
{
    const struct sim_counter *columns;
    memset(groups, 0, COUNTER_GROUPS * sizeof *groups);
    own_columns(sim, s->node, &columns);
    for (size_t i = 0; i < s->own_count; i++)
        groups[columns[i].is->group] += s->kept[i];
    groups[COUNTER_GROUP_DCQCN] += s->gauge_count;
}

/* A slash in an expression is a division, so it is replaced here. */
static void name_gauge(char *name, size_t size, const char *control, const char *flow, const char *gauge)
{
    snprintf(name, size, "%.20s_%.120s_%.40s", control, flow, gauge);
    for (char *c = name; *c; c++)
        if (*c == '/')
            *c = '-';
}

bool sim_series_match(const struct sim_series *s, const struct sim *sim, const struct sim_setup *setup,
                      const char *glob)
{
    const struct sim_counter *own;
    char name[GAUGE_NAME];
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

/* The strings are the catalogue's. */
static void add(struct sim_columns *columns, const char *name, const struct counter *is)
{
    static const char source[] = "sim";
    columns->items[columns->count++] =
        (struct column){.name = (char *)(uintptr_t)name,
                        .unit = (char *)(uintptr_t)is->unit,
                        .source = (char *)(uintptr_t)source,
                        .group = (char *)(uintptr_t)counter_group_names[is->group],
                        .kind = is->kind == COUNTER_GAUGE ? COLUMN_GAUGE : COLUMN_COUNTER};
}

/* The column's meaning does not depend on the flow's name. */
static void add_gauge(struct sim_columns *columns, char name[GAUGE_NAME], const char *control,
                      const char *flow, const char *gauge)
{
    char pattern[80];
    name_gauge(name, GAUGE_NAME, control, flow, gauge);
    snprintf(pattern, sizeof pattern, "%.20s_flow_%.40s", control, gauge);
    add(columns, name, counters_find(pattern));
}

int sim_series_columns(const struct sim_series *s, const struct sim *sim, const struct sim_setup *setup,
                       struct sim_columns *columns, struct error *e)
{
    const struct sim_counter *own;
    *columns = (struct sim_columns){.items = calloc(s->count + 1, sizeof *columns->items),
                                    .names = calloc(s->gauge_count + 1, GAUGE_NAME)};
    if (!columns->items || !columns->names) {
        sim_columns_free(columns);
        return error_set(e, "out of memory");
    }
    own_columns(sim, s->node, &own);
    for (size_t i = 0; i < s->own_count; i++)
        if (s->kept[i])
            add(columns, own[i].name, own[i].is);
    char *name = columns->names;
    for (size_t i = 0; i < s->flow_count; i++)
        for (size_t k = 0; k < sim_flow_gauges(sim, s->flows[i]); k++, name += GAUGE_NAME)
            add_gauge(columns, name, sim_flow_congestion_control(sim, s->flows[i]),
                      setup->flows[s->flows[i]].name, sim_flow_gauge_name(sim, s->flows[i], k));
    return 0;
}

void sim_columns_free(struct sim_columns *columns)
{
    free(columns->items);
    free(columns->names);
    *columns = (struct sim_columns){0};
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
