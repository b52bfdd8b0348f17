#include "collectors/sampler/sampling.h"

#include "collectors/sampler/http_server.h"
#include "collectors/sampler/output.h"
#include "collectors/sampler/prometheus_text.h"
#include "collectors/sampler/sampler.h"
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/log.h"
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

struct program;

/* A NIC, or whatever else a target is. */
struct sampled {
    const struct program *program;
    const struct target *target;
    struct sampler *sampler;
};

struct program {
    const struct sampling_plan *plan;
    struct sampled nics[SAMPLING_MOST_NICS];
    size_t count;
    struct output *output;      /* NULL with Prometheus */
    struct http_server *server; /* only with Prometheus */
    int timer, signals;
    int64_t samples, overruns;      /* of each NIC */
    int64_t overruns_told, told_ns; /* overruns already reported, and when */
    int64_t read_ns;                /* of the last sample of all */
};

/* ---- lines */

/* The beginning of an object line: where lines say which NIC they are of, that comes first (docs/lines.md).
 */
static json_t *begin_line(const struct sampled *n, const char *type)
{
    return n->program->plan->named ? json_make("{s:s,s:s}", "nic", n->target->netdev, "type", type)
                                   : json_make("{s:s}", "type", type);
}

/* Takes over both. */
static void put_line(const struct program *p, json_t *line, json_t *more)
{
    if (line && more && json_object_update(line, more) == 0)
        lines_write_object(output_stream(p->output), line);
    json_decref(line);
    json_decref(more);
}

static void put_event(void *context, const char *source, const char *what, const char *text)
{
    const struct sampled *n = context;
    const struct program *p = n->program;
    log_warning("%s%s%s: %s: %s", p->plan->named ? n->target->netdev : "", p->plan->named ? ": " : "", source,
                what, text);
    if (p->output)
        put_line(p, begin_line(n, "event"),
                 json_make("{s:I,s:s,s:s,s:s%}", "time_ns", (json_int_t)clock_realtime_ns(), "source", source,
                           "what", what, "text", text, strlen(text)));
}

static json_t *missing_json(const struct sampler *sampler)
{
    json_t *list = json_array();
    const char *name, *reason;
    for (size_t i = 0; (name = sampler_missing(sampler, i, &reason)); i++)
        json_array_append_new(list, json_make("{s:s,s:s}", "source", name, "text", reason));
    return list;
}

static void put_header(const struct sampled *n)
{
    const struct program *p = n->program;
    char host[256] = "";
    size_t count;
    const struct column *columns = sampler_columns(n->sampler, &count);
    (void)gethostname(host, sizeof host - 1);
    put_line(p, begin_line(n, "header"),
             json_make("{s:i,s:s,s:s,s:I,s:s,s:s,s:o,s:o}", "schema", 1, "program", "nic-sampler", "version",
                       HARNESS_VERSION, "every_ns", (json_int_t)p->plan->every_ns, "host", host, "netdev",
                       n->target->netdev, "missing", missing_json(n->sampler), "columns",
                       lines_columns_json(columns, count)));
}

/* Of the processor's time each NIC has its share. */
static void put_end(const struct program *p, const char *reason)
{
    int64_t cpu_ns = clock_process_cpu_ns() / (p->count > 1 ? (int64_t)p->count : 1);
    for (size_t i = 0; i < p->count; i++)
        put_line(p, begin_line(&p->nics[i], "end"),
                 json_make("{s:I,s:I,s:I,s:I,s:s}", "time_ns", (json_int_t)clock_realtime_ns(), "samples",
                           (json_int_t)p->samples, "overruns", (json_int_t)p->overruns, "cpu_ns",
                           (json_int_t)cpu_ns, "reason", reason));
}

/* Overruns are reported at most once a second. */
static void put_overruns(struct program *p)
{
    int64_t now_ns = clock_monotonic_ns();
    if (p->overruns == p->overruns_told || (p->told_ns != 0 && now_ns - p->told_ns < NS_PER_S))
        return;
    char text[120];
    snprintf(text, sizeof text, "%lld samples skipped, %lld in total: reading takes %lld us",
             (long long)(p->overruns - p->overruns_told), (long long)p->overruns,
             (long long)(p->read_ns / NS_PER_US));
    p->overruns_told = p->overruns;
    p->told_ns = now_ns;
    log_warning("timer: overrun: %s", text);
    for (size_t i = 0; i < p->count; i++)
        put_line(p, begin_line(&p->nics[i], "event"),
                 json_make("{s:I,s:s,s:s,s:s,s:I}", "time_ns", (json_int_t)clock_realtime_ns(), "source",
                           "timer", "what", "overrun", "text", text, "overruns", (json_int_t)p->overruns));
}

/* One NIC after the other: what a sample costs grows with their number alone. */
static void put_sample(struct program *p)
{
    int64_t read_ns = 0;
    p->samples++;
    for (size_t i = 0; i < p->count; i++) {
        struct sampled *n = &p->nics[i];
        struct sample sample;
        size_t count;
        /* The order of lines: a new header, then the events of this sample, then its values. */
        bool changed = sampler_take(n->sampler, &sample);
        if (changed)
            put_header(n);
        if (i == 0)
            put_overruns(p);
        (void)sampler_columns(n->sampler, &count);
        if (p->plan->named)
            lines_write_sample_of(output_stream(p->output), n->target->netdev, sample.time_ns, sample.read_ns,
                                  sample.values, count);
        else
            lines_write_sample(output_stream(p->output), sample.time_ns, sample.read_ns, sample.values,
                               count);
        read_ns += sample.read_ns;
    }
    p->read_ns = read_ns;
}

/* ---- Prometheus */

static void put_labels(const struct target *target, struct text *labels)
{
    if (target->netdev[0] != '\0')
        prometheus_label(labels, "netdev", target->netdev);
    if (target->rdma[0] != '\0') {
        text_add(labels, "%s", labels->length > 0 ? "," : "");
        prometheus_label(labels, "rdma", target->rdma);
    }
}

static void put_metrics(void *context, struct text *out)
{
    struct program *p = context;
    struct prometheus_set sets[SAMPLING_MOST_NICS];
    struct text labels[SAMPLING_MOST_NICS] = {{0}};
    double seconds[SAMPLING_MOST_NICS];
    p->samples++;
    for (size_t i = 0; i < p->count; i++) {
        struct sample sample;
        (void)sampler_take(p->nics[i].sampler, &sample);
        put_labels(p->nics[i].target, &labels[i]);
        sets[i] = (struct prometheus_set){.values = sample.values, .labels = text_string(&labels[i])};
        sets[i].columns = sampler_columns(p->nics[i].sampler, &sets[i].count);
        seconds[i] = (double)sample.read_ns / 1e9;
    }
    prometheus_write(out, sets, p->count);
    prometheus_head(out, "nic_sampler_read_seconds", "gauge", "How long reading all sources took.");
    for (size_t i = 0; i < p->count; i++)
        prometheus_value(out, "nic_sampler_read_seconds", sets[i].labels, seconds[i]);
    prometheus_head(out, "nic_sampler_samples_total", "counter", "Samples taken.");
    for (size_t i = 0; i < p->count; i++)
        prometheus_value(out, "nic_sampler_samples_total", sets[i].labels, (double)p->samples);
    prometheus_head(out, "nic_sampler_overruns_total", "counter",
                    "Samples that were skipped because reading took too long.");
    for (size_t i = 0; i < p->count; i++)
        prometheus_value(out, "nic_sampler_overruns_total", sets[i].labels, (double)p->overruns);
    prometheus_head(out, "process_cpu_seconds_total", "counter",
                    "Total user and system CPU time spent in seconds.");
    prometheus_value(out, "process_cpu_seconds_total", "", (double)clock_process_cpu_ns() / 1e9);
    for (size_t i = 0; i < p->count; i++)
        text_free(&labels[i]);
}

/* Without requests for a long time, 32-bit counters could wrap unnoticed: read them regularly. */
static void follow(struct program *p)
{
    p->samples++;
    p->read_ns = 0;
    for (size_t i = 0; i < p->count; i++) {
        struct sample sample;
        (void)sampler_take(p->nics[i].sampler, &sample);
        p->read_ns += sample.read_ns;
    }
}

/* ---- the loop */

/* The kernel's timer has absolute deadlines, start + n * every, so that delays do not accumulate. */
static int start_timer(struct program *p, struct error *e)
{
    int64_t now_ns = clock_monotonic_ns(), every_ns = p->plan->every_ns;
    struct itimerspec times = {.it_value = {now_ns / NS_PER_S, now_ns % NS_PER_S},
                               .it_interval = {every_ns / NS_PER_S, every_ns % NS_PER_S}};
    p->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (p->timer == -1 || timerfd_settime(p->timer, TFD_TIMER_ABSTIME, &times, NULL) == -1)
        return error_set_errno(e, errno, "cannot create a timer");
    return 0;
}

static int take_signals(struct program *p, struct error *e)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &set, NULL) == -1 || (p->signals = signalfd(-1, &set, SFD_CLOEXEC)) == -1)
        return error_set_errno(e, errno, "cannot receive signals");
    return 0;
}

enum step { STEP_GO_ON, STEP_COUNT, STEP_SIGNAL, STEP_PIPE, STEP_FAILED };

static enum step send_lines(struct program *p, struct error *e)
{
    switch (output_send(p->output, p->signals, e)) {
    case OUTPUT_CLOSED:
        return STEP_PIPE;
    case OUTPUT_STOPPED:
        return STEP_SIGNAL;
    case OUTPUT_FAILED:
        return STEP_FAILED;
    case OUTPUT_DONE:
        break;
    }
    return STEP_GO_ON;
}

/* Before the first deadline: the header, which takes many samples' time to put together, and one reading
 * whose values are not printed, so that the first sample does not find everything cold and miss the second
 * one's deadline. */
static enum step warm_up(struct program *p, struct error *e)
{
    struct sample unseen;
    if (!p->output)
        return STEP_GO_ON;
    for (size_t i = 0; i < p->count; i++) {
        put_header(&p->nics[i]);
        if (sampler_take(p->nics[i].sampler, &unseen))
            put_header(&p->nics[i]);
    }
    return send_lines(p, e);
}

/* Every deadline that passed while the previous sample was being taken is an overrun. */
static enum step tick(struct program *p, struct error *e)
{
    uint64_t expirations;
    if (read(p->timer, &expirations, sizeof expirations) != sizeof expirations)
        return STEP_GO_ON;
    p->overruns += (int64_t)expirations - 1;
    if (!p->output) {
        follow(p);
        return STEP_GO_ON;
    }
    put_sample(p);
    bool last = p->plan->count > 0 && p->samples == p->plan->count;
    if (last)
        put_end(p, "count");
    enum step step = send_lines(p, e);
    return last && step == STEP_GO_ON ? STEP_COUNT : step;
}

static enum step wait_and_step(struct program *p, struct error *e)
{
    /* Standard output is polled only to notice that its reader has closed it (no events requested:
     * POLLERR). */
    struct pollfd fds[3 + HTTP_POLL_FDS] = {
        {.fd = p->timer, .events = POLLIN},
        {.fd = p->signals, .events = POLLIN},
        {.fd = p->output ? STDOUT_FILENO : -1},
    };
    int timeout_ms = -1;
    size_t count = 3, served = p->server ? http_server_poll(p->server, fds + count, &timeout_ms) : 0;
    if (poll(fds, count + served, timeout_ms) == -1) {
        if (errno == EINTR)
            return STEP_GO_ON;
        error_set_errno(e, errno, "waiting for the next sample");
        return STEP_FAILED;
    }
    if (fds[1].revents != 0)
        return STEP_SIGNAL;
    if (fds[2].revents & POLLERR)
        return STEP_PIPE;
    if (served > 0)
        http_server_handle(p->server, fds + count, served);
    return fds[0].revents != 0 ? tick(p, e) : STEP_GO_ON;
}

/* The last line, if there is still a reader. Nothing is written after a line that was cut. */
static int finish(struct program *p, enum step step)
{
    if (step == STEP_SIGNAL && p->output) {
        put_end(p, "signal");
        (void)output_send(p->output, -1, NULL);
    }
    return step == STEP_FAILED ? -1 : 0;
}

static int run_sampling(struct program *p, struct error *e)
{
    enum step step = warm_up(p, e);
    if (step == STEP_GO_ON && start_timer(p, e) == -1)
        return -1;
    while (step == STEP_GO_ON)
        step = wait_and_step(p, e);
    return finish(p, step);
}

/* ---- starting and ending */

/* Counters do not change while an interface is down: warn about it, but sample. */
static void warn_when_down(const struct target *target)
{
    struct ifreq r = {0};
    int s = target->ifindex != 0 ? socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    if (s == -1)
        return;
    memcpy(r.ifr_name, target->netdev, sizeof r.ifr_name);
    if (ioctl(s, SIOCGIFFLAGS, &r) == 0 && !(r.ifr_flags & IFF_UP))
        log_warning("%s is down: its counters do not change until `ip link set %s up`", target->netdev,
                    target->netdev);
    close(s);
}

static void tell_missing(const struct sampled *n)
{
    bool named = n->program->plan->named;
    const char *name, *reason;
    for (size_t i = 0; (name = sampler_missing(n->sampler, i, &reason)); i++)
        log_info("not read: %s%s%s: %s", named ? n->target->netdev : "", named ? ": " : "", name, reason);
}

/* Optional: without the permission, sampling continues with normal priority. */
static void go_first(void)
{
    const struct sched_param first = {.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) == -1)
        log_warning("--realtime: no permission (%s); sampling with normal priority", strerror(errno));
}

static int open_program(struct program *p, struct error *e)
{
    if (p->plan->realtime)
        go_first();
    for (; p->count < p->plan->count_targets; p->count++) {
        struct sampled *n = &p->nics[p->count];
        *n = (struct sampled){.program = p, .target = &p->plan->targets[p->count]};
        n->sampler = sampler_open(n->target, p->plan->groups, put_event, n, e);
        if (!n->sampler)
            return p->plan->named ? error_prefix(e, "%s", n->target->netdev) : -1;
    }
    if (take_signals(p, e) == -1)
        return -1;
    if (p->plan->prometheus)
        p->server = http_server_open(p->plan->prometheus, put_metrics, p, e);
    else
        p->output = output_open(STDOUT_FILENO, e);
    return p->server || p->output ? 0 : -1;
}

static void close_program(struct program *p)
{
    http_server_close(p->server);
    output_close(p->output);
    for (size_t i = 0; i < p->count; i++)
        sampler_close(p->nics[i].sampler);
    if (p->timer != -1)
        close(p->timer);
    if (p->signals != -1)
        close(p->signals);
}

int sampling_run(const struct sampling_plan *plan, struct error *e)
{
    struct program p = {.plan = plan, .timer = -1, .signals = -1};
    int result = open_program(&p, e);
    if (result == 0) {
        for (size_t i = 0; i < p.count; i++) {
            tell_missing(&p.nics[i]);
            warn_when_down(p.nics[i].target);
        }
        if (p.server)
            log_info("serving /metrics at %s port %" PRId64, http_server_host(p.server),
                     http_server_port(p.server));
        result = run_sampling(&p, e);
    }
    close_program(&p);
    return result;
}
