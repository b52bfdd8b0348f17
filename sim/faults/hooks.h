/* What the simulator's other parts call when a network has faults. */
#ifndef SIM_FAULT_HOOKS_H
#define SIM_FAULT_HOOKS_H

#include "sim/model.h"

/* link_faults.c */
void link_faults_turn(struct sim *sim, uint32_t port); /* EVENT_LINK */
/* Is the frame that arrives at the port lost, or held back? */
bool link_faults_lose(struct sim *sim, uint32_t port, uint32_t p);
/* It is: it is counted, and back in the pool. */
void link_lose(struct sim *sim, uint32_t port, uint32_t p);

/* inject.c */
/* Do the rules of a port take the frame that arrives there away? Then it is lost, or held back. */
bool inject_frame(struct sim *sim, uint32_t port, uint32_t p);
void inject_turn(struct sim *sim, uint32_t rule); /* EVENT_INJECTED */

/* reroute.c */
/* Before paths are found, and after. */
int reroute_open(struct sim *sim, const struct sim_config *config, struct error *e);
int reroute_build(struct sim *sim, const struct sim_config *config, struct error *e);
void reroute_free(struct sim *sim);
void reroute_turn(struct sim *sim, uint32_t index); /* EVENT_ROUTES */
/* A packet arrives at a switch's port: its path's next port is chosen. False: there is none, and the packet
 * is back in the pool. */
bool reroute_packet(struct sim *sim, uint32_t in, uint32_t p);
/* Adds to each port how many of a queue pair's ways leave a switch there, of its data or of what goes the
 * other way, one for each change of the links; returns how many ways there are, 0: routing is adaptive. */
size_t reroute_count_ways(const struct sim *sim, uint32_t qp, bool data, uint32_t *passes);
/* Has a switch sent a packet another way, or had none for it, while this link was down? */
bool reroute_leads_round(const struct sim *sim, uint32_t link);
/* Is there a path between two hosts by the links that are up now? */
bool reroute_reaches(const struct sim *sim, uint32_t from, uint32_t to);

#endif
