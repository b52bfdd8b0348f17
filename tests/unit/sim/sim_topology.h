/* Networks that papers draw, as links of hosts and switches, for tests and benchmarks of the simulator; users
 * have a lab's "topology" (lib/formats/lab_expand.c). */
#ifndef TESTS_SIM_TOPOLOGY_H
#define TESTS_SIM_TOPOLOGY_H

#include "sim/sim.h"
#include <stdlib.h>

struct sim_topology {
    struct sim_link_config *links;
    size_t link_count;
    uint32_t host_count, switch_count;
};

static inline int topology_begin(struct sim_topology *t, uint32_t hosts, uint32_t switches, size_t links,
                                 int64_t rate_bps, int64_t delay_ps, struct error *e)
{
    *t = (struct sim_topology){.host_count = hosts, .switch_count = switches};
    t->links = calloc(links ? links : 1, sizeof *t->links);
    if (!t->links)
        return error_set(e, "topology: no memory for %zu links", links);
    for (size_t i = 0; i < links; i++)
        t->links[i] = (struct sim_link_config){.rate_bps = rate_bps, .delay_ps = delay_ps};
    return 0;
}

static inline void topology_attach(struct sim_topology *t, uint32_t host, uint32_t to_switch)
{
    struct sim_link_config *link = &t->links[t->link_count++];
    link->a = (struct sim_node){SIM_HOST, host};
    link->b = (struct sim_node){SIM_SWITCH, to_switch};
}

static inline void topology_join(struct sim_topology *t, uint32_t lower, uint32_t upper)
{
    struct sim_link_config *link = &t->links[t->link_count++];
    link->a = (struct sim_node){SIM_SWITCH, lower};
    link->b = (struct sim_node){SIM_SWITCH, upper};
}

/* All links of one rate and delay. On error nothing is allocated; the caller frees with sim_topology_free. */
static inline int sim_topology_star(struct sim_topology *t, uint32_t hosts, int64_t rate_bps,
                                    int64_t delay_ps, struct error *e)
{
    if (topology_begin(t, hosts, 1, hosts, rate_bps, delay_ps, e))
        return -1;
    for (uint32_t h = 0; h < hosts; h++)
        topology_attach(t, h, 0);
    return 0;
}

/* Hosts 0..n-1 on switch 0, n..2n-1 on switch 1, and one link between the switches. */
static inline int sim_topology_dumbbell(struct sim_topology *t, uint32_t hosts_a_side, int64_t rate_bps,
                                        int64_t delay_ps, struct error *e)
{
    if (topology_begin(t, hosts_a_side * 2, 2, (size_t)hosts_a_side * 2 + 1, rate_bps, delay_ps, e))
        return -1;
    for (uint32_t h = 0; h < hosts_a_side * 2; h++)
        topology_attach(t, h, h / hosts_a_side);
    topology_join(t, 0, 1);
    return 0;
}

/* Leaves are switches 0..leaves-1, spines come after; host h is on leaf h / hosts_a_leaf. */
static inline int sim_topology_leaf_spine(struct sim_topology *t, uint32_t leaves, uint32_t hosts_a_leaf,
                                          uint32_t spines, int64_t rate_bps, int64_t delay_ps,
                                          struct error *e)
{
    size_t links = (size_t)leaves * hosts_a_leaf + (size_t)leaves * spines;
    if (topology_begin(t, leaves * hosts_a_leaf, leaves + spines, links, rate_bps, delay_ps, e))
        return -1;
    for (uint32_t h = 0; h < leaves * hosts_a_leaf; h++)
        topology_attach(t, h, h / hosts_a_leaf);
    for (uint32_t leaf = 0; leaf < leaves; leaf++)
        for (uint32_t spine = 0; spine < spines; spine++)
            topology_join(t, leaf, leaves + spine);
    return 0;
}

/* Of k-port switches (Al-Fares et al., SIGCOMM 2008): k^3/4 hosts; switches: edges by pod, aggregations by
 * pod, cores. */
static inline int sim_topology_fat_tree(struct sim_topology *t, uint32_t k, int64_t rate_bps,
                                        int64_t delay_ps, struct error *e)
{
    uint32_t half = k / 2, hosts = k * half * half, edges = k * half;
    if (k < 2 || k % 2 || k > 128)
        return error_set(e, "topology: a fat tree of %u-port switches: expected an even number up to 128", k);
    if (topology_begin(t, hosts, 2 * edges + half * half, (size_t)hosts * 3, rate_bps, delay_ps, e))
        return -1;
    for (uint32_t h = 0; h < hosts; h++)
        topology_attach(t, h, h / half);
    for (uint32_t edge = 0; edge < edges; edge++)
        for (uint32_t i = 0; i < half; i++)
            topology_join(t, edge, edges + edge / half * half + i);
    for (uint32_t i = 0; i < edges; i++)
        for (uint32_t core = 0; core < half; core++)
            topology_join(t, edges + i, 2 * edges + i % half * half + core);
    return 0;
}

static inline void sim_topology_free(struct sim_topology *t)
{
    free(t->links);
    t->links = NULL;
}

#endif
