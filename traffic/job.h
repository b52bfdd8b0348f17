/*
 * The work of a driver: a job. One table (job_table.c) reads it from documents and command lines. A flow of a
 * job is a scenario's flow (lib/formats/flow.h) and what a host needs to run it: device, address, GPU and
 * parameters of the queue pairs.
 */
#ifndef TRAFFIC_JOB_H
#define TRAFFIC_JOB_H

#include "traffic/flow_plan.h"

#define TRAFFIC_MAX_SIZES 64

enum output_kind { OUTPUT_AUTO, OUTPUT_JSON, OUTPUT_TABLE };

/* Device, port, address and memory of this host; each side chooses its own. */
struct local_options {
    char *device;        /* "mlx5_0"; NULL: the one that has `address` */
    char *address;       /* local IP address on the RDMA network; NULL: that of the control connection */
    int64_t device_port; /* 0: the first active one */
    int64_t gid_index;   /* negative: chosen by type and address */
    int gid_type;        /* index into gid_type_names */
    char *gpu;           /* "0", or a PCI address; NULL: the first */
    int64_t numa_node;   /* negative: chosen by the kernel */
    int huge_pages;
};

/* Options of every subcommand. */
struct process_options {
    int64_t port; /* of control connections */
    int output;   /* enum output_kind */
    int while_stdin;
    char *secret_file; /* "-": standard input; NULL: no secret */
};

struct serve_options {
    struct process_options process;
    struct local_options local;
    char *listen; /* local address of the control connections; NULL: all with a secret, else loopback */
    int64_t max_memory_bytes; /* unset: half of the host's */
    int once;
};

/* A flow of a job. The message of `load` is unset: there may be several sizes. */
struct job_flow {
    struct scenario_flow load;
    struct local_options local;
    char *reverse, *message;
    int connection, peer_memory, pacing;
    int64_t peer_gpu;
    int bidirectional, latency;
    int64_t receive_depth, moderation, inline_bytes, post_list, slots;
    int ecn; /* index into ecn_names: the two bits; -1: not given */
    int64_t dscp, service_level, mtu_bytes;
    int64_t ack_timeout, retries, rnr_retries, rnr_timer;
    int64_t burst;
    int64_t duration_ns, count, warmup_ns, interval_ns, start_at_ns, peer_timeout_ns;
    int64_t flip; /* offset of a byte to corrupt before sending, to test validation */
};

struct job {
    int64_t schema;
    char *file; /* the document that the command line overrides; "-": standard input */
    char *host; /* host of the server, unless the command line names it */
    struct process_options process;
    int await_start;        /* standard input says when to start */
    struct job_flow common; /* options of all flows */
    json_t *flows; /* list of objects of job_flow_table; without it and without `written`: one flow */
    struct list_of written; /* char *: flows as texts "key=value ..." */
};

extern const struct table serve_table, routes_table; /* struct serve_options */
extern const struct table job_table,
    loop_table;                           /* struct job; the latter without what leads to another host */
extern const struct table job_flow_table; /* struct job_flow: one item of `flows` */
extern const char *const gid_type_names[];

/* A flow, ready to run. Free with drive_plan_free. */
struct drive_plan {
    struct plan plan;
    struct local_options local;
    int memory; /* this side's */
    int64_t sizes[TRAFFIC_MAX_SIZES];
    size_t size_count;
    int64_t duration_ns, count, warmup_ns, start_at_ns;
    int64_t post_from_ns, post_until_ns; /* since the common start; until 0: to the end */
};

/* The whole job of a command line (a document of job_table). With "job" it is that file's document,
 * overridden by the command line. A new reference. */
json_t *job_document(const json_t *said, struct error *e);
/* The flows of a job's document: one, or those that it lists. At most FLOW_MAX_TOGETHER. */
int job_plans(const json_t *job, struct drive_plan *flows, size_t *count, struct error *e);
void drive_plan_free(struct drive_plan *flow);
/* "64KiB", "2B..8MiB" (doubling), "2B,64B,1KiB". */
int job_sizes(const char *text, int64_t *sizes, size_t *count, struct error *e);

#endif
