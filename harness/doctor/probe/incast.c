#include "harness/doctor/probe/incast.h"

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
    const struct probed *p;
    const char *receiver;
    const char *senders[2];
    int64_t priority;
    struct rise lost, paused, marked;
    double goodput_bps, line_bps; /* line 0: not known */
    bool both;                    /* senders have sent data */
};

/* ---- counters */

/* Losses that an incast causes; the group drops has more, of other packets too (lib/roce/counters.def says what each counts). */
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

static void add_role(const struct probed *p, const char *role, const char *const globs[], struct rise *rise)
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

static struct rise rise_of(const struct incast *x, const char *const globs[])
{
    struct rise rise = {0};
    add_role(x->p, x->receiver, globs, &rise);
    for (size_t i = 0; i < 2; i++)
        add_role(x->p, x->senders[i], globs, &rise);
    return rise;
}

/* ---- the line */

static double facts_line_bps(const struct incast *x)
{
    const json_t *host = json_object_get(json_object_get(x->p->result, "hosts"), x->receiver), *nic;
    const json_t *address = json_object_get(host, "address");
    const struct lab_host *real = lab_real_host(&x->p->cell->lab, x->receiver);
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

static double line_bps(const struct incast *x)
{
    const struct lab *lab = &x->p->cell->lab;
    const char *node = lab_node_of(lab, x->receiver);
    const struct lab_link *link;
    for (size_t i = 0; node && (link = lab_link_at(lab, i)); i++) {
        char *const *names = link->between.items;
        for (size_t k = 0; k < link->between.count; k++)
            if (strcmp(names[k], node) == 0 && link->rate_bps > 0)
                return (double)link->rate_bps;
    }
    return facts_line_bps(x);
}

/* ---- the verdict */

/* "pfc", "ecn" or neither: what should hold the priority at the receiver, by the settings in force. Of a simulated host they are the scenario's. */
static bool lists(const struct incast *x, const char *role, const char *setting)
{
    const json_t *settings = json_object_get(x->p->in_force, role), *item;
    json_t *own = settings ? NULL : scenario_role_settings(x->p->cell->scenario_json, role);
    bool found = false;
    size_t i;
    json_array_foreach(json_object_get(settings ? settings : own, setting), i, item)
    {
        found = found || (json_is_integer(item) && json_integer_value(item) == x->priority);
    }
    json_decref(own);
    return found;
}

static const char *holder(const struct incast *x)
{
    bool pfc = lists(x, x->receiver, "pfc");
    bool ecn = lists(x, x->receiver, "ecn") || lists(x, x->receiver, "ecn_np");
    return pfc && ecn ? "PFC and ECN are" : pfc ? "PFC is" : ecn ? "ECN is" : NULL;
}

static void say_rise(struct text *out, const char *what, const struct rise *rise)
{
    if (!rise->counted)
        text_add(out, "; %s: no counter", what);
    else if (rise->most == 0)
        text_add(out, "; %s: none", what);
    else
        text_add(out, "; %s: %s of %s rose by %" PRId64, what, rise->counter, rise->role, rise->most);
}

static const char *verdict_of(const struct incast *x, bool slow)
{
    if (!x->both)
        return "unknown";
    if (x->lost.most > 0)
        return slow && holder(x) ? "failure" : "warning";
    return x->lost.counted ? "ok" : "unknown";
}

static const char *fix_of(const struct incast *x)
{
    if (!x->both)
        return "harness run with a short --duration shows in run.log what the programs said";
    if (x->lost.most == 0)
        return NULL;
    return holder(x)
               ? "check that each hop pauses or marks this priority: PFC of the switch's ports, its lossless "
                 "buffer and "
                 "headroom, and buffer_bytes and cable of the NICs (harness doctor --for compares both ends)"
               : "turn PFC on for the priority at both ends and in the switch: settings.pfc, with "
                 "buffer_bytes; or accept "
                 "losses";
}

static void say(const struct incast *x, json_t *entries)
{
    bool slow = x->line_bps > 0 && x->goodput_bps < FAR_BELOW * x->line_bps;
    const char *held = holder(x);
    struct text reason = {0};
    text_add(&reason, "%s and %s send to it with priority %" PRId64 ": %.3g Gb/s arrive", x->senders[0],
             x->senders[1], x->priority, x->goodput_bps / 1e9);
    if (x->line_bps > 0)
        text_add(&reason, " on a line of %.3g Gb/s", x->line_bps / 1e9);
    if (!x->both)
        text_add(&reason, "; data came from fewer than two senders, which is no incast");
    say_rise(&reason, "lost", &x->lost);
    say_rise(&reason, "paused", &x->paused);
    say_rise(&reason, "marked", &x->marked);
    if (x->lost.most > 0)
        text_add(&reason,
                 slow && held ? "; it collapses although %s on at the receiver"
                 : held       ? "; packets are lost although %s on at the receiver"
                              : "; neither PFC nor ECN is known to be on at the receiver",
                 held);
    counted_say(x->p, entries, x->receiver, "incast", verdict_of(x, slow), fix_of(x), &reason,
                "pauses, marks and losses of nic-sampler at the three hosts, goodput by the senders");
    text_free(&reason);
}

void probe_judge_incast(const struct probed *p, json_t *entries)
{
    const struct scenario_flow *flows = p->cell->scenario.flows.items;
    if (p->cell->scenario.flows.count != 2)
        return;
    struct incast x = {.p = p,
                       .receiver = flows[0].to,
                       .senders = {flows[0].from, flows[1].from},
                       .priority = flows[0].priority};
    x.lost = rise_of(&x, lost_globs);
    x.paused = rise_of(&x, paused_globs);
    x.marked = rise_of(&x, marked_globs);
    x.line_bps = line_bps(&x);
    x.both = true;
    for (size_t i = 0; i < 2; i++) {
        const json_t *flow = json_object_get(json_object_get(p->result, "flows"), flows[i].name);
        x.goodput_bps += json_number_value(json_object_get(flow, "goodput_bps"));
        x.both = x.both && counted_of_flow(p, flows[i].name, "bytes") > 0;
    }
    say(&x, entries);
}
