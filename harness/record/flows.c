#include "harness/record/recorded.h"

#include "lib/document/json_text.h"
#include "lib/roce/completion.h"
#include "lib/roce/counters.h"
#include "lib/statistics/distribution.h"
#include "lib/xalloc.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines of traffic generators */

struct recorded_flow *recorder_find_flow(struct recorder *r, const char *name)
{
    const json_t *index = json_object_get(r->flow_index, name);
    if (index)
        return &r->flows[json_integer_value(index)];
    r->flows = xreallocarray(r->flows, r->flow_count + 1, sizeof *r->flows);
    r->flows[r->flow_count] = (struct recorded_flow){.name = xstrdup(name)};
    json_object_set_new(r->flow_index, name, json_integer((json_int_t)r->flow_count));
    return &r->flows[r->flow_count++];
}

static void flow_note_quiet(struct recorded_flow *flow, int64_t from_ns, int64_t until_ns)
{
    if (until_ns - from_ns <= flow->longest_ns)
        return;
    flow->longest_ns = until_ns - from_ns;
    flow->longest_end_ns = until_ns;
}

static void flow_take_interval(const struct recorder *r, struct recorded_flow *flow, const json_t *json)
{
    int64_t end = json_integer_value(json_object_get(json, "time_ns"));
    int64_t duration = json_integer_value(json_object_get(json, "duration_ns"));
    int64_t messages = json_integer_value(json_object_get(json, "messages"));
    int64_t bytes = json_integer_value(json_object_get(json, "bytes"));
    flow->live_bps = json_number_value(json_object_get(json, "goodput_bps"));
    flow->errors = recorded_sum(flow->errors, json_integer_value(json_object_get(json, "errors")));
    if (end - duration < r->start_ns || end > r->end_ns)
        return;
    flow->bytes = recorded_sum(flow->bytes, bytes);
    if (end - duration / 2 <= r->start_ns + (r->end_ns - r->start_ns) / 2)
        flow->early_bytes = recorded_sum(flow->early_bytes, bytes);
    flow->intervals++;
    flow->messages = recorded_sum(flow->messages, messages);
    flow->duration_ns = recorded_sum(flow->duration_ns, duration);
    flow->quiet_ns = messages ? 0 : recorded_sum(flow->quiet_ns, duration);
    flow_note_quiet(flow, end - flow->quiet_ns, end);
}

void recorder_note_quiet(struct recorder *r, const char *flow, int64_t from_ns, int64_t until_ns)
{
    flow_note_quiet(recorder_find_flow(r, flow), from_ns, until_ns);
}

static int recorder_write_flow_line(struct recorder *r, const json_t *line, struct error *e)
{
    if (line && lines_write_object(r->flows_file.stream, line) != 0 && errno == EMSGSIZE)
        return error_set(e, "a line of traffic has more than %d bytes", LINES_MAX_LENGTH);
    return record_file_check(&r->flows_file, e);
}

/* Is it the flow's first completion error? Then it is kept, for the end, when its counters are known. */
static bool flow_take_completion(struct recorded_flow *flow, size_t role, const json_t *json,
                                 const char *said)
{
    static const char *const kept[] = {"time_ns", "silent_ns"};
    int status, vendor;
    if (flow->failed || !said || !completion_take_json(json_object_get(json, "completion"), &status, &vendor))
        return false;
    flow->failed = completion_json(status, vendor);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (json_is_integer(json_object_get(json, kept[i])))
            json_object_set(flow->failed, kept[i], json_object_get(json, kept[i]));
    flow->said = strndup(said, (size_t)recorded_words(said));
    flow->failed_at = role;
    return true;
}

static void flow_take_line(struct recorder *r, struct recorded_flow *flow, size_t role,
                           const struct line *line)
{
    if (line->kind == LINE_INTERVAL)
        flow_take_interval(r, flow, line->json);
    if (line->kind == LINE_SUMMARY) {
        json_decref(flow->summary);
        flow->summary = json_incref(line->json);
    }
    if (line->kind == LINE_ERROR) {
        const char *status = json_string_value(json_object_get(line->json, "status"));
        const char *said = json_string_value(json_object_get(line->json, "text"));
        flow->errors = recorded_sum(flow->errors, 1);
        if (!flow_take_completion(flow, role, line->json, said))
            recorder_warn(r, "flow %s: %.*s%s%.*s", flow->name, recorded_words(status), status ? status : "",
                          status && said ? ": " : "", recorded_words(said), said ? said : "");
    }
}

/* A host speaks only of the scenario's flows, so that its names take no memory. */
int recorder_flow(struct recorder *r, size_t role, const char *text, size_t length, struct error *e)
{
    struct recorded_host *host = &r->hosts[role];
    struct line line;
    if (!recorded_host_may_write(r, host, ALLOW_FLOWS, length))
        return 0;
    if (lines_parse(text, length, &line, e) != 0) {
        error_prefix(e, "%s: a line of the traffic generator", host->role);
        return recorded_host_note_damage(host, e);
    }
    const char *name = json_string_value(json_object_get(line.json, "flow"));
    const json_t *known = name ? json_object_get(r->flow_index, name) : NULL;
    int result = name && !known ? error_set(e,
                                            "%s: a line of the traffic generator is about the flow "
                                            "\"%.60s\", which the scenario lacks",
                                            host->role, name)
                                : recorded_host_shift_time(host, line.json, e);
    if (result == 0)
        result = recorder_write_flow_line(r, line.json, e);
    if (result != 0 && !r->flows_file.failed)
        recorded_host_note_damage(host, e);
    if (result == 0 && known)
        flow_take_line(r, &r->flows[json_integer_value(known)], role, &line);
    lines_free_parsed(&line);
    return result;
}

int recorder_flow_object(struct recorder *r, enum line_kind kind, json_t *object, struct error *e)
{
    const struct line line = {.kind = kind, .json = object};
    struct recorded_flow *flow = recorder_find_flow(r, json_string_value(json_object_get(object, "flow")));
    int from = flow->of ? scenario_role_index(r->scenario, flow->of->from) : -1;
    flow_take_line(r, flow, from < 0 ? SIZE_MAX : (size_t)from, &line);
    int result = recorder_write_flow_line(r, object, e);
    json_decref(object);
    return result;
}

/* ---- summaries of flows */

static void add_flow_description(const struct scenario_flow *of, json_t *json)
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

static void add_rates(json_t *json, int64_t bytes, int64_t messages, int64_t duration_ns)
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

static void add_rates_of(const json_t *line, json_t *json)
{
    add_rates(json, json_integer_value(json_object_get(line, "bytes")),
              json_integer_value(json_object_get(line, "messages")),
              json_integer_value(json_object_get(line, "duration_ns")));
}

/* Its rate is over the measure phase, also of a flow with an end. */
static void add_delivered(json_t *json)
{
    const json_t *phase = json_object_get(json, "phase"), *arrived = json_object_get(json, "delivered_bytes");
    double seconds = json_number_value(json_object_get(phase ? phase : json, "duration_ns")) / 1e9;
    if (arrived && seconds > 0)
        json_object_set_new(json, "delivered_bps", json_real(json_number_value(arrived) * 8 / seconds));
}

/* Quantiles of nothing are zeros, which nobody measured. */
static bool is_distribution_of_nothing(const json_t *value)
{
    const json_t *count = json_object_get(value, "count");
    return count && json_integer_value(count) == 0;
}

/* The increases in the run of those counters of an error that the role has, as a new object; NULL: it has
 * none. */
static json_t *role_shows(const struct recorder *r, int role, const char *const names[])
{
    json_t *found = NULL;
    for (size_t i = 0; role >= 0 && names[i]; i++)
        for (size_t c = 0; c < r->hosts[role].count; c++) {
            const struct recorded_column *g = &r->hosts[role].gathered[c];
            if (g->second || !g->seen || strcmp(g->column.name, names[i]) != 0)
                continue;
            found = found ? found : json_object();
            json_object_set_new(found, names[i], json_integer(g->total));
        }
    return found;
}

static int other_end(const struct recorder *r, const struct recorded_flow *flow)
{
    int from = scenario_role_index(r->scenario, flow->of->from),
        to = scenario_role_index(r->scenario, flow->of->to);
    return (size_t)from == flow->failed_at ? to : from;
}

/* The counters that show a flow's completion error at either end: {ROLE: {NAME: increase}}, a new object. */
static json_t *flow_evidence(const struct recorder *r, const struct recorded_flow *flow)
{
    int status, vendor;
    json_t *all = json_object();
    const struct completion_error *row =
        completion_take_json(flow->failed, &status, &vendor) ? completion_find(status, vendor) : NULL;
    if (!row || !flow->of || flow->failed_at == SIZE_MAX)
        return all;
    int ends[] = {(int)flow->failed_at, other_end(r, flow)};
    for (size_t i = 0; i < 2; i++) {
        json_t *found = role_shows(r, ends[i], i ? row->responder : row->requester);
        if (found)
            json_object_set_new(all, r->hosts[ends[i]].role, found);
    }
    return all;
}

void recorded_flow_warn(const struct recorder *r, const struct recorded_flow *flow, json_t *warnings)
{
    json_t *evidence = flow_evidence(r, flow), *counters, *value;
    const char *role, *name;
    struct text words = {0};
    text_add(&words, "flow %s: %s", flow->name, flow->said);
    json_object_foreach(evidence, role, counters)
    {
        size_t moved = 0;
        struct text mute = {0};
        text_add(&words, "; in the run %s counted", role);
        json_object_foreach(counters, name, value)
        {
            if (json_integer_value(value) > 0)
                text_add(&words, "%s %s %" JSON_INTEGER_FORMAT, moved++ ? "," : "", name,
                         json_integer_value(value));
            else if (counters_never_moves_on(name))
                text_add(&mute, " (the 0 of %s says nothing on %s, where it never moves)", name,
                         counters_never_moves_on(name));
        }
        if (!moved)
            text_add(&words, " none of what usually shows it");
        text_add(&words, "%s", text_string(&mute));
        text_free(&mute);
    }
    json_array_append_new(warnings, json_text(text_string(&words)));
    text_free(&words);
    json_decref(evidence);
}

/* From the generator's summary or, if it never arrived, from the intervals inside the measure phase. */
static json_t *flow_summary(const struct recorder *r, const struct recorded_flow *flow)
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
                                       "priority",
                                       "memory_used",
                                       NULL};
    json_t *json = json_object();
    const json_t *s = flow->summary;
    if (flow->of)
        add_flow_description(flow->of, json);
    for (size_t i = 0; s && kept[i]; i++)
        if (json_object_get(s, kept[i]) && !is_distribution_of_nothing(json_object_get(s, kept[i])))
            json_object_set(json, kept[i], json_object_get(s, kept[i]));
    if (s && json_is_object(json_object_get(s, "memory")))
        json_object_set(json, "memory_used", json_object_get(s, "memory"));
    if (s)
        add_rates_of(s, json);
    else if (flow->duration_ns > 0) /* else it is not known */
        add_rates(json, flow->bytes, flow->messages, flow->duration_ns);
    if (json_is_object(json_object_get(s, "phase"))) {
        json_t *phase = json_object();
        add_rates_of(json_object_get(s, "phase"), phase);
        json_object_set_new(json, "phase", phase);
    }
    add_delivered(json);
    int64_t errors = s ? json_integer_value(json_object_get(s, "errors")) : 0;
    json_object_set_new(json, "errors", json_integer(errors > flow->errors ? errors : flow->errors));
    json_object_set_new(json, "complete", json_boolean(s && json_is_true(json_object_get(s, "complete"))));
    if (flow->failed) {
        json_t *failed = json_copy(flow->failed), *evidence = flow_evidence(r, flow);
        json_object_set_new(failed, "counters", evidence);
        json_object_set_new(json, "completion", failed);
    }
    return json;
}

json_t *recorder_flow_summary(const struct recorder *r)
{
    json_t *flows = json_object();
    for (size_t i = 0; i < r->flow_count; i++) {
        const struct recorded_flow *flow = &r->flows[i];
        json_t *json = flow_summary(r, flow), *phase = json_object_get(json, "phase");
        if (flow->of && flow->of->size_bytes != FIELD_UNSET && !phase &&
            json_object_get(json, "bytes")) { /* a real one begins with the phase */
            json_object_set_new(json, "phase", phase = json_object());
            add_rates(phase, json_integer_value(json_object_get(json, "bytes")),
                      json_integer_value(json_object_get(json, "messages")), r->end_ns - r->start_ns);
        }
        json_object_set_new(flows, flow->name, json);
    }
    return flows;
}

/* ---- patterns */

/* Is this flow NAME/0, NAME/1, ... of the pattern NAME? */
static bool is_flow_of_pattern(const char *flow, const char *pattern)
{
    size_t length = strlen(pattern);
    return strncmp(flow, pattern, length) == 0 && flow[length] == '/';
}

/* Figures of several flows together. */
struct pattern_sum {
    int64_t bytes, messages, duration_ns, errors, resent;
    size_t started, finished;
    double *took_ns; /* of those that finished */
    bool counts_resent, complete;
};

static void pattern_sum_add(struct pattern_sum *all, const json_t *part)
{
    const json_t *resent = json_object_get(part, "retransmitted_packets");
    const json_t *took = json_object_get(json_object_get(part, "completion_ns"), "max");
    int64_t duration_ns = json_integer_value(json_object_get(part, "duration_ns"));
    all->bytes = recorded_sum(all->bytes, json_integer_value(json_object_get(part, "bytes")));
    all->messages = recorded_sum(all->messages, json_integer_value(json_object_get(part, "messages")));
    all->errors = recorded_sum(all->errors, json_integer_value(json_object_get(part, "errors")));
    all->resent = recorded_sum(all->resent, json_integer_value(resent));
    all->counts_resent = all->counts_resent || resent;
    all->complete = all->complete && json_is_true(json_object_get(part, "complete"));
    if (duration_ns > all->duration_ns)
        all->duration_ns = duration_ns;
    if (took)
        all->took_ns[all->finished++] = json_number_value(took);
    all->started++;
}

/* The line that the simulated lab writes (docs/lines.md). */
static json_t *pattern_sum_line(const struct pattern_sum *all, const char *pattern, int64_t time_ns)
{
    json_t *line =
        json_make("{s:s,s:s,s:I}", "type", "summary", "flow", pattern, "time_ns", (json_int_t)time_ns);
    add_rates(line, all->bytes, all->messages, all->duration_ns);
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
    struct pattern_sum all = {.complete = true, .took_ns = xcalloc(r->flow_count + 1, sizeof *all.took_ns)};
    for (size_t i = 0; i < r->flow_count; i++)
        if (is_flow_of_pattern(r->flows[i].name, pattern)) {
            json_t *part = flow_summary(r, &r->flows[i]);
            pattern_sum_add(&all, part);
            json_decref(part);
        }
    json_t *line = pattern_sum_line(&all, pattern, time_ns);
    struct recorded_flow *flow = recorder_find_flow(r, pattern);
    free(all.took_ns);
    json_decref(flow->summary);
    flow->summary = json_incref(line);
    int result = recorder_write_flow_line(r, line, e);
    json_decref(line);
    return result;
}

/* ---- how even the rates were */

json_t *recorder_evenness(const struct recorder *r)
{
    json_t *evenness = json_object();
    for (size_t i = 0; i < r->flow_count; i++) {
        const struct recorded_flow *flow = &r->flows[i];
        if (flow->intervals || flow->longest_ns)
            json_put(evenness, flow->name,
                     json_make("{s:I,s:I,s:I,s:I,s:I,s:I}", "quiet_from_ns",
                               (json_int_t)(flow->longest_end_ns - flow->longest_ns - r->start_ns),
                               "quiet_ns", (json_int_t)flow->longest_ns, "messages",
                               (json_int_t)flow->messages, "bytes", (json_int_t)flow->bytes, "early_bytes",
                               (json_int_t)flow->early_bytes, "intervals", (json_int_t)flow->intervals));
    }
    return evenness;
}
