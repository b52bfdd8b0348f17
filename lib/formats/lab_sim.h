/*
 * The physics that a simulated lab states, for sim/sim.h: struct lab with LAB_SIM has hosts of struct
 * lab_sim_host and switches of struct lab_sim_switch. What a lab does not say is the simulator's default:
 * ideal. Values that many hosts share stand once in the lab's "defaults".
 */
#ifndef LIB_LAB_SIM_H
#define LIB_LAB_SIM_H

#include "lib/formats/settings.h"
#include "lib/document/table.h"

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
    int64_t payload_bytes;
    int64_t byte_reset_bytes;
    int congestion_on_ack;
    int gap_held;
    int cnp_pacing; /* enum lab_sim_pacing */
    struct settings_dcqcn dcqcn;
};
enum lab_sim_pacing { PACING_QUEUE_PAIR, PACING_PORT };

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

/* ECN marking of a switch's queues; kmin, kmax and pmax where a scenario's settings do not say. */
struct lab_sim_ecn {
    int64_t kmin_bytes, kmax_bytes;
    double pmax;
    int64_t reference_bps;
    int at; /* enum lab_sim_ecn_at */
};
enum lab_sim_ecn_at { ECN_AT_DEQUEUE, ECN_AT_ENQUEUE };

struct lab_sim_watchdog {
    int64_t detect_ps, restore_ps;
    int action; /* enum lab_sim_watchdog_action */
};
enum lab_sim_watchdog_action { WATCHDOG_DROP, WATCHDOG_FORWARD };

/* What makes a switch a host that forwards in software. */
struct lab_sim_forwarding {
    int64_t rx_ring;
    int64_t coalesce_ps;
    int64_t coalesce_frames;
    int adaptive;
    int64_t interrupt_ps, frame_ps;
    int64_t budget;
    int64_t tx_limit_bytes, fifo_bytes;
};

struct lab_sim_switch {
    char *name;
    int64_t buffer_bytes;
    int64_t reserve_bytes;
    double xoff_alpha;
    int64_t xoff_bytes;
    int alpha_follows_rate;
    int64_t xon_offset_bytes;
    int64_t headroom_bytes; /* a port and priority; unset: by rate and delay of the link */
    double headroom_delays;
    int64_t pause_quanta, pause_refresh_percent;
    double lossy_alpha;
    struct lab_sim_ecn ecn;
    int64_t latency_ps;
    int64_t ecmp_seed;
    struct lab_sim_watchdog watchdog;
    struct lab_sim_forwarding *software; /* NULL: a switch */
};

extern const struct table lab_sim_host_table;
extern const struct table lab_sim_switch_table;
extern const struct table lab_sim_framing_table;

#endif
