/* nic-sampler: the counters of a NIC, its RDMA device, qdiscs, links and GPU, as lines (docs/lines.md) or for Prometheus. */
#include "collectors/http_server.h"
#include "collectors/names.h"
#include "collectors/output.h"
#include "collectors/prometheus_text.h"
#include "collectors/sampler.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/options.h"
#include "lib/sysfs.h"
#include <errno.h>
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

enum { EXIT_DONE = 0, EXIT_USAGE = 2, EXIT_LAB = 3 };

struct arguments {
    const char *netdev, *rdma, *groups, *prometheus, *root;
    int64_t gpu, every_ns, count;
    int optional_counters, realtime, help, version;
};

static const struct option_spec specs[] = {
    {.name = "netdev",
     .kind = OPTION_STRING,
     .offset = offsetof(struct arguments, netdev),
     .argument = "IF",
     .help = "network interface"},
    {.name = "rdma",
     .kind = OPTION_STRING,
     .offset = offsetof(struct arguments, rdma),
     .argument = "DEV[/PORT]",
     .help = "RDMA device (else the one of the interface)"},
    {.name = "gpu",
     .kind = OPTION_INTEGER,
     .offset = offsetof(struct arguments, gpu),
     .argument = "N",
     .help = "GPU, by NVML's number",
     .min = 0,
     .max = 255},
    {.name = "every",
     .kind = OPTION_QUANTITY,
     .offset = offsetof(struct arguments, every_ns),
     .argument = "TIME",
     .help = "time between samples (10ms; with --prometheus 1s)",
     .unit = UNIT_TIME_NS,
     .min = 100 * NS_PER_US,
     .max = 3600 * NS_PER_S},
    {.name = "groups",
     .kind = OPTION_STRING,
     .offset = offsetof(struct arguments, groups),
     .argument = "LIST",
     .help = "pfc,ecn,throughput,drops,errors,pcie,queue,link,dcqcn,other (all)"},
    {.name = "count",
     .kind = OPTION_INTEGER,
     .offset = offsetof(struct arguments, count),
     .argument = "N",
     .help = "end after N samples",
     .min = 1,
     .max = INT64_MAX},
    {.name = "optional-counters",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct arguments, optional_counters),
     .help = "switch the RDMA device's optional counters on, and off again at the end"},
    {.name = "realtime",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct arguments, realtime),
     .help = "run before ordinary processes (SCHED_FIFO), for fast sampling on a busy host"},
    {.name = "prometheus",
     .kind = OPTION_STRING,
     .offset = offsetof(struct arguments, prometheus),
     .argument = "[ADDRESS]:PORT",
     .help = "serve the values over HTTP instead of printing lines"},
    {.name = "root",
     .kind = OPTION_STRING,
     .offset = offsetof(struct arguments, root),
     .argument = "DIR",
     .help = "read /sys and /proc below DIR"},
    {.name = "help",
     .letter = 'h',
     .kind = OPTION_FLAG,
     .offset = offsetof(struct arguments, help),
     .help = "show this"},
    {.name = "version",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct arguments, version),
     .help = "show the version"},
    {0},
};

struct program {
    struct arguments arguments;
    struct target target;
    uint32_t groups;
    struct sampler *sampler;
    struct output *output;      /* NULL with --prometheus */
    struct http_server *server; /* only with --prometheus */
    int timer, signals;
    int64_t samples, overruns;
    int64_t overruns_told, told_ns; /* overruns already told, and when */
    int64_t read_ns;                /* of the last sample */
};

/* ---- lines */

static void put_event(void *context, const char *source, const char *what, const char *text)
{
    const struct program *p = context;
    log_warning("%s: %s: %s", source, what, text);
    if (p->output == NULL)
        return;
    json_t *line =
        json_pack("{s:s,s:I,s:s,s:s,s:s%}", "type", "event", "time_ns", (json_int_t)clock_realtime_ns(),
                  "source", source, "what", what, "text", text, strlen(text));
    if (line != NULL)
        lines_write_object(output_stream(p->output), line);
    json_decref(line);
}

static json_t *missing_json(const struct sampler *sampler)
{
    json_t *list = json_array();
    const char *name, *reason;
    for (size_t i = 0; (name = sampler_missing(sampler, i, &reason)) != NULL; i++)
        json_array_append_new(list, json_pack("{s:s,s:s}", "source", name, "text", reason));
    return list;
}

static void put_header(const struct program *p)
{
    char host[256] = "";
    size_t count;
    const struct column *columns = sampler_columns(p->sampler, &count);
    (void)gethostname(host, sizeof(host) - 1);
    json_t *line = json_pack(
        "{s:s,s:i,s:s,s:s,s:I,s:s,s:s,s:o,s:o}", "type", "header", "schema", 1, "program", "nic-sampler",
        "version", HARNESS_VERSION, "every_ns", (json_int_t)p->arguments.every_ns, "host", host, "netdev",
        p->target.netdev, "missing", missing_json(p->sampler), "columns", lines_columns_json(columns, count));
    if (line != NULL)
        lines_write_object(output_stream(p->output), line);
    json_decref(line);
}

static void put_end(const struct program *p, const char *reason)
{
    json_t *line =
        json_pack("{s:s,s:I,s:I,s:I,s:I,s:s}", "type", "end", "time_ns", (json_int_t)clock_realtime_ns(),
                  "samples", (json_int_t)p->samples, "overruns", (json_int_t)p->overruns, "cpu_ns",
                  (json_int_t)clock_process_cpu_ns(), "reason", reason);
    if (line != NULL)
        lines_write_object(output_stream(p->output), line);
    json_decref(line);
}

/* Late ones are told at most once a second. */
static void put_overruns(struct program *p)
{
    int64_t now_ns = clock_monotonic_ns();
    if (p->overruns == p->overruns_told || (p->told_ns != 0 && now_ns - p->told_ns < NS_PER_S))
        return;
    char text[120];
    snprintf(text, sizeof(text), "%lld samples left out, %lld in all: reading takes %lld us",
             (long long)(p->overruns - p->overruns_told), (long long)p->overruns,
             (long long)(p->read_ns / NS_PER_US));
    p->overruns_told = p->overruns;
    p->told_ns = now_ns;
    put_event(p, "timer", "overrun", text);
}

static void put_sample(struct program *p)
{
    struct sample sample;
    size_t count;
    /* Events of this sample stand before it, and a new header before both the values and their events' meaning. */
    bool changed = sampler_take(p->sampler, &sample);
    p->samples++;
    p->read_ns = sample.read_ns;
    if (changed || p->samples == 1)
        put_header(p);
    put_overruns(p);
    (void)sampler_columns(p->sampler, &count);
    lines_write_sample(output_stream(p->output), sample.time_ns, sample.read_ns, sample.values, count);
}

/* ---- Prometheus */

static void put_labels(const struct program *p, struct text *labels)
{
    if (p->target.netdev[0] != '\0')
        prometheus_label(labels, "netdev", p->target.netdev);
    if (p->target.rdma[0] != '\0') {
        text_add(labels, "%s", labels->length > 0 ? "," : "");
        prometheus_label(labels, "rdma", p->target.rdma);
    }
}

static void put_metrics(void *context, struct text *out)
{
    struct program *p = context;
    struct sample sample;
    struct text labels = {0};
    size_t count;
    (void)sampler_take(p->sampler, &sample);
    p->samples++;
    const struct column *columns = sampler_columns(p->sampler, &count);
    put_labels(p, &labels);
    prometheus_write(out, columns, sample.values, count, text_string(&labels));
    prometheus_write_one(out, "nic_sampler_read_seconds", "gauge", "How long reading all sources took.",
                         text_string(&labels), (double)sample.read_ns / 1e9);
    prometheus_write_one(out, "nic_sampler_samples_total", "counter", "Samples taken.", text_string(&labels),
                         (double)p->samples);
    prometheus_write_one(out, "nic_sampler_overruns_total", "counter", "Samples left out for lack of time.",
                         text_string(&labels), (double)p->overruns);
    prometheus_write_one(out, "process_cpu_seconds_total", "counter",
                         "Total user and system CPU time spent in seconds.", "",
                         (double)clock_process_cpu_ns() / 1e9);
    text_free(&labels);
}

/* Nobody may have asked for a long time: counters of 32 bits must be followed nevertheless. */
static void follow(struct program *p)
{
    struct sample sample;
    (void)sampler_take(p->sampler, &sample);
    p->samples++;
    p->read_ns = sample.read_ns;
}

/* ---- the loop */

/* Deadlines are the kernel's: start + n * every, absolute, so that nothing adds up. */
static int start_timer(struct program *p, struct error *e)
{
    int64_t now_ns = clock_monotonic_ns(), every_ns = p->arguments.every_ns;
    struct itimerspec times = {.it_value = {now_ns / NS_PER_S, now_ns % NS_PER_S},
                               .it_interval = {every_ns / NS_PER_S, every_ns % NS_PER_S}};
    p->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (p->timer == -1 || timerfd_settime(p->timer, TFD_TIMER_ABSTIME, &times, NULL) == -1)
        return error_set_errno(e, errno, "cannot make a timer");
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
        return error_set_errno(e, errno, "cannot take signals");
    return 0;
}

enum step { STEP_GO_ON, STEP_COUNT, STEP_SIGNAL, STEP_PIPE, STEP_FAILED };

/* Every deadline that passed while the one before was being served is an overrun. */
static enum step tick(struct program *p, struct error *e)
{
    uint64_t expirations;
    if (read(p->timer, &expirations, sizeof(expirations)) != sizeof(expirations))
        return STEP_GO_ON;
    p->overruns += (int64_t)expirations - 1;
    if (p->output == NULL) {
        follow(p);
        return STEP_GO_ON;
    }
    put_sample(p);
    bool last = p->arguments.count > 0 && p->samples == p->arguments.count;
    if (last)
        put_end(p, "count");
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
    return last ? STEP_COUNT : STEP_GO_ON;
}

static enum step wait_and_step(struct program *p, struct error *e)
{
    /* Standard output is watched for its reader's going only (no events asked for: POLLERR). */
    struct pollfd fds[3 + HTTP_POLL_FDS] = {
        {.fd = p->timer, .events = POLLIN},
        {.fd = p->signals, .events = POLLIN},
        {.fd = p->output != NULL ? STDOUT_FILENO : -1},
    };
    size_t count = 3, served = p->server != NULL ? http_server_poll(p->server, fds + count) : 0;
    if (poll(fds, count + served, -1) == -1) {
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

/* The last line, where there is still a reader. A line that stopped half-way is not followed by another. */
static int finish(struct program *p, enum step step, struct error *e)
{
    if (step == STEP_FAILED) {
        log_error("%s", e->text);
        return EXIT_LAB;
    }
    if (step == STEP_SIGNAL && p->output != NULL) {
        put_end(p, "signal");
        (void)output_send(p->output, -1, NULL);
    }
    return EXIT_DONE;
}

static int run(struct program *p, struct error *e)
{
    if (start_timer(p, e) == -1) {
        log_error("%s", e->text);
        return EXIT_LAB;
    }
    enum step step = STEP_GO_ON;
    while (step == STEP_GO_ON)
        step = wait_and_step(p, e);
    return finish(p, step, e);
}

/* ---- the command line */

static int parse_groups(const char *list, uint32_t *groups, struct error *e)
{
    *groups = 0;
    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        uint32_t bit = 0;
        for (uint32_t i = 0; names_groups[i] != NULL; i++)
            if (strlen(names_groups[i]) == length && strncmp(names_groups[i], list, length) == 0)
                bit = 1U << i;
        if (bit == 0) {
            char word[32];
            snprintf(word, sizeof(word), "%.*s", (int)(length < 31 ? length : 31), list);
            const char *near = options_nearest(word, names_groups);
            return error_set(e, "--groups: there is no group \"%s\"%s%s; there are %s", word,
                             near != NULL ? ", did you mean " : "", near != NULL ? near : "",
                             "pfc, ecn, throughput, drops, errors, pcie, queue, link, dcqcn, other");
        }
        *groups |= bit;
        list += length + (list[length] == ',');
    }
    return *groups != 0 ? 0 : error_set(e, "--groups: no group is named");
}

/* "mlx5_0" or "mlx5_0/1" */
static int parse_rdma(const char *text, struct target *target, struct error *e)
{
    size_t length = strcspn(text, "/");
    int64_t port = 1;
    if (length == 0 || length >= sizeof(target->rdma) ||
        (text[length] == '/' && (!sysfs_parse_number(text + length + 1, &port) || port < 1 || port > 255)))
        return error_set(e, "--rdma %.80s: expected a device and perhaps a port, such as mlx5_0/1", text);
    memcpy(target->rdma, text, length);
    target->rdma[length] = '\0';
    target->rdma_port = (unsigned int)port;
    return 0;
}

static int find_netdev(const char *name, struct target *target, struct error *e)
{
    if (strlen(name) >= sizeof(target->netdev) || !sysfs_safe_name(name))
        return error_set(e, "--netdev %.80s: this cannot be the name of a network interface", name);
    snprintf(target->netdev, sizeof(target->netdev), "%s", name);
    target->ifindex = if_nametoindex(name);
    if (target->ifindex != 0)
        return 0;
    struct if_nameindex *names = if_nameindex();
    struct text there = {0};
    for (size_t i = 0; names != NULL && names[i].if_index != 0 && i < 32; i++)
        text_add(&there, "%s%s", i > 0 ? ", " : "", names[i].if_name);
    if (names != NULL)
        if_freenameindex(names);
    error_set(e, "there is no network interface %s; there are: %s", name, text_string(&there));
    text_free(&there);
    return -1;
}

static int make_target(struct program *p, struct error *e)
{
    const struct arguments *a = &p->arguments;
    p->target = (struct target){.root = a->root != NULL ? a->root : "",
                                .gpu = (int)a->gpu,
                                .optional_counters = a->optional_counters > 0,
                                .every_ns = a->every_ns};
    if (a->netdev == NULL && a->rdma == NULL && a->gpu < 0)
        return error_set(e,
                         "nothing to sample: name an interface with --netdev, a device with --rdma or --gpu");
    if (a->netdev != NULL && find_netdev(a->netdev, &p->target, e) == -1)
        return -1;
    if (a->rdma != NULL && parse_rdma(a->rdma, &p->target, e) == -1)
        return -1;
    p->groups = UINT32_MAX;
    return a->groups != NULL ? parse_groups(a->groups, &p->groups, e) : 0;
}

/* Counters stand still on an interface that is down; that is worth a word, not an error. */
static void warn_when_down(const struct target *target)
{
    struct ifreq r = {0};
    int s = target->ifindex != 0 ? socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    if (s == -1)
        return;
    memcpy(r.ifr_name, target->netdev, sizeof(r.ifr_name));
    if (ioctl(s, SIOCGIFFLAGS, &r) == 0 && !(r.ifr_flags & IFF_UP))
        log_warning("%s is down: its counters stand still until `ip link set %s up`", target->netdev,
                    target->netdev);
    close(s);
}

static void tell_missing(const struct sampler *sampler)
{
    const char *name, *reason;
    for (size_t i = 0; (name = sampler_missing(sampler, i, &reason)) != NULL; i++)
        log_info("not read: %s: %s", name, reason);
}

/* Wanted, not needed: without the right to it, sampling goes on at ordinary priority. */
static void go_first(void)
{
    const struct sched_param first = {.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) == -1)
        log_warning("--realtime: no right to it (%s); sampling at ordinary priority", strerror(errno));
}

static int open_program(struct program *p, struct error *e)
{
    if (p->arguments.realtime)
        go_first();
    p->sampler = sampler_open(&p->target, p->groups, put_event, p, e);
    if (p->sampler == NULL || take_signals(p, e) == -1)
        return -1;
    if (p->arguments.prometheus != NULL)
        p->server = http_server_open(p->arguments.prometheus, put_metrics, p, e);
    else
        p->output = output_open(STDOUT_FILENO, e);
    return p->server != NULL || p->output != NULL ? 0 : -1;
}

static void close_program(struct program *p)
{
    http_server_close(p->server);
    output_close(p->output);
    sampler_close(p->sampler);
    if (p->timer != -1)
        close(p->timer);
    if (p->signals != -1)
        close(p->signals);
}

static int sample(struct program *p)
{
    struct error e = {0};
    if (p->arguments.every_ns == 0)
        p->arguments.every_ns = p->arguments.prometheus != NULL ? NS_PER_S : 10 * NS_PER_MS;
    if (make_target(p, &e) == -1) {
        log_error("%s", e.text);
        return EXIT_USAGE;
    }
    int status = EXIT_LAB;
    if (open_program(p, &e) == -1) {
        log_error("%s", e.text);
    } else {
        tell_missing(p->sampler);
        warn_when_down(&p->target);
        if (p->server != NULL)
            log_info("serving /metrics at port %d", http_server_port(p->server));
        status = run(p, &e);
    }
    close_program(p);
    return status;
}

int main(int argc, char **argv)
{
    struct program p = {.arguments = {.gpu = -1}, .timer = -1, .signals = -1};
    struct error e = {0};
    const char **rest = NULL;
    size_t count = 0;
    if (options_parse(specs, argc, argv, &p.arguments, &rest, &count, &e) == -1) {
        log_error("%s", e.text);
        return EXIT_USAGE;
    }
    int status = EXIT_DONE;
    if (p.arguments.help) {
        options_help(stdout, "nic-sampler", "--netdev IF [OPTION...]",
                     "Prints the counters of a NIC and what belongs to it as JSON lines.", specs);
    } else if (p.arguments.version) {
        printf("nic-sampler %s\n", HARNESS_VERSION);
    } else if (count > 0) {
        log_error("\"%s\" is not expected: options only, see --help", rest[0]);
        status = EXIT_USAGE;
    } else {
        status = sample(&p);
    }
    options_free(specs, &p.arguments, rest);
    return status;
}
