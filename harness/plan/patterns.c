#include "harness/plan/patterns.h"

#include "lib/schedule/job.h"
#include "lib/roce/traffic_pattern.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FLOWS 100000 /* as many as a scenario may list */

/* ---- what only the simulator does */

static int check_traffic(const struct scenario_traffic *t, const struct lab *lab, struct error *e)
{
    if (t->pattern == PATTERN_POISSON)
        return error_set(e,
                         "Poisson arrivals are simulated only: lab %s has real hosts, between which flows "
                         "run as long as the experiment or have a size",
                         lab->name);
    if (t->sizes != SIZES_FIXED)
        return error_set(e,
                         "distributions of flow sizes are simulated only: lab %s has real hosts: expected "
                         "sizes \"fixed\"",
                         lab->name);
    if (t->pattern == PATTERN_RING_ALL_REDUCE && t->size_bytes != FIELD_UNSET)
        return error_set(e,
                         "a ring whose steps wait for each other is simulated only: lab %s has real hosts: "
                         "without \"size\" every host streams to the next one",
                         lab->name);
    if (t->size_bytes != FIELD_UNSET && t->size_bytes > FLOW_MAX_MESSAGE_BYTES)
        return error_set(e,
                         "a flow's size is one message, and a NIC's longest message has %lld bytes: found a "
                         "size of %" PRId64 " bytes for the real hosts of lab %s",
                         FLOW_MAX_MESSAGE_BYTES, t->size_bytes, lab->name);
    return 0;
}

static int check_faults(const struct scenario *scenario, const struct lab *lab, struct error *e)
{
    const struct link_fault *faults = scenario->faults.items;
    if (scenario->faults.count == 0)
        return 0;
    char *const *ends = faults[0].link.items;
    return error_set(e,
                     "faults: the link between \"%s\" and \"%s\" would fail at a given time, which only "
                     "simulated links do: lab %s has real hosts",
                     ends[0], ends[1], lab->name);
}

static int check_jobs(const struct scenario *scenario, const struct lab *lab, struct error *e)
{
    if (scenario->jobs.count == 0)
        return 0;
    return error_set(e, "jobs: job %s runs on simulated labs: lab %s has real hosts",
                     ((const struct scenario_job *)scenario->jobs.items)->name, lab->name);
}

static int check_waits(const struct scenario *scenario, const struct lab *lab, struct error *e)
{
    const struct scenario_flow *flows = scenario->flows.items;
    for (size_t i = 0; i < scenario->flows.count; i++)
        if (flows[i].gap_ns != FIELD_UNSET)
            return error_set(e,
                             "flows[%zu].gap: flow %s sends in bursts, which only simulated flows do: lab %s "
                             "has real hosts",
                             i, flows[i].name, lab->name);
        else if (flows[i].after.count)
            return error_set(
                e,
                "flows[%zu].after: flow %s waits for other flows, which only simulated flows do: lab "
                "%s has real hosts",
                i, flows[i].name, lab->name);
    return 0;
}

/* ---- flows */

static char *part_name(const char *traffic, size_t i)
{
    char name[FLOW_MAX_NAME + 24];
    snprintf(name, sizeof name, "%s/%zu", traffic, i);
    return strdup(name);
}

/* With a size a flow is `count` messages of this size, one at a time, as the simulator sends it. */
static void flow_set_amount(const struct scenario_traffic *t, struct scenario_flow *flow)
{
    if (t->size_bytes == FIELD_UNSET)
        return;
    flow->message_bytes = t->size_bytes;
    flow->depth = 1;
    flow->size_bytes = t->size_bytes * (t->count == FIELD_UNSET ? 1 : t->count);
}

static int flow_of_pair(const struct scenario_traffic *t, const char *from, const char *to, size_t i,
                        struct scenario_flow *flow, struct error *e)
{
    if (table_defaults(&flow_table, flow) != 0)
        return error_set(e, "out of memory");
    flow->name = part_name(t->name, i);
    flow->from = strdup(from);
    flow->to = strdup(to);
    flow->memory = t->memory;
    flow->gpu = t->gpu;
    flow->message_bytes = t->message_bytes;
    flow->depth = t->depth;
    flow->priority = t->priority;
    flow->start_ns = t->start_ns;
    flow->stop_ns = t->stop_ns;
    flow_set_amount(t, flow);
    return flow->name && flow->from && flow->to ? 0 : error_set(e, "out of memory");
}

/* The numbers of the hosts that play these roles. */
static uint32_t *hosts_of(const struct lab *lab, const struct list_of *roles)
{
    char *const *names = roles->items;
    uint32_t *hosts = calloc(roles->count + 1, sizeof *hosts);
    for (size_t i = 0; hosts && i < roles->count; i++)
        hosts[i] = (uint32_t)lab_host_of(lab, names[i]);
    return hosts;
}

static int append_flows(struct list_of *flows, const struct scenario_traffic *t,
                        const struct traffic_pair *pairs, size_t count, struct error *e)
{
    char *const *from = t->from.items, *const *to = t->to.count ? t->to.items : t->from.items;
    if (flows->count + count > MOST_FLOWS)
        return error_set(e, "%zu flows: expected at most %d in a scenario", flows->count + count, MOST_FLOWS);
    struct scenario_flow *grown = realloc(flows->items, (flows->count + count + 1) * sizeof *grown);
    if (!grown)
        return error_set(e, "out of memory for %zu flows", count);
    flows->items = grown;
    for (size_t i = 0; i < count; i++) {
        int result = flow_of_pair(t, from[pairs[i].from], to[pairs[i].to], i, &grown[flows->count], e);
        flows->count++;
        if (result != 0)
            return -1;
    }
    return 0;
}

static int expand_traffic(struct scenario *scenario, const struct lab *lab, const struct scenario_traffic *t,
                          uint64_t seed, struct error *e)
{
    uint32_t *from = hosts_of(lab, &t->from), *to = hosts_of(lab, &t->to);
    struct traffic_ends ends = {.from = from,
                                .to = to,
                                .from_count = t->from.count,
                                .to_count = t->to.count,
                                .shift = t->shift == FIELD_UNSET ? 0 : t->shift};
    struct traffic_pair *pairs = NULL;
    struct random random;
    size_t count = 0;
    random_seed(&random, seed);
    int result = !from || !to
                     ? error_set(e, "out of memory")
                     : traffic_pairs((enum traffic_pattern)t->pattern, &ends, &random, &pairs, &count, e);
    if (result == 0)
        result = append_flows(&scenario->flows, t, pairs, count, e);
    free(pairs);
    free(from);
    free(to);
    return result;
}

int plan_expand_patterns(struct scenario *scenario, const struct lab *lab, uint64_t seed, struct error *e)
{
    const struct scenario_traffic *traffic = scenario->traffic.items;
    if (check_faults(scenario, lab, e) != 0 || check_jobs(scenario, lab, e) != 0 ||
        check_waits(scenario, lab, e) != 0)
        return -1;
    for (size_t i = 0; i < scenario->traffic.count; i++)
        if (check_traffic(&traffic[i], lab, e) != 0 ||
            expand_traffic(scenario, lab, &traffic[i], seed, e) != 0)
            return error_prefix(e, "traffic %s", traffic[i].name);
    return 0;
}
