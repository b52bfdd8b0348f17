/*
 * What a driver is asked to do: a job. One table (job_table.c) reads it from a document and from a command line. A flow of a job is a
 * scenario's flow (lib/formats/flow.h) with what a host needs to run it: which device, address and GPU, and how queue pairs are set up.
 */
#ifndef TRAFFIC_JOB_H
#define TRAFFIC_JOB_H

#include "traffic/flow_plan.h"

#define TRAFFIC_MAX_SIZES 64

enum output_kind { OUTPUT_AUTO, OUTPUT_JSON, OUTPUT_TABLE };

/* Which device, port, address and memory of this host: each side has its own. */
struct local_options {
    char *device;        /* "mlx5_0"; NULL: the one that has `address` */
    char *address;       /* an IP address of the RDMA network here; NULL: that of the control connection */
    int64_t device_port; /* 0: the first active one */
    int64_t gid_index;   /* negative: chosen by type and address */
    int gid_type;        /* index into gid_type_names */
    char *gpu;           /* "0", or a PCI address; NULL: the first */
    int64_t numa_node;   /* negative: wherever the kernel takes it */
    int huge_pages;
};

/* What every subcommand takes. */
struct process_options {
    int64_t port; /* of control connections */
    int output;   /* enum output_kind */
    int while_stdin;
};

struct serve_options {
    struct process_options process;
    struct local_options local;
    char *listen; /* local address of the control connections; NULL: all */
    int once;
};

/* A flow of a job. The message of `load` is unset: there may be several sizes. */
struct job_flow {
    struct scenario_flow load;
    struct local_options local;
    char *reverse, *message;
    int connection, peer_memory, pacing;
    int bidirectional, latency, relaxed_ordering;
    int64_t receive_depth, moderation, inline_bytes, post_list, slots;
    int ecn; /* index into ecn_names: the two bits; -1: not given */
    int64_t dscp, service_level, mtu_bytes;
    int64_t ack_timeout, retries, rnr_retries, rnr_timer;
    int64_t burst;
    int64_t duration_ns, count, warmup_ns, interval_ns, start_at_ns, peer_timeout_ns;
    int64_t flip; /* offset of a byte to spoil before sending: shows that validation finds it */
};

struct job {
    int64_t schema;
    char *file; /* the document with the rest, over which the command line goes; "-": standard input */
    char *host; /* where the server is, unless the command line says */
    struct process_options process;
    struct job_flow common; /* of all flows */
    json_t *flows; /* list of objects, rows of job_flow_table; none of these and no `written`: one flow */
    struct list_of written; /* char *: the same as "key=value ..." */
};

extern const struct table serve_table;    /* struct serve_options */
extern const struct table job_table;      /* struct job */
extern const struct table job_flow_table; /* struct job_flow: one item of `flows` */
extern const char *const gid_type_names[];

/* A flow as it is run. Free with drive_plan_free. */
struct drive_plan {
    struct plan plan;
    struct local_options local;
    int memory; /* this side's */
    int64_t sizes[TRAFFIC_MAX_SIZES];
    size_t size_count;
    int64_t duration_ns, count, warmup_ns, start_at_ns;
};

/* The whole job of what a command line says (a document of job_table): with "job" it is that file's document, with what the command
 * line says over it. A new reference. */
json_t *job_document(const json_t *said, struct error *e);
/* The flows that a job's document asks for: one, or those that it lists. At most FLOW_MAX_TOGETHER. */
int job_plans(const json_t *job, struct drive_plan *flows, size_t *count, struct error *e);
void drive_plan_free(struct drive_plan *flow);
/* "64KiB", "2B..8MiB" (doubling), "2B,64B,1KiB". */
int job_sizes(const char *text, int64_t *sizes, size_t *count, struct error *e);

#endif
