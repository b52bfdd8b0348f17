#include "harness/labs/sim/lines.h"

#include "harness/labs/sim/completion.h"
#include "harness/labs/sim/listed.h"
#include "lib/document/json_text.h"
#include "lib/formats/lines.h"
#include <stdlib.h>
#include <string.h>

/* ---- lines */

/* The line that was written since the last call, without its newline. */
static const char *take_line(struct sim_lab *lab, size_t *length)
{
    fflush(lab->writer);
    *length = lab->line_length;
    while (*length && lab->line[*length - 1] == '\n')
        (*length)--;
    rewind(lab->writer);
    return lab->line;
}

static int hand_on_flow(struct sim_lab *lab, json_t *object, struct error *e)
{
    size_t length;
    lines_write_object(lab->writer, object);
    json_decref(object);
    const char *line = take_line(lab, &length);
    return recorder_simulated_flow(lab->run->recorder, line, length, e);
}

static int write_header(struct sim_lab *lab, size_t role, struct error *e)
{
    struct sim_columns columns;
    if (sim_series_columns(&lab->series[role], lab->sim, &lab->setup, &columns, e) != 0)
        return -1;
    int result = recorder_lists(lab->run->recorder, role)
                     ? recorder_object(lab->run->recorder, role, LINE_HEADER,
                                       json_make("{s:s,s:i,s:s,s:s,s:I,s:o}", "type", "header", "schema", 1,
                                                 "program", "sim", "version", HARNESS_VERSION, "every_ns",
                                                 (json_int_t)lab->run->cell->scenario.sample.every_ns,
                                                 "columns", lines_columns_json(columns.items, columns.count)),
                                       e)
                     : recorder_columns(lab->run->recorder, role, columns.items, columns.count, e);
    sim_columns_free(&columns);
    return result;
}

int lines_headers(struct sim_lab *lab, struct error *e)
{
    size_t most = 0, roles = lab->run->cell->scenario.roles.count;
    struct sim_senders senders;
    lab->series = calloc(roles + 1, sizeof *lab->series);
    if (!lab->series || sim_senders_make(&senders, &lab->setup) != 0)
        return error_set(e, "out of memory");
    int result = 0;
    for (size_t role = 0; result == 0 && role < roles; role++) {
        struct sim_series *series = &lab->series[role];
        result = sim_series_open(series, lab->sim, &senders, lab->setup.node_of_role[role],
                                 scenario_groups(&lab->run->cell->scenario), e);
        most = sim_series_room(series) > most ? sim_series_room(series) : most;
    }
    sim_senders_free(&senders);
    lab->values = calloc(most + 1, sizeof *lab->values);
    if (!lab->values)
        return error_set(e, "out of memory");
    if (result == 0 && listed_choose(lab) != 0)
        return error_set(e, "out of memory");
    for (size_t role = 0; result == 0 && role < roles; role++)
        result = write_header(lab, role, e);
    return result;
}

int lines_samples(struct sim_lab *lab, bool mark, struct error *e)
{
    struct recorder *recorder = lab->run->recorder;
    for (size_t role = 0; role < lab->run->cell->scenario.roles.count; role++) {
        if (!mark && !recorder_keeps(recorder, role))
            continue;
        sim_series_values(&lab->series[role], lab->sim, lab->values);
        if (recorder_values(recorder, role, lab->now_ns, lab->values, lab->series[role].count, e) != 0)
            return -1;
    }
    lab->last_sample_ns = lab->now_ns;
    lab->samples++;
    return 0;
}

/* docs/result.md: a host, or SWITCH:PORT. */
static void name_of_port(const struct sim_lab *lab, const struct sim_pause *p, char *name, size_t size)
{
    const char *node = sim_setup_node_name(lab->run->cell, &lab->setup, p->node);
    if (p->node.kind == SIM_HOST)
        snprintf(name, size, "%s", node);
    else
        snprintf(name, size, "%s:%u", node, p->port);
}

static int hand_on_pause(struct sim_lab *lab, const struct sim_pause *p, bool lasts, struct error *e)
{
    char name[160];
    name_of_port(lab, p, name, sizeof name);
    return recorder_pause(lab->run->recorder, name, p->priority, p->start_ps / SIM_PS_PER_NS,
                          (p->end_ps - p->start_ps) / SIM_PS_PER_NS, lasts, e);
}

int lines_lasting_pauses(struct sim_lab *lab, struct error *e)
{
    struct sim_pause pauses[SIM_PRIORITIES];
    for (size_t end = 0; end < 2 * lab->setup.config.link_count; end++) {
        size_t count = sim_lasting_pauses(lab->sim, (uint32_t)(end / 2), end % 2, pauses);
        for (size_t i = 0; i < count && lab->pauses_seen < PAUSE_CAPACITY; i++, lab->pauses_seen++)
            if (hand_on_pause(lab, &pauses[i], true, e) != 0)
                return -1;
    }
    return 0;
}

static int hand_on_pauses(struct sim_lab *lab, struct error *e)
{
    const struct sim_pause *pauses;
    size_t count = sim_pauses(lab->sim, &pauses);
    bool became_full = count == PAUSE_CAPACITY && lab->pauses_seen < count;
    for (; lab->pauses_seen < count; lab->pauses_seen++) {
        if (hand_on_pause(lab, &pauses[lab->pauses_seen], false, e) != 0)
            return -1;
    }
    if (became_full)
        json_array_append_new(lab->warnings,
                              json_textf("only the first %u pauses were kept", PAUSE_CAPACITY));
    return 0;
}

/* ---- flows */

/* Times are picoseconds in the simulator and nanoseconds in lines. */
static json_t *latency_json(const struct histogram *h)
{
    json_t *json = histogram_json(h), *value;
    const char *key;
    json_object_foreach(json, key, value)
    {
        if (strcmp(key, "count") != 0)
            json_object_set_new(json, key, json_real(json_number_value(value) / SIM_PS_PER_NS));
    }
    return json;
}

static void add_rates(json_t *line, int64_t bytes, int64_t messages, int64_t errors, int64_t duration_ns)
{
    double seconds = (double)duration_ns / 1e9;
    json_object_set_new(line, "bytes", json_integer(bytes));
    json_object_set_new(line, "messages", json_integer(messages));
    json_object_set_new(line, "duration_ns", json_integer(duration_ns));
    json_object_set_new(line, "goodput_bps", json_real(seconds > 0 ? (double)bytes * 8 / seconds : 0));
    json_object_set_new(line, "messages_per_s", json_real(seconds > 0 ? (double)messages / seconds : 0));
    json_object_set_new(line, "errors", json_integer(errors));
}

/* What only the simulator counts of a flow, in the measure phase. */
static void add_counts(json_t *line, const struct sim_flow_stats *counted)
{
    json_object_set_new(line, "delivered_bytes", json_integer(counted->delivered_bytes));
    json_object_set_new(line, "marked_packets", json_integer(counted->marked_packets));
    if (counted->decreases < 0)
        return;
    json_object_set_new(line, "decreases", json_integer(counted->decreases));
    json_object_set_new(line, "increases", json_integer(counted->increases));
}

/* A flow's counts in the measure phase. */
static struct sim_flow_stats measured(const struct flow_state *flow)
{
    const struct sim_flow_stats *from = &flow->measure_base, *to = &flow->measure_end;
    bool changes = to->decreases >= 0;
    return (struct sim_flow_stats){.bytes = to->bytes - from->bytes,
                                   .messages = to->messages - from->messages,
                                   .delivered_bytes = to->delivered_bytes - from->delivered_bytes,
                                   .marked_packets = to->marked_packets - from->marked_packets,
                                   .decreases = changes ? to->decreases - from->decreases : -1,
                                   .increases = changes ? to->increases - from->increases : -1};
}

static bool is_measuring(const struct sim_lab *lab)
{
    return lab->now_ns > lab->measure_start_ns && lab->now_ns <= lab->measure_end_ns;
}

/* The latency of a scenario's flow of one message, which has ended; `one` has room for it. NULL: it is none. */
static const struct histogram *only_latency(const struct sim_lab *lab, size_t i,
                                            const struct sim_flow_stats *stats, struct histogram *one)
{
    if (i >= lab->run->cell->scenario.flows.count || !sim_config_is_one_message(&lab->setup.flows[i]))
        return NULL;
    histogram_clear(one);
    histogram_add(one, stats->finished_ps - stats->started_ps);
    return one;
}

/* A flow that sends an amount has lines from its start to the first interval after its end, or its failure, in which it sent nothing. */
static bool rests(struct flow_state *flow, const struct sim_flow_config *config,
                  const struct sim_flow_stats *stats)
{
    const struct sim_flow_stats *before = &flow->interval_base;
    bool idle = config->message_count && stats->messages == before->messages &&
                stats->failed == before->failed &&
                (stats->started_ps < 0 || stats->finished_ps >= 0 || stats->failed);
    bool was_active = flow->active;
    flow->active = !idle;
    return idle && !was_active;
}

static json_t *error_text(const struct sim_flow_stats *stats)
{
    return json_textf("transport retry counter exceeded at %.6g ms%s",
                      (double)stats->failed_ps / SIM_PS_PER_NS / 1e6,
                      stats->unreachable ? ", when no path led to the other end" : "");
}

/* As roce-traffic says that a work request failed; of several queue pairs the first one. */
static int write_error(struct sim_lab *lab, size_t i, const struct sim_flow_stats *stats, struct error *e)
{
    return hand_on_flow(lab,
                        json_make("{s:s,s:s,s:I,s:s,s:o}", "type", "error", "flow", lab->setup.flows[i].name,
                                  "time_ns", (json_int_t)(stats->failed_ps / SIM_PS_PER_NS), "status",
                                  "IBV_WC_RETRY_EXC_ERR", "text", error_text(stats)),
                        e);
}

static int write_interval(struct sim_lab *lab, size_t i, struct error *e)
{
    struct flow_state *flow = &lab->flows[i];
    struct sim_flow_stats stats;
    struct histogram one;
    const struct histogram *latency = sim_flow_latency(lab->sim, i);
    sim_flow_stats(lab->sim, i, &stats);
    if (rests(flow, &lab->setup.flows[i], &stats))
        return 0;
    if (stats.failed && !flow->interval_base.failed && write_error(lab, i, &stats, e) != 0)
        return -1;
    if (stats.messages > flow->interval_base.messages && !latency)
        latency = only_latency(lab, i, &stats, &one);
    json_t *line = json_make("{s:s,s:s,s:I}", "type", "interval", "flow", lab->setup.flows[i].name, "time_ns",
                             (json_int_t)lab->now_ns);
    add_rates(line, stats.bytes - flow->interval_base.bytes, stats.messages - flow->interval_base.messages, 0,
              lab->now_ns - lab->interval_start_ns);
    if (latency && latency->count)
        json_object_set_new(line, "latency_ns", latency_json(latency));
    if (latency && flow->measured && is_measuring(lab))
        histogram_merge(flow->measured, latency);
    sim_flow_latency_clear(lab->sim, i);
    flow->interval_base = stats;
    return recorder_interval(lab->run->recorder, line, e);
}

int lines_intervals(struct sim_lab *lab, struct error *e)
{
    if (lab->now_ns == lab->interval_start_ns)
        return 0;
    for (size_t i = 0; i < lab->setup.config.flow_count; i++)
        if (lab->flows[i].lines && write_interval(lab, i, e) != 0)
            return -1;
    lab->interval_start_ns = lab->now_ns;
    lab->next_interval_ns = lab->now_ns + lab->interval_ns;
    return hand_on_pauses(lab, e);
}

static int write_summary(struct sim_lab *lab, size_t i, struct error *e)
{
    const struct sim_flow_config *config = &lab->setup.flows[i];
    struct flow_state *flow = &lab->flows[i];
    struct sim_flow_stats stats;
    struct histogram one;
    int64_t end_ns = lab->now_ns < lab->measure_end_ns ? lab->now_ns : lab->measure_end_ns;
    int64_t duration = end_ns > lab->measure_start_ns ? end_ns - lab->measure_start_ns : 0;
    sim_flow_stats(lab->sim, i, &stats);
    json_t *line = json_make("{s:s,s:s,s:I,s:I}", "type", "summary", "flow", config->name, "message_bytes",
                             (json_int_t)config->message_bytes, "time_ns", (json_int_t)lab->now_ns);
    struct sim_flow_stats counted = measured(flow);
    add_rates(line, counted.bytes, counted.messages, stats.failed, duration);
    json_object_set_new(line, "retransmitted_packets", json_integer(stats.retransmitted_packets));
    add_counts(line, &counted);
    if (stats.failed)
        json_object_set_new(line, "error", error_text(&stats));
    const struct histogram *latency =
        flow->measured || counted.messages == 0 ? flow->measured : only_latency(lab, i, &stats, &one);
    if (latency && latency->count)
        json_object_set_new(line, "latency_ns", latency_json(latency));
    if (config->message_count && stats.finished_ps >= 0) {
        double took = (double)(stats.finished_ps - stats.started_ps) / SIM_PS_PER_NS;
        json_object_set_new(line, "completion_ns",
                            json_make("{s:i,s:f,s:f,s:f,s:f,s:f,s:f,s:f}", "count", 1, "min", took, "mean",
                                      took, "p50", took, "p99", took, "max", took, "begin",
                                      (double)stats.started_ps / SIM_PS_PER_NS, "end",
                                      (double)stats.finished_ps / SIM_PS_PER_NS));
    }
    json_object_set_new(line, "complete", json_boolean(lab->whole));
    return hand_on_flow(lab, line, e);
}

/* A line for all flows of a traffic pattern together, under the pattern's name. */
static int write_traffic_summary(struct sim_lab *lab, size_t t, struct error *e)
{
    const struct scenario_traffic *traffic = lab->run->cell->scenario.traffic.items;
    int64_t end_ns = lab->now_ns < lab->measure_end_ns ? lab->now_ns : lab->measure_end_ns;
    struct sim_flow_stats all = {.decreases = -1, .increases = -1};
    size_t first = lab->setup.first_of_traffic[t], end = lab->setup.first_of_traffic[t + 1];
    for (size_t i = first; i < end; i++) {
        struct sim_flow_stats stats;
        sim_flow_stats(lab->sim, i, &stats);
        const struct sim_flow_stats one = measured(&lab->flows[i]);
        all.bytes += one.bytes;
        all.messages += one.messages;
        all.delivered_bytes += one.delivered_bytes;
        all.marked_packets += one.marked_packets;
        all.retransmitted_packets += stats.retransmitted_packets;
        all.failed += stats.failed;
        if (one.decreases < 0)
            continue;
        all.decreases = (all.decreases < 0 ? 0 : all.decreases) + one.decreases;
        all.increases = (all.increases < 0 ? 0 : all.increases) + one.increases;
    }
    json_t *line = json_make("{s:s,s:s,s:I}", "type", "summary", "flow", traffic[t].name, "time_ns",
                             (json_int_t)lab->now_ns);
    add_rates(line, all.bytes, all.messages, all.failed,
              end_ns > lab->measure_start_ns ? end_ns - lab->measure_start_ns : 0);
    json_object_set_new(line, "retransmitted_packets", json_integer(all.retransmitted_packets));
    add_counts(line, &all);
    json_t *completion =
        sim_completion_json(lab->sim, &lab->setup, first, end, lab->measure_start_ns * SIM_PS_PER_NS);
    json_object_update(line, completion);
    json_decref(completion);
    json_object_set_new(line, "complete", json_boolean(lab->whole));
    return hand_on_flow(lab, line, e);
}

int lines_summaries(struct sim_lab *lab, struct error *e)
{
    for (size_t i = 0; i < lab->setup.config.flow_count; i++)
        if (lab->flows[i].lines && write_summary(lab, i, e) != 0)
            return -1;
    for (size_t t = 0; t < lab->run->cell->scenario.traffic.count; t++)
        if (write_traffic_summary(lab, t, e) != 0)
            return -1;
    return 0;
}

int lines_ends(struct sim_lab *lab, struct error *e)
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
