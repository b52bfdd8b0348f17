/*
 * What the simulator counts, as samples of roles. A role's columns are the simulator's own counters of its
 * node, and gauges (rate, alpha) of the flows that a host sends. In a large lab only some roles are
 * listed, whose samples are written one by one.
 */
#include "harness/labs/sim/samples.h"

#include "lib/document/json_text.h"
#include "lib/document/nearest.h"
#include "lib/formats/lines.h"
#include "lib/names/range.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GAUGE_NAME 200 /* bytes */
#define FLOW_LIMIT 64  /* of one host: more curves would not be readable */

/* Without sample.roles about as many columns are listed, and with it no more than the second: a column
 * takes about 350 bytes of result.json. */
#define LISTED_COLUMNS      16384
#define LISTED_COLUMNS_MOST 98304

/* ---- columns of one node */

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

void sim_senders_make(struct sim_senders *senders, const struct sim_setup *setup)
{
    size_t flows = setup->config.flow_count, hosts = setup->config.host_count;
    *senders = (struct sim_senders){xcalloc(hosts + 2, sizeof *senders->first),
                                    xcalloc(flows + 1, sizeof *senders->flows)};
    for (size_t i = 0; i < flows; i++)
        senders->first[data_sender(&setup->flows[i]) + 2]++;
    for (size_t h = 2; h < hosts + 2; h++)
        senders->first[h] += senders->first[h - 1];
    for (size_t i = 0; i < flows; i++)
        senders->flows[senders->first[data_sender(&setup->flows[i]) + 1]++] = i;
}

void sim_senders_free(struct sim_senders *senders)
{
    free(senders->first);
    free(senders->flows);
    *senders = (struct sim_senders){0};
}

static void choose_gauges(struct sim_series *s, const struct sim *sim, const struct sim_senders *senders)
{
    size_t first = senders->first[s->node.index], end = senders->first[s->node.index + 1];
    size_t most = end - first < FLOW_LIMIT ? end - first : FLOW_LIMIT;
    s->flows = xcalloc(most + 1, sizeof *s->flows);
    for (size_t i = first; i < end && s->flow_count < FLOW_LIMIT; i++)
        if (sim_flow_gauges(sim, senders->flows[i])) {
            s->flows[s->flow_count++] = senders->flows[i];
            s->gauge_count += sim_flow_gauges(sim, senders->flows[i]);
        }
}

void sim_series_open(struct sim_series *s, const struct sim *sim, const struct sim_senders *senders,
                     struct sim_node node, uint32_t groups)
{
    const struct sim_counter *columns;
    *s = (struct sim_series){.node = node, .own_count = own_columns(sim, node, &columns)};
    s->kept = xcalloc(s->own_count + 1, sizeof *s->kept);
    for (size_t i = 0; i < s->own_count; i++) {
        s->kept[i] = is_wanted(groups, columns[i].is->group);
        s->count += s->kept[i];
    }
    if (node.kind == SIM_HOST && is_wanted(groups, COUNTER_GROUP_DCQCN))
        choose_gauges(s, sim, senders);
    s->count += s->gauge_count;
}

void sim_series_close(struct sim_series *s)
{
    free(s->flows);
    free(s->kept);
    s->flows = NULL;
    s->kept = NULL;
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
        if (s->kept[i] && glob_matches(glob, own[i].name))
            return true;
    for (size_t i = 0; i < s->flow_count; i++)
        for (size_t k = 0; k < sim_flow_gauges(sim, s->flows[i]); k++) {
            name_gauge(name, sizeof name, sim_flow_congestion_control(sim, s->flows[i]),
                       setup->flows[s->flows[i]].name, sim_flow_gauge_name(sim, s->flows[i], k));
            if (glob_matches(glob, name))
                return true;
        }
    return false;
}

const struct sim_counter *sim_series_next(const struct sim_series *s, const struct sim *sim, const char *glob,
                                          size_t *at)
{
    const struct sim_counter *own;
    own_columns(sim, s->node, &own);
    for (; *at < s->own_count; ++*at)
        if (s->kept[*at] && glob_matches(glob, own[*at].name))
            return &own[(*at)++];
    return NULL;
}

const char *sim_series_nearest(const struct sim_series *s, const struct sim *sim, const char *name)
{
    const struct sim_counter *own;
    const char **words = xcalloc(s->own_count + 1, sizeof *words);
    own_columns(sim, s->node, &own);
    for (size_t i = 0; i < s->own_count; i++)
        words[i] = own[i].name;
    const char *near = nearest_word(name, words);
    free(words);
    return near;
}

/* The columns of a header. */
struct sim_columns {
    struct column *items;
    size_t count;
    char *names; /* of flows' gauges */
};

/* The strings are the catalogue's. */
static void add_column(struct sim_columns *columns, const char *name, const struct counter *is)
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
    add_column(columns, name, counters_find(pattern));
}

static void make_columns(const struct sim_series *s, const struct sim *sim, const struct sim_setup *setup,
                         struct sim_columns *columns)
{
    const struct sim_counter *own;
    *columns = (struct sim_columns){.items = xcalloc(s->count + 1, sizeof *columns->items),
                                    .names = xcalloc(s->gauge_count + 1, GAUGE_NAME)};
    own_columns(sim, s->node, &own);
    for (size_t i = 0; i < s->own_count; i++)
        if (s->kept[i])
            add_column(columns, own[i].name, own[i].is);
    char *name = columns->names;
    for (size_t i = 0; i < s->flow_count; i++)
        for (size_t k = 0; k < sim_flow_gauges(sim, s->flows[i]); k++, name += GAUGE_NAME)
            add_gauge(columns, name, sim_flow_congestion_control(sim, s->flows[i]),
                      setup->flows[s->flows[i]].name, sim_flow_gauge_name(sim, s->flows[i], k));
}

static void read_values(const struct sim_series *s, const struct sim *sim, int64_t *values)
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

/* ---- listed roles */

/* What decides: the nodes of the roles, and how many columns each has. */
struct listing {
    const struct cell *cell;
    const struct sim_node *nodes;
    const size_t *columns;
    bool *listed;
};

/* Columns of all hosts, or of all else. */
static size_t count_columns(const struct listing *c, bool hosts)
{
    size_t columns = 0;
    for (size_t role = 0; role < c->cell->scenario.roles.count; role++)
        if ((c->nodes[role].kind == SIM_HOST) == hosts)
            columns += c->columns[role];
    return columns;
}

/* Those that are listed are the first ones; at least one is. */
static void list_first(const struct listing *c, bool hosts, size_t room)
{
    size_t columns = 0;
    bool any = false;
    for (size_t role = 0; role < c->cell->scenario.roles.count; role++) {
        if ((c->nodes[role].kind == SIM_HOST) != hosts)
            continue;
        columns += c->columns[role];
        c->listed[role] = !any || columns <= room;
        any = true;
    }
}

/* Those of sample.roles; without it half of the room is for hosts and half for switches, and what one does
 * not need for the other. */
static void choose_listed(const struct listing *c)
{
    const struct list_of *named = &c->cell->scenario.sample.roles;
    char *const *names = named->items;
    for (size_t i = 0; i < named->count; i++)
        c->listed[scenario_role_index(&c->cell->scenario, names[i])] = true;
    if (named->count)
        return;
    size_t hosts = count_columns(c, true), switches = count_columns(c, false), half = LISTED_COLUMNS / 2;
    bool all = hosts + switches <= LISTED_COLUMNS;
    list_first(c, true, all || switches < half ? LISTED_COLUMNS - switches : half);
    list_first(c, false, all || hosts < half ? LISTED_COLUMNS - hosts : half);
}

/* Tell the recorder which roles are not listed, before it has their columns. */
static void unlist_roles(struct sim_lab *lab)
{
    size_t roles = lab->run->cell->scenario.roles.count, *columns = xcalloc(roles + 1, sizeof *columns);
    bool *listed = xcalloc(roles + 1, sizeof *listed);
    for (size_t role = 0; role < roles; role++)
        columns[role] = lab->series[role].count;
    choose_listed(&(struct listing){lab->run->cell, lab->setup.node_of_role, columns, listed});
    for (size_t role = 0; role < roles; role++)
        if (!listed[role])
            recorder_unlist(lab->run->recorder, role);
    free(columns);
    free(listed);
}

/* How many columns the series has of each group. */
static void count_groups(const struct sim_series *s, const struct sim *sim, size_t groups[COUNTER_GROUPS])
{
    const struct sim_counter *columns;
    memset(groups, 0, COUNTER_GROUPS * sizeof *groups);
    own_columns(sim, s->node, &columns);
    for (size_t i = 0; i < s->own_count; i++)
        groups[columns[i].is->group] += s->kept[i];
    groups[COUNTER_GROUP_DCQCN] += s->gauge_count;
}

static int refuse_role(const char *role, const struct sim_series *series, const struct sim *sim,
                       struct error *e)
{
    size_t groups[COUNTER_GROUPS];
    struct text text = {0};
    count_groups(series, sim, groups);
    for (size_t i = 0; i < COUNTER_GROUPS; i++)
        if (groups[i])
            text_add(&text, "%s%s %zu", text.length ? ", " : "", counter_group_names[i], groups[i]);
    error_set(e,
              "role %s has %zu columns, a line of samples has room for %d: leave groups out of sample.groups "
              "(%s), or name in sample.roles which roles are listed",
              role, series->count, LINES_MAX_COLUMNS, text_string(&text));
    text_free(&text);
    return -1;
}

/* A reader takes no line with more columns, and no result with more of them in all. */
static int check_listed(const struct listing *c, const struct sim *sim, const struct sim_senders *senders,
                        uint64_t *sample_bytes, struct error *e)
{
    size_t sum = 0, count = 0;
    for (size_t role = 0; role < c->cell->scenario.roles.count; role++) {
        if (!c->listed[role])
            continue;
        sum += c->columns[role];
        count++;
        if (c->columns[role] <= LINES_MAX_COLUMNS)
            continue;
        struct sim_series series;
        sim_series_open(&series, sim, senders, c->nodes[role], scenario_groups(&c->cell->scenario));
        refuse_role(scenario_role(&c->cell->scenario, role), &series, sim, e);
        sim_series_close(&series);
        return -1;
    }
    *sample_bytes = 2 * sum + count * strlen("[\"a\",1]\n"); /* a digit and a comma each */
    if (sum <= LISTED_COLUMNS_MOST)
        return 0;
    return error_set(e,
                     "sample.roles: the %zu roles have %zu columns: a result has room for %d; name fewer "
                     "roles, or fewer groups in sample.groups",
                     count, sum, LISTED_COLUMNS_MOST);
}

int samples_check_roles(const struct cell *cell, const struct sim *sim, const struct sim_setup *setup,
                        uint64_t *sample_bytes, struct error *e)
{
    size_t roles = cell->scenario.roles.count, *columns = xcalloc(roles + 1, sizeof *columns);
    bool *listed = xcalloc(roles + 1, sizeof *listed);
    struct sim_senders senders;
    sim_senders_make(&senders, setup);
    for (size_t role = 0; role < roles; role++) {
        struct sim_series series;
        sim_series_open(&series, sim, &senders, setup->node_of_role[role], scenario_groups(&cell->scenario));
        columns[role] = series.count;
        sim_series_close(&series);
    }
    const struct listing listing = {cell, setup->node_of_role, columns, listed};
    choose_listed(&listing);
    int result = check_listed(&listing, sim, &senders, sample_bytes, e);
    sim_senders_free(&senders);
    free(columns);
    free(listed);
    return result;
}

/* ---- samples */

static int write_header(struct sim_lab *lab, size_t role, struct error *e)
{
    struct sim_columns columns;
    make_columns(&lab->series[role], lab->sim, &lab->setup, &columns);
    int result = recorder_lists(lab->run->recorder, role)
                     ? recorder_object(lab->run->recorder, role, LINE_HEADER,
                                       json_make("{s:s,s:i,s:s,s:s,s:I,s:o}", "type", "header", "schema", 1,
                                                 "program", "sim", "version", HARNESS_VERSION, "every_ns",
                                                 (json_int_t)lab->run->cell->scenario.sample.every_ns,
                                                 "columns", lines_columns_json(columns.items, columns.count)),
                                       e)
                     : recorder_columns(lab->run->recorder, role, columns.items, columns.count, e);
    free(columns.items);
    free(columns.names);
    return result;
}

int samples_open(struct sim_lab *lab, struct error *e)
{
    size_t most = 0, roles = lab->run->cell->scenario.roles.count;
    struct sim_senders senders;
    lab->series = xcalloc(roles + 1, sizeof *lab->series);
    sim_senders_make(&senders, &lab->setup);
    for (size_t role = 0; role < roles; role++) {
        struct sim_series *series = &lab->series[role];
        sim_series_open(series, lab->sim, &senders, lab->setup.node_of_role[role],
                        scenario_groups(&lab->run->cell->scenario));
        size_t room = series->own_count + series->gauge_count;
        most = room > most ? room : most;
    }
    sim_senders_free(&senders);
    lab->values = xcalloc(most + 1, sizeof *lab->values);
    unlist_roles(lab);
    int result = 0;
    for (size_t role = 0; result == 0 && role < roles; role++)
        result = write_header(lab, role, e);
    return result;
}

int samples_write(struct sim_lab *lab, bool mark, struct error *e)
{
    struct recorder *recorder = lab->run->recorder;
    for (size_t role = 0; role < lab->run->cell->scenario.roles.count; role++) {
        if (!mark && !recorder_keeps(recorder, role))
            continue;
        read_values(&lab->series[role], lab->sim, lab->values);
        if (recorder_values(recorder, role, lab->now_ns, lab->values, lab->series[role].count, e) != 0)
            return -1;
    }
    lab->last_sample_ns = lab->now_ns;
    lab->samples++;
    return 0;
}

int samples_finish(struct sim_lab *lab, struct error *e)
{
    for (size_t role = 0; role < lab->run->cell->scenario.roles.count; role++)
        if (recorder_lists(lab->run->recorder, role) &&
            recorder_object(lab->run->recorder, role, LINE_END,
                            json_make("{s:s,s:I,s:I,s:i,s:i,s:s}", "type", "end", "time_ns",
                                      (json_int_t)lab->now_ns, "samples", (json_int_t)lab->samples,
                                      "overruns", 0, "cpu_ns", 0, "reason",
                                      lab->now_ns >= lab->end_ns ? "count" : "signal"),
                            e) != 0)
            return -1;
    return 0;
}

void samples_close(struct sim_lab *lab)
{
    for (size_t i = 0; lab->series && i < lab->run->cell->scenario.roles.count; i++)
        sim_series_close(&lab->series[i]);
    free(lab->series);
    free(lab->values);
}

/* ---- pauses */

/* docs/result.md: a host, or SWITCH:PORT. */
static void pause_place(const struct sim_lab *lab, const struct sim_pause *p, char *name, size_t size)
{
    const char *node = sim_setup_node_name(lab->run->cell, &lab->setup, p->node);
    if (p->node.kind == SIM_HOST)
        snprintf(name, size, "%s", node);
    else
        snprintf(name, size, "%s:%u", node, p->port);
}

static int write_pause(struct sim_lab *lab, const struct sim_pause *p, bool lasts, struct error *e)
{
    char name[160];
    pause_place(lab, p, name, sizeof name);
    return recorder_pause(lab->run->recorder, name, p->priority, p->start_ps / SIM_PS_PER_NS,
                          (p->end_ps - p->start_ps) / SIM_PS_PER_NS, lasts, e);
}

int samples_write_lasting_pauses(struct sim_lab *lab, struct error *e)
{
    struct sim_pause pauses[SIM_PRIORITIES];
    for (size_t end = 0; end < 2 * lab->setup.config.link_count; end++) {
        size_t count = sim_lasting_pauses(lab->sim, (uint32_t)(end / 2), end % 2, pauses);
        for (size_t i = 0; i < count && lab->pauses_seen < PAUSE_CAPACITY; i++, lab->pauses_seen++)
            if (write_pause(lab, &pauses[i], true, e) != 0)
                return -1;
    }
    return 0;
}

int samples_write_pauses(struct sim_lab *lab, struct error *e)
{
    const struct sim_pause *pauses;
    size_t count = sim_pauses(lab->sim, &pauses);
    bool became_full = count == PAUSE_CAPACITY && lab->pauses_seen < count;
    for (; lab->pauses_seen < count; lab->pauses_seen++) {
        if (write_pause(lab, &pauses[lab->pauses_seen], false, e) != 0)
            return -1;
    }
    if (became_full)
        json_array_append_new(lab->warnings,
                              json_textf("only the first %u pauses were kept", PAUSE_CAPACITY));
    return 0;
}
