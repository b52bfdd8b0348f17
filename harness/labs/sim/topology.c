#include "harness/labs/sim/topology.h"

#include "lib/document/json_text.h"
#include <stdio.h>
#include <stdlib.h>

static size_t place_of(size_t link, unsigned end, unsigned priority)
{
    return (link * 2 + end) * SIM_PRIORITIES + priority;
}

int64_t *sim_topology_holds(const struct sim *sim, const struct sim_setup *setup)
{
    size_t links = setup->config.link_count;
    int64_t *held_ps = calloc(links * 2 * SIM_PRIORITIES + 1, sizeof *held_ps);
    for (size_t i = 0; held_ps && i < links; i++)
        for (unsigned end = 0; end < 2; end++)
            for (unsigned p = 0; p < SIM_PRIORITIES; p++)
                held_ps[place_of(i, end, p)] = sim_link_hold(sim, i, end, p).held_ps;
    return held_ps;
}

static json_t *nodes_json(const struct cell *cell, const struct sim_setup *setup)
{
    static const char *const kinds[] = {"host", "switch", "bridge"};
    json_t *nodes = json_array();
    for (size_t i = 0; i < cell->lab.hosts.count; i++) {
        struct sim_node node = {SIM_HOST, (uint32_t)i};
        json_array_append_new(nodes, json_make("{s:s,s:s}", "name", sim_setup_node_name(cell, setup, node),
                                               "kind", kinds[SIM_HOST]));
    }
    for (size_t i = 0; i < cell->lab.switches.count; i++) {
        struct sim_node node = setup->node_of_switch[i];
        json_array_append_new(nodes, json_make("{s:s,s:s}", "name", sim_setup_node_name(cell, setup, node),
                                               "kind", kinds[node.kind]));
    }
    return nodes;
}

/* Held times by priority, without zeros. */
static json_t *holds_json(const struct sim *sim, size_t link, unsigned end, const int64_t *from,
                          const int64_t *to)
{
    json_t *holds = json_object();
    for (unsigned p = 0; p < SIM_PRIORITIES; p++) {
        struct sim_hold hold = sim_link_hold(sim, link, end, p);
        if (hold.first_ps < 0)
            continue;
        size_t place = place_of(link, end, p);
        int64_t held_ps = (to ? to[place] : 0) - (from ? from[place] : 0);
        char key[8];
        snprintf(key, sizeof key, "%u", p);
        json_t *object = json_make("{s:I,s:I}", "held_ns", (json_int_t)(held_ps / SIM_PS_PER_NS), "first_ns",
                                   (json_int_t)(hold.first_ps / SIM_PS_PER_NS));
        if (hold.longest_ps >= 0)
            json_object_set_new(object, "longest_ns", json_integer(hold.longest_ps / SIM_PS_PER_NS));
        json_object_set_new(holds, key, object);
    }
    return holds;
}

json_t *sim_topology_json(const struct cell *cell, const struct sim *sim, const struct sim_setup *setup,
                          const int64_t *from, const int64_t *to)
{
    json_t *links = json_array();
    for (size_t i = 0; i < setup->config.link_count; i++) {
        const struct sim_link_config *link = &setup->links[i];
        json_t *object =
            json_make("{s:s,s:s,s:I}", "a", sim_setup_node_name(cell, setup, link->a), "b",
                      sim_setup_node_name(cell, setup, link->b), "rate_bps", (json_int_t)link->rate_bps);
        static const char *const keys[] = {"a_held", "b_held"};
        for (unsigned end = 0; end < 2; end++) {
            json_t *holds = holds_json(sim, i, end, from, to);
            if (json_object_size(holds))
                json_object_set(object, keys[end], holds);
            json_decref(holds);
        }
        json_array_append_new(links, object);
    }
    return json_make("{s:o,s:o}", "nodes", nodes_json(cell, setup), "links", links);
}
