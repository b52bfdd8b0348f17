/* Fault: a host that pauses its peer without a reason. */
#include "sim/fabric/storm.h"
#include "sim/islands/island.h"
#include <stdlib.h>

int storms_build(struct sim *sim, const struct sim_config *config, struct error *e)
{
    sim->storms = calloc(config->storm_count + 1, sizeof *sim->storms);
    if (!sim->storms)
        return error_set(e, "simulator: no memory for %zu storms", config->storm_count);
    sim->storm_count = (uint32_t)config->storm_count;
    for (uint32_t i = 0; i < sim->storm_count; i++) {
        const struct sim_storm_config *c = &config->storms[i];
        if (c->host >= sim->host_count || c->priority >= SIM_PRIORITIES || c->start_ps < 0 ||
            c->stop_ps <= c->start_ps)
            return error_set(e, "simulator: storm %u needs a host, a priority, and an end after its start",
                             i);
        island_enter(sim, SIM_HOST, c->host);
        sim->storms[i] = (struct storm){.port = sim->hosts[c->host].port,
                                        .classes = (uint8_t)(1u << c->priority),
                                        .stop_ps = c->stop_ps,
                                        .event = events_add(sim->events, EVENT_STORM, i)};
        if (sim->storms[i].event == EVENT_NONE)
            return error_set(e, "simulator: no memory for %zu storms", config->storm_count);
        event_schedule(sim->events, sim->storms[i].event, c->start_ps);
    }
    return 0;
}

void storm_turn(struct sim *sim, uint32_t storm_index)
{
    const struct storm *storm = &sim->storms[storm_index];
    if (sim->now_ps >= storm->stop_ps) {
        pfc_let_go(sim, storm->port, storm->classes);
        return;
    }
    pfc_hold(sim, storm->port, storm->classes);
    if (storm->stop_ps < SIM_FOREVER)
        event_schedule(sim->events, storm->event, storm->stop_ps);
}
