/*
 * A flow, as scenarios describe it (docs/scenario.md), the simulator simulates it and traffic tools run it on
 * hosts. Only this file defines its names, limits and fields.
 */
#ifndef LIB_FLOW_H
#define LIB_FLOW_H

#include "lib/document/table.h"
#include <stdbool.h>

enum flow_op { OP_WRITE, OP_WRITE_IMM, OP_READ, OP_SEND };
enum flow_mode { MODE_BANDWIDTH, MODE_LATENCY };
/* MEMORY_GPU is GPU memory by the first route that works; the names after it are single routes
 * (docs/gpudirect-routes.md). */
enum flow_memory {
    MEMORY_HOST,
    MEMORY_GPU,
    MEMORY_RM_DMABUF,
    MEMORY_CUDA_DMABUF,
    MEMORY_CUDA_PEERMEM,
    MEMORY_RM_PEERMEM,
    MEMORY_CUDA_NV503C,
    MEMORY_VIRTUAL_DMABUF
};

/* The NUMA node on which a flow's thread runs and its host memory is, at both ends: the NIC's, or the one
 * farthest from it. */
enum flow_numa { NUMA_NEAR, NUMA_FAR };

extern const char *const flow_op_names[];
extern const char *const flow_mode_names[];
extern const char *const flow_memory_names[];
extern const char *const flow_numa_names[];
extern const char *const flow_tool_names[]; /* lib/formats/traffic_tools.h */

/* Flow names are in file names, expressions and every line. */
#define FLOW_MAX_NAME 100
/* The longest message of mlx5: its ports report log_max_msg = 30. */
#define FLOW_MAX_MESSAGE_BYTES (1LL << 30)
/* The queue pair numbers are sent to the other side in one control message of bounded length. For more load
 * use more flows. */
#define FLOW_MAX_QUEUE_PAIRS 1024
/* The depth that every version of Soft-RoCE supports: its limit RXE_MAX_QP_WR was 0x4000 before it was
 * raised. */
#define FLOW_MAX_DEPTH    16384
#define FLOW_MAX_PRIORITY 7
/* From far below one message per second to far above the rate of any link. */
#define FLOW_MIN_RATE_BPS   1000
#define FLOW_MAX_RATE_BPS   (1LL << 43)
#define FLOW_MAX_SIZE_BYTES (1LL << 50)
#define FLOW_MAX_TIME_NS    (86400LL * 1000000000)
/* Registered memory of a flow's messages on one side, for each direction. */
#define FLOW_MAX_MEMORY_BYTES (64LL << 30)

/* Largest number of flows of one driver process, and of all drivers of one server: each flow has a thread and
 * an RDMA device context at both ends. */
#define FLOW_MAX_TOGETHER 64

#define FLOW_MESSAGE_DEFAULT "\"64KiB\""
#define FLOW_DEPTH_DEFAULT   "128"

/* Where memory that stands for a GPU's (virtual-dmabuf) is registered. Labs state how slow the range is, so
 * nothing else may lie there: no guest has that much memory, and programs have their own far above. */
#define FLOW_VIRTUAL_GPU_ADDRESS (1ULL << 40)
#define FLOW_VIRTUAL_GPU_BYTES   (1ULL << 40)

/* A flow waits for others that end: for the data of one that comes to this flow's sender, else for its
 * completion at the sender of both. */
struct flow_wait {
    struct list_of flows; /* char *: names */
    int64_t delay_ns;     /* from then on */
};

/* One flow between two roles, endless unless it has a size or a stop. */
struct scenario_flow {
    char *name;
    char *from, *to;
    int tool;             /* index in flow_tool_names; -1 when unset */
    int op;               /* enum flow_op */
    int mode;             /* enum flow_mode: latency is ping-pong, half a round trip is reported */
    int memory;           /* enum flow_memory */
    int64_t gpu;          /* number at both ends, of memory gpu; unset: the nearest to the NIC */
    int numa;             /* enum flow_numa; -1: where the kernel puts them */
    int relaxed_ordering; /* of the NIC's writes in PCIe; -1: as the tool does by itself */
    int64_t message_bytes;
    int64_t queue_pairs;
    int64_t depth; /* messages in flight on each queue pair */
    int64_t priority;
    int64_t traffic_class;     /* DSCP and ECN bits; unset: the priority's DSCP, and ECT(0) if ECN is on */
    int validate;              /* fill with a pattern, check it at the receiver */
    int64_t rate_bps;          /* limit; unset: none */
    int64_t size_bytes;        /* the flow ends after this payload; unset: endless */
    int64_t gap_ns;            /* between bursts of `depth` messages; unset: no bursts */
    int64_t start_ns, stop_ns; /* since the beginning of the warm-up; stop unset: with the cool-down */
    struct list_of after; /* struct flow_wait: it begins when all of these are over, not before start_ns */
};

/*
 * The fields of a flow, for a table whose struct has a scenario_flow at `base`: the scenario's table, and
 * that of a program that runs the flow. There are two lists because the field `message` between them differs:
 * a program accepts several sizes.
 */
#define FLOW_KIND_FIELDS(base)                                                                              \
    {.name = "op",                                                                                          \
     .letter = 'o',                                                                                         \
     .kind = FIELD_CHOICE,                                                                                  \
     .offset = (base) + offsetof(struct scenario_flow, op),                                                 \
     .choices = flow_op_names,                                                                              \
     .fallback = "\"write\"",                                                                               \
     .help = "RDMA operation."},                                                                            \
        {.name = "mode",                                                                                    \
         .kind = FIELD_CHOICE,                                                                              \
         .offset = (base) + offsetof(struct scenario_flow, mode),                                           \
         .choices = flow_mode_names,                                                                        \
         .fallback = "\"bandwidth\"",                                                                       \
         .help = "Measure bandwidth or latency. bandwidth: keep the queue full. latency: send one message " \
                 "at a time and report half the round trip."},                                              \
        {.name = "memory",                                                                                  \
         .letter = 'm',                                                                                     \
         .kind = FIELD_CHOICE,                                                                              \
         .offset = (base) + offsetof(struct scenario_flow, memory),                                         \
         .choices = flow_memory_names,                                                                      \
         .fallback = "\"host\"",                                                                            \
         .help = "Memory of the buffers at both ends. gpu: GPU memory by the first route that works; the "  \
                 "others are single routes to GPU memory."},                                                \
        {.name = "numa",                                                                                    \
         .kind = FIELD_CHOICE,                                                                              \
         .offset = (base) + offsetof(struct scenario_flow, numa),                                           \
         .choices = flow_numa_names,                                                                        \
         .help = "NUMA node on which the flow's thread runs and its host memory is, at both ends. near: "   \
                 "that of the NIC; far: the one farthest from it. Default: chosen by the kernel."},         \
    {                                                                                                       \
        .name = "relaxed_ordering", .kind = FIELD_BOOL,                                                     \
        .offset = (base) + offsetof(struct scenario_flow, relaxed_ordering),                                \
        .help = "Let PCIe reorder the NIC's writes into the buffers, at both ends. Default: as the "        \
                "program does by itself: roce-traffic no, perftest yes."                                    \
    }

#define FLOW_LOAD_FIELDS(base)                                                                               \
    {.name = "queue_pairs",                                                                                  \
     .letter = 'q',                                                                                          \
     .kind = FIELD_INTEGER,                                                                                  \
     .offset = (base) + offsetof(struct scenario_flow, queue_pairs),                                         \
     .min = 1,                                                                                               \
     .max = FLOW_MAX_QUEUE_PAIRS,                                                                            \
     .fallback = "1",                                                                                        \
     .help = "Number of queue pairs."},                                                                      \
        {.name = "depth",                                                                                    \
         .kind = FIELD_INTEGER,                                                                              \
         .offset = (base) + offsetof(struct scenario_flow, depth),                                           \
         .min = 1,                                                                                           \
         .max = FLOW_MAX_DEPTH,                                                                              \
         .fallback = FLOW_DEPTH_DEFAULT,                                                                     \
         .help = "Number of messages in flight on each queue pair."},                                        \
        {.name = "priority",                                                                                 \
         .kind = FIELD_INTEGER,                                                                              \
         .offset = (base) + offsetof(struct scenario_flow, priority),                                        \
         .min = 0,                                                                                           \
         .max = FLOW_MAX_PRIORITY,                                                                           \
         .fallback = "0",                                                                                    \
         .help = "Priority of the packets."},                                                                \
        {.name = "traffic_class",                                                                            \
         .kind = FIELD_INTEGER,                                                                              \
         .offset = (base) + offsetof(struct scenario_flow, traffic_class),                                   \
         .min = 0,                                                                                           \
         .max = 255,                                                                                         \
         .help = "The IP header's DSCP and ECN bits as one value: DSCP times 4 plus the ECN bits. Default "  \
                 "in a scenario: the priority's DSCP, and ECT(0) if ECN is on; otherwise 0."},               \
        {.name = "validate",                                                                                 \
         .letter = 'v',                                                                                      \
                                                                                                             \
         .kind = FIELD_BOOL,                                                                                 \
         .offset = (base) + offsetof(struct scenario_flow, validate),                                        \
         .fallback = "false",                                                                                \
         .help = "Fill messages with a pattern and check it at the receiver."},                              \
        {.name = "rate",                                                                                     \
         .kind = FIELD_QUANTITY,                                                                             \
         .offset = (base) + offsetof(struct scenario_flow, rate_bps),                                        \
         .unit = UNIT_RATE_BPS,                                                                              \
         .min = FLOW_MIN_RATE_BPS,                                                                           \
         .max = FLOW_MAX_RATE_BPS,                                                                           \
         .help =                                                                                             \
             "Limit of the payload rate. What is late behind other frames or pauses is made up for in a "    \
             "burst: simulated, of at most 64 KiB and a packet of each queue pair of the sender; by "        \
             "roce-traffic, of less than a message. The rest is lost to the rate."},                         \
    {                                                                                                        \
        .name = "size", .kind = FIELD_QUANTITY,                                                              \
        .offset = (base) + offsetof(struct scenario_flow, size_bytes), .unit = UNIT_BYTES, .min = 1,         \
        .max = FLOW_MAX_SIZE_BYTES,                                                                          \
        .help = "The flow ends after this amount of payload, rounded up to whole messages, which its queue " \
                "pairs share; less than a message is one message of this size. Default: endless."            \
    }

extern const struct table flow_table; /* struct scenario_flow */

bool flow_in_gpu_memory(int memory);

/* Check what the ranges of single fields cannot, for simulator and hosts alike. Returns 0, or -1 with a
 * sentence that begins with `path`. */
int flow_check(const struct scenario_flow *flow, const char *path, struct error *e);
/* Refuse what the simulator supports but real queue pairs do not. */
int flow_check_on_hosts(const struct scenario_flow *flow, const char *path, struct error *e);
/* Check that a flow's messages on one side take at most FLOW_MAX_MEMORY_BYTES: `slots` messages for each
 * queue pair, each in separate cache lines. */
int flow_check_memory(int64_t message_bytes, int64_t queue_pairs, int64_t slots, const char *path,
                      struct error *e);
int64_t flow_stride_bytes(int64_t message_bytes);

/* ---- flows that wait for flows */

/* Do the flows (struct scenario_flow) wait for flows that there are, that end, and whose end their sender
 * sees? And does each of them begin at some time? */
int flow_order_check(const struct list_of *flows, struct error *e);

/* How many flows this one waits for. */
size_t flow_order_waits(const struct scenario_flow *flow);
/* The index of each flow that is waited for, flow by flow, in the order in which "after" names them. The
 * caller frees; NULL: out of memory. Only after the check. */
size_t *flow_order_indices(const struct list_of *flows, size_t *count);

#endif
