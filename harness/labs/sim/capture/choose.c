/* What a scenario's `capture` names, as ports and flows of the simulator. */
#include "harness/labs/sim/capture/capture.h"
#include "harness/labs/sim/sim_setup.h"
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- ports */

/* Mark the node's port, or all of them; returns how many. Ports of a node count up in the order of the links. */
static size_t mark(const struct lab *lab, const struct sim_end *end, bool *ports)
{
    const char *name = lab_node_name(lab, (size_t)end->node);
    const struct lab_link *link;
    int64_t number = 0;
    size_t marked = 0;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++)
        for (unsigned side = 0; side < 2; side++) {
            if (strcmp(((char *const *)link->between.items)[side], name) != 0)
                continue;
            if (end->port < 0 || end->port == number) {
                ports[2 * i + side] = true;
                marked++;
            }
            number++;
        }
    return marked;
}

static int choose_ports(const struct cell *cell, const struct capture *c, bool *ports, struct error *e)
{
    const struct lab *lab = &cell->lab;
    char *const *items = c->ports.items, path[40];
    struct sim_end end;
    for (size_t i = 0; i < c->ports.count; i++) {
        snprintf(path, sizeof path, "capture.ports[%zu]", i);
        if (sim_setup_end(lab, path, items[i], &end, e) != 0)
            return -1;
        if (!mark(lab, &end, ports))
            return error_set(e, "%s: \"%.80s\": in lab %s %s has no such port", path, items[i], lab->name,
                             lab_node_name(lab, (size_t)end.node));
    }
    for (size_t i = 0; !c->ports.count && i < 2 * lab->links.count; i++)
        ports[i] = true;
    return 0;
}

/* ---- flows */

/* A flow of a pattern has the pattern's name, a slash, and a number: the pattern's name alone means all of them. */
static bool is_named(const char *glob, const char *flow)
{
    char pattern[256];
    const char *slash = strrchr(flow, '/');
    if (fnmatch(glob, flow, 0) == 0)
        return true;
    if (!slash || (size_t)(slash - flow) >= sizeof pattern)
        return false;
    memcpy(pattern, flow, (size_t)(slash - flow));
    pattern[slash - flow] = '\0';
    return fnmatch(glob, pattern, 0) == 0;
}

static int choose_flows(const struct capture *c, const struct sim_setup *setup, bool *flows, struct error *e)
{
    char *const *items = c->flows.items;
    for (size_t i = 0; i < c->flows.count; i++) {
        bool found = false;
        for (size_t f = 0; f < setup->config.flow_count; f++)
            if (is_named(items[i], setup->flows[f].name))
                flows[f] = found = true;
        if (!found)
            return error_set(
                e, "capture.flows[%zu]: no flow matches \"%.80s\": expected the name of a flow or of traffic",
                i, items[i]);
    }
    return 0;
}

/* ---- all */

static uint8_t priorities_of(const struct capture *c)
{
    const int64_t *items = c->priorities.items;
    uint8_t mask = 0;
    for (size_t i = 0; i < c->priorities.count; i++)
        mask |= (uint8_t)(1u << items[i]);
    return c->priorities.count ? mask : UINT8_MAX;
}

int sim_capture_choose(const struct cell *cell, struct sim_setup *setup, struct error *e)
{
    const struct capture *c = cell->scenario.capture;
    int64_t phase_ns[4];
    if (!c)
        return 0;
    setup->capture = calloc(1, sizeof *setup->capture);
    setup->capture_ports = calloc(2 * setup->config.link_count + 1, sizeof(bool));
    setup->capture_flows = calloc(setup->config.flow_count + 1, sizeof(bool));
    if (!setup->capture || !setup->capture_ports || !setup->capture_flows)
        return error_set(e, "out of memory");
    scenario_phase_starts(&cell->scenario, phase_ns);
    *setup->capture = (struct sim_capture_config){.ports = setup->capture_ports,
                                                  .flows = c->flows.count ? setup->capture_flows : NULL,
                                                  .priorities = priorities_of(c),
                                                  .from_ps = capture_start_ns(c, phase_ns) * SIM_PS_PER_NS,
                                                  .until_ps = capture_end_ns(c, phase_ns) * SIM_PS_PER_NS};
    setup->config.capture = setup->capture;
    return choose_ports(cell, c, setup->capture_ports, e) != 0
               ? -1
               : choose_flows(c, setup, setup->capture_flows, e);
}
