/* The capture of a run between real hosts: which ports, where a host shows its NIC's frames, the
 * capturers, and the file at the end. */
#include "harness/labs/hosts/capture/capture.h"

#include "harness/labs/hosts/parallel.h"
#include "harness/labs/hosts/capture/pcaps.h"
#include "harness/labs/hosts/start.h"
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/packets/capture.h"
#include "lib/text.h"
#include "lib/words.h"
#include "lib/xalloc.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAD_NS                                                                                \
    (5 * NS_PER_S) /* a capturer is started this long before its phase: connecting may be slow \
                      \ */

/* ---- which ports are captured */

/* "NODE" or "NODE:0": the host that plays this role, or has this name; NULL: there is none, or it is
 * another port. */
static const struct lab_host *host_of_port(const struct lab *lab, const char *port)
{
    const char *colon = strrchr(port, ':');
    char name[256];
    if (colon && strcmp(colon, ":0") != 0)
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)(colon ? colon - port : 255), port);
    return lab_real_host(lab, name);
}

static bool can_be_captured(const struct lab_host *host)
{
    return !lab_forwards(host) && host->extra_nics.count == 0;
}

static int check_port(const struct lab *lab, const char *port, size_t i, struct error *e)
{
    const struct lab_host *host = host_of_port(lab, port);
    if (!host)
        return error_set(e,
                         "capture.ports[%zu]: \"%.80s\": lab %s has no such port: expected the name of a "
                         "role or host, whose NIC is its port 0",
                         i, port, lab->name);
    return can_be_captured(host)
               ? 0
               : error_set(e,
                           "capture.ports[%zu]: \"%.80s\": host %s forwards: on real hosts frames are "
                           "captured where they are sent and received only",
                           i, port, host->name);
}

static int check_capture(const struct capture *c, const struct lab *lab, struct error *e)
{
    char *const *ports = c->ports.items;
    const char *chosen = c->flows.count ? "flows" : c->priorities.count ? "priorities" : NULL;
    if (chosen)
        return error_set(e,
                         "capture.%s: frames are chosen in simulated labs only: on the real hosts of lab %s "
                         "all RoCE frames of a port are captured; leave it out with --set capture.%s=[]",
                         chosen, lab->name, chosen);
    for (size_t i = 0; i < c->ports.count; i++)
        if (check_port(lab, ports[i], i, e) != 0)
            return -1;
    return 0;
}

static bool is_captured_host(const struct scenario *scenario, const struct lab *lab,
                             const struct lab_host *host)
{
    const struct list_of *ports = &scenario->capture->ports;
    bool named = ports->count == 0;
    for (size_t i = 0; i < ports->count; i++)
        named |= host_of_port(lab, ((char *const *)ports->items)[i]) == host;
    return host && named && can_be_captured(host);
}

int host_capture_check(const struct scenario *scenario, const struct lab *lab, struct error *e)
{
    return scenario->capture ? check_capture(scenario->capture, lab, e) : 0;
}

/* ---- where a host shows the frames of its NIC */

#define TAP_NAME_SIZE 64

/* A way in which frames can be seen. */
struct tap_place {
    const char *name;
    const char *filter;  /* of frames: an expression of pcap-filter(7) */
    uint32_t before;     /* bytes of a captured frame before that of the NIC */
    bool ns;             /* its times are those of the kernel, in nanoseconds; else microseconds */
    const char *through; /* for people */
    const char *unseen;  /* what is not seen there; NULL: nothing */
};

struct tap {
    char tcpdump[TAP_NAME_SIZE * 2],
        on[TAP_NAME_SIZE]; /* the program, and the interface that it listens on */
    const struct tap_place *place;
    uint8_t address[6]; /* of the NIC */
};

#define ROCE_AND_PAUSES "udp dst port 4791 or ether proto 0x8808 or (vlan and udp dst port 4791)"
/* The virtual ConnectX's frames of type 0x88b5 carry one of its own behind a header of 24 bytes, if its
 * second byte is 0 (virtual-connectx/model/port/credit.h). What is within is not a packet to pcap: places
 * of type, protocol and port are counted, of IPv4, IPv6 and the same behind a VLAN tag. */
#define UDP(TYPE, IP, PROTOCOL, PORT) \
    "(ether[" TYPE ":2] == " IP " and ether[" PROTOCOL "] == 17 and ether[" PORT ":2] == 4791)"
#define ENCLOSED                                                                                             \
    "ether proto 0x88b5 and ether[15] == 0 and (ether[50:2] == 0x8808 or " UDP(                              \
        "50", "0x0800", "61",                                                                                \
        "74") " or " UDP("50", "0x86dd", "58",                                                               \
                         "94") " or (ether[50:2] == 0x8100 and (" UDP("54", "0x0800", "65",                  \
                                                                      "78") " or " UDP("54", "0x86dd", "62", \
                                                                                       "98") ")))"

static const struct tap_place places[] = {
    {"enclosed", ENCLOSED, 14 + 24, true, "the interface that carries the virtual ConnectX's frames", NULL},
    {"plain", ROCE_AND_PAUSES, 0, true, "the interface that carries the virtual ConnectX's frames", NULL},
    {"netdev", ROCE_AND_PAUSES, 0, true, "the kernel's network device", NULL},
    {"rdma", ROCE_AND_PAUSES, 0, false, "the RDMA device (libpcap's rdmasniff)",
     "pause frames, which the NIC keeps to itself"},
};

/*
 * $1: the network device, $2: the RDMA device, if any. Packets of a NIC that implements RoCE do not pass
 * its network device: they are seen at its RDMA device, those of a virtual ConnectX where its frames go.
 * Soft-RoCE's RDMA device has no device below it.
 */
static const char find_tap_script[] =
    "PATH=$PATH:/usr/sbin:/sbin; tcpdump=$(command -v tcpdump) || "
    "{ echo 'tcpdump is not there: it captures frames; install it' >&2; exit 1; }; "
    "device=$(readlink \"/sys/class/net/$1/device\"); "
    "wire=/sys/kernel/debug/virtual-connectx/${device##*.}/wire; "
    "on=$1; place=netdev; "
    "if [ -r \"$wire\" ]; then read -r on place < \"$wire\"; "
    "elif [ -n \"$2\" ] && [ -e \"/sys/class/infiniband/$2/device\" ]; then on=$2; place=rdma; fi; "
    "echo \"$tcpdump $on ${place:-cable} $(cat \"/sys/class/net/$1/address\")\"";

static int read_tap(const struct remote_host *h, const char *answer, struct tap *tap, struct error *e)
{
    char place[16];
    uint8_t *a = tap->address;
    if (sscanf(answer, "%127s %63s %15s %2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx", tap->tcpdump, tap->on, place,
               &a[0], &a[1], &a[2], &a[3], &a[4], &a[5]) != 9 ||
        tap->tcpdump[0] != '/')
        return error_set(e, "host %s: where its frames can be captured is not known: %.200s", h->lab->name,
                         answer);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(place, places[i].name) == 0) {
            tap->place = &places[i];
            return 0;
        }
    return error_set(e,
                     "host %s: %s has its cable within the virtual ConnectX's module (%.60s), where no frame "
                     "can be captured",
                     h->lab->name, h->netdev, tap->on);
}

static int ask_for_tap(struct remote_host *h, struct tap *tap, struct error *e)
{
    const char *const argv[] = {"sh", "-c", find_tap_script, "sh", h->netdev, h->rdma ? h->rdma : "", NULL};
    struct text out = {0};
    int result = ssh_must(h->ssh, argv, NULL, &out, REMOTE_COMMAND_NS, e);
    if (result == 0)
        result = read_tap(h, text_string(&out), tap, e);
    text_free(&out);
    return result == 0 ? 0 : error_prefix(e, "capture");
}

/* The capturer's command line; `snap_bytes` of each frame are kept. */
static void add_capturer_words(const struct tap *tap, int64_t snap_bytes, struct words *w)
{
    words_add(w, "%s", tap->tcpdump);
    words_add_all(w, (const char *const[]){"-n", "-p", "-i", tap->on, "-w", "-", "-B", "16384", NULL});
    words_add(w, "--time-stamp-precision=%s", tap->place->ns ? "nano" : "micro");
    words_add(w, "-s");
    words_add(w, "%" PRId64, snap_bytes + tap->place->before);
    words_add(w, "%s", tap->place->filter);
}

/* ---- before the run */

/* The port of a host. */
struct port {
    size_t role; /* the first that the host has */
    char name[160];
    struct tap tap;
    struct spool spool;
    bool started, ended; /* told to end */
    int64_t frames;
    struct text lacks;
};

struct host_capture {
    struct port *ports;
    size_t count;
    bool phased;               /* the times are known */
    int64_t from_ns, until_ns; /* of the run's clock */
    bool written;
    int64_t bytes, frames, left_out_ns;
};

static const struct capture *capture_wanted(const struct remote_lab *lab)
{
    return lab->run->cell->scenario.capture;
}

static struct remote_host *host_of(const struct remote_lab *lab, const struct port *port)
{
    return &lab->hosts[port->role];
}

static bool is_captured(const struct remote_lab *lab, size_t role)
{
    const struct cell *cell = lab->run->cell;
    return node_is_first(lab, role) && is_captured_host(&cell->scenario, &cell->lab, lab->hosts[role].lab);
}

static int find_tap(struct remote_lab *lab, size_t role, void *context, json_t *warnings, struct error *e)
{
    struct host_capture *c = context;
    (void)warnings;
    for (size_t i = 0; i < c->count; i++)
        if (c->ports[i].role == role)
            return ask_for_tap(&lab->hosts[role], &c->ports[i].tap, e);
    return 0;
}

int host_capture_find(struct remote_lab *lab, struct error *e)
{
    if (!capture_wanted(lab))
        return 0;
    struct host_capture *c = lab->capture = xcalloc(1, sizeof *c);
    struct port *ports = c->ports = xcalloc(lab->host_count + 1, sizeof *ports);
    c->left_out_ns = -1;
    for (size_t role = 0; role < lab->host_count; role++) {
        struct port *port = &ports[c->count];
        if (lab->hosts[role].sonic || !is_captured(lab, role))
            continue;
        *port = (struct port){.role = role, .spool = {.fd = -1}};
        snprintf(port->name, sizeof port->name, "%.140s:0", lab->hosts[role].lab->name);
        c->count++;
    }
    return hosts_in_parallel(lab, lab->host_count, find_tap, c, e);
}

/* ---- capturers */

static int start_capturer(struct remote_lab *lab, struct port *port, struct error *e)
{
    const struct capture *capture = capture_wanted(lab);
    struct words w = {0};
    struct stream_request request = {.kind = STREAM_CAPTURER,
                                     .program = "tcpdump",
                                     .role = port->role,
                                     .host = host_of(lab, port),
                                     .words = &w,
                                     .spool = &port->spool};
    port->started = true;
    add_capturer_words(&port->tap, capture->snap_bytes, &w);
    int result = words_whole(&w, e);
    if (result == 0)
        result = spool_open(&port->spool, lab->run->folder, capture->limit_bytes, e);
    if (result == 0)
        result = start_stream(lab, &request, e);
    words_free(&w);
    return result;
}

static int start_capturers(struct remote_lab *lab, struct error *e)
{
    struct host_capture *c = lab->capture;
    for (size_t i = 0; i < c->count; i++)
        if (!c->ports[i].started && start_capturer(lab, &c->ports[i], e) != 0)
            return -1;
    return 0;
}

int host_capture_start(struct remote_lab *lab, struct error *e)
{
    int64_t phase_ns[4];
    if (!lab->capture)
        return 0;
    scenario_phase_starts(&lab->run->cell->scenario, phase_ns);
    return capture_start_ns(capture_wanted(lab), phase_ns) > LEAD_NS ? 0 : start_capturers(lab, e);
}

void host_capture_phases(struct remote_lab *lab, int64_t start_ns)
{
    struct host_capture *c = lab->capture;
    int64_t phase_ns[4];
    if (!c)
        return;
    bool whole = capture_wanted(lab)->phase == CAPTURE_RUN;
    scenario_phase_starts(&lab->run->cell->scenario, phase_ns);
    c->phased = true;
    c->from_ns = whole ? 0 : start_ns + capture_start_ns(capture_wanted(lab), phase_ns);
    c->until_ns = whole ? INT64_MAX : start_ns + capture_end_ns(capture_wanted(lab), phase_ns);
}

/* Its last frames are on their way: it sends them before it ends. */
static void end_capturer(struct remote_lab *lab, struct port *port)
{
    for (size_t i = 0; i < lab->stream_count; i++)
        if (lab->streams[i].spool == &port->spool)
            stream_tell_end(&lab->streams[i]);
    port->ended = true;
}

int host_capture_update(struct remote_lab *lab, struct error *e)
{
    struct host_capture *c = lab->capture;
    if (!c || !c->phased)
        return 0;
    int64_t now_ns = clock_steady_ns(&lab->clock);
    for (size_t i = 0; i < c->count; i++) {
        struct port *port = &c->ports[i];
        bool over = now_ns - host_of(lab, port)->error_ns >= c->until_ns;
        if (!port->started && !over && now_ns >= c->from_ns - LEAD_NS && start_capturer(lab, port, e) != 0)
            return -1;
        if (port->started && !port->ended && (over || port->spool.full))
            end_capturer(lab, port);
    }
    return 0;
}

/* ---- the file */

static char *make_comment(const struct remote_lab *lab)
{
    const struct cell *cell = lab->run->cell;
    struct text text = {0};
    text_add(&text, "scenario %s, lab %s, seed %llu; times are those of the run's clock", cell->scenario.name,
             cell->lab.name, (unsigned long long)lab->run->seed);
    for (size_t i = 0; i < lab->capture->count; i++) {
        const struct port *port = &lab->capture->ports[i];
        text_add(&text, "; %s: tcpdump at %s, %s, its clock is known to %.3f ms", port->name, port->tap.on,
                 port->tap.place->through, (double)host_of(lab, port)->error_ns / 1e6);
    }
    return text_take(&text);
}

static void add_drops(struct port *port)
{
    if (port->spool.drops < 0)
        text_add(&port->lacks, "%show many frames its capturer lost is not known: it did not say so",
                 port->lacks.length ? "; " : "");
    else if (port->spool.drops > 0)
        text_add(&port->lacks, "%sits capturer lost %lld frames", port->lacks.length ? "; " : "",
                 (long long)port->spool.drops);
}

static void note_outcome(struct remote_lab *lab, const struct merge *m)
{
    struct host_capture *c = lab->capture;
    c->bytes = m->bytes;
    c->frames = m->frames;
    c->left_out_ns = m->left_out_ns;
    for (size_t i = 0; i < c->count; i++) {
        struct port *port = &c->ports[i];
        port->frames = m->ports[i].frames;
        port->lacks = m->ports[i].lacks;
        add_drops(port);
        if (port->lacks.length)
            json_array_append_new(lab->warnings,
                                  json_textf("capture of %s: %s", port->name, text_string(&port->lacks)));
    }
}

int host_capture_finish(struct remote_lab *lab, struct error *e)
{
    struct host_capture *c = lab->capture;
    if (!c || c->written)
        return 0;
    struct merge_port *ports = xcalloc(c->count + 1, sizeof *ports);
    char *comment = make_comment(lab);
    struct merge m = {.ports = ports,
                      .count = c->count,
                      .folder = lab->run->folder,
                      .comment = comment,
                      .from_ns = c->from_ns,
                      .until_ns = c->phased ? c->until_ns : INT64_MAX,
                      .snap_bytes = (uint32_t)capture_wanted(lab)->snap_bytes,
                      .limit_bytes = capture_wanted(lab)->limit_bytes};
    for (size_t i = 0; i < c->count; i++) {
        const struct port *port = &c->ports[i];
        ports[i] = (struct merge_port){.name = port->name,
                                       .fd = port->spool.fd,
                                       .full = port->spool.full,
                                       .before = port->tap.place->before,
                                       .offset_ns = host_of(lab, port)->offset_ns,
                                       .drops = port->spool.drops};
        memcpy(ports[i].address, port->tap.address, sizeof ports[i].address);
    }
    int result = comment ? merge_write(&m, e) : error_set(e, "out of memory");
    c->written = true;
    note_outcome(lab, &m);
    free(ports);
    free(comment);
    return result;
}

/* ---- the result */

static json_t *port_json(const struct remote_lab *lab, const struct port *port)
{
    const struct remote_host *h = host_of(lab, port);
    json_t *json = json_make("{s:s,s:s,s:s,s:I,s:{s:I,s:I}}", "port", port->name, "interface", port->tap.on,
                             "through", port->tap.place->through, "frames", (json_int_t)port->frames, "clock",
                             "offset_ns", (json_int_t)h->offset_ns, "error_ns", (json_int_t)h->error_ns);
    if (port->spool.drops >= 0)
        json_object_set_new(json, "drops", json_integer(port->spool.drops));
    if (port->tap.place->unseen)
        json_object_set_new(json, "unseen", json_text(port->tap.place->unseen));
    if (port->lacks.length)
        json_object_set_new(json, "lacks", json_text(text_string(&port->lacks)));
    return json;
}

void host_capture_add_to_result(const struct remote_lab *lab, json_t *result)
{
    const struct host_capture *c = lab->capture;
    if (!c || !c->written)
        return;
    json_t *ports = json_array();
    for (size_t i = 0; i < c->count; i++)
        json_array_append_new(ports, port_json(lab, &c->ports[i]));
    json_t *capture = json_make("{s:s,s:I,s:I,s:o}", "file", CAPTURE_FILE, "frames", (json_int_t)c->frames,
                                "bytes", (json_int_t)c->bytes, "ports", ports);
    if (c->left_out_ns >= 0) {
        struct text full = {0};
        int64_t phase_ns[4];
        scenario_phase_starts(&lab->run->cell->scenario, phase_ns);
        capture_say_full(lab->run->cell->scenario.capture, phase_ns, c->left_out_ns, &full);
        json_object_set_new(capture, "left_out_from_ns", json_integer(c->left_out_ns));
        json_array_append_new(json_object_get(result, "warnings"), json_text(text_string(&full)));
        text_free(&full);
    }
    json_object_set_new(result, "capture", capture);
}

void host_capture_close(struct remote_lab *lab)
{
    struct host_capture *c = lab->capture;
    if (!c)
        return;
    for (size_t i = 0; i < c->count; i++) {
        spool_close(&c->ports[i].spool);
        text_free(&c->ports[i].lacks);
    }
    free(c->ports);
    free(c);
}
