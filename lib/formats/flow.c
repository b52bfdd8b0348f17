#include "lib/formats/flow.h"

#include "lib/clock.h"
#include "lib/formats/traffic_tools.h"
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const flow_op_names[] = {"write", "write-imm", "read", "send", NULL};
const char *const flow_mode_names[] = {"bandwidth", "latency", NULL};
const char *const flow_memory_names[] = {
    "host",       "gpu",         "rm-dmabuf",      "cuda-dmabuf", "cuda-peermem",
    "rm-peermem", "cuda-nv503c", "virtual-dmabuf", NULL};
const char *const flow_numa_names[] = {"near", "far", NULL};

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
    {"flows", FIELD_LIST, AT(flows), .item = FIELD_STRING, .min = 1, .max = 100000, .required = true,
     .help = "Names of flows that have a size."},
    {"delay", FIELD_QUANTITY, AT(delay_ns), .unit = UNIT_TIME_NS, .min = 0, .max = FLOW_MAX_TIME_NS,
     .fallback = "\"0\"",
     .help = "Time from the end of each of these flows on, such as that of a computation."},
    {0},
};
static const struct table wait_table = {"scenario.flow.after", "Flows that come before.",
                                        sizeof(struct flow_wait), wait_fields, NULL};
#undef AT

#define AT(member) .offset = offsetof(struct scenario_flow, member)

static int check_flow(const void *object, const char *path, struct error *e)
{
    const struct scenario_flow *flow = object;
    if (flow->gap_ns != FIELD_UNSET && (flow->mode == MODE_LATENCY || flow->op == OP_READ))
        return error_set(e, "%s.gap: bursts are made of writes or sends in mode bandwidth", path);
    if (flow->gpu != FIELD_UNSET && !flow_in_gpu_memory(flow->memory))
        return error_set(e, "%s.gpu: the flow's memory is the host's: expected \"memory\": \"gpu\" with it",
                         path);
    return flow_check(flow, path, e);
}

static const struct field fields[] = {
    {"name", FIELD_STRING, AT(name), .required = true, .form = &form_nic_of,
     .help = "Unique name of the flow."},
    {"from", FIELD_STRING, AT(from), .required = true,
     .help =
         "Role that starts the operations. ROLE.NIC is one NIC of its host, a glob such as ROLE.rail* a flow "
         "for each; a role alone is the first one."},
    {"to", FIELD_STRING, AT(to), .required = true, .help = "Role at the other end."},
    {"tool", FIELD_CHOICE, AT(tool), .choices = flow_tool_names,
     .help = "Traffic tool that runs the flow between real hosts; unset: roce."},
    FLOW_KIND_FIELDS(0),
    {"gpu", FIELD_INTEGER, AT(gpu), .min = 0, .max = 63,
     .help = "Number of the GPU whose memory is used, at both ends of a flow between real hosts. Default: "
             "the one "
             "nearest to the NIC, by the lab."},
    {"message", FIELD_QUANTITY, AT(message_bytes), .unit = UNIT_BYTES, .min = 1,
     .max = FLOW_MAX_MESSAGE_BYTES, .fallback = FLOW_MESSAGE_DEFAULT, .help = "Size of a message."},
    FLOW_LOAD_FIELDS(0),
    {"gap", FIELD_QUANTITY, AT(gap_ns), .unit = UNIT_TIME_NS, .min = 0, .max = FLOW_MAX_TIME_NS,
     .help =
         "Send in bursts (simulated labs): depth messages on each queue pair, and the next as many when all "
         "are complete and this time has passed. Default: a message follows each that is complete."},
    {"start", FIELD_QUANTITY, AT(start_ns), .unit = UNIT_TIME_NS, .min = 0, .max = FLOW_MAX_TIME_NS,
     .fallback = "\"0\"", .help = "Start time, from the beginning of the warm-up."},
    {"stop", FIELD_QUANTITY, AT(stop_ns), .unit = UNIT_TIME_NS, .min = 0, .max = FLOW_MAX_TIME_NS,
     .help = "Time after which no message begins, from the beginning of the warm-up. Those in flight, up to "
             "depth on each queue pair, are still completed. Default: the end of the measurement."},
    {"after", FIELD_LIST, AT(after), .item = FIELD_OBJECT, .sub = &wait_table, .min = 0, .max = 100000,
     .help =
         "Flows that come before: this one begins when all of them have ended (simulated labs). One that its "
         "sender receives has ended when its data is there, one that its sender sends when it is complete."},
    {0},
};

const struct table flow_table = {"scenario.flow", "A flow between two roles.", sizeof(struct scenario_flow),
                                 fields, check_flow};

/* ---- flows that wait for flows */

#define NO_FLOW SIZE_MAX

size_t flow_order_waits(const struct scenario_flow *flow)
{
    const struct flow_wait *waits = flow->after.items;
    size_t count = 0;
    for (size_t k = 0; k < flow->after.count; k++)
        count += waits[k].flows.count;
    return count;
}

static size_t count_waits(const struct list_of *flows)
{
    const struct scenario_flow *items = flows->items;
    size_t count = 0;
    for (size_t i = 0; i < flows->count; i++)
        count += flow_order_waits(&items[i]);
    return count;
}

static json_t *index_names(const struct list_of *flows)
{
    const struct scenario_flow *items = flows->items;
    json_t *index = json_object();
    for (size_t i = 0; i < flows->count; i++)
        json_object_set_new(index, items[i].name, json_integer((json_int_t)i));
    return index;
}

size_t *flow_order_indices(const struct list_of *flows, size_t *count)
{
    const struct scenario_flow *items = flows->items;
    size_t *indices = calloc(count_waits(flows) + 1, sizeof *indices);
    json_t *names = indices ? index_names(flows) : NULL;
    *count = 0;
    for (size_t i = 0; indices && i < flows->count; i++) {
        const struct flow_wait *waits = items[i].after.items;
        for (size_t k = 0; k < items[i].after.count; k++)
            for (size_t m = 0; m < waits[k].flows.count; m++) {
                const json_t *found = json_object_get(names, ((char *const *)waits[k].flows.items)[m]);
                indices[(*count)++] = found ? (size_t)json_integer_value(found) : NO_FLOW;
            }
    }
    json_decref(names);
    return indices;
}

static bool may_wait(const struct scenario_flow *flow)
{
    return flow->mode == MODE_BANDWIDTH && flow->op != OP_READ;
}

/* Is it the same end? A glob of NICs may be any NIC of its role. */
static bool same_end(const char *a, const char *b)
{
    size_t length = strcspn(a, ".");
    bool glob = strpbrk(a, "*?") || strpbrk(b, "*?");
    return strcmp(a, b) == 0 || (glob && strcspn(b, ".") == length && strncmp(a, b, length) == 0);
}

static int check_wait(const struct scenario_flow *flow, const struct scenario_flow *before, const char *at,
                      struct error *e)
{
    if (before == flow)
        return error_set(e, "%s: the flow would wait for itself", at);
    if (before->size_bytes == FIELD_UNSET)
        return error_set(e, "%s: flow %s has no end: give it a \"size\"", at, before->name);
    if (!may_wait(before) || !may_wait(flow))
        return error_set(
            e, "%s: flow %s is a read or measures latency: only writes and sends wait for each other", at,
            may_wait(flow) ? before->name : flow->name);
    if (!same_end(before->to, flow->from) && !same_end(before->from, flow->from))
        return error_set(
            e,
            "%s: %s, which sends this flow, does not see the end of flow %s, from %s to %s: expected a "
            "flow from or to %s",
            at, flow->from, before->name, before->from, before->to, flow->from);
    return 0;
}

/* Those of flow i begin at `indices`. */
static int check_waits_of(const struct list_of *flows, size_t i, const size_t *indices, struct error *e)
{
    const struct scenario_flow *items = flows->items;
    const struct flow_wait *waits = items[i].after.items;
    for (size_t k = 0; k < items[i].after.count; k++)
        for (size_t m = 0; m < waits[k].flows.count; m++, indices++) {
            char at[96];
            snprintf(at, sizeof at, "flows[%zu].after[%zu].flows[%zu]", i, k, m);
            if (*indices == NO_FLOW)
                return error_set(e, "%s: there is no flow \"%.100s\"", at,
                                 ((char *const *)waits[k].flows.items)[m]);
            if (check_wait(&items[i], &items[*indices], at, e) != 0)
                return -1;
        }
    return 0;
}

static int check_waits(const struct list_of *flows, const size_t *indices, struct error *e)
{
    const struct scenario_flow *items = flows->items;
    for (size_t i = 0; i < flows->count; indices += flow_order_waits(&items[i]), i++)
        if (check_waits_of(flows, i, indices, e) != 0)
            return -1;
    return 0;
}

/* Edges from each flow to those that wait for it. */
struct followers {
    size_t *first, *list; /* of flow f: list[first[f]] up to list[first[f + 1]] */
    size_t *left, *queue; /* waits of each flow that are not over; flows that begin */
};

static void list_followers(const struct list_of *flows, const size_t *indices, size_t waits,
                           struct followers *to)
{
    const struct scenario_flow *items = flows->items;
    for (size_t n = 0; n < waits; n++)
        to->first[indices[n] + 2]++;
    for (size_t f = 2; f < flows->count + 2; f++)
        to->first[f] += to->first[f - 1];
    for (size_t f = 0, n = 0; f < flows->count; f++)
        for (size_t k = flow_order_waits(&items[f]); k > 0; k--, n++)
            to->list[to->first[indices[n] + 1]++] = f;
}

/* Flow by flow, each when all that it waits for have ended: what is left waits in a ring, or for one. */
static int check_rings(const struct list_of *flows, struct followers *to, struct error *e)
{
    const struct scenario_flow *items = flows->items;
    size_t head = 0, tail = 0;
    for (size_t f = 0; f < flows->count; f++)
        if (!(to->left[f] = flow_order_waits(&items[f])))
            to->queue[tail++] = f;
    for (; head < tail; head++)
        for (size_t i = to->first[to->queue[head]]; i < to->first[to->queue[head] + 1]; i++)
            if (--to->left[to->list[i]] == 0)
                to->queue[tail++] = to->list[i];
    for (size_t f = 0; f < flows->count; f++)
        if (to->left[f])
            return error_set(e, "flows[%zu].after: flow %s never begins: it waits for flows that wait for it",
                             f, items[f].name);
    return 0;
}

int flow_order_check(const struct list_of *flows, struct error *e)
{
    size_t waits;
    if (!count_waits(flows))
        return 0;
    size_t *indices = flow_order_indices(flows, &waits);
    struct followers to = {calloc(flows->count + 3, sizeof(size_t)), calloc(waits + 1, sizeof(size_t)),
                           calloc(flows->count + 1, sizeof(size_t)),
                           calloc(flows->count + 1, sizeof(size_t))};
    int result = -1;
    if (!indices || !to.first || !to.list || !to.left || !to.queue) {
        error_set(e, "flows: out of memory");
    } else if ((result = check_waits(flows, indices, e)) == 0) {
        list_followers(flows, indices, waits, &to);
        result = check_rings(flows, &to, e);
    }
    free(indices);
    free(to.first);
    free(to.list);
    free(to.left);
    free(to.queue);
    return result;
}
