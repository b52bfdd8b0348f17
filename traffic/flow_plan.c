#include "traffic/flow_plan.h"

#include <inttypes.h>
#include <string.h>

const char *const connection_names[] = {"tcp", "rdma", NULL};
const char *const pacing_names[] = {"auto", "hardware", "software", NULL};

/* Above this size the cost of one completion for each message is negligible; perftest uses the same limit
 * (8192). */
#define MODERATE_UP_TO_BYTES 8192
#define MODERATE_MESSAGES \
    64 /* largest number of completed messages of a flow that its counters do not show yet */
#define MODERATE_AT_LEAST 4

bool operation_is_two_sided(int operation)
{
    return operation == OP_SEND || operation == OP_WRITE_IMM;
}

int64_t plan_stride(const struct plan *plan)
{
    return flow_stride_bytes(plan->max_message_bytes);
}

int64_t plan_half_bytes(const struct plan *plan)
{
    return plan_stride(plan) * plan->slots * plan->queue_pairs;
}

bool plan_sends(const struct plan *plan, bool driver)
{
    if (plan->mode == MODE_LATENCY)
        return driver || plan->operation != OP_READ;
    return driver || plan->bidirectional;
}

bool plan_receives(const struct plan *plan, bool driver)
{
    return operation_is_two_sided(plan->operation) && plan_sends(plan, !driver);
}

bool plan_has_outgoing(const struct plan *plan, bool driver)
{
    return plan_sends(plan, plan->operation == OP_READ ? !driver : driver);
}

bool plan_has_incoming(const struct plan *plan, bool driver)
{
    return plan_has_outgoing(plan, !driver);
}

/* As mlx5 has them: a queue's entry without inline data, a completion, and what a queue pair has besides its
 * queues. */
#define SEND_BYTES       192
#define RECEIVE_BYTES    64
#define COMPLETION_BYTES 64
#define QUEUE_PAIR_BYTES 16384

int64_t plan_memory_bytes(const struct plan *plan, bool driver)
{
    int64_t halves = plan_has_outgoing(plan, driver) + plan_has_incoming(plan, driver);
    int64_t receive_bytes = COMPLETION_BYTES + (plan_receives(plan, driver) ? RECEIVE_BYTES : 0);
    int64_t sends_bytes = (plan->depth + 1) * (SEND_BYTES + COMPLETION_BYTES + plan->inline_bytes),
            receives_bytes = (plan->receive_depth + 1) * receive_bytes;
    return halves * plan_half_bytes(plan) +
           plan->queue_pairs * (QUEUE_PAIR_BYTES + sends_bytes + receives_bytes);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t plan_moderation(const struct plan *plan, int64_t message_bytes)
{
    int64_t half = plan->depth / 2 > 0 ? plan->depth / 2 : 1, share = MODERATE_MESSAGES / plan->queue_pairs;
    if (plan->moderation)
        return smaller(plan->moderation, plan->depth);
    if (message_bytes > MODERATE_UP_TO_BYTES || plan->rate_bps)
        return 1;
    return smaller(half, share > MODERATE_AT_LEAST ? share : MODERATE_AT_LEAST);
}

/* Checks beyond the ranges of single fields. The server accepts only offers that pass them. */
static int check_flow(const void *object, const char *path, struct error *e)
{
    const struct plan *plan = object;
    (void)path;
    if (strlen(plan->flow) > FLOW_MAX_NAME || strlen(plan->reverse) > FLOW_MAX_NAME)
        return error_set(e, "a flow's name is longer than %d bytes", FLOW_MAX_NAME);
    if (plan->mode == MODE_LATENCY && (plan->queue_pairs != 1 || plan->bidirectional))
        return error_set(e, "mode latency uses one queue pair and both directions: leave out "
                            "bidirectional and several queue pairs");
    if (plan->post_list > plan->depth)
        return error_set(e, "a post list of %" PRId64 " is longer than the depth %" PRId64, plan->post_list,
                         plan->depth);
    return flow_check_memory(plan->max_message_bytes, plan->queue_pairs, plan->slots, "the flow", e);
}

#define AT(member) offsetof(struct plan, member)

static const struct field plan_fields[] = {
    {.name = "flow", .kind = FIELD_STRING, .offset = AT(flow), .required = true},
    {.name = "reverse", .kind = FIELD_STRING, .offset = AT(reverse), .required = true},
    {.name = "operation",
     .kind = FIELD_CHOICE,
     .offset = AT(operation),
     .required = true,
     .choices = flow_op_names},
    {.name = "mode", .kind = FIELD_CHOICE, .offset = AT(mode), .required = true, .choices = flow_mode_names},
    {.name = "connection",
     .kind = FIELD_CHOICE,
     .offset = AT(connection),
     .required = true,
     .choices = connection_names},
    {.name = "memory",
     .kind = FIELD_CHOICE,
     .offset = AT(memory),
     .required = true,
     .choices = flow_memory_names},
    {.name = "gpu", .kind = FIELD_INTEGER, .offset = AT(gpu), .min = 0, .max = 63},
    {.name = "numa", .kind = FIELD_CHOICE, .offset = AT(numa), .choices = flow_numa_names},
    {.name = "pacing", .kind = FIELD_CHOICE, .offset = AT(pacing), .required = true, .choices = pacing_names},
    {.name = "bidirectional", .kind = FIELD_BOOL, .offset = AT(bidirectional), .required = true},
    {.name = "validate", .kind = FIELD_BOOL, .offset = AT(validate), .required = true},
    {.name = "latency", .kind = FIELD_BOOL, .offset = AT(latency), .required = true},
    {.name = "relaxed_ordering", .kind = FIELD_BOOL, .offset = AT(relaxed_ordering), .required = true},
    {.name = "max_message_bytes",
     .kind = FIELD_INTEGER,
     .offset = AT(max_message_bytes),
     .required = true,
     .min = 1,
     .max = FLOW_MAX_MESSAGE_BYTES},
    {.name = "queue_pairs",
     .kind = FIELD_INTEGER,
     .offset = AT(queue_pairs),
     .required = true,
     .min = 1,
     .max = FLOW_MAX_QUEUE_PAIRS},
    {.name = "depth",
     .kind = FIELD_INTEGER,
     .offset = AT(depth),
     .required = true,
     .min = 1,
     .max = FLOW_MAX_DEPTH},
    {.name = "receive_depth",
     .kind = FIELD_INTEGER,
     .offset = AT(receive_depth),
     .required = true,
     .min = 1,
     .max = FLOW_MAX_DEPTH},
    {.name = "moderation",
     .kind = FIELD_INTEGER,
     .offset = AT(moderation),
     .required = true,
     .min = 0,
     .max = FLOW_MAX_DEPTH},
    {.name = "inline_bytes",
     .kind = FIELD_INTEGER,
     .offset = AT(inline_bytes),
     .required = true,
     .min = 0,
     .max = PLAN_MAX_INLINE_BYTES},
    {.name = "post_list",
     .kind = FIELD_INTEGER,
     .offset = AT(post_list),
     .required = true,
     .min = 1,
     .max = FLOW_MAX_DEPTH},
    {.name = "slots",
     .kind = FIELD_INTEGER,
     .offset = AT(slots),
     .required = true,
     .min = 1,
     .max = PLAN_MAX_SLOTS},
    {.name = "traffic_class",
     .kind = FIELD_INTEGER,
     .offset = AT(traffic_class),
     .required = true,
     .min = 0,
     .max = 255},
    {.name = "service_level",
     .kind = FIELD_INTEGER,
     .offset = AT(service_level),
     .required = true,
     .min = 0,
     .max = PLAN_MAX_SERVICE_LEVEL},
    {.name = "mtu_bytes",
     .kind = FIELD_INTEGER,
     .offset = AT(mtu_bytes),
     .required = true,
     .min = 0,
     .max = PLAN_MAX_MTU_BYTES},
    {.name = "ack_timeout",
     .kind = FIELD_INTEGER,
     .offset = AT(ack_timeout),
     .required = true,
     .min = 0,
     .max = PLAN_MAX_TIMER},
    {.name = "retries",
     .kind = FIELD_INTEGER,
     .offset = AT(retries),
     .required = true,
     .min = 0,
     .max = PLAN_MAX_RETRIES},
    {.name = "rnr_retries",
     .kind = FIELD_INTEGER,
     .offset = AT(rnr_retries),
     .required = true,
     .min = 0,
     .max = PLAN_MAX_RETRIES},
    {.name = "rnr_timer",
     .kind = FIELD_INTEGER,
     .offset = AT(rnr_timer),
     .required = true,
     .min = 0,
     .max = PLAN_MAX_TIMER},
    {.name = "rate_bps",
     .kind = FIELD_INTEGER,
     .offset = AT(rate_bps),
     .required = true,
     .min = 0,
     .max = FLOW_MAX_RATE_BPS},
    {.name = "burst",
     .kind = FIELD_INTEGER,
     .offset = AT(burst),
     .required = true,
     .min = 1,
     .max = FLOW_MAX_DEPTH},
    {.name = "interval_ns",
     .kind = FIELD_INTEGER,
     .offset = AT(interval_ns),
     .required = true,
     .min = PLAN_MIN_INTERVAL_NS,
     .max = PLAN_MAX_WAIT_NS},
    {.name = "peer_timeout_ns",
     .kind = FIELD_INTEGER,
     .offset = AT(peer_timeout_ns),
     .required = true,
     .min = PLAN_MIN_TIMEOUT_NS,
     .max = PLAN_MAX_WAIT_NS},
    {.name = "flip",
     .kind = FIELD_INTEGER,
     .offset = AT(flip),
     .required = true,
     .min = -1,
     .max = INT64_MAX},
    {0},
};

const struct table plan_table = {
    .name = "offer",
    .help = "Options of a flow.",
    .size = sizeof(struct plan),
    .fields = plan_fields,
    .check = check_flow,
};
