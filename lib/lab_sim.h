/*
 * The physics that a simulated lab states: struct lab with LAB_SIM has hosts of struct lab_sim_host and
 * switches of struct lab_sim_switch. Values that many hosts share stand once in the lab's "defaults".
 */
#ifndef LIB_LAB_SIM_H
#define LIB_LAB_SIM_H

#include "lib/table.h"

struct lab_sim_nic {
    char *model;
    char *address;
    int64_t messages_per_s;     /* work requests started a second */
    int64_t send_latency_ps;    /* doorbell to first bit on the wire */
    int64_t receive_latency_ps; /* last bit to the PCIe write */
    int64_t port_buffer_bytes;
    int64_t cell_bytes; /* receive buffers are counted in cells */
    int64_t max_mtu;
    int64_t ack_every; /* packets an ACK */
};

struct lab_sim_pcie {
    int64_t gen, lanes;
    int64_t max_payload_bytes, max_read_request_bytes;
    int64_t tags;                /* reads in flight */
    int64_t posted_credit_bytes; /* posted writes in flight */
    int64_t latency_ps;          /* one way, endpoint to memory */
};

/* The path's stops: the memory behind it serves nothing for a while, now and then, under mixed load. */
struct lab_sim_stall {
    int64_t per_s;
    int64_t length_ps;
};

/* Memory as a service centre that reads and writes share. */
struct lab_sim_memory {
    int64_t write_bps, read_bps;
    int64_t latency_ps;
    struct lab_sim_stall stall;
};

struct lab_sim_host {
    char *name;
    struct lab_sim_nic nic;
    struct lab_sim_pcie pcie;
    struct lab_sim_memory memory;
    struct lab_sim_memory *gpu; /* NULL: none */
};

struct lab_sim_switch {
    char *name;
    int64_t buffer_bytes;
    int64_t headroom_bytes; /* a port and priority */
    int64_t latency_ps;
};

extern const struct table lab_sim_host_table;
extern const struct table lab_sim_switch_table;

#endif
