/*
 * The physics of a simulated host: the values come from a lab's document (lib/formats/lab.h) and are the
 * configuration of the simulator (sim/sim.h). The tables in host.c define each value's meaning, range,
 * default and the source of the default; the defaults are an ideal host. Without a document, table_defaults
 * fills a struct.
 */
#ifndef LIB_PHYSICS_HOST_H
#define LIB_PHYSICS_HOST_H

#include "lib/document/table.h"
#include "lib/roce/dcqcn.h"

enum physics_pacing { PACING_QUEUE_PAIR, PACING_PORT };
enum physics_recovery { PHYSICS_GO_BACK_N, PHYSICS_SELECTIVE_REPEAT };
/* Ended by NULL; the firmwares are rows of lib/roce/retransmission.h. */
extern const char *const physics_pacing_names[], *const physics_recovery_names[],
                                                     *const physics_firmware_names[];
/* What a receiving NIC answers with CNPs besides CE marks. */
enum physics_unmarked_cnps { UNMARKED_CNPS_NEVER, UNMARKED_CNPS_LOSS, UNMARKED_CNPS_INGRESS };

/* What the port takes in: a bucket that leaks. A frame that finds it full begins a burst of loss, and the
 * bucket is empty again. */
struct physics_ingress {
    int64_t rate_bps;              /* of the leak, in bytes of frames; 0: the port takes in everything */
    int64_t depth_bytes;           /* of the bucket */
    int64_t loss_bytes;            /* of data frames that a burst loses, */
    int64_t loss_ps;               /* spread over this time */
    int64_t sending_bps;           /* while the port sends data at this rate or more, */
    int64_t rate_when_sending_bps; /* the bucket leaks at this one; FIELD_UNSET: no difference */
    int of_queue_pair;             /* each queue pair has a bucket of its own */
};

struct physics_nic {
    char *name;            /* in "nics"; NULL: of a node, which has its NIC alone */
    char *model, *address; /* a name of lib/physics/nic_models.h or a title; for display; NULL: unknown */
    int64_t messages_per_s, queue_pair_messages_per_s;
    int64_t tx_latency_ps, rx_latency_ps, completion_ps;
    struct physics_ingress ingress;
    int64_t tx_buffer_bytes;
    int64_t port_buffer_bytes;
    int64_t cell_bytes;
    int64_t max_mtu_bytes;
    int64_t pause_quanta;
    int64_t pause_refresh_percent;
    int64_t ack_every_packets;
    int ack_coalescing, ack_unpaused;
    int64_t ack_timeout_ps;
    int64_t nak_delay_ps;
    int64_t nak_again_ps; /* 0: a packet is asked for once */
    int64_t retry_count;  /* FIELD_UNSET: 7 with faults of links or frames, else without end */
    /* What register ROCE_ACCL switches, and what time-outs are then like */
    int adaptive_retransmission, min_ack_timeout_limit_disabled;
    int retransmission_firmware; /* enum retransmission_firmware */
    int slow_restart, slow_restart_on_nak;
    int counts_timeouts;
    int recovery; /* enum physics_recovery */
    int out_of_order_placement;
    int64_t reorder_wait_ps;
    int64_t rnr_retry, rnr_timer_ps;
    int64_t rnr_added_ps; /* FIELD_UNSET: as retransmission_firmware has it, or 0 */
    int64_t recovery_window_packets;
    int64_t max_reads;
    int64_t inline_bytes;
    int64_t payload_bytes;
    int64_t byte_reset_bytes; /* FIELD_UNSET: rpg_byte_reset */
    int congestion_on_ack;
    int gap_held;
    int cnp_pacing;    /* enum physics_pacing */
    int unmarked_cnps; /* enum physics_unmarked_cnps */
    int64_t unmarked_cnp_interval_ps, unmarked_cnp_bytes;
    int64_t cnp_delay_ps;
    int cnp_cuts_share, cnp_cuts_target;
    int64_t first_cnp_again_ps; /* 0: never */
    int64_t jitter_ps;
    int64_t burst_bytes;       /* 0: a packet */
    int dcqcn_profile;         /* enum dcqcn_profile */
    struct dcqcn_values dcqcn; /* unset: mlx5's defaults */
    struct physics_pcie *pcie; /* of its own slot, until the lab is expanded; NULL then */
    char *gpu;                 /* name of the nearest of the host's gpus; NULL: by their order */
};

/* The NIC's PCI Express link. */
struct physics_pcie {
    int64_t generation; /* 0: ideal */
    int64_t lanes;
    int64_t max_payload_bytes;
    int64_t max_read_request_bytes;
    int64_t completion_bytes;
    int64_t tags;
    int64_t posted_header_credits, posted_data_credits;
    int64_t latency_ps;
};

/* A memory as seen by the NIC's DMA: one service centre for reads and writes. An access of n bytes occupies
 * it for the larger of its access time and n / rate. */
struct physics_memory {
    char *name; /* in "gpus"; else NULL */
    int64_t write_bps, read_bps;
    int64_t write_access_ps, read_access_ps;
    int64_t write_latency_ps, read_latency_ps;
    /* Each block of interleave_bytes is in one of `banks` (both powers of two). A read occupies its bank for
     * bank_ps plus sector_ps for each 32 bytes. */
    int64_t banks, interleave_bytes;
    int64_t bank_ps, sector_ps;
    /* The path stalls for writes and reads, stalls_per_s times per second of mixed load (reads and writes
     * within stall_window_ps of each other), for an exponentially distributed time. */
    double stalls_per_s;
    int64_t stall_mean_ps, stall_window_ps;
    /* Packets on the device's own PCIe link (its rx and tx counters): payload and header bytes of one
     * packet. */
    int64_t device_write_bytes, device_read_bytes, device_completion_bytes;
    int64_t device_request_header_bytes, device_completion_header_bytes;
};

/* The program that posts and polls. */
struct physics_software {
    int64_t post_ps, poll_ps;
    int64_t jitter_ps;
    double spikes_per_turn;
    int64_t spike_ps, spike_floor_ps;
};

struct physics_host {
    char *name;
    char *machine; /* that it is a node of, one for each NIC; NULL: it is all of its machine */
    struct physics_nic nic;
    struct physics_pcie pcie;
    struct physics_memory memory;
    struct physics_memory *gpu; /* NULL: none */
    struct list_of nics, gpus;  /* empty once the lab is expanded */
    struct physics_software software;
};

/* Bytes of a packet in addition to its payload: the same on all of a lab's links. */
struct physics_framing {
    int64_t gap_bytes;
    int64_t data_bytes, pad_bytes;
    int64_t reth_bytes, aeth_bytes, immediate_bytes;
    int64_t ack_bytes, cnp_bytes, pfc_bytes;
    int64_t ack_minimum_bytes, minimum_bytes;
};

extern const struct table physics_nic_table, physics_pcie_table, physics_memory_table, physics_software_table,
    physics_host_table, physics_framing_table;

#endif
