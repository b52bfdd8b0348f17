/* Where the simulator's parts hand over frames for captures. */
#ifndef SIM_CAPTURE_TAP_H
#define SIM_CAPTURE_TAP_H

#include "sim/capture.h"
#include "sim/model.h"

/* What is captured, and the frames of all threads in order. */
struct capture_state {
    struct sim_capture_config config; /* its arrays are copies */
    bool *flows, *ports;
    struct sim_captured_at *order, *other; /* `other`: while they are sorted */
    size_t count, capacity;
};

/* Before the routes are found, and after all ports' events are there. */
int capture_open(struct sim *sim, const struct sim_config *c, struct error *e);
void capture_free(struct sim *sim);

/* A packet of the pool, at a port with PORT_CAPTURED. */
void capture_frame(struct sim *sim, uint32_t port, uint32_t p, bool sent);

/* Before and after a run of all threads. */
void capture_begin(struct sim *sim);
int capture_collect(struct sim *sim);

#endif
