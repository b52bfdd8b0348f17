/*
 * Go-back-N of reliable connections (InfiniBand Architecture Specification, 9.7.5 responder, 9.7.6 and 9.7.7 requester). Each end is judged
 * at its own port: elsewhere packets may come another way, or be lost before or behind the place.
 */
#include "verify/go_back_n/go_back_n.h"

#include "lib/packets/opcode.h"
#include <stdlib.h>

static void request(struct go_back_n *g, struct verify_context *c, const struct verify_packet *p)
{
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

/* An answer belongs to the flow of the requests. */
static void answer(struct go_back_n *g, struct verify_context *c, const struct verify_packet *p)
{
    uint32_t of = c->flows->flows[p->flow].partner;
    if (of == FLOW_NONE) {
        g->untied++;
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

static void frame(void *state, struct verify_context *c, const struct verify_packet *p)
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
    if (opcode == OPCODE_CNP) {
        uint32_t of = c->flows->flows[p->flow].partner;
        struct requester *r =
            of == FLOW_NONE ? NULL : states_have(&g->requesters, of, sizeof(struct requester));
        if (r)
            r->notified = true;
    } else if (service == OPCODE_RC || service == OPCODE_XRC) {
        if (!p->sent_here && !p->received_here)
            g->elsewhere++;
        else if (opcode_rows[OPCODE_OPERATION(opcode)].response)
            answer(g, c, p);
        else
            request(g, c, p);
    }
}

static void end(void *state, struct verify_context *c)
{
    struct go_back_n *g = state;
    for (uint32_t i = 0; i < g->requesters.count && i < c->flows->count; i++) {
        verify_turn_to(c, c->flows->flows[i].interface);
        requester_end(g, states_have(&g->requesters, i, sizeof(struct requester)), c);
    }
    findings_judged(c->findings, "packets sent", g->sent);
    findings_judged(c->findings, "packets received", g->received);
    findings_seen(c->findings, "ACKs", g->acks);
    findings_seen(c->findings, "NAKs", g->naks);
    findings_seen(c->findings, "answers of READs and atomics", g->responses);
    findings_seen(c->findings, "times gone back", g->back);
    findings_seen(c->findings, "of these for NAKs", g->back_nak);
    findings_seen(c->findings, "of these for missing answers", g->back_gap);
    findings_seen(c->findings, "of these after time-outs", g->back_timeout);
    if (g->elsewhere)
        findings_not_judged(c->findings,
                            "%llu packets of hosts that are not at the port where they were captured (hosts: "
                            "whose ports these are)",
                            (unsigned long long)g->elsewhere);
    if (g->untied)
        findings_not_judged(c->findings, "%llu answers whose requests are not known",
                            (unsigned long long)g->untied);
    if (g->back_unknown)
        findings_not_judged(c->findings,
                            "when the sender went back without a NAK, %llu times (ack_timeout is not set)",
                            (unsigned long long)g->back_unknown);
    if (g->sent && !g->acks && !g->responses)
        findings_not_judged(c->findings, "where the sender goes back to: there are no ACKs in the capture");
}

static void release(void *state)
{
    struct go_back_n *g = state;
    free(g->requesters.items);
    free(g->responders.items);
}

const struct checker checker_go_back_n = {
    .check = CHECK_GO_BACK_N,
    .about = "Loss recovery of reliable connections: PSNs, NAKs, time-outs, MSNs.",
    .state_bytes = sizeof(struct go_back_n),
    .frame = frame,
    .end = end,
    .free = release,
};
