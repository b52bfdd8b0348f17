/* A scenario's traffic patterns as flows of the simulator. */
#include "harness/labs/sim/sim_setup.h"
#include "harness/plan/traffic_class.h"
#include "lib/document/json_text.h"
#include "sim/workload.h"
#include <stdlib.h>
#include <string.h>

static const enum sim_sizes sizes[] = {[SIZES_FIXED] = SIM_SIZES_FIXED,
                                       [SIZES_WEB_SEARCH] = SIM_SIZES_WEB_SEARCH,
                                       [SIZES_DATA_MINING] = SIM_SIZES_DATA_MINING};

static uint32_t *hosts_of(const struct cell *cell, const struct sim_setup *setup, const json_t *roles,
                          const struct list_of *list, const char *of, struct error *e)
{
    char *const *names = list->items;
    uint32_t *hosts = calloc(list->count + 1, sizeof *hosts);
    if (!hosts)
        error_set(e, "out of memory");
    for (size_t i = 0; hosts && i < list->count; i++) {
        if (sim_setup_host(cell, setup, roles, names[i], of, &hosts[i], e) == 0)
            continue;
        free(hosts);
        return NULL;
    }
    return hosts;
}

/* Rate of the link that connects a host. */
static int64_t link_rate(const struct sim_setup *setup, uint32_t host)
{
    for (size_t i = 0; i < setup->config.link_count; i++) {
        const struct sim_link_config *link = &setup->links[i];
        if ((link->a.kind == SIM_HOST && link->a.index == host) ||
            (link->b.kind == SIM_HOST && link->b.index == host))
            return link->rate_bps;
    }
    return 0;
}

static void take_common(const struct cell *cell, const struct scenario_traffic *t,
                        const struct physics_host *host, struct sim_flow_config *flow)
{
    const struct scenario_phases *phases = &cell->scenario.phases;
    int64_t end_ns = phases->warmup_ns + phases->measure_ns;
    sim_flow_defaults(flow);
    flow->from_memory = flow->to_memory = flow_in_gpu_memory(t->memory) ? SIM_MEMORY_GPU : SIM_MEMORY_HOST;
    flow->message_bytes = t->message_bytes;
    flow->depth = (int32_t)t->depth;
    flow->priority = (int32_t)t->priority;
    flow->payload_bytes = host->nic.payload_bytes;
    flow->start_ps = t->start_ns * SIM_PS_PER_NS;
    flow->stop_ps = (t->stop_ns != FIELD_UNSET && t->stop_ns < end_ns ? t->stop_ns : end_ns) * SIM_PS_PER_NS;
}

static void take_workload(const struct cell *cell, const struct scenario_traffic *t,
                          const struct sim_setup *setup, const uint32_t *from, const uint32_t *to,
                          struct sim_workload_config *w)
{
    bool poisson = t->pattern == PATTERN_POISSON;
    *w = (struct sim_workload_config){.pattern = (enum traffic_pattern)t->pattern,
                                      .from = from,
                                      .from_count = t->from.count,
                                      .to = to,
                                      .to_count = t->to.count,
                                      .sizes = sizes[t->sizes],
                                      .size_bytes = t->size_bytes == FIELD_UNSET ? 0 : t->size_bytes,
                                      .rounds = poisson ? 1 : t->count,
                                      .load = t->load,
                                      .link_bps = link_rate(setup, from[0]),
                                      .most_flows = poisson && t->count > 1 ? t->count : 0,
                                      .shift = t->shift == FIELD_UNSET ? 0 : t->shift,
                                      .seed = setup->config.seed};
    take_common(cell, t, lab_sim_host_at(&cell->lab, from[0]), &w->flow);
}

/* Packets are ECN-capable as those of the scenario's other flows are: by the settings of the flow's sender. */
static int take_ect(const struct cell *cell, const struct scenario_traffic *t, const struct sim_setup *setup,
                    const uint32_t *from, struct sim_flow_config *flows, size_t count, struct error *e)
{
    char *const *roles = t->from.items;
    enum sim_ect *of_host = calloc(setup->config.host_count + 1, sizeof *of_host);
    if (!of_host)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < t->from.count; i++) {
        struct scenario_flow sent = flow_of_pattern(t, roles[i], NULL);
        bool capable = traffic_class_is_ect(flow_traffic_class(&cell->scenario, &sent));
        of_host[from[i]] = capable ? SIM_ECT_ALWAYS : SIM_ECT_NEVER;
    }
    for (size_t i = 0; i < count; i++)
        flows[i].ect = of_host[flows[i].from];
    free(of_host);
    return 0;
}

static int append(struct sim_setup *setup, const char *name, const struct sim_flow_config *flows,
                  size_t count, struct error *e)
{
    size_t before = setup->config.flow_count;
    struct sim_flow_config *grown = realloc(setup->flows, (before + count + 1) * sizeof *grown);
    if (!grown)
        return error_set(e, "out of memory");
    setup->flows = grown;
    for (size_t i = 0; i < count; i++) {
        json_t *own = json_textf("%s/%zu", name, i);
        grown[before + i] = flows[i];
        grown[before + i].name = json_string_value(own);
        if (!own || json_array_append_new(setup->names, own) != 0)
            return error_set(e, "out of memory");
    }
    setup->config.flow_count += count;
    return 0;
}

static int take_one(const struct cell *cell, const struct scenario_traffic *t, const json_t *roles,
                    struct sim_setup *setup, struct error *e)
{
    char of[160];
    snprintf(of, sizeof of, "traffic %.100s", t->name);
    uint32_t *from = hosts_of(cell, setup, roles, &t->from, of, e);
    uint32_t *to = from ? hosts_of(cell, setup, roles, &t->to, of, e) : NULL;
    struct sim_workload_config w;
    struct sim_flow_config *flows = NULL;
    size_t count = 0;
    int result = -1;
    if (from && to) {
        take_workload(cell, t, setup, from, to, &w);
        result = sim_workload_make(&w, (uint32_t)setup->config.flow_count, &flows, &count, e);
        if (result != 0)
            error_prefix(e, "%s", of);
    }
    if (result == 0)
        result = take_ect(cell, t, setup, from, flows, count, e);
    if (result == 0)
        result = append(setup, t->name, flows, count, e);
    free(from);
    free(to);
    free(flows);
    return result;
}

int sim_setup_take_traffic(const struct cell *cell, const json_t *roles, struct sim_setup *setup,
                           struct error *e)
{
    const struct scenario_traffic *traffic = cell->scenario.traffic.items;
    for (size_t i = 0; i < cell->scenario.traffic.count; i++) {
        setup->first_of_traffic[i] = setup->config.flow_count;
        if (take_one(cell, &traffic[i], roles, setup, e) != 0)
            return -1;
    }
    setup->first_of_traffic[cell->scenario.traffic.count] = setup->config.flow_count;
    return 0;
}
