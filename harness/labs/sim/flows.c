/*
 * What the simulator counts of flows, as the lines that traffic generators would print: intervals while
 * they run, a summary each, and for a traffic pattern one with the completion times of its flows.
 */
#include "harness/labs/sim/flows.h"
#include "harness/labs/sim/streamed.h"

#include "lib/document/json_text.h"
#include "lib/formats/lines.h"
#include "lib/roce/completion.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include "lib/roce/path_mtu.h"
#include <stdlib.h>
#include <string.h>

/* Each flow of the scenario has lines and latencies; each flow of a small traffic pattern has lines. */
void flows_open(struct sim_lab *lab)
{
    const size_t *first = lab->setup.first_of_traffic;
    lab->flows = xcalloc(lab->setup.config.flow_count + 1, sizeof *lab->flows);
    for (size_t t = 0; t < lab->run->cell->scenario.traffic.count; t++)
        for (size_t i = first[t]; i < first[t + 1]; i++)
            lab->flows[i].lines = first[t + 1] - first[t] <= SCENARIO_PATTERN_FLOWS;
    for (size_t i = 0; i < lab->run->cell->scenario.flows.count; i++) {
        lab->flows[i].lines = true;
        if (!lab->setup.flows[i].record_latency)
            continue;
        lab->flows[i].measured = xcalloc(1, sizeof *lab->flows[i].measured);
        histogram_clear(lab->flows[i].measured);
    }
}

void flows_close(struct sim_lab *lab)
{
    for (size_t i = 0; lab->flows && i < lab->setup.config.flow_count; i++)
        free(lab->flows[i].measured);
    free(lab->flows);
}

void flows_note_measured(struct sim_lab *lab)
{
    for (size_t i = 0; i < lab->setup.config.flow_count; i++) {
        struct sim_flow_stats stats;
        sim_flow_stats(lab->sim, i, &stats);
        if (lab->now_ns <= lab->measure_start_ns)
            lab->flows[i].measure_base = stats;
        lab->flows[i].measure_end = stats;
    }
    streamed_note_measured(lab->setup.streamed, lab->sim, lab->now_ns <= lab->measure_start_ns);
    lab->whole = lab->now_ns >= lab->measure_end_ns;
}

/* ---- lines of one flow */

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
static struct sim_flow_stats measured_stats(const struct flow_state *flow)
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

/* The latency of a scenario's flow of one message, which has ended; `one` has room for it. NULL: it has
 * more messages. */
static const struct histogram *latency_of_message(const struct sim_lab *lab, size_t i,
                                                  const struct sim_flow_stats *stats, struct histogram *one)
{
    if (i >= lab->run->cell->scenario.flows.count || !sim_config_is_one_message(&lab->setup.flows[i]))
        return NULL;
    histogram_clear(one);
    histogram_add(one, stats->finished_ps - stats->started_ps);
    return one;
}

/* A flow that sends an amount has lines from its start to the first interval after its end, or its
 * failure, in which it sent nothing. */
static bool has_come_to_rest(struct flow_state *flow, const struct sim_flow_config *config,
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

static int status_of(const struct sim_flow_stats *stats)
{
    return stats->failed_not_ready ? COMPLETION_RNR_EXCEEDED : COMPLETION_RETRY_EXCEEDED;
}

static int vendor_of(const struct sim_flow_stats *stats)
{
    return stats->failed_not_ready ? COMPLETION_VENDOR_NOT_READY : COMPLETION_VENDOR_NO_ANSWER;
}

/* A NIC with measured time-outs has the vendor's byte of mlx5 too, and says for how long it was silent. */
static json_t *error_text(const struct sim_flow_stats *stats)
{
    struct text text = {0};
    if (stats->failed_as_measured)
        completion_explain(status_of(stats), vendor_of(stats), &text);
    else
        text_add(&text, "%s retry counter exceeded", stats->failed_not_ready ? "RNR" : "transport");
    text_add(&text, "%s at %.6g ms of the run", stats->failed_as_measured ? "; given up" : "",
             (double)stats->failed_ps / SIM_PS_PER_NS / 1e6);
    if (stats->failed_as_measured && stats->failed_not_ready)
        text_add(&text, ", %.6g ms after the request",
                 (double)stats->failed_silence_ps / SIM_PS_PER_NS / 1e6);
    else if (stats->failed_as_measured)
        text_add(&text,
                 ", after %.6g ms without an answer (%lld adaptive retransmissions, then %lld time-outs)",
                 (double)stats->failed_silence_ps / SIM_PS_PER_NS / 1e6, (long long)stats->failed_adaptive,
                 (long long)stats->failed_timeouts);
    if (stats->unreachable)
        text_add(&text, ", when no path led to the other end");
    json_t *json = json_text(text_string(&text));
    text_free(&text);
    return json;
}

/* As roce-traffic says that a work request failed; of several queue pairs the first one. */
static int write_error(struct sim_lab *lab, size_t i, const struct sim_flow_stats *stats, struct error *e)
{
    json_t *line = json_make("{s:s,s:s,s:I,s:s,s:o}", "type", "error", "flow", lab->setup.flows[i].name,
                             "time_ns", (json_int_t)(stats->failed_ps / SIM_PS_PER_NS), "status",
                             completion_name(status_of(stats)), "text", error_text(stats));
    if (stats->failed_as_measured) {
        json_object_set_new(line, "silent_ns", json_integer(stats->failed_silence_ps / SIM_PS_PER_NS));
        json_object_set_new(line, "completion", completion_json(status_of(stats), vendor_of(stats)));
    }
    return recorder_flow_object(lab->run->recorder, LINE_ERROR, line, e);
}

static int write_interval(struct sim_lab *lab, size_t i, struct error *e)
{
    struct flow_state *flow = &lab->flows[i];
    struct sim_flow_stats stats;
    struct histogram one;
    const struct histogram *latency = sim_flow_latency(lab->sim, i);
    sim_flow_stats(lab->sim, i, &stats);
    if (has_come_to_rest(flow, &lab->setup.flows[i], &stats))
        return 0;
    if (stats.failed && !flow->interval_base.failed && write_error(lab, i, &stats, e) != 0)
        return -1;
    if (stats.messages > flow->interval_base.messages && !latency)
        latency = latency_of_message(lab, i, &stats, &one);
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
    return recorder_flow_object(lab->run->recorder, LINE_INTERVAL, line, e);
}

int flows_write_intervals(struct sim_lab *lab, struct error *e)
{
    if (lab->now_ns == lab->interval_start_ns)
        return 0;
    for (size_t i = 0; i < lab->setup.config.flow_count; i++)
        if (lab->flows[i].lines && write_interval(lab, i, e) != 0)
            return -1;
    lab->interval_start_ns = lab->now_ns;
    lab->next_interval_ns = lab->now_ns + lab->interval_ns;
    return 0;
}

/* What a flow moved, and the time that this took. */
struct moved {
    int64_t bytes, messages, duration_ns;
};

/* The end of the time in which a flow ran that has not sent all. After its stop no message begins: it has run
 * when those that had begun are complete. */
static int64_t ran_until_ps(const struct sim_lab *lab, const struct sim_flow_config *config,
                            const struct sim_flow_stats *stats)
{
    int64_t now_ps = sim_now_ps(lab->sim);
    if (stats->failed)
        return stats->failed_ps;
    if (config->stop_ps > now_ps || stats->in_flight)
        return now_ps;
    return stats->last_ps > config->stop_ps ? stats->last_ps : config->stop_ps;
}

/* Of a flow with an end: all of it and its own time, as on real hosts; of one that has not ended, what it
 * moved since it began in the measure phase, or since that began. */
static struct moved moved_by_itself(const struct sim_lab *lab, const struct sim_flow_config *config,
                                    const struct sim_flow_stats *stats, const struct moved *in_phase)
{
    int64_t from_ns = stats->started_ps / SIM_PS_PER_NS,
            end_ns = ran_until_ps(lab, config, stats) / SIM_PS_PER_NS;
    if (stats->started_ps < 0)
        return (struct moved){0};
    if (stats->finished_ps >= 0)
        return (struct moved){stats->bytes, stats->messages,
                              (stats->finished_ps - stats->started_ps) / SIM_PS_PER_NS};
    if (from_ns < lab->measure_start_ns)
        from_ns = lab->measure_start_ns;
    if (end_ns > lab->measure_end_ns)
        end_ns = lab->measure_end_ns;
    return (struct moved){in_phase->bytes, in_phase->messages, end_ns > from_ns ? end_ns - from_ns : 0};
}

/* What the scenario says of a flow by itself, and of those of a pattern only as a whole. */
static void describe_part(const struct sim_flow_config *config, char *const *roles, json_t *line)
{
    json_object_set_new(line, "from", json_text(roles[config->from]));
    json_object_set_new(line, "to", json_text(roles[config->to]));
    json_object_set_new(line, "priority", json_integer(config->priority));
}

/* `roles`: by host, the role that it plays. */
static int write_summary(struct sim_lab *lab, char *const *roles, size_t i, struct error *e)
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
    if (i >= lab->run->cell->scenario.flows.count)
        describe_part(config, roles, line);
    struct sim_flow_stats counted = measured_stats(flow);
    struct moved moved = {counted.bytes, counted.messages, duration};
    int64_t last_ns = flow->measure_end.last_ps / SIM_PS_PER_NS;
    if (flow->lines && counted.messages)
        recorder_note_quiet(lab->run->recorder, config->name, last_ns, end_ns);
    if (config->message_count) {
        json_object_set_new(line, "phase",
                            json_make("{s:I,s:I,s:I}", "bytes", (json_int_t)moved.bytes, "messages",
                                      (json_int_t)moved.messages, "duration_ns", (json_int_t)duration));
        moved = moved_by_itself(lab, config, &stats, &moved);
    }
    add_rates(line, moved.bytes, moved.messages, stats.failed, moved.duration_ns);
    json_object_set_new(line, "retransmitted_packets",
                        json_integer(stats.retransmitted_packets + stats.requested_again));
    add_counts(line, &counted);
    if (stats.failed)
        json_object_set_new(line, "error", error_text(&stats));
    const struct histogram *latency =
        flow->measured || counted.messages == 0 ? flow->measured : latency_of_message(lab, i, &stats, &one);
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
    return recorder_flow_object(lab->run->recorder, LINE_SUMMARY, line, e);
}

/* ---- all flows of a traffic pattern together */

static double packet_bytes(const struct sim_lab *lab, const struct sim_flow_config *flow)
{
    int64_t from = roce_path_mtu(lab->setup.hosts[flow->from].settings.mtu_bytes),
            to = roce_path_mtu(lab->setup.hosts[flow->to].settings.mtu_bytes),
            most = flow->payload_bytes ? flow->payload_bytes
                   : from < to         ? from
                                       : to;
    return (double)(flow->message_bytes < most ? flow->message_bytes : most);
}

/* Of flows that stay: those of the measure phase; what was sent again is of the whole run, and so are
 * failures. */
static void sum_flows(const struct sim_lab *lab, size_t first, size_t end, struct flow_sums *sums)
{
    *sums = FLOW_SUMS_NONE;
    for (size_t i = first; i < end; i++) {
        struct sim_flow_stats stats, one = measured_stats(&lab->flows[i]);
        sim_flow_stats(lab->sim, i, &stats);
        one.retransmitted_packets = stats.retransmitted_packets;
        one.requested_again = stats.requested_again;
        one.failed = stats.failed;
        flow_sums_add(sums, &one, packet_bytes(lab, &lab->setup.flows[i]));
    }
}

/* The same of flows that come and go. */
static void sum_streamed(const struct streamed *p, struct flow_sums *sums)
{
    const struct flow_sums *from = &p->base, *to = &p->end, *whole = &p->gone;
    bool changes = to->decreases >= 0;
    *sums = *whole;
    sums->bytes = to->bytes - from->bytes;
    sums->messages = to->messages - from->messages;
    sums->delivered_bytes = to->delivered_bytes - from->delivered_bytes;
    sums->marked_packets = to->marked_packets - from->marked_packets;
    sums->decreases = changes ? to->decreases - (from->decreases < 0 ? 0 : from->decreases) : -1;
    sums->increases = changes ? to->increases - (from->increases < 0 ? 0 : from->increases) : -1;
}

static json_t *completion_times_json(const struct sim_lab *lab, size_t first, size_t end)
{
    struct completions completions = {0};
    for (size_t i = first; i < end; i++) {
        const struct sim_flow_config *flow = &lab->setup.flows[i];
        struct sim_flow_stats stats;
        if (flow->start_ps >= sim_now_ps(lab->sim))
            continue;
        sim_flow_stats(lab->sim, i, &stats);
        completions_add(&completions, i, flow->message_bytes, flow->start_ps, stats.finished_ps,
                        (double)sim_flow_ideal_ps(lab->sim, i) * (double)flow->message_count);
    }
    json_t *json = completions_json(&completions, lab->measure_start_ns * SIM_PS_PER_NS);
    completions_free(&completions);
    return json;
}

/* A line for all flows of a traffic pattern together, under the pattern's name. */
static int write_traffic_summary(struct sim_lab *lab, size_t t, struct error *e)
{
    const struct scenario_traffic *traffic = lab->run->cell->scenario.traffic.items;
    int64_t end_ns = lab->now_ns < lab->measure_end_ns ? lab->now_ns : lab->measure_end_ns;
    struct streamed *streamed = streamed_find(lab->setup.streamed, t);
    struct flow_sums all;
    size_t first = lab->setup.first_of_traffic[t], end = lab->setup.first_of_traffic[t + 1];
    if (streamed)
        sum_streamed(streamed, &all);
    else
        sum_flows(lab, first, end, &all);
    json_t *line = json_make("{s:s,s:s,s:I}", "type", "summary", "flow", traffic[t].name, "time_ns",
                             (json_int_t)lab->now_ns);
    add_rates(line, all.bytes, all.messages, all.failed,
              end_ns > lab->measure_start_ns ? end_ns - lab->measure_start_ns : 0);
    json_object_set_new(line, "retransmitted_packets", json_integer(all.again_packets + all.requested_again));
    add_counts(line, &(struct sim_flow_stats){.delivered_bytes = all.delivered_bytes,
                                              .marked_packets = all.marked_packets,
                                              .decreases = all.decreases,
                                              .increases = all.increases});
    json_t *completion = streamed
                             ? completions_json(&streamed->completions, lab->measure_start_ns * SIM_PS_PER_NS)
                             : completion_times_json(lab, first, end);
    json_object_update(line, completion);
    json_decref(completion);
    json_object_set_new(line, "complete", json_boolean(lab->whole));
    return recorder_flow_object(lab->run->recorder, LINE_SUMMARY, line, e);
}

/* ---- more sent again than arrived, in the whole run */

struct sent_again {
    struct text_names names;
    int64_t packets;
    double bytes, arrived;
};

/* Flows together, under one name. */
static void note_sent_again(const char *name, const struct flow_sums *sums, struct sent_again *all)
{
    double arrived = (double)sums->delivered_bytes;
    if (sums->again_bytes <= arrived)
        return;
    text_names_add(&all->names, name);
    all->packets += sums->again_packets;
    all->bytes += sums->again_bytes;
    all->arrived += arrived;
}

/* Flows first..end-1. */
static void note_flows_sent_again(const struct sim_lab *lab, const char *name, size_t first, size_t end,
                                  struct sent_again *all)
{
    struct flow_sums sums = FLOW_SUMS_NONE;
    for (size_t i = first; i < end; i++) {
        struct sim_flow_stats stats;
        sim_flow_stats(lab->sim, i, &stats);
        flow_sums_add(&sums, &stats, packet_bytes(lab, &lab->setup.flows[i]));
    }
    note_sent_again(name, &sums, all);
}

static void warn_of_sent_again(struct sim_lab *lab)
{
    const struct scenario *scenario = &lab->run->cell->scenario;
    const struct scenario_traffic *traffic = scenario->traffic.items;
    struct sent_again all = {0};
    struct text words = {0};
    for (size_t i = 0; i < scenario->flows.count; i++)
        note_flows_sent_again(lab, lab->setup.flows[i].name, i, i + 1, &all);
    for (size_t t = 0; t < scenario->traffic.count; t++) {
        const struct streamed *streamed = streamed_find(lab->setup.streamed, t);
        if (streamed)
            note_sent_again(traffic[t].name, &streamed->gone, &all);
        else
            note_flows_sent_again(lab, traffic[t].name, lab->setup.first_of_traffic[t],
                                  lab->setup.first_of_traffic[t + 1], &all);
    }
    if (!all.names.count)
        return;
    text_add_names(&words, "flow", &all.names);
    double unit = all.bytes < 1e9 ? 1e6 : 1e9;
    const char *name = all.bytes < 1e9 ? "MB" : "GB";
    text_add(&words, " sent %.3g %s again (%lld packets), and %.3g %s arrived, in the whole run",
             all.bytes / unit, name, (long long)all.packets, all.arrived / unit, name);
    json_array_append_new(lab->warnings, json_text(text_string(&words)));
    text_free(&words);
}

int flows_write_summaries(struct sim_lab *lab, struct error *e)
{
    char **roles = sim_setup_roles_of_hosts(lab->run->cell, &lab->setup);
    int result = 0;
    streamed_finish(lab->setup.streamed, lab->sim);
    warn_of_sent_again(lab);
    for (size_t i = 0; result == 0 && i < lab->setup.config.flow_count; i++)
        if (lab->flows[i].lines)
            result = write_summary(lab, roles, i, e);
    for (size_t t = 0; result == 0 && t < lab->run->cell->scenario.traffic.count; t++)
        result = write_traffic_summary(lab, t, e);
    free(roles);
    return result;
}
