/* Frames on links, one by one, for captures: what a port sends, at the time at which its first bit leaves,
 * and what it receives, when its last bit is there. A frame that is lost on a link is not received. */
#ifndef SIM_CAPTURE_H
#define SIM_CAPTURE_H

#include "sim/packet.h"
#include "sim/sim.h"

/* Which frames. A port is end 0 (a) or 1 (b) of a link: number 2 * link + end. */
struct sim_capture_config {
    const bool *ports;  /* by number */
    const bool *flows;  /* by index; NULL: all */
    uint8_t priorities; /* bit p: frames of priority p, and PFC frames that name it, whichever the flows */
    int64_t from_ps, until_ps; /* of its end: not included */
};

/* Fields are those of struct packet. A PFC frame's quanta are UINT32_MAX where a pause lasts until it is
 * resumed. */
struct sim_captured {
    int64_t time_ps;
    uint32_t place; /* 2 * port + 1 if it was sent */
    uint32_t qp, psn;
    uint8_t kind, priority, flags; /* enum packet_kind, enum packet_flags */
};

/* In the order of times, then of ports, and of what was received before what was sent. */
struct sim_captured_at {
    uint64_t key;
    const struct sim_captured *frame;
};
/* The frames of the last sim_run_until: until the next one. */
size_t sim_captured(const struct sim *sim, const struct sim_captured_at **frames);
/* No more, from the next sim_run_until on. */
void sim_capture_stop(struct sim *sim);

/* What the frames of a queue pair have in common. Data goes from `sender` to `receiver`: of a read the sender
 * answers. */
struct sim_queue_pair {
    uint32_t flow, sender, receiver;
    enum sim_operation operation;
    uint32_t packets_per_message, payload_bytes, last_payload_bytes;
    int64_t message_bytes;
    /* UDP, of what the data's sender sends, and of what it receives, as switches hash them. Only while frames
     * are captured. */
    uint16_t source_port;
    uint32_t sender_address, receiver_address; /* IPv4, which switches hash */
};
size_t sim_queue_pairs(const struct sim *sim);
struct sim_queue_pair sim_queue_pair(const struct sim *sim, uint32_t qp);

/* The number of a port among its node's. */
uint32_t sim_port_number(const struct sim *sim, uint32_t port);
/* Bytes of a switch port's egress queue up to which it marks nothing; -1: it never marks. */
int64_t sim_port_kmin_bytes(const struct sim *sim, uint32_t port);

#endif
