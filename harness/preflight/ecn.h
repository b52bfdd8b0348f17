/*
 * Which packets can be marked. RFC 3168: a packet whose ECN bits are 00 is not ECN-capable (not ECT); where others are marked
 * CE, a queueing discipline drops it, and a switch lets it pass and the queue grow. Either way no CNP comes of it.
 */
#ifndef HARNESS_ECN_H
#define HARNESS_ECN_H

#include "harness/plan/plan.h"
#include "lib/text.h"

/* The IP header's byte of a flow's packets: what the flow says, else the DSCP of its priority, and ECT(0) where its sender has
 * ECN on for the priority or the scenario marks somewhere. */
int64_t ecn_traffic_class(const struct scenario *scenario, const struct scenario_flow *flow);
bool ecn_capable(int64_t traffic_class);

/* Roles that data leaves from and comes to: a read's comes from its target. */
const char *ecn_sender(const struct scenario_flow *flow);
const char *ecn_receiver(const struct scenario_flow *flow);
bool ecn_lists(const struct list_of *priorities, int64_t priority);

enum ecn_consequence {
    ECN_DROPPED,   /* RED in its way drops what it would mark */
    ECN_UNMARKED,  /* a switch in its way does not mark it */
    ECN_UNNOTICED, /* nothing is known to mark in its way, but its sender has DCQCN on */
};

#define ECN_NAMED 3

/* Flows that are not ECN-capable although something waits for marks: those of one traffic class with one consequence. */
struct ecn_finding {
    enum ecn_consequence consequence;
    int64_t traffic_class;
    bool forced;       /* by the sender's settings.traffic_class, not the flow's own */
    const char *place; /* what would mark: a role, or a simulated switch; ECN_UNNOTICED: the sender */
    const struct scenario_flow *flows[ECN_NAMED]; /* the first of them */
    size_t count;
};

/* All of a cell. `in_force` (role -> settings) is what hosts have already, under the scenario's settings; may be NULL. The caller
 * frees *findings, which point into the cell. */
int ecn_find(const struct cell *cell, const json_t *in_force, struct ecn_finding **findings, size_t *count,
             struct error *e);

/* Warn of what is found in a plan's cells, of each finding once. */
void ecn_warn(const struct plan *plan);

/* "flow a-to-b is not ECN-capable (...): RED at switch drops ..." */
void ecn_say(const struct ecn_finding *finding, struct text *out);
/* What to do about it. */
void ecn_say_remedy(const struct ecn_finding *finding, struct text *out);
/* What the counters of the result's hosts say came of it; nothing where none were sampled. */
void ecn_say_counted(const struct ecn_finding *finding, const json_t *hosts, struct text *out);

#endif
