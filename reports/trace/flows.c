#include "lib/document/json_text.h"
#include "reports/results/lines.h"
#include "reports/trace/parts.h"
#include <stdlib.h>
#include <string.h>

#define FLOWS_MOST 65536

/* A flow of flows.jsonl. */
struct flow_state {
    uint64_t track, goodput, latency; /* 0: not made */
    bool seen;
    int64_t start_ns, end_ns; /* of its intervals */
    const json_t *result;     /* its entry in result.json, or NULL */
};

struct flow_reader {
    struct trace_parts *parts;
    struct flow_state *flows;
    size_t count, capacity;
    json_t *index; /* name -> number */
    uint64_t group, left_out;
};

static struct flow_state *flow_of(struct flow_reader *r, const char *name)
{
    const json_t *known = json_object_get(r->index, name);
    if (known)
        return &r->flows[json_integer_value(known)];
    if (r->count >= FLOWS_MOST)
        return NULL;
    if (r->count == r->capacity) {
        size_t larger = r->capacity ? 2 * r->capacity : 64;
        struct flow_state *flows = realloc(r->flows, larger * sizeof *flows);
        if (!flows)
            return NULL;
        r->flows = flows;
        r->capacity = larger;
    }
    if (json_put(r->index, name, json_integer((json_int_t)r->count)) != 0)
        return NULL;
    r->flows[r->count] =
        (struct flow_state){.result = json_object_get(run_get(r->parts->run, "flows"), name)};
    return &r->flows[r->count++];
}

static void make_tracks(struct flow_reader *r, struct flow_state *flow, const char *name)
{
    struct trace_writer *w = &r->parts->writer;
    struct text title = {0};
    const char *origin = run_origin(r->parts->run);
    if (!r->group) {
        text_add(&title, "flows%s%s%s", origin ? " (" : "", origin ? origin : "", origin ? ")" : "");
        r->group = trace_track(w, 0, 0, text_string(&title));
    }
    text_free(&title);
    flow->track = trace_track(w, r->group, (int)r->count, name);
    flow->goodput = trace_counter_track(w, flow->track, 0, "goodput", "Gb/s");
}

/* A line's time is the end of the interval; its values are drawn from the interval's beginning on. */
static void take_interval(struct flow_reader *r, struct flow_state *flow, const json_t *line, int64_t end_ns)
{
    struct trace_writer *w = &r->parts->writer;
    const json_t *latency = json_object_get(json_object_get(line, "latency_ns"), "p99");
    int64_t start_ns = end_ns - json_integer_value(json_object_get(line, "duration_ns"));
    if (!flow->seen || start_ns < flow->start_ns)
        flow->start_ns = start_ns;
    if (!flow->seen || end_ns > flow->end_ns)
        flow->end_ns = end_ns;
    flow->seen = true;
    trace_count(w, flow->goodput, start_ns, json_number_value(json_object_get(line, "goodput_bps")) / 1e9);
    if (latency && !flow->latency)
        flow->latency = trace_counter_track(w, flow->track, 1, "latency p99", "us");
    if (latency)
        trace_count(w, flow->latency, start_ns, json_number_value(latency) / 1e3);
}

static void take_error(struct flow_reader *r, const struct flow_state *flow, const json_t *line,
                       int64_t time_ns)
{
    const struct trace_note note = {"text", run_member(line, "text"), 0};
    trace_instant(&r->parts->writer,
                  &(struct trace_event){.track = flow->track,
                                        .time_ns = time_ns,
                                        .name = trace_name(&r->parts->writer, run_member(line, "status")),
                                        .notes = &note,
                                        .note_count = 1});
}

static int take_line(void *to, char *text, size_t length, struct error *e)
{
    struct flow_reader *r = to;
    struct line line;
    if (lines_parse(text, length, &line, e) != 0)
        return LINE_DAMAGED;
    const char *name = run_member(line.json, "flow");
    bool is_drawn = *name && (line.kind == LINE_INTERVAL || line.kind == LINE_ERROR);
    struct flow_state *flow = is_drawn ? flow_of(r, name) : NULL;
    r->left_out += is_drawn && !flow;
    if (flow && !flow->track)
        make_tracks(r, flow, name);
    if (flow && line.kind == LINE_INTERVAL)
        take_interval(r, flow, line.json, line.time_ns);
    else if (flow)
        take_error(r, flow, line.json, line.time_ns);
    lines_free_parsed(&line);
    return trace_writer_check(&r->parts->writer, r->parts->path, e);
}

/* ---- the flow itself */

static size_t notes_of(const json_t *result, struct trace_note *notes, size_t most)
{
    static const char *const keys[] = {"from",          "to",          "op",       "memory",
                                       "priority",      "queue_pairs", "bytes",    "messages",
                                       "message_bytes", "goodput_bps", "complete", "error"};
    size_t count = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && count < most; i++) {
        const json_t *value = json_object_get(result, keys[i]);
        if (json_is_string(value) || json_is_number(value))
            notes[count++] = (struct trace_note){keys[i], json_string_value(value), json_number_value(value)};
        else if (json_is_boolean(value))
            notes[count++] = (struct trace_note){keys[i], json_is_true(value) ? "true" : "false", 0};
    }
    return count;
}

/* A flow that ended states when it began and ended; others last as long as their intervals. */
static void take_end(const struct flow_state *flow, int64_t *start_ns, int64_t *end_ns)
{
    const json_t *completion = json_object_get(flow->result, "completion_ns");
    const json_t *begin = json_object_get(completion, "begin"), *end = json_object_get(completion, "end");
    double from = json_number_value(begin), to = json_number_value(end);
    *start_ns = flow->start_ns;
    *end_ns = flow->end_ns;
    if (!begin || !end || !(from >= 0) || !(to >= from) || !(to <= (double)LINES_MOST))
        return;
    *start_ns = (int64_t)from;
    *end_ns = (int64_t)to;
}

static void finish_flow(struct flow_reader *r, const char *name, const struct flow_state *flow)
{
    struct trace_note notes[TRACE_NOTES_MOST];
    struct trace_writer *w = &r->parts->writer;
    struct trace_lane lane = {.track = flow->track};
    int64_t start_ns, end_ns;
    if (!flow->seen)
        return;
    take_end(flow, &start_ns, &end_ns);
    trace_count(w, flow->goodput, flow->end_ns, 0);
    trace_slice(w, &lane,
                &(struct trace_event){.time_ns = start_ns,
                                      .name = trace_name(w, name),
                                      .notes = notes,
                                      .note_count = notes_of(flow->result, notes, TRACE_NOTES_MOST)},
                end_ns);
}

/* A large pattern has neither lines nor entries of the single flows; one whose flows are drawn does
 * not count. */
static uint64_t without_intervals(const struct flow_reader *r)
{
    const json_t *flows = run_get(r->parts->run, "flows");
    uint64_t count = 0;
    const char *name;
    json_t *flow;
    json_object_foreach((json_t *)(uintptr_t)flows, name, flow)
    {
        struct text part = {0};
        text_add(&part, "%s/0", name);
        count += !json_object_get(r->index, name) && !json_object_get(flows, text_string(&part));
        text_free(&part);
    }
    return count;
}

int trace_flows(struct trace_parts *t, struct error *e)
{
    struct flow_reader r = {.parts = t, .index = json_object()};
    const char *name;
    json_t *number;
    if (!r.index)
        return error_set(e, "out of memory for the flows");
    int result = run_each_line(t->run, "flows.jsonl", take_line, &r, e);
    json_object_foreach(r.index, name, number)
    {
        if ((size_t)json_integer_value(number) < r.count)
            finish_flow(&r, name, &r.flows[json_integer_value(number)]);
    }
    trace_left_out(t, r.left_out, "intervals of flows beyond a limit");
    trace_left_out(t, without_intervals(&r), "flows or patterns of flows without intervals");
    free(r.flows);
    json_decref(r.index);
    return result;
}
