/*
 * Was the queue above its threshold when a switch marked a packet? A capture has no queues, but if all ports of a switch are in it, it has
 * what a queue is made of: a packet that came in and leaves later waited behind those that left in between, and before those that
 * came in before it left. Queues mark as a packet joins them, or as it leaves: one of the two lengths has to be above the
 * threshold (RFC 3168, 7; Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015, figure 5).
 */
#ifndef VERIFY_QUEUES_H
#define VERIFY_QUEUES_H

#include "verify/checker.h"
#include "verify/same_flows.h"

/* Zeros at first. */
struct queues {
    struct states arrivals; /* struct arrivals, by flow */
    struct states ports;    /* struct queue_port, by interface */
    uint64_t slots;         /* that all of them have */
    uint64_t judged, unknown;
};

/* Of each RoCEv2 packet; `same` knows the ways of flows. */
void queues_packet(struct queues *q, struct same_flows *same, struct verify_context *c,
                   const struct verify_packet *p);
/* After the last: what was judged, and what was not. */
void queues_end(struct queues *q, struct verify_context *c);
void queues_free(struct queues *q);

#endif
