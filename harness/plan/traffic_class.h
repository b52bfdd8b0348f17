/*
 * The traffic class of a flow's packets, as the scenario states it: DSCP and ECN bits (RFC 3168: a packet
 * whose ECN bits are 00 is not ECN-capable), and who sends them.
 */
#ifndef HARNESS_TRAFFIC_CLASS_H
#define HARNESS_TRAFFIC_CLASS_H

#include "lib/formats/scenario.h"

/* The traffic class of a flow's queue pairs: the flow's own value; else settings.traffic_class of its sender;
 * else the DSCP of its priority, with ECT(0) if its sender has ECN on for the priority or the scenario marks
 * packets somewhere. */
int64_t flow_traffic_class(const struct scenario *scenario, const struct scenario_flow *flow);
/* A flow of a traffic pattern from a role to another, by the pattern's name, as far as its traffic class
 * depends on it. It owns nothing. */
struct scenario_flow flow_of_pattern(const struct scenario_traffic *traffic, char *from, char *to);
/* Does a role take a packet's priority from its DSCP? */
bool role_trusts_dscp(const struct scenario *scenario, const char *role);
bool traffic_class_is_ect(int64_t traffic_class);

/* The roles that send and receive the data: the target of an RDMA read sends it. */
const char *flow_sender(const struct scenario_flow *flow);
const char *flow_receiver(const struct scenario_flow *flow);
bool priority_is_listed(const struct list_of *priorities, int64_t priority);

#endif
