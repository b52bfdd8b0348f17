/*
 * Requesters of reliable connections (InfiniBand Architecture Specification, 9.7.6 and 9.7.7), each seen at
 * its own port: it goes back to what was not acknowledged, when a NAK asks for it or its time has passed, and
 * sends all that follows again; it leaves out nothing. What NICs do beyond that is a rule of
 * verify_settings.h.
 */
#include "verify/go_back_n.h"

#include "lib/packets/opcode.h"
#include <stdlib.h>
#include <string.h>

#define BEFORE_NS   100000 /* within this time a NIC has looked at an answer */
#define NAK_PACKETS 1024   /* new packets that may leave before it goes back for a NAK */
#define LATE        4.0    /* 9.7.6.1.3: a time-out may be up to four times as long */
#define LEAST_NS    4096   /* adaptive retransmission waits for no less: the least time-out */
#define FLOOR_NS \
    268435456 /* with adaptive retransmission ConnectX takes a shorter one for this: 2^16 x 4.096 us */

#define HOLES_MANY 3 /* so many queue pairs do not leave out PSNs each by itself */

#define KIND_SKIPPED "skipped"
#define KIND_BACK    "goes back to the wrong PSN"
#define KIND_NO_BACK "does not go back"
#define KIND_TIMEOUT "time-out"

/* NAKs for which it may yet go back: it has not done so, and another came, or what they ask for was
 * acknowledged. */
#define NAKS_LEFT 4
struct nak_left {
    bool left;
    uint32_t psn;
    int64_t time_ns;
};

/* How far it was answered at a time. */
struct standing {
    uint32_t unacked;
    int64_t progress_ns;
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
    bool hole;                         /* it left out PSNs from `hole_psn` on, not answered since */
    bool sent_again;                   /* so was its last packet, without progress since it went back */
    struct requester_renewal *renewal; /* NULL: there is none */
    int32_t msn;                       /* of the latest answer; -1: there was none */
    uint32_t hole_psn, hole_count;
    int64_t hole_ns;
    uint64_t hole_counted_number; /* the packet that ends a WRITE as if `hole_psn` had been sent; 0: none */
    uint32_t hole_counted_bytes;  /* of that WRITE */
    uint32_t message_psn,
        message_bytes; /* the first packet of a WRITE, which says its length; 0 bytes: none */
    struct nak_left naks_pending[NAKS_LEFT]; /* a ring */
    uint32_t naks_pending_count;
    struct requests requests;
    struct held held;       /* answers of reads */
    uint32_t first;         /* PSN of the connection in the capture */
    uint32_t next;          /* the first PSN that was never sent */
    uint32_t cursor;        /* the PSN that follows the last one sent */
    uint32_t next_loose;    /* that the newest read may have taken beyond `next` */
    uint32_t loose;         /* PSNs that a read may have taken beyond these */
    uint32_t nak_psn;       /* that the last NAK asked for */
    uint32_t gap_answers;   /* that came since */
    uint32_t gap_request;   /* the first PSN that was asked for since, if `gap_asked` */
    uint32_t unacked;       /* the first PSN that is not acknowledged */
    uint32_t nak_new;       /* new packets since it was asked */
    uint64_t answer_number; /* the packet that acknowledged last */
    uint64_t nak_number, gap_number, sent_number;
    int64_t last_ns;          /* of its last request or answer */
    uint32_t last_nak_psn;    /* of the last NAK that came, */
    uint64_t last_nak_number; /* which is this packet; 0: none came */
    struct standing before;   /* as it was a while ago: the NIC may not have looked at later answers; */
    struct standing later;    /* what `before` is next, */
    int64_t later_ns;         /* and since when */
    int64_t progress_ns;      /* since when `unacked` waits for its answer */
    int64_t resent_ns;        /* when `unacked` was sent again; its timer began anew */
    int64_t nak_ns, answer_ns, gap_ns;
    struct messages messages;
    struct span span;
};

/* A requester's renewal: what was found at its first packet, if it is none. */
struct requester_renewal {
    struct renewal of;
    bool answered; /* which does not tell */
    struct tally tally;
    struct findings held;
};

/* The longest time that may pass without an answer before a requester sends again. */
static double timeout_latest_ns(const struct verify_context *c)
{
    int64_t set_ns = c->settings->ack_timeout_ns;
    return LATE *
           (double)(recovery_is_possible(c, RECOVERY_ADAPTIVE) && set_ns < FLOOR_NS ? FLOOR_NS : set_ns);
}

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
                            .before = {psn, p->time_ns},
                            .later = {psn, p->time_ns},
                            .later_ns = p->time_ns,
                            .progress_ns = p->time_ns,
                            .resent_ns = p->time_ns};
}

/* The last NAK that came was sent, too: where both ends are captured, and it is not seen that it was, it is
 * missing. The clocks of the two captures may differ by its way: it is looked for when the next one comes, or
 * at the end. */
static void requester_check_nak_sent(struct go_back_n *g, struct requester *r, struct verify_context *c,
                                     uint32_t flow)
{
    if (r->last_nak_number && responders_have_asked(g, c, flow, r->last_nak_psn) == 0)
        verify_note_missing(
            c, "packet %llu, a NAK, asks for PSN %u, and is not in the capture where it was sent",
            (unsigned long long)r->last_nak_number, r->last_nak_psn);
    r->last_nak_number = 0;
}

/* It goes back although nobody asked it to, as it seems: it did if the other end's port has a NAK. */
static void requester_check_nak_came(struct go_back_n *g, const struct requester *r, struct verify_context *c,
                                     const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn;
    if (r->last_nak_psn != psn && responders_have_asked(g, c, p->flow, psn) > 0)
        verify_note_missing(c,
                            "packet %llu of PSN %u is sent again, and the NAK that asked for it is not in "
                            "the capture where it "
                            "arrived",
                            (unsigned long long)p->number, psn);
}

/* ---- going back */

/* It went back without being asked: was it time? */
static void requester_check_timeout(struct go_back_n *g, const struct requester *r, struct verify_context *c,
                                    const struct verify_packet *p)
{
    int64_t set_ns = c->settings->ack_timeout_ns, waited_ns = verify_since_ns(p, r->progress_ns);
    uint32_t psn = p->frame.roce.bth.psn;
    int64_t answer_ns = verify_since_ns(p, r->answer_ns),
            before_ns = verify_since_ns(p, r->before.progress_ns);
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
    int64_t resent_ns = verify_since_ns(p, r->resent_ns);
    int64_t late_ns = resent_ns >= 0 && resent_ns < waited_ns ? resent_ns : waited_ns;
    if ((double)waited_ns < EARLY * (double)set_ns && waited_ns >= LEAST_NS &&
        recovery_is_possible(c, RECOVERY_ADAPTIVE))
        go_back_n_note_rule(
            g, c, RECOVERY_ADAPTIVE,
            "PSN %u is sent again %.3f us after the last progress, without a NAK, before the time-out "
            "(packet "
            "%llu)",
            psn, (double)waited_ns / 1e3, (unsigned long long)p->number);
    else if ((double)waited_ns < EARLY * (double)set_ns) {
        requester_check_nak_came(g, r, c, p);
        findings_add(
            c->findings, KIND_TIMEOUT, p->number, p->time_ns,
            "PSN %u is sent again %.3f us after the last progress, without a NAK; the time-out is %.3f us",
            psn, (double)waited_ns / 1e3, (double)set_ns / 1e3);
    } else if ((double)late_ns > LATE * (double)set_ns && (double)late_ns <= timeout_latest_ns(c) &&
               !g->pauses && !r->notified)
        go_back_n_note_rule(
            g, c, RECOVERY_ADAPTIVE,
            "PSN %u is sent again only %.3f us after the last progress, more than four time-outs "
            "(packet %llu)",
            psn, (double)late_ns / 1e3, (unsigned long long)p->number);
    else if ((double)late_ns > timeout_latest_ns(c) && !g->pauses && !r->notified)
        findings_add(
            c->findings, KIND_TIMEOUT, p->number, p->time_ns,
            "PSN %u is sent again %.3f us after the last progress; the time-out is %.3f us, and at most "
            "%.3f us are allowed",
            psn, (double)late_ns / 1e3, (double)set_ns / 1e3, timeout_latest_ns(c) / 1e3);
}

/* It goes back for a NAK that came a short time ago, although what that asked for has been acknowledged
 * since: it came out of order, and the packet was on its way out. It may leave out what was acknowledged. */
static bool requester_goes_back_late(struct requester *r, const struct verify_packet *p)
{
    for (int i = 0; i < NAKS_LEFT; i++) {
        struct nak_left *n = &r->naks_pending[i];
        uint32_t psn = p->frame.roce.bth.psn;
        if (!n->left || psn_after(psn, n->psn) < 0 || psn_after(psn, r->unacked) > 0 ||
            verify_since_ns(p, n->time_ns) >= BEFORE_NS)
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
    bool selective = recovery_is_selective(g, c);
    int64_t set_ns = c->settings->ack_timeout_ns, before_ns = verify_since_ns(p, r->before.progress_ns);
    /* selective repeat sends what several NAKs asked for, each a while ago; a time-out may have been before
     * the NAK */
    bool may_lag =
        selective || !r->nak || (set_ns != FIELD_UNSET && (double)before_ns >= EARLY * (double)set_ns);
    bool timed = since_ns >= 0, lagging = may_lag && since_ns < BEFORE_NS;
    int64_t nak_ns = r->nak ? verify_since_ns(p, r->nak_ns) : -1;
    uint32_t least = lagging ? r->before.unacked : r->unacked;
    if (nak_ns >= 0 && nak_ns < BEFORE_NS && psn_after(r->nak_psn, least) < 0)
        least = r->nak_psn; /* it goes back to that, and on over what is answered meanwhile */
    bool asked = r->nak || (r->nak_spare && psn == r->unacked) || (selective && r->naks_left);
    bool lost = !asked && !r->gap && r->answered && span_answers(&r->span) && psn_after(psn, r->unacked) < 0;
    bool timed_out = !asked && !r->gap && !lost;
    g->t.back++;
    g->lost_between = g->lost_between || (!r->hole && responders_lack(g, c, p->flow, psn));
    bool on =
        r->nak && nak_ns < BEFORE_NS && psn_after(psn, r->nak_psn) >= 0 && psn_after(psn, r->unacked) <= 0;
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
    else if (psn_after(psn, r->unacked) > 0) {
        if (!asked)
            requester_check_nak_came(g, r, c, p);
        findings_add(c->findings, KIND_BACK, p->number, p->time_ns,
                     "goes back to PSN %u, but PSN %u is not acknowledged yet%s (packet %llu)", psn,
                     r->unacked, r->nak ? ": the NAK asked for it" : "",
                     (unsigned long long)r->answer_number);
    } else if (psn_after(psn, least) < 0 && (timed || r->nak) && !r->span.reads &&
               !g->pauses) /* a read may begin at its message's first packet; what was queued leaves after a
                              pause */
        findings_add(c->findings, KIND_BACK, p->number, p->time_ns,
                     "goes back to PSN %u, but all before PSN %u is acknowledged (packet %llu)", psn,
                     r->unacked, (unsigned long long)r->answer_number);
}

/* ---- what it sends */

/* New packets go on although it was asked to go back. */
static void requester_check_nak(struct requester *r, struct verify_context *c, const struct verify_packet *p)
{
    int64_t since_ns = verify_since_ns(p, r->nak_ns);
    if (!r->nak || r->span.reads || ++r->nak_new <= NAK_PACKETS || (since_ns >= 0 && since_ns <= NAK_NS))
        return;
    r->nak = false;
    if (psn_after(r->unacked, r->nak_psn) > 0)
        return; /* sent again before the NAK came, which is one of several, or it was only late */
    findings_add(c->findings, KIND_NO_BACK, p->number, p->time_ns,
                 "PSN %u is the %uth new packet since the NAK of packet %llu asked for PSN %u",
                 p->frame.roce.bth.psn, r->nak_new, (unsigned long long)r->nak_number, r->nak_psn);
}

/* Answers of the flow that came before their requests were known. */
static uint64_t untied_answers(const struct go_back_n *g, uint32_t flow)
{
    const uint64_t *count = states_have(&g->untied, flow, sizeof *count);
    return count ? *count : 0;
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
    c->findings->witnessed = false; /* only if the other end asks for it */
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
        r->hole_count = (uint32_t)psn_after(psn, never);
        r->hole_ns = p->time_ns;
        r->hole_counted_number = 0;
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

/* ---- a new connection with its number */

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

/* May the packet, which does not follow, be the first of a new connection? The oldest one without an answer
 * is sent again. */
static bool requester_may_begin(const struct requester *r, const struct frame_roce *roce)
{
    int32_t ahead = psn_after(roce->bth.psn, r->cursor), beyond = psn_after(roce->bth.psn, r->next);
    return opcode_rows[OPCODE_OPERATION(roce->bth.opcode)].first && roce->bth.psn != r->unacked &&
           renewal_may_begin(&r->span, roce->bth.psn, beyond < 0, r->first) &&
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

/* Does the last packet of a WRITE have the PSN that it has if no packet of the message was left out? The one
 * that was left out had its PSN, then: the NIC lost it if a NAK requests it, else it is missing. */
static void requester_count_message(struct requester *r, const struct verify_packet *p)
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
    r->hole_counted_number = p->number;
    r->hole_counted_bytes = r->message_bytes;
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
    if (!r->renewal->of.far && !(r->renewal->of.behind && r->renewal->of.idle)) {
        if (r->hole && r->renewal->answered)
            verify_note_missing(
                c, "PSN %u follows others that were not sent before (packet %llu), and is answered",
                r->renewal->of.first, (unsigned long long)r->renewal->of.number);
        requester_was_not_renewed(r, c);
        return;
    }
    go_back_n_note_open_renewal(g, 0, r->renewal->of.number);
    requester_forget_renewal(r);
}

static struct requester_renewal *requester_renewal_begin(const struct requester *r,
                                                         const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn;
    bool behind = psn_after(psn, r->next) < 0;
    int64_t since_ns = verify_since_ns(p, r->last_ns);
    struct requester_renewal *n = calloc(1, sizeof *n);
    if (n)
        n->of = (struct renewal){.first = psn,
                                 .next = psn,
                                 .behind = behind,
                                 .far = !r->span.reads && (behind ? psn_after(r->unacked, psn) > RENEWAL_FAR
                                                                  : psn_after(psn, r->next) > RENEWAL_FAR),
                                 .idle = since_ns < 0 || since_ns > RENEWAL_IDLE_NS,
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
    if (n) {
        n->held.witnessed = found->witnessed;
        c->findings = &n->held;
    }
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
                            .before = {n->of.first, n->of.time_ns},
                            .later = {n->of.first, n->of.time_ns},
                            .later_ns = n->of.time_ns,
                            .progress_ns = n->of.time_ns,
                            .resent_ns = n->of.time_ns,
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
    requester_count_message(r, p);
    r->in_message = !opcode_rows[OPCODE_OPERATION(roce->bth.opcode)].last;
    r->sent_again = r->waited && psn_after(psn, r->next) < 0;
    if (r->nak && psn == r->nak_psn) {
        r->nak = false;
        if (ahead >= 0) /* it was on its way before the NAK came */
            requester_leave_nak(r, psn, r->nak_ns);
    } else if (r->nak && psn_after(psn, r->unacked) <= 0) {
        r->nak = false;
        requester_leave_nak(r, r->nak_psn, r->nak_ns);
    }
    r->cursor = psn_add(psn, taken);
    r->loose = loose;
    r->resent_ns = psn == r->unacked ? p->time_ns : r->resent_ns;
    r->sent_number = p->number;
    r->last_ns = p->time_ns;
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

/* ---- what it is answered */

static void requester_acknowledged(struct requester *r, const struct verify_packet *p, uint32_t up_to)
{
    if (r->answered && psn_after(up_to, r->unacked) <= 0)
        return;
    if (p->time_ns - r->later_ns > BEFORE_NS) {
        struct standing now = {r->unacked, r->progress_ns};
        r->before = p->time_ns - r->answer_ns > BEFORE_NS ? now : r->later;
        r->later = now;
        r->later_ns = p->time_ns;
    }
    if (!r->answered)
        r->before.unacked = r->later.unacked = psn_after(up_to, r->unacked) < 0 ? up_to : r->unacked;
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
    r->last_ns = p->time_ns;
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
    if (kind == AETH_NAK && asks) {
        requester_check_nak_sent(g, r, c, c->flows->flows[p->flow].partner);
        r->last_nak_psn = psn;
        r->last_nak_number = p->number;
    }
    if (asks && r->hole && c->findings->witnessed && (uint32_t)psn_after(psn, r->hole_psn) < r->hole_count)
        g->skipped_asked++;
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
    if (r->hole && !r->nak && r->hole_counted_number)
        verify_note_missing(c, "packet %llu ends a WRITE of %u bytes as if PSN %u had been sent",
                            (unsigned long long)r->hole_counted_number, r->hole_counted_bytes, r->hole_psn);
    else if (r->hole && !r->nak && r->requests.answered && r->hole_ns >= 0 &&
             c->end_ns - r->hole_ns > take_ns)
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

/* Of reads the other end does not tell which answers came. */
static void requester_has_witness(const struct requester *r, struct verify_context *c)
{
    c->findings->witnessed = c->findings->witnessed && !r->span.reads;
}

/* ---- all of a capture */

void requesters_sent(struct go_back_n *g, struct verify_context *c, const struct verify_packet *p)
{
    struct requester *r = states_at(&g->requesters, p->flow, sizeof *r);
    if (!r)
        return;
    requester_has_witness(r, c);
    requester_sent(g, r, c, p);
}

void requesters_answered(struct go_back_n *g, uint32_t of, struct verify_context *c,
                         const struct verify_packet *p)
{
    struct requester *r = states_at(&g->requesters, of, sizeof *r);
    if (!r)
        return;
    requester_has_witness(r, c);
    requester_answered(g, r, c, p);
}

void requesters_notified(struct go_back_n *g, uint32_t of)
{
    struct requester *r = states_have(&g->requesters, of, sizeof *r);
    if (r)
        r->notified = true;
}

void requesters_look_for_hole(struct go_back_n *g, struct verify_context *c, const struct verify_packet *p)
{
    if (!g->holes || p->sent_here)
        return;
    for (; g->same_count < c->flows->count; g->same_count++)
        same_flows_first(&g->same, c->flows, g->same_count);
    for (uint32_t i = same_flows_first(&g->same, c->flows, p->flow); i != FLOW_NONE;
         i = same_flows_next(&g->same, i)) {
        struct requester *r = states_have(&g->requesters, i, sizeof *r);
        int32_t in_hole = r && r->hole ? psn_after(p->frame.roce.bth.psn, r->hole_psn) : -1;
        if (in_hole < 0 || in_hole >= (int32_t)r->hole_count)
            continue;
        requester_fill_hole(g, r);
        verify_note_missing(c, "packet %llu of PSN %u is not in the capture where it was sent",
                            (unsigned long long)p->number, p->frame.roce.bth.psn);
    }
}

void requesters_end(struct go_back_n *g, struct verify_context *c)
{
    for (uint32_t i = 0; i < g->requesters.count && i < c->flows->count; i++) {
        verify_turn_to(c, c->flows->flows[i].interface);
        struct requester *r = states_have(&g->requesters, i, sizeof *r);
        c->findings->witnessed = go_back_n_has_both_ends(g, c, i);
        requester_has_witness(r, c);
        requester_check_nak_sent(g, r, c, i);
        requester_end(g, r, c);
    }
    /* What was lost on its way may not be in the capture where it was sent, either. */
    findings_witness(c->findings, KIND_SKIPPED, g->lost_between ? 0 : g->skipped_asked);
    if (g->lost_between) {
        findings_witness(c->findings, KIND_BACK, 0);
        findings_witness(c->findings, KIND_NO_BACK, 0);
    }
    if (g->holes >= HOLES_MANY)
        verify_note_missing(c, "PSNs are left out by %llu queue pairs that nobody was seen to ask for",
                            (unsigned long long)g->holes);
}

uint64_t requesters_unanswered(const struct go_back_n *g, const struct verify_context *c)
{
    uint64_t packets = 0;
    for (uint32_t i = 0; i < g->requesters.count; i++) {
        const struct requester *r = states_have(&g->requesters, i, sizeof *r);
        packets += requests_unanswered(&r->requests, c, g->longest_ns[0]);
    }
    return packets;
}

void requesters_free(struct go_back_n *g)
{
    for (uint32_t i = 0; i < g->requesters.count; i++) {
        struct requester *r = states_have(&g->requesters, i, sizeof *r);
        requester_forget_renewal(r);
        free(r->held.here);
    }
    free(g->requesters.items);
}
