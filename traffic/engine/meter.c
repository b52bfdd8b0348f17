#include "traffic/engine/meter.h"

#include "lib/clock.h"
#include "lib/document/json_text.h"

static struct meter_look read_meter(const struct meter *m, int64_t now_ns)
{
    return (struct meter_look){.time_ns = now_ns,
                               .cpu_ns = engine_cpu_ns(m->engine),
                               .messages = atomic_load_explicit(&m->engine->messages, memory_order_relaxed)};
}

void meter_start(struct meter *m, struct engine *engine, const char *flow, int64_t now_ns, int64_t warmup_ns,
                 int64_t duration_ns, int64_t interval_ns)
{
    m->flow = flow;
    m->engine = engine;
    m->interval_ns = interval_ns;
    m->warmup_end_ns = now_ns + warmup_ns;
    m->end_ns = duration_ns ? m->warmup_end_ns + duration_ns : 0;
    m->measuring = m->done = false;
    m->moved_ns = now_ns;
    m->begin = m->last = m->end = (struct meter_look){.time_ns = now_ns};
    histogram_clear(&m->latest);
    histogram_clear(&m->total);
    if (warmup_ns == 0) {
        m->measuring = true;
        m->next_ns = now_ns + interval_ns;
    }
}

int64_t meter_deadline(const struct meter *m)
{
    if (m->done)
        return METER_NEVER;
    if (!m->measuring)
        return m->warmup_end_ns;
    return m->end_ns && m->end_ns < m->next_ns ? m->end_ns : m->next_ns;
}

static void begin_window(struct meter *m, int64_t now_ns)
{
    m->measuring = true;
    m->begin = m->last = read_meter(m, now_ns);
    m->moved_ns = now_ns;
    m->next_ns = now_ns + m->interval_ns;
    if (m->end_ns) /* a late reading moves the window, it does not shorten it */
        m->end_ns += now_ns - m->warmup_end_ns;
    if (m->engine->plan->latency)
        engine_take_latency(m->engine, &m->latest, NULL);
}

static void add_rates(json_t *line, const struct meter *m, const struct meter_look *from,
                      const struct meter_look *to)
{
    int64_t duration_ns = to->time_ns - from->time_ns;
    uint64_t messages = to->messages - from->messages;
    double bits = (double)messages * (double)m->engine->message_bytes * 8.0;
    json_object_set_new(line, "duration_ns", json_integer(duration_ns));
    json_object_set_new(line, "bytes", json_integer((json_int_t)messages * m->engine->message_bytes));
    json_object_set_new(line, "messages", json_integer((json_int_t)messages));
    json_object_set_new(
        line, "goodput_bps",
        json_integer(duration_ns > 0 ? (json_int_t)(bits * (double)NS_PER_S / (double)duration_ns) : 0));
}

static json_t *close_interval(struct meter *m, struct meter_look now)
{
    json_t *line =
        json_make("{s:s,s:s,s:I,s:I}", "type", "interval", "flow", m->flow, "message_bytes",
                  (json_int_t)m->engine->message_bytes, "time_ns", (json_int_t)clock_realtime_ns());
    add_rates(line, m, &m->last, &now);
    json_object_set_new(line, "errors", json_integer(0));
    if (m->engine->plan->latency) {
        engine_take_latency(m->engine, &m->latest, &m->total);
        json_object_set_new(line, "latency_ns", histogram_json(&m->latest));
    }
    if (now.messages != m->last.messages)
        m->moved_ns = now.time_ns;
    m->last = now;
    while (m->next_ns <= now.time_ns) /* a missed interval is skipped, the next ones keep their times */
        m->next_ns += m->interval_ns;
    return line;
}

json_t *meter_tick(struct meter *m, int64_t now_ns)
{
    if (m->done || now_ns < meter_deadline(m))
        return NULL;
    if (!m->measuring) {
        begin_window(m, now_ns);
        return NULL;
    }
    bool over = (m->end_ns && now_ns >= m->end_ns) || atomic_load(&m->engine->finished);
    return over ? meter_finish(m, now_ns) : close_interval(m, read_meter(m, now_ns));
}

json_t *meter_finish(struct meter *m, int64_t now_ns)
{
    if (m->done)
        return NULL;
    struct meter_look from = m->last;
    m->done = true;
    m->end = read_meter(m, now_ns);
    if (!m->measuring) { /* ended during the warm-up: nothing was measured */
        m->begin = m->end;
        return NULL;
    }
    if (atomic_load(&m->engine->finished)) {
        m->end.time_ns = m->engine->finished_ns;
        m->end.messages = m->engine->target;
    }
    json_t *line = close_interval(m, m->end);
    if (m->end.time_ns > from.time_ns || m->end.messages > from.messages)
        return line;
    json_decref(line); /* the target was reached just before an interval ended: that one had it all */
    return NULL;
}

int64_t meter_silent_ns(const struct meter *m, int64_t now_ns)
{
    struct meter_look now = read_meter(m, now_ns);
    return now.messages == m->last.messages && now_ns > m->moved_ns ? now_ns - m->moved_ns : -1;
}

json_t *meter_summary(const struct meter *m, bool complete, int64_t errors)
{
    int64_t duration_ns = m->end.time_ns - m->begin.time_ns, cpu_ns = m->end.cpu_ns - m->begin.cpu_ns;
    double messages = (double)(m->end.messages - m->begin.messages);
    json_t *line =
        json_make("{s:s,s:s,s:I,s:I}", "type", "summary", "flow", m->flow, "message_bytes",
                  (json_int_t)m->engine->message_bytes, "time_ns", (json_int_t)clock_realtime_ns());
    add_rates(line, m, &m->begin, &m->end);
    json_object_set_new(
        line, "messages_per_s",
        json_integer(duration_ns > 0 ? (json_int_t)(messages * (double)NS_PER_S / (double)duration_ns) : 0));
    json_object_set_new(line, "errors", json_integer(errors));
    if (cpu_ns > 0)
        json_object_set_new(line, "cpu_ns", json_integer(cpu_ns));
    if (m->engine->plan->latency)
        json_object_set_new(line, "latency_ns", histogram_json(&m->total));
    if (m->engine->target && m->end.messages == m->engine->target) {
        double took_ns = (double)duration_ns;
        json_object_set_new(line, "completion_ns",
                            json_make("{s:i,s:f,s:f,s:f,s:f,s:f}", "count", 1, "min", took_ns, "mean",
                                      took_ns, "p50", took_ns, "p99", took_ns, "max", took_ns));
    }
    json_object_set_new(line, "complete", json_boolean(complete));
    return line;
}
