/* A host that forwards in software: RX rings, interrupt moderation, one softirq CPU, qdiscs. */
#ifndef SIM_BRIDGE_H
#define SIM_BRIDGE_H

#include "sim/fabric/byte_queue.h"
#include "sim/fabric/fabric.h"
#include "sim/model.h"

struct bridge_port {
    /* receive */
    struct packet_list ring;
    uint32_t ring_count;
    uint32_t received, sent; /* frames since interrupts were switched on, or the CPU looked */
    uint32_t found;          /* frames that this interrupt's polls have found */
    uint32_t interrupt_event;
    uint8_t level;      /* of interrupt moderation */
    bool polling;       /* interrupts are off, the port is in the CPU's list */
    uint32_t next_poll; /* port; NONE */
    /* transmit */
    struct packet_list backlog; /* the qdisc */
    int64_t backlog_bytes;
    struct byte_queue device; /* bytes given to the device */
    int64_t sent_bytes;       /* of these, sent and not yet completed */
    struct red red;
    int64_t rx_out_of_buffer, fifo_drops;
};

struct bridge {
    struct sim_bridge_config config;
    uint32_t *ports;
    uint32_t port_count;
    uint32_t first_poll, last_poll; /* ports to poll; NONE */
    uint32_t budget_left;
    uint32_t softirq_event;
    uint32_t in_work; /* the port whose first frame the CPU is processing; NONE: it is waking up */
    bool busy;
    int64_t busy_since_ps, busy_ps;
    struct sim_counter *columns;
    char *column_names;
    size_t column_count;
};

int bridges_build(struct sim *sim, const struct sim_config *config, struct error *e);
void bridges_free(struct sim *sim);
void bridge_receive(struct sim *sim, uint32_t in, uint32_t p);
void bridge_departed(struct sim *sim, uint32_t out, uint32_t p); /* the device has sent it */
void bridge_interrupt(struct sim *sim, uint32_t port);           /* EVENT_INTERRUPT */
void bridge_softirq(struct sim *sim,
                    uint32_t index); /* EVENT_SOFTIRQ: the CPU is done with a frame, or woke */

#endif
