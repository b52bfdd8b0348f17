#include "verify/verify.h"

#include "lib/document/json_text.h"
#include "lib/document/nearest.h"
#include "lib/packets/opcode.h"
#include "lib/text.h"
#include "lib/units.h"
#include "verify/psn.h"
#include <stdarg.h>
#include <stdio.h>
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
    bool silent; /* it was not asked for: it looks for what is missing from the capture */
    struct findings findings;
    struct verify_context context;
};

/* What the packets of an interface say of it. */
struct learned {
    bool known, several; /* the port's hardware address, where the capture does not say it: that of packets
                            which its host sends or gets */
    bool cut;            /* a packet could not be read: what comes behind it may miss it */
    uint8_t address[6];
};

/* Frames that no checker judges. */
struct seen {
    uint64_t packets, roce; /* of which so many have a RoCEv2 packet within, */
    uint64_t unread;        /* and so many more may be RoCEv2 */
    uint16_t port;          /* of the first, */
    uint16_t inner_at;      /* and where the frame within it begins */
};

/* The first packets, which are taken before they are judged: what they show of clocks holds for them, too. */
#define AHEAD_PACKETS 1024
#define AHEAD_BYTES   (1u << 20)

struct ahead {
    struct capture_packet *packets; /* `bytes` of each follow each other from `bytes` on */
    uint8_t *bytes;
    size_t count, used;
    bool whole; /* all packets of the capture were taken */
};

/* Requests of a flow: a packet that is there twice comes again at once. */
struct repeats {
    bool begun;
    uint32_t psn; /* of the last one, */
    int64_t time_ns;
};

#define REPEAT_NS     4096 /* no time-out is shorter */
#define REPEATS_LEAST 4
#define REPEATS_MOST  0.25 /* of the requests, beside those that NAKs have asked for */

struct stream {
    struct capture_reader *capture;
    const struct verify_settings *settings;
    struct states of;      /* const struct verify_settings *, by interface */
    struct states learned; /* struct learned, by interface */
    struct states clocks;  /* struct clock, by interface */
    struct ahead ahead;
    struct seen others[FRAME_OTHERS];
    uint64_t roce, cut, cut_extensions, behind_cut;
    uint32_t cut_bytes; /* the most that were captured of one of these */
    struct flows flows;
    struct active active[CAPTURE_CHECK_COUNT];
    size_t count;
    bool wants_icrc;
    struct verify_missing missing;
    bool lost;   /* packets, by the capture itself, or among what is not read */
    bool copies; /* it has packets twice */
    uint64_t packets;
    struct states repeats;             /* struct repeats, by flow */
    uint64_t requests, repeated, naks; /* of connections at the ports of their hosts */
    uint64_t both_ends;                /* packets whose sender and receiver may both be those of the port */
    uint64_t last_number;              /* of the last packet, and its time */
    int64_t last_ns;
    int64_t end_ns;
    struct findings common; /* what holds for all checkers */
    struct text untimed;    /* why times are not judged, first of all */
    struct text disordered; /* why the order of packets proves nothing; "": it does */
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

#define UNTIMED_SAID 4 /* interfaces whose times are not judged */

#define WIRE_EXTRA_BYTES (FRAME_FCS_BYTES + 20) /* preamble and gap */

int64_t verify_wire_ns(const struct verify_context *c, uint32_t bytes)
{
    return c->rate_bps > 0
               ? (int64_t)((double)(bytes + WIRE_EXTRA_BYTES) * 8e9 / (double)c->rate_bps) + 1 + c->unit_ns
               : 0;
}

void verify_note_missing(struct verify_context *c, const char *format, ...)
{
    va_list arguments;
    if (c->of_all->complete || c->missing->count++)
        return;
    va_start(arguments, format);
    vsnprintf(c->missing->first, sizeof c->missing->first, format, arguments);
    va_end(arguments);
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

/* Times of nanoseconds are as fine as here. */
static int64_t coarse_unit_ns(const struct capture_interface *i)
{
    int64_t unit_ns = capture_unit_ns(i);
    return unit_ns > 1 ? unit_ns : 0;
}

void verify_turn_to(struct verify_context *c, uint32_t interface)
{
    const struct capture_interface *i = capture_read_interface(c->capture, interface);
    const struct clock *clock = states_have(c->clocks, interface, sizeof *clock);
    c->settings = c->of_all->ports.count ? verify_settings_of(c->of_all, i->name) : c->of_all;
    c->rate_bps = rate_of(c->settings, i);
    c->unit_ns = coarse_unit_ns(i);
    c->end_ns = clock && clock->untimed ? clock->end_ns : c->all_end_ns;
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

static void stream_learn_address(struct stream *s, uint32_t interface, const uint8_t address[6])
{
    struct learned *l = states_at(&s->learned, interface, sizeof *l);
    if (l && !l->known)
        memcpy(l->address, address, sizeof l->address);
    else if (l && memcmp(l->address, address, sizeof l->address) != 0)
        l->several = true;
    if (l)
        l->known = true;
}

/* The address of the interface's port; NULL: not known. */
static const uint8_t *stream_own_address(const struct stream *s, const struct capture_interface *i,
                                         uint32_t interface)
{
    const struct learned *l = states_have(&s->learned, interface, sizeof *l);
    return i->addressed ? i->address : l && l->known && !l->several ? l->address : NULL;
}

static void packet_locate(struct stream *s, const struct verify_settings *settings,
                          const struct capture_interface *i, struct verify_packet *p)
{
    const struct frame_roce *roce = &p->frame.roce;
    const struct frame_ethernet *ethernet = &p->frame.ethernet;
    p->sent_here = p->direction != CAPTURE_INBOUND && is_own(s, i, ethernet->source, roce->ip.source);
    p->received_here =
        p->direction != CAPTURE_OUTBOUND && is_own(s, i, ethernet->destination, roce->ip.destination);
    if (p->direction == CAPTURE_UNKNOWN && p->sent_here != p->received_here)
        p->direction = p->sent_here ? CAPTURE_OUTBOUND : CAPTURE_INBOUND;
    if (!i->addressed && p->sent_here)
        stream_learn_address(s, p->interface, ethernet->source);
    if (!i->addressed && p->received_here)
        stream_learn_address(s, p->interface, ethernet->destination);
    p->priority = verify_settings_priority(settings, ethernet->tagged, ethernet->priority, roce->ip.dscp);
    p->flow = flows_of(&s->flows, p->interface, roce);
}

/* PFC and pause frames are sent by the port itself, to its peer. */
static void packet_locate_control(struct verify_packet *p)
{
    p->sent_here = p->received_here = false;
    p->flow = FLOW_NONE;
    p->priority = -1;
    if (p->direction == CAPTURE_UNKNOWN && p->own)
        p->direction = memcmp(p->own, p->frame.ethernet.source, 6) == 0 ? CAPTURE_OUTBOUND : CAPTURE_INBOUND;
}

/* Captures of both ends in one file, and those of mirrors of both directions, have packets twice. */
static void stream_count_repeat(struct stream *s, const struct verify_packet *p, bool addressed)
{
    const struct frame_roce *roce = &p->frame.roce;
    const struct opcode_row *row = opcode_find(roce->bth.opcode);
    enum opcode_service service = OPCODE_SERVICE(roce->bth.opcode);
    if (p->flow == FLOW_NONE || !row || !(p->sent_here || p->received_here) ||
        (service != OPCODE_RC && service != OPCODE_XRC && service != OPCODE_UC))
        return;
    s->both_ends += p->sent_here && p->received_here && !addressed;
    if (row->response) {
        s->naks += row->aeth && AETH_KIND(roce->aeth.syndrome) != AETH_ACK;
        return;
    }
    int64_t set_ns = s->settings->ack_timeout_ns;
    int64_t at_once_ns = set_ns != FIELD_UNSET && set_ns < REPEAT_NS ? set_ns / 2 : REPEAT_NS;
    struct repeats *of = states_at(&s->repeats, p->flow, sizeof *of);
    if (!of)
        return;
    s->requests++;
    s->repeated +=
        of->begun && psn_after(roce->bth.psn, of->psn) <= 0 && verify_since_ns(p, of->time_ns) < at_once_ns;
    *of = (struct repeats){.begun = true, .psn = roce->bth.psn, .time_ns = p->time_ns};
}

/* Frames of which nothing is judged are counted, for the sentences at the end. */
static void stream_count_frame(struct stream *s, const struct capture_packet *from, struct frame *f)
{
    bool cut = f->kind == FRAME_CUT || (f->kind == FRAME_ROCE && f->roce.cut);
    if (cut &&
        from->captured >= from->original) { /* not by the capture: it says that it has more than it has */
        f->kind = FRAME_OTHER;
        f->other.is = FRAME_OTHER_MALFORMED;
        f->other.inner_at = 0;
        f->other.may_be_roce = true;
        cut = false;
    }
    if (cut && from->captured > s->cut_bytes)
        s->cut_bytes = from->captured;
    s->roce += f->kind == FRAME_ROCE;
    s->cut += f->kind == FRAME_CUT;
    s->cut_extensions += cut && f->kind == FRAME_ROCE;
    if (f->kind != FRAME_OTHER)
        return;
    struct seen *seen = &s->others[f->other.is];
    uint16_t inner_at = f->other.inner_at;
    bool may_be_roce = f->other.may_be_roce;
    if (seen->packets++ == 0)
        seen->port = f->other.port;
    struct frame inner = {.kind = FRAME_OTHER};
    if (inner_at && inner_at < from->captured) {
        frame_read(from->bytes + inner_at, from->captured - inner_at, &inner);
        may_be_roce = inner.kind == FRAME_CUT || (inner.kind == FRAME_OTHER && inner.other.may_be_roce);
    }
    if (inner.kind == FRAME_ROCE && seen->roce++ == 0)
        seen->inner_at = inner_at;
    seen->unread += may_be_roce;
}

/* Mirrors may cut packets before they are captured: their own headers say how long they were. */
static uint32_t wire_bytes(const struct capture_packet *from, const struct frame *f)
{
    size_t stated = f->kind == FRAME_ROCE ? frame_length(f) : 0;
    return stated > from->original ? (uint32_t)stated : from->original;
}

static void stream_judge_packet(struct stream *s, const struct capture_packet *from)
{
    const struct capture_interface *i = capture_read_interface(s->capture, from->interface);
    const struct verify_settings *settings = settings_at(s, from->interface);
    struct verify_packet p;
    p.number = from->number;
    struct clock *clock = states_have(&s->clocks, from->interface, sizeof *clock);
    p.time_ns = s->settings->times && clock ? clock_judge(clock, from, s->ahead.whole) : -1;
    p.interface = from->interface;
    p.direction = from->direction;
    frame_read(from->bytes, from->captured, &p.frame);
    p.bytes = wire_bytes(from, &p.frame);
    stream_count_frame(s, from, &p.frame);
    p.icrc = s->wants_icrc && p.frame.kind == FRAME_ROCE ? frame_read_icrc(from->bytes, from->captured)
                                                         : FRAME_ICRC_NONE;
    if (p.frame.kind == FRAME_ROCE)
        packet_locate(s, settings, i, &p);
    if (p.frame.kind == FRAME_ROCE)
        stream_count_repeat(s, &p, i->addressed);
    p.own = stream_own_address(s, i, from->interface);
    if (p.frame.kind != FRAME_ROCE)
        packet_locate_control(&p);
    s->packets++;
    s->last_number = from->number;
    s->last_ns = from->timed ? from->time_ns : -1;
    struct learned *l = states_at(&s->learned, from->interface, sizeof *l);
    if (p.frame.kind == FRAME_ROCE && l && l->cut) {
        s->behind_cut++;
        return;
    }
    if (l)
        l->cut = l->cut || p.frame.kind == FRAME_CUT;
    if (p.time_ns > s->end_ns)
        s->end_ns = p.time_ns;
    for (size_t k = 0; k < s->count; k++) {
        s->active[k].context.settings = settings;
        s->active[k].context.rate_bps = rate_of(settings, i);
        s->active[k].context.end_ns = s->active[k].context.all_end_ns = s->end_ns;
        s->active[k].context.unit_ns = coarse_unit_ns(i);
        s->active[k].checker->frame(s->active[k].state, &s->active[k].context, &p);
    }
}

/* ---- the first packets */

/* A packet is read: its interface's clock takes it. */
static int stream_take_packet(struct stream *s, const struct capture_packet *packet, struct error *e)
{
    struct clock *clock = states_at(&s->clocks, packet->interface, sizeof *clock);
    if (!clock)
        return error_set(e, "out of memory for the times of %u interfaces",
                         capture_read_interfaces(s->capture));
    clock_take(clock, capture_read_interface(s->capture, packet->interface), packet);
    return 0;
}

/* Take and keep the first packets: 1 and the one for which there is no room; 0: these are all. */
static int stream_look_ahead(struct stream *s, struct capture_packet *packet, struct error *e)
{
    struct ahead *a = &s->ahead;
    *a = (struct ahead){.packets = malloc(AHEAD_PACKETS * sizeof *a->packets), .bytes = malloc(AHEAD_BYTES)};
    if (!a->packets || !a->bytes)
        return error_set(e, "out of memory for %d packets", AHEAD_PACKETS);
    int result;
    while ((result = capture_read_next(s->capture, packet, e)) > 0) {
        if (stream_take_packet(s, packet, e) != 0)
            return -1;
        if (a->count == AHEAD_PACKETS || packet->captured > AHEAD_BYTES - a->used)
            return 1;
        memcpy(a->bytes + a->used, packet->bytes, packet->captured);
        packet->bytes = a->bytes + a->used;
        a->used += packet->captured;
        a->packets[a->count++] = *packet;
    }
    a->whole = result == 0;
    return result;
}

static int stream_judge_all(struct stream *s, struct error *e)
{
    struct capture_packet packet = {0};
    int result = stream_look_ahead(s, &packet, e);
    for (size_t i = 0; result >= 0 && i < s->ahead.count; i++)
        stream_judge_packet(s, &s->ahead.packets[i]);
    while (result > 0) {
        stream_judge_packet(s, &packet);
        result = capture_read_next(s->capture, &packet, e);
        if (result > 0 && stream_take_packet(s, &packet, e) != 0)
            return -1;
    }
    return result;
}

/* ---- the whole */

static int stream_add_checker(struct stream *s, const struct checker *checker, bool silent, struct error *e)
{
    struct active *a = &s->active[s->count];
    *a = (struct active){.checker = checker, .silent = silent, .state = calloc(1, checker->state_bytes)};
    if (!a->state)
        return error_set(e, "out of memory for the checker %s", capture_check_names[checker->check]);
    a->context = (struct verify_context){.settings = s->settings,
                                         .of_all = s->settings,
                                         .flows = &s->flows,
                                         .capture = s->capture,
                                         .clocks = &s->clocks,
                                         .missing = &s->missing,
                                         .findings = &a->findings};
    s->wants_icrc = s->wants_icrc || checker == &checker_icrc;
    s->count++;
    return 0;
}

/* Go-back-N sees what is missing from a capture, which the others must know. */
static int stream_begin(struct stream *s, const struct checker *const *which, struct error *e)
{
    bool looks = s->settings->complete;
    if (flows_init(&s->flows, e) != 0)
        return -1;
    for (size_t i = 0; which[i] && s->count < CAPTURE_CHECK_COUNT; i++) {
        looks = looks || which[i] == &checker_go_back_n;
        if (stream_add_checker(s, which[i], false, e) != 0)
            return -1;
    }
    return looks || s->count == CAPTURE_CHECK_COUNT ? 0 : stream_add_checker(s, &checker_go_back_n, true, e);
}

/* What frames are of which nothing is judged, and what to do. */
static const struct {
    const char *name, *advice;
} others[FRAME_OTHERS] = {
    [FRAME_OTHER_ROCE_V1] =
        {"RoCE v1 (Ethernet type 0x8915)",
         "only RoCE v2 is judged: let the application take a GID of type RoCE v2 (show_gids; "
         "ib_write_bw -x, NCCL_IB_GID_INDEX)"},
    [FRAME_OTHER_VXLAN] = {"VXLAN", "capture where packets have left the tunnel"},
    [FRAME_OTHER_GENEVE] = {"GENEVE", "capture where packets have left the tunnel"},
    [FRAME_OTHER_ERSPAN] = {"ERSPAN", "a switch's mirror: capture at a host, or take the headers away"},
    [FRAME_OTHER_GRE] = {"GRE", "capture where packets have left the tunnel"},
    [FRAME_OTHER_TUNNEL] = {"MPLS or IP in IP", "capture where packets have left the tunnel"},
    [FRAME_OTHER_UDP] =
        {"UDP to other ports than 4791",
         "if that is RoCE v2, tcprewrite --portmap=PORT:4791 makes it readable (not its ICRC)"},
    [FRAME_OTHER_FRAGMENT] = {"fragments of UDP in IPv4",
                              "RoCE v2 is not fragmented: look at the path's MTU"},
    [FRAME_OTHER_EXTENDED] = {"IPv6 with extension headers", "these are not read"},
    [FRAME_OTHER_MALFORMED] = {"malformed frames", "their lengths or opcodes contradict themselves"},
};

/* Packets that may be RoCE, and are none that can be judged; others only if there is no RoCEv2. */
static void stream_say_others(struct stream *s)
{
    uint64_t none = s->others[FRAME_OTHER_PROTOCOL].packets;
    for (int i = 0; i < FRAME_OTHERS; i++) {
        const struct seen *seen = &s->others[i];
        bool open = i == FRAME_OTHER_ROCE_V1 || seen->roce || seen->unread;
        if (!others[i].name || !seen->packets || (!open && s->roce))
            continue;
        s->lost = s->lost || seen->roce || seen->unread;
        struct text more = {0};
        if (seen->roce)
            text_add(&more,
                     ", %llu with RoCE v2 inside (editcap -L -C %u CAPTURE NEW takes the outer headers away)",
                     (unsigned long long)seen->roce, (unsigned int)seen->inner_at);
        else if (i == FRAME_OTHER_UDP)
            text_add(&more, " (the first to %u)", (unsigned int)seen->port);
        if (seen->unread && i != FRAME_OTHER_MALFORMED)
            text_add(&more, ", %llu that may be RoCE v2", (unsigned long long)seen->unread);
        (open ? findings_open : findings_not_judged)(
            &s->common, "%llu %s of %s%s: %s", (unsigned long long)seen->packets,
            THINGS(seen->packets, "packet"), others[i].name, text_string(&more), others[i].advice);
        text_free(&more);
    }
    if (!s->roce && none)
        findings_not_judged(&s->common, "%llu %s of protocols without RDMA (ARP, TCP, LLDP and others)",
                            (unsigned long long)none, THINGS(none, "packet"));
    if (!s->roce && !s->cut)
        findings_not_judged(&s->common,
                            "RoCE v2: there is none among %llu %s. Is it the right interface, was there "
                            "traffic, and does the capturer see RDMA (docs/captures.md)?",
                            (unsigned long long)s->packets, THINGS(s->packets, "packet"));
}

/* A file that is cut short says nothing of what came then. */
static void stream_say_cut(struct stream *s)
{
    const char *cut = capture_read_cut(s->capture);
    char seconds[32];
    struct text behind = {0};
    if (s->packets)
        text_add(&behind, "what came after packet %llu", (unsigned long long)s->last_number);
    else
        text_add(&behind, "all packets");
    if (s->packets && s->last_ns >= 0)
        text_add(&behind, " at %s s", units_write_seconds(s->last_ns, seconds, sizeof seconds));
    if (cut)
        findings_open(&s->common, "%s: %s", text_string(&behind), cut);
    text_free(&behind);
}

/* Interfaces whose times are not judged, as long as there is room for sentences. That leaves open what a
 * checker would have judged by them; not without `times`, where it is as it was wished. */
static void stream_say_untimed(struct stream *s)
{
    uint32_t said = 0, more = 0;
    if (!s->settings->times && s->packets)
        findings_not_judged(&s->common, "times of %llu %s: none is of the wire",
                            (unsigned long long)s->packets, THINGS(s->packets, "packet"));
    for (uint32_t i = 0; i < s->clocks.count && i < capture_read_interfaces(s->capture); i++) {
        struct text one = {0};
        const struct clock *clock = states_have(&s->clocks, i, sizeof *clock);
        clock_say(clock, capture_read_interface(s->capture, i), i, &one);
        if (one.length && said == UNTIMED_SAID)
            more++;
        else if (one.length && said++ == 0)
            text_add(&s->untimed, "%s", text_string(&one));
        if (one.length && !more)
            findings_not_judged(&s->common, "%s", text_string(&one));
        text_free(&one);
    }
    if (more)
        findings_not_judged(&s->common, "times of %u %s, for such reasons", more,
                            THINGS(more, "more interface"));
}

/* Packets that are in the file before earlier ones. */
static void stream_say_disordered(struct stream *s)
{
    for (uint32_t i = 0; i < s->clocks.count && !s->disordered.length; i++) {
        const struct clock *clock = states_have(&s->clocks, i, sizeof *clock);
        if (clock->disordered)
            text_add(
                &s->disordered,
                "what follows from the order of packets: packet %llu of interface %u is earlier than one "
                "before it (reordercap CAPTURE NEW puts them in the order of time)",
                (unsigned long long)clock->disordered, i);
    }
}

/* A file that has packets more than once, and does not say at whose port each was seen. */
static bool stream_say_copies(struct stream *s)
{
    bool repeated = s->repeated >= REPEATS_LEAST &&
                    (double)s->repeated > (double)s->naks + REPEATS_MOST * (double)s->requests;
    if (!repeated && !(s->both_ends && flows_seen_again(&s->flows)))
        return false;
    if (repeated)
        findings_open(
            &s->common,
            "%llu of %llu requests come again at once: the capture has packets twice. Of a mirror of "
            "both directions, or of all interfaces of a host, editcap -w 0.00001 CAPTURE NEW leaves "
            "out copies; captures of both ends are judged one by one, or as pcapng with the address "
            "of each interface (if_MACaddr)",
            (unsigned long long)s->repeated, (unsigned long long)s->requests);
    else
        findings_open(
            &s->common,
            "at whose port %llu packets were seen: both ends are in hosts, and their packets are at "
            "several interfaces without an address. Judge the capture of each end by itself, or give "
            "a pcapng with the address of each interface (if_MACaddr)",
            (unsigned long long)s->both_ends);
    return true;
}

/* Interfaces that are not Ethernet, whose packets may be RDMA's, or certainly are not. */
static void stream_say_left_out(struct stream *s)
{
    for (uint32_t i = 0; i < capture_read_interfaces(s->capture); i++) {
        const struct capture_interface *at = capture_read_interface(s->capture, i);
        const char *advice, *name = capture_link_name(at->link_type, &advice);
        s->lost = s->lost || (at->left_out && advice);
        if (at->left_out)
            (advice ? findings_open : findings_not_judged)(
                &s->common,
                "%llu %s of interface %u%s%s%s, whose link type is %u (%s): only Ethernet is read%s%s",
                (unsigned long long)at->left_out, THINGS(at->left_out, "packet"), i, at->name[0] ? " (" : "",
                at->name, at->name[0] ? ")" : "", at->link_type, name, advice ? ": " : "",
                advice ? advice : "");
    }
}

/* What holds for every checker. A capture that lost packets proves no fault, nor does one that has some
 * twice, but for those within a packet. */
static void stream_say_limits(struct stream *s)
{
    struct findings *f = &s->common;
    stream_say_cut(s);
    stream_say_left_out(s);
    for (uint32_t i = 0; i < capture_read_interfaces(s->capture); i++) {
        const struct capture_interface *at = capture_read_interface(s->capture, i);
        s->lost = s->lost || at->dropped;
        if (at->dropped)
            findings_open(f, "the capture itself lost %llu %s of interface %u: what is missing may be these",
                          (unsigned long long)at->dropped, THINGS(at->dropped, "packet"), i);
    }
    if (s->missing.count)
        findings_open(f,
                      "packets are missing from the capture, which does not say so (%llu %s, the first: %s): "
                      "what seems wrong may be these (complete: the capture has all)",
                      (unsigned long long)s->missing.count, THINGS(s->missing.count, "sign"),
                      s->missing.first);
    s->lost = s->lost || s->missing.count || s->behind_cut;
    char behind[40] = "";
    if (s->behind_cut)
        snprintf(behind, sizeof behind, ", and %llu behind them", (unsigned long long)s->behind_cut);
    if (s->cut)
        findings_open(f,
                      "%llu %s cut before the end of the transport header (at most %u bytes were captured; "
                      "%d hold all headers: tcpdump -s %d)%s",
                      (unsigned long long)s->cut, THINGS(s->cut, "packet"), s->cut_bytes, FRAME_SNAP_BYTES,
                      FRAME_SNAP_BYTES, behind);
    if (s->cut_extensions)
        findings_not_judged(f,
                            "headers behind the transport header of %llu %s, which are cut (at most %u bytes "
                            "were captured; %d hold all headers: tcpdump -s %d)",
                            (unsigned long long)s->cut_extensions, THINGS(s->cut_extensions, "packet"),
                            s->cut_bytes, FRAME_SNAP_BYTES, FRAME_SNAP_BYTES);
    if (s->flows.left_out)
        findings_open(f, "%llu %s of more than %u flows", (unsigned long long)s->flows.left_out,
                      THINGS(s->flows.left_out, "packet"), FLOWS_MOST);
    stream_say_untimed(s);
    stream_say_others(s);
    stream_say_disordered(s);
    s->copies = stream_say_copies(s);
}

/* The kinds of findings that hold in this capture; NULL: all. */
static const char *const *proved_kinds(const struct stream *s, struct active *a)
{
    static const char *const none[] = {NULL};
    if (a->findings.proves_nothing)
        return none;
    if (s->copies)
        return a->checker->check == CHECK_ICRC ? NULL : none;
    if (s->disordered.length && a->checker->proved && findings_count(&a->findings))
        findings_open(&a->findings, "%s", text_string(&s->disordered));
    return s->lost || s->disordered.length ? a->checker->proved : NULL;
}

bool verify_is_whole(const struct verify_settings *of_all, const struct capture_reader *capture)
{
    bool counted = capture_read_interfaces(capture);
    for (uint32_t i = 0; i < capture_read_interfaces(capture); i++)
        counted = counted && capture_read_interface(capture, i)->counted;
    return of_all->complete || counted;
}

/* The kinds of findings that hold without a witness; NULL: all. */
static const char *const *sure_kinds(const struct stream *s, struct active *a)
{
    const char *const *sure = verify_is_whole(s->settings, s->capture) ? NULL : a->checker->sure;
    uint64_t unsure = findings_unsure(&a->findings, sure);
    if (unsure && !s->lost && !s->copies)
        findings_open(
            &a->findings,
            "whether %llu %s: a packet that is missing from the capture, which does not say "
            "that it has all, would look alike (complete: it has all%s)",
            (unsigned long long)unsure, unsure == 1 ? "finding is a fault" : "findings are faults",
            a->checker->check == CHECK_GO_BACK_N ? "; a capture with the ports of both ends tells, too" : "");
    return sure;
}

static json_t *finish(struct stream *s)
{
    json_t *checks = json_array();
    for (size_t i = 0; i < s->count; i++) {
        s->active[i].context.settings = s->settings;
        s->active[i].checker->end(s->active[i].state, &s->active[i].context);
    }
    stream_say_limits(s);
    for (size_t i = 0; i < s->count; i++) {
        struct active *a = &s->active[i];
        if (a->silent)
            continue;
        if (s->untimed.length && !a->findings.open &&
            (!a->checker->needs_times || a->checker->needs_times(a->state, &a->context)))
            a->findings.open = text_string(&s->untimed);
        const char *const *sure = sure_kinds(s, a), *const *proved = proved_kinds(s, a);
        json_array_append_new(checks, findings_json(&a->findings, capture_check_names[a->checker->check],
                                                    &s->common, proved, sure));
    }
    json_t *document = json_make("{s:I,s:o,s:o}", "packets", (json_int_t)s->packets, "not_judged",
                                 findings_notes(&s->common), "checks", checks);
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
    findings_free(&s->common);
    free(s->of.items);
    free(s->learned.items);
    free(s->clocks.items);
    free(s->repeats.items);
    free(s->ahead.packets);
    free(s->ahead.bytes);
    text_free(&s->untimed);
    text_free(&s->disordered);
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
    int result = stream_begin(s, which, e);
    if (result == 0)
        result = stream_judge_all(s, e);
    json_t *document = result == 0 ? finish(s) : NULL;
    release(s);
    return document;
}
