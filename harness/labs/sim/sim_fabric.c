/* Switches and forwarding hosts of a simulated lab, as the simulator takes them. */
#include "harness/labs/sim/sim_setup.h"
#include <math.h>
#include <stdlib.h>

static void take(int64_t *to, int64_t from)
{
    if (from != FIELD_UNSET)
        *to = from;
}

static void take32(int32_t *to, int64_t from)
{
    if (from != FIELD_UNSET)
        *to = (int32_t)from;
}

static void take_number(double *to, double from)
{
    if (!isnan(from))
        *to = from;
}

static void take_bool(bool *to, int from)
{
    if (from >= 0)
        *to = from;
}

/* ---- the lab */

static void take_ecn(struct sim_ecn_config *to, const struct lab_sim_ecn *from)
{
    take(&to->kmin_bytes, from->kmin_bytes);
    take(&to->kmax_bytes, from->kmax_bytes);
    take_number(&to->pmax, from->pmax);
    take(&to->reference_bps, from->reference_bps);
    to->at_enqueue = from->at == ECN_AT_ENQUEUE;
}

static void take_watchdog(struct sim_watchdog_config *to, const struct lab_sim_watchdog *from)
{
    take(&to->detect_ps, from->detect_ps);
    to->restore_ps = to->detect_ps;
    take(&to->restore_ps, from->restore_ps);
    to->action = from->action == WATCHDOG_FORWARD ? SIM_WATCHDOG_FORWARD : SIM_WATCHDOG_DROP;
}

static void take_switch(struct sim_switch_config *to, const struct lab_sim_switch *from)
{
    int64_t seed = 0;
    sim_switch_defaults(to);
    to->name = from->name;
    take(&to->buffer_bytes, from->buffer_bytes);
    take(&to->reserve_bytes, from->reserve_bytes);
    take_number(&to->xoff_alpha, from->xoff_alpha);
    take(&to->xoff_bytes, from->xoff_bytes);
    take_bool(&to->alpha_follows_rate, from->alpha_follows_rate);
    take(&to->xon_offset_bytes, from->xon_offset_bytes);
    take(&to->headroom_bytes, from->headroom_bytes);
    take_number(&to->headroom_delays, from->headroom_delays);
    take32(&to->pause_quanta, from->pause_quanta);
    take32(&to->pause_refresh_percent, from->pause_refresh_percent);
    take_number(&to->lossy_alpha, from->lossy_alpha);
    take_ecn(&to->ecn, &from->ecn);
    take(&to->latency_ps, from->latency_ps);
    take(&seed, from->ecmp_seed);
    to->ecmp_seed = (uint32_t)seed;
    take_watchdog(&to->watchdog, &from->watchdog);
}

static void take_bridge(struct sim_bridge_config *to, const struct lab_sim_switch *from)
{
    const struct lab_sim_forwarding *f = from->software;
    sim_bridge_defaults(to);
    to->name = from->name;
    take32(&to->rx_ring, f->rx_ring);
    take(&to->coalesce_ps, f->coalesce_ps);
    take32(&to->coalesce_frames, f->coalesce_frames);
    take_bool(&to->adaptive, f->adaptive);
    take(&to->interrupt_ps, f->interrupt_ps);
    take(&to->frame_ps, f->frame_ps);
    take32(&to->budget, f->budget);
    take(&to->tx_limit_bytes, f->tx_limit_bytes);
    take(&to->fifo_bytes, f->fifo_bytes);
}

void sim_setup_take_switches(const struct lab *lab, struct sim_setup *setup)
{
    const struct lab_sim_switch *switches = lab->switches.items;
    for (size_t i = 0; i < lab->switches.count; i++) {
        if (switches[i].software) {
            uint32_t index = (uint32_t)setup->config.bridge_count++;
            setup->node_of_switch[i] = (struct sim_node){SIM_BRIDGE, index};
            take_bridge(&setup->bridges[index], &switches[i]);
        } else {
            uint32_t index = (uint32_t)setup->config.switch_count++;
            setup->node_of_switch[i] = (struct sim_node){SIM_SWITCH, index};
            take_switch(&setup->switches[index], &switches[i]);
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

void sim_setup_switch_settings(const struct settings *from, struct sim_switch_config *to)
{
    const int64_t *lossless = from->pfc.items;
    if (lossless)
        to->pfc_mask = 0;
    for (size_t i = 0; lossless && i < from->pfc.count; i++)
        to->pfc_mask |= (uint8_t)(1u << (lossless[i] & 7));
    if (from->ets)
        take_ets(from->ets, to);
    if (!from->ecn_threshold)
        return;
    to->ecn.kmin_bytes = from->ecn_threshold->kmin_bytes;
    to->ecn.kmax_bytes = from->ecn_threshold->kmax_bytes;
    to->ecn.pmax = from->ecn_threshold->pmax;
}

void sim_setup_bridge_settings(const struct settings *from, struct sim_bridge_config *to)
{
    take32(&to->rx_ring, from->rx_ring);
    if (from->rx_coalesce_us != FIELD_UNSET || from->rx_coalesce_frames != FIELD_UNSET)
        to->adaptive = false;
    if (from->rx_coalesce_us != FIELD_UNSET)
        to->coalesce_ps = from->rx_coalesce_us * SIM_PS_PER_US;
    take32(&to->coalesce_frames, from->rx_coalesce_frames);
    const struct settings_red *red = from->red;
    if (!red)
        return;
    to->red = (struct red_config){.limit_bytes = red->limit_bytes,
                                  .min_bytes = red->min_bytes,
                                  .max_bytes = red->max_bytes,
                                  .avpkt_bytes = red->avpkt_bytes,
                                  .burst = red->burst == FIELD_UNSET ? 0 : red->burst,
                                  .bandwidth_bps = red->bandwidth_bps,
                                  .probability = red->probability,
                                  .ecn = red->ecn == 1};
}
