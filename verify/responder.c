/*
 * Responders of reliable connections (InfiniBand Architecture Specification, 9.7.5), each seen at its own
 * port: it takes what it expects, acknowledges nothing else, and asks once for what is missing; answers of
 * reads follow each other, and begin again where they are asked for again.
 */
#include "verify/go_back_n.h"

#include "lib/packets/opcode.h"
#include <stdlib.h>

#define NO_NAK_NS 100000 /* a NAK takes less */

#define KIND_NAK_PSN        "NAK of the wrong PSN"
#define KIND_NAK_TWICE      "NAK twice"
#define KIND_NO_NAK         "no NAK"
#define KIND_ANSWER_SKIPPED "answer skipped"
#define KIND_AGAIN          "answered again"

#define RESPONDER_AGAIN 128 /* some NICs have so many reads outstanding */

#define RESPONDER_ASKED 8

/* A responder, seen at its own port: every request that arrives, every answer that it sends. It may have lost
 * a packet that arrived, so what it expects is known from two sides. */
struct responder {
    bool begun;
    bool answers; /* `answer_next` is known */
    bool unasked; /* it answered what was not asked for */
    bool ahead;   /* a packet behind `most` arrived since `most` was expected */
    bool nak;     /* it asked for `nak_psn`, which has not arrived since */
    bool keeps;   /* what comes before an earlier one */
    bool dropped; /* it asked for what had arrived, and has not acknowledged all that had since */
    bool anew;    /* what came after a pause may be of a new connection, which no answer has denied */
    bool hole;    /* it left out the answer of `hole_psn`, which was not asked for since */
    struct renewal *renewal;
    int32_t msn; /* of its latest answer; -1: there was none */
    uint32_t hole_psn;
    uint64_t hole_number;
    struct requests requests;
    struct held held;
    uint32_t first; /* PSN of the connection in the capture */
    bool twofold;   /* it may as well expect `restart`: the first packet to arrive was not `first` */
    uint32_t restart;
    uint32_t least; /* it answered all before */
    uint32_t most;  /* all before arrived */
    uint32_t loose;
    uint32_t nak_psn;
    uint32_t answer_next; /* PSN of the next answer of a read or an atomic */
    uint32_t answer_most; /* the first PSN that was never answered */
    uint32_t
        again[RESPONDER_AGAIN]; /* PSNs from which answers were asked for again, the latest ones, a ring */
    uint32_t again_count;
    uint32_t asked[RESPONDER_ASKED], asked_count; /* PSNs of its NAKs, the latest ones, a ring */
    uint64_t nak_number, ahead_number, answer_number, response_number;
    int64_t nak_ns;
    int64_t ahead_ns;
    int64_t early_ns; /* when a packet last came out of sequence, */
    bool early;       /* if one did */
    int64_t last_ns;  /* of its last request or answer */
    struct messages messages;
    struct span span;
};

static int64_t nak_delay_ns(const struct verify_context *c)
{
    return c->settings->nak_delay_ns == FIELD_UNSET ? 0 : c->settings->nak_delay_ns;
}

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

/* ---- packets in another order */

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
    bool asked =
        recovery_is_selective(g, c) && r->nak_number > r->ahead_number; /* for all that was missing then */
    /* what it asked for last may have been lost in its NIC again: it asks once */
    bool unproven = r->nak_number && psn_after(r->least, r->nak_psn) <= 0;
    bool unasked = late && !asked && !r->dropped && !unproven && since_ns > NO_NAK_NS + nak_delay_ns(c);
    g->t.untimed += late && since_ns < 0;
    int keeps = verify_settings_recovery(c->settings, RECOVERY_OUT_OF_ORDER);
    g->no_naks += unasked && keeps < 0;
    if (unasked && keeps == 0 && r->requests.answered)
        findings_add(
            c->findings, KIND_NO_NAK, p->number, p->time_ns,
            "PSN %u arrives %.3f us after packet %llu, which came out of sequence, and no NAK asked for it",
            psn, (double)since_ns / 1e3, (unsigned long long)r->ahead_number);
    uint32_t taken = span_of(&r->span, &p->frame.roce, &r->loose);
    held_forget(&r->held, r->most, (uint32_t)psn_after(psn, r->most) + taken);
    r->ahead =
        r->ahead && recovery_is_selective(g, c) && !r->span.reads && r->held.count; /* of those it kept */
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
    int64_t since_ns = verify_since_ns(p, r->last_ns);
    bool idle =
        r->answer_number && ahead < 0 && (r->least == r->most || since_ns < 0 || since_ns > RENEWAL_IDLE_NS);
    r->anew = r->anew || (first && idle && (since_ns < 0 || since_ns > RENEWAL_IDLE_NS));
    bool follows = r->renewal && psn_after(psn, r->renewal->first) >= 0 &&
                   psn_after(psn, r->renewal->next) <= RENEWAL_FAR;
    if (first && (far || idle) && !follows && (ahead < 0 || ahead > (int32_t)r->loose) &&
        renewal_may_begin(&r->span, psn, ahead < 0, r->first)) {
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
                            .restart = n->first,
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
                                .restart = psn,
                                .least = psn,
                                .most = psn};
    }
    requests_add(&r->requests, p);
    g->received++;
    responder_learn_mtu(r, &p->frame.roce);
    responder_watch_renewal(r, p);
    r->last_ns = p->time_ns;
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
        r->ahead = r->early = true;
        r->early_ns = p->time_ns;
    } else if (ahead < 0) {
        r->again[r->again_count++ % RESPONDER_AGAIN] = psn;
        if (!r->answer_number && !r->nak_number &&
            psn_after(psn, r->first) < 0) { /* what came before was out of sequence */
            r->twofold = true;
            r->first = r->restart = psn;
            r->ahead_number = p->number;
            r->ahead_ns = p->time_ns;
        }
    }
    if (r->twofold && psn == r->restart) {
        uint32_t loose;
        r->restart = psn_add(psn, span_count(&r->span, &p->frame.roce, &loose));
    } else if (r->twofold && psn_after(psn, r->restart) > 0) {
        r->early = true;
        r->early_ns = p->time_ns;
    }
    if (r->dropped && psn_after(psn, r->least) > 0) { /* perhaps not what its NIC expects */
        r->ahead_number = p->number;
        r->ahead_ns = p->time_ns;
    }
    if (r->nak && psn == r->nak_psn)
        r->nak = false;
}

/* All before this PSN is answered. The first answer may be one of what came before the capture began. */
static void responder_answered(struct responder *r, const struct verify_packet *p, uint32_t up_to)
{
    r->least = r->answer_number ? psn_later(r->least, up_to) : up_to;
    r->answer_number = p->number;
    r->twofold = r->twofold && psn_after(r->least, r->most) < 0;
    if (!r->dropped || psn_after(r->least, r->most) < 0)
        return;
    r->dropped = false;
    r->ahead = r->keeps && r->held.count; /* else what came ahead was dropped, too */
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

/* Came a packet out of sequence within this time? */
static bool responder_was_early(const struct responder *r, const struct verify_packet *p, int64_t within_ns)
{
    return (r->ahead_number && verify_since_ns(p, r->ahead_ns) <= within_ns) ||
           (r->early && verify_since_ns(p, r->early_ns) <= within_ns);
}

/* A packet came out of sequence, long before the NAK: it is not known how long its NIC may take. */
static bool responder_may_nak_late(const struct responder *r, const struct verify_context *c,
                                   const struct verify_packet *p)
{
    return c->settings->nak_delay_ns == FIELD_UNSET && responder_was_early(r, p, NAK_NS);
}

/* Came a packet out of sequence by so much before as its NIC, or any, may take to ask? */
static bool responder_naks_late(const struct responder *r, const struct verify_context *c,
                                const struct verify_packet *p)
{
    return responder_was_early(r, p, nak_delay_ns(c) + NO_NAK_NS);
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
            responder_was_asked_again(r, psn) ? psn_add(psn, 1) : psn; /* it came behind the first one, */
        if (r->twofold && psn_after(psn, r->first) >= 0)
            r->most = psn_later(r->most, r->restart); /* and others behind it */
        held_forget(&r->held, psn, (uint32_t)psn_after(r->most, psn));
        messages_forget(&r->messages);
        r->twofold = false;
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
    else if (psn_after(psn, r->least) < 0 && r->anew)
        go_back_n_note_open_renewal(g, 1, p->number);
    else if (psn_after(psn, r->least) < 0)
        findings_add(c->findings, KIND_NAK_PSN, p->number, p->time_ns,
                     "a NAK asks for PSN %u, which packet %llu acknowledged; PSN %u is expected", psn,
                     (unsigned long long)r->answer_number, r->most);
    else if (r->nak && r->nak_psn == psn &&
             !recovery_is_selective(g, c)) /* which asks for others behind it */
        responder_naks_again(g, r, c, p);
    r->dropped = r->dropped || (psn_after(psn, r->least) >= 0 && psn_after(psn, r->most) < 0);
    r->nak = true;
    r->nak_psn = psn;
    r->nak_number = p->number;
    r->nak_ns = p->time_ns;
}

/* ---- answers of reads and atomics */

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
    r->last_ns = p->time_ns;
    if (r->renewal) {
        enum renewed renewed = renewal_decide(r->renewal, roce, r->msn);
        if (renewed == RENEWED_YES) {
            responder_renew(g, r);
        } else if (renewed == RENEWED_NO) {
            free(r->renewal);
            r->renewal = NULL;
            r->anew = false;
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
    enum aeth_kind kind = AETH_KIND(roce->aeth.syndrome);
    if (kind == AETH_NAK)
        r->asked[r->asked_count++ % RESPONDER_ASKED] = roce->bth.psn;
    if (!responder_is_sure(r))
        return;
    go_back_n_note_seen(g, p, true, kind == AETH_ACK ? SEEN_ACK : SEEN_NAK);
    if (kind == AETH_ACK)
        responder_acks(g, r, c, p);
    else if (kind == AETH_NAK && AETH_VALUE(roce->aeth.syndrome) == AETH_NAK_SEQUENCE)
        responder_naks(g, r, c, p);
}

/* A responder left out an answer, and nobody asked for it: it is the capture that has it not. */
static void responder_end(const struct responder *r, struct verify_context *c)
{
    if (r && r->hole)
        verify_note_missing(
            c, "the answer of PSN %u does not come before packet %llu, and was not asked for again",
            r->hole_psn, (unsigned long long)r->hole_number);
}

/* ---- all of a capture */

void responders_received(struct go_back_n *g, struct verify_context *c, const struct verify_packet *p)
{
    struct responder *r = states_at(&g->responders, p->flow, sizeof *r);
    if (r)
        responder_received(g, r, c, p);
}

void responders_answer(struct go_back_n *g, uint32_t of, struct verify_context *c,
                       const struct verify_packet *p)
{
    struct responder *r = states_at(&g->responders, of, sizeof *r);
    if (r)
        responder_answers(g, r, c, p);
}

bool responders_lack(struct go_back_n *g, const struct verify_context *c, uint32_t of, uint32_t psn)
{
    for (uint32_t i = same_flows_first(&g->same, c->flows, of); i != FLOW_NONE;
         i = same_flows_next(&g->same, i)) {
        const struct responder *r = states_have(&g->responders, i, sizeof *r);
        if (r && r->begun && psn_after(psn, r->first) >= 0 && psn_after(psn, r->most) >= 0)
            return true;
    }
    return false;
}

int responders_have_asked(struct go_back_n *g, const struct verify_context *c, uint32_t of, uint32_t psn)
{
    int asked = -1;
    for (uint32_t i = same_flows_first(&g->same, c->flows, of); i != FLOW_NONE;
         i = same_flows_next(&g->same, i)) {
        const struct responder *r = states_have(&g->responders, i, sizeof *r);
        if (!r || !r->begun || !responder_is_sure(r) || psn_after(psn, r->first) < 0)
            continue; /* it may have asked before the capture began */
        bool has = false;
        for (uint32_t k = 0; k < RESPONDER_ASKED && k < r->asked_count; k++)
            has = has || r->asked[k] == psn;
        asked = asked > has ? asked : has;
    }
    return asked;
}

void responders_end(const struct go_back_n *g, struct verify_context *c)
{
    for (uint32_t i = 0; i < g->responders.count; i++)
        responder_end(states_have(&g->responders, i, sizeof(struct responder)), c);
}

uint64_t responders_unanswered(const struct go_back_n *g, const struct verify_context *c)
{
    uint64_t packets = 0;
    for (uint32_t i = 0; i < g->responders.count; i++) {
        const struct responder *r = states_have(&g->responders, i, sizeof *r);
        packets += requests_unanswered(&r->requests, c, g->longest_ns[1]);
    }
    return packets;
}

void responders_free(struct go_back_n *g)
{
    for (uint32_t i = 0; i < g->responders.count; i++) {
        struct responder *r = states_have(&g->responders, i, sizeof *r);
        free(r->renewal);
        free(r->held.here);
    }
    free(g->responders.items);
}
