/* What a configuration will take, before anything is allocated for it. */
#include "sim/congestion/congestion.h"
#include "sim/fabric/switch.h"
#include "sim/faults/deadlock.h"
#include "sim/faults/inject.h"
#include "sim/faults/link_faults.h"
#include "sim/islands/island.h"
#include "sim/model.h"

#define EVENTS_OF_PORT (PORT_EVENTS + 1) /* the arrays of events double: some are not used */
#define SLOTS_OF_PORT  192               /* island.c: 128, rounded up to a power of two for each island */
#define EVENTS_OF_HOST 4
#define EVENTS_OF_QP   3
#define PATH_HOPS      10 /* to a receiver and back through three tiers of switches */

static uint64_t bytes_of_flow(const struct sim_config *c, const struct sim_flow_config *f)
{
    const struct congestion_control *control = c->hosts[f->from].settings.congestion_control;
    uint64_t pairs = f->mode == SIM_PING_PONG ? 2 : (uint64_t)f->queue_pairs;
    uint64_t of_pair = sizeof(struct queue_pair) + EVENTS_OF_QP * sizeof(struct event) +
                       PATH_HOPS * sizeof(uint32_t) + (uint64_t)f->depth * sizeof(int64_t) +
                       (control ? control->state_bytes : 0);
    return sizeof(struct flow) + sizeof(struct event) + pairs * of_pair +
           (f->record_latency ? sizeof(struct histogram) : 0);
}

uint64_t sim_bytes_needed(const struct sim_config *c)
{
    uint64_t ports = 2 * (uint64_t)c->link_count;
    uint64_t bytes = ports * (sizeof(struct port) + sizeof(struct priority_counters[SIM_PRIORITIES]) +
                              EVENTS_OF_PORT * (sizeof(struct event) + sizeof(uint32_t)) +
                              SLOTS_OF_PORT * sizeof(struct slot) + 2 * sizeof(struct letter));
    if (c->switch_count)
        bytes += ports * sizeof(struct switch_port) + c->switch_count * sizeof(struct fabric_switch);
    bytes += c->host_count * (sizeof(struct host) + EVENTS_OF_HOST * sizeof(struct event));
    bytes += c->pause_log_capacity * sizeof(struct sim_pause);
    if (c->switch_count)
        bytes += ports * DEADLOCK_BYTES;
    if (c->link_state_count || c->injection_count)
        bytes += ports * sizeof(struct link_end) + c->link_state_count * sizeof(struct sim_link_state) +
                 c->injection_count * sizeof(struct injection);
    for (size_t i = 0; i < c->flow_count; i++)
        bytes += bytes_of_flow(c, &c->flows[i]);
    return bytes;
}
