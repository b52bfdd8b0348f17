/* Networks that papers draw, as links of hosts and switches. */
#ifndef SIM_TOPOLOGY_H
#define SIM_TOPOLOGY_H

#include "sim/sim.h"

struct sim_topology {
    struct sim_link_config *links;
    size_t link_count;
    uint32_t host_count, switch_count;
};

/* All links of one rate and delay. On error nothing is allocated; the caller frees with sim_topology_free. */
int sim_topology_star(struct sim_topology *t, uint32_t hosts, int64_t rate_bps, int64_t delay_ps,
                      struct error *e);
/* Hosts 0..n-1 on switch 0, n..2n-1 on switch 1, and one link between the switches. */
int sim_topology_dumbbell(struct sim_topology *t, uint32_t hosts_a_side, int64_t rate_bps, int64_t delay_ps,
                          struct error *e);
/* Leaves are switches 0..leaves-1, spines come after; host h is on leaf h / hosts_a_leaf. */
int sim_topology_leaf_spine(struct sim_topology *t, uint32_t leaves, uint32_t hosts_a_leaf, uint32_t spines,
                            int64_t rate_bps, int64_t delay_ps, struct error *e);
/* Of k-port switches (Al-Fares et al., SIGCOMM 2008): k^3/4 hosts; switches: edges by pod, aggregations by pod, cores. */
int sim_topology_fat_tree(struct sim_topology *t, uint32_t k, int64_t rate_bps, int64_t delay_ps,
                          struct error *e);
void sim_topology_free(struct sim_topology *t);

#endif
