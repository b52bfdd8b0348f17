#include "verify/verify.h"

#include "lib/document/json_text.h"
#include "lib/document/nearest.h"
#include "lib/text.h"
#include <stdlib.h>
#include <string.h>

#define DECLARE(constant, identifier, name) extern const struct checker checker_##identifier;
CAPTURE_CHECKS(DECLARE)
#undef DECLARE

#define ADDRESS(constant, identifier, name) &checker_##identifier,
const struct checker *const checkers[] = {CAPTURE_CHECKS(ADDRESS) NULL};
#undef ADDRESS

/* A checker at work. */
struct active {
    const struct checker *checker;
    void *state;
    struct findings findings;
    struct verify_context context;
};

struct stream {
    struct capture_reader *capture;
    const struct verify_settings *settings;
    struct states of; /* const struct verify_settings *, by interface */
    struct flows flows;
    struct active active[CAPTURE_CHECK_COUNT];
    size_t count;
    bool wants_icrc;
    uint64_t packets, untimed;
    int64_t end_ns;
};

const struct checker *verify_find(const char *name, struct error *e)
{
    for (size_t i = 0; i < CAPTURE_CHECK_COUNT; i++)
        if (strcmp(capture_check_names[i], name) == 0)
            return checkers[i];
    const char *near = nearest_word(name, capture_check_names);
    struct text known = {0};
    for (size_t i = 0; i < CAPTURE_CHECK_COUNT; i++)
        text_add(&known, "%s%s", i ? ", " : "", capture_check_names[i]);
    if (near)
        error_set(e, "\"%.60s\" is not a checker; did you mean %s?", name, near);
    else
        error_set(e, "\"%.60s\" is not a checker; there are %s", name, text_string(&known));
    text_free(&known);
    return NULL;
}

#define WIRE_EXTRA_BYTES (FRAME_FCS_BYTES + 20) /* preamble and gap */

int64_t verify_wire_ns(const struct verify_context *c, uint32_t bytes)
{
    return c->rate_bps > 0 ? (int64_t)((double)(bytes + WIRE_EXTRA_BYTES) * 8e9 / (double)c->rate_bps) + 1
                           : 0;
}

/* ---- interfaces */

static int64_t rate_of(const struct verify_settings *settings, const struct capture_interface *i)
{
    return settings->rate_bps != FIELD_UNSET ? settings->rate_bps : i->rate_bps;
}

static const struct verify_settings *settings_at(struct stream *s, uint32_t interface)
{
    if (!s->settings->ports.count)
        return s->settings;
    const struct verify_settings **at = states_at(&s->of, interface, sizeof *at);
    if (at && !*at)
        *at = verify_settings_of(s->settings, capture_read_interface(s->capture, interface)->name);
    return at ? *at : s->settings;
}

/* Bytes of the node's name in "NODE:PORT", or all. */
static size_t node_length(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? (size_t)(colon - name) : strlen(name);
}

uint32_t verify_node_of(const struct verify_context *c, uint32_t interface)
{
    const char *name = capture_read_interface(c->capture, interface)->name;
    size_t length = node_length(name);
    if (!length)
        return VERIFY_NO_NODE;
    for (uint32_t i = 0; i < interface; i++) {
        const char *other = capture_read_interface(c->capture, i)->name;
        if (node_length(other) == length && memcmp(other, name, length) == 0)
            return i;
    }
    return interface;
}

void verify_turn_to(struct verify_context *c, uint32_t interface)
{
    const struct capture_interface *i = capture_read_interface(c->capture, interface);
    c->settings = c->of_all->ports.count ? verify_settings_of(c->of_all, i->name) : c->of_all;
    c->rate_bps = rate_of(c->settings, i);
}

/* ---- one packet */

/* Is this end of a packet the interface's own? */
static bool is_own(const struct stream *s, const struct capture_interface *i, const uint8_t mac[6],
                   const uint8_t address[16])
{
    if (i->addressed && memcmp(i->address, mac, 6) == 0)
        return true;
    return s->settings->address_count && verify_settings_has(s->settings, address);
}

static void packet_locate(struct stream *s, const struct verify_settings *settings,
                          const struct capture_interface *i, struct verify_packet *p)
{
    const struct frame_roce *roce = &p->frame.roce;
    p->sent_here = p->direction != CAPTURE_INBOUND && is_own(s, i, p->frame.ethernet.source, roce->ip.source);
    p->received_here =
        p->direction != CAPTURE_OUTBOUND && is_own(s, i, p->frame.ethernet.destination, roce->ip.destination);
    if (p->direction == CAPTURE_UNKNOWN && p->sent_here != p->received_here)
        p->direction = p->sent_here ? CAPTURE_OUTBOUND : CAPTURE_INBOUND;
    p->priority = verify_settings_priority(settings, p->frame.ethernet.tagged, p->frame.ethernet.priority,
                                           roce->ip.dscp);
    p->flow = flows_of(&s->flows, p->interface, roce);
}

/* PFC and pause frames are sent by the port itself, to its peer. */
static void packet_locate_control(const struct capture_interface *i, struct verify_packet *p)
{
    p->sent_here = p->received_here = false;
    p->flow = FLOW_NONE;
    p->priority = -1;
    if (p->direction == CAPTURE_UNKNOWN && i->addressed)
        p->direction =
            memcmp(i->address, p->frame.ethernet.source, 6) == 0 ? CAPTURE_OUTBOUND : CAPTURE_INBOUND;
}

static void stream_judge_packet(struct stream *s, const struct capture_packet *from)
{
    const struct capture_interface *i = capture_read_interface(s->capture, from->interface);
    const struct verify_settings *settings = settings_at(s, from->interface);
    struct verify_packet p;
    p.number = from->number;
    bool timed = from->timed && s->settings->times;
    p.time_ns = timed ? from->time_ns : -1;
    p.interface = from->interface;
    p.direction = from->direction;
    p.bytes = from->original;
    frame_read(from->bytes, from->captured, &p.frame);
    p.icrc = s->wants_icrc ? frame_read_icrc(from->bytes, from->captured) : FRAME_ICRC_NONE;
    if (p.frame.kind == FRAME_ROCE)
        packet_locate(s, settings, i, &p);
    else
        packet_locate_control(i, &p);
    s->packets++;
    s->untimed += !timed;
    if (p.time_ns > s->end_ns)
        s->end_ns = p.time_ns;
    for (size_t k = 0; k < s->count; k++) {
        s->active[k].context.settings = settings;
        s->active[k].context.rate_bps = rate_of(settings, i);
        s->active[k].context.end_ns = s->end_ns;
        s->active[k].checker->frame(s->active[k].state, &s->active[k].context, &p);
    }
}

/* ---- the whole */

static int stream_begin(struct stream *s, const struct checker *const *which, struct error *e)
{
    if (flows_init(&s->flows, e) != 0)
        return -1;
    for (; which[s->count] && s->count < CAPTURE_CHECK_COUNT; s->count++) {
        struct active *a = &s->active[s->count];
        a->checker = which[s->count];
        a->state = calloc(1, a->checker->state_bytes);
        if (!a->state)
            return error_set(e, "out of memory for the checker %s", capture_check_names[a->checker->check]);
        a->context = (struct verify_context){.settings = s->settings,
                                             .of_all = s->settings,
                                             .flows = &s->flows,
                                             .capture = s->capture,
                                             .findings = &a->findings};
        s->wants_icrc = s->wants_icrc || a->checker == &checker_icrc;
    }
    return 0;
}

/* What holds for every checker. A capture that lost packets proves no fault. */
static void say_limits(const struct stream *s, struct active *a)
{
    for (uint32_t i = 0; i < capture_read_interfaces(s->capture); i++) {
        const struct capture_interface *at = capture_read_interface(s->capture, i);
        if (at->dropped)
            findings_not_judged(
                &a->findings,
                "the capture itself lost %llu packets of interface %u: what is missing may be these",
                (unsigned long long)at->dropped, i);
    }
    if (s->flows.left_out)
        findings_not_judged(&a->findings, "%llu packets of more than %u flows",
                            (unsigned long long)s->flows.left_out, FLOWS_MOST);
    if (s->untimed)
        findings_not_judged(&a->findings, "times of %llu packets, which have none of the wire",
                            (unsigned long long)s->untimed);
}

static json_t *finish(struct stream *s)
{
    json_t *checks = json_array();
    for (size_t i = 0; i < s->count; i++) {
        struct active *a = &s->active[i];
        a->context.settings = s->settings;
        a->checker->end(a->state, &a->context);
        say_limits(s, a);
        json_array_append_new(checks, findings_json(&a->findings, capture_check_names[a->checker->check]));
    }
    json_t *document = json_make("{s:I,s:o}", "packets", (json_int_t)s->packets, "checks", checks);
    if (capture_read_cut(s->capture))
        json_object_set_new(document, "cut", json_text(capture_read_cut(s->capture)));
    return document;
}

static void release(struct stream *s)
{
    for (size_t i = 0; i < CAPTURE_CHECK_COUNT; i++) {
        if (s->active[i].state && s->active[i].checker->free)
            s->active[i].checker->free(s->active[i].state);
        free(s->active[i].state);
        findings_free(&s->active[i].findings);
    }
    flows_free(&s->flows);
    free(s->of.items);
    free(s);
}

json_t *verify_capture(struct capture_reader *capture, const struct verify_settings *settings,
                       const struct checker *const *which, struct error *e)
{
    struct stream *s = calloc(1, sizeof *s);
    if (!s) {
        error_set(e, "out of memory");
        return NULL;
    }
    s->capture = capture;
    s->settings = settings;
    struct capture_packet packet;
    int result = stream_begin(s, which, e);
    if (result == 0)
        while ((result = capture_read_next(capture, &packet, e)) > 0)
            stream_judge_packet(s, &packet);
    json_t *document = result == 0 ? finish(s) : NULL;
    release(s);
    return document;
}
