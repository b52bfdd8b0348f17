/*
 * Base round-trip times as the HPCC simulator has them (third.cc, CalculateRoute and after it): on a shortest
 * path, the delays of both ways and the time that a packet's payload takes on each link of one way, in whole
 * nanoseconds; and with the slowest of these links the product of bandwidth and delay, the window.
 */
#include "harness/import/hpcc_config.h"
#include <stdlib.h>
#include <string.h>

struct way {
    bool known;
    int64_t delay_ns, sending_ns, rate_bps;
};

struct ways {
    const struct import *import;
    int64_t payload_bytes;
    size_t *first; /* of each node the neighbours: near[first[n]] and on, by number */
    struct import_near *near;
    uint32_t *queue;
    struct way *way; /* of each node, to the receiver of the search */
};

static void search(struct ways *w, uint32_t to)
{
    uint32_t head = 0, tail = 0;
    memset(w->way, 0, w->import->nodes * sizeof *w->way);
    w->way[to] = (struct way){true, 0, 0, INT64_MAX};
    for (w->queue[tail++] = to; head < tail; head++) {
        const uint32_t node = w->queue[head];
        const struct way *at = &w->way[node];
        for (size_t i = w->first[node]; i < w->first[node + 1]; i++) {
            const struct import_link *link = &w->import->links[w->near[i].link];
            const uint32_t next = w->near[i].node;
            if (w->way[next].known || w->import->is_nvswitch[next])
                continue;
            w->way[next] = (struct way){true, at->delay_ns + link->delay_ps / 1000,
                                        at->sending_ns + w->payload_bytes * 8000000000 / link->rate_bps,
                                        link->rate_bps < at->rate_bps ? link->rate_bps : at->rate_bps};
            if (w->import->is_switch[next])
                w->queue[tail++] = next;
        }
    }
}

static void note_round_trip(const struct ways *w, uint32_t from, uint32_t to, bool longest,
                            struct hpcc_rtt *rtt)
{
    const struct way *way = &w->way[from];
    const int64_t ns = 2 * way->delay_ns + way->sending_ns,
                  bdp = (int64_t)((double)ns * (double)way->rate_bps / 8e9);
    if (!way->known || from == to)
        return;
    if (longest) {
        rtt->ns = ns > rtt->ns ? ns : rtt->ns;
        rtt->bdp_bytes = bdp > rtt->bdp_bytes ? bdp : rtt->bdp_bytes;
    } else if (!rtt->ns) {
        *rtt = (struct hpcc_rtt){ns, bdp, true, {{from, to}}};
    } else if (rtt->same && (rtt->ns != ns || rtt->bdp_bytes != bdp)) {
        rtt->same = false;
        rtt->of[1][0] = from;
        rtt->of[1][1] = to;
    }
}

/* ---- receivers on links that are the same: one search serves them all */

struct receiver {
    const struct ways *w;
    uint32_t node;
    size_t flow; /* the first of those that end there, by receiver; of all pairs: none */
};

static int by_links(const void *a, const void *b)
{
    const struct receiver *x = a, *y = b;
    const struct ways *w = x->w;
    size_t i = w->first[x->node], k = w->first[y->node];
    for (; i < w->first[x->node + 1] && k < w->first[y->node + 1]; i++, k++) {
        const struct import_link *one = &w->import->links[w->near[i].link],
                                 *other = &w->import->links[w->near[k].link];
        const int64_t differ[] = {(int64_t)w->near[i].node - w->near[k].node, one->rate_bps - other->rate_bps,
                                  one->delay_ps - other->delay_ps};
        for (size_t d = 0; d < sizeof differ / sizeof *differ; d++)
            if (differ[d])
                return differ[d] < 0 ? -1 : 1;
    }
    return (i < w->first[x->node + 1]) - (k < w->first[y->node + 1]);
}

static void look_at_all(struct ways *w, struct receiver *hosts, struct hpcc_rtt *rtt)
{
    size_t count = 0;
    for (uint32_t i = 0; i < w->import->nodes; i++)
        if (!w->import->is_switch[i])
            hosts[count++] = (struct receiver){w, i, 0};
    qsort(hosts, count, sizeof *hosts, by_links);
    for (size_t i = 0; i < count; i++) {
        if (i && by_links(&hosts[i], &hosts[i - 1]) == 0)
            continue;
        search(w, hosts[i].node);
        for (uint32_t from = 0; from < w->import->nodes; from++)
            if (!w->import->is_switch[from])
                note_round_trip(w, from, hosts[i].node, true, rtt);
    }
    rtt->same = true;
}

static int by_receiver(const void *a, const void *b)
{
    const struct receiver *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->flow > y->flow) - (x->flow < y->flow);
}

static void look_at_flows(struct ways *w, struct receiver *of_flows, struct hpcc_rtt *rtt)
{
    const struct import *import = w->import;
    for (size_t i = 0; i < import->flow_count; i++)
        of_flows[i] = (struct receiver){w, import->flows[i].to, i};
    qsort(of_flows, import->flow_count, sizeof *of_flows, by_receiver);
    for (size_t i = 0; i < import->flow_count; i++) {
        if (!i || of_flows[i].node != of_flows[i - 1].node)
            search(w, of_flows[i].node);
        note_round_trip(w, import->flows[of_flows[i].flow].from, of_flows[i].node, false, rtt);
    }
}

int hpcc_rtt_of(const struct import *import, int64_t payload_bytes, bool of_flows, struct hpcc_rtt *rtt,
                struct error *e)
{
    const size_t nodes = import->nodes;
    struct receiver *receivers = calloc(nodes + import->flow_count + 1, sizeof *receivers);
    struct ways w = {import,
                     payload_bytes,
                     calloc(nodes + 3, sizeof *w.first),
                     calloc(2 * import->link_count + 1, sizeof *w.near),
                     calloc(nodes + 1, sizeof *w.queue),
                     calloc(nodes + 1, sizeof *w.way)};
    int result = -1;
    *rtt = (struct hpcc_rtt){0};
    if (!receivers || !w.first || !w.near || !w.queue || !w.way) {
        error_set(e, "out of memory");
    } else {
        import_list_neighbours(import, w.first, w.near);
        if (of_flows)
            look_at_flows(&w, receivers, rtt);
        else
            look_at_all(&w, receivers, rtt);
        result = 0;
    }
    free(receivers);
    free(w.first);
    free(w.near);
    free(w.queue);
    free(w.way);
    return result;
}
