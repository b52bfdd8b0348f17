/*
 * The physics that a simulated lab states, for sim/sim.h: struct lab with LAB_SIM has hosts of struct
 * lab_sim_host and switches of struct lab_sim_switch. What a lab does not say is the simulator's default:
 * ideal. Values that many hosts share stand once in the lab's "defaults".
 */
#ifndef LIB_LAB_SIM_H
#define LIB_LAB_SIM_H

#include "lib/table.h"

/* A simulated NIC. */
struct lab_sim_nic {
    char *model;
    char *address;
    int64_t messages_per_s;
    int64_t tx_latency_ps;
    int64_t rx_latency_ps;
    int64_t tx_buffer_bytes;
    int64_t port_buffer_bytes;
    int64_t cell_bytes;
    int64_t max_mtu_bytes;
    int64_t pause_quanta;
    int64_t pause_refresh_percent;
    int64_t ack_every_packets;
    int ack_coalescing;
    int ack_unpaused;
    int64_t ack_timeout_ps;
    int64_t max_reads;
    int64_t inline_bytes;
};

/* The NIC's PCI Express link. */
struct lab_sim_pcie {
    int64_t generation;
    int64_t lanes;
    int64_t max_payload_bytes;
    int64_t max_read_request_bytes;
    int64_t completion_bytes;
    int64_t tags;
    int64_t posted_header_credits;
    int64_t posted_data_credits;
    int64_t latency_ps;
};

/* A memory as the NIC's DMA meets it: one service centre that reads and writes share. */
struct lab_sim_memory {
    int64_t write_bps;
    int64_t read_bps;
    int64_t write_access_ps;
    int64_t read_access_ps;
    int64_t write_latency_ps;
    int64_t read_latency_ps;
    int64_t banks;
    int64_t interleave_bytes;
    int64_t bank_ps;
    int64_t sector_ps;
    double stalls_per_s;
    int64_t stall_mean_ps;
    int64_t stall_window_ps;
    int64_t device_write_bytes;
    int64_t device_read_bytes;
    int64_t device_completion_bytes;
    int64_t device_request_header_bytes;
    int64_t device_completion_header_bytes;
};

/* The program that posts and polls. */
struct lab_sim_software {
    int64_t post_ps;
    int64_t poll_ps;
    int64_t jitter_ps;
    double spikes_per_turn;
    int64_t spike_ps;
    int64_t spike_floor_ps;
};

/* Bytes that a packet occupies beside its payload. */
struct lab_sim_framing {
    int64_t gap_bytes;
    int64_t data_bytes;
    int64_t reth_bytes;
    int64_t aeth_bytes;
    int64_t ack_bytes;
    int64_t cnp_bytes;
    int64_t pfc_bytes;
    int64_t minimum_bytes;
};

struct lab_sim_host {
    char *name;
    struct lab_sim_nic nic;
    struct lab_sim_pcie pcie;
    struct lab_sim_memory memory;
    struct lab_sim_memory *gpu; /* NULL: none */
    struct lab_sim_software software;
};

struct lab_sim_switch {
    char *name;
    int64_t buffer_bytes;
    int64_t headroom_bytes; /* a port and priority; unset: by rate and delay of the link */
    int64_t latency_ps;
};

extern const struct table lab_sim_host_table;
extern const struct table lab_sim_switch_table;
extern const struct table lab_sim_framing_table;

#endif
