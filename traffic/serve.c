#include "traffic/serve.h"

#include "lib/clock.h"
#include "lib/log.h"
#include "traffic/arrivals.h"
#include "traffic/flow_side.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define START_NS \
    (24LL * 3600 * NS_PER_S) /* a driver may wait for its start time; it sends "alive" messages meanwhile */

/* One driver's thread. */
struct client {
    struct flow_side side; /* first: it is aligned for its engine */
    struct server *server;
    struct plan plan;
    int64_t memory_bytes; /* of the server's, for this flow */
    pthread_t thread;
    bool used;
    atomic_bool ended;
};

static void report_peer(struct server *server, const char *what, const char *format, const char *peer)
{
    char text[200];
    snprintf(text, sizeof text, "%s %s", format, peer);
    output_line(server->output, output_event(what, text));
}

/* ---- memory */

static double mib(int64_t bytes)
{
    return (double)bytes / (1024 * 1024);
}

/* Before anything is allocated for the flow. */
static int reserve_memory(struct client *c, struct error *e)
{
    struct server *server = c->server;
    int64_t wanted = plan_memory_bytes(&c->plan, false), used = atomic_load(&server->memory_bytes_used);
    do {
        if (wanted > server->max_memory_bytes - used)
            return error_set(
                e,
                "flow %.60s needs %.1f MiB of memory at the server, whose --max-memory of %.1f MiB "
                "has %.1f MiB left",
                c->plan.flow, mib(wanted), mib(server->max_memory_bytes),
                mib(server->max_memory_bytes - used));
    } while (!atomic_compare_exchange_weak(&server->memory_bytes_used, &used, used + wanted));
    c->memory_bytes = wanted;
    return 0;
}

static void release_memory(struct client *c)
{
    atomic_fetch_sub(&c->server->memory_bytes_used, c->memory_bytes);
}

/* ---- one session */

static int set_up(struct client *c, struct error *e)
{
    struct flow_side *s = &c->side;
    struct message message;
    if (control_expect(&s->control, MESSAGE_OFFER, CONTROL_SETUP_NS, s->stop_fd, &message, e) != 0)
        return -1;
    c->plan = message.offer; /* freed with the client */
    if (reserve_memory(c, e) != 0)
        return -1;
    s->plan = &c->plan;
    if (flow_side_open(s, c->server->local, c->plan.memory, e) != 0)
        return -1;
    message = (struct message){.type = MESSAGE_ENDPOINT, .endpoint = s->mine};
    if (control_send(&s->control, &message, e) != 0 ||
        control_expect(&s->control, MESSAGE_ENDPOINT, CONTROL_SETUP_NS, s->stop_fd, &message, e) != 0)
        return -1;
    s->peer = message.endpoint;
    if (flow_side_connect(s, e) != 0)
        return -1;
    return control_say(&s->control, MESSAGE_CONNECTED, e);
}

/* This side measures its own window, but it continues to send until the driver sends stop: both sides send
 * all the time. */
static int send_until_told(struct flow_side *s, struct error *e)
{
    while (!s->got_stop)
        if (flow_side_pump(s, METER_NEVER, e) != 0)
            return -1;
    while (flow_side_sends(s) && s->engine.target && !atomic_load(&s->engine.finished))
        if (flow_side_pump(s, METER_NEVER, e) != 0)
            return -1;
    return 0;
}

static int run_phase(struct flow_side *s, struct error *e)
{
    struct message result = {.type = MESSAGE_RESULT};
    if (flow_side_await(s, &s->got_start, START_NS, "starting", e) != 0)
        return -1;
    if (flow_side_sends(s)) /* not known before the start */
        engine_set_target(&s->engine, (uint64_t)s->start.count);
    if (flow_side_begin(s, &s->start, e) != 0 || flow_side_post(s, e) != 0 || send_until_told(s, e) != 0)
        return -1;
    bool complete = s->metered && (s->meter.done || (s->engine.target && atomic_load(&s->engine.finished)) ||
                                   s->start.duration_ns + s->start.count == 0);
    flow_side_report(s, complete);
    if (flow_side_drain(s, e) != 0)
        return -1;
    flow_side_quit(s);
    if (flow_side_say_sent(s, MESSAGE_DRAINED, e) != 0 || flow_side_check(s, &result.result, e) != 0)
        return -1;
    int status = control_send(&s->control, &result, e);
    wire_free(&result);
    return status;
}

static int run_phases(struct flow_side *s, struct error *e)
{
    if (flow_side_sends(s))
        flow_side_line(s, flow_side_header(s));
    for (;;) {
        while (!s->got_phase && !s->got_finish)
            if (flow_side_pump(s, METER_NEVER, e) != 0)
                return -1;
        if (s->got_finish)
            return 0;
        if (s->phase.message_bytes > s->plan->max_message_bytes)
            return error_set(e, "%s requests messages of %lld bytes, more than the %lld it announced",
                             s->control.peer, (long long)s->phase.message_bytes,
                             (long long)s->plan->max_message_bytes);
        if (flow_side_prepare(s, s->phase.message_bytes, 0, e) != 0 ||
            control_say(&s->control, MESSAGE_READY, e) != 0 || run_phase(s, e) != 0)
            return -1;
    }
}

static void *client_thread(void *argument)
{
    struct client *c = argument;
    struct flow_side *s = &c->side;
    struct error e = {{0}};
    report_peer(c->server, "session", "driver", s->control.peer);
    int result = set_up(c, &e);
    if (result == 0)
        result = run_phases(s, &e);
    if (result != 0) {
        log_error("session with %s: %s", s->control.peer, e.text);
        control_say_error(&s->control, e.text);
        output_line(s->output, flow_side_error(s, &e));
    }
    report_peer(c->server, "session-end", "driver", s->control.peer);
    flow_side_close(s);
    release_memory(c);
    table_free(&plan_table, &c->plan);
    atomic_store(&c->ended, true);
    return NULL;
}

/* ---- all sessions */

static void reap(struct client *clients, bool all)
{
    for (size_t i = 0; i < SERVE_MAX_SESSIONS; i++) {
        if (clients[i].used && (all || atomic_load(&clients[i].ended))) {
            pthread_join(clients[i].thread, NULL);
            clients[i].used = false;
        }
    }
}

static struct client *free_client(struct client *clients)
{
    for (size_t i = 0; i < SERVE_MAX_SESSIONS; i++)
        if (!clients[i].used)
            return &clients[i];
    return NULL;
}

/* Begin a session with a driver that was greeted. */
static bool serve_connection(struct server *server, struct client *clients, struct control control)
{
    struct client *c = free_client(clients);
    char full[80];
    snprintf(full, sizeof full, "this server already has its maximum of %d sessions", SERVE_MAX_SESSIONS);
    if (!c) {
        control_say_error(&control, full);
        control_close(&control);
        return false;
    }
    memset(c, 0, sizeof *c);
    c->server = server;
    c->side = (struct flow_side){.control = control,
                                 .output = server->output,
                                 .stop_fd = server->stop_fd,
                                 .heed_stop = true,
                                 .connection = {.stop_fd = -1},
                                 .engine = {.event_fd = -1}};
    c->used = pthread_create(&c->thread, NULL, client_thread, c) == 0;
    if (!c->used)
        control_close(&c->side.control);
    return c->used;
}

/* Wait for something to do, at most 200 ms, to join ended threads. Without `arrivals` drivers are not waited
 * for. Returns whether to stop. */
static bool wait_for_drivers(const struct server *server, const struct arrivals *arrivals)
{
    struct pollfd fds[1 + ARRIVALS_FDS] = {{.fd = server->stop_fd, .events = POLLIN}};
    size_t count = 1 + (arrivals ? arrivals_poll(arrivals, fds + 1) : 0);
    poll(fds, count, listener_timeout_ms(server->listener, 200));
    return fds[0].revents != 0;
}

/* Until the server is told to stop or, with `once`, its driver has disconnected. */
static void serve_drivers(struct server *server, struct client *clients, struct arrivals *arrivals)
{
    bool enough = false;
    struct control control;
    while (!wait_for_drivers(server, enough ? NULL : arrivals)) {
        if (!enough)
            arrivals_accept(arrivals);
        while (!enough && arrivals_next(arrivals, &control))
            enough = serve_connection(server, clients, control) && server->once;
        reap(clients, false);
        if (enough && free_client(clients) == clients)
            return;
    }
}

int serve_run(struct server *server, struct error *e)
{
    struct client *clients = aligned_alloc(_Alignof(struct client), SERVE_MAX_SESSIONS * sizeof *clients);
    struct arrivals *arrivals = calloc(1, sizeof *arrivals);
    if (!clients || !arrivals) {
        free(clients);
        free(arrivals);
        return error_set(e, "out of memory");
    }
    memset(clients, 0, SERVE_MAX_SESSIONS * sizeof *clients);
    *arrivals =
        (struct arrivals){.listener = server->listener, .secret = &server->secret, .output = server->output};
    serve_drivers(server, clients, arrivals);
    arrivals_close(arrivals);
    reap(clients, true);
    free(arrivals);
    free(clients);
    return 0;
}
