/* The sending end of a reliable connection (InfiniBand Architecture Specification, 9.7.6, 9.7.7). */
#include "verify/go_back_n/go_back_n.h"

#include "verify/psn.h"
#include "lib/packets/opcode.h"

#define BEFORE_NS   100000  /* a NIC has looked at an answer after so long */
#define NAK_PACKETS 1024    /* so many new packets may leave before it goes back for a NAK, */
#define NAK_NS      1000000 /* and so much time pass */
#define EARLY       0.9     /* of the set time-out: timers have a grain, and the answer's way is within it */
#define LATE        4.0     /* 9.7.6.1.3: it may be up to four times as long */

#define KIND_SKIPPED "skipped"
#define KIND_BACK    "goes back to the wrong PSN"
#define KIND_NO_BACK "does not go back"
#define KIND_TIMEOUT "time-out"
#define KIND_ACK     "ACK"
#define KIND_MSN     "MSN"

/* Is it known which PSNs were answered? */
static bool is_sure(const struct requester *r)
{
    return !r->span.reads || span_answers(&r->span);
}

static void begin(struct requester *r, const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn;
    *r = (struct requester){.begun = true,
                            .next = psn,
                            .cursor = psn,
                            .unacked = psn,
                            .unacked_before = psn,
                            .before_ns = p->time_ns,
                            .progress_ns = p->time_ns};
}

/* ---- going back */

/* It went back without being asked: was it time? */
static void check_timeout(struct go_back_n *g, const struct requester *r, struct verify_context *c,
                          const struct verify_packet *p)
{
    int64_t set_ns = c->settings->ack_timeout_ns, waited_ns = p->time_ns - r->progress_ns;
    if (set_ns == FIELD_UNSET || p->time_ns < 0 || !is_sure(r) || !r->answered) {
        g->back_unknown++;
        return;
    }
    g->back_timeout++;
    if ((double)waited_ns < EARLY * (double)set_ns)
        findings_add(
            c->findings, KIND_TIMEOUT, p->number, p->time_ns,
            "PSN %u is sent again %.3f us after the last progress, without a NAK; the time-out is %.3f us",
            p->frame.roce.bth.psn, (double)waited_ns / 1e3, (double)set_ns / 1e3);
    else if ((double)waited_ns > LATE * (double)set_ns && !g->pauses && !r->notified)
        findings_add(
            c->findings, KIND_TIMEOUT, p->number, p->time_ns,
            "PSN %u is sent again %.3f us after the last progress; the time-out is %.3f us, and at most "
            "four times that is allowed",
            p->frame.roce.bth.psn, (double)waited_ns / 1e3, (double)set_ns / 1e3);
}

static void go_back(struct go_back_n *g, struct requester *r, struct verify_context *c,
                    const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn;
    /* The NIC may not have looked at the last answers when a time-out ends; a NAK names the PSN. */
    bool timed = p->time_ns >= 0, lagging = !r->nak && p->time_ns - r->answer_ns < BEFORE_NS;
    uint32_t least = lagging ? r->unacked_before : r->unacked;
    bool asked = r->nak || (r->nak_spare && psn == r->unacked);
    g->back++;
    if (asked) {
        g->back_nak++;
        r->nak_spare = r->nak && r->nak_spare;
    } else if (r->gap) {
        g->back_gap++;
        r->gap = false;
    } else {
        check_timeout(g, r, c, p);
        r->progress_ns = p->time_ns; /* the timer starts again */
    }
    r->waited = true;
    if (!r->answered || !is_sure(r) || (asked && psn == r->nak_psn))
        return;
    if (psn_after(psn, r->unacked) > 0)
        findings_add(c->findings, KIND_BACK, p->number, p->time_ns,
                     "goes back to PSN %u, but PSN %u is not acknowledged yet%s (packet %llu)", psn,
                     r->unacked, r->nak ? ": the NAK asked for it" : "",
                     (unsigned long long)r->answer_number);
    else if (psn_after(psn, least) < 0 && (timed || r->nak) &&
             !r->span.reads) /* a read may begin at its message's first packet */
        findings_add(c->findings, KIND_BACK, p->number, p->time_ns,
                     "goes back to PSN %u, but all before PSN %u is acknowledged (packet %llu)", psn,
                     r->unacked, (unsigned long long)r->answer_number);
}

/* ---- what it sends */

/* New packets go on although it was asked to go back. */
static void check_nak(struct requester *r, struct verify_context *c, const struct verify_packet *p)
{
    if (!r->nak || r->span.reads || ++r->nak_new <= NAK_PACKETS ||
        (p->time_ns >= 0 && p->time_ns - r->nak_ns <= NAK_NS))
        return;
    r->nak = false;
    findings_add(c->findings, KIND_NO_BACK, p->number, p->time_ns,
                 "PSN %u is the %uth new packet since the NAK of packet %llu asked for PSN %u",
                 p->frame.roce.bth.psn, r->nak_new, (unsigned long long)r->nak_number, r->unacked);
}

/* A PSN behind the one that follows: a read has taken those between, or they were acknowledged while it sent again. */
static void check_jump(struct requester *r, struct verify_context *c, const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn;
    uint32_t ahead = (uint32_t)psn_after(psn, r->cursor);
    bool acknowledged = r->answered && psn_after(psn, r->unacked) <= 0;
    if (ahead <= r->loose || acknowledged || (r->span.reads && psn_after(psn, r->next) <= 0))
        return;
    findings_add(c->findings, KIND_SKIPPED, p->number, p->time_ns, "PSN %u follows PSN %u: %u skipped", psn,
                 (r->cursor - 1) & FRAME_PSN_MASK, ahead);
    messages_forget(&r->messages);
}

/* With the MTU it is known how many PSNs the last read took. */
static void learn(struct requester *r, const struct frame_roce *roce)
{
    bool last = r->cursor == psn_add(r->span.psn, 1), newest = r->next == r->cursor;
    if (!span_learn(&r->span, roce) || !r->span.length || !last)
        return;
    r->cursor = psn_add(r->span.psn, span_kept(&r->span));
    r->next = newest ? r->cursor : r->next;
    r->loose = 0;
}

void requester_sent(struct go_back_n *g, struct requester *r, struct verify_context *c,
                    const struct verify_packet *p)
{
    const struct frame_roce *roce = &p->frame.roce;
    uint32_t psn = roce->bth.psn;
    if (!r->begun)
        begin(r, p);
    g->sent++;
    learn(r, roce);
    uint32_t loose, taken = span_of(&r->span, roce, &loose);
    int32_t ahead = psn_after(psn, r->cursor);
    if (ahead > 0)
        check_jump(r, c, p);
    else if (ahead < 0)
        go_back(g, r, c, p);
    if (r->nak && (psn == r->nak_psn || psn_after(psn, r->unacked) <= 0))
        r->nak = false;
    r->cursor = psn_add(psn, taken);
    r->loose = loose;
    r->sent_number = p->number;
    if (psn_after(psn, r->next) < 0)
        return;
    if (r->unacked == r->next)
        r->progress_ns = p->time_ns; /* nothing else waited */
    check_nak(r, c, p);
    r->next = r->cursor;
    if (opcode_rows[OPCODE_OPERATION(roce->bth.opcode)].last)
        messages_end(&r->messages, psn_add(psn, taken - 1));
}

/* ---- what it is answered */

static void acknowledged(struct requester *r, const struct verify_packet *p, uint32_t up_to)
{
    if (r->answered && psn_after(up_to, r->unacked) <= 0)
        return;
    if (p->time_ns - r->before_ns > BEFORE_NS) {
        r->unacked_before = r->unacked;
        r->before_ns = p->time_ns;
    }
    if (!r->answered)
        r->unacked_before = psn_after(up_to, r->unacked) < 0 ? up_to : r->unacked;
    r->answered = true;
    r->gap = r->waited = r->nak_spare = false;
    r->unacked = up_to;
    r->answer_number = p->number;
    r->answer_ns = r->progress_ns = p->time_ns;
}

static void check_msn(struct requester *r, struct verify_context *c, const struct verify_packet *p,
                      uint32_t psn)
{
    uint32_t least, most, msn = p->frame.roce.aeth.msn;
    if (r->span.reads || messages_fit(&r->messages, psn, msn, &least, &most))
        return;
    findings_add(c->findings, KIND_MSN, p->number, p->time_ns,
                 "the answer of PSN %u has MSN %u, expected %u to %u", psn, msn, least, most);
}

/* Answers go on behind one that is missing, and the requester does not ask for it again. */
static void check_gap(struct requester *r, struct verify_context *c, const struct verify_packet *p)
{
    int64_t set_ns = c->settings->ack_timeout_ns, most_ns = NAK_NS;
    if (set_ns != FIELD_UNSET && LATE * (double)set_ns > NAK_NS)
        most_ns = (int64_t)(LATE * (double)set_ns);
    if (!r->gap) {
        r->gap = true;
        r->gap_answers = 0;
        r->gap_number = p->number;
        r->gap_ns = p->time_ns;
    }
    if (++r->gap_answers <= NAK_PACKETS || p->time_ns - r->gap_ns <= most_ns)
        return;
    r->gap = false;
    findings_add(
        c->findings, KIND_NO_BACK, p->number, p->time_ns,
        "PSN %u is the %uth answer since packet %llu, before which PSN %u is missing, and was not asked "
        "for again",
        p->frame.roce.bth.psn, r->gap_answers, (unsigned long long)r->gap_number, r->unacked);
}

/* An answer of a read or an atomic. Where there are no other requests each is expected; what comes behind a missing one is of no use. */
static void responded(struct go_back_n *g, struct requester *r, struct verify_context *c,
                      const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn;
    g->responses++;
    r->span.reads = true;
    learn(r, &p->frame.roce);
    if (r->answered && span_answers(&r->span) && psn_after(psn, r->unacked) > 0)
        check_gap(r, c, p);
    else
        acknowledged(r, p, psn_add(psn, 1));
}

/* Of an ACK or a READ response; an RNR NAK and a NAK acknowledge what is before their PSN, and ask for it again. */
void requester_answered(struct go_back_n *g, struct requester *r, struct verify_context *c,
                        const struct verify_packet *p)
{
    const struct frame_roce *roce = &p->frame.roce;
    uint32_t psn = roce->bth.psn;
    if (!r->begun)
        return;
    if (OPCODE_OPERATION(roce->bth.opcode) != OPCODE_ACKNOWLEDGE) {
        responded(g, r, c, p);
        return;
    }
    enum aeth_kind kind = AETH_KIND(roce->aeth.syndrome);
    bool asks =
        kind == AETH_RNR_NAK || (kind == AETH_NAK && AETH_VALUE(roce->aeth.syndrome) == AETH_NAK_SEQUENCE);
    g->acks += kind == AETH_ACK;
    g->naks += kind != AETH_ACK;
    if (!r->span.reads && psn_after(psn, r->next) >= 0) {
        findings_add(c->findings, KIND_ACK, p->number, p->time_ns,
                     "%s PSN %u, which was not sent: the last one was %u", asks ? "asks for" : "acknowledges",
                     psn, (r->next - 1) & FRAME_PSN_MASK);
        return;
    }
    if (kind == AETH_ACK)
        check_msn(r, c, p, psn);
    bool only_reads = r->span.reads && !r->span.others; /* their answers may still be missing */
    if (!only_reads)
        acknowledged(r, p, asks ? psn : psn_add(psn, 1));
    r->nak_spare = r->nak_spare || (asks && r->nak);
    if (asks && (psn == r->unacked || only_reads) && !r->nak) {
        r->nak = true;
        r->nak_psn = psn;
        r->nak_new = 0;
        r->nak_number = p->number;
        r->nak_ns = p->time_ns;
    }
}

void requester_end(const struct go_back_n *g, const struct requester *r, struct verify_context *c)
{
    int64_t set_ns = c->settings->ack_timeout_ns, waited_ns = c->end_ns - r->progress_ns;
    if (!r->begun || !r->answered || !is_sure(r) || r->unacked == r->next || r->waited || r->nak ||
        g->pauses || r->notified || set_ns == FIELD_UNSET || r->progress_ns < 0 ||
        (double)waited_ns <= LATE * (double)set_ns)
        return;
    findings_add(
        c->findings, KIND_TIMEOUT, r->sent_number, r->progress_ns,
        "PSN %u is not acknowledged, and was not sent again until the end of the capture, %.3f us after the "
        "last progress; the time-out is %.3f us, and at most four times that is allowed",
        r->unacked, (double)waited_ns / 1e3, (double)set_ns / 1e3);
}
