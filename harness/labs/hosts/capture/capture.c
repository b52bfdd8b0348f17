#include "harness/labs/hosts/capture/capture.h"

#include "harness/labs/hosts/at_once.h"
#include "harness/labs/hosts/capture/merge.h"
#include "harness/labs/hosts/capture/spool.h"
#include "harness/labs/hosts/capture/tap.h"
#include "harness/labs/hosts/start.h"
#include "harness/labs/hosts/capture/ports.h"
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/packets/capture.h"
#include <stdlib.h>
#include <string.h>

#define LEAD_NS (5 * NS_PER_S) /* a capturer is started so long before its phase; connecting may be slow */

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

static const struct capture *wanted(const struct remote_lab *lab)
{
    return lab->run->cell->scenario.capture;
}

static struct remote_host *host_of(const struct remote_lab *lab, const struct port *port)
{
    return &lab->hosts[port->role];
}

/* ---- before the run */

static bool is_captured(const struct remote_lab *lab, size_t role)
{
    const struct cell *cell = lab->run->cell;
    return host_is_first(lab, role) && packets_captured(&cell->scenario, &cell->lab, lab->hosts[role].lab);
}

static int find_tap(struct remote_lab *lab, size_t role, void *context, json_t *warnings, struct error *e)
{
    struct host_capture *c = context;
    (void)warnings;
    for (size_t i = 0; i < c->count; i++)
        if (c->ports[i].role == role)
            return tap_find(&lab->hosts[role], &c->ports[i].tap, e);
    return 0;
}

int host_capture_find(struct remote_lab *lab, struct error *e)
{
    if (!wanted(lab))
        return 0;
    struct host_capture *c = lab->capture = calloc(1, sizeof *c);
    struct port *ports = c ? calloc(lab->host_count + 1, sizeof *ports) : NULL;
    if (!ports)
        return error_set(e, "out of memory");
    c->ports = ports;
    c->left_out_ns = -1;
    for (size_t role = 0; role < lab->host_count; role++) {
        struct port *port = &ports[c->count];
        if (lab->hosts[role].sonic || !is_captured(lab, role))
            continue;
        *port = (struct port){.role = role, .spool = {.fd = -1}};
        snprintf(port->name, sizeof port->name, "%.140s:0", lab->hosts[role].lab->name);
        c->count++;
    }
    return hosts_at_once(lab, lab->host_count, find_tap, c, e);
}

/* ---- capturers */

static int start_one(struct remote_lab *lab, struct port *port, struct error *e)
{
    const struct capture *capture = wanted(lab);
    struct words w = {0};
    struct stream_request request = {.kind = STREAM_CAPTURER,
                                     .program = "tcpdump",
                                     .role = port->role,
                                     .host = host_of(lab, port),
                                     .words = &w,
                                     .spool = &port->spool};
    port->started = true;
    tap_words(&port->tap, capture->snap_bytes, &w);
    int result = words_whole(&w, e);
    if (result == 0)
        result = spool_open(&port->spool, lab->run->folder, capture->limit_bytes, e);
    if (result == 0)
        result = start_stream(lab, &request, e);
    words_free(&w);
    return result;
}

static int start_all(struct remote_lab *lab, struct error *e)
{
    struct host_capture *c = lab->capture;
    for (size_t i = 0; i < c->count; i++)
        if (!c->ports[i].started && start_one(lab, &c->ports[i], e) != 0)
            return -1;
    return 0;
}

int host_capture_start(struct remote_lab *lab, struct error *e)
{
    int64_t phase_ns[4];
    if (!lab->capture)
        return 0;
    scenario_phase_starts(&lab->run->cell->scenario, phase_ns);
    return capture_start_ns(wanted(lab), phase_ns) > LEAD_NS ? 0 : start_all(lab, e);
}

void host_capture_phases(struct remote_lab *lab, int64_t start_ns)
{
    struct host_capture *c = lab->capture;
    int64_t phase_ns[4];
    if (!c)
        return;
    bool whole = wanted(lab)->phase == CAPTURE_RUN;
    scenario_phase_starts(&lab->run->cell->scenario, phase_ns);
    c->phased = true;
    c->from_ns = whole ? 0 : start_ns + capture_start_ns(wanted(lab), phase_ns);
    c->until_ns = whole ? INT64_MAX : start_ns + capture_end_ns(wanted(lab), phase_ns);
}

/* Its last frames are on their way: it sends them before it ends. */
static void end_one(struct remote_lab *lab, struct port *port)
{
    for (size_t i = 0; i < lab->stream_count; i++)
        if (lab->streams[i].spool == &port->spool)
            stream_tell_end(&lab->streams[i]);
    port->ended = true;
}

int host_capture_tend(struct remote_lab *lab, struct error *e)
{
    struct host_capture *c = lab->capture;
    if (!c || !c->phased)
        return 0;
    int64_t now_ns = clock_steady_ns(&lab->clock);
    for (size_t i = 0; i < c->count; i++) {
        struct port *port = &c->ports[i];
        bool over = now_ns - host_of(lab, port)->error_ns >= c->until_ns;
        if (!port->started && !over && now_ns >= c->from_ns - LEAD_NS && start_one(lab, port, e) != 0)
            return -1;
        if (port->started && !port->ended && (over || port->spool.full))
            end_one(lab, port);
    }
    return 0;
}

/* ---- the file */

static char *comment_of(const struct remote_lab *lab)
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

static void say_drops(struct port *port)
{
    if (port->spool.drops < 0)
        text_add(&port->lacks, "%show many frames its capturer lost is not known: it did not say so",
                 port->lacks.length ? "; " : "");
    else if (port->spool.drops > 0)
        text_add(&port->lacks, "%sits capturer lost %lld frames", port->lacks.length ? "; " : "",
                 (long long)port->spool.drops);
}

static void take_outcome(struct remote_lab *lab, const struct merge *m)
{
    struct host_capture *c = lab->capture;
    c->bytes = m->bytes;
    c->frames = m->frames;
    c->left_out_ns = m->left_out_ns;
    for (size_t i = 0; i < c->count; i++) {
        struct port *port = &c->ports[i];
        port->frames = m->ports[i].frames;
        port->lacks = m->ports[i].lacks;
        say_drops(port);
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
    struct merge_port *ports = calloc(c->count + 1, sizeof *ports);
    char *comment = comment_of(lab);
    struct merge m = {.ports = ports,
                      .count = c->count,
                      .folder = lab->run->folder,
                      .comment = comment,
                      .from_ns = c->from_ns,
                      .until_ns = c->phased ? c->until_ns : INT64_MAX,
                      .snap_bytes = (uint32_t)wanted(lab)->snap_bytes,
                      .limit_bytes = wanted(lab)->limit_bytes};
    for (size_t i = 0; ports && i < c->count; i++) {
        const struct port *port = &c->ports[i];
        ports[i] = (struct merge_port){.name = port->name,
                                       .fd = port->spool.fd,
                                       .full = port->spool.full,
                                       .before = port->tap.place->before,
                                       .offset_ns = host_of(lab, port)->offset_ns,
                                       .drops = port->spool.drops};
        memcpy(ports[i].address, port->tap.address, sizeof ports[i].address);
    }
    int result = ports && comment ? merge_write(&m, e) : error_set(e, "out of memory");
    c->written = true;
    if (ports)
        take_outcome(lab, &m);
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
    if (c->left_out_ns >= 0)
        json_object_set_new(capture, "left_out_from_ns", json_integer(c->left_out_ns));
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
