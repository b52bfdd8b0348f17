/* A simulated run's capture: frames of the simulator as real headers, in a file. docs/captures.md. */
#ifndef HARNESS_SIM_CAPTURE_H
#define HARNESS_SIM_CAPTURE_H

#include "harness/labs/sim/lab.h"
#include "lib/packets/frame.h"
#include "sim/capture.h"

struct sim_capture;

/* Begin the file, if the scenario has a capture; lab->sim is there. */
int sim_capture_open(struct sim_lab *lab, struct error *e);
/* How far the simulator may run until its frames are to be taken: not beyond until_ns. */
int64_t sim_capture_until(const struct sim_lab *lab, int64_t until_ns);
/* Take the frames of the last sim_run_until. */
int sim_capture_take(struct sim_lab *lab, struct error *e);
/* Write the rest and close the file; once. */
int sim_capture_finish(struct sim_lab *lab, struct error *e);
void sim_capture_add_to_result(const struct sim_lab *lab, json_t *result);
void sim_capture_close(struct sim_lab *lab);

/* frames.c: what the packets of a flow have besides the simulator's fields. */
struct sim_flow_headers {
    uint8_t dscp, cnp_dscp;
    bool tagged;    /* its priority is in a VLAN tag */
    bool immediate; /* its messages end with immediate data */
};
/* `roles`: by host, the role that it plays. */
struct sim_flow_headers sim_flow_headers_of(const struct cell *cell, const struct sim_setup *setup,
                                            char *const *roles, size_t flow);
/* What is known before the first frame: of flows, of queue pairs, and the nodes of ports. */
struct sim_known {
    struct sim_flow_headers *flows;
    struct sim_queue_pair *pairs;
    struct sim_node *nodes;
};
/* The MAC address of a node's port, which is made up. Locally administered: the kind of node, its number, its port. */
void sim_port_address(uint8_t mac[6], struct sim_node node, uint32_t port);
/* A frame of the simulator as one of a link. */
void sim_frame_of(const struct sim *sim, const struct sim_known *known, const struct sim_captured *from,
                  struct frame *to);

#endif
