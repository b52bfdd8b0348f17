/*
 * Do a flow's packets get the flow's priority on real NICs? A NIC that trusts DSCP takes it from the IP
 * header. Any other sends with the priority of the queue pair, and takes that of received packets from the
 * VLAN tag: without one they have priority 0.
 */
#ifndef HARNESS_DOCTOR_PRIORITY_H
#define HARNESS_DOCTOR_PRIORITY_H

#include "harness/plan/plan.h"
#include "lib/text.h"

/* The priority that a NIC which trusts DSCP gives a packet, by its settings. */
int64_t priority_of_dscp(const json_t *settings, int64_t dscp);
/* The traffic class of a flow's packets, with the hosts' current settings: `in_force`, by role; may be
 * NULL. */
int64_t priority_traffic_class(const struct cell *cell, const struct scenario_flow *flow,
                               const json_t *in_force);

/* Why a flow's data has priority `seen` (negative: no known one) at the NIC that sent it, or at the one that
 * received it, not the flow's, by the settings in force there (`in_force`: by role), and what gives it the
 * flow's: added to `way` and `fix`. */
void priority_explain(const struct cell *cell, const struct scenario_flow *flow, bool sent,
                      const json_t *in_force, int64_t seen, struct text *way, struct text *fix);

#endif
