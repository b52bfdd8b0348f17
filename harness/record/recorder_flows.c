/* Lines of traffic generators, and the summaries of flows. */
#include "harness/record/recorder_parts.h"
#include "lib/statistics/distribution.h"
#include "lib/document/json_text.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct recorded_flow *recorder_add_flow(struct recorder *r, const char *name)
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
    flow->errors = recorder_sum(flow->errors, json_integer_value(json_object_get(json, "errors")));
    if (end - duration < r->start_ns || end > r->end_ns)
        return;
    flow->bytes = recorder_sum(flow->bytes, json_integer_value(json_object_get(json, "bytes")));
    flow->messages = recorder_sum(flow->messages, json_integer_value(json_object_get(json, "messages")));
    flow->duration_ns = recorder_sum(flow->duration_ns, duration);
}

static int write_line(struct recorder *r, const json_t *line, struct error *e)
{
    if (line)
        lines_write_object(r->flows_file.stream, line);
    return record_file_check(&r->flows_file, e);
}

static void take_line(struct recorder *r, struct recorded_flow *flow, const struct line *line)
{
    if (line->kind == LINE_INTERVAL)
        take_interval(r, flow, line->json);
    if (line->kind == LINE_SUMMARY) {
        json_decref(flow->summary);
        flow->summary = json_incref(line->json);
    }
    if (line->kind == LINE_ERROR) {
        const char *status = json_string_value(json_object_get(line->json, "status"));
        const char *said = json_string_value(json_object_get(line->json, "text"));
        flow->errors = recorder_sum(flow->errors, 1);
        recorder_warn(r, "flow %s: %.*s%s%.*s", flow->name, recorder_words(status), status ? status : "",
                      status && said ? ": " : "", recorder_words(said), said ? said : "");
    }
}

/* A host speaks only of the scenario's flows, so that its names take no memory. */
int recorder_flow(struct recorder *r, size_t role, const char *text, size_t length, struct error *e)
{
    const struct recorded_host *host = &r->hosts[role];
    struct line line;
    if (lines_parse(text, length, &line, e) != 0)
        return error_prefix(e, "%s: a line of the traffic generator", host->role);
    const char *name = json_string_value(json_object_get(line.json, "flow"));
    const json_t *known = name ? json_object_get(r->flow_index, name) : NULL;
    int result = name && !known ? error_set(e,
                                            "%s: a line of the traffic generator is about the flow "
                                            "\"%.60s\", which the scenario lacks",
                                            host->role, name)
                                : recorder_shift_time(host, line.json, e);
    if (result == 0 && known)
        take_line(r, &r->flows[json_integer_value(known)], &line);
    if (result == 0)
        result = write_line(r, line.json, e);
    lines_free_parsed(&line);
    return result;
}

int recorder_flow_object(struct recorder *r, enum line_kind kind, json_t *object, struct error *e)
{
    const struct line line = {.kind = kind, .json = object};
    struct recorded_flow *flow = recorder_add_flow(r, json_string_value(json_object_get(object, "flow")));
    if (flow)
        take_line(r, flow, &line);
    int result = flow ? write_line(r, object, e) : error_set(e, "out of memory");
    json_decref(object);
    return result;
}

/* ---- summaries */

static void describe_flow(const struct scenario_flow *of, json_t *json)
{
    json_object_set_new(json, "from", json_text(of->from));
    json_object_set_new(json, "to", json_text(of->to));
    json_object_set_new(json, "op", json_text(flow_op_names[of->op]));
    json_object_set_new(json, "mode", json_text(flow_mode_names[of->mode]));
    json_object_set_new(json, "memory", json_text(flow_memory_names[of->memory]));
    if (of->numa >= 0)
        json_object_set_new(json, "numa", json_text(flow_numa_names[of->numa]));
    if (of->relaxed_ordering >= 0)
        json_object_set_new(json, "relaxed_ordering", json_boolean(of->relaxed_ordering));
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

/* Quantiles of nothing are zeros, which nobody measured. */
static bool of_nothing(const json_t *value)
{
    const json_t *count = json_object_get(value, "count");
    return count && json_integer_value(count) == 0;
}

/* From the generator's summary or, if it never arrived, from the intervals inside the measure phase. */
static json_t *flow_summary(const struct recorded_flow *flow)
{
    static const char *const kept[] = {"latency_ns",
                                       "retransmitted_packets",
                                       "delivered_bytes",
                                       "marked_packets",
                                       "decreases",
                                       "increases",
                                       "error",
                                       "completion_ns",
                                       "slowdown",
                                       "by_size",
                                       "flows",
                                       "from",
                                       "to",
                                       "memory_used",
                                       NULL};
    json_t *json = json_object();
    const json_t *s = flow->summary;
    if (flow->of)
        describe_flow(flow->of, json);
    for (size_t i = 0; s && kept[i]; i++)
        if (json_object_get(s, kept[i]) && !of_nothing(json_object_get(s, kept[i])))
            json_object_set(json, kept[i], json_object_get(s, kept[i]));
    if (s && json_is_object(json_object_get(s, "memory")))
        json_object_set(json, "memory_used", json_object_get(s, "memory"));
    if (s)
        rates(json, json_integer_value(json_object_get(s, "bytes")),
              json_integer_value(json_object_get(s, "messages")),
              json_integer_value(json_object_get(s, "duration_ns")));
    else
        rates(json, flow->bytes, flow->messages, flow->duration_ns);
    int64_t errors = s ? json_integer_value(json_object_get(s, "errors")) : 0;
    json_object_set_new(json, "errors", json_integer(errors > flow->errors ? errors : flow->errors));
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

/* ---- patterns */

/* Is this flow NAME/0, NAME/1, ... of the pattern NAME? */
static bool is_part(const char *flow, const char *pattern)
{
    size_t length = strlen(pattern);
    return strncmp(flow, pattern, length) == 0 && flow[length] == '/';
}

/* Figures of several flows together. */
struct together {
    int64_t bytes, messages, duration_ns, errors, resent;
    size_t started, finished;
    double *took_ns; /* of those that finished */
    bool counts_resent, complete;
};

static void take_part(struct together *all, const json_t *part)
{
    const json_t *resent = json_object_get(part, "retransmitted_packets");
    const json_t *took = json_object_get(json_object_get(part, "completion_ns"), "max");
    int64_t duration_ns = json_integer_value(json_object_get(part, "duration_ns"));
    all->bytes = recorder_sum(all->bytes, json_integer_value(json_object_get(part, "bytes")));
    all->messages = recorder_sum(all->messages, json_integer_value(json_object_get(part, "messages")));
    all->errors = recorder_sum(all->errors, json_integer_value(json_object_get(part, "errors")));
    all->resent = recorder_sum(all->resent, json_integer_value(resent));
    all->counts_resent = all->counts_resent || resent;
    all->complete = all->complete && json_is_true(json_object_get(part, "complete"));
    if (duration_ns > all->duration_ns)
        all->duration_ns = duration_ns;
    if (took)
        all->took_ns[all->finished++] = json_number_value(took);
    all->started++;
}

/* The line that the simulated lab writes (docs/lines.md). */
static json_t *together_line(const struct together *all, const char *pattern, int64_t time_ns)
{
    json_t *line =
        json_make("{s:s,s:s,s:I}", "type", "summary", "flow", pattern, "time_ns", (json_int_t)time_ns);
    rates(line, all->bytes, all->messages, all->duration_ns);
    json_object_set_new(line, "errors", json_integer(all->errors));
    if (all->counts_resent)
        json_object_set_new(line, "retransmitted_packets", json_integer(all->resent));
    json_object_set_new(
        line, "flows",
        json_make("{s:I,s:I}", "started", (json_int_t)all->started, "finished", (json_int_t)all->finished));
    if (all->finished)
        json_object_set_new(line, "completion_ns", distribution_json(all->took_ns, all->finished));
    json_object_set_new(line, "complete", json_boolean(all->complete));
    return line;
}

int recorder_pattern(struct recorder *r, const char *pattern, int64_t time_ns, struct error *e)
{
    struct together all = {.complete = true, .took_ns = calloc(r->flow_count + 1, sizeof *all.took_ns)};
    if (!all.took_ns)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < r->flow_count; i++)
        if (is_part(r->flows[i].name, pattern)) {
            json_t *part = flow_summary(&r->flows[i]);
            take_part(&all, part);
            json_decref(part);
        }
    json_t *line = together_line(&all, pattern, time_ns);
    struct recorded_flow *flow = recorder_add_flow(r, pattern);
    free(all.took_ns);
    if (flow) {
        json_decref(flow->summary);
        flow->summary = json_incref(line);
    }
    int result = write_line(r, line, e);
    json_decref(line);
    return flow ? result : error_set(e, "out of memory");
}
