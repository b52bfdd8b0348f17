#include "reports/results/network.h"

#include "lib/document/json_text.h"
#include "lib/units.h"
#include "lib/xalloc.h"
#include <stdlib.h>
#include <string.h>

static size_t number_in(const json_t *index, const char *name)
{
    const json_t *number = json_object_get(index, name);
    return number ? (size_t)json_integer_value(number) : NETWORK_NONE;
}

static void add_node(struct network *n, const char *name, bool host)
{
    if (!*name || json_object_get(n->node_index, name))
        return;
    json_put(n->node_index, name, json_integer((json_int_t)n->node_count));
    n->nodes[n->node_count++] = (struct network_node){.name = name, .host = host, .first = NETWORK_NONE};
}

static void take_nodes(struct network *n, const json_t *nodes)
{
    const json_t *node;
    size_t i;
    n->nodes = xcalloc(json_array_size(nodes) + 1, sizeof *n->nodes);
    json_array_foreach(nodes, i, node)
    {
        add_node(n, run_member(node, "name"), strcmp(run_member(node, "kind"), "host") == 0);
    }
}

/* The ends of links have no port: those of a switch count in the order of the links. */
static void add_port(struct network *n, size_t node, size_t peer, double rate_bps)
{
    struct network_node *at = &n->nodes[node];
    size_t port = n->port_count++;
    char *name = at->host ? xstrdup(at->name) : xasprintf("%s:%u", at->name, at->ports);
    n->ports[port] = (struct network_port){.name = name,
                                           .node = node,
                                           .peer = peer,
                                           .next = at->first,
                                           .number = at->ports,
                                           .rate_bps = rate_bps};
    json_put(n->port_index, name, json_integer(at->host && at->ports ? -1 : (json_int_t)port));
    at->first = port;
    at->ports++;
}

static void add_link(struct network *n, size_t a, size_t b, double rate_bps)
{
    add_port(n, a, n->port_count + 1, rate_bps);
    add_port(n, b, n->port_count - 1, rate_bps);
}

static void take_links(struct network *n, const json_t *links)
{
    const json_t *link;
    size_t i;
    n->ports = xcalloc(2 * json_array_size(links) + 1, sizeof *n->ports);
    json_array_foreach(links, i, link)
    {
        size_t a = network_node(n, run_member(link, "a")), b = network_node(n, run_member(link, "b"));
        double rate_bps = json_number_value(json_object_get(link, "rate_bps"));
        if (a == NETWORK_NONE || b == NETWORK_NONE || a == b)
            continue;
        add_link(n, a, b, rate_bps);
    }
}

/* A guest that forwards is a host of the lab, with "switch" or more NICs. */
static void take_lab_nodes(struct network *n, const json_t *hosts, const json_t *switches)
{
    const char *name;
    const json_t *host;
    n->nodes = xcalloc(json_object_size(hosts) + json_object_size(switches) + 1, sizeof *n->nodes);
    json_object_foreach((json_t *)(uintptr_t)hosts, name, host)
        add_node(n, name, !json_object_get(host, "switch") && !json_object_get(host, "extra_nics"));
    json_object_foreach((json_t *)(uintptr_t)switches, name, host) add_node(n, name, false);
}

/* b/s; 0: it is not given. */
static int64_t rate_of(const json_t *link)
{
    enum unit unit;
    int64_t rate_bps;
    return units_find(run_member(link, "rate"), &unit, &rate_bps) && unit == UNIT_RATE_BPS ? rate_bps : 0;
}

/* Links without a rate have that of the lab's `defaults`. */
static void take_lab_links(struct network *n, const json_t *links, const json_t *defaults)
{
    const json_t *link;
    size_t i;
    n->ports = xcalloc(2 * json_array_size(links) + 1, sizeof *n->ports);
    json_array_foreach(links, i, link)
    {
        const json_t *between = json_object_get(link, "between");
        const char *one = json_string_value(json_array_get(between, 0)),
                   *other = json_string_value(json_array_get(between, 1));
        int64_t rate_bps = rate_of(link);
        size_t a = one ? network_node(n, one) : NETWORK_NONE,
               b = other ? network_node(n, other) : NETWORK_NONE;
        if (a == NETWORK_NONE || b == NETWORK_NONE || a == b)
            continue;
        add_link(n, a, b, (double)(rate_bps > 0 ? rate_bps : rate_of(defaults)));
    }
}

void network_open(struct network *network, const struct run *run)
{
    *network = (struct network){.node_index = json_object(), .port_index = json_object()};
    if (run_get(run, "topology")) {
        take_nodes(network, run_get(run, "topology.nodes"));
        take_links(network, run_get(run, "topology.links"));
    } else {
        take_lab_nodes(network, run_get(run, "lab.hosts"), run_get(run, "lab.switches"));
        take_lab_links(network, run_get(run, "lab.links"), run_get(run, "lab.defaults.link"));
    }
}

void network_free(struct network *network)
{
    for (size_t i = 0; i < network->node_count; i++)
        free(network->nodes[i].hops);
    for (size_t i = 0; i < network->port_count; i++)
        free(network->ports[i].name);
    free(network->nodes);
    free(network->ports);
    json_decref(network->node_index);
    json_decref(network->port_index);
    *network = (struct network){0};
}

size_t network_node(const struct network *network, const char *name)
{
    return number_in(network->node_index, name);
}

size_t network_port(const struct network *network, const char *name)
{
    return number_in(network->port_index, name); /* -1 is NETWORK_NONE */
}

size_t network_behind(const struct network *network, size_t port)
{
    return network->ports[network->ports[port].peer].node;
}

/* Hosts do not forward. */
static uint32_t *count_hops(const struct network *n, size_t from)
{
    uint32_t *hops = xmalloc(n->node_count * sizeof *hops);
    size_t *queue = xcalloc(n->node_count, sizeof *queue), head = 0, tail = 0;
    memset(hops, 0xff, n->node_count * sizeof *hops);
    hops[from] = 0;
    queue[tail++] = from;
    while (head < tail) {
        size_t at = queue[head++];
        if (n->nodes[at].host && at != from)
            continue;
        for (size_t port = n->nodes[at].first; port != NETWORK_NONE; port = n->ports[port].next) {
            size_t next = network_behind(n, port);
            if (hops[next] != UINT32_MAX)
                continue;
            hops[next] = hops[at] + 1;
            queue[tail++] = next;
        }
    }
    free(queue);
    return hops;
}

static const uint32_t *hops_of(struct network *n, size_t from)
{
    if (!n->nodes[from].hops)
        n->nodes[from].hops = count_hops(n, from);
    return n->nodes[from].hops;
}

bool network_may_pass(struct network *network, size_t from, size_t to, size_t port)
{
    const uint32_t *there = hops_of(network, from), *back = hops_of(network, to);
    size_t at = network->ports[port].node, next = network_behind(network, port);
    return there[to] != UINT32_MAX && there[at] != UINT32_MAX && back[next] != UINT32_MAX &&
           there[at] + 1 + back[next] == there[to];
}

bool network_must_pass(struct network *network, size_t from, size_t to, size_t port)
{
    if (!network_may_pass(network, from, to, port))
        return false;
    const uint32_t *there = hops_of(network, from);
    uint32_t hops = there[network->ports[port].node];
    for (size_t p = 0; p < network->port_count; p++)
        if (p != port && there[network->ports[p].node] == hops && network_may_pass(network, from, to, p))
            return false;
    return true;
}
