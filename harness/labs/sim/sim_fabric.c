/* Converts switches and forwarding hosts of a simulated lab to the simulator's configuration. */
#include "harness/labs/sim/sim_setup.h"
#include <stdlib.h>

/* ---- the lab */

static void take_switch(struct sim_switch_config *to, const struct physics_switch *from)
{
    sim_switch_defaults(to);
    to->name = from->name;
    to->physics = *from;
}

static void take_bridge(struct sim_bridge_config *to, const struct physics_switch *from)
{
    sim_bridge_defaults(to);
    to->name = from->name;
    to->physics = *from->software;
}

void sim_setup_take_switches(const struct lab *lab, struct sim_setup *setup)
{
    const struct physics_switch *from;
    for (size_t i = 0; (from = lab_switch_at(lab, i)); i++) {
        if (from->software) {
            uint32_t index = (uint32_t)setup->config.bridge_count++;
            setup->node_of_switch[i] = (struct sim_node){SIM_BRIDGE, index};
            take_bridge(&setup->bridges[index], from);
        } else {
            uint32_t index = (uint32_t)setup->config.switch_count++;
            setup->node_of_switch[i] = (struct sim_node){SIM_SWITCH, index};
            take_switch(&setup->switches[index], from);
        }
    }
}

/* ---- settings */

static void take_ets(const struct settings_ets *from, struct sim_switch_config *to)
{
    const struct named_integer *classes = from->prio_to_tc.items;
    const int64_t *weights = from->weights.items;
    for (size_t i = 0; i < from->prio_to_tc.count; i++)
        to->prio_to_tc[strtol(classes[i].name, NULL, 10) & 7] = (uint8_t)classes[i].value;
    for (size_t i = 0; i < from->weights.count && i < SIM_PRIORITIES; i++)
        to->tc_weight[i] = (int32_t)weights[i];
}

static void take_watchdog(const struct settings_watchdog *from, struct physics_watchdog *to)
{
    int64_t restore_ns = from->restore_ns == FIELD_UNSET ? 2 * from->detect_ns : from->restore_ns;
    to->detect_ps = from->detect_ns * SIM_PS_PER_NS;
    to->restore_ps = restore_ns * SIM_PS_PER_NS;
    to->action = from->action == SETTINGS_WATCHDOG_FORWARD ? WATCHDOG_FORWARD : WATCHDOG_DROP;
}

void sim_setup_switch_settings(const struct settings *from, struct sim_switch_config *to)
{
    const int64_t *lossless = from->pfc.items;
    if (lossless)
        to->pfc_mask = 0;
    for (size_t i = 0; lossless && i < from->pfc.count; i++)
        to->pfc_mask |= (uint8_t)(1u << (lossless[i] & 7));
    if (from->ets)
        take_ets(from->ets, to);
    if (from->watchdog)
        take_watchdog(from->watchdog, &to->physics.watchdog);
    if (!from->ecn_threshold)
        return;
    to->physics.ecn.kmin_bytes = from->ecn_threshold->kmin_bytes;
    to->physics.ecn.kmax_bytes = from->ecn_threshold->kmax_bytes;
    to->physics.ecn.pmax = from->ecn_threshold->pmax;
}

void sim_setup_bridge_settings(const struct settings *from, struct sim_bridge_config *to)
{
    struct physics_forwarding *physics = &to->physics;
    if (from->rx_ring != FIELD_UNSET)
        physics->rx_ring = from->rx_ring;
    if (from->rx_coalesce_us != FIELD_UNSET || from->rx_coalesce_frames != FIELD_UNSET)
        physics->adaptive = false;
    if (from->rx_coalesce_us != FIELD_UNSET)
        physics->coalesce_ps = from->rx_coalesce_us * SIM_PS_PER_US;
    if (from->rx_coalesce_frames != FIELD_UNSET)
        physics->coalesce_frames = from->rx_coalesce_frames;
    if (from->red)
        to->red = *from->red;
}
