#include "lib/formats/flow.h"

#include "lib/clock.h"
#include "lib/formats/traffic_tools.h"
#include <inttypes.h>
#include <string.h>

const char *const flow_op_names[] = {"write", "write-imm", "read", "send", NULL};
const char *const flow_mode_names[] = {"bandwidth", "latency", NULL};
const char *const flow_memory_names[] = {
    "host",       "gpu",         "rm-dmabuf",      "cuda-dmabuf", "cuda-peermem",
    "rm-peermem", "cuda-nv503c", "virtual-dmabuf", NULL};

#define TOOL_NAME(name) #name,
const char *const flow_tool_names[] = {TRAFFIC_TOOLS(TOOL_NAME) NULL};

#define CACHE_LINE 64

bool flow_in_gpu_memory(int memory)
{
    return memory > MEMORY_HOST;
}

int64_t flow_stride_bytes(int64_t message_bytes)
{
    return (message_bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

int flow_check_memory(int64_t message_bytes, int64_t queue_pairs, int64_t slots, const char *path,
                      struct error *e)
{
    int64_t memory;
    if (!__builtin_mul_overflow(flow_stride_bytes(message_bytes), slots * queue_pairs, &memory) &&
        memory <= FLOW_MAX_MEMORY_BYTES)
        return 0;
    return error_set(e,
                     "%s: %" PRId64 " queue pairs with %" PRId64 " messages of %" PRId64
                     " bytes each need more than %lld GiB of memory: expected fewer queue pairs, a smaller "
                     "message or fewer slots",
                     path, queue_pairs, slots, message_bytes, FLOW_MAX_MEMORY_BYTES >> 30);
}

int flow_check(const struct scenario_flow *flow, const char *path, struct error *e)
{
    if (flow->from && flow->to && strcmp(flow->from, flow->to) == 0)
        return error_set(e, "%s: role \"%s\" sends to itself: expected two different roles", path,
                         flow->from);
    if (flow->stop_ns != FIELD_UNSET && flow->stop_ns <= flow->start_ns)
        return error_set(e, "%s.stop: the flow would end before it starts", path);
    if (flow->mode == MODE_LATENCY && flow->queue_pairs != 1)
        return error_set(
            e, "%s.queue_pairs: mode latency sends one message at a time on one queue pair, found %" PRId64,
            path, flow->queue_pairs);
    return 0;
}

int flow_check_on_hosts(const struct scenario_flow *flow, const char *path, struct error *e)
{
    bool written = flow->mode == MODE_LATENCY && flow->op == OP_WRITE;
    if (written && flow->validate == 1)
        return error_set(e,
                         "%s.validate: mode latency with op write writes a counter into the last byte of its "
                         "messages, which validate would report as an error: use op write-imm, read or send",
                         path);
    if (flow->mode == MODE_LATENCY && flow->rate_bps != FIELD_UNSET)
        return error_set(e, "%s.rate: a rate limit requires mode bandwidth", path);
    if (written && flow_in_gpu_memory(flow->memory))
        return error_set(
            e,
            "%s.memory: mode latency with op write polls memory with the CPU, which cannot access "
            "the GPU's: use op write-imm or send",
            path);
    return flow_check_memory(flow->message_bytes, flow->queue_pairs, 1, path, e);
}

/* ---- the scenario's table */

#define AT(member) .offset = offsetof(struct flow_wait, member)
static const struct field wait_fields[] = {
    {"flow", FIELD_STRING, AT(flow), .required = true, .help = "Name of a flow that has a size."},
    {"delay", FIELD_QUANTITY, AT(delay_ns), .unit = UNIT_TIME_NS, .min = 0, .max = FLOW_MAX_TIME_NS,
     .fallback = "\"0\"", .help = "Time from the end of that flow on, such as that of a computation."},
    {0},
};
static const struct table wait_table = {"scenario.flow.after", "A flow that comes before.",
                                        sizeof(struct flow_wait), wait_fields, NULL};
#undef AT

#define AT(member) .offset = offsetof(struct scenario_flow, member)

static int check(const void *object, const char *path, struct error *e)
{
    return flow_check(object, path, e);
}

static const struct field fields[] = {
    {"name", FIELD_STRING, AT(name), .required = true, .form = &form_role,
     .help = "Unique name of the flow."},
    {"from", FIELD_STRING, AT(from), .required = true, .help = "Role that starts the operations."},
    {"to", FIELD_STRING, AT(to), .required = true, .help = "Role at the other end."},
    {"tool", FIELD_CHOICE, AT(tool), .choices = flow_tool_names,
     .help = "Traffic tool that runs the flow between real hosts; unset: roce."},
    FLOW_KIND_FIELDS(0),
    {"message", FIELD_QUANTITY, AT(message_bytes), .unit = UNIT_BYTES, .min = 1,
     .max = FLOW_MAX_MESSAGE_BYTES, .fallback = FLOW_MESSAGE_DEFAULT, .help = "Size of a message."},
    FLOW_LOAD_FIELDS(0),
    {"start", FIELD_QUANTITY, AT(start_ns), .unit = UNIT_TIME_NS, .min = 0, .max = FLOW_MAX_TIME_NS,
     .fallback = "\"0\"", .help = "Start time, from the beginning of the warm-up."},
    {"stop", FIELD_QUANTITY, AT(stop_ns), .unit = UNIT_TIME_NS, .min = 0, .max = FLOW_MAX_TIME_NS,
     .help = "End time, from the beginning of the warm-up. Default: the end of the measurement."},
    {"after", FIELD_LIST, AT(after), .item = FIELD_OBJECT, .sub = &wait_table, .min = 0, .max = 100000,
     .help =
         "Flows that come before: this one begins when all of them have ended (simulated labs). One that its "
         "sender receives has ended when its data is there, one that its sender sends when it is complete."},
    {0},
};

const struct table flow_table = {"scenario.flow", "A flow between two roles.", sizeof(struct scenario_flow),
                                 fields, check};
