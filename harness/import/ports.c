/*
 * Hosts with several links: which of them a flow leaves by, and by which it arrives. As the HPCC simulator
 * has it (alibaba-edu/High-Precision-Congestion-Control: RdmaHw::GetNicIdxOfQp, SwitchNode::GetOutDev and
 * CalculateRoute of scratch/third.cc; the same in aliyun/ns-3-alibabacloud): all ports of a host have one
 * address; a hash of addresses and UDP ports selects the sender's port, and at each switch the next one,
 * among those on shortest paths. Hosts forward nothing.
 */
#include "harness/import/import.h"
#include "lib/roce/ecmp.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SENDER_SEED       0x8badf00du /* of a host's hash: ns-3's Murmur3 */
#define FIRST_DESTINATION 100         /* UDP port of a receiver's first flow, where the file has none */
#define FAR               UINT16_MAX

struct chooser {
    struct import *import;
    size_t *first; /* of each node the neighbours: near[first[n]] and on, by number */
    struct import_near *near;
    uint32_t *queue, *place; /* of the search: nodes in its order; each node's place in it */
    uint16_t *distance;      /* of each switch to the receivers of the search */
    struct candidate {
        uint32_t place, link, node;
    } * candidates;
    uint32_t *rank;                           /* of each host: equal where the neighbours are */
    uint16_t *source_port, *destination_port; /* UDP, of each flow */
};

/* ---- neighbours */

static int by_node(const void *a, const void *b)
{
    const struct import_near *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

void import_list_neighbours(const struct import *import, size_t *first, struct import_near *near)
{
    for (size_t i = 0; i < import->link_count; i++) {
        first[import->links[i].a + 2]++;
        first[import->links[i].b + 2]++;
    }
    for (size_t i = 2; i < import->nodes + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < import->link_count; i++) {
        const struct import_link *link = &import->links[i];
        near[first[link->a + 1]++] = (struct import_near){link->b, i};
        near[first[link->b + 1]++] = (struct import_near){link->a, i};
    }
    for (size_t i = 0; i < import->nodes; i++)
        qsort(near + first[i], first[i + 1] - first[i], sizeof *near, by_node);
}

/* The network's switches, not those of a server. */
static bool is_of_network(const struct import *import, uint32_t node)
{
    return import->is_switch[node] && !import->is_nvswitch[node];
}

/* ---- receivers whose neighbours are the same have the same ways to them: one search serves them all */

struct receiver {
    const struct chooser *c;
    uint32_t node;
};

static int by_neighbours(const void *a, const void *b)
{
    const struct receiver *x = a, *y = b;
    const struct chooser *c = x->c;
    size_t i = c->first[x->node], i_end = c->first[x->node + 1];
    size_t k = c->first[y->node], k_end = c->first[y->node + 1];
    for (;; i++, k++) {
        while (i < i_end && !is_of_network(c->import, c->near[i].node))
            i++;
        while (k < k_end && !is_of_network(c->import, c->near[k].node))
            k++;
        if (i == i_end || k == k_end)
            return (i < i_end) - (k < k_end);
        if (c->near[i].node != c->near[k].node)
            return c->near[i].node < c->near[k].node ? -1 : 1;
    }
}

static int rank_hosts(struct chooser *c, struct error *e)
{
    struct receiver *hosts = calloc(c->import->nodes + 1, sizeof *hosts);
    size_t count = 0;
    if (!hosts)
        return error_set(e, "out of memory");
    for (uint32_t i = 0; i < c->import->nodes; i++)
        if (!c->import->is_switch[i])
            hosts[count++] = (struct receiver){c, i};
    qsort(hosts, count, sizeof *hosts, by_neighbours);
    for (size_t i = 1; i < count; i++)
        c->rank[hosts[i].node] = c->rank[hosts[i - 1].node] + (by_neighbours(&hosts[i - 1], &hosts[i]) != 0);
    free(hosts);
    return 0;
}

/* Hops of every switch to a host, by breadth-first search from its neighbours. */
static void search(struct chooser *c, uint32_t to)
{
    uint32_t head = 0, tail = 0;
    memset(c->distance, 0xff, c->import->nodes * sizeof *c->distance);
    for (size_t i = c->first[to]; i < c->first[to + 1]; i++)
        if (is_of_network(c->import, c->near[i].node)) {
            c->distance[c->near[i].node] = 1;
            c->queue[tail++] = c->near[i].node;
        }
    for (; head < tail; head++) {
        uint32_t node = c->queue[head];
        c->place[node] = head;
        for (size_t i = c->first[node]; i < c->first[node + 1]; i++) {
            uint32_t next = c->near[i].node;
            if (!is_of_network(c->import, next) || c->distance[next] != FAR)
                continue;
            c->distance[next] = (uint16_t)(c->distance[node] + 1);
            c->queue[tail++] = next;
        }
    }
}

/* ---- the choice */

static int by_place(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* The switches next to a node that are `distance` away from the receiver, in the order in which the search
 * found them: that of the routing tables there. */
static size_t list_candidates(struct chooser *c, uint32_t node, uint16_t distance)
{
    size_t count = 0;
    bool sorted = true;
    for (size_t i = c->first[node]; i < c->first[node + 1]; i++) {
        uint32_t next = c->near[i].node;
        if (!is_of_network(c->import, next) || c->distance[next] != distance)
            continue;
        c->candidates[count] = (struct candidate){c->place[next], c->near[i].link, next};
        sorted = sorted && (!count || c->candidates[count - 1].place < c->place[next]);
        count++;
    }
    if (!sorted)
        qsort(c->candidates, count, sizeof *c->candidates, by_place);
    return count;
}

static uint16_t nearest(const struct chooser *c, uint32_t node)
{
    uint16_t least = FAR;
    for (size_t i = c->first[node]; i < c->first[node + 1]; i++) {
        uint32_t next = c->near[i].node;
        if (is_of_network(c->import, next) && c->distance[next] < least)
            least = c->distance[next];
    }
    return least;
}

/* The link between two nodes; NULL: there is none. */
static const struct import_link *link_between(const struct chooser *c, uint32_t node, uint32_t other)
{
    const struct import_near key = {other, 0},
                             *found = bsearch(&key, c->near + c->first[node],
                                              c->first[node + 1] - c->first[node], sizeof key, by_node);
    return found ? &c->import->links[found->link] : NULL;
}

static int port_of(const struct import_link *link, uint32_t node)
{
    return link->a == node ? link->a_port : link->b_port;
}

/* Through the network, switch by switch. false: no path leads there. */
static bool choose_in_network(struct chooser *c, struct import_flow *flow, const uint32_t key[3])
{
    const struct import_link *link = link_between(c, flow->from, flow->to);
    if (!link) {
        uint16_t distance = nearest(c, flow->from);
        if (distance == FAR)
            return false;
        size_t count = list_candidates(c, flow->from, distance);
        struct candidate at = c->candidates[ecmp_hash(key, SENDER_SEED) % count];
        flow->from_port = port_of(&c->import->links[at.link], flow->from);
        for (; distance > 1; distance--) {
            count = list_candidates(c, at.node, (uint16_t)(distance - 1));
            at = c->candidates[ecmp_hash(key, at.node) % count];
        }
        link = link_between(c, at.node, flow->to);
    } else {
        flow->from_port = port_of(link, flow->from);
    }
    flow->to_port = port_of(link, flow->to);
    return true;
}

/* Over one of the NVSwitches that both GPUs have. false: they have none. */
static bool choose_in_server(const struct chooser *c, struct import_flow *flow, const uint32_t key[3])
{
    size_t count = 0;
    const struct import_link *from = NULL, *to = NULL;
    for (int pass = 0; pass < 2; pass++) {
        size_t pick = pass && count ? ecmp_hash(key, SENDER_SEED) % count : SIZE_MAX, i = 0;
        for (size_t k = c->first[flow->from]; k < c->first[flow->from + 1]; k++) {
            const struct import_link *other = link_between(c, c->near[k].node, flow->to);
            if (!c->import->is_nvswitch[c->near[k].node] || !other)
                continue;
            if (i++ != pick)
                continue;
            from = &c->import->links[c->near[k].link];
            to = other;
        }
        count = i;
    }
    if (!to)
        return false;
    flow->from_port = port_of(from, flow->from);
    flow->to_port = port_of(to, flow->to);
    return true;
}

/* ---- UDP ports: they count up in the order of the flows */

struct numbered {
    uint64_t key; /* what comes first in this order */
    uint32_t flow;
};

static int by_key(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->flow > y->flow) - (x->flow < y->flow);
}

/* Which of a flow's hosts have ports of their own count. */
enum counted { COUNTED_PAIR, COUNTED_SENDER, COUNTED_RECEIVER };

/* ports[flow]: the first, the next one of the same hosts, and so on. */
static void number_ports_of(const struct import *import, enum counted of, uint16_t first, uint16_t *ports,
                            struct numbered *order)
{
    for (uint32_t i = 0; i < import->flow_count; i++) {
        uint64_t from = of == COUNTED_RECEIVER ? 0 : import->flows[i].from,
                 to = of == COUNTED_SENDER ? 0 : import->flows[i].to;
        order[i] = (struct numbered){from << 32 | to, i};
    }
    qsort(order, import->flow_count, sizeof *order, by_key);
    for (size_t i = 0; i < import->flow_count; i++) {
        bool again = i && order[i].key == order[i - 1].key;
        ports[order[i].flow] = again ? (uint16_t)(ports[order[i - 1].flow] + 1) : first;
    }
}

/* The flows of a file have ports, or there are counts at both hosts, as in ConWeave's simulator
 * (network-load-balance.cc). */
static void number_flows(const struct chooser *c, struct numbered *order)
{
    const struct import *import = c->import;
    bool said = import->udp_port;
    number_ports_of(import, said ? COUNTED_PAIR : COUNTED_SENDER, ECMP_FIRST_SOURCE_PORT, c->source_port,
                    order);
    if (!said)
        number_ports_of(import, COUNTED_RECEIVER, FIRST_DESTINATION, c->destination_port, order);
    for (size_t i = 0; said && i < import->flow_count; i++)
        c->destination_port[i] = import->flows[i].udp_port;
}

static int choose_for(struct chooser *c, size_t i, const struct reader *flows, struct error *e)
{
    struct import *import = c->import;
    struct import_flow *flow = &import->flows[i];
    const uint32_t key[3] = {ecmp_address(flow->from), ecmp_address(flow->to),
                             c->source_port[i] | (uint32_t)c->destination_port[i] << 16};
    if (import->server[flow->from] && import->server[flow->from] == import->server[flow->to])
        return choose_in_server(c, flow, key)
                   ? 0
                   : reader_error(flows, flow->line, e,
                                  "GPUs %u and %u of one server have no NVSwitch in common", flow->from,
                                  flow->to);
    return choose_in_network(c, flow, key) ? 0
                                           : reader_error(flows, flow->line, e,
                                                          "no path leads from host %u to host %u: hosts "
                                                          "with several links do not forward",
                                                          flow->from, flow->to);
}

static int choose_all(struct chooser *c, const struct reader *flows, struct error *e)
{
    const struct import *import = c->import;
    struct numbered *order = calloc(import->flow_count + 1, sizeof *order);
    uint32_t searched = UINT32_MAX;
    if (!order)
        return error_set(e, "out of memory");
    number_flows(c, order);
    for (uint32_t i = 0; i < import->flow_count; i++)
        order[i] = (struct numbered){c->rank[import->flows[i].to], i};
    qsort(order, import->flow_count, sizeof *order, by_key);
    int result = 0;
    for (size_t i = 0; result == 0 && i < import->flow_count; i++) {
        if (order[i].key != searched)
            search(c, import->flows[order[i].flow].to);
        searched = (uint32_t)order[i].key;
        result = choose_for(c, order[i].flow, flows, e);
    }
    free(order);
    return result;
}

static int choose_ports(struct import *import, const struct reader *flows, struct error *e)
{
    size_t nodes = import->nodes, ends = 2 * import->link_count;
    struct chooser c = {.import = import,
                        .first = calloc(nodes + 3, sizeof *c.first),
                        .near = calloc(ends + 1, sizeof *c.near),
                        .queue = calloc(nodes + 1, sizeof *c.queue),
                        .place = calloc(nodes + 1, sizeof *c.place),
                        .distance = calloc(nodes + 1, sizeof *c.distance),
                        .candidates = calloc(ends + 1, sizeof *c.candidates),
                        .rank = calloc(nodes + 1, sizeof *c.rank),
                        .source_port = calloc(import->flow_count + 1, sizeof *c.source_port),
                        .destination_port = calloc(import->flow_count + 1, sizeof *c.destination_port)};
    int result = -1;
    if (!c.first || !c.near || !c.queue || !c.place || !c.distance || !c.candidates || !c.rank ||
        !c.source_port || !c.destination_port) {
        error_set(e, "out of memory");
    } else {
        import_list_neighbours(import, c.first, c.near);
        result = rank_hosts(&c, e) != 0 || choose_all(&c, flows, e) != 0 ? -1 : 0;
    }
    free(c.first);
    free(c.near);
    free(c.queue);
    free(c.place);
    free(c.distance);
    free(c.candidates);
    free(c.rank);
    free(c.source_port);
    free(c.destination_port);
    return result;
}

/* ---- the NICs of hosts */

/* The other end of an NVLink; UINT32_MAX: it is none. */
static uint32_t gpu_of(const struct import *import, const struct import_link *link)
{
    return import->is_nvswitch[link->a] ? link->b : import->is_nvswitch[link->b] ? link->a : UINT32_MAX;
}

/* NVSwitches stay where a flow is within their server. */
static int leave_out_nvswitches(struct import *import, bool *any_used, struct error *e)
{
    bool *used = calloc(import->nodes + 2, sizeof *used);
    size_t kept = 0, nvlinks = 0, left_out = 0, all = 0;
    if (!used)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < import->flow_count; i++) {
        uint32_t server = import->server[import->flows[i].from];
        if (server && server == import->server[import->flows[i].to])
            used[server] = *any_used = true;
    }
    for (size_t i = 0; i < import->nodes; i++)
        import->left_out[i] = import->is_nvswitch[i];
    for (size_t i = 0; i < import->link_count; i++) {
        const struct import_link *link = &import->links[i];
        uint32_t gpu = gpu_of(import, link);
        if (gpu != UINT32_MAX && used[import->server[gpu]])
            import->left_out[link->a ^ link->b ^ gpu] = false;
    }
    for (size_t i = 0; i < import->link_count; i++) {
        const struct import_link *link = &import->links[i];
        if (import->left_out[link->a] || import->left_out[link->b])
            nvlinks++;
        else
            import->links[kept++] = *link;
    }
    import->link_count = kept;
    for (size_t i = 0; i < import->nodes; i++) {
        all += import->is_nvswitch[i];
        left_out += import->left_out[i];
    }
    if (left_out)
        import_note(
            import,
            "NVSwitches: %zu of %zu are left out with their NVLinks (%zu), as no flow stays within their "
            "servers",
            left_out, all, nvlinks);
    if (all > left_out)
        import_note(import,
                    "NVSwitches: %zu of %zu pause and mark as other switches do; in %s they do neither",
                    all - left_out, all, import->format);
    free(used);
    return 0;
}

static int take_port(const struct import *import, uint32_t node, uint32_t other)
{
    if (import->is_switch[node])
        return IMPORT_ONE_PORT;
    return import->is_nvswitch[other] ? -(int)++import->nvlinks[node] : (int)++import->ports[node];
}

/* In the order of the links. */
static int number_ports(struct import *import, bool *any_several, struct error *e)
{
    size_t nodes = 0;
    for (size_t i = 0; i < import->link_count; i++) {
        struct import_link *link = &import->links[i];
        link->a_port = take_port(import, link->a, link->b);
        link->b_port = take_port(import, link->b, link->a);
    }
    for (size_t i = 0; i < import->link_count; i++) {
        struct import_link *link = &import->links[i];
        if (import->ports[link->a] + import->nvlinks[link->a] == 1)
            link->a_port = IMPORT_ONE_PORT;
        if (import->ports[link->b] + import->nvlinks[link->b] == 1)
            link->b_port = IMPORT_ONE_PORT;
    }
    for (size_t i = 0; i < import->nodes; i++) {
        unsigned nics = import->ports[i] + import->nvlinks[i];
        if (nics > IMPORT_MOST_NICS)
            return error_set(e, "%s: host %zu has %u links: expected at most %d", import->network_path, i,
                             nics, IMPORT_MOST_NICS);
        import->left_out[i] = import->left_out[i] || (!import->is_switch[i] && !nics);
        nodes += import->is_switch[i] ? !import->left_out[i] : nics;
        *any_several = *any_several || nics > 1;
    }
    return nodes <= IMPORT_MOST_NODES
               ? 0
               : error_set(e, "%s: %zu ports of hosts and switches: expected at most %d",
                           import->network_path, nodes, IMPORT_MOST_NODES);
}

int import_take_ports(struct import *import, const struct reader *flows, struct error *e)
{
    bool in_servers = false, several = false;
    if (leave_out_nvswitches(import, &in_servers, e) != 0 || number_ports(import, &several, e) != 0)
        return -1;
    if (!several && !in_servers)
        return import_check_paths(import, flows, e);
    if (several)
        import_note(import,
                    "the NICs of each flow are those that %s selects by a hash; ACKs come back to the "
                    "sending one, while there a hash of their own selects theirs",
                    import->format);
    return choose_ports(import, flows, e);
}
