/*
 * Congestion notification packets (InfiniBand Architecture Specification, annex A17.9.3; DCQCN's notification
 * point). They are judged at the port of the host that sends them: there all marks of its packets are seen,
 * and the times are those of the host.
 */
#include "verify/checker.h"
#include "verify/psn.h"

#include "lib/packets/opcode.h"
#include "lib/text.h"
#include <stdlib.h>
#include <string.h>

#define REACTION_NS    100000 /* a notification point answers within it, if nothing holds the answer back */
#define NS_A_US        1000
#define MOST_BYTES     10000 /* of a jumbo frame's payload */
#define ETHERNET_BYTES 18    /* its Ethernet header with a tag */
#define FIRST_PACKETS  1000  /* of a port without times: a mark before the capture may still be answered */

#define KIND_NO_MARK  "CNP without a marked packet"
#define KIND_INTERVAL "CNP too early"
#define KIND_NO_CNP   "marked packet without a CNP"
#define KIND_TO       "CNP to the wrong queue pair"
#define KIND_PRIORITY "CNP with the wrong priority"
#define KIND_HEADER   "CNP with a wrong header"

/* Marked packets of a flow, or of all between two addresses. */
struct marks {
    uint64_t
        since_cnp; /* marked packets since the last CNP; without times, those that have none of their own */
    uint64_t last_number;
    int64_t last_ns;
};

struct flow_marks {
    struct marks marks;
    bool waits;           /* a marked packet is to be answered */
    bool asked, answered; /* a NAK, an ACK was sent since it came */
    bool taken;           /* an ACK shows that the NIC has it */
    bool echoes;          /* ACKs return the marks */
    struct awaited {
        uint64_t number;
        int64_t ns;
        uint32_t psn;
        bool acknowledged; /* its like are, at some time */
    } awaited, late;       /* `late`: it had no CNP in time, and its NIC may have lost it; number 0: none */
    int64_t late_ns;       /* that it was waited for */
};

/* When the last CNP was sent. */
struct last_cnp {
    bool any;
    uint64_t number;
    int64_t ns;
};

/* A port. */
struct cnp_port {
    bool seen, sends; /* packets; packets that its host sent */
    uint64_t packets;
    int64_t first_ns;
    uint32_t longest_bytes;
    uint64_t timed; /* marked packets that are to be answered within the interval */
    struct last_cnp last;
};

struct cnps {
    struct states flows;      /* struct flow_marks of the flow that is marked */
    struct states pairs;      /* struct marks of all flows from one address to another */
    struct states sent;       /* struct last_cnp by the flow of the CNPs */
    struct states sent_pairs; /* struct last_cnp of all flows between the same addresses */
    struct states untied;     /* uint64_t by the flow of the CNPs: those whose marked flow was not known */
    struct states ports;      /* struct cnp_port */
    bool unset;               /* CNPs or marked packets of ports whose interval is not known */
    uint64_t cnps, echoes, elsewhere, early;
    uint64_t unmarked;       /* CNPs without a marked packet, unless it is said that the NICs send none */
    bool allowed;            /* one of them by a NIC that is said to send such */
    uint64_t naks;           /* for missing packets, by hosts at their ports */
    uint64_t blind;          /* CNPs to addresses from which nothing is in the capture */
    uint64_t unacknowledged; /* marked packets that were not until the end, and may have been lost so */
    uint64_t lost;           /* marked packets that the receiver's NIC may have lost: it asked again */
    uint64_t unknown;        /* marked packets of which it is not known whether a CNP answers them */
    uint64_t held;           /* CNPs soon after others, which may have waited for links */
    uint64_t left_out;       /* marked packets whose CNPs the capture leaves out */
};

static int64_t interval_ns(const struct verify_context *c)
{
    int64_t us = c->settings->settings.dcqcn.np.min_time_between_cnps;
    return us == FIELD_UNSET ? -1 : us * NS_A_US;
}

/* Does this host answer marks of this priority with CNPs? -1: the priority is not known. */
static int notifies(const struct verify_context *c, const struct verify_packet *p)
{
    const struct settings *s = &c->settings->settings;
    if (!congestion_control_is_dcqcn(s->congestion_control))
        return 0;
    const struct list_of *list = s->ecn_np.items ? &s->ecn_np : &s->ecn;
    return list->count && p->priority < 0 ? -1 : verify_settings_lists(list, p->priority, true);
}

/* ---- marked packets */

/* The CNP that a marked packet may stand behind: where it is not known what the interval holds for, any of
 * the port, as mlx5's firmware describes it (mstflint, MIN_TIME_BETWEEN_CNPS). */
static const struct last_cnp *last_cnp_of(const struct cnps *s, const struct verify_context *c, uint32_t flow)
{
    static const struct last_cnp none;
    const struct flow *f = &c->flows->flows[flow];
    const struct last_cnp *last = NULL;
    if (c->settings->cnp_pacing == PACING_PORT || c->settings->cnp_pacing < 0) {
        const struct cnp_port *port = states_have(&s->ports, f->interface, sizeof(struct cnp_port));
        last = port ? &port->last : NULL;
    } else if (f->partner != FLOW_NONE) {
        last = states_have(&s->sent, f->partner, sizeof *last);
    } else if (c->flows->pairs[f->pair].reverse != FLOW_NONE) {
        last = states_have(&s->sent_pairs, c->flows->pairs[f->pair].reverse, sizeof *last);
    }
    return last ? last : &none;
}

/* Are CNPs in the capture? Its priorities may leave them out. */
static bool has_cnps(const struct verify_context *c)
{
    int64_t priority = c->settings->settings.dcqcn.np.cnp_802p_prio;
    const struct list_of *priorities = &c->of_all->priorities;
    const int64_t *items = priorities->items;
    for (size_t i = 0; i < priorities->count; i++)
        if (items[i] == priority)
            return true;
    return priorities->count == 0;
}

/* A marked packet that had no CNP was taken by its receiver's NIC. */
static void late(struct flow_marks *m, struct verify_context *c)
{
    findings_add(c->findings, KIND_NO_CNP, m->late.number, m->late.ns,
                 "a marked packet, and no CNP to its sender within %.1f us (min_time_between_cnps %.1f us)",
                 (double)m->late_ns / 1e3, (double)interval_ns(c) / 1e3);
    m->late.number = 0;
}

/* A marked packet that waits longer than the interval. */
static void check_waiting(struct cnps *s, struct flow_marks *m, const struct last_cnp *last,
                          struct verify_context *c, int64_t now_ns)
{
    if (!m->waits)
        return;
    if (last->any && (last->ns < 0 || last->ns >= m->awaited.ns)) {
        m->waits = false;
    } else if (now_ns - m->awaited.ns > interval_ns(c) + REACTION_NS) {
        m->waits = false;
        s->lost += m->asked;
        if (m->asked || (m->echoes && !m->answered))
            return;
        s->lost += m->late.number != 0;
        m->late = m->awaited;
        m->late_ns = now_ns - m->awaited.ns;
        if (m->taken || !m->awaited.acknowledged)
            late(m, c);
    }
}

/* Will its receiver acknowledge it? Answers of reads and datagrams are not. */
static bool is_acknowledged(const struct verify_packet *p)
{
    enum opcode_service service = OPCODE_SERVICE(p->frame.roce.bth.opcode);
    return (service == OPCODE_RC || service == OPCODE_XRC) &&
           !opcode_rows[OPCODE_OPERATION(p->frame.roce.bth.opcode)].response;
}

static void marked(struct cnps *s, struct verify_context *c, const struct verify_packet *p,
                   struct cnp_port *port)
{
    uint32_t pair = c->flows->flows[p->flow].pair;
    struct flow_marks *m = states_at(&s->flows, p->flow, sizeof *m);
    struct marks *of_pair = states_at(&s->pairs, pair, sizeof *of_pair);
    if (!m || !of_pair)
        return;
    s->unset = s->unset || (interval_ns(c) < 0 && p->time_ns >= 0);
    struct marks *both[] = {&m->marks, of_pair};
    for (int i = 0; i < 2; i++) {
        both[i]->since_cnp++;
        both[i]->last_number = p->number;
        both[i]->last_ns = p->time_ns;
    }
    s->unknown += notifies(c, p) < 0 && p->time_ns >= 0;
    if (interval_ns(c) < 0 || p->time_ns < 0 || notifies(c, p) <= 0)
        return;
    if (!has_cnps(c)) {
        s->left_out++;
        return;
    }
    port->timed++;
    const struct last_cnp *last = last_cnp_of(s, c, p->flow);
    check_waiting(s, m, last, c, p->time_ns);
    if (!m->waits && (!last->any || p->time_ns - last->ns >= interval_ns(c))) {
        m->waits = true;
        m->asked = m->answered = m->taken = false;
        m->awaited = (struct awaited){p->number, p->time_ns, p->frame.roce.bth.psn, is_acknowledged(p)};
    }
}

/* ---- CNPs */

static void check_header(struct verify_context *c, const struct verify_packet *p)
{
    const struct frame_roce *roce = &p->frame.roce;
    const struct dcqcn_np *np = &c->settings->settings.dcqcn.np;
    if (!roce->bth.becn || roce->bth.ack_request)
        findings_add(c->findings, KIND_HEADER, p->number, p->time_ns,
                     "BECN is %d and AckReq %d, expected 1 and 0", roce->bth.becn, roce->bth.ack_request);
    if (np->cnp_dscp != FIELD_UNSET && roce->ip.dscp != np->cnp_dscp)
        findings_add(c->findings, KIND_PRIORITY, p->number, p->time_ns, "DSCP %u, expected cnp_dscp %lld",
                     roce->ip.dscp, (long long)np->cnp_dscp);
    if (np->cnp_802p_prio != FIELD_UNSET && p->frame.ethernet.tagged &&
        p->frame.ethernet.priority != np->cnp_802p_prio)
        findings_add(c->findings, KIND_PRIORITY, p->number, p->time_ns,
                     "priority %u in the tag, expected cnp_802p_prio %lld", p->frame.ethernet.priority,
                     (long long)np->cnp_802p_prio);
}

/* The longest frame for which one of the port may have waited. */
static uint32_t longest_frame(const struct verify_context *c, const struct cnp_port *port)
{
    int64_t mtu = c->settings->settings.mtu;
    bool others = c->of_all->some_flows || c->of_all->priorities.count;
    uint32_t unseen = !others ? 0 : (uint32_t)(mtu == FIELD_UNSET ? MOST_BYTES : mtu) + ETHERNET_BYTES;
    return port->longest_bytes > unseen ? port->longest_bytes : unseen;
}

static void check_interval(struct cnps *s, struct verify_context *c, const struct verify_packet *p,
                           const struct last_cnp *last, const struct cnp_port *port)
{
    int64_t set_ns = interval_ns(c);
    int64_t since_ns = verify_since_ns(p, last->ns);
    if (set_ns < 0 || !last->any || since_ns < 0)
        return;
    /* the earlier one may have waited for a frame that was being sent */
    if (since_ns + verify_wire_ns(c, longest_frame(c, port)) >= set_ns)
        return;
    if (c->of_all
            ->links_down) { /* the earlier one may have waited for the link, or the slower one's frames */
        s->held++;
        return;
    }
    if (c->settings->unmarked_cnps > 0) { /* it may be one without a mark, which has an interval of its own */
        s->early++;
        return;
    }
    findings_add(c->findings, KIND_INTERVAL, p->number, p->time_ns,
                 "%.3f us after the CNP of packet %llu; min_time_between_cnps is %.3f us",
                 (double)since_ns / 1e3, (unsigned long long)last->number, (double)set_ns / 1e3);
}

/* Does a mark explain a CNP? Without times each CNP takes one, as marks and CNPs may be in another order than
 * in the NIC. */
static bool is_caused(const struct marks *m, const struct verify_packet *p, int64_t may_ns)
{
    if (m->since_cnp)
        return true;
    return p->time_ns >= 0 && m->last_number && verify_since_ns(p, m->last_ns) <= may_ns;
}

/* Did the capture begin so short a time ago that it may not have the mark? */
static bool is_early(const struct cnp_port *port, const struct verify_packet *p, int64_t may_ns)
{
    int64_t since_ns = verify_since_ns(p, port->first_ns);
    return since_ns < 0 ? port->packets <= FIRST_PACKETS : since_ns <= may_ns;
}

/* The marks that it may answer: of its flow's partner, or, where that is not known, of all flows from its
 * destination. */
static void check_marks(struct cnps *s, struct verify_context *c, const struct verify_packet *p,
                        const struct cnp_port *port)
{
    const struct flow *f = &c->flows->flows[p->flow];
    uint32_t reverse = c->flows->pairs[f->pair].reverse;
    struct marks *m = NULL,
                 *of_pair = reverse == FLOW_NONE ? NULL : states_have(&s->pairs, reverse, sizeof *m);
    if (f->partner != FLOW_NONE) {
        struct flow_marks *of = states_have(&s->flows, f->partner, sizeof *of);
        m = of ? &of->marks : NULL;
    } else {
        flows_note_untied(&s->untied, p->flow);
        m = of_pair;
    }
    int64_t may_ns = interval_ns(c) > 0 ? interval_ns(c) + REACTION_NS : REACTION_NS;
    if (m && is_caused(m, p, may_ns)) {
        m->since_cnp = p->time_ns < 0 ? m->since_cnp - 1 : 0;
        if (p->time_ns < 0 && of_pair && of_pair != m && of_pair->since_cnp)
            of_pair->since_cnp--;
    } else if (reverse == FLOW_NONE) {
        s->blind += !is_early(port, p, may_ns);
    } else if (c->settings->unmarked_cnps > 0 || !is_early(port, p, may_ns)) {
        bool other =
            of_pair && of_pair->last_number &&
            (p->time_ns < 0 ? of_pair->since_cnp > 0 : verify_since_ns(p, of_pair->last_ns) <= may_ns);
        s->allowed = s->allowed || c->settings->unmarked_cnps > 0;
        if (c->settings->unmarked_cnps > 0 || (c->settings->unmarked_cnps < 0 && !other)) {
            s->unmarked++;
            return;
        }
        findings_add(c->findings, other ? KIND_TO : KIND_NO_MARK, p->number, p->time_ns,
                     "to queue pair 0x%x; %s%s", f->qpn,
                     m && m->last_number ? "no packet of its connection was marked since the last CNP"
                                         : "no packet of its connection was marked",
                     other ? ", but one of another queue pair's was" : "");
    }
}

static void cnp(struct cnps *s, struct verify_context *c, const struct verify_packet *p,
                struct cnp_port *port)
{
    struct last_cnp *last = states_at(&s->sent, p->flow, sizeof *last);
    struct last_cnp *of_pair = states_at(&s->sent_pairs, c->flows->flows[p->flow].pair, sizeof *of_pair);
    if (!last || !of_pair)
        return;
    uint32_t of = c->flows->flows[p->flow].partner;
    struct flow_marks *m = of == FLOW_NONE ? NULL : states_have(&s->flows, of, sizeof *m);
    if (m) /* it may come too late */
        check_waiting(s, m, last_cnp_of(s, c, of), c, p->time_ns);
    s->cnps++;
    s->unset = s->unset || (interval_ns(c) < 0 && p->time_ns >= 0);
    check_header(c, p);
    check_interval(s, c, p, c->settings->cnp_pacing == PACING_PORT ? &port->last : last, port);
    check_marks(s, c, p, port);
    *last = *of_pair = port->last = (struct last_cnp){true, p->number, p->time_ns};
}

/* A host may also return marks in answers, whose BECN is then set. */
static void echo(struct cnps *s, const struct verify_context *c, const struct verify_packet *p)
{
    uint32_t of = c->flows->flows[p->flow].partner;
    struct flow_marks *m = of == FLOW_NONE ? NULL : states_have(&s->flows, of, sizeof *m);
    s->echoes++;
    if (m) {
        m->waits = false;
        m->echoes = true;
    }
}

/* Where ACKs return marks, a mark waits for an ACK. A packet that a NAK requests again may have been lost in
 * the NIC, after it was seen at its port. */
static void answered(struct cnps *s, struct verify_context *c, const struct verify_packet *p)
{
    const struct frame_aeth *aeth = &p->frame.roce.aeth;
    uint32_t of = c->flows->flows[p->flow].partner;
    struct flow_marks *m = of == FLOW_NONE ? NULL : states_have(&s->flows, of, sizeof *m);
    bool asks = AETH_KIND(aeth->syndrome) == AETH_NAK && AETH_VALUE(aeth->syndrome) == AETH_NAK_SEQUENCE;
    s->naks += asks;
    if (!m)
        return;
    *(asks ? &m->asked : &m->answered) = true;
    int32_t beyond = asks ? -1 : 0; /* a NAK acknowledges what is before its PSN */
    m->taken = m->taken || psn_after(p->frame.roce.bth.psn, m->awaited.psn) + beyond >= 0;
    if (!m->late.number)
        return;
    if (psn_after(p->frame.roce.bth.psn, m->late.psn) + beyond >= 0) {
        late(m, c);
    } else if (asks) {
        m->late.number = 0;
        s->lost++;
    }
}

/* ---- the stream */

static void frame(void *state, struct verify_context *c, const struct verify_packet *p)
{
    struct cnps *s = state;
    if (p->frame.kind != FRAME_ROCE || p->flow == FLOW_NONE)
        return;
    const struct frame_roce *roce = &p->frame.roce;
    bool is_cnp = roce->bth.opcode == OPCODE_CNP;
    bool is_marked = roce->ip.ecn == FRAME_CE && roce->payload_bytes && !is_cnp;
    if (!p->sent_here && !p->received_here) {
        s->elsewhere += is_cnp || is_marked;
        return;
    }
    struct cnp_port *port = states_at(&s->ports, p->interface, sizeof *port);
    if (!port)
        return;
    if (!port->seen)
        *port = (struct cnp_port){.seen = true, .first_ns = p->time_ns};
    port->packets++;
    if (p->sent_here) {
        port->sends = true;
        port->longest_bytes = p->bytes > port->longest_bytes ? p->bytes : port->longest_bytes;
    }
    if (is_cnp && p->sent_here)
        cnp(s, c, p, port);
    else if (roce->bth.becn && p->sent_here)
        echo(s, c, p);
    else if (is_marked && p->received_here)
        marked(s, c, p, port);
    if (p->sent_here && OPCODE_OPERATION(roce->bth.opcode) == OPCODE_ACKNOWLEDGE && !is_cnp)
        answered(s, c, p);
}

/* Marked packets that still wait. Where nothing that the host sent is in the capture, CNPs cannot be. */
static void check_last(struct cnps *s, struct verify_context *c)
{
    uint64_t judged = 0, deaf = 0;
    for (uint32_t i = 0; i < s->flows.count && i < c->flows->count; i++) {
        struct flow_marks *m = states_have(&s->flows, i, sizeof *m);
        const struct cnp_port *port = states_have(&s->ports, c->flows->flows[i].interface, sizeof *port);
        verify_turn_to(c, c->flows->flows[i].interface);
        if (m->waits && port && port->sends)
            check_waiting(s, m, last_cnp_of(s, c, i), c, c->end_ns);
        s->unacknowledged += m->late.number != 0;
    }
    for (uint32_t i = 0; i < s->ports.count; i++) {
        const struct cnp_port *port = states_have(&s->ports, i, sizeof *port);
        *(port->sends ? &judged : &deaf) += port->timed;
    }
    findings_judged(c->findings, "marked packets", judged);
    if (deaf)
        findings_open(c->findings,
                      "whether marked packets have a CNP: what their receiver sends is not in the capture");
}

static void cnps_end(void *state, struct verify_context *c)
{
    struct cnps *s = state;
    uint64_t alone, untied = flows_count_untied(c->flows, &s->untied, &alone); /* those alone are blind */
    bool any = s->cnps;
    for (uint32_t i = 0; i < s->ports.count; i++)
        any = any || ((const struct cnp_port *)states_have(&s->ports, i, sizeof(struct cnp_port)))->timed;
    findings_judged(c->findings, "CNPs", s->cnps);
    check_last(s, c);
    if (!s->cnps && !s->echoes && findings_count(c->findings) && !verify_is_whole(c->of_all, c->capture)) {
        c->findings->proves_nothing = true;
        findings_open(
            c->findings,
            "whether %llu marked %s answered: there is no CNP at all, so either none is sent, or the "
            "capture does not see what a NIC makes by itself (complete: it has all)",
            (unsigned long long)findings_count(c->findings),
            findings_count(c->findings) == 1 ? "packet is" : "packets are");
    }
    if (s->lost)
        findings_not_judged(
            c->findings,
            "whether %llu marked %s a CNP: the receiver asked for packets again, and its NIC may "
            "have lost the marked one",
            (unsigned long long)s->lost, s->lost == 1 ? "packet has" : "packets have");
    if (s->unacknowledged)
        findings_not_judged(
            c->findings,
            "whether %llu marked %s a CNP: the receiver did not acknowledge %s until the end, "
            "and its NIC may have lost %s",
            (unsigned long long)s->unacknowledged, s->unacknowledged == 1 ? "packet has" : "packets have",
            s->unacknowledged == 1 ? "it" : "them", s->unacknowledged == 1 ? "it" : "them");
    findings_seen(c->findings, "answers with BECN", s->echoes);
    findings_seen(c->findings, "CNPs without a marked packet", s->unmarked);
    if (s->unmarked && !s->allowed)
        findings_not_judged(
            c->findings,
            "why there %s %llu %s without a marked packet: likely %s, as ConnectX-5 was measured "
            "to send them (%llu %s for missing packets; unmarked_cnps says whether these NICs do)",
            s->unmarked == 1 ? "is" : "are", (unsigned long long)s->unmarked, THINGS(s->unmarked, "CNP"),
            s->naks ? "for lost packets" : "because a port was full without a loss",
            (unsigned long long)s->naks, THINGS(s->naks, "NAK"));
    if (s->early)
        findings_not_judged(
            c->findings,
            "whether %llu %s within min_time_between_cnps came too early: these NICs send some "
            "without marks (unmarked_cnps), after an interval of their own",
            (unsigned long long)s->early, THINGS(s->early, "CNP"));
    if (s->held)
        findings_not_judged(c->findings,
                            "whether %llu %s too early: the one before may have waited for a link that was "
                            "down or slower (links_down)",
                            (unsigned long long)s->held, s->held == 1 ? "CNP came" : "CNPs came");
    if (s->unset)
        findings_open(
            c->findings,
            "the interval of CNPs, and marked packets without one: min_time_between_cnps is not set");
    if (s->blind)
        findings_open(
            c->findings,
            "whether marked packets came before %llu %s: what the sender receives is not in the capture",
            (unsigned long long)s->blind, THINGS(s->blind, "CNP"));
    if (s->left_out)
        findings_open(c->findings, "the CNPs for %llu %s: the capture has no frames of their priority",
                      (unsigned long long)s->left_out, THINGS(s->left_out, "marked packet"));
    if (s->unknown)
        findings_open(c->findings, "the CNPs for %llu %s, whose priority is not known (trust, dscp_to_prio)",
                      (unsigned long long)s->unknown, THINGS(s->unknown, "marked packet"));
    if (s->elsewhere && any)
        findings_not_judged(c->findings,
                            "%llu %s of CNPs and marked packets at ports that are not those of their hosts",
                            (unsigned long long)s->elsewhere, THINGS(s->elsewhere, "sighting"));
    else if (s->elsewhere)
        findings_open(c->findings,
                      "%llu %s and marked packets of hosts that are not at the port of the capture (hosts: "
                      "whose ports these are)",
                      (unsigned long long)s->elsewhere, THINGS(s->elsewhere, "CNP"));
    if (untied)
        findings_open(c->findings, "the queue pair of %llu %s: which one sent the marked packet is not known",
                      (unsigned long long)untied, THINGS(untied, "CNP"));
}

static void release(void *state)
{
    struct cnps *s = state;
    free(s->flows.items);
    free(s->pairs.items);
    free(s->sent.items);
    free(s->sent_pairs.items);
    free(s->untied.items);
    free(s->ports.items);
}

static const char *const proved[] = {KIND_PRIORITY, KIND_HEADER, NULL};
static const char *const sure[] = {KIND_PRIORITY, KIND_HEADER, KIND_INTERVAL, NULL};

const struct checker checker_cnp = {
    .check = CHECK_CNP,
    .proved = proved,
    .sure = sure,
    .about = "CNPs: the marked packet before each, their interval, addresses and priority.",
    .state_bytes = sizeof(struct cnps),
    .frame = frame,
    .end = cnps_end,
    .free = release,
};
