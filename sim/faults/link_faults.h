/* Faults of links: going down and up, rates, frames lost at random. Both ends follow the configuration's
 * states by themselves, at the same time. */
#ifndef SIM_LINK_FAULTS_H
#define SIM_LINK_FAULTS_H

#include "sim/faults/faults.h"
#include "sim/model.h"

/* An end of a link. */
struct link_end {
    struct random random;
    uint64_t loss[2], leave[2]; /* of 2^64, in the good and in the bad state */
    bool bad;
    uint32_t event;
    uint32_t next, last; /* of the states: the next one, and the first that is another link's */
    int64_t nominal_bps;
    int64_t up_ps;                  /* a frame whose end was sent no later is lost */
    int64_t downs, crc_errors, cut; /* cut: frames lost because the link was down or went down */
    struct sim_injected *met;       /* of the state that it is in, and of those before; NULL: none yet */
    int64_t noted;                  /* of what is lost here for want of a link: what `met` has already */
    struct injection *injections;   /* at this end, in their order; NULL: none */
};

struct link_faults {
    struct sim_link_state *states; /* those of a link one after the other, by time */
    size_t state_count;
    struct sim_injected *met;     /* of each state, at both ends of its link */
    struct link_end *ends;        /* by port */
    struct injection *injections; /* all, in the order of the configuration; NULL: none */
};

int link_faults_build(struct sim *sim, const struct sim_config *config, struct error *e);
void link_faults_free(struct sim *sim);

#endif
