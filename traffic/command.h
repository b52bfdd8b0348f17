/* The command lines of roce-traffic's subcommands. */
#ifndef TRAFFIC_COMMAND_H
#define TRAFFIC_COMMAND_H

#include "lib/document/arguments.h"
#include "traffic/flow_plan.h"

#define TRAFFIC_MAX_FLOWS 64
#define TRAFFIC_MAX_SIZES 64

enum output_kind { OUTPUT_AUTO, OUTPUT_JSON, OUTPUT_TABLE };

/* Which device, port, address and memory of this host: each side has its own. */
struct local_options {
    const char *device;  /* "mlx5_0"; NULL: the one that has `address` */
    const char *address; /* an IP address of the RDMA network here; NULL: that of the control connection */
    int64_t device_port; /* 0: the first active one */
    int64_t gid_index;   /* -1: chosen by type and address */
    int gid_type;        /* index into gid_type_names */
    const char *gpu;     /* "0", or a PCI address; NULL: the first */
    int64_t numa_node;   /* -1: wherever the kernel takes it */
    int huge_pages;
};

/* One flow. --flow "name=x op=read" takes the same names as the options, over what the options say. */
struct flow_options {
    struct local_options local;
    const char *name, *reverse, *message;
    int operation, mode, connection, memory, peer_memory, pacing;
    int bidirectional, validate, latency, relaxed_ordering;
    int64_t queue_pairs, depth, receive_depth, moderation, inline_bytes, post_list, slots;
    int ecn; /* index into ecn_names: the two bits; -1: not given */
    int64_t dscp, traffic_class, service_level, mtu_bytes;
    int64_t ack_timeout, retries, rnr_retries, rnr_timer;
    int64_t rate_bps, burst;
    int64_t duration_ns, count, warmup_ns, interval_ns, start_at_ns, peer_timeout_ns;
    int64_t flip; /* offset of a byte to spoil before sending: shows that validation finds it; -1: none */
};

struct traffic_options {
    struct flow_options flow;
    struct list_of flows;
    const char *listen; /* serve: local address of the control connections */
    int64_t port;       /* control connections */
    int output;
    int while_stdin, once;
};

/* A flow as it is run. Free with drive_plan_free. */
struct drive_plan {
    struct plan plan;
    struct local_options local;
    int memory; /* this side's */
    int64_t sizes[TRAFFIC_MAX_SIZES];
    size_t size_count;
    int64_t duration_ns, count, warmup_ns, start_at_ns;
};

extern const char *const gid_type_names[];

/* The command lines, of serve and routes, and of drive and loop; both fill a struct traffic_options. */
extern const struct table traffic_serve_table, traffic_drive_table;
/* Choose what was not given. */
void traffic_local_defaults(struct local_options *local);

/* The flows that a command line of traffic_drive_table says (arguments_read): one, or one a --flow. At most TRAFFIC_MAX_FLOWS. */
int traffic_flows(const json_t *said, struct drive_plan *flows, size_t *count, struct error *e);
void drive_plan_free(struct drive_plan *flow);
/* "64KiB", "2B..8MiB" (doubling), "2B,64B,1KiB". */
int traffic_sizes(const char *text, int64_t *sizes, size_t *count, struct error *e);

#endif
