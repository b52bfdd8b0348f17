/*
 * ECN and DSCP of RoCEv2 packets (RFC 3168; InfiniBand Architecture Specification, annex A17.9): a sender's packets are ECN-capable and
 * not marked, no switch changes the DSCP, and none marks what does not wait in a long queue (queues.h).
 */
#include "verify/checker.h"
#include "verify/queues.h"
#include "verify/same_flows.h"

#include "lib/packets/opcode.h"
#include <stdlib.h>

#define KIND_SENT_CE "marked by its sender"
#define KIND_NOT_ECT "not ECN-capable"
#define KIND_MARKED  "marked although not ECN-capable"
#define KIND_DSCP    "DSCP changed"

/* What the packets of a flow have in common; CNPs and answers may have others. */
enum group { GROUP_DATA, GROUP_ANSWER, GROUP_CNP, GROUPS };
struct look {
    bool seen[GROUPS];
    uint8_t dscp[GROUPS];
    uint64_t number[GROUPS];
    uint8_t capable; /* 1 + whether its data is ECN-capable; 0: none was seen at the sender */
};

struct ecns {
    struct states looks; /* struct look, by flow */
    struct same_flows same;
    struct queues queues;
    uint64_t sent, seen, marked;
};

/* The first of all flows that are the same but for the interface has the look. */
static struct look *look_of(struct ecns *s, const struct flows *flows, uint32_t flow)
{
    return states_at(&s->looks, same_flows_first(&s->same, flows, flow), sizeof(struct look));
}

/* ---- packets */

static void check_dscp(struct look *l, enum group group, struct verify_context *c,
                       const struct verify_packet *p)
{
    uint8_t dscp = p->frame.roce.ip.dscp;
    if (!l->seen[group]) {
        l->seen[group] = true;
        l->dscp[group] = dscp;
        l->number[group] = p->number;
    } else if (l->dscp[group] != dscp) {
        findings_add(c->findings, KIND_DSCP, p->number, p->time_ns,
                     "DSCP %u; packets of the same queue pair have %u (packet %llu)", dscp, l->dscp[group],
                     (unsigned long long)l->number[group]);
    }
}

/* Is DCQCN's reaction point on for the packet? -1: not known. */
static int is_wanted(const struct verify_context *c, const struct verify_packet *p)
{
    const struct settings *s = &c->settings->settings;
    const struct list_of *list = s->ecn_rp.count ? &s->ecn_rp : &s->ecn;
    return !list->count || p->priority < 0 ? -1 : verify_settings_lists(list, p->priority, true);
}

static void check_sent(struct ecns *s, struct look *l, struct verify_context *c,
                       const struct verify_packet *p)
{
    uint8_t ecn = p->frame.roce.ip.ecn;
    s->sent++;
    if (ecn == FRAME_CE)
        findings_add(c->findings, KIND_SENT_CE, p->number, p->time_ns,
                     "its ECN bits are 3 (CE) where its sender puts it on the wire; expected 1 or 2 (ECT)");
    else if (ecn == FRAME_NOT_ECT && (is_wanted(c, p) == 1 || l->capable == 2))
        findings_add(c->findings, KIND_NOT_ECT, p->number, p->time_ns,
                     "its ECN bits are 0; %s: nothing on the way can mark it",
                     is_wanted(c, p) == 1 ? "DCQCN is on for its priority"
                                          : "other packets of the queue pair have ECT");
    if (ecn != FRAME_CE && !l->capable)
        l->capable = (uint8_t)(1 + (ecn != FRAME_NOT_ECT));
}

static void frame(void *state, struct verify_context *c, const struct verify_packet *p)
{
    struct ecns *s = state;
    if (p->frame.kind != FRAME_ROCE || p->flow == FLOW_NONE)
        return;
    const struct frame_roce *roce = &p->frame.roce;
    struct look *l = look_of(s, c->flows, p->flow);
    if (!l)
        return;
    enum group group = roce->bth.opcode == OPCODE_CNP ? GROUP_CNP
                       : roce->payload_bytes          ? GROUP_DATA
                                                      : GROUP_ANSWER;
    s->seen++;
    queues_packet(&s->queues, &s->same, c, p);
    check_dscp(l, group, c, p);
    if (group != GROUP_DATA)
        return;
    s->marked += roce->ip.ecn == FRAME_CE;
    if (p->sent_here)
        check_sent(s, l, c, p);
    else if (roce->ip.ecn == FRAME_CE && l->capable == 1)
        findings_add(c->findings, KIND_MARKED, p->number, p->time_ns,
                     "marked, but its sender sends packets that are not ECN-capable");
}

static void end(void *state, struct verify_context *c)
{
    struct ecns *s = state;
    findings_judged(c->findings, "packets", s->seen);
    findings_seen(c->findings, "data packets at their sender", s->sent);
    findings_seen(c->findings, "marked", s->marked);
    if (c->of_all->ecn_thresholds.count)
        queues_end(&s->queues, c);
    else if (s->marked)
        findings_not_judged(c->findings,
                            "whether the queue was above the threshold: ecn_thresholds is not set");
    if (s->seen && !s->sent)
        findings_not_judged(
            c->findings,
            "whether senders send ECN-capable packets: none is at the port where they were captured");
}

static void release(void *state)
{
    struct ecns *s = state;
    free(s->looks.items);
    same_flows_free(&s->same);
    queues_free(&s->queues);
}

const struct checker checker_ecn = {
    .check = CHECK_ECN,
    .about = "ECN bits and DSCP: ECN-capable, not marked by the sender, DSCP unchanged.",
    .state_bytes = sizeof(struct ecns),
    .frame = frame,
    .end = end,
    .free = release,
};
