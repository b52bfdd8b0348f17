/* Generates many flows from a pattern. */
#ifndef SIM_WORKLOAD_H
#define SIM_WORKLOAD_H

#include "lib/roce/traffic_pattern.h"
#include "sim/sim.h"

/* Distributions of flow sizes that papers use. */
enum sim_sizes {
    SIM_SIZES_FIXED,
    SIM_SIZES_WEB_SEARCH, /* Alizadeh et al., "Data Center TCP", SIGCOMM 2010, as the HPCC simulator tabulates
                             it */
    SIM_SIZES_DATA_MINING, /* Greenberg et al., "VL2", SIGCOMM 2009, as Alizadeh et al., "pFabric", 2013
                              tabulate it */
    SIM_SIZES_HADOOP,      /* Roy et al., "Inside the Social Network's (Datacenter) Network", SIGCOMM 2015, */
    SIM_SIZES_ALI_STORAGE, /* and Alibaba's storage of 2019, as the HPCC simulator tabulates them */
};
double sim_sizes_mean(enum sim_sizes sizes);
/* A size drawn from it, at least 1. Not for SIM_SIZES_FIXED. */
int64_t sim_sizes_draw(enum sim_sizes sizes, struct random *random);

struct sim_workload_config {
    enum traffic_pattern pattern;
    struct sim_flow_config flow; /* common to all flows: memories, priority, payload, start and stop */
    const uint32_t *from, *to;   /* hosts; `to` empty: the same as from */
    size_t from_count, to_count;
    enum sim_sizes sizes;
    /* Size of a flow; 0: endless. With a ring, of all reduced data: in 2(n-1) steps each host sends one n-th
     * on, as soon as it has received the one of the step before. */
    int64_t size_bytes;
    int64_t rounds;          /* number of times that the size is sent, one after the other; at least 1 */
    double load;             /* Poisson: share of each sender's link, headers not counted */
    const int64_t *link_bps; /* Poisson: rate of each sender's link */
    int64_t most_flows;      /* Poisson: maximum number of flows; 0: until flow.stop_ps */
    int64_t shift;           /* permutation: host i sends to i + shift; 0: drawn */
    uint64_t seed;
};

/* Poisson arrivals, one after the other: by rising start, the same each time they begin. */
struct sim_poisson {
    const struct sim_workload_config *w; /* which lasts */
    struct random random;
    double sum_bps, gap_ps, at_ps;
    const uint32_t *to;
    size_t to_count;
    int64_t count; /* so far */
    bool equal;    /* each sender's link has the same rate */
};
/* -1: the workload cannot be drawn. */
int sim_poisson_begin(struct sim_poisson *p, const struct sim_workload_config *w, struct error *e);
bool sim_poisson_next(struct sim_poisson *p, struct sim_flow_config *flow);

/* The flows, in the order of their start. Indices in `after` count from `first`. The caller frees *flows. */
int sim_workload_make(const struct sim_workload_config *w, uint32_t first, struct sim_flow_config **flows,
                      size_t *count, struct error *e);

#endif
