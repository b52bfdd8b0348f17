#include "lib/formats/flow_order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NO_FLOW SIZE_MAX

static size_t count_waits(const struct list_of *flows)
{
    const struct scenario_flow *items = flows->items;
    size_t count = 0;
    for (size_t i = 0; i < flows->count; i++)
        count += items[i].after.count;
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
        for (size_t k = 0; k < items[i].after.count; k++) {
            const json_t *found = json_object_get(names, waits[k].flow);
            indices[(*count)++] = found ? (size_t)json_integer_value(found) : NO_FLOW;
        }
    }
    json_decref(names);
    return indices;
}

/* ---- each wait */

static bool may_wait(const struct scenario_flow *flow)
{
    return flow->mode == MODE_BANDWIDTH && flow->op != OP_READ;
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
    if (strcmp(before->to, flow->from) != 0 && strcmp(before->from, flow->from) != 0)
        return error_set(
            e,
            "%s: %s, which sends this flow, does not see the end of flow %s, from %s to %s: expected a "
            "flow from or to %s",
            at, flow->from, before->name, before->from, before->to, flow->from);
    return 0;
}

static int check_waits(const struct list_of *flows, const size_t *indices, struct error *e)
{
    const struct scenario_flow *items = flows->items;
    for (size_t i = 0, n = 0; i < flows->count; i++) {
        const struct flow_wait *waits = items[i].after.items;
        for (size_t k = 0; k < items[i].after.count; k++, n++) {
            char at[64];
            snprintf(at, sizeof at, "flows[%zu].after[%zu]", i, k);
            if (indices[n] == NO_FLOW)
                return error_set(e, "%s: there is no flow \"%.100s\"", at, waits[k].flow);
            if (check_wait(&items[i], &items[indices[n]], at, e) != 0)
                return -1;
        }
    }
    return 0;
}

/* ---- all together */

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
        for (size_t k = 0; k < items[f].after.count; k++, n++)
            to->list[to->first[indices[n] + 1]++] = f;
}

/* Flow by flow, each when all that it waits for have ended: what is left waits in a ring, or for one. */
static int check_rings(const struct list_of *flows, struct followers *to, struct error *e)
{
    const struct scenario_flow *items = flows->items;
    size_t head = 0, tail = 0;
    for (size_t f = 0; f < flows->count; f++)
        if (!(to->left[f] = items[f].after.count))
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
