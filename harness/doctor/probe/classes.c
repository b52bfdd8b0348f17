/*
 * Which priority a probe's packets really had, at their sender and at their receiver, by the bytes that the
 * NICs counted per priority: tx-class, rx-class  of a role: is what its flows moved counted with their
 * priority? same-class          of two roles: is it the same priority at both ends, and in both directions?
 *   answers             of a role that only receives: do its acknowledgements have the flows' priority?
 */
#include "harness/doctor/priority.h"
#include "harness/doctor/probe/probe.h"
#include "harness/doctor/probe/traffic.h"
#include "harness/plan/traffic_class.h"
#include <inttypes.h>
#include <string.h>

#define NOWHERE (-1)

/* What a NIC sent or received during the probe. */
struct side {
    const char *role;
    bool sent;
    bool counts;                          /* it has counters for each priority */
    int64_t expected[COUNTED_PRIORITIES]; /* payload of the flows of the priority */
    int64_t seen[COUNTED_PRIORITIES];     /* by the counters: with headers, answers, and what others sent */
    int64_t all_expected, all_seen;
};

/* ---- adding up */

static const struct scenario_flow *flows_of(const struct probed *p, size_t *count)
{
    *count = p->cell->scenario.flows.count;
    return p->cell->scenario.flows.items;
}

static bool is_end(const struct scenario_flow *flow, const char *role, bool sent)
{
    return strcmp(sent ? flow_sender(flow) : flow_receiver(flow), role) == 0;
}

static struct side side_of(const struct probed *p, const char *role, bool sent)
{
    struct side side = {.role = role, .sent = sent};
    size_t count;
    const struct scenario_flow *flows = flows_of(p, &count);
    for (size_t i = 0; i < count; i++)
        if (is_end(&flows[i], role, sent))
            side.expected[flows[i].priority] += counted_of_flow(p, flows[i].name, "bytes");
    for (int64_t k = 0; k < COUNTED_PRIORITIES; k++) {
        int64_t total = counted_priority(p, role, sent ? "tx_prio" : "rx_prio", k, "_bytes");
        side.counts = side.counts || total >= 0;
        side.seen[k] = total >= 0 ? total : 0;
        side.all_expected += side.expected[k];
        side.all_seen += side.seen[k];
    }
    return side;
}

/* Below this other programs' bytes may be as many: nothing is decided. */
#define LEAST_BYTES 20000

/* More than half of what is to be there: the counters have headers too, and the payload before the first
 * sample is missing. */
static bool is_there(int64_t seen, int64_t expected)
{
    return seen >= expected - expected / 2;
}

/* The priority on which the flows of a priority were; NOWHERE: on none, or it cannot be known. */
static int64_t priority_seen(const struct side *side, int64_t priority)
{
    int64_t most = 0, at = NOWHERE;
    if (!side->counts || side->expected[priority] < LEAST_BYTES)
        return NOWHERE;
    if (is_there(side->seen[priority], side->expected[priority]))
        return priority;
    for (int64_t k = 0; k < COUNTED_PRIORITIES; k++) {
        int64_t beyond = side->seen[k] - side->expected[k];
        if (k != priority && beyond > most) {
            most = beyond;
            at = k;
        }
    }
    return at != NOWHERE && is_there(most, side->expected[priority]) ? at : NOWHERE;
}

/* ---- one side */

static const char *name_of(const struct side *side)
{
    return side->sent ? "tx" : "rx";
}

static void report_side(const struct doctor_subject *x, const struct side *side, const char *verdict,
                        const char *fix, const struct text *reason)
{
    counted_add(x, side->role, side->sent ? "tx-class" : "rx-class", verdict, fix, reason,
                side->sent ? "tx_prio0_bytes to tx_prio7_bytes of nic-sampler, before and after the traffic"
                           : "rx_prio0_bytes to rx_prio7_bytes of nic-sampler, before and after the traffic");
}

static void report_uncounted(const struct doctor_subject *x, const struct side *side)
{
    struct text reason = {0};
    text_add(&reason,
             "its NIC does not count bytes per priority (there is no %s_prio0_bytes; Soft-RoCE has none): "
             "which class "
             "the traffic has cannot be seen here",
             name_of(side));
    report_side(x, side, "unknown",
                "look at a switch's counters, or capture packets: their DSCP, or the tag's "
                "priority",
                &reason);
    text_free(&reason);
}

/* The port counted next to nothing. The function's own counters of RDMA tell whether the traffic was
 * elsewhere. */
static void report_nothing(const struct doctor_subject *x, const struct side *side)
{
    const struct probed *p = x->probed;
    char counter[64];
    struct text reason = {0};
    snprintf(counter, sizeof counter, "%s_vport_rdma_unicast_bytes", name_of(side));
    int64_t rdma = counted_total(p, side->role, counter);
    bool here = rdma >= 0 && is_there(rdma, side->all_expected);
    text_add(&reason, "its flows %s ", side->sent ? "sent" : "brought");
    counted_describe_bytes(&reason, side->all_expected);
    text_add(&reason, " of payload, but its NIC's counters of all priorities rose by ");
    counted_describe_bytes(&reason, side->all_seen);
    text_add(
        &reason,
        here ? ": the NIC carried it (%s), but does not count it per priority, as a virtual function does not"
             : ": the traffic went over another interface",
        counter);
    report_side(x, side, here ? "unknown" : "failure",
                here ? "read the counters of the physical function"
                     : "on the host: ip route get ADDRESS of the other end; nic.netdev, nic.address and "
                       "nic.gid_index of the "
                       "lab must be of one port",
                &reason);
    text_free(&reason);
}

/* The first flow of the side's with the priority. */
static const struct scenario_flow *flow_of(const struct probed *p, const struct side *side, int64_t priority)
{
    size_t count, i = 0;
    const struct scenario_flow *flows = flows_of(p, &count);
    while (i < count && !(is_end(&flows[i], side->role, side->sent) && flows[i].priority == priority))
        i++;
    return i < count ? &flows[i] : NULL;
}

static void report_wrong(const struct doctor_subject *x, const struct side *side, int64_t priority,
                         int64_t at)
{
    const struct probed *p = x->probed;
    struct text reason = {0}, way = {0}, fix = {0};
    text_add(&reason, "its flows %s ", side->sent ? "sent" : "brought");
    counted_describe_bytes(&reason, side->expected[priority]);
    text_add(&reason,
             " of payload that should have priority %" PRId64 ", but %s_prio%" PRId64 "_bytes rose by ",
             priority, name_of(side), priority);
    counted_describe_bytes(&reason, side->seen[priority]);
    if (at == NOWHERE) {
        text_add(&reason, ", and no other priority's by as much");
    } else {
        text_add(&reason, ", and %s_prio%" PRId64 "_bytes by ", name_of(side), at);
        counted_describe_bytes(&reason, side->seen[at]);
    }
    priority_explain(p->cell, flow_of(p, side, priority), side->sent, x->seen->in_force, at, &way, &fix);
    text_add(&reason, ": %s", text_string(&way));
    report_side(x, side, "failure", text_string(&fix), &reason);
    text_free(&reason);
    text_free(&way);
    text_free(&fix);
}

static void report_little(const struct doctor_subject *x, const struct side *side, int64_t priority)
{
    struct text reason = {0};
    text_add(&reason, "its flows of priority %" PRId64 " %s only ", priority,
             side->sent ? "sent" : "brought");
    counted_describe_bytes(&reason, side->expected[priority]);
    text_add(&reason, " in the time of the probe: too little to tell it from what other programs send");
    report_side(x, side, "unknown", NULL, &reason);
    text_free(&reason);
}

static void report_right(const struct doctor_subject *x, const struct side *side, int64_t priority)
{
    struct text reason = {0};
    text_add(&reason, "priority %" PRId64 ": %s_prio%" PRId64 "_bytes rose by ", priority, name_of(side),
             priority);
    counted_describe_bytes(&reason, side->seen[priority]);
    text_add(&reason, ", for ");
    counted_describe_bytes(&reason, side->expected[priority]);
    text_add(&reason, " of payload");
    report_side(x, side, "ok", NULL, &reason);
    text_free(&reason);
}

static void judge_side(const struct doctor_subject *x, const struct side *side)
{
    if (side->all_expected == 0)
        return;
    if (!side->counts) {
        report_uncounted(x, side);
        return;
    }
    if (!is_there(side->all_seen, side->all_expected)) {
        report_nothing(x, side);
        return;
    }
    for (int64_t k = 0; k < COUNTED_PRIORITIES; k++) {
        int64_t at = priority_seen(side, k);
        if (side->expected[k] == 0)
            continue;
        if (side->expected[k] < LEAST_BYTES)
            report_little(x, side, k);
        else if (at == k)
            report_right(x, side, k);
        else
            report_wrong(x, side, k, at);
    }
}

/* ---- both ends, both directions */

/* Where the flow's packets were at its sender and at its receiver. */
static void ends_of(const struct probed *p, const struct scenario_flow *flow, int64_t at[2])
{
    const struct side tx = side_of(p, flow_sender(flow), true), rx = side_of(p, flow_receiver(flow), false);
    at[0] = priority_seen(&tx, flow->priority);
    at[1] = priority_seen(&rx, flow->priority);
}

/* The same priority from the flow's receiver to its sender; of several the first one. */
static bool is_back(const struct scenario_flow *flow, const struct scenario_flow *other)
{
    return flow->priority == other->priority && strcmp(flow_sender(flow), flow_receiver(other)) == 0 &&
           strcmp(flow_receiver(flow), flow_sender(other)) == 0;
}

static bool same_ends(const struct scenario_flow *a, const struct scenario_flow *b)
{
    return a->priority == b->priority && strcmp(flow_sender(a), flow_sender(b)) == 0 &&
           strcmp(flow_receiver(a), flow_receiver(b)) == 0;
}

/* at: sender and receiver of the flow, then those of the way back, or NOWHERE. */
static void report_same_class(const struct doctor_subject *x, const struct scenario_flow *flow,
                              const int64_t at[4], bool back)
{
    const char *from = flow_sender(flow), *to = flow_receiver(flow);
    bool same = at[0] == at[1] && (!back || (at[2] == at[0] && at[3] == at[0]));
    struct text name = {0}, reason = {0};
    text_add(&name, "%s->%s", from, to);
    if (same)
        text_add(&reason, "priority %" PRId64 " at both ends%s", at[0], back ? ", and on the way back" : "");
    else
        text_add(&reason,
                 "%s sends packets of its flows to %s with priority %" PRId64 ", and %s receives them with "
                 "priority %" PRId64,
                 from, to, at[0], to, at[1]);
    if (!same && back)
        text_add(&reason,
                 "; on the way back %s sends with priority %" PRId64
                 ", and %s receives with priority %" PRId64,
                 to, at[2], from, at[3]);
    if (!same)
        text_add(&reason, ": a pause stops another class than the one that fills the buffer");
    counted_add(x, text_string(&name), "same-class", same ? "ok" : "failure",
                same ? NULL : "do what is said above of the side with another priority than the flows have",
                &reason, "rx_prioN_bytes and tx_prioN_bytes of nic-sampler at both ends");
    text_free(&name);
    text_free(&reason);
}

/* Each pair of roles and priority once; nothing is said where a side could not be known. */
static void judge_same_class(const struct doctor_subject *x, size_t i)
{
    const struct probed *p = x->probed;
    size_t count, k = 0;
    const struct scenario_flow *flows = flows_of(p, &count), *back = NULL;
    int64_t at[4];
    for (; k < i; k++)
        if (same_ends(&flows[k], &flows[i]) || is_back(&flows[k], &flows[i]))
            return;
    for (k = i + 1; !back && k < count; k++)
        if (is_back(&flows[i], &flows[k]))
            back = &flows[k];
    ends_of(p, &flows[i], at);
    if (back)
        ends_of(p, back, at + 2);
    bool known = at[0] != NOWHERE && at[1] != NOWHERE && (!back || (at[2] != NOWHERE && at[3] != NOWHERE));
    if (known)
        report_same_class(x, &flows[i], at, back != NULL);
}

/* ---- answers of a role that sends no data */

/* A receiver may answer several messages at once: an acknowledgement has 62 bytes, and is due at least every
 * fourth message of the probe. */
#define ANSWER_BYTES 10

/* Messages that the role received, if all are of one priority; else NOWHERE: which answer belongs to which is
 * not known. */
static int64_t priority_answered(const struct probed *p, const char *role, int64_t *messages)
{
    int64_t priority = NOWHERE;
    size_t count;
    const struct scenario_flow *flows = flows_of(p, &count);
    *messages = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_end(&flows[i], role, false) || flows[i].op == OP_READ)
            continue;
        if (priority != NOWHERE && priority != flows[i].priority)
            return NOWHERE;
        priority = flows[i].priority;
        *messages += counted_of_flow(p, flows[i].name, "messages");
    }
    return *messages > 0 ? priority : NOWHERE;
}

static int64_t most_seen(const struct side *side)
{
    int64_t most = 0;
    for (int64_t k = 0; k < COUNTED_PRIORITIES; k++)
        most = side->seen[k] > side->seen[most] ? k : most;
    return most;
}

static void judge_answers(const struct doctor_subject *x, const char *role)
{
    const struct probed *p = x->probed;
    const struct side tx = side_of(p, role, true);
    int64_t messages, priority = priority_answered(p, role, &messages), most = most_seen(&tx);
    struct text reason = {0};
    if (!tx.counts || tx.all_expected > 0 || priority == NOWHERE)
        return;
    bool good = tx.seen[priority] >= ANSWER_BYTES * messages;
    bool elsewhere = !good && tx.seen[most] >= ANSWER_BYTES * messages;
    text_add(&reason, "for %" PRId64 " messages of priority %" PRId64 " it sent ", messages, priority);
    counted_describe_bytes(&reason, tx.seen[priority]);
    text_add(&reason, " with this priority%s",
             good        ? ": its acknowledgements have it too"
             : elsewhere ? ""
                         : ", and not more with another: its acknowledgements were not seen");
    if (elsewhere)
        text_add(&reason, ": its acknowledgements have priority %" PRId64 ", whose counter rose by ", most);
    if (elsewhere)
        counted_describe_bytes(&reason, tx.seen[most]);
    counted_add(x, role, "answers",
                good        ? "ok"
                : elsewhere ? "warning"
                            : "unknown",
                elsewhere
                    ? "set trust and dscp_to_prio at this end too: acknowledgements should not wait behind "
                      "other traffic"
                    : NULL,
                &reason, "tx_prio0_bytes to tx_prio7_bytes of nic-sampler, before and after the traffic");
    text_free(&reason);
}

/* ---- the check */

static void judge_flow(const struct doctor_subject *x, const struct scenario_flow *flow)
{
    const struct probed *p = x->probed;
    const json_t *there = json_object_get(json_object_get(p->result, "flows"), flow->name);
    const char *why = json_string_value(json_object_get(there, "error"));
    struct text name = {0}, reason = {0};
    if (counted_of_flow(p, flow->name, "bytes") > 0)
        return;
    text_add(&name, "%s->%s", flow_sender(flow), flow_receiver(flow));
    text_add(&reason, "no data arrived, with priority %" PRId64 "%s%s", flow->priority, why ? ": " : "",
             why ? why : "");
    counted_add(x, text_string(&name), "probe", "failure",
                "harness run with a short --duration shows in run.log what the programs said", &reason,
                "the flow's summary by its sender");
    text_free(&name);
    text_free(&reason);
}

static void examine_classes(const struct doctor_subject *x)
{
    const struct probed *p = x->probed;
    const char *role;
    size_t count;
    const struct scenario_flow *flows = flows_of(p, &count);
    for (size_t i = 0; i < count; i++)
        judge_flow(x, &flows[i]);
    for (size_t i = 0; (role = scenario_role(&p->cell->scenario, i)); i++) {
        const struct side tx = side_of(p, role, true), rx = side_of(p, role, false);
        judge_side(x, &tx);
        judge_side(x, &rx);
        judge_answers(x, role);
    }
    for (size_t i = 0; i < count; i++)
        judge_same_class(x, i);
}

const struct doctor_check doctor_probe_classes = {.name = "tx-class, rx-class, same-class, answers",
                                                  .scope = DOCTOR_PROBE,
                                                  .when = DOCTOR_PROBES,
                                                  .traffic = probe_small_traffic,
                                                  .examine = examine_classes};
