#include "traffic/flow_side.h"

#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/roce/completion.h"
#include "traffic/connection/numa.h"
#include "traffic/engine/pattern.h"
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALIVE_NS      (500 * NS_PER_MS) /* time between "alive" messages */
#define DRAIN_NS      (30LL * NS_PER_S) /* longer than all retries of a queue pair with default values */
#define LAST_WORDS_NS (3LL * NS_PER_S)  /* after a failed work request, to receive the other side's reason */

/* The two directions have different patterns. */
static uint32_t pattern_seed(bool from_driver)
{
    return from_driver ? 1 : 2;
}

static const char *flow_side_flow(const struct flow_side *s)
{
    return s->driver ? s->plan->flow : s->plan->reverse;
}

bool flow_side_sends(const struct flow_side *s)
{
    /* only the driver counts the answers of a ping-pong */
    return s->driver || s->plan->bidirectional;
}

/* ---- opening */

/* Before memory is allocated and the engine's thread is started, which runs where this one does. */
static int place_on_node(struct flow_side *s, const struct local_options *local, struct error *e)
{
    struct numa_place found;
    s->numa_node = local->numa_node;
    if (s->plan->numa < 0)
        return 0;
    if (local->numa_node >= 0)
        return error_set(e, "flow %s: numa %s chooses the NUMA node: leave out --numa-node", s->plan->flow,
                         flow_numa_names[s->plan->numa]);
    if (numa_find("", s->device.name, (enum flow_numa)s->plan->numa, &found, e) != 0 ||
        numa_pin(&found, e) != 0)
        return error_prefix(e, "flow %s, numa %s", s->plan->flow, flow_numa_names[s->plan->numa]);
    s->numa_node = found.node;
    return 0;
}

static int open_memory(struct flow_side *s, const struct local_options *local, int kind, struct error *e)
{
    int64_t half = plan_half_bytes(s->plan);
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, s->plan->gpu);
    s->outgoing = 0;
    s->incoming = plan_has_outgoing(s->plan, s->driver) ? half : 0;
    struct memory_request request = {
        .kind = kind,
        .bytes = s->incoming + (plan_has_incoming(s->plan, s->driver) ? half : 0),
        .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                  (s->plan->relaxed_ordering ? IBV_ACCESS_RELAXED_ORDERING : 0),
        .pd = s->pd,
        .gpu = !s->driver && s->plan->gpu != FIELD_UNSET ? number : local->gpu,
        .numa_node = s->numa_node,
        .huge_pages = local->huge_pages > 0,
    };
    return memory_open(&s->memory, &request, e);
}

static int check_memory(const struct flow_side *s, struct error *e)
{
    if (!s->memory.back_end->gpu)
        return 0;
    if (s->plan->mode == MODE_LATENCY && s->plan->operation == OP_WRITE)
        return error_set(
            e,
            "ping-pong with writes polls memory with the CPU, which cannot access the GPU's: use write-imm "
            "or send");
    return s->plan->inline_bytes && s->plan->mode == MODE_BANDWIDTH
               ? error_set(e, "inline messages are copied by the CPU, which cannot read the GPU's memory: "
                              "leave out --inline")
               : 0;
}

int flow_side_open(struct flow_side *s, const struct local_options *local, int memory_kind, struct error *e)
{
    if (rdma_device_open(&s->device, local, s->plan->connection, s->control.local, e) != 0)
        return -1;
    if (!(s->pd = ibv_alloc_pd(s->device.context)))
        return error_set_errno(e, errno, "creating a protection domain on %s", s->device.name);
    if (place_on_node(s, local, e) != 0 || open_memory(s, local, memory_kind, e) != 0 ||
        check_memory(s, e) != 0)
        return -1;
    s->arrived = calloc((size_t)s->plan->queue_pairs, sizeof *s->arrived);
    s->arrived_before = calloc((size_t)s->plan->queue_pairs, sizeof *s->arrived);
    if (!s->arrived || !s->arrived_before)
        return error_set(e, "out of memory");
    s->connection = (struct connection){
        .plan = s->plan, .driver = s->driver, .stop_fd = s->stop_fd, .device = &s->device, .pd = s->pd};
    s->mine.outgoing_address = (int64_t)s->memory.address + s->outgoing;
    s->mine.incoming_address = (int64_t)s->memory.address + s->incoming;
    s->mine.remote_key = s->memory.mr->rkey;
    s->mine.route = strdup(s->memory.back_end->name);
    return connection_open(&s->connection, &s->mine, e);
}

/* ---- rate limits in hardware */

/* Can the device pace reliable connections at this rate (kbit/s)? ibv_query_device_ex: packet_pacing_caps. */
static bool device_paces(const struct flow_side *s, uint32_t rate_kbps)
{
    struct ibv_device_attr_ex attributes;
    if (ibv_query_device_ex(s->device.context, NULL, &attributes) != 0)
        return false;
    const struct ibv_packet_pacing_caps *caps = &attributes.packet_pacing_caps;
    return (caps->supported_qpts & (1U << IBV_QPT_RC)) && rate_kbps >= caps->qp_rate_limit_min &&
           rate_kbps <= caps->qp_rate_limit_max;
}

static int pace_in_hardware(struct flow_side *s, struct error *e)
{
    int64_t each_kbps = s->plan->rate_bps / s->plan->queue_pairs / 1000;
    bool can = each_kbps > 0 && each_kbps <= UINT32_MAX && device_paces(s, (uint32_t)each_kbps);
    if (!s->plan->rate_bps || s->plan->pacing == PACING_SOFTWARE)
        return 0;
    if (!can && s->plan->pacing == PACING_HARDWARE)
        return error_set(e,
                         "device %s cannot pace reliable connections at %" PRId64
                         " kbit/s each in hardware: use "
                         "--pacing software",
                         s->device.name, each_kbps);
    if (!can)
        return 0;
    struct ibv_qp_rate_limit_attr limit = {.rate_limit = (uint32_t)each_kbps};
    for (int64_t i = 0; i < s->plan->queue_pairs; i++) {
        int number = ibv_modify_qp_rate_limit(s->connection.pairs[i], &limit);
        if (number)
            return error_set_errno(e, number, "setting a rate limit of %" PRId64 " kbit/s", each_kbps);
    }
    s->hardware_pacing = true;
    return 0;
}

int flow_side_connect(struct flow_side *s, struct error *e)
{
    uint64_t base = s->memory.address;
    if (connection_connect(&s->connection, &s->peer, e) != 0)
        return -1;
    if (flow_side_sends(s) && pace_in_hardware(s, e) != 0)
        return -1;
    if (engine_open(&s->engine, &s->connection, &s->memory, base + (uint64_t)s->outgoing,
                    base + (uint64_t)s->incoming, &s->peer, e) != 0)
        return -1;
    s->engine.rests = rdma_device_virtual(&s->device);
    s->engine.explains_vendor = rdma_device_mlx5(&s->device);
    return 0;
}

static void free_endpoint(struct endpoint *endpoint)
{
    struct message message = {.type = MESSAGE_ENDPOINT, .endpoint = *endpoint};
    wire_free(&message);
    *endpoint = (struct endpoint){0};
}

void flow_side_close(struct flow_side *s)
{
    flow_side_quit(s);
    engine_close(&s->engine);
    connection_close(&s->connection);
    if (s->memory.back_end)
        memory_close(&s->memory);
    if (s->pd)
        ibv_dealloc_pd(s->pd);
    if (s->device.list)
        rdma_device_close(&s->device);
    control_close(&s->control);
    free_endpoint(&s->mine);
    free_endpoint(&s->peer);
    free(s->result.text);
    free(s->arrived);
    free(s->arrived_before);
    s->arrived = s->arrived_before = NULL;
    s->result = (struct result){0};
    s->pd = NULL;
}

/* ---- a phase */

/* --flip: the byte is corrupted at the sender of the driver's direction; for reads this is the server. */
static int spoil(struct flow_side *s, struct error *e)
{
    bool source = s->plan->operation == OP_READ ? !s->driver : s->driver;
    if (s->plan->flip < 0 || !source)
        return 0;
    if (s->plan->flip >= plan_half_bytes(s->plan))
        return error_set(e, "--flip %" PRId64 ": only %" PRId64 " bytes are sent from", s->plan->flip,
                         plan_half_bytes(s->plan));
    return pattern_flip(&s->memory, s->outgoing + s->plan->flip, e);
}

static int write_patterns(struct flow_side *s, int64_t message_bytes, struct error *e)
{
    bool out = plan_has_outgoing(s->plan, s->driver), in = plan_has_incoming(s->plan, s->driver);
    if (out &&
        pattern_write(&s->memory, s->outgoing, s->plan, pattern_seed(s->driver), message_bytes, e) != 0)
        return -1;
    if (out && spoil(s, e) != 0)
        return -1;
    return in ? pattern_erase(&s->memory, s->incoming, s->plan, pattern_seed(!s->driver), message_bytes, e)
              : 0;
}

/* A ping-pong with writes waits until the last byte of a message changes: the byte must have another value
 * before. */
static int clear_ball(struct flow_side *s, int64_t message_bytes, struct error *e)
{
    static const unsigned char nothing = 0;
    if (s->plan->mode != MODE_LATENCY || s->plan->operation != OP_WRITE)
        return 0;
    return s->memory.back_end->put(&s->memory, s->incoming + message_bytes - 1, &nothing, 1, e);
}

int flow_side_prepare(struct flow_side *s, int64_t message_bytes, int64_t count, struct error *e)
{
    s->got_ready = s->got_start = s->got_stop = s->got_drained = s->got_result = s->got_phase = false;
    s->got_summary = s->said_stop = false;
    s->errors = 0;
    s->metered = s->phase_reported = false;
    memcpy(s->arrived_before, s->arrived, (size_t)s->plan->queue_pairs * sizeof *s->arrived);
    if ((s->plan->validate && write_patterns(s, message_bytes, e) != 0) ||
        clear_ball(s, message_bytes, e) != 0)
        return -1;
    return engine_prepare(&s->engine, message_bytes, flow_side_sends(s) ? (uint64_t)count : 0,
                          !s->hardware_pacing, e);
}

int flow_side_begin(struct flow_side *s, const struct start *start, struct error *e)
{
    int64_t begin_ns = clock_monotonic_ns() + start->start_in_ns;
    while (clock_monotonic_ns() < begin_ns && !s->stopping && !s->got_stop)
        if (flow_side_pump(s, begin_ns, e) != 0)
            return -1;
    if (flow_side_sends(s)) {
        meter_start(&s->meter, &s->engine, flow_side_flow(s), clock_monotonic_ns(), start->warmup_ns,
                    start->duration_ns, s->plan->interval_ns);
        s->metered = true;
    }
    return 0;
}

int flow_side_post(struct flow_side *s, struct error *e)
{
    return s->engine.sends || s->engine.receives ? engine_start(&s->engine, e) : 0;
}

/* ---- waiting */

static int take_sent(struct flow_side *s, const struct sent *sent, struct error *e)
{
    size_t pairs = (size_t)s->plan->queue_pairs;
    if (sent->counts.count != 0 && sent->counts.count != pairs)
        return error_set(e, "%s reports messages of %zu queue pairs: expected %zu", s->control.peer,
                         sent->counts.count, pairs);
    if (sent->counts.count)
        memcpy(s->arrived, sent->counts.items, pairs * sizeof *s->arrived);
    return 0;
}

/* What a server says of its direction: the figures of a summary and an interval are counts. */
static bool is_of_flow(const json_t *line, const char *reverse)
{
    static const char *const types[] = {"header", "interval", "summary"};
    static const char *const counts[] = {"messages", "bytes", "duration_ns", "goodput_bps", "errors"};
    const char *flow = json_string_value(json_object_get(line, "flow")),
               *type = json_string_value(json_object_get(line, "type"));
    bool known = false;
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        known = known || strcmp(type, types[i]) == 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const json_t *count = json_object_get(line, counts[i]);
        known = known && (!count || (json_is_integer(count) && json_integer_value(count) >= 0));
    }
    return known && flow && strcmp(flow, reverse) == 0;
}

/* A line of the server's direction, with the time of this host's clock, because the other host's clock may
 * differ. */
static int pass_on(struct flow_side *s, json_t *line, struct error *e)
{
    if (!s->plan->bidirectional || !is_of_flow(line, s->plan->reverse))
        return error_set(e, "%s sent a line that does not belong to flow \"%s\"", s->control.peer,
                         s->plan->reverse);
    if (strcmp(json_string_value(json_object_get(line, "type")), "summary") == 0)
        s->got_summary = true;
    json_object_set_new(line, "time_ns", json_integer(clock_realtime_ns()));
    output_line(s->output, json_incref(line));
    return 0;
}

static int take_message(struct flow_side *s, struct message *m, struct error *e)
{
    bool *flags[MESSAGE_TYPES] = {
        [MESSAGE_READY] = &s->got_ready,   [MESSAGE_START] = &s->got_start,
        [MESSAGE_STOP] = &s->got_stop,     [MESSAGE_DRAINED] = &s->got_drained,
        [MESSAGE_RESULT] = &s->got_result, [MESSAGE_FINISH] = &s->got_finish,
        [MESSAGE_PHASE] = &s->got_phase,
    };
    bool from_driver = m->type == MESSAGE_START || m->type == MESSAGE_STOP || m->type == MESSAGE_FINISH ||
                       m->type == MESSAGE_PHASE;
    if (m->type == MESSAGE_ALIVE)
        return 0;
    if (m->type == MESSAGE_LINE && s->driver)
        return pass_on(s, m->line.line, e);
    bool early = s->driver && !s->said_stop && (m->type == MESSAGE_DRAINED || m->type == MESSAGE_RESULT);
    if (!flags[m->type] || early || (from_driver ? s->driver : !s->driver && m->type != MESSAGE_DRAINED))
        return error_set(e, "%s sent \"%s\" at the wrong time", s->control.peer, wire_name(m->type));
    *flags[m->type] = true;
    if ((m->type == MESSAGE_STOP || m->type == MESSAGE_DRAINED) && take_sent(s, &m->sent, e) != 0)
        return -1;
    if (m->type == MESSAGE_START)
        s->start = m->start;
    if (m->type == MESSAGE_PHASE)
        s->phase = m->phase;
    if (m->type == MESSAGE_RESULT) {
        free(s->result.text);
        s->result = m->result;
        m->result.text = NULL;
    }
    return 0;
}

/* Read what has arrived. If the connection has ended, the messages before its end are handled first. */
static int take_messages(struct flow_side *s, struct error *e)
{
    struct error gone = {{0}};
    struct message message;
    int got, ended = control_fill(&s->control, &gone);
    while ((got = control_next(&s->control, &message, e)) > 0) {
        int result = take_message(s, &message, e);
        wire_free(&message);
        if (result != 0)
            return -1;
    }
    if (got < 0)
        return -1;
    if (ended == 0 || s->got_finish)
        return 0;
    s->peer_gone = true;
    return error_set(e, "%s", gone.text);
}

/* Send and expect "alive" messages. A side that writes or checks patterns is silent meanwhile. Therefore the
 * time limit is longer when no traffic is running. */
static int keep_alive(struct flow_side *s, int64_t now_ns, struct error *e)
{
    int64_t limit_ns = s->plan->peer_timeout_ns;
    if (!s->metered && !s->engine.running && limit_ns < FLOW_SIDE_PATIENCE_NS)
        limit_ns = FLOW_SIDE_PATIENCE_NS;
    s->peer_gone = now_ns - s->control.heard_ns > limit_ns;
    if (s->peer_gone)
        return error_set(e,
                         "the other side (%s) has sent nothing for %.1f s: its host or the network is down",
                         s->control.peer, (double)(now_ns - s->control.heard_ns) / (double)NS_PER_S);
    return now_ns - s->control.said_ns >= ALIVE_NS ? control_say(&s->control, MESSAGE_ALIVE, e) : 0;
}

/* If the engine failed because the other side ended, the error should say that: its last messages may still
 * be in transit. If the other side sends messages long after the failure, and again after that, it is alive,
 * and the engine's failure is the error; once is not enough, since a busy host reads late what was sent
 * before. */
static int engine_failure(struct flow_side *s, struct error *e)
{
    int64_t begin_ns = clock_monotonic_ns(), after_ns = begin_ns + ALIVE_NS;
    struct error words = {{0}}, found;
    flow_side_quit(s);
    found = s->engine.error;
    s->silent_ns = s->metered ? meter_silent_ns(&s->meter, begin_ns) : 0;
    if (s->engine.status == IBV_WC_RETRY_EXC_ERR && s->silent_ns > 0)
        error_set(&found, "%.900s; no message was completed in the last %.3f s", s->engine.error.text,
                  (double)s->silent_ns / (double)NS_PER_S);
    for (int heard = 0; heard < 2 && clock_monotonic_ns() < begin_ns + LAST_WORDS_NS;) {
        struct pollfd fd = {.fd = s->control.fd, .events = POLLIN};
        if (poll(&fd, 1, (int)(ALIVE_NS / NS_PER_MS)) > 0 && take_messages(s, &words) != 0)
            return error_set(e, "%.400s [%.500s]", words.text, found.text);
        if (s->control.heard_ns < after_ns)
            continue;
        heard++;
        after_ns = s->control.heard_ns + ALIVE_NS / 2;
    }
    return error_set(e, "%s", found.text);
}

static void clear_event(int fd)
{
    uint64_t count;
    ssize_t n = read(fd, &count, sizeof count);
    (void)n; /* the event only wakes the loop */
}

static int64_t earliest(const struct flow_side *s, int64_t deadline_ns)
{
    int64_t alive_ns = s->control.said_ns + ALIVE_NS;
    int64_t meter_ns = s->metered ? meter_deadline(&s->meter) : METER_NEVER;
    if (alive_ns < deadline_ns)
        deadline_ns = alive_ns;
    return meter_ns < deadline_ns ? meter_ns : deadline_ns;
}

int flow_side_pump(struct flow_side *s, int64_t deadline_ns, struct error *e)
{
    struct pollfd fds[3] = {{.fd = s->control.fd, .events = POLLIN},
                            {.fd = s->engine.plan ? s->engine.event_fd : -1, .events = POLLIN},
                            {.fd = s->heed_stop && !s->stopping ? s->stop_fd : -1, .events = POLLIN}};
    int64_t wait_ns = earliest(s, deadline_ns) - clock_monotonic_ns();
    struct timespec wait = {.tv_sec = wait_ns > 0 ? wait_ns / NS_PER_S : 0,
                            .tv_nsec = wait_ns > 0 ? wait_ns % NS_PER_S : 0};
    if (ppoll(fds, 3, &wait, NULL) < 0 && errno != EINTR)
        return error_set_errno(e, errno, "waiting");
    if (fds[0].revents && take_messages(s, e) != 0)
        return -1;
    if (fds[1].revents)
        clear_event(s->engine.event_fd);
    if (s->engine.plan && atomic_load(&s->engine.failed))
        return engine_failure(s, e);
    if (fds[2].revents && !s->driver)
        return error_set(e, "this server was stopped");
    if (fds[2].revents)
        s->stopping = true;
    if (s->metered) {
        json_t *line = meter_tick(&s->meter, clock_monotonic_ns());
        if (line)
            flow_side_line(s, line);
    }
    return keep_alive(s, clock_monotonic_ns(), e);
}

int flow_side_await(struct flow_side *s, const bool *flag, int64_t timeout_ns, const char *what,
                    struct error *e)
{
    int64_t deadline_ns = clock_monotonic_ns() + timeout_ns;
    while (!*flag) {
        if (clock_monotonic_ns() >= deadline_ns)
            return error_set(e, "the other side (%s) is not %s after %.0f s", s->control.peer, what,
                             (double)timeout_ns / (double)NS_PER_S);
        if (flow_side_pump(s, deadline_ns, e) != 0)
            return -1;
    }
    return 0;
}

/* ---- the end of a phase */

int flow_side_drain(struct flow_side *s, struct error *e)
{
    int64_t deadline_ns = clock_monotonic_ns() + DRAIN_NS;
    if (!s->engine.running)
        return 0;
    engine_tell(&s->engine, ENGINE_STOP);
    while (!atomic_load(&s->engine.drained)) {
        if (clock_monotonic_ns() >= deadline_ns)
            return error_set(e,
                             "messages in flight are not completed after %lld s: there is no answer from the "
                             "other side (is a "
                             "link down, are packets dropped?)",
                             DRAIN_NS / NS_PER_S);
        if (flow_side_pump(s, deadline_ns, e) != 0)
            return -1;
    }
    return 0;
}

void flow_side_quit(struct flow_side *s)
{
    if (!s->engine.plan)
        return;
    engine_tell(&s->engine, ENGINE_QUIT);
    engine_join(&s->engine);
}

void flow_side_close_window(struct flow_side *s)
{
    json_t *line = s->metered ? meter_finish(&s->meter, clock_monotonic_ns()) : NULL;
    if (line)
        flow_side_line(s, line);
}

void flow_side_report(struct flow_side *s, bool complete)
{
    if (!s->metered || s->phase_reported)
        return;
    s->phase_reported = true;
    flow_side_close_window(s);
    json_t *line = meter_summary(&s->meter, complete, s->errors);
    json_object_set_new(line, "memory", memory_json(&s->memory));
    flow_side_line(s, line);
}

int flow_side_say_sent(struct flow_side *s, enum message_type type, struct error *e)
{
    struct message message = {.type = type};
    size_t count = flow_side_sends(s) || s->plan->mode == MODE_LATENCY ? s->engine.count : 0;
    int64_t *counts = calloc(count + 1, sizeof *counts);
    if (!counts)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < count; i++)
        counts[i] = (int64_t)s->engine.queues[i].sent;
    message.sent.counts = (struct list_of){counts, count};
    s->said_stop = s->said_stop || type == MESSAGE_STOP;
    int result = control_send(&s->control, &message, e);
    free(counts);
    return result;
}

void flow_side_counts(const struct flow_side *s, int64_t *sent, int64_t *arrived)
{
    *sent = *arrived = 0;
    for (int64_t i = 0; i < s->plan->queue_pairs; i++) {
        *sent += (int64_t)(s->engine.queues[i].sent - s->engine.queues[i].sent_before);
        *arrived += s->arrived[i] - s->arrived_before[i];
    }
}

static int check_pattern(struct flow_side *s, struct pattern_result *found, struct error *e)
{
    for (int64_t c = 0; c < s->plan->queue_pairs; c++) {
        const struct queue *q = &s->engine.queues[c];
        bool reads = s->plan->operation == OP_READ; /* the received data is what this side requested */
        int64_t first = reads ? (int64_t)q->sent_before : s->arrived_before[c];
        int64_t after = reads ? (int64_t)q->sent : s->arrived[c];
        if (pattern_check(&s->memory, s->incoming, s->plan, pattern_seed(!s->driver), c, first, after - first,
                          s->engine.message_bytes, found, e) != 0)
            return -1;
    }
    return 0;
}

int flow_side_check(struct flow_side *s, struct result *result, struct error *e)
{
    struct pattern_result found = {0};
    char text[300] = "";
    *result = (struct result){.received = (int64_t)atomic_load(&s->engine.received)};
    if (s->plan->validate && plan_has_incoming(s->plan, s->driver) && check_pattern(s, &found, e) != 0)
        return -1;
    if (found.wrong_bytes)
        snprintf(text, sizeof text,
                 "%" PRId64 " of %" PRId64 " checked bytes are wrong in %s memory; the first is byte %" PRId64
                 " of connection %" PRId64 ": expected 0x%02x, found 0x%02x",
                 found.wrong_bytes, found.checked_bytes, s->memory.back_end->name, found.first_offset,
                 found.first_connection, (unsigned)found.expected, (unsigned)found.found);
    result->wrong_bytes = found.wrong_bytes;
    result->text = strdup(text);
    return result->text ? 0 : error_set(e, "out of memory");
}

json_t *flow_side_error(const struct flow_side *s, const struct error *e)
{
    bool completion = s->engine.plan && s->engine.status != IBV_WC_SUCCESS;
    const char *status = s->peer_gone ? "PEER"
                         : completion ? completion_name((int)s->engine.status)
                         : s->plan    ? "ERROR"
                                      : "REFUSED";
    json_t *line = output_error(s->plan ? s->plan->flow : "", status, e->text);
    if (completion)
        json_object_set_new(line, "completion",
                            completion_json((int)s->engine.status, s->engine.vendor_error));
    if (completion && s->silent_ns > 0)
        json_object_set_new(line, "silent_ns", json_integer(s->silent_ns));
    return line;
}

void flow_side_failed(struct flow_side *s, const struct error *e)
{
    s->errors++;
    output_line(s->output, flow_side_error(s, e));
    flow_side_quit(s);
    flow_side_report(s, false);
}

/* ---- lines */

void flow_side_line(struct flow_side *s, json_t *line)
{
    if (s->driver) {
        output_line(s->output, line);
        return;
    }
    struct message message = {.type = MESSAGE_LINE};
    message.line.line = line;
    control_send(&s->control, &message, NULL); /* a closed connection is detected when it is read */
    json_decref(line);
}

json_t *flow_side_header(const struct flow_side *s)
{
    const struct plan *p = s->plan;
    char gid[GID_TEXT_MAX];
    json_t *line = json_make("{s:s,s:i,s:s,s:s,s:s,s:I,s:s,s:s,s:b,s:s}", "type", "header", "schema", 1,
                             "program", "roce-traffic", "version", HARNESS_VERSION, "flow", flow_side_flow(s),
                             "time_ns", (json_int_t)clock_realtime_ns(), "operation",
                             flow_op_names[p->operation], "mode", flow_mode_names[p->mode], "bidirectional",
                             p->bidirectional, "connection", connection_names[p->connection]);
    json_t *more = json_make("{s:s,s:i,s:s,s:i,s:s,s:s,s:i,s:s,s:s,s:o}", "device", s->device.name,
                             "device_port", s->device.port, "gid", gid_text(&s->device.gid, gid, sizeof gid),
                             "gid_index", s->device.gid_index, "peer_device", s->peer.device, "peer_gid",
                             s->peer.gid, "mtu_bytes", s->connection.mtu_bytes, "peer", s->control.peer,
                             "peer_memory_route", s->peer.route, "memory", memory_json(&s->memory));
    json_t *numbers =
        json_make("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:s}", "queue_pairs", (json_int_t)p->queue_pairs,
                  "depth", (json_int_t)p->depth, "post_list", (json_int_t)p->post_list, "inline_bytes",
                  (json_int_t)p->inline_bytes, "slots", (json_int_t)p->slots, "traffic_class",
                  (json_int_t)p->traffic_class, "service_level", (json_int_t)p->service_level, "ack_timeout",
                  (json_int_t)p->ack_timeout, "retries", (json_int_t)p->retries, "rate_bps",
                  (json_int_t)p->rate_bps, "pacing",
                  !p->rate_bps         ? "none"
                  : s->hardware_pacing ? "hardware"
                                       : "software");
    json_object_update(line, more);
    json_object_update(line, numbers);
    json_decref(more);
    json_decref(numbers);
    return line;
}
