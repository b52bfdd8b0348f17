/* The receiving end of a reliable connection (InfiniBand Architecture Specification, 9.7.5). */
#include "verify/go_back_n/go_back_n.h"

#include "verify/psn.h"
#include "lib/packets/opcode.h"

#define KIND_NAK_PSN   "NAK of the wrong PSN"
#define KIND_NAK_TWICE "NAK twice"
#define KIND_NO_NAK    "no NAK"
#define KIND_SKIPPED   "answer skipped"
#define KIND_AGAIN     "answered again"
#define KIND_ACK       "ACK"
#define KIND_MSN       "MSN"
#define NO_NAK_NS      100000 /* a NAK takes less */

/* With the MTU it is known how many PSNs the last read took. */
static void learn(struct responder *r, const struct frame_roce *roce)
{
    if (!span_learn(&r->span, roce) || !r->span.length || r->most != psn_add(r->span.psn, 1))
        return;
    r->most = psn_add(r->span.psn, span_kept(&r->span));
    r->loose = 0;
}

/* Is it known what it expects? */
static bool is_sure(const struct responder *r)
{
    return !r->span.reads || span_answers(&r->span);
}

/* A packet arrived that is expected in any case. */
static void expected(const struct go_back_n *g, struct responder *r, struct verify_context *c,
                     const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn;
    if (r->ahead && !(r->nak && r->nak_psn == psn) && is_sure(r) && !g->pauses &&
        p->time_ns - r->ahead_ns > NO_NAK_NS)
        findings_add(
            c->findings, KIND_NO_NAK, p->number, p->time_ns,
            "PSN %u arrives %.3f us after packet %llu, which came out of sequence, and no NAK asked for it",
            psn, (double)(p->time_ns - r->ahead_ns) / 1e3, (unsigned long long)r->ahead_number);
    r->ahead = false;
    uint32_t taken = span_of(&r->span, &p->frame.roce, &r->loose);
    r->most = psn_add(psn, taken);
    if (opcode_rows[OPCODE_OPERATION(p->frame.roce.bth.opcode)].last)
        messages_end(&r->messages, psn_add(psn, taken - 1));
}

void responder_received(struct go_back_n *g, struct responder *r, struct verify_context *c,
                        const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn;
    if (!r->begun)
        *r = (struct responder){.begun = true, .least = psn, .most = psn};
    g->received++;
    learn(r, &p->frame.roce);
    int32_t ahead = psn_after(psn, r->most);
    if (ahead == 0 || (ahead > 0 && (uint32_t)ahead <= r->loose)) {
        expected(g, r, c, p);
    } else if (ahead > 0 && !r->ahead) {
        r->ahead = true;
        r->ahead_number = p->number;
        r->ahead_ns = p->time_ns;
    } else if (ahead < 0) {
        r->again[r->again_count++ % RESPONDER_AGAIN] = psn;
    }
    if (r->nak && psn == r->nak_psn)
        r->nak = false;
}

static void ack(struct responder *r, struct verify_context *c, const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn, least, most;
    if (psn_after(psn, r->most) >= 0) {
        findings_add(c->findings, KIND_ACK, p->number, p->time_ns,
                     "acknowledges PSN %u, which has not arrived: PSN %u is expected", psn, r->most);
        return;
    }
    if (!messages_fit(&r->messages, psn, p->frame.roce.aeth.msn, &least, &most))
        findings_add(c->findings, KIND_MSN, p->number, p->time_ns,
                     "the ACK of PSN %u has MSN %u, expected %u to %u", psn, p->frame.roce.aeth.msn, least,
                     most);
    r->least = psn_later(r->least, psn_add(psn, 1));
    r->answer_number = p->number;
}

static void nak(struct responder *r, struct verify_context *c, const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn;
    if (!r->answer_number &&
        psn_after(psn, r->least) < 0) { /* the first one to arrive was not the first one sent */
        r->least = r->most = psn;
        r->ahead = true;
        r->ahead_number = p->number;
        r->ahead_ns = p->time_ns;
    }
    if (psn_after(psn, r->most) > 0 || (psn == r->most && !r->ahead))
        findings_add(c->findings, KIND_NAK_PSN, p->number, p->time_ns,
                     "a NAK asks for PSN %u, but PSN %u is expected%s", psn, r->most,
                     psn == r->most ? " and nothing behind it has arrived" : "");
    else if (psn_after(psn, r->least) < 0)
        findings_add(c->findings, KIND_NAK_PSN, p->number, p->time_ns,
                     "a NAK asks for PSN %u, which packet %llu acknowledged; PSN %u is expected", psn,
                     (unsigned long long)r->answer_number, r->most);
    else if (r->nak && r->nak_psn == psn)
        findings_add(c->findings, KIND_NAK_TWICE, p->number, p->time_ns,
                     "a second NAK asks for PSN %u, which has not arrived since the first (packet %llu)", psn,
                     (unsigned long long)r->nak_number);
    r->nak = true;
    r->nak_psn = psn;
    r->nak_number = p->number;
}

/* ---- answers of reads and atomics */

static bool is_again(const struct responder *r, uint32_t psn)
{
    for (uint32_t i = 0; i < RESPONDER_AGAIN && i < r->again_count; i++)
        if (r->again[i] == psn)
            return true;
    return false;
}

/* Answers follow each other, and begin again where they are asked for again. */
static void respond(struct go_back_n *g, struct responder *r, struct verify_context *c,
                    const struct verify_packet *p)
{
    uint32_t psn = p->frame.roce.bth.psn;
    int32_t ahead = psn_after(psn, r->answer_next);
    g->responses++;
    r->span.reads = true;
    learn(r, &p->frame.roce);
    if (r->span.others || !r->answers || is_again(r, psn))
        r->answers = true;
    else if (ahead > 0)
        findings_add(c->findings, KIND_SKIPPED, p->number, p->time_ns,
                     "the answer of PSN %u follows that of PSN %u (packet %llu): %u skipped", psn,
                     (r->answer_next - 1) & FRAME_PSN_MASK, (unsigned long long)r->response_number,
                     (uint32_t)ahead);
    else if (ahead < 0)
        findings_add(c->findings, KIND_AGAIN, p->number, p->time_ns,
                     "PSN %u is answered again, but no request has asked for it again; PSN %u is expected",
                     psn, r->answer_next);
    else if (is_sure(r) && psn_after(psn, r->most) >= 0 && !r->unasked)
        findings_add(c->findings, KIND_ACK, p->number, p->time_ns,
                     "answers PSN %u, which was not asked for: PSN %u is expected", psn, r->most);
    r->unasked = is_sure(r) && psn_after(psn, r->most) >= 0; /* said once */
    r->answer_next = psn_add(psn, 1);
    r->least = psn_later(r->least, r->answer_next);
    r->answer_number = r->response_number = p->number;
}

void responder_answers(struct go_back_n *g, struct responder *r, struct verify_context *c,
                       const struct verify_packet *p)
{
    const struct frame_roce *roce = &p->frame.roce;
    if (!r->begun)
        return;
    if (OPCODE_OPERATION(roce->bth.opcode) != OPCODE_ACKNOWLEDGE) {
        respond(g, r, c, p);
        return;
    }
    if (!is_sure(r))
        return;
    enum aeth_kind kind = AETH_KIND(roce->aeth.syndrome);
    g->acks += kind == AETH_ACK;
    g->naks += kind != AETH_ACK;
    if (kind == AETH_ACK)
        ack(r, c, p);
    else if (kind == AETH_NAK && AETH_VALUE(roce->aeth.syndrome) == AETH_NAK_SEQUENCE)
        nak(r, c, p);
}
