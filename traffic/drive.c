#include "traffic/drive.h"

#include "lib/clock.h"
#include "lib/log.h"
#include "traffic/flow_side.h"
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BARRIER_NS (50 * NS_PER_MS)

/* What the flows of a process share. */
struct group {
    const struct drive_server *server;
    struct output *output;
    const struct stop *stop;
    size_t count;
    atomic_size_t ready; /* number of flows that are ready to start */
    atomic_bool failed;  /* one flow failed: the others do not wait for it */
};

struct flow {
    struct flow_side side; /* first: it is aligned for its engine */
    struct group *group;
    const struct drive_plan *drive;
    pthread_t thread;
    bool started;
    bool wrong_data;
    enum drive_result result;
};

/* ---- before traffic */

/* The server allocates memory and creates queue pairs at the same time as this side. */
static int set_up(struct flow *f, struct error *e)
{
    struct flow_side *s = &f->side;
    const struct drive_server *server = f->group->server;
    struct message message = {.type = MESSAGE_OFFER, .offer = f->drive->plan};
    if (control_connect(&s->control, server->host, server->port, s->stop_fd, e) != 0 ||
        control_greet(&s->control, &server->secret, s->stop_fd, e) != 0 ||
        control_send(&s->control, &message, e) != 0 ||
        flow_side_open(s, &f->drive->local, f->drive->memory, e) != 0 ||
        control_expect(&s->control, MESSAGE_ENDPOINT, CONTROL_SETUP_NS, s->stop_fd, &message, e) != 0)
        return -1;
    s->peer = message.endpoint;
    message = (struct message){.type = MESSAGE_ENDPOINT, .endpoint = s->mine};
    if (control_send(&s->control, &message, e) != 0 || flow_side_connect(s, e) != 0)
        return -1;
    return control_expect(&s->control, MESSAGE_CONNECTED, CONTROL_SETUP_NS, s->stop_fd, &message, e);
}

/* Nobody waits for a start that was told, or was not asked for. */
static bool waits_for_start(const struct group *g)
{
    return atomic_load(&g->ready) < g->count || (g->stop->input.starts && !atomic_load(&g->stop->start_ns));
}

/* All flows begin together, when the last of them is connected and the start is known. */
static int wait_for_start(struct flow *f, struct error *e)
{
    struct group *g = f->group;
    if (atomic_fetch_add(&g->ready, 1) + 1 == g->count && g->stop->input.starts)
        output_line(g->output, output_event("ready", "all flows are connected"));
    while (waits_for_start(g) && !atomic_load(&g->failed) && !f->side.stopping)
        if (flow_side_pump(&f->side, clock_monotonic_ns() + BARRIER_NS, e) != 0)
            return -1;
    return atomic_load(&g->failed) ? error_set(e, "another flow of this process failed before the start") : 0;
}

/* ---- a message size */

static bool phase_over(const struct flow_side *s)
{
    return s->meter.done || s->stopping || atomic_load(&s->engine.finished);
}

static void report_wrong(struct flow *f, const char *flow, const struct result *result)
{
    struct flow_side *s = &f->side;
    char unsaid[80];
    snprintf(unsaid, sizeof unsaid, "%" PRId64 " bytes are wrong", result->wrong_bytes);
    const char *text = result->text && result->text[0] ? result->text : unsaid;
    if (result->wrong_bytes == 0)
        return;
    f->wrong_data = true;
    s->errors++;
    output_line(s->output, output_error(flow, "VALIDATION", text));
    log_error("flow %s: %s", flow, text);
}

/* The receiver must have received every message that was completed at the sender. */
static void report_lost(struct flow *f, const char *flow, int64_t sent, int64_t received)
{
    char text[200];
    if (!operation_is_two_sided(f->side.plan->operation) || f->side.plan->mode != MODE_BANDWIDTH ||
        sent == received)
        return;
    f->wrong_data = true;
    f->side.errors++;
    snprintf(text, sizeof text, "%" PRId64 " messages were sent and completed, but %" PRId64 " were received",
             sent, received);
    output_line(f->side.output, output_error(flow, "LOST", text));
    log_error("flow %s: %s", flow, text);
}

/* Both sides stop posting, wait until the messages in flight are completed, and check what they have
 * received. */
static int wind_up(struct flow *f, struct error *e)
{
    struct flow_side *s = &f->side;
    struct result mine;
    int64_t sent, arrived;
    if (flow_side_drain(s, e) != 0 || flow_side_say_sent(s, MESSAGE_STOP, e) != 0 ||
        flow_side_await(s, &s->got_drained, FLOW_SIDE_PATIENCE_NS, "drained", e) != 0)
        return -1;
    flow_side_quit(s);
    if (flow_side_check(s, &mine, e) != 0)
        return -1;
    flow_side_counts(s, &sent, &arrived);
    report_wrong(f, s->plan->reverse, &mine);
    report_lost(f, s->plan->reverse, arrived, mine.received);
    free(mine.text);
    if (flow_side_await(s, &s->got_result, FLOW_SIDE_PATIENCE_NS, "done checking", e) != 0)
        return -1;
    report_wrong(f, s->plan->flow, &s->result);
    report_lost(f, s->plan->flow, sent, s->result.received);
    if (s->plan->bidirectional && !s->got_summary)
        return error_set(e, "the other side (%s) did not say what its direction, \"%s\", came to",
                         s->control.peer, s->plan->reverse);
    return 0;
}

/* Converts a time of day on this host's clock to the time from now that both ends wait. */
static int64_t time_until(int64_t realtime_ns)
{
    int64_t wait_ns = realtime_ns ? realtime_ns - clock_realtime_ns() : 0;
    return wait_ns > 0 ? wait_ns : 0;
}

/* What standard input told, else the job. */
static int64_t start_of(const struct flow *f)
{
    int64_t told_ns = atomic_load(&f->group->stop->start_ns);
    return told_ns ? told_ns : f->drive->start_at_ns;
}

/* A flow with a count measures all that it sends: its window begins with its first message. */
static int64_t begins_later_ns(const struct drive_plan *d)
{
    return d->count ? d->post_from_ns : 0;
}

/* What the sender has in flight is completed; the window stays open. */
static int stop_posting(struct flow_side *s, struct error *e)
{
    if (flow_side_drain(s, e) != 0)
        return -1;
    flow_side_quit(s);
    return 0;
}

static int wait_until(struct flow_side *s, int64_t until_ns, struct error *e)
{
    while (!phase_over(s) && clock_monotonic_ns() < until_ns)
        if (flow_side_pump(s, until_ns, e) != 0)
            return -1;
    return 0;
}

/* Post from the flow's start to its stop, which are times since the common start. The window is that of a
 * flow without them. */
static int run_window(struct flow *f, struct error *e)
{
    struct flow_side *s = &f->side;
    const struct drive_plan *d = f->drive;
    int64_t common_ns = clock_monotonic_ns() - begins_later_ns(d);
    int64_t stop_ns = d->post_until_ns ? common_ns + d->post_until_ns : METER_NEVER;
    if (wait_until(s, common_ns + d->post_from_ns, e) != 0)
        return -1;
    if (phase_over(s))
        return 0;
    if (flow_side_post(s, e) != 0 || wait_until(s, stop_ns, e) != 0)
        return -1;
    if (phase_over(s))
        return 0;
    if (stop_posting(s, e) != 0)
        return -1;
    return d->duration_ns ? wait_until(s, METER_NEVER, e) : 0;
}

static int run_phase(struct flow *f, size_t index, struct error *e)
{
    struct flow_side *s = &f->side;
    const struct drive_plan *d = f->drive;
    struct message phase = {.type = MESSAGE_PHASE, .phase = {.message_bytes = d->sizes[index]}};
    struct message start = {
        .type = MESSAGE_START,
        .start = {.warmup_ns = d->warmup_ns, .duration_ns = d->duration_ns, .count = d->count}};
    if (flow_side_prepare(s, d->sizes[index], d->count, e) != 0 ||
        control_send(&s->control, &phase, e) != 0 ||
        flow_side_await(s, &s->got_ready, FLOW_SIDE_PATIENCE_NS, "ready", e) != 0)
        return -1;
    if (index == 0 && wait_for_start(f, e) != 0)
        return -1;
    start.start.start_in_ns = time_until(index == 0 ? start_of(f) : 0) + begins_later_ns(d);
    if (control_send(&s->control, &start, e) != 0 || flow_side_begin(s, &start.start, e) != 0)
        return -1;
    if (run_window(f, e) != 0)
        return -1;
    bool complete = !s->stopping || d->duration_ns + d->count == 0 || s->meter.done;
    flow_side_close_window(s);
    if (wind_up(f, e) != 0)
        return -1;
    flow_side_report(s, complete);
    if (!complete)
        f->result = DRIVE_INTERRUPTED;
    return 0;
}

/* ---- a flow */

static int run_flow(struct flow *f, struct error *e)
{
    struct flow_side *s = &f->side;
    if (set_up(f, e) != 0)
        return -1;
    flow_side_line(s, flow_side_header(s));
    for (size_t i = 0; i < f->drive->size_count && !s->stopping; i++)
        if (run_phase(f, i, e) != 0)
            return -1;
    return control_say(&s->control, MESSAGE_FINISH, e);
}

static bool told_to_stop(int stop_fd)
{
    struct pollfd fd = {.fd = stop_fd, .events = POLLIN};
    return poll(&fd, 1, 0) > 0;
}

static void *flow_thread(void *argument)
{
    struct flow *f = argument;
    struct flow_side *s = &f->side;
    struct error e = {{0}};
    if (run_flow(f, &e) != 0) {
        atomic_store(&f->group->failed, true);
        bool stopped = !s->engine.plan && told_to_stop(s->stop_fd);
        f->result = stopped ? DRIVE_INTERRUPTED : DRIVE_FAILED;
        log_error("flow %s: %s", f->drive->plan.flow, e.text);
        flow_side_failed(s, &e);
        control_say_error(&s->control, e.text);
    } else if (f->wrong_data) {
        f->result = DRIVE_WRONG_DATA;
    }
    flow_side_close(s);
    return NULL;
}

static enum drive_result worst(const struct flow *flows, size_t count)
{
    static const enum drive_result order[] = {DRIVE_FAILED, DRIVE_WRONG_DATA, DRIVE_INTERRUPTED};
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (size_t i = 0; i < count; i++)
            if (flows[i].result == order[k])
                return order[k];
    return DRIVE_DONE;
}

enum drive_result drive_run(const struct drive_plan *plans, size_t count, const struct drive_server *server,
                            struct output *output, const struct stop *stop)
{
    struct group group = {.server = server, .output = output, .stop = stop, .count = count};
    struct flow *flows = aligned_alloc(_Alignof(struct flow), count * sizeof *flows);
    if (!flows) {
        log_error("out of memory");
        return DRIVE_FAILED;
    }
    for (size_t i = 0; i < count; i++) {
        struct flow *f = &flows[i];
        memset(f, 0, sizeof *f);
        f->group = &group;
        f->drive = &plans[i];
        f->side = (struct flow_side){.plan = &plans[i].plan,
                                     .driver = true,
                                     .output = output,
                                     .control = {.fd = -1},
                                     .stop_fd = stop->fd,
                                     .heed_stop = true,
                                     .connection = {.stop_fd = -1},
                                     .engine = {.event_fd = -1}};
        f->started = pthread_create(&f->thread, NULL, flow_thread, f) == 0;
        if (!f->started) {
            log_error("flow %s: cannot start a thread", plans[i].plan.flow);
            f->result = DRIVE_FAILED;
            atomic_store(&group.failed, true);
        }
    }
    for (size_t i = 0; i < count; i++)
        if (flows[i].started)
            pthread_join(flows[i].thread, NULL);
    enum drive_result result = worst(flows, count);
    free(flows);
    return result;
}
