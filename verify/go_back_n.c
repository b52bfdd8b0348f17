/*
 * Go-back-N of reliable connections (InfiniBand Architecture Specification, 9.7.5 responder, 9.7.6 and 9.7.7
 * requester). Each end is judged at its own port: elsewhere packets may come another way, or be lost before
 * or behind the place. Here a packet goes to the ends that it concerns, and what they counted is said.
 */
#include "verify/go_back_n.h"

#include "lib/packets/opcode.h"
#include "lib/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- what was seen of both ends */

void requests_add(struct requests *r, const struct verify_packet *p)
{
    if (!r->packets++)
        r->begun_ns = p->time_ns;
}

void requests_answer(struct requests *r, const struct verify_packet *p, int64_t *longest_ns)
{
    if (!r->answered && r->packets && verify_since_ns(p, r->begun_ns) > *longest_ns)
        *longest_ns = verify_since_ns(p, r->begun_ns);
    r->answered = r->answered || r->packets;
}

uint64_t requests_unanswered(const struct requests *r, const struct verify_context *c, int64_t longest_ns)
{
    bool late = r->begun_ns >= 0 && c->end_ns - r->begun_ns < 2 * longest_ns;
    return r->answered || late ? 0 : r->packets;
}

/* How many a flow has: got at this port, and sent there. */
struct seen_packets {
    uint64_t count[2][SEEN];
};

void go_back_n_note_seen(struct go_back_n *g, const struct verify_packet *p, bool sent, enum seen what)
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

void go_back_n_note_open_renewal(struct go_back_n *g, int end, uint64_t number)
{
    if (!g->renewals_open[0] && !g->renewals_open[1])
        g->renewal_open_number = number;
    g->renewals_open[end]++;
}

/* ---- which rules hold */

bool recovery_is_possible(const struct verify_context *c, enum verify_recovery which)
{
    return verify_settings_recovery(c->settings, which) != 0;
}

bool recovery_is_selective(const struct go_back_n *g, const struct verify_context *c)
{
    int said = verify_settings_recovery(c->settings, RECOVERY_SELECTIVE);
    return said > 0 || (said < 0 && g->t.shown[RECOVERY_SELECTIVE][0]);
}

void go_back_n_note_rule(struct go_back_n *g, const struct verify_context *c, enum verify_recovery which,
                         const char *format, ...)
{
    va_list arguments;
    if (g->t.shown[which][0] || verify_settings_recovery(c->settings, which) > 0)
        return;
    va_start(arguments, format);
    vsnprintf(g->t.shown[which], sizeof g->t.shown[which], format, arguments);
    va_end(arguments);
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

/* ---- packets, each to its ends */

static void go_back_n_request(struct go_back_n *g, struct verify_context *c, const struct verify_packet *p)
{
    if (p->frame.roce.cut && OPCODE_OPERATION(p->frame.roce.bth.opcode) == OPCODE_READ_REQUEST)
        go_back_n_note_seen(g, p, p->sent_here, SEEN_CUT_READ);
    if (p->sent_here)
        requesters_sent(g, c, p);
    if (p->received_here)
        responders_received(g, c, p);
}

/* An answer belongs to the flow of the requests. */
static void go_back_n_answer(struct go_back_n *g, struct verify_context *c, const struct verify_packet *p)
{
    uint32_t of = c->flows->flows[p->flow].partner;
    if (of == FLOW_NONE) {
        flows_note_untied(&g->untied, p->flow);
        return;
    }
    if (p->received_here)
        requesters_answered(g, of, c, p);
    if (p->sent_here)
        responders_answer(g, of, c, p);
}

enum { END_SENT = 1, END_RECEIVED = 2, END_BOTH = END_SENT | END_RECEIVED };

bool go_back_n_has_both_ends(struct go_back_n *g, const struct verify_context *c, uint32_t flow)
{
    const uint8_t *ends = states_have(&g->ends, same_flows_first(&g->same, c->flows, flow), sizeof *ends);
    return ends && *ends == END_BOTH;
}

/* Are both ends of its connection in the capture, each at a port of its own, as far as it was seen until now?
 * What one of them does is seen by the other then. */
static bool go_back_n_note_ends(struct go_back_n *g, const struct verify_context *c,
                                const struct verify_packet *p)
{
    uint32_t partner = c->flows->flows[p->flow].partner;
    uint8_t *ends = states_at(&g->ends, same_flows_first(&g->same, c->flows, p->flow), sizeof *ends);
    if (ends && p->sent_here != p->received_here)
        *ends |= p->sent_here ? END_SENT : END_RECEIVED;
    return (ends && *ends == END_BOTH) || (partner != FLOW_NONE && go_back_n_has_both_ends(g, c, partner));
}

static void go_back_n_frame(void *state, struct verify_context *c, const struct verify_packet *p)
{
    struct go_back_n *g = state;
    g->pauses =
        g->pauses || c->of_all->links_down || p->frame.kind == FRAME_PFC || p->frame.kind == FRAME_PAUSE;
    if (p->frame.kind != FRAME_ROCE)
        return;
    uint8_t opcode = p->frame.roce.bth.opcode;
    enum opcode_service service = OPCODE_SERVICE(opcode);
    if (p->flow == FLOW_NONE)
        return;
    c->findings->witnessed = g->twice.witnessed = go_back_n_note_ends(g, c, p);
    if (p->frame.roce.cut && (p->sent_here || p->received_here))
        go_back_n_note_seen(g, p, p->sent_here, SEEN_CUT);
    if (opcode == OPCODE_CNP) {
        uint32_t of = c->flows->flows[p->flow].partner;
        if (of != FLOW_NONE)
            requesters_notified(g, of);
    } else if (service == OPCODE_RC || service == OPCODE_XRC) {
        if (!opcode_rows[OPCODE_OPERATION(opcode)].response)
            requesters_look_for_hole(g, c, p);
        if (!p->sent_here && !p->received_here)
            g->elsewhere++;
        else if (opcode_rows[OPCODE_OPERATION(opcode)].response)
            go_back_n_answer(g, c, p);
        else
            go_back_n_request(g, c, p);
    }
}

/* ---- what is said at the end */

/* What one direction alone leaves open. */
static void go_back_n_say_one_sided(const struct go_back_n *g, struct verify_context *c)
{
    uint64_t sent = requesters_unanswered(g, c), received = responders_unanswered(g, c), alone;
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
    uint64_t renewals = g->renewals_open[0] > g->renewals_open[1] ? g->renewals_open[0] : g->renewals_open[1];
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
    if (renewals)
        findings_open(
            c->findings,
            "whether %llu %s the number of a queue pair again or left out PSNs (the first at packet "
            "%llu): its answers do not tell",
            (unsigned long long)renewals, renewals == 1 ? "connection uses" : "connections use",
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

static void go_back_n_end(void *state, struct verify_context *c)
{
    struct go_back_n *g = state;
    uint64_t seen[SEEN] = {0};
    requesters_end(g, c);
    responders_end(g, c);
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
    requesters_free(g);
    responders_free(g);
    findings_free(&g->twice);
    free(g->untied.items);
    free(g->seen.items);
    free(g->ends.items);
    same_flows_free(&g->same);
}

/* What is missing may have been there: nothing. */
static const char *const proved[] = {NULL};

const struct checker checker_go_back_n = {
    .check = CHECK_GO_BACK_N,
    .proved = proved,
    .sure = proved,
    .about = "Loss recovery of reliable connections: PSNs, NAKs, time-outs, MSNs.",
    .needs_times = go_back_n_needs_times,
    .state_bytes = sizeof(struct go_back_n),
    .frame = go_back_n_frame,
    .end = go_back_n_end,
    .free = go_back_n_free,
};
