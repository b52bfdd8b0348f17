/* What NICs carry: beside the others of their kind, from GPU memory beside that of the host; and links
 * between switches beside one another. */
#include "harness/burn_in/blame.h"

#include "lib/statistics/distribution.h"
#include "lib/xalloc.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NICs of one kind carry the same within a few percents; half a line, or half the lanes, is far below. */
#define OF_OTHERS 0.90
/* Those of guests share processors, and wait for them. */
#define OF_OTHERS_VIRTUAL 0.70
/* Uplinks are loaded by chance: one that is full below this share of its rate, or of what another one
 * carries, is slower. */
#define OF_UPLINKS  0.70
#define OF_ITS_MOST 0.90 /* below that of what it has carried it was not full all the time */
/* A narrow slot limits what is sent at least as much as what is taken; a memory that takes little, mostly
 * that. */
#define WRITES_ONLY 1.15
/* The least that a GPU's memory carries of what the same NIC does with host memory, by the relation of both
 * on PCIe: the lower ends of what users report for line rate (collectors/facts/checks.c). */
static const struct {
    const char *relation;
    double least;
} relations[] = {{"PIX", 0.95}, {"PXB", 0.95}, {"PHB", 0.85}, {"NODE", 0.30}, {"SYS", 0.30}};

static double share_of(const struct node *n)
{
    return n->is_virtual ? OF_OTHERS_VIRTUAL : OF_OTHERS;
}

/* What NICs of this one's kind carry: the median over both directions of those with its name, or, if they are
 * fewer than three, of all that are alike. NAN: too few were measured for one to differ from the others. */
static double line_of(const struct work *w, const struct node *n, enum memory memory, size_t *of)
{
    double *values = xcalloc(2 * w->count + 1, sizeof *values), median = NAN;
    for (int wide = 0; wide < 2 && isnan(median); wide++) {
        size_t count = 0;
        *of = 0;
        for (size_t i = 0; i < w->count; i++) {
            const struct node *o = &w->nodes[i];
            if (!seen_alike(o, n) || (!wide && strcmp(o->nic, n->nic) != 0) || isnan(o->best[memory][TX]) ||
                isnan(o->best[memory][RX]))
                continue;
            values[count++] = o->best[memory][TX];
            values[count++] = o->best[memory][RX];
            ++*of;
        }
        distribution_sort(values, count);
        if (*of >= 3)
            median = (values[count / 2 - 1] + values[count / 2]) / 2;
    }
    free(values);
    return median;
}

/* Does it take less than its link brings: did it pause it, or, where PFC does not work, discard frames? */
static bool is_overrun(const struct node *n, enum memory memory)
{
    return n->paused_link[memory] || n->discarded[memory] > 0;
}

/* Whose is it that a NIC is slow this way: its own, if a partner can do as much, as other rounds show, or if
 * it is overrun as the receiver; its partner's, if that one is; or is that not known? */
enum whose { OWN, PARTNERS, NOT_KNOWN };

static enum whose whose_fault(const struct work *w, const struct node *n, enum memory memory, enum way way,
                              double least)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *flow;
    enum whose whose = way == RX && is_overrun(n, memory) ? OWN : NOT_KNOWN;
    size_t i, k;
    json_array_foreach(runs, i, run)
    {
        json_array_foreach(seen_at_full_rate(run) ? json_object_get(run, "flows") : NULL, k, flow)
        {
            const struct node *own = seen_node(w, seen_text(flow, way == TX ? "from" : "to")),
                              *other = seen_node(w, seen_text(flow, way == TX ? "to" : "from"));
            if (own != n || !other || seen_memory(flow) != memory ||
                !seen_tells(w, i, way == TX ? n : other, way == TX ? other : n))
                continue;
            if (other->best[memory][way == TX ? RX : TX] >= least)
                whose = OWN;
            else if (whose == NOT_KNOWN && is_overrun(other, memory))
                whose = PARTNERS;
        }
    }
    return whose;
}

struct slow {
    bool tx, rx; /* by its own fault; a way that is slow for reasons that are not known, beside one that is */
    bool unsure; /* slow, and whose fault it is is not known */
};

static struct slow judge_ways(const struct work *w, const struct node *n, enum memory memory, double least)
{
    bool tx = n->best[memory][TX] < least, rx = n->best[memory][RX] < least;
    enum whose of_tx = tx ? whose_fault(w, n, memory, TX, least) : PARTNERS,
               of_rx = rx ? whose_fault(w, n, memory, RX, least) : PARTNERS;
    bool own = of_tx == OWN || of_rx == OWN;
    return (struct slow){.tx = own && of_tx != PARTNERS,
                         .rx = own && of_rx != PARTNERS,
                         .unsure = !own && (of_tx == NOT_KNOWN || of_rx == NOT_KNOWN)};
}

static void note_unsure(struct work *w, const struct node *n)
{
    blame_unknown(w,
                  "%s is slow, and so is all that it was measured with (NICs, links between switches): mend "
                  "these, and run it again",
                  n->name);
}

/* Both directions, or only one, are slow; and did the NIC pause its link as a receiver? */
static json_t *name_slow(struct work *w, struct node *n, bool tx, bool rx)
{
    const double *best = n->best[HOST];
    const char *peer = n->peer ? n->peer : "its switch",
               *meanwhile = n->discarded[HOST] > 0 ? "discards frames" : "pauses its link";
    json_t *finding;
    if (tx && rx && !is_overrun(n, HOST)) {
        char *name = xasprintf("%s - %s", n->name, peer);
        finding = blame(w, "link-slow", name, true, "pairs",
                        "the link of %s to %s carries %.4g Gb/s one way and %.4g the other", n->name, peer,
                        GBPS(best[TX]), GBPS(best[RX]));
        blame_link(finding, n->name, peer);
        free(name);
    } else if (tx && rx && (best[TX] < WRITES_ONLY * best[RX] || n->discarded[HOST] > 0)) {
        finding = blame(w, "nic-slow", n->name, true, "pairs",
                        "NIC %s sends %.4g Gb/s and takes %.4g, and %s meanwhile: its PCIe slot (lanes, "
                        "generation), or its memory",
                        n->name, GBPS(best[TX]), GBPS(best[RX]), meanwhile);
    } else if (rx && is_overrun(n, HOST)) {
        finding = blame(w, "slow-receiver", n->name, true, "pairs",
                        "%s takes %.4g Gb/s, and %s meanwhile; it sends %.4g", n->name, GBPS(best[RX]),
                        meanwhile, GBPS(best[TX]));
    } else if (rx) {
        finding =
            blame(w, "link-slow", n->name, false, "pairs",
                  "%s receives %.4g Gb/s without pausing, and sends %.4g: the link to it, or the port of %s",
                  n->name, GBPS(best[RX]), GBPS(best[TX]), peer);
        blame_link(finding, n->name, peer);
    } else {
        finding =
            blame(w, "nic-slow", n->name, false, "pairs",
                  "%s sends %.4g Gb/s, and receives %.4g: its software, its reads from memory, or its link",
                  n->name, GBPS(best[TX]), GBPS(best[RX]));
    }
    if (n->discarded[HOST] > 0)
        blame_add(finding, "%s counted rx_discards_phy: %.0f frames came over its link, and it had no room",
                  n->name, n->discarded[HOST]);
    blame_node(finding, n);
    return finding;
}

static void judge_host_rates(struct work *w)
{
    size_t of = 0;
    for (size_t i = 0; i < w->count; i++) {
        struct node *n = &w->nodes[i];
        double line = line_of(w, n, HOST, &of), least = share_of(n) * line;
        char source[160];
        if (n->accused || isnan(line) || isnan(n->best[HOST][TX]) || isnan(n->best[HOST][RX]))
            continue;
        struct slow slow = judge_ways(w, n, HOST, least);
        if (slow.unsure)
            note_unsure(w, n);
        if (!slow.tx && !slow.rx)
            continue;
        json_t *finding = name_slow(w, n, slow.tx, slow.rx);
        snprintf(source, sizeof source, "%.0f %% of the median of %zu NICs of its kind, %.4g Gb/s",
                 100 * share_of(n), of, GBPS(line));
        blame_figure(finding, fmin(n->best[HOST][TX], n->best[HOST][RX]), least, "b/s", source);
        blame_add(finding, "all flows of %s are slow in %s, whoever is at their other end", n->name,
                  slow.tx && slow.rx ? "both directions"
                  : slow.tx          ? "the direction from it"
                                     : "the direction to it");
    }
}

static double least_of_relation(const char *relation)
{
    for (size_t i = 0; relation && i < sizeof relations / sizeof *relations; i++)
        if (strcmp(relations[i].relation, relation) == 0)
            return relations[i].least;
    return NAN;
}

/* Its finding, which several GPUs of one NIC share. */
static json_t *gpu_finding(struct work *w, struct node *n, const struct slow *slow, const char *gpu,
                           double tx, double rx)
{
    json_t *finding =
        blame(w, "gpu-route", n->name, slow->tx && slow->rx, "gpus",
              "memory of %s at %s carries %.4g Gb/s out and %.4g in, host memory %.4g and %.4g: the route "
              "between GPU and NIC (ACS, a bridge between them, peer-to-peer off)",
              gpu, n->name, GBPS(tx), GBPS(rx), GBPS(n->best[HOST][TX]), GBPS(n->best[HOST][RX]));
    blame_node(finding, n);
    n->accused = false; /* of what else goes on at it this says nothing */
    return finding;
}

/* A GPU's memory beside the host's, on the same NIC. *finding: of another GPU; NULL: none yet. */
static void judge_gpu(struct work *w, struct node *n, enum memory memory, json_t **finding)
{
    char number[24], gpu[40] = "the nearest GPU", source[200];
    snprintf(number, sizeof number, "%d", (int)memory - GPU_0);
    if (memory >= GPU_0)
        snprintf(gpu, sizeof gpu, "GPU %s", number);
    const char *relation =
        memory == GPU ? n->relation : json_string_value(json_object_get(n->relations, number));
    size_t of = 0;
    double share = least_of_relation(relation), others = line_of(w, n, memory, &of),
           host = fmin(n->best[HOST][TX], n->best[HOST][RX]),
           least = !isnan(share)    ? share * host
                   : !isnan(others) ? share_of(n) * fmin(others, isnan(host) ? others : host)
                                    : NAN,
           tx = n->best[memory][TX], rx = n->best[memory][RX];
    if (isnan(least))
        return;
    struct slow slow = judge_ways(w, n, memory, least);
    if (slow.unsure)
        note_unsure(w, n);
    if (!slow.tx && !slow.rx)
        return;
    if (*finding) {
        blame_add(*finding, "so does %s: %.4g Gb/s out and %.4g in", gpu, GBPS(tx), GBPS(rx));
        return;
    }
    if (!isnan(share))
        snprintf(source, sizeof source, "%.0f %% of the same NIC with host memory, as usual for %s",
                 100 * share, relation);
    else
        snprintf(source, sizeof source, "%.0f %% of the median of %zu NICs with GPU memory, %.4g Gb/s",
                 100 * share_of(n), of, GBPS(others));
    *finding = gpu_finding(w, n, &slow, gpu, tx, rx);
    blame_figure(*finding, fmin(tx, rx), least, "b/s", source);
}

static void judge_gpus(struct work *w, struct node *n)
{
    json_t *finding = NULL;
    for (int memory = GPU; memory < MEMORIES; memory++)
        if (!isnan(n->best[memory][TX]) && !isnan(n->best[memory][RX]))
            judge_gpu(w, n, (enum memory)memory, &finding);
}

/* ---- uplinks: which port between switches is full below what it is to carry? */

/* What a port sent in a run, in b/s; NAN: it is not known, or the port is not one between switches. */
static double uplink_bps(const struct work *w, const json_t *run, const char *name, size_t port)
{
    const char *peer;
    char glob[64];
    if (!seen_link_of_port(w, name, port, &peer) || !seen_is_switch(w, peer))
        return NAN;
    snprintf(glob, sizeof glob, "port%zu_tx_bytes", port);
    double rate = seen_sum(json_object_get(run, "rates"), name, glob), /* of the time that was read */
        seconds = seen_number(run, "duration_ns") / 1e9;
    return 8 * (isnan(rate) ? seen_counted(run, name, glob) / seconds : rate);
}

static bool loads_uplinks(const json_t *run)
{
    return seen_is_stage(run, "pairs") && seen_at_full_rate(run);
}

/* The most that the port sent in any run. */
static double most_of_port(const struct work *w, const char *name, size_t port)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run;
    double most = 0;
    size_t i;
    json_array_foreach(runs, i, run)
    {
        if (loads_uplinks(run))
            most = fmax(most, uplink_bps(w, run, name, port));
    }
    return most;
}

/* The most that a port between switches sent in this run. */
static double most_of_run(const struct work *w, const json_t *run)
{
    const json_t *switches = json_object_get(w->seen, "switches"), *one;
    const char *peer;
    double most = 0;
    size_t i;
    json_array_foreach(switches, i, one)
    {
        const char *name = json_string_value(one);
        for (size_t port = 0; seen_link_of_port(w, name, port, &peer); port++)
            most = fmax(most, uplink_bps(w, run, name, port));
    }
    return most;
}

/* One that is full carries what it can: what the lab states, or, where it states nothing, about what others
 * carry in the same round. It is full if much waits for it at all times, nobody pauses it, and it has never
 * carried more. */
static void judge_uplink(struct work *w, const json_t *run, const char *name, size_t port)
{
    const char *peer;
    const json_t *link = seen_link_of_port(w, name, port, &peer);
    char glob[64], *culprit;
    double bps = uplink_bps(w, run, name, port), stated = seen_number(link, "bps"), queue;
    snprintf(glob, sizeof glob, "port%zu_prio?_queue_bytes", port);
    queue = seen_counted(run, name, glob);
    bool emptied = seen_sum(json_object_get(run, "least"), name, glob) == 0;
    snprintf(glob, sizeof glob, "port%zu_rx_prio?_pause", port);
    if (isnan(bps) || !(queue > QUEUE_BYTES) || emptied || seen_counted(run, name, glob) != 0 ||
        bps < OF_ITS_MOST * most_of_port(w, name, port))
        return;
    double least = OF_UPLINKS * (isnan(stated) ? most_of_run(w, run) : stated);
    culprit = xasprintf("%s - %s", seen_text(link, "a"), seen_text(link, "b"));
    if (bps < least && !blame_of(w, culprit)) {
        json_t *finding = blame(w, "link-slow", culprit, true, seen_text(run, "stage"),
                                "the link from %s to %s is full at %.4g Gb/s", name, peer, GBPS(bps));
        blame_link(finding, seen_text(link, "a"), seen_text(link, "b"));
        blame_figure(finding, bps, least, "b/s",
                     isnan(stated) ? "70 % of the most that a link between switches carried in this round"
                                   : "70 % of the rate that the lab states of the link");
        blame_add(finding, "%.4g kB waited for it on average in %s, and nobody paused it", queue / 1e3,
                  seen_text(run, "folder"));
    }
    free(culprit);
}

static void judge_uplinks(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *one;
    const char *peer;
    size_t i, k;
    json_array_foreach(runs, i, run)
    {
        json_array_foreach(loads_uplinks(run) ? json_object_get(w->seen, "switches") : NULL, k, one)
        {
            for (size_t port = 0; seen_link_of_port(w, json_string_value(one), port, &peer); port++)
                judge_uplink(w, run, json_string_value(one), port);
        }
    }
}

void judge_rates(struct work *w)
{
    judge_host_rates(w);
    judge_uplinks(w);
    for (size_t i = 0; i < w->count; i++)
        if (!w->nodes[i].accused)
            judge_gpus(w, &w->nodes[i]);
}
