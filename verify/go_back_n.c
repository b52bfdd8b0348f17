/*
 * Go-back-N of reliable connections (InfiniBand Architecture Specification, 9.7.5 responder, 9.7.6 and 9.7.7
 * requester). Each end is judged at its own port: elsewhere packets may come another way, or be lost before
 * or behind the place.
 */
#include "verify/checker.h"
#include "verify/sequence.h"
#include "lib/packets/opcode.h"
#include "lib/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEFORE_NS   100000  /* within this time a NIC has looked at an answer */
#define NAK_PACKETS 1024    /* new packets that may leave before it goes back for a NAK, */
#define NAK_NS      1000000 /* and the time that may pass */
#define NO_NAK_NS   100000  /* a NAK takes less */
#define EARLY       0.9     /* of the set time-out: timers have a grain, and the answer's way is within it */
#define LATE        4.0     /* 9.7.6.1.3: it may be up to four times as long */
#define LEAST_NS    4096    /* adaptive retransmission waits for no less: the least time-out */
#define FLOOR_NS \
    268435456 /* with adaptive retransmission ConnectX takes a shorter one for this: 2^16 x 4.096 us */

#define HOLES_MANY 3 /* so many queue pairs do not leave out PSNs each by itself */

#define KIND_SKIPPED        "skipped"
#define KIND_BACK           "goes back to the wrong PSN"
#define KIND_NO_BACK        "does not go back"
#define KIND_TIMEOUT        "time-out"
#define KIND_ACK            "ACK"
#define KIND_MSN            "MSN"
#define KIND_NAK_PSN        "NAK of the wrong PSN"
#define KIND_NAK_TWICE      "NAK twice"
#define KIND_NO_NAK         "no NAK"
#define KIND_ANSWER_SKIPPED "answer skipped"
#define KIND_AGAIN          "answered again"

/* ---- both ends, and what was seen of them */

/* The requests of a connection at one port. A capture may have one direction only: without their answers what
 * follows from these is not known. */
struct requests {
    uint64_t packets;
    int64_t begun_ns;
    bool answered; /* any answer to them is in the capture */
};

static void requests_add(struct requests *r, const struct verify_packet *p)
{
    if (!r->packets++)
        r->begun_ns = p->time_ns;
}

/* An answer; *longest_ns: that a connection waited for its first one. */
static void requests_answer(struct requests *r, const struct verify_packet *p, int64_t *longest_ns)
{
    if (!r->answered && r->packets && verify_since_ns(p, r->begun_ns) > *longest_ns)
        *longest_ns = verify_since_ns(p, r->begun_ns);
    r->answered = r->answered || r->packets;
}

/* How many have no answer in the capture, which is not only that it ended too early. */
static uint64_t requests_unanswered(const struct requests *r, const struct verify_context *c,
                                    int64_t longest_ns)
{
    bool late = r->begun_ns >= 0 && c->end_ns - r->begun_ns < 2 * longest_ns;
    return r->answered || late ? 0 : r->packets;
}

/* NAKs for which it may yet go back: it has not done so, and another came, or what they ask for was
 * acknowledged. */
#define NAKS_LEFT 4
struct nak_left {
    bool left;
    uint32_t psn;
    int64_t time_ns;
};

/* A requester, seen at its own port: every request it sends, every answer that it gets. */
struct requester {
    bool begun;
    bool answered;                     /* `unacked` is known */
    bool gap;                          /* an answer behind `unacked` came since `unacked` was expected */
    bool gap_asked;                    /* for other answers since */
    bool waited;                       /* it has gone back since the last progress */
    bool nak_spare;                    /* a NAK came beside the one that it was asked with */
    uint32_t naks_left;                /* of selective repeat: NAKs for which no packet was sent again yet */
    bool nak;                          /* it was asked to go back since it last went back */
    bool notified;                     /* it got a CNP: its rate may be low */
    bool asked;                        /* it went back last because of a NAK */
    bool jumped;                       /* its first request was one that it sent again, or it skipped some */
    bool in_message;                   /* the last packet sent is followed by others of its message */
    bool hole;                         /* it left out `hole_psn`, which has not been answered since */
    bool sent_again;                   /* so was its last packet, without progress since it went back */
    struct requester_renewal *renewal; /* NULL: there is none */
    int32_t msn;                       /* of the latest answer; -1: there was none */
    uint32_t hole_psn;
    int64_t hole_ns;
    uint32_t message_psn,
        message_bytes; /* the first packet of a WRITE, which says its length; 0 bytes: none */
    struct nak_left naks_pending[NAKS_LEFT]; /* a ring */
    uint32_t naks_pending_count;
    struct requests requests;
    struct held held;        /* answers of reads */
    uint32_t first;          /* PSN of the connection in the capture */
    uint32_t next;           /* the first PSN that was never sent */
    uint32_t cursor;         /* the PSN that follows the last one sent */
    uint32_t next_loose;     /* that the newest read may have taken beyond `next` */
    uint32_t loose;          /* PSNs that a read may have taken beyond these */
    uint32_t nak_psn;        /* that the last NAK asked for */
    uint32_t gap_answers;    /* that came since */
    uint32_t gap_request;    /* the first PSN that was asked for since, if `gap_asked` */
    uint32_t unacked;        /* the first PSN that is not acknowledged */
    uint32_t unacked_before; /* what it was a while ago: the NIC may not have looked at later answers */
    uint32_t nak_new;        /* new packets since it was asked */
    uint64_t answer_number;  /* the packet that acknowledged last */
    uint64_t nak_number, gap_number, sent_number;
    int64_t before_ns;          /* since when `unacked_before` holds, */
    int64_t progress_before_ns; /* and the progress before that */
    int64_t progress_ns;        /* since when `unacked` waits for its answer */
    int64_t nak_ns, answer_ns, gap_ns;
    struct messages messages;
    struct span span;
};

#define RESPONDER_AGAIN 128 /* some NICs have so many reads outstanding */

/* A responder, seen at its own port: every request that arrives, every answer that it sends. It may have lost
 * a packet that arrived, so what it expects is known from two sides. */
struct responder {
    bool begun;
    bool answers; /* `answer_next` is known */
    bool unasked; /* it answered what was not asked for */
    bool ahead;   /* a packet behind `most` arrived since `most` was expected */
    bool nak;     /* it asked for `nak_psn`, which has not arrived since */
    bool keeps;   /* what comes before an earlier one */
    bool hole;    /* it left out the answer of `hole_psn`, which was not asked for since */
    struct renewal *renewal;
    int32_t msn; /* of its latest answer; -1: there was none */
    uint32_t hole_psn;
    uint64_t hole_number;
    struct requests requests;
    struct held held;
    uint32_t first; /* PSN of the connection in the capture */
    uint32_t least; /* it answered all before */
    uint32_t most;  /* all before arrived */
    uint32_t loose;
    uint32_t nak_psn;
    uint32_t answer_next; /* PSN of the next answer of a read or an atomic */
    uint32_t answer_most; /* the first PSN that was never answered */
    uint32_t
        again[RESPONDER_AGAIN]; /* PSNs from which answers were asked for again, the latest ones, a ring */
    uint32_t again_count;
    uint64_t nak_number, ahead_number, answer_number, response_number;
    int64_t nak_ns;
    int64_t ahead_ns;
    struct messages messages;
    struct span span;
};

/* Of answers, and of packets whose headers are cut: each may be seen at both ends of its connection. */
enum seen { SEEN_ACK, SEEN_NAK, SEEN_RESPONSE, SEEN_CUT, SEEN_CUT_ANSWER, SEEN_CUT_READ, SEEN };
/* How many a flow has: got at this port, and sent there. */
struct seen_packets {
    uint64_t count[2][SEEN];
};

/* What is counted of requesters that go back, and what the capture showed of the rules. */
struct tally {
    uint64_t back, back_nak, back_gap, back_lost, back_timeout, back_unset, back_unknown, jumped;
    uint64_t untimed;            /* what would have been judged by its time, and has none */
    char shown[RECOVERIES][200]; /* what the capture showed first that NICs do so only; "": nothing */
};

/* Add what is in another. Counts wrap. */
static void tally_add(struct tally *t, const struct tally *more)
{
    t->back += more->back;
    t->back_nak += more->back_nak;
    t->back_gap += more->back_gap;
    t->back_lost += more->back_lost;
    t->back_timeout += more->back_timeout;
    t->back_unset += more->back_unset;
    t->back_unknown += more->back_unknown;
    t->jumped += more->jumped;
    t->untimed += more->untimed;
    for (int i = 0; i < RECOVERIES; i++)
        if (!t->shown[i][0])
            memcpy(t->shown[i], more->shown[i], sizeof t->shown[i]);
}

/* Take away what is in another. */
static void tally_less(struct tally *t, const struct tally *less)
{
    struct tally negative = {
        -less->back,       -less->back_nak,     -less->back_gap, -less->back_lost, -less->back_timeout,
        -less->back_unset, -less->back_unknown, -less->jumped,   -less->untimed,   {{0}}};
    tally_add(t, &negative);
    for (int i = 0; i < RECOVERIES; i++)
        if (less->shown[i][0])
            t->shown[i][0] = 0;
}

/* A requester's renewal: what was found at its first packet, if it is none. */
struct requester_renewal {
    struct renewal of;
    bool answered; /* which does not tell */
    struct tally tally;
    struct findings held;
};

struct go_back_n {
    struct states requesters, responders; /* by the requests' flow */
    struct states seen;                   /* struct seen_packets, by the packets' own flow */
    struct states untied;   /* uint64_t, by the flow of the answers: those of no known request */
    struct same_flows same; /* of the first `same_count` flows */
    uint32_t same_count;
    uint64_t holes; /* requesters that left out a PSN, of which no answer has told yet */
    bool pauses;    /* PFC frames were seen: waiting may have other reasons */
    struct tally t;
    struct findings twice; /* NAKs, which are right if it is shown later that NICs repeat selectively */
    uint64_t sent, received, elsewhere, no_naks, naks_again, naks_open, naks_late;
    uint64_t renewed[2];          /* queue pair numbers used again, as requesters and responders saw it */
    uint64_t renewals_open;       /* or not, which no answer tells, */
    uint64_t renewal_open_number; /* the first at this packet */
    uint64_t gone_silent;         /* requesters that may have given up */
    int64_t longest_ns[2];        /* that a requester, a responder had no answer */
};

static void go_back_n_note_seen(struct go_back_n *g, const struct verify_packet *p, bool sent, enum seen what)
{
    struct seen_packets *of = states_at(&g->seen, p->flow, sizeof *of);
    if (of)
        of->count[sent][what]++;
}

/* How many packets these were: of flows that are the same but for the interface, as many as the port had that
 * saw most. */
static void go_back_n_count_seen(const struct go_back_n *g, const struct verify_context *c,
                                 uint64_t packets[SEEN])
{
    struct same_flows same = {0};
    for (uint32_t i = 0; i < g->seen.count && i < c->flows->count; i++)
        same_flows_first(&same, c->flows, i);
    for (uint32_t i = 0; i < g->seen.count && i < c->flows->count; i++) {
        if (same_flows_first(&same, c->flows, i) != i)
            continue;
        uint64_t most[SEEN] = {0};
        for (uint32_t k = i; k != FLOW_NONE; k = same_flows_next(&same, k)) {
            const struct seen_packets *of = states_have(&g->seen, k, sizeof *of);
            for (int what = 0; of && what < SEEN; what++)
                for (int sent = 0; sent < 2; sent++)
                    most[what] = of->count[sent][what] > most[what] ? of->count[sent][what] : most[what];
        }
        for (int what = 0; what < SEEN; what++)
            packets[what] += most[what];
    }
    same_flows_free(&same);
}

/* ---- which rules hold */

/* Does the NIC do it, or may it be that it does? */
static bool recovery_is_possible(const struct verify_context *c, enum verify_recovery which)
{
    return verify_settings_recovery(c->settings, which) != 0;
}

/* Is it said, or was it shown, that single packets are sent again? */
static bool is_selective(const struct go_back_n *g, const struct verify_context *c)
{
    int said = verify_settings_recovery(c->settings, RECOVERY_SELECTIVE);
    return said > 0 || (said < 0 && g->t.shown[RECOVERY_SELECTIVE][0]);
}

/* The packet shows that it does: kept once, unless it was said. */
static void go_back_n_note_rule(struct go_back_n *g, const struct verify_context *c,
                                enum verify_recovery which, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void go_back_n_note_rule(struct go_back_n *g, const struct verify_context *c,
                                enum verify_recovery which, const char *format, ...)
{
    va_list arguments;
    if (g->t.shown[which][0] || verify_settings_recovery(c->settings, which) > 0)
        return;
    va_start(arguments, format);
    vsnprintf(g->t.shown[which], sizeof g->t.shown[which], format, arguments);
    va_end(arguments);
}

/* The longest time that may pass without an answer before a requester sends again. */
static double timeout_latest_ns(const struct verify_context *c)
{
    int64_t set_ns = c->settings->ack_timeout_ns;
    return LATE *
           (double)(recovery_is_possible(c, RECOVERY_ADAPTIVE) && set_ns < FLOOR_NS ? FLOOR_NS : set_ns);
}

static void go_back_n_say_rules(const struct go_back_n *g, struct verify_context *c)
{
    struct text said = {0};
    for (int i = 0; i < RECOVERIES; i++)
        if (verify_settings_recovery(c->of_all, (enum verify_recovery)i) > 0)
            text_add(&said, "%s %s (set by recovery)", said.length ? " and" : "", verify_recovery_names[i]);
        else if (g->t.shown[i][0])
            text_add(&said, "%s %s, since %s", said.length ? "; and" : "", verify_recovery_names[i],
                     g->t.shown[i]);
    if (said.length)
        findings_figure(c->findings, "the rules are those of%s", text_string(&said));
    else if (c->of_all->recovery.items)
        findings_figure(c->findings, "the rules are those of go-back-N (set by recovery)");
    text_free(&said);
}

static int64_t nak_delay_ns(const struct verify_context *c)
{
    return c->settings->nak_delay_ns == FIELD_UNSET ? 0 : c->settings->nak_delay_ns;
}

/* Answers of the flow that came before their requests were known. */
static uint64_t untied_answers(const struct go_back_n *g, uint32_t flow)
{
    const uint64_t *count = states_have(&g->untied, flow, sizeof *count);
    return count ? *count : 0;
}

/* ---- the requester (9.7.6, 9.7.7) */

/* Is it known which PSNs were answered? */
static bool requester_is_sure(const struct requester *r)
{
    return !r->span.reads || span_answers(&r->span);
}

static void requester_begin(struct requester *r, const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn;
    free(r->held.here);
    *r = (struct requester){.begun = true,
                            .requests = r->requests,
                            .renewal = r->renewal,
                            .msn = -1,
                            .first = psn,
                            .next = psn,
                            .cursor = psn,
                            .unacked = psn,
                            .unacked_before = psn,
                            .before_ns = p->time_ns,
                            .progress_before_ns = p->time_ns,
                            .progress_ns = p->time_ns};
}

/* ---- the requester: going back */

/* It went back without being asked: was it time? */
static void requester_check_timeout(struct go_back_n *g, const struct requester *r, struct verify_context *c,
                                    const struct verify_packet *p)
{
    int64_t set_ns = c->settings->ack_timeout_ns, waited_ns = verify_since_ns(p, r->progress_ns);
    uint32_t psn = p->frame.roce.bth.psn;
    int64_t answer_ns = verify_since_ns(p, r->answer_ns),
            before_ns = verify_since_ns(p, r->progress_before_ns);
    if (r->answered && set_ns != FIELD_UNSET && answer_ns >= 0 && answer_ns < BEFORE_NS &&
        (double)waited_ns < EARLY * (double)set_ns && (double)before_ns >= EARLY * (double)set_ns)
        waited_ns = set_ns; /* it was time before the last answers came, which the NIC had not looked at */
    g->t.untimed += waited_ns < 0;
    bool queued = g->pauses && psn_after(psn, r->unacked) < 0; /* before a pause */
    if (set_ns == FIELD_UNSET || waited_ns < 0 || !requester_is_sure(r) || !r->answered || queued) {
        *(set_ns == FIELD_UNSET && waited_ns >= 0 ? &g->t.back_unset : &g->t.back_unknown) += 1;
        return;
    }
    g->t.back_timeout++;
    if ((double)waited_ns < EARLY * (double)set_ns && waited_ns >= LEAST_NS &&
        recovery_is_possible(c, RECOVERY_ADAPTIVE))
        go_back_n_note_rule(
            g, c, RECOVERY_ADAPTIVE,
            "PSN %u is sent again %.3f us after the last progress, without a NAK, before the time-out "
            "(packet "
            "%llu)",
            psn, (double)waited_ns / 1e3, (unsigned long long)p->number);
    else if ((double)waited_ns < EARLY * (double)set_ns)
        findings_add(
            c->findings, KIND_TIMEOUT, p->number, p->time_ns,
            "PSN %u is sent again %.3f us after the last progress, without a NAK; the time-out is %.3f us",
            psn, (double)waited_ns / 1e3, (double)set_ns / 1e3);
    else if ((double)waited_ns > LATE * (double)set_ns && (double)waited_ns <= timeout_latest_ns(c) &&
             !g->pauses && !r->notified)
        go_back_n_note_rule(
            g, c, RECOVERY_ADAPTIVE,
            "PSN %u is sent again only %.3f us after the last progress, more than four time-outs "
            "(packet %llu)",
            psn, (double)waited_ns / 1e3, (unsigned long long)p->number);
    else if ((double)waited_ns > timeout_latest_ns(c) && !g->pauses && !r->notified)
        findings_add(
            c->findings, KIND_TIMEOUT, p->number, p->time_ns,
            "PSN %u is sent again %.3f us after the last progress; the time-out is %.3f us, and at most "
            "%.3f us are allowed",
            psn, (double)waited_ns / 1e3, (double)set_ns / 1e3, timeout_latest_ns(c) / 1e3);
}

/* It goes back for a NAK that came a short time ago, although what that asked for has been acknowledged
 * since: it came out of order, and the packet was on its way out. */
static bool requester_goes_back_late(struct requester *r, const struct verify_packet *p)
{
    for (int i = 0; i < NAKS_LEFT; i++) {
        struct nak_left *n = &r->naks_pending[i];
        if (!n->left || p->frame.roce.bth.psn != n->psn || verify_since_ns(p, n->time_ns) >= BEFORE_NS)
            continue;
        n->left = false;
        r->waited = r->asked = true;
        return true;
    }
    return false;
}

static void requester_leave_nak(struct requester *r, uint32_t psn, int64_t time_ns)
{
    r->naks_pending[r->naks_pending_count++ % NAKS_LEFT] =
        (struct nak_left){.left = true, .psn = psn, .time_ns = time_ns};
}

static void requester_goes_back(struct go_back_n *g, struct requester *r, struct verify_context *c,
                                const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn;
    /* The NIC may not have looked at the last answers when a time-out ends; a NAK names the PSN. */
    int64_t since_ns = verify_since_ns(p, r->answer_ns);
    bool timed = since_ns >= 0, lagging = !r->nak && since_ns < BEFORE_NS;
    int64_t nak_ns = r->nak ? verify_since_ns(p, r->nak_ns) : -1;
    uint32_t least = lagging ? r->unacked_before : r->unacked;
    if (nak_ns >= 0 && nak_ns < BEFORE_NS)
        least = r->nak_psn; /* it goes back to that, and on over what is answered meanwhile */
    bool selective = is_selective(g, c);
    bool asked = r->nak || (r->nak_spare && psn == r->unacked) || (selective && r->naks_left);
    bool lost = !asked && !r->gap && r->answered && span_answers(&r->span) && psn_after(psn, r->unacked) < 0;
    bool timed_out = !asked && !r->gap && !lost;
    g->t.back++;
    bool on = r->nak && psn_after(psn, r->nak_psn) >= 0 && psn_after(psn, r->unacked) <= 0;
    if (!(asked && psn == r->nak_psn) && !on && requester_goes_back_late(r, p)) {
        g->t.back_nak++;
        return;
    }
    if (asked) {
        g->t.back_nak++;
        r->nak_spare = r->nak && r->nak_spare;
    } else if (lost) { /* answers that came, as a responder may lose requests */
        g->t.back_lost++;
    } else if (r->gap) {
        g->t.back_gap++;
        r->gap = false;
    } else {
        requester_check_timeout(g, r, c, p);
        r->progress_ns = p->time_ns; /* the timer starts again */
    }
    r->waited = true;
    r->asked = asked;
    if (!r->answered || !requester_is_sure(r) || (asked && psn == r->nak_psn))
        return;
    if (psn_after(psn, r->unacked) > 0 && timed_out && recovery_is_possible(c, RECOVERY_ADAPTIVE))
        go_back_n_note_rule(g, c, RECOVERY_ADAPTIVE,
                            "PSN %u alone is sent again, without a NAK; PSN %u is not acknowledged (packet "
                            "%llu)",
                            psn, r->unacked, (unsigned long long)p->number);
    else if (psn_after(psn, r->unacked) > 0 &&
             (asked ? selective : timed_out && recovery_is_possible(c, RECOVERY_SELECTIVE)))
        go_back_n_note_rule(g, c, RECOVERY_SELECTIVE,
                            "PSN %u is sent again after a %s; PSN %u is not acknowledged (packet %llu)", psn,
                            asked ? "NAK" : "time-out", r->unacked, (unsigned long long)p->number);
    else if (psn_after(psn, r->unacked) > 0)
        findings_add(c->findings, KIND_BACK, p->number, p->time_ns,
                     "goes back to PSN %u, but PSN %u is not acknowledged yet%s (packet %llu)", psn,
                     r->unacked, r->nak ? ": the NAK asked for it" : "",
                     (unsigned long long)r->answer_number);
    else if (psn_after(psn, least) < 0 && (timed || r->nak) && !r->span.reads &&
             !g->pauses) /* a read may begin at its message's first packet; what was queued leaves after a
                            pause */
        findings_add(c->findings, KIND_BACK, p->number, p->time_ns,
                     "goes back to PSN %u, but all before PSN %u is acknowledged (packet %llu)", psn,
                     r->unacked, (unsigned long long)r->answer_number);
}

/* ---- the requester: what it sends */

/* New packets go on although it was asked to go back. */
static void requester_check_nak(struct requester *r, struct verify_context *c, const struct verify_packet *p)
{
    int64_t since_ns = verify_since_ns(p, r->nak_ns);
    if (!r->nak || r->span.reads || ++r->nak_new <= NAK_PACKETS || (since_ns >= 0 && since_ns <= NAK_NS))
        return;
    r->nak = false;
    findings_add(c->findings, KIND_NO_BACK, p->number, p->time_ns,
                 "PSN %u is the %uth new packet since the NAK of packet %llu asked for PSN %u",
                 p->frame.roce.bth.psn, r->nak_new, (unsigned long long)r->nak_number, r->unacked);
}

/* A PSN behind the one that follows: a read has taken those between, or they were acknowledged while it sent
 * again. */
static void requester_check_jump(struct go_back_n *g, struct requester *r, struct verify_context *c,
                                 const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn;
    uint32_t ahead = (uint32_t)psn_after(psn, r->cursor);
    bool acknowledged = r->answered ? psn_after(psn, r->unacked) <= 0
                                    : !r->requests.answered && psn_after(psn, r->next) <= 0; /* it may be */
    if (ahead <= r->loose || acknowledged ||
        (r->span.reads && psn_after(psn, r->next) <= (int32_t)r->next_loose))
        return;
    /* Reads between were asked for before the capture began: nothing was answered, or what no read asked for.
     */
    if (r->span.reads && !r->jumped &&
        (!r->answered || untied_answers(g, c->flows->flows[p->flow].partner))) {
        r->jumped = true;
        g->t.jumped++;
        messages_forget(&r->messages);
        return;
    }
    enum verify_recovery which = r->asked ? RECOVERY_SELECTIVE : RECOVERY_ADAPTIVE;
    if (psn_after(psn, r->next) <= 0 &&
        (recovery_is_possible(c, which) || recovery_is_possible(c, RECOVERY_SELECTIVE))) {
        go_back_n_note_rule(g, c, recovery_is_possible(c, which) ? which : RECOVERY_SELECTIVE,
                            "PSN %u follows PSN %u, which was sent again without those between (packet %llu)",
                            psn, (r->cursor - 1) & FRAME_PSN_MASK, (unsigned long long)p->number);
        return;
    }
    findings_add(c->findings, KIND_SKIPPED, p->number, p->time_ns, "PSN %u follows PSN %u: %u skipped", psn,
                 (r->cursor - 1) & FRAME_PSN_MASK, ahead);
    if (!r->in_message && !opcode_rows[OPCODE_OPERATION(p->frame.roce.bth.opcode)].first)
        verify_note_missing(
            c, "packet %llu of PSN %u continues a message, and the one before it, of PSN %u, ends one",
            (unsigned long long)p->number, psn, (r->cursor - 1) & FRAME_PSN_MASK);
    uint32_t never = psn_later(r->cursor, r->next);
    if (!r->hole && psn_after(psn, never) > 0) {
        r->hole = true;
        r->hole_psn = never;
        r->hole_ns = p->time_ns;
        g->holes++;
    }
    messages_forget(&r->messages);
}

/* With the MTU it is known how many PSNs the last read took. */
static void requester_learn_mtu(struct requester *r, const struct frame_roce *roce)
{
    bool last = r->cursor == psn_add(r->span.psn, 1), newest = r->next == r->cursor;
    if (!span_learn(&r->span, roce) || !r->span.length || !last)
        return;
    r->cursor = psn_add(r->span.psn, span_kept(&r->span));
    r->next = newest ? r->cursor : r->next;
    r->next_loose = newest ? 0 : r->next_loose;
    r->loose = 0;
}

/* ---- the requester: a new connection with its number */

/* Reads are asked for again, and their answers count as they did: what is behind the first PSN is of the same
 * connection. */
static bool may_be_another(const struct span *s, uint32_t psn, bool behind, uint32_t first)
{
    return !s->reads || !behind || psn_after(psn, first) < 0;
}

/* May the packet, which does not follow, be the first of a new connection? The oldest one without an answer
 * is sent again. */
static bool requester_may_begin(const struct requester *r, const struct frame_roce *roce)
{
    int32_t ahead = psn_after(roce->bth.psn, r->cursor), beyond = psn_after(roce->bth.psn, r->next);
    return opcode_rows[OPCODE_OPERATION(roce->bth.opcode)].first && roce->bth.psn != r->unacked &&
           may_be_another(&r->span, roce->bth.psn, beyond < 0, r->first) &&
           (ahead < 0 || (uint32_t)ahead > r->loose) && (beyond < 0 || (uint32_t)beyond > r->next_loose);
}

/* Is it one that the new connection has sent before, if there is one? */
static bool renewal_sends_again(const struct renewal *n, uint32_t psn)
{
    return psn_after(psn, n->first) >= 0 && psn_after(psn, n->next) <= (int32_t)n->loose;
}

static void requester_fill_hole(struct go_back_n *g, struct requester *r)
{
    r->hole = false;
    g->holes--;
}

/* The last packet of a WRITE has the PSN that it has if no packet of the message was left out. */
static void requester_count_message(struct go_back_n *g, struct requester *r, struct verify_context *c,
                                    const struct verify_packet *p)
{
    const struct frame_roce *roce = &p->frame.roce;
    const struct opcode_row *row = &opcode_rows[OPCODE_OPERATION(roce->bth.opcode)];
    if (row->first) {
        r->message_psn = roce->bth.psn;
        r->message_bytes = row->reth && row->payload && !row->last ? roce->reth.length : 0;
    }
    if (!row->last || !r->message_bytes || !r->hole || psn_after(r->hole_psn, r->message_psn) <= 0 ||
        span_of_answer(&r->span, r->message_bytes) != (uint32_t)psn_after(roce->bth.psn, r->message_psn) + 1)
        return;
    requester_fill_hole(g, r);
    verify_note_missing(c, "packet %llu ends a WRITE of %u bytes as if PSN %u had been sent",
                        (unsigned long long)p->number, r->message_bytes, r->hole_psn);
}

static void requester_forget_renewal(struct requester *r)
{
    if (r->renewal)
        findings_free(&r->renewal->held);
    free(r->renewal);
    r->renewal = NULL;
}

/* The connection is the one before: what was held back is found. */
static void requester_was_not_renewed(struct requester *r, struct verify_context *c)
{
    findings_take(c->findings, &r->renewal->held);
    requester_forget_renewal(r);
}

/* No answer tells. A PSN that nobody goes to or back to is of a new connection, unless answers deny it. */
static void requester_leave_renewal(struct go_back_n *g, struct requester *r, struct verify_context *c)
{
    if (!r->renewal->of.far) {
        if (r->hole && r->renewal->answered)
            verify_note_missing(
                c, "PSN %u follows others that were not sent before (packet %llu), and is answered",
                r->renewal->of.first, (unsigned long long)r->renewal->of.number);
        requester_was_not_renewed(r, c);
        return;
    }
    if (!g->renewals_open++)
        g->renewal_open_number = r->renewal->of.number;
    requester_forget_renewal(r);
}

static struct requester_renewal *requester_renewal_begin(const struct requester *r,
                                                         const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn;
    bool behind = psn_after(psn, r->next) < 0;
    struct requester_renewal *n = calloc(1, sizeof *n);
    if (n)
        n->of = (struct renewal){.first = psn,
                                 .next = psn,
                                 .behind = behind,
                                 .far = !r->span.reads && (behind ? psn_after(r->unacked, psn) > RENEWAL_FAR
                                                                  : psn_after(psn, r->next) > RENEWAL_FAR),
                                 .number = p->number,
                                 .time_ns = p->time_ns};
    return n;
}

/* A packet that does not follow is judged; what is found is held back, if it may be of a new connection. */
static void requester_does_not_follow(struct go_back_n *g, struct requester *r, struct verify_context *c,
                                      const struct verify_packet *p)
{
    const struct frame_roce *roce = &p->frame.roce;
    struct findings *found = c->findings;
    struct tally before = g->t;
    struct requester_renewal *n = r->renewal;
    if (!n || !renewal_sends_again(&n->of, roce->bth.psn)) {
        n = requester_may_begin(r, roce) ? requester_renewal_begin(r, p) : NULL;
        if (n && r->renewal)
            requester_leave_renewal(g, r, c);
        before = g->t;
    }
    if (n)
        c->findings = &n->held;
    if (psn_after(roce->bth.psn, r->cursor) > 0)
        requester_check_jump(g, r, c, p);
    else
        requester_goes_back(g, r, c, p);
    c->findings = found;
    if (!n)
        return;
    struct tally after = g->t; /* what was counted now */
    tally_less(&after, &before);
    tally_add(&n->tally, &after);
    r->renewal = n;
}

/* A new connection began: nothing is known but what it has sent. */
static void requester_renew(struct go_back_n *g, struct requester *r)
{
    struct requester_renewal *n = r->renewal;
    struct requester before = *r;
    free(r->held.here);
    *r = (struct requester){.begun = true,
                            .renewal = n,
                            .msn = -1,
                            .requests = before.requests,
                            .notified = before.notified,
                            .first = n->of.first,
                            .span = before.span,
                            .next = n->of.next,
                            .next_loose = n->of.loose,
                            .cursor = psn_after(before.cursor, n->of.first) > 0 ? before.cursor : n->of.next,
                            .loose = before.loose,
                            .unacked = n->of.first,
                            .unacked_before = n->of.first,
                            .before_ns = n->of.time_ns,
                            .progress_before_ns = n->of.time_ns,
                            .progress_ns = n->of.time_ns,
                            .sent_number = before.sent_number,
                            .messages = n->of.messages};
    r->messages.based = !n->of.ahead;
    if (n->of.ahead)
        messages_forget(&r->messages);
    tally_less(&g->t, &n->tally);
    g->holes -= before.hole;
    g->renewed[0]++;
    requester_forget_renewal(r);
}

static void requester_sent(struct go_back_n *g, struct requester *r, struct verify_context *c,
                           const struct verify_packet *p)
{
    const struct frame_roce *roce = &p->frame.roce;
    uint32_t psn = roce->bth.psn;
    if (!r->begun)
        requester_begin(r, p);
    requests_add(&r->requests, p);
    g->sent++;
    requester_learn_mtu(r, roce);
    uint32_t loose, taken = span_of(&r->span, roce, &loose);
    int32_t ahead = psn_after(psn, r->cursor);
    if (ahead != 0)
        requester_does_not_follow(g, r, c, p);
    if (r->renewal)
        renewal_take(&r->renewal->of, roce, taken, loose);
    if (r->hole && psn == r->hole_psn)
        requester_fill_hole(g, r);
    requester_count_message(g, r, c, p);
    r->in_message = !opcode_rows[OPCODE_OPERATION(roce->bth.opcode)].last;
    r->sent_again = r->waited && psn_after(psn, r->next) < 0;
    if (r->nak && psn == r->nak_psn) {
        r->nak = false;
        if (ahead == 0) /* it was on its way before the NAK came */
            requester_leave_nak(r, psn, r->nak_ns);
    } else if (r->nak && psn_after(psn, r->unacked) <= 0) {
        r->nak = false;
        requester_leave_nak(r, r->nak_psn, r->nak_ns);
    }
    r->cursor = psn_add(psn, taken);
    r->loose = loose;
    r->sent_number = p->number;
    if (psn_after(psn, r->next) < 0) {
        r->naks_left -= r->naks_left > 0;
        return;
    }
    if (r->unacked == r->next)
        r->progress_ns = p->time_ns; /* nothing else waited */
    requester_check_nak(r, c, p);
    if (r->gap && !r->gap_asked) {
        r->gap_asked = true;
        r->gap_request = psn;
    }
    r->next = r->cursor;
    r->next_loose = loose;
    if (opcode_rows[OPCODE_OPERATION(roce->bth.opcode)].last)
        messages_end(&r->messages, psn_add(psn, taken - 1));
}

/* ---- the requester: what it is answered */

static void requester_acknowledged(struct requester *r, const struct verify_packet *p, uint32_t up_to)
{
    if (r->answered && psn_after(up_to, r->unacked) <= 0)
        return;
    if (p->time_ns - r->before_ns > BEFORE_NS) {
        r->unacked_before = r->unacked;
        r->before_ns = p->time_ns;
        r->progress_before_ns = r->progress_ns;
    }
    if (!r->answered)
        r->unacked_before = psn_after(up_to, r->unacked) < 0 ? up_to : r->unacked;
    r->answered = true;
    r->gap = r->waited = r->nak_spare = false;
    r->unacked = up_to;
    r->answer_number = p->number;
    r->answer_ns = r->progress_ns = p->time_ns;
}

static void requester_check_msn(struct requester *r, struct verify_context *c, const struct verify_packet *p,
                                uint32_t psn)
{
    uint32_t least, most, msn = p->frame.roce.aeth.msn;
    if (r->span.reads || messages_fit(&r->messages, psn, msn, &least, &most))
        return;
    findings_add(c->findings, KIND_MSN, p->number, p->time_ns,
                 "the answer of PSN %u has MSN %u, expected %u to %u", psn, msn, least, most);
}

/* An answer that was not asked for again has come, and is missing from the capture. */
static void requester_misses_answer(struct requester *r, struct verify_context *c)
{
    r->gap = false;
    verify_note_missing(c,
                        "the answer of PSN %u did not come before packet %llu, and was not asked for again",
                        r->unacked, (unsigned long long)r->gap_number);
}

/* Answers go on behind one that is missing, and the requester does not ask for it again. */
static void requester_check_gap(struct go_back_n *g, struct requester *r, struct verify_context *c,
                                const struct verify_packet *p)
{
    int64_t set_ns = c->settings->ack_timeout_ns, most_ns = NAK_NS;
    if (set_ns != FIELD_UNSET && LATE * (double)set_ns > NAK_NS)
        most_ns = (int64_t)(LATE * (double)set_ns);
    if (!r->gap) {
        r->gap = true;
        r->gap_asked = false;
        r->gap_answers = 0;
        r->gap_number = p->number;
        r->gap_ns = p->time_ns;
    }
    r->gap_answers++;
    if (r->gap_asked && psn_after(p->frame.roce.bth.psn, r->gap_request) >= 0 && !c->of_all->complete) {
        requester_misses_answer(r, c); /* it has seen what came behind, and wants other answers */
        return;
    }
    if (r->gap_answers <= NAK_PACKETS || verify_since_ns(p, r->gap_ns) <= most_ns) {
        g->t.untimed += r->gap_answers > NAK_PACKETS && verify_since_ns(p, r->gap_ns) < 0;
        return;
    }
    findings_add(
        c->findings, KIND_NO_BACK, p->number, p->time_ns,
        "PSN %u is the %uth answer since packet %llu, before which PSN %u is missing, and was not asked "
        "for again",
        p->frame.roce.bth.psn, r->gap_answers, (unsigned long long)r->gap_number, r->unacked);
    requester_misses_answer(r, c);
}

/* An answer of a read or an atomic. Where there are no other requests each is expected; what comes behind a
 * missing one is of no use. */
static void requester_gets_response(struct go_back_n *g, struct requester *r, struct verify_context *c,
                                    const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn;
    go_back_n_note_seen(g, p, false, SEEN_RESPONSE);
    r->span.reads = true;
    requester_learn_mtu(r, &p->frame.roce);
    bool all_known = r->answered || !untied_answers(g, p->flow);
    if (all_known && span_answers(&r->span) && psn_after(psn, r->unacked) > 0) {
        bool gap = r->gap;
        held_add(&r->held, psn, psn_after(psn, r->unacked), false);
        requester_check_gap(g, r, c, p);
        if (r->gap || !gap || c->of_all->complete)
            return;
    }
    bool ends, out_of_order = r->held.count && recovery_is_possible(c, RECOVERY_OUT_OF_ORDER);
    uint32_t up_to = psn_add(psn, 1);
    if (!out_of_order)
        held_forget(&r->held, psn, 1);
    while (out_of_order && held_take(&r->held, up_to, &ends))
        up_to = psn_add(up_to, 1);
    if (up_to != psn_add(psn, 1))
        go_back_n_note_rule(g, c, RECOVERY_OUT_OF_ORDER,
                            "the answer of PSN %u comes behind later ones (packet %llu)", psn,
                            (unsigned long long)p->number);
    requester_acknowledged(r, p, up_to);
}

/* Is it a new connection, and what does the answer show of packets that the capture has not? */
static void requester_learns_from(struct go_back_n *g, struct requester *r, struct verify_context *c,
                                  const struct verify_packet *p, bool asks)
{
    const struct frame_roce *roce = &p->frame.roce;
    if (r->renewal) {
        const struct renewal *n = &r->renewal->of;
        enum renewed renewed = renewal_decide(n, roce, r->msn);
        bool inside = psn_after(roce->bth.psn, n->first) >= 0;
        bool between = r->hole && !inside && psn_after(roce->bth.psn, r->hole_psn) >= (int32_t)asks;
        r->renewal->answered = r->renewal->answered || (inside && !asks);
        if (renewed == RENEWED_YES)
            requester_renew(g, r);
        else if (renewed == RENEWED_NO || between)
            requester_was_not_renewed(r, c);
    }
    if (opcode_rows[OPCODE_OPERATION(roce->bth.opcode)].aeth && !roce->cut && !r->renewal)
        r->msn = (int32_t)roce->aeth.msn;
    if (!r->hole || r->renewal || psn_after(roce->bth.psn, r->hole_psn) < (int32_t)asks)
        return;
    requester_fill_hole(g, r);
    verify_note_missing(c, "packet %llu answers PSN %u, and PSN %u was not sent before",
                        (unsigned long long)p->number, roce->bth.psn, r->hole_psn);
}

/* An ACK, a NAK or a READ response; an RNR NAK and a NAK acknowledge what is before their PSN, and ask for it
 * again. */
static void requester_answered(struct go_back_n *g, struct requester *r, struct verify_context *c,
                               const struct verify_packet *p)
{
    const struct frame_roce *roce = &p->frame.roce;
    uint32_t psn = roce->bth.psn;
    requests_answer(&r->requests, p, &g->longest_ns[0]);
    if (!r->begun)
        return;
    bool acknowledges = OPCODE_OPERATION(roce->bth.opcode) == OPCODE_ACKNOWLEDGE;
    enum aeth_kind kind = acknowledges ? AETH_KIND(roce->aeth.syndrome) : AETH_ACK;
    bool asks =
        kind == AETH_RNR_NAK || (kind == AETH_NAK && AETH_VALUE(roce->aeth.syndrome) == AETH_NAK_SEQUENCE);
    if (!acknowledges || !roce->cut)
        requester_learns_from(g, r, c, p, asks);
    if (OPCODE_OPERATION(roce->bth.opcode) != OPCODE_ACKNOWLEDGE) {
        requester_gets_response(g, r, c, p);
        return;
    }
    if (roce->cut) { /* an ACK or a NAK: what follows begins anew */
        go_back_n_note_seen(g, p, false, SEEN_CUT_ANSWER);
        r->begun = false;
        return;
    }
    go_back_n_note_seen(g, p, false, kind == AETH_ACK ? SEEN_ACK : SEEN_NAK);
    if (!r->span.reads && psn_after(psn, r->next) >= 0) {
        verify_note_missing(c, "packet %llu %s PSN %u, and the last one sent before was %u",
                            (unsigned long long)p->number, asks ? "asks for" : "acknowledges", psn,
                            (r->next - 1) & FRAME_PSN_MASK);
        findings_add(c->findings, KIND_ACK, p->number, p->time_ns,
                     "%s PSN %u, which was not sent: the last one was %u", asks ? "asks for" : "acknowledges",
                     psn, (r->next - 1) & FRAME_PSN_MASK);
        if (!c->of_all->complete) { /* it was, and is missing */
            r->next = r->cursor = psn_add(psn, !asks);
            messages_forget(&r->messages);
        }
        return;
    }
    if (kind == AETH_ACK && !r->renewal)
        requester_check_msn(r, c, p, psn);
    bool only_reads = r->span.reads && !r->span.others; /* their answers may still be missing */
    if (!only_reads)
        requester_acknowledged(r, p, asks ? psn : psn_add(psn, 1));
    r->nak_spare = r->nak_spare || (asks && r->nak);
    r->naks_left += asks;
    if (asks && r->nak && psn != r->nak_psn)
        requester_leave_nak(r, psn, p->time_ns);
    if (asks && (psn == r->unacked || only_reads) && !r->nak) {
        r->nak = true;
        r->nak_psn = psn;
        r->nak_new = 0;
        r->nak_number = p->number;
        r->nak_ns = p->time_ns;
    }
}

/* A PSN that was left out, which nobody asked for in the time that answers take, has come. */
static void requester_end_hole(const struct go_back_n *g, const struct requester *r, struct verify_context *c)
{
    int64_t take_ns = 2 * g->longest_ns[0] > BEFORE_NS ? 2 * g->longest_ns[0] : BEFORE_NS;
    if (r->hole && !r->nak && r->requests.answered && r->hole_ns >= 0 && c->end_ns - r->hole_ns > take_ns)
        verify_note_missing(
            c, "PSN %u was not sent before later ones, and not asked for until the capture ended",
            r->hole_psn);
}

/* When the capture has ended: did a time-out that was due not come? A queue pair that sent again, and nothing
 * since, may have given up, whatever it is answered. */
static void requester_end(struct go_back_n *g, struct requester *r, struct verify_context *c)
{
    int64_t set_ns = c->settings->ack_timeout_ns, waited_ns = c->end_ns - r->progress_ns;
    if (r->renewal)
        requester_leave_renewal(g, r, c);
    requester_end_hole(g, r, c);
    if (!r->begun || !r->answered || !requester_is_sure(r) || r->unacked == r->next || r->waited || r->nak ||
        g->pauses || r->notified || set_ns == FIELD_UNSET || r->progress_ns < 0 ||
        (double)waited_ns <= timeout_latest_ns(c))
        return;
    if (r->sent_again) {
        g->gone_silent++;
        return;
    }
    if (r->gap)
        requester_misses_answer(r, c);
    findings_add(
        c->findings, KIND_TIMEOUT, r->sent_number, r->progress_ns,
        "PSN %u is not acknowledged, and was not sent again until the end of the capture, %.3f us after the "
        "last progress; the time-out is %.3f us, and at most %.3f us are allowed",
        r->unacked, (double)waited_ns / 1e3, (double)set_ns / 1e3, timeout_latest_ns(c) / 1e3);
}

/* ---- the responder (9.7.5) */

/* With the MTU it is known how many PSNs the last read took. */
static void responder_learn_mtu(struct responder *r, const struct frame_roce *roce)
{
    if (!span_learn(&r->span, roce) || !r->span.length || r->most != psn_add(r->span.psn, 1))
        return;
    r->most = psn_add(r->span.psn, span_kept(&r->span));
    r->loose = 0;
}

/* Is it known what it expects? */
static bool responder_is_sure(const struct responder *r)
{
    return !r->span.reads || span_answers(&r->span);
}

/* ---- the responder: packets in another order */

/* May it keep what comes before an earlier one? */
static bool responder_may_keep(const struct verify_context *c)
{
    return recovery_is_possible(c, RECOVERY_SELECTIVE) || recovery_is_possible(c, RECOVERY_OUT_OF_ORDER);
}

/* The first PSN that has not arrived, if it keeps what came before earlier ones. */
static uint32_t responder_reach(const struct responder *r)
{
    uint32_t psn = r->most;
    while (held_has(&r->held, psn))
        psn = psn_add(psn, 1);
    return psn;
}

/* A request came before an earlier one: all PSNs that it takes, as far as that is known. */
static void responder_hold(struct responder *r, const struct frame_roce *roce, int32_t ahead)
{
    enum opcode_operation operation = OPCODE_OPERATION(roce->bth.opcode);
    uint32_t count = 1;
    if (operation == OPCODE_READ_REQUEST)
        count = roce->cut ? 0 : span_of_answer(&r->span, roce->reth.length);
    for (uint32_t i = 0; i < count && ahead + (int32_t)i < HELD_PSNS; i++)
        held_add(&r->held, psn_add(roce->bth.psn, i), ahead + (int32_t)i,
                 opcode_rows[operation].last && i == count - 1);
}

/* Go on over what it kept. */
static void responder_take_held(struct responder *r, const struct verify_packet *p)
{
    bool ends;
    while (held_take(&r->held, r->most, &ends)) {
        if (ends)
            messages_end(&r->messages, r->most);
        r->most = psn_add(r->most, 1);
    }
    r->ahead = r->held.count;
    r->ahead_ns = p->time_ns;
}

/* An answer shows that it kept what is before this PSN: one that expects no other has arrived. */
static bool responder_kept(struct go_back_n *g, struct responder *r, const struct verify_context *c,
                           const struct verify_packet *p, uint32_t up_to)
{
    if (!responder_may_keep(c) || psn_after(up_to, r->most) <= 0 || psn_after(up_to, responder_reach(r)) > 0)
        return false;
    /* out-of-order placement does not ask for what is missing */
    enum verify_recovery likely = r->nak_number ? RECOVERY_SELECTIVE : RECOVERY_OUT_OF_ORDER;
    enum verify_recovery other = r->nak_number ? RECOVERY_OUT_OF_ORDER : RECOVERY_SELECTIVE;
    go_back_n_note_rule(g, c, recovery_is_possible(c, likely) ? likely : other,
                        "what is before PSN %u is acknowledged, and came in another order (packet %llu)",
                        up_to, (unsigned long long)p->number);
    r->keeps = true;
    responder_take_held(r, p);
    return true;
}

/* A packet arrived that is expected in any case. */
static void responder_gets_expected(struct go_back_n *g, struct responder *r, struct verify_context *c,
                                    const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn;
    int64_t since_ns = verify_since_ns(p, r->ahead_ns);
    bool late = r->ahead && !(r->nak && r->nak_psn == psn) && responder_is_sure(r) && !g->pauses;
    bool asked = is_selective(g, c) && r->nak_number > r->ahead_number; /* for all that was missing then */
    bool unasked = late && !asked && since_ns > NO_NAK_NS + nak_delay_ns(c);
    g->t.untimed += late && since_ns < 0;
    int keeps = verify_settings_recovery(c->settings, RECOVERY_OUT_OF_ORDER);
    g->no_naks += unasked && keeps < 0;
    if (unasked && keeps == 0 && r->requests.answered)
        findings_add(
            c->findings, KIND_NO_NAK, p->number, p->time_ns,
            "PSN %u arrives %.3f us after packet %llu, which came out of sequence, and no NAK asked for it",
            psn, (double)since_ns / 1e3, (unsigned long long)r->ahead_number);
    r->ahead = false;
    uint32_t taken = span_of(&r->span, &p->frame.roce, &r->loose);
    held_forget(&r->held, r->most, (uint32_t)psn_after(psn, r->most) + taken);
    r->most = psn_add(psn, taken);
    if (opcode_rows[OPCODE_OPERATION(p->frame.roce.bth.opcode)].last)
        messages_end(&r->messages, psn_add(psn, taken - 1));
    if (r->keeps)
        responder_take_held(r, p);
}

/* The first packet of a new connection is not expected, although all was answered, or by far; others follow
 * it. */
static void responder_watch_renewal(struct responder *r, const struct verify_packet *p)
{
    const struct frame_roce *roce = &p->frame.roce;
    uint32_t psn = roce->bth.psn, loose, taken = span_count(&r->span, roce, &loose);
    int32_t ahead = psn_after(psn, r->most), behind = psn_after(r->least, psn);
    bool first = opcode_rows[OPCODE_OPERATION(roce->bth.opcode)].first;
    bool far = ahead > RENEWAL_FAR || behind > RENEWAL_FAR;
    bool idle = r->answer_number && r->least == r->most && ahead < 0;
    bool follows = r->renewal && psn_after(psn, r->renewal->first) >= 0 &&
                   psn_after(psn, r->renewal->next) <= RENEWAL_FAR;
    if (first && (far || idle) && !follows && (ahead < 0 || ahead > (int32_t)r->loose) &&
        may_be_another(&r->span, psn, ahead < 0, r->first)) {
        if (!r->renewal && !(r->renewal = malloc(sizeof *r->renewal)))
            return;
        *r->renewal = (struct renewal){.first = psn,
                                       .next = psn,
                                       .behind = ahead < 0,
                                       .far = far && !r->span.reads,
                                       .number = p->number,
                                       .time_ns = p->time_ns};
    }
    if (!r->renewal)
        return;
    bool came_ahead = r->renewal->ahead;
    renewal_take(r->renewal, roce, taken, loose);
    if (r->renewal->ahead && !came_ahead) {
        r->renewal->ahead_number = p->number;
        r->renewal->ahead_ns = p->time_ns;
    }
}

/* A new connection began: nothing is known but what has arrived of it. */
static void responder_renew(struct go_back_n *g, struct responder *r)
{
    struct renewal *n = r->renewal;
    free(r->held.here);
    *r = (struct responder){.begun = true,
                            .msn = -1,
                            .requests = r->requests,
                            .span = r->span,
                            .keeps = r->keeps,
                            .ahead = n->ahead,
                            .ahead_number = n->ahead_number,
                            .ahead_ns = n->ahead_ns,
                            .first = n->first,
                            .least = n->first,
                            .most = n->next,
                            .loose = n->loose,
                            .messages = n->messages};
    r->messages.based = true;
    g->renewed[1]++;
    free(n);
}

static void responder_received(struct go_back_n *g, struct responder *r, struct verify_context *c,
                               const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn;
    if (!r->begun) {
        free(r->held.here);
        *r = (struct responder){.begun = true,
                                .requests = r->requests,
                                .renewal = r->renewal,
                                .msn = -1,
                                .first = psn,
                                .least = psn,
                                .most = psn};
    }
    requests_add(&r->requests, p);
    g->received++;
    responder_learn_mtu(r, &p->frame.roce);
    responder_watch_renewal(r, p);
    r->hole = r->hole && psn_after(psn, r->hole_psn) > 0;
    int32_t ahead = psn_after(psn, r->most);
    if (ahead == 0 || (ahead > 0 && (uint32_t)ahead <= r->loose)) {
        responder_gets_expected(g, r, c, p);
    } else if (ahead > 0) {
        responder_hold(r, &p->frame.roce, ahead);
        if (!r->ahead) {
            r->ahead_number = p->number;
            r->ahead_ns = p->time_ns;
        }
        r->ahead = true;
    } else if (ahead < 0) {
        r->again[r->again_count++ % RESPONDER_AGAIN] = psn;
    }
    if (r->nak && psn == r->nak_psn)
        r->nak = false;
}

/* All before this PSN is answered. The first answer may be one of what came before the capture began. */
static void responder_answered(struct responder *r, const struct verify_packet *p, uint32_t up_to)
{
    r->least = r->answer_number ? psn_later(r->least, up_to) : up_to;
    r->answer_number = p->number;
}

/* What it answers has arrived, and is missing from the capture: it expects what is behind. */
static void responder_missed(struct responder *r, const struct verify_context *c,
                             const struct verify_packet *p, uint32_t up_to)
{
    if (c->of_all->complete)
        return;
    int32_t count = psn_after(up_to, r->most);
    held_forget(&r->held, r->most, count > 0 ? (uint32_t)count : 0);
    r->most = psn_later(r->most, up_to);
    messages_forget(&r->messages);
    responder_take_held(r, p);
}

static void responder_acks(struct go_back_n *g, struct responder *r, struct verify_context *c,
                           const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn, least, most;
    if (psn_after(psn, r->most) >= 0 && !responder_kept(g, r, c, p, psn_add(psn, 1))) {
        verify_note_missing(c, "packet %llu acknowledges PSN %u, and PSN %u has not arrived before",
                            (unsigned long long)p->number, psn, responder_reach(r));
        findings_add(
            c->findings, KIND_ACK, p->number, p->time_ns, "acknowledges PSN %u, %s: PSN %u is expected", psn,
            held_has(&r->held, psn) ? "but not all before it has arrived in order" : "which has not arrived",
            responder_may_keep(c) ? responder_reach(r) : r->most);
        responder_missed(r, c, p, psn_add(psn, 1));
        return;
    }
    if (!messages_fit(&r->messages, psn, p->frame.roce.aeth.msn, &least, &most))
        findings_add(c->findings, KIND_MSN, p->number, p->time_ns,
                     "the ACK of PSN %u has MSN %u, expected %u to %u", psn, p->frame.roce.aeth.msn, least,
                     most);
    responder_answered(r, p, psn_add(psn, 1));
}

/* Has the PSN lately come behind later ones? */
static bool responder_was_asked_again(const struct responder *r, uint32_t psn)
{
    for (uint32_t i = 0; i < RESPONDER_AGAIN && i < r->again_count; i++)
        if (r->again[i] == psn)
            return true;
    return false;
}

/* A NAK of what another one has asked for, which has not come since: some NICs ask again, after a time. */
static void responder_naks_again(struct go_back_n *g, const struct responder *r, struct verify_context *c,
                                 const struct verify_packet *p)
{
    int64_t set_ns = c->settings->nak_again_ns, since_ns = verify_since_ns(p, r->nak_ns);
    bool due = set_ns > 0 && (double)since_ns >= EARLY * (double)set_ns;
    bool open = (set_ns == FIELD_UNSET && since_ns >= NO_NAK_NS) || (set_ns != 0 && since_ns < 0);
    g->naks_again += due;
    g->naks_open += open;
    bool selective = verify_settings_recovery(c->settings, RECOVERY_SELECTIVE) < 0;
    if (!due && !open)
        findings_add(selective ? &g->twice : c->findings, KIND_NAK_TWICE, p->number, p->time_ns,
                     "a second NAK asks for PSN %u, which has not arrived since the first (packet %llu)",
                     p->frame.roce.bth.psn, (unsigned long long)r->nak_number);
}

/* A packet came out of sequence, long before the NAK: it is not known how long its NIC may take. */
static bool responder_may_nak_late(const struct responder *r, const struct verify_context *c,
                                   const struct verify_packet *p)
{
    return c->settings->nak_delay_ns == FIELD_UNSET && r->ahead_number &&
           verify_since_ns(p, r->ahead_ns) <= NAK_NS;
}

/* Came a packet out of sequence by so much before as its NIC, or any, may take to ask? */
static bool responder_naks_late(const struct responder *r, const struct verify_context *c,
                                const struct verify_packet *p)
{
    return r->ahead_number && verify_since_ns(p, r->ahead_ns) <= nak_delay_ns(c) + NO_NAK_NS;
}

static void responder_naks(struct go_back_n *g, struct responder *r, struct verify_context *c,
                           const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn;
    responder_kept(g, r, c, p, psn);
    if (!r->answer_number &&
        psn_after(psn, r->least) < 0) { /* the first one to arrive was not the first one sent */
        for (uint32_t came = r->least; came != r->most && psn_after(came, psn) < HELD_PSNS;
             came = psn_add(came, 1))
            held_add(&r->held, came, psn_after(came, psn), false);
        r->least = psn;
        r->most =
            responder_was_asked_again(r, psn) ? psn_add(psn, 1) : psn; /* it came behind the first one */
        r->ahead = true;
        r->ahead_number = p->number;
        r->ahead_ns = p->time_ns;
    }
    if (psn_after(psn, r->most) > 0 || (psn == r->most && !r->ahead)) {
        verify_note_missing(c, "packet %llu, a NAK, asks for PSN %u, and %s PSN %u has not arrived before",
                            (unsigned long long)p->number, psn, psn == r->most ? "what is behind" : "",
                            r->most);
        findings_add(c->findings, KIND_NAK_PSN, p->number, p->time_ns,
                     "a NAK asks for PSN %u, but PSN %u is expected%s", psn, r->most,
                     psn == r->most ? " and nothing behind it has arrived" : "");
        responder_missed(r, c, p, psn);
    } else if (psn_after(psn, r->least) < 0 && responder_naks_late(r, c, p))
        return; /* the packet came meanwhile */
    else if (psn_after(psn, r->least) < 0 && responder_may_nak_late(r, c, p))
        g->naks_late++;
    else if (psn_after(psn, r->least) < 0)
        findings_add(c->findings, KIND_NAK_PSN, p->number, p->time_ns,
                     "a NAK asks for PSN %u, which packet %llu acknowledged; PSN %u is expected", psn,
                     (unsigned long long)r->answer_number, r->most);
    else if (r->nak && r->nak_psn == psn && !is_selective(g, c)) /* which asks for others behind it */
        responder_naks_again(g, r, c, p);
    r->nak = true;
    r->nak_psn = psn;
    r->nak_number = p->number;
    r->nak_ns = p->time_ns;
}

/* ---- the responder: answers of reads and atomics */

/* Answers follow each other, and begin again where they are asked for again. */
static void responder_responds(struct go_back_n *g, struct responder *r, struct verify_context *c,
                               const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn;
    int32_t ahead = psn_after(psn, r->answer_next);
    go_back_n_note_seen(g, p, true, SEEN_RESPONSE);
    r->span.reads = true;
    responder_learn_mtu(r, &p->frame.roce);
    if (!r->answers)
        r->answer_most = psn;
    if (responder_is_sure(r) && psn_after(psn, r->most) >= 0)
        responder_kept(g, r, c, p, psn_add(psn, 1));
    bool asked_for_less = ahead > 0 && psn_after(psn, r->answer_most) <= 0;
    if (r->span.others || !r->answers || (ahead && responder_was_asked_again(r, psn)))
        r->answers = true;
    else if (asked_for_less && recovery_is_possible(c, RECOVERY_SELECTIVE))
        go_back_n_note_rule(
            g, c, RECOVERY_SELECTIVE,
            "the answer of PSN %u follows that of PSN %u, which was sent again without those between "
            "(packet %llu)",
            psn, (r->answer_next - 1) & FRAME_PSN_MASK, (unsigned long long)p->number);
    else if (ahead > 0) {
        if (!r->hole) {
            r->hole = true;
            r->hole_psn = r->answer_next;
            r->hole_number = p->number;
        }
        findings_add(c->findings, KIND_ANSWER_SKIPPED, p->number, p->time_ns,
                     "the answer of PSN %u follows that of PSN %u (packet %llu): %u skipped", psn,
                     (r->answer_next - 1) & FRAME_PSN_MASK, (unsigned long long)r->response_number,
                     (uint32_t)ahead);
    } else if (ahead < 0) {
        verify_note_missing(c, "packet %llu answers PSN %u again, and no request before has asked for that",
                            (unsigned long long)p->number, psn);
        findings_add(c->findings, KIND_AGAIN, p->number, p->time_ns,
                     "PSN %u is answered again, but no request has asked for it again; PSN %u is expected",
                     psn, r->answer_next);
    } else if (responder_is_sure(r) && psn_after(psn, r->most) >= 0 && !r->unasked) {
        verify_note_missing(c, "packet %llu answers PSN %u, and no request before has asked for it",
                            (unsigned long long)p->number, psn);
        findings_add(c->findings, KIND_ACK, p->number, p->time_ns,
                     "answers PSN %u, which was not asked for: PSN %u is expected", psn, r->most);
    }
    r->unasked = responder_is_sure(r) && psn_after(psn, r->most) >= 0; /* said once */
    r->answer_next = psn_add(psn, 1);
    r->answer_most = psn_later(r->answer_most, r->answer_next);
    responder_answered(r, p, r->answer_next);
    r->response_number = p->number;
}

static void responder_answers(struct go_back_n *g, struct responder *r, struct verify_context *c,
                              const struct verify_packet *p)
{
    const struct frame_roce *roce = &p->frame.roce;
    requests_answer(&r->requests, p, &g->longest_ns[1]);
    if (!r->begun)
        return;
    if (r->renewal) {
        enum renewed renewed = renewal_decide(r->renewal, roce, r->msn);
        if (renewed == RENEWED_YES) {
            responder_renew(g, r);
        } else if (renewed == RENEWED_NO) {
            free(r->renewal);
            r->renewal = NULL;
        }
    }
    if (opcode_rows[OPCODE_OPERATION(roce->bth.opcode)].aeth && !roce->cut && !r->renewal)
        r->msn = (int32_t)roce->aeth.msn;
    if (OPCODE_OPERATION(roce->bth.opcode) != OPCODE_ACKNOWLEDGE) {
        responder_responds(g, r, c, p);
        return;
    }
    if (roce->cut) { /* an ACK or a NAK: what follows begins anew */
        go_back_n_note_seen(g, p, true, SEEN_CUT_ANSWER);
        r->begun = false;
        return;
    }
    if (!responder_is_sure(r))
        return;
    enum aeth_kind kind = AETH_KIND(roce->aeth.syndrome);
    go_back_n_note_seen(g, p, true, kind == AETH_ACK ? SEEN_ACK : SEEN_NAK);
    if (kind == AETH_ACK)
        responder_acks(g, r, c, p);
    else if (kind == AETH_NAK && AETH_VALUE(roce->aeth.syndrome) == AETH_NAK_SEQUENCE)
        responder_naks(g, r, c, p);
}

/* ---- the checker */

static void go_back_n_request(struct go_back_n *g, struct verify_context *c, const struct verify_packet *p)
{
    if (p->frame.roce.cut && OPCODE_OPERATION(p->frame.roce.bth.opcode) == OPCODE_READ_REQUEST)
        go_back_n_note_seen(g, p, p->sent_here, SEEN_CUT_READ);
    if (p->sent_here) {
        struct requester *r = states_at(&g->requesters, p->flow, sizeof *r);
        if (r)
            requester_sent(g, r, c, p);
    }
    if (p->received_here) {
        struct responder *r = states_at(&g->responders, p->flow, sizeof *r);
        if (r)
            responder_received(g, r, c, p);
    }
}

/* A request is seen elsewhere on its way, that its sender's port has not. */
static void go_back_n_look_for_hole(struct go_back_n *g, struct verify_context *c,
                                    const struct verify_packet *p)
{
    if (!g->holes || p->sent_here)
        return;
    for (; g->same_count < c->flows->count; g->same_count++)
        same_flows_first(&g->same, c->flows, g->same_count);
    for (uint32_t i = same_flows_first(&g->same, c->flows, p->flow); i != FLOW_NONE;
         i = same_flows_next(&g->same, i)) {
        struct requester *r = states_have(&g->requesters, i, sizeof *r);
        if (!r || !r->hole || r->hole_psn != p->frame.roce.bth.psn)
            continue;
        requester_fill_hole(g, r);
        verify_note_missing(c, "packet %llu of PSN %u is not in the capture where it was sent",
                            (unsigned long long)p->number, p->frame.roce.bth.psn);
    }
}

/* An answer belongs to the flow of the requests. */
static void go_back_n_answer(struct go_back_n *g, struct verify_context *c, const struct verify_packet *p)
{
    uint32_t of = c->flows->flows[p->flow].partner;
    if (of == FLOW_NONE) {
        flows_note_untied(&g->untied, p->flow);
        return;
    }
    if (p->received_here) {
        struct requester *r = states_at(&g->requesters, of, sizeof *r);
        if (r)
            requester_answered(g, r, c, p);
    }
    if (p->sent_here) {
        struct responder *r = states_at(&g->responders, of, sizeof *r);
        if (r)
            responder_answers(g, r, c, p);
    }
}

static void go_back_n_frame(void *state, struct verify_context *c, const struct verify_packet *p)
{
    struct go_back_n *g = state;
    if (p->frame.kind != FRAME_ROCE) {
        g->pauses = g->pauses || p->frame.kind == FRAME_PFC || p->frame.kind == FRAME_PAUSE;
        return;
    }
    uint8_t opcode = p->frame.roce.bth.opcode;
    enum opcode_service service = OPCODE_SERVICE(opcode);
    if (p->flow == FLOW_NONE)
        return;
    if (p->frame.roce.cut && (p->sent_here || p->received_here))
        go_back_n_note_seen(g, p, p->sent_here, SEEN_CUT);
    if (opcode == OPCODE_CNP) {
        uint32_t of = c->flows->flows[p->flow].partner;
        struct requester *r =
            of == FLOW_NONE ? NULL : states_have(&g->requesters, of, sizeof(struct requester));
        if (r)
            r->notified = true;
    } else if (service == OPCODE_RC || service == OPCODE_XRC) {
        if (!opcode_rows[OPCODE_OPERATION(opcode)].response)
            go_back_n_look_for_hole(g, c, p);
        if (!p->sent_here && !p->received_here)
            g->elsewhere++;
        else if (opcode_rows[OPCODE_OPERATION(opcode)].response)
            go_back_n_answer(g, c, p);
        else
            go_back_n_request(g, c, p);
    }
}

/* What one direction alone leaves open. */
static void go_back_n_say_one_sided(const struct go_back_n *g, struct verify_context *c)
{
    uint64_t sent = 0, received = 0, alone;
    for (uint32_t i = 0; i < g->requesters.count; i++)
        sent += requests_unanswered(
            &((const struct requester *)states_have(&g->requesters, i, sizeof(struct requester)))->requests,
            c, g->longest_ns[0]);
    for (uint32_t i = 0; i < g->responders.count; i++)
        received += requests_unanswered(
            &((const struct responder *)states_have(&g->responders, i, sizeof(struct responder)))->requests,
            c, g->longest_ns[1]);
    (void)flows_count_untied(c->flows, &g->untied, &alone);
    if (sent)
        findings_open(
            c->findings,
            "when and to which PSN the senders of %llu %s go back: no answer to them is in the capture",
            (unsigned long long)sent, THINGS(sent, "packet"));
    if (received)
        findings_open(c->findings,
                      "the ACKs and NAKs of %llu %s: nothing that their receiver answers is in the capture",
                      (unsigned long long)received, THINGS(received, "packet"));
    if (alone)
        findings_open(c->findings, "%llu %s: the requests are not in the capture", (unsigned long long)alone,
                      THINGS(alone, "answer"));
}

static void go_back_n_say_open(const struct go_back_n *g, const uint64_t seen[SEEN], struct verify_context *c)
{
    uint64_t alone, untied = flows_count_untied(c->flows, &g->untied, &alone);
    if (g->elsewhere && (g->sent || g->received))
        findings_not_judged(c->findings, "%llu %s of packets at ports that are not those of their hosts",
                            (unsigned long long)g->elsewhere, THINGS(g->elsewhere, "sighting"));
    else if (g->elsewhere)
        findings_open(
            c->findings,
            "%llu %s of hosts that are not at the port of the capture (hosts: whose ports these are)",
            (unsigned long long)g->elsewhere, THINGS(g->elsewhere, "packet"));
    if (untied)
        findings_open(c->findings, "%llu %s whose requests are not known", (unsigned long long)untied,
                      THINGS(untied, "answer"));
    if (seen[SEEN_CUT_ANSWER])
        findings_open(c->findings, "%llu cut %s, each an ACK or a NAK",
                      (unsigned long long)seen[SEEN_CUT_ANSWER], THINGS(seen[SEEN_CUT_ANSWER], "answer"));
    if (seen[SEEN_CUT_READ])
        findings_open(c->findings, "which PSNs are of the answers of %llu %s: the lengths are cut",
                      (unsigned long long)seen[SEEN_CUT_READ], THINGS(seen[SEEN_CUT_READ], "read"));
    if (g->t.back_unset)
        findings_open(c->findings,
                      "when the sender went back without a NAK, %llu %s (ack_timeout is not set)",
                      (unsigned long long)g->t.back_unset, THINGS(g->t.back_unset, "time"));
    if (g->t.back_unknown)
        findings_not_judged(
            c->findings,
            "when the sender went back without a NAK, %llu %s: what was acknowledged, or when, is not known",
            (unsigned long long)g->t.back_unknown, THINGS(g->t.back_unknown, "time"));
    if (g->t.jumped)
        findings_open(
            c->findings,
            "whether requests were skipped, %llu %s: the first read in the capture may be one that was "
            "sent again",
            (unsigned long long)g->t.jumped, THINGS(g->t.jumped, "time"));
    if (g->renewals_open)
        findings_open(
            c->findings,
            "whether %llu %s the number of a queue pair again or left out PSNs (the first at packet "
            "%llu): its answers do not tell",
            (unsigned long long)g->renewals_open,
            g->renewals_open == 1 ? "connection uses" : "connections use",
            (unsigned long long)g->renewal_open_number);
    if (g->gone_silent)
        findings_not_judged(c->findings,
                            "whether %llu %s that sent again and then nothing, though answers came, gave up",
                            (unsigned long long)g->gone_silent, THINGS(g->gone_silent, "queue pair"));
    if (g->naks_open)
        findings_open(
            c->findings,
            "whether %llu %s that asked again for what had not come were due (nak_again is not set)",
            (unsigned long long)g->naks_open, THINGS(g->naks_open, "NAK"));
    if (g->naks_late)
        findings_open(c->findings,
                      "whether %llu %s for what was acknowledged meanwhile left late (nak_delay is not set)",
                      (unsigned long long)g->naks_late, THINGS(g->naks_late, "NAK"));
    if (g->no_naks)
        findings_open(c->findings,
                      "whether a NAK was due, %llu %s: with out-of-order placement none is (recovery: what "
                      "the NICs do)",
                      (unsigned long long)g->no_naks, THINGS(g->no_naks, "time"));
    go_back_n_say_one_sided(g, c);
}

/* A responder left out an answer, and nobody asked for it: it is the capture that has it not. */
static void responder_end(const struct responder *r, struct verify_context *c)
{
    if (r && r->hole)
        verify_note_missing(
            c, "the answer of PSN %u does not come before packet %llu, and was not asked for again",
            r->hole_psn, (unsigned long long)r->hole_number);
}

static void go_back_n_end(void *state, struct verify_context *c)
{
    struct go_back_n *g = state;
    uint64_t seen[SEEN] = {0};
    for (uint32_t i = 0; i < g->requesters.count && i < c->flows->count; i++) {
        verify_turn_to(c, c->flows->flows[i].interface);
        requester_end(g, states_have(&g->requesters, i, sizeof(struct requester)), c);
    }
    if (g->holes >= HOLES_MANY)
        verify_note_missing(c, "PSNs are left out by %llu queue pairs that nobody was seen to ask for",
                            (unsigned long long)g->holes);
    for (uint32_t i = 0; i < g->responders.count; i++)
        responder_end(states_have(&g->responders, i, sizeof(struct responder)), c);
    if (!g->t.shown[RECOVERY_SELECTIVE][0])
        findings_take(c->findings, &g->twice);
    go_back_n_count_seen(g, c, seen);
    findings_judged(c->findings, "packets sent", g->sent);
    findings_judged(c->findings, "packets received", g->received);
    findings_seen(c->findings, "ACKs", seen[SEEN_ACK]);
    findings_seen(c->findings, "NAKs", seen[SEEN_NAK]);
    findings_seen(c->findings, "answers of READs and atomics", seen[SEEN_RESPONSE]);
    findings_seen(c->findings, "NAKs that asked again", g->naks_again);
    findings_seen(c->findings, "times gone back", g->t.back);
    findings_seen(c->findings, "of these for NAKs", g->t.back_nak);
    findings_seen(c->findings, "of these for missing answers", g->t.back_gap);
    findings_seen(c->findings, "of these for answers that came", g->t.back_lost);
    findings_seen(c->findings, "of these after time-outs", g->t.back_timeout);
    findings_seen(c->findings, "packets with cut headers", seen[SEEN_CUT]);
    findings_seen(c->findings, "queue pair numbers used again",
                  g->renewed[0] > g->renewed[1] ? g->renewed[0] : g->renewed[1]);
    go_back_n_say_rules(g, c);
    go_back_n_say_open(g, seen, c);
}

/* Nothing was sent again without a NAK, and nothing came out of sequence: times are not needed. */
static bool go_back_n_needs_times(const void *state, const struct verify_context *c)
{
    (void)c;
    return ((const struct go_back_n *)state)->t.untimed;
}

static void go_back_n_free(void *state)
{
    struct go_back_n *g = state;
    for (uint32_t i = 0; i < g->requesters.count; i++) {
        struct requester *r = states_have(&g->requesters, i, sizeof *r);
        requester_forget_renewal(r);
        free(r->held.here);
    }
    for (uint32_t i = 0; i < g->responders.count; i++) {
        struct responder *r = states_have(&g->responders, i, sizeof *r);
        free(r->renewal);
        free(r->held.here);
    }
    free(g->requesters.items);
    free(g->responders.items);
    same_flows_free(&g->same);
    findings_free(&g->twice);
    free(g->untied.items);
    free(g->seen.items);
}

/* What is missing may have been there: nothing. */
static const char *const proved[] = {NULL};

const struct checker checker_go_back_n = {
    .check = CHECK_GO_BACK_N,
    .proved = proved,
    .about = "Loss recovery of reliable connections: PSNs, NAKs, time-outs, MSNs.",
    .needs_times = go_back_n_needs_times,
    .state_bytes = sizeof(struct go_back_n),
    .frame = go_back_n_frame,
    .end = go_back_n_end,
    .free = go_back_n_free,
};
