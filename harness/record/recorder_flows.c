/* Lines of traffic generators, and the summaries of flows. */
#include "harness/record/recorder_parts.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct recorded_flow *recorder_find_flow(struct recorder *r, const char *name)
{
    json_t *index = json_object_get(r->flow_index, name);
    if (index)
        return &r->flows[json_integer_value(index)];
    struct recorded_flow *grown = realloc(r->flows, (r->flow_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    r->flows = grown;
    grown[r->flow_count] = (struct recorded_flow){.name = strdup(name)};
    json_object_set_new(r->flow_index, name, json_integer((json_int_t)r->flow_count));
    return &r->flows[r->flow_count++];
}

static void take_interval(const struct recorder *r, struct recorded_flow *flow, const json_t *json)
{
    int64_t end = json_integer_value(json_object_get(json, "time_ns"));
    int64_t duration = json_integer_value(json_object_get(json, "duration_ns"));
    flow->live_bps = json_number_value(json_object_get(json, "goodput_bps"));
    flow->errors += (uint64_t)json_integer_value(json_object_get(json, "errors"));
    if (end - duration < r->start_ns || end > r->end_ns)
        return;
    flow->bytes += json_integer_value(json_object_get(json, "bytes"));
    flow->messages += json_integer_value(json_object_get(json, "messages"));
    flow->duration_ns += duration;
}

int recorder_flow(struct recorder *r, size_t role, const char *text, size_t length, struct error *e)
{
    struct line line;
    if (lines_parse(text, length, &line, e) != 0)
        return error_prefix(e, "%s: a line of the traffic generator", r->hosts[role].role);
    const char *name = json_string_value(json_object_get(line.json, "flow"));
    struct recorded_flow *flow = name ? recorder_find_flow(r, name) : NULL;
    recorder_shift_time(line.json, r->hosts[role].offset_ns);
    if (line.json)
        lines_write_object(r->flows_file, line.json);
    if (flow && line.kind == LINE_INTERVAL)
        take_interval(r, flow, line.json);
    if (flow && line.kind == LINE_SUMMARY) {
        json_decref(flow->summary);
        flow->summary = json_incref(line.json);
    }
    if (flow && line.kind == LINE_ERROR) {
        const char *status = json_string_value(json_object_get(line.json, "status"));
        const char *said = json_string_value(json_object_get(line.json, "text"));
        flow->errors++;
        recorder_warn(r, "flow %s: %s%s%s", flow->name, status ? status : "", status && said ? ": " : "",
                      said ? said : "");
    }
    lines_free_parsed(&line);
    if (ferror(r->flows_file))
        return error_set_errno(e, errno ? errno : ENOSPC, "writing flows.jsonl");
    return 0;
}

/* ---- summaries */

static void describe_flow(const struct scenario_flow *of, json_t *json)
{
    json_object_set_new(json, "from", json_string(of->from));
    json_object_set_new(json, "to", json_string(of->to));
    json_object_set_new(json, "op", json_string(flow_op_names[of->op]));
    json_object_set_new(json, "mode", json_string(flow_mode_names[of->mode]));
    json_object_set_new(json, "memory", json_string(flow_memory_names[of->memory]));
    json_object_set_new(json, "priority", json_integer(of->priority));
    json_object_set_new(json, "queue_pairs", json_integer(of->queue_pairs));
    json_object_set_new(json, "message_bytes", json_integer(of->message_bytes));
}

static void rates(json_t *json, int64_t bytes, int64_t messages, int64_t duration_ns)
{
    double seconds = (double)duration_ns / 1e9;
    json_object_set_new(json, "bytes", json_integer(bytes));
    json_object_set_new(json, "messages", json_integer(messages));
    json_object_set_new(json, "duration_ns", json_integer(duration_ns));
    if (duration_ns <= 0)
        return;
    json_object_set_new(json, "goodput_bps", json_real((double)bytes * 8 / seconds));
    json_object_set_new(json, "goodput_MiBps", json_real((double)bytes / seconds / 1048576));
    json_object_set_new(json, "messages_per_s", json_real((double)messages / seconds));
}

/* From the generator's summary or, if it never arrived, from the intervals inside the measure phase. */
static json_t *flow_summary(const struct recorded_flow *flow)
{
    static const char *const kept[] = {"latency_ns",    "retransmitted_packets",
                                       "completion_ns", "slowdown",
                                       "by_size",       "flows",
                                       "from",          "to",
                                       "memory_used",   NULL};
    json_t *json = json_object();
    const json_t *s = flow->summary;
    if (flow->of)
        describe_flow(flow->of, json);
    for (size_t i = 0; s && kept[i]; i++)
        if (json_object_get(s, kept[i]))
            json_object_set(json, kept[i], json_object_get(s, kept[i]));
    if (s && json_is_object(json_object_get(s, "memory")))
        json_object_set(json, "memory_used", json_object_get(s, "memory"));
    if (s)
        rates(json, json_integer_value(json_object_get(s, "bytes")),
              json_integer_value(json_object_get(s, "messages")),
              json_integer_value(json_object_get(s, "duration_ns")));
    else
        rates(json, flow->bytes, flow->messages, flow->duration_ns);
    uint64_t errors = s ? (uint64_t)json_integer_value(json_object_get(s, "errors")) : 0;
    json_object_set_new(json, "errors",
                        json_integer((json_int_t)(errors > flow->errors ? errors : flow->errors)));
    json_object_set_new(json, "complete", json_boolean(s && json_is_true(json_object_get(s, "complete"))));
    return json;
}

json_t *recorder_flow_summary(const struct recorder *r)
{
    json_t *flows = json_object();
    for (size_t i = 0; i < r->flow_count; i++)
        json_object_set_new(flows, r->flows[i].name, flow_summary(&r->flows[i]));
    return flows;
}
