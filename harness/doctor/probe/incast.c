/* Two hosts sent to a third one as fast as they could: was it held by pauses or marks, or was something lost?
 * Its line is the lab's link at the receiver, else the speed of its NIC by host-facts. */
#include "harness/doctor/probe/probe.h"
#include "harness/doctor/probe/traffic.h"
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#define FAR_BELOW 0.5 /* of the line; a lossless incast fills it but for headers */

/* What the counters of one kind rose by at the three hosts. `first`: the one that rose most. */
struct rise {
    bool counted; /* there is any */
    int64_t most;
    const char *role, *counter;
};

struct incast {
    const struct doctor_subject *x;
    const struct probed *p;
    const char *receiver;
    const char *senders[2];
    int64_t priority;
    struct rise lost, paused, marked;
    double goodput_bps, line_bps; /* line 0: not known */
    bool both;                    /* senders have sent data */
};

/* ---- counters */

/* Losses that an incast causes; the group drops has more, of other packets too (lib/roce/counters.def says
 * what each counts). */
static const char *const lost_globs[] = {"out_of_sequence",
                                         "packet_seq_err",
                                         "implied_nak_seq_err",
                                         "local_ack_timeout_err",
                                         "rx_discards_phy",
                                         "rx_prio[0-7]_discards",
                                         "rx_prio[0-7]_*_discard",
                                         "out_of_seq_request",
                                         "rcvd_seq_err",
                                         "roce_adp_retrans*",
                                         NULL};
static const char *const paused_globs[] = {"[rt]x_prio[0-7]_pause", "[rt]x_global_pause", NULL};
static const char *const marked_globs[] = {
    "np_ecn_marked_roce_packets", "np_cnp_sent", "rp_cnp_handled", "IpExtInCEPkts", "Ip6InCEPkts", NULL};

static bool matches(const char *const globs[], const char *counter)
{
    for (size_t i = 0; globs[i]; i++)
        if (fnmatch(globs[i], counter, 0) == 0)
            return true;
    return false;
}

static void rise_add_role(const struct probed *p, const char *role, const char *const globs[],
                          struct rise *rise)
{
    const json_t *host = json_object_get(json_object_get(p->result, "hosts"), role);
    const char *counter;
    json_t *ignored;
    json_object_foreach(json_object_get(host, "counters"), counter, ignored)
    {
        int64_t total = matches(globs, counter) ? counted_total(p, role, counter) : -1;
        rise->counted = rise->counted || total >= 0;
        if (total > rise->most)
            *rise = (struct rise){true, total, role, counter};
    }
}

static struct rise rise_of(const struct incast *in, const char *const globs[])
{
    struct rise rise = {0};
    rise_add_role(in->p, in->receiver, globs, &rise);
    for (size_t i = 0; i < 2; i++)
        rise_add_role(in->p, in->senders[i], globs, &rise);
    return rise;
}

/* ---- the line */

static double facts_line_bps(const struct incast *in)
{
    const json_t *host = json_object_get(json_object_get(in->p->result, "hosts"), in->receiver), *nic;
    const json_t *address = json_object_get(host, "address");
    const struct lab_host *real = lab_real_host(&in->p->cell->lab, in->receiver);
    size_t i;
    json_array_foreach(json_object_get(json_object_get(host, "facts"), "nics"), i, nic)
    {
        const char *netdev = json_string_value(json_object_get(nic, "netdev"));
        bool named = real && real->nic.netdev && netdev && strcmp(real->nic.netdev, netdev) == 0;
        if (named && address)
            return json_number_value(json_object_get(nic, "speed_Mbps")) * 1e6;
    }
    return 0;
}

static double line_bps(const struct incast *in)
{
    const struct lab *lab = &in->p->cell->lab;
    const char *node = lab_node_of(lab, in->receiver);
    const struct lab_link *link;
    for (size_t i = 0; node && (link = lab_link_at(lab, i)); i++) {
        char *const *names = link->between.items;
        for (size_t k = 0; k < link->between.count; k++)
            if (strcmp(names[k], node) == 0 && link->rate_bps > 0)
                return (double)link->rate_bps;
    }
    return facts_line_bps(in);
}

/* ---- the verdict */

/* "pfc", "ecn" or neither: what should hold the priority at the receiver, by the settings in force. Of a
 * simulated host they are the scenario's. */
static bool is_listed(const struct incast *in, const char *role, const char *setting)
{
    const json_t *settings = json_object_get(in->x->seen->in_force, role), *item;
    json_t *own = settings ? NULL : scenario_role_settings(in->p->cell->scenario_json, role);
    bool found = false;
    size_t i;
    json_array_foreach(json_object_get(settings ? settings : own, setting), i, item)
    {
        found = found || (json_is_integer(item) && json_integer_value(item) == in->priority);
    }
    json_decref(own);
    return found;
}

static const char *what_holds(const struct incast *in)
{
    bool pfc = is_listed(in, in->receiver, "pfc");
    bool ecn = is_listed(in, in->receiver, "ecn") || is_listed(in, in->receiver, "ecn_np");
    return pfc && ecn ? "PFC and ECN are" : pfc ? "PFC is" : ecn ? "ECN is" : NULL;
}

static void describe_rise(struct text *out, const char *what, const struct rise *rise)
{
    if (!rise->counted)
        text_add(out, "; %s: no counter", what);
    else if (rise->most == 0)
        text_add(out, "; %s: none", what);
    else
        text_add(out, "; %s: %s of %s rose by %" PRId64, what, rise->counter, rise->role, rise->most);
}

static const char *verdict_of(const struct incast *in, bool slow)
{
    if (!in->both)
        return "unknown";
    if (in->lost.most > 0)
        return slow && what_holds(in) ? "failure" : "warning";
    return in->lost.counted ? "ok" : "unknown";
}

static const char *fix_of(const struct incast *in)
{
    if (!in->both)
        return "harness run with a short --duration shows in run.log what the programs said";
    if (in->lost.most == 0)
        return NULL;
    return what_holds(in)
               ? "check that each hop pauses or marks this priority: PFC of the switch's ports, its lossless "
                 "buffer and "
                 "headroom, and buffer_bytes and cable of the NICs (harness doctor --for compares both ends)"
               : "turn PFC on for the priority at both ends and in the switch: settings.pfc, with "
                 "buffer_bytes; or accept "
                 "losses";
}

static void report_incast(const struct incast *in)
{
    bool slow = in->line_bps > 0 && in->goodput_bps < FAR_BELOW * in->line_bps;
    const char *held = what_holds(in);
    struct text reason = {0};
    text_add(&reason, "%s and %s send to it with priority %" PRId64 ": %.3g Gb/s arrive", in->senders[0],
             in->senders[1], in->priority, in->goodput_bps / 1e9);
    if (in->line_bps > 0)
        text_add(&reason, " on a line of %.3g Gb/s", in->line_bps / 1e9);
    if (!in->both)
        text_add(&reason, "; data came from fewer than two senders, which is not an incast");
    describe_rise(&reason, "lost", &in->lost);
    describe_rise(&reason, "paused", &in->paused);
    describe_rise(&reason, "marked", &in->marked);
    if (in->lost.most > 0)
        text_add(&reason,
                 slow && held ? "; it collapses although %s on at the receiver"
                 : held       ? "; packets are lost although %s on at the receiver"
                              : "; neither PFC nor ECN is known to be on at the receiver",
                 held);
    counted_add(in->x, in->receiver, "incast", verdict_of(in, slow), fix_of(in), &reason,
                "pauses, marks and losses of nic-sampler at the three hosts, goodput by the senders");
    text_free(&reason);
}

static void examine_incast(const struct doctor_subject *x)
{
    const struct probed *p = x->probed;
    const struct scenario_flow *flows = p->cell->scenario.flows.items;
    if (p->cell->scenario.flows.count != 2)
        return;
    struct incast in = {.x = x,
                        .p = p,
                        .receiver = flows[0].to,
                        .senders = {flows[0].from, flows[1].from},
                        .priority = flows[0].priority,
                        .both = true};
    in.lost = rise_of(&in, lost_globs);
    in.paused = rise_of(&in, paused_globs);
    in.marked = rise_of(&in, marked_globs);
    in.line_bps = line_bps(&in);
    for (size_t i = 0; i < 2; i++) {
        const json_t *flow = json_object_get(json_object_get(p->result, "flows"), flows[i].name);
        in.goodput_bps += json_number_value(json_object_get(flow, "goodput_bps"));
        in.both = in.both && counted_of_flow(p, flows[i].name, "bytes") > 0;
    }
    report_incast(&in);
}

const struct doctor_check doctor_probe_incast = {.name = "incast",
                                                 .scope = DOCTOR_PROBE,
                                                 .when = DOCTOR_PROBES,
                                                 .traffic = probe_incast_traffic,
                                                 .examine = examine_incast};
