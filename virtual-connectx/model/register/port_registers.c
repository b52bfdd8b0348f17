// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Registers of the port: state, MTU and lanes, speeds and error correction, counters. */
#include "virtual-connectx/model/capability.h"
#include "virtual-connectx/model/port/function.h"
#include "virtual-connectx/model/register/register.h"

/* Modes over copper (mlx5's enum mlx5e_link_mode), ascending. */
static const struct {
    uint16_t gbps;
    uint8_t bit, lanes;
} modes[] = {
    {1, 1, 1},   /* 1000BASE-KX */
    {10, 12, 1}, /* 10GBASE-CR */
    {25, 27, 1}, /* 25GBASE-CR */
    {40, 6, 4},  /* 40GBASE-CR4 */
    {50, 30, 2}, /* 50GBASE-CR2 */
    {100, 20, 4} /* 100GBASE-CR4 */
};

/* The last mode that the nominal rate and the device allow. */
static size_t nominal_mode(const struct vcx_device *device)
{
    uint64_t gbps = vcx_least(vcx_model(device)->most_gbps, device->configuration.nominal_bps / 1000000000u);
    size_t i = VCX_COUNT(modes) - 1;
    while (i > 0 && modes[i].gbps > gbps)
        i--;
    return i;
}

/* That of the nominal rate: the line has no other, and what is listed is accepted. */
uint32_t vcx_link_mode(const struct vcx_device *device)
{
    return 1u << modes[nominal_mode(device)].bit;
}

/* The rate of that mode. */
static uint16_t link_gbps(const struct vcx_device *device)
{
    return modes[nominal_mode(device)].gbps;
}

uint8_t vcx_link_lanes(const struct vcx_device *device)
{
    return modes[nominal_mode(device)].lanes == 1 ? 1 : 4;
}

/* ---- state, MTU, lanes and checks of the port */

#define LEAST_MTU         64 /* of a frame, without FCS */
#define VIRTUAL_LANES_0_3 4  /* encoded */

enum { STATE_UP = 1, STATE_DOWN = 2 };
#define PAGE_TROUBLESHOOTING 1
/* as the driver's reading of PDDR translates them: a command closed the port, the cable is out */
enum { PROBLEM_NONE = 0, PROBLEM_CLOSED = 1, PROBLEM_UNPLUGGED = 1024 };

static enum vcx_status pmtu(struct vcx_register_call *call)
{
    struct vcx_port_settings *settings = vcx_port_settings(call->device);
    if (call->write) {
        uint64_t mtu = vcx_get(call->in, pmtu_reg, admin_mtu);
        if (mtu < LEAST_MTU || mtu > VCX_MOST_MTU)
            return VCX_BAD_PARAMETER;
        settings->mtu = (uint16_t)mtu;
        vcx_port_settings_changed(call->device);
    }
    vcx_set(call->out, pmtu_reg, max_mtu, VCX_MOST_MTU);
    vcx_set(call->out, pmtu_reg, admin_mtu, settings->mtu);
    vcx_set(call->out, pmtu_reg, oper_mtu, settings->mtu);
    return VCX_OK;
}

/* What a write names is changed: the state where ase is set, the events where ee is. */
static bool set_state(struct vcx_register_call *call)
{
    uint64_t state = vcx_get(call->in, paos_reg, admin_status);
    bool select = vcx_get(call->in, paos_reg, ase);
    if (select && state != STATE_UP && state != STATE_DOWN)
        return false;
    if (vcx_get(call->in, paos_reg, ee))
        call->device->registers_kept->port_events = (uint8_t)vcx_get(call->in, paos_reg, e);
    if (select) {
        vcx_port_settings(call->device)->admin_up = state == STATE_UP;
        vcx_port_settings_changed(call->device);
    }
    return true;
}

static enum vcx_status paos(struct vcx_register_call *call)
{
    if (call->write && !set_state(call))
        return VCX_BAD_PARAMETER;
    vcx_set(call->out, paos_reg, admin_status,
            vcx_port_settings(call->device)->admin_up ? STATE_UP : STATE_DOWN);
    vcx_set(call->out, paos_reg, oper_status, vcx_port_is_up(call->device) ? STATE_UP : STATE_DOWN);
    vcx_set(call->out, paos_reg, e, call->device->registers_kept->port_events);
    return VCX_OK;
}

/* Why the link is down. */
static enum vcx_status pddr(struct vcx_register_call *call)
{
    uint32_t reason = PROBLEM_NONE;
    if (vcx_get(call->in, pddr_reg, page_select) != PAGE_TROUBLESHOOTING)
        return VCX_BAD_PARAMETER;
    if (!vcx_port_is_up(call->device))
        reason = vcx_port_settings(call->device)->admin_up ? PROBLEM_UNPLUGGED : PROBLEM_CLOSED;
    vcx_set(call->out, pddr_reg, page_select, PAGE_TROUBLESHOOTING);
    vcx_set(vcx_at(call->out, pddr_reg, page_data), pddr_troubleshooting_page, monitor_opcode, reason);
    return VCX_OK;
}

/* Lane n of the port is lane n of module 0. */
static enum vcx_status pmlp(struct vcx_register_call *call)
{
    uint8_t lanes = vcx_link_lanes(call->device), *lane = vcx_at(call->out, pmlp_reg, lane0_module_mapping);
    vcx_set(call->out, pmlp_reg, width, lanes);
    for (uint8_t i = 0; i < lanes; i++) {
        vcx_set(lane + 4 * i, lane_2_module_mapping, rx_lane, i);
        vcx_set(lane + 4 * i, lane_2_module_mapping, tx_lane, i);
    }
    return VCX_OK;
}

static enum vcx_status pvlc(struct vcx_register_call *call)
{
    vcx_set(call->out, pvlc_reg, vl_hw_cap, VIRTUAL_LANES_0_3);
    vcx_set(call->out, pvlc_reg, vl_admin, VIRTUAL_LANES_0_3);
    vcx_set(call->out, pvlc_reg, vl_operational, VIRTUAL_LANES_0_3);
    return VCX_OK;
}

static enum vcx_status pcmr(struct vcx_register_call *call)
{
    struct vcx_register_state *state = call->device->registers_kept;
    if (call->write)
        state->fcs_check = vcx_get(call->in, pcmr_reg, fcs_chk);
    vcx_set(call->out, pcmr_reg, fcs_cap, 1);
    vcx_set(call->out, pcmr_reg, fcs_chk, state->fcs_check);
    return VCX_OK;
}

static enum vcx_status mlcr(struct vcx_register_call *call)
{
    struct vcx_register_state *state = call->device->registers_kept;
    if (call->write)
        state->beacon_s = (uint16_t)vcx_get(call->in, mlcr_reg, beacon_duration);
    vcx_set(call->out, mlcr_reg, beacon_duration, state->beacon_s);
    vcx_set(call->out, mlcr_reg, beacon_remain, state->beacon_s);
    return VCX_OK;
}

/* DCBX is the host's: the firmware sends and takes no LLDP, whatever version is set. */
static enum vcx_status dcbx_param(struct vcx_register_call *call)
{
    struct vcx_register_state *state = call->device->registers_kept;
    if (call->write) {
        uint64_t classes = vcx_get(call->in, dcbx_param, num_of_tc_admin),
                 pfc = vcx_get(call->in, dcbx_param, pfc_cap_admin);
        if (classes > VCX_PRIORITIES || pfc > VCX_PRIORITIES)
            return VCX_BAD_PARAMETER;
        state->dcbx_version = (uint8_t)vcx_get(call->in, dcbx_param, version_admin);
        state->dcbx_willing = vcx_get(call->in, dcbx_param, willing_admin);
        state->dcbx_traffic_classes = (uint8_t)classes;
        state->dcbx_pfc_classes = (uint8_t)pfc;
    }
    vcx_set(call->out, dcbx_param, dcbx_cee_cap, 1);
    vcx_set(call->out, dcbx_param, dcbx_ieee_cap, 1);
    vcx_set(call->out, dcbx_param, version_admin, state->dcbx_version);
    vcx_set(call->out, dcbx_param, willing_admin, state->dcbx_willing);
    vcx_set(call->out, dcbx_param, pfc_cap_oper, state->dcbx_pfc_classes);
    vcx_set(call->out, dcbx_param, pfc_cap_admin, state->dcbx_pfc_classes);
    vcx_set(call->out, dcbx_param, num_of_tc_oper, state->dcbx_traffic_classes);
    vcx_set(call->out, dcbx_param, num_of_tc_admin, state->dcbx_traffic_classes);
    return VCX_OK;
}

const struct vcx_register vcx_registers_port[] = {
    {0x5003, 16, VCX_REGISTER_PORT_RW, pmtu},
    {0x5006, 16, VCX_REGISTER_PORT_RW, paos},
    {0x5002, 20, VCX_REGISTER_OF_PORT, pmlp},
    {0x500f, 16, VCX_REGISTER_OF_PORT, pvlc},
    {0x5031, 256, VCX_REGISTER_OF_PORT, pddr},
    {0x5041, 12, VCX_REGISTER_PORT_RW, pcmr},
    {0x902b, 12, VCX_REGISTER_PORT_RW, mlcr},
    {0x4020, 64, VCX_REGISTER_PORT_RW, dcbx_param},
    {0},
};

/* ---- speeds and error correction: PTYS and PPLM */

#define PROTOCOL_ETHERNET (1u << 2) /* MLX5_PTYS_EN */
#define COPPER_CABLE      7         /* MLX5E_PORT_DA */
#define UNIT_OF_RATE      100000000u

enum { NEGOTIATION_NONE = 0, NEGOTIATION_COMPLETE = 1 };

/* The line has one speed: modes without it are refused. */
static bool set_modes(struct vcx_register_call *call)
{
    struct vcx_register_state *state = call->device->registers_kept;
    uint32_t asked = (uint32_t)vcx_get(call->in, ptys_reg, eth_proto_admin);
    if (vcx_get(call->in, ptys_reg, ext_eth_proto_admin) != 0 || asked != vcx_link_mode(call->device))
        return false;
    state->autonegotiation_off = vcx_get(call->in, ptys_reg, an_disable_admin);
    return true;
}

static enum vcx_status ptys(struct vcx_register_call *call)
{
    const struct vcx_register_state *state = call->device->registers_kept;
    bool up = vcx_port_is_up(call->device);
    uint8_t *out = call->out;
    if (call->write && (!(vcx_get(call->in, ptys_reg, proto_mask) & PROTOCOL_ETHERNET) || !set_modes(call)))
        return VCX_BAD_PARAMETER;
    vcx_set(out, ptys_reg, proto_mask, PROTOCOL_ETHERNET);
    vcx_set(out, ptys_reg, an_disable_cap, 1);
    vcx_set(out, ptys_reg, an_disable_admin, state->autonegotiation_off);
    vcx_set(out, ptys_reg, an_status,
            up && !state->autonegotiation_off ? NEGOTIATION_COMPLETE : NEGOTIATION_NONE);
    vcx_set(out, ptys_reg, eth_proto_capability, vcx_link_mode(call->device));
    vcx_set(out, ptys_reg, eth_proto_admin, vcx_link_mode(call->device));
    vcx_set(out, ptys_reg, connector_type, COPPER_CABLE);
    if (up) {
        vcx_set(out, ptys_reg, data_rate_oper, link_gbps(call->device) * (1000000000u / UNIT_OF_RATE));
        vcx_set(out, ptys_reg, eth_proto_oper, vcx_link_mode(call->device));
        vcx_set(out, ptys_reg, eth_proto_lp_advertise, vcx_link_mode(call->device));
    }
    return VCX_OK;
}

/* ---- forward error correction */

/* Bits none, Fire code (BASE-R), Reed-Solomon; 0 as a setting is the device's choice. */

#define FEC_NONE    1
#define FEC_FIRE    2
#define FEC_REED    4
#define FEC_OF_10G  (FEC_NONE | FEC_FIRE)
#define FEC_OF_25G  (FEC_NONE | FEC_FIRE | FEC_REED)
#define FEC_OF_100G (FEC_NONE | FEC_REED)

static uint32_t active_fec(const struct vcx_device *device)
{
    const struct vcx_register_state *state = device->registers_kept;
    switch (link_gbps(device)) {
    case 25:
        return state->fec_25g ? state->fec_25g : FEC_REED;
    case 50:
        return state->fec_50g ? state->fec_50g : FEC_REED;
    case 100:
        return state->fec_100g ? state->fec_100g : FEC_REED;
    default:
        return state->fec_10g ? state->fec_10g : FEC_NONE;
    }
}

/* At most one of the kinds that the speed has. */
static bool fec_fits(uint64_t asked, uint32_t able)
{
    return (asked & ~(uint64_t)able) == 0 && (asked & (asked - 1)) == 0;
}

static bool set_fec(const uint8_t *in, struct vcx_register_state *state)
{
    uint64_t of_10g = vcx_get(in, pplm_reg, fec_override_admin_10g_40g),
             of_25g = vcx_get(in, pplm_reg, fec_override_admin_25g),
             of_50g = vcx_get(in, pplm_reg, fec_override_admin_50g),
             of_100g = vcx_get(in, pplm_reg, fec_override_admin_100g);
    if (!fec_fits(of_10g, FEC_OF_10G) || !fec_fits(of_25g, FEC_OF_25G) || !fec_fits(of_50g, FEC_OF_25G) ||
        !fec_fits(of_100g, FEC_OF_100G))
        return false;
    state->fec_10g = (uint8_t)of_10g;
    state->fec_25g = (uint8_t)of_25g;
    state->fec_50g = (uint8_t)of_50g;
    state->fec_100g = (uint8_t)of_100g;
    return true;
}

static enum vcx_status pplm(struct vcx_register_call *call)
{
    struct vcx_register_state *state = call->device->registers_kept;
    uint8_t *out = call->out;
    if (call->write && !set_fec(call->in, state))
        return VCX_BAD_PARAMETER;
    vcx_set(out, pplm_reg, fec_mode_active, vcx_port_is_up(call->device) ? active_fec(call->device) : 0);
    vcx_set(out, pplm_reg, fec_override_cap_10g_40g, FEC_OF_10G);
    vcx_set(out, pplm_reg, fec_override_cap_25g, FEC_OF_25G);
    vcx_set(out, pplm_reg, fec_override_cap_50g, FEC_OF_25G);
    vcx_set(out, pplm_reg, fec_override_cap_100g, FEC_OF_100G);
    vcx_set(out, pplm_reg, fec_override_admin_10g_40g, state->fec_10g);
    vcx_set(out, pplm_reg, fec_override_admin_25g, state->fec_25g);
    vcx_set(out, pplm_reg, fec_override_admin_50g, state->fec_50g);
    vcx_set(out, pplm_reg, fec_override_admin_100g, state->fec_100g);
    return VCX_OK;
}

const struct vcx_register vcx_registers_link[] = {
    {0x5004, 52, VCX_REGISTER_OF_PORT | VCX_REGISTER_WRITABLE, ptys},
    {0x5023, 24, VCX_REGISTER_OF_PORT | VCX_REGISTER_WRITABLE, pplm},
    {0},
};

/* ---- counters of the port (PPCNT) and of PCI Express (MPCNT), in groups as the driver reads them */

#define PORT_OF_FUNCTION   2 /* of PPCNT's pnat */
#define NS_PER_MS          1000000u
#define BYTES_ROUND_FRAMES 20 /* preamble, start delimiter and gap */

/* 64-bit counters stand as a high and a low word. */
#define PUT_COUNTER(group, name, value) vcx_put64(vcx_at(out, group, name##_high), value)

/* What a group is written from. */
struct asked {
    const struct vcx_port_counters *counters;
    uint8_t priority;
    uint64_t now_ns;
};

static uint64_t sum_of_priorities(const struct vcx_port_counters *counters, size_t counter)
{
    uint64_t sum = 0;
    for (int i = 0; i < VCX_PRIORITIES; i++)
        sum += *(const uint64_t *)((const uint8_t *)&counters->priority[i] + counter);
    return sum;
}
#define SUM(counters, name) sum_of_priorities(counters, offsetof(struct vcx_priority_counters, name))

static uint64_t unicast_frames(const struct vcx_direction_counters *d)
{
    uint64_t others = d->multicast + d->broadcast;
    return d->frames > others ? d->frames - others : 0;
}

static void ieee_802_3(const struct asked *asked, uint8_t *out)
{
    const struct vcx_port_counters *c = asked->counters;
#define I(name, value) PUT_COUNTER(eth_802_3_cntrs_grp_data_layout, name, value)
    I(a_frames_transmitted_ok, c->tx.frames);
    I(a_frames_received_ok, c->rx.frames);
    I(a_frame_check_sequence_errors, c->rx_fcs_errors);
    I(a_octets_transmitted_ok, c->tx.bytes);
    I(a_octets_received_ok, c->rx.bytes);
    I(a_multicast_frames_xmitted_ok, c->tx.multicast);
    I(a_broadcast_frames_xmitted_ok, c->tx.broadcast);
    I(a_multicast_frames_received_ok, c->rx.multicast);
    I(a_broadcast_frames_received_ok, c->rx.broadcast);
    I(a_frame_too_long_errors, c->rx_too_long);
    I(a_mac_control_frames_transmitted, c->tx.pause + SUM(c, tx_pause));
    I(a_mac_control_frames_received, c->rx.pause + SUM(c, rx_pause));
    I(a_pause_mac_ctrl_frames_transmitted, c->tx.pause);
    I(a_pause_mac_ctrl_frames_received, c->rx.pause);
#undef I
}

static void rfc_2863(const struct asked *asked, uint8_t *out)
{
    const struct vcx_port_counters *c = asked->counters;
#define I(name, value) PUT_COUNTER(eth_2863_cntrs_grp_data_layout, name, value)
    I(if_in_octets, c->rx.bytes);
    I(if_in_ucast_pkts, unicast_frames(&c->rx));
    I(if_in_discards, SUM(c, rx_discards));
    I(if_in_errors, c->rx_fcs_errors + c->rx_too_long + c->rx_too_short);
    I(if_out_octets, c->tx.bytes);
    I(if_out_ucast_pkts, unicast_frames(&c->tx));
    I(if_out_discards, c->tx_discards);
    I(if_in_multicast_pkts, c->rx.multicast);
    I(if_in_broadcast_pkts, c->rx.broadcast);
    I(if_out_multicast_pkts, c->tx.multicast);
    I(if_out_broadcast_pkts, c->tx.broadcast);
#undef I
}

/* The counters by size follow one another, from 64 octets to 10239. */
static void rfc_2819(const struct asked *asked, uint8_t *out)
{
    const struct vcx_port_counters *c = asked->counters;
    uint8_t *sizes = vcx_at(out, eth_2819_cntrs_grp_data_layout, ether_stats_pkts64octets_high);
#define I(name, value) PUT_COUNTER(eth_2819_cntrs_grp_data_layout, name, value)
    I(ether_stats_drop_events, SUM(c, rx_discards));
    I(ether_stats_octets, c->rx.bytes);
    I(ether_stats_pkts, c->rx.frames);
    I(ether_stats_broadcast_pkts, c->rx.broadcast);
    I(ether_stats_multicast_pkts, c->rx.multicast);
    I(ether_stats_crc_align_errors, c->rx_fcs_errors);
    I(ether_stats_undersize_pkts, c->rx_too_short);
    I(ether_stats_oversize_pkts, c->rx_too_long);
#undef I
    for (size_t i = 0; i < VCX_COUNT(c->rx.of_size); i++)
        vcx_put64(sizes + 8 * i, c->rx.of_size[i]);
}

static void rfc_3635(const struct asked *asked, uint8_t *out)
{
    const struct vcx_port_counters *c = asked->counters;
#define I(name, value) PUT_COUNTER(eth_3635_cntrs_grp_data_layout, name, value)
    I(dot3stats_fcs_errors, c->rx_fcs_errors);
    I(dot3stats_frame_too_longs, c->rx_too_long);
    I(dot3in_pause_frames, c->rx.pause);
    I(dot3out_pause_frames, c->tx.pause);
#undef I
}

static void put_extended_counters(const struct asked *asked, uint8_t *out)
{
    PUT_COUNTER(eth_extended_cntrs_grp_data_layout, rx_buffer_almost_full,
                asked->counters->rx_passed_threshold);
}

/* Global pause stands with priority 0, and so does the driver read it. */
static void per_priority(const struct asked *asked, uint8_t *out)
{
    const struct vcx_port_counters *c = asked->counters;
    const struct vcx_priority_counters *p = &c->priority[asked->priority];
    bool global = asked->priority == 0;
#define I(name, value) PUT_COUNTER(eth_per_prio_grp_data_layout, name, value)
    I(rx_octets, p->rx_bytes);
    I(rx_frames, p->rx_frames);
    I(tx_octets, p->tx_bytes);
    I(tx_frames, p->tx_frames);
    I(rx_pause, p->rx_pause + (global ? c->rx.pause : 0));
    I(rx_pause_duration, p->rx_pause_us + (global ? c->rx_pause_us : 0));
    I(tx_pause, p->tx_pause + (global ? c->tx.pause : 0));
    I(tx_pause_duration, p->tx_pause_us + (global ? c->tx_pause_us : 0));
    I(rx_pause_transition, p->rx_pause_transitions + (global ? c->rx_pause_transitions : 0));
    I(rx_discards, p->rx_discards);
    I(device_stall_minor_watermark_cnt, c->minor_stalls);
    I(device_stall_critical_watermark_cnt, c->critical_stalls);
#undef I
}

/* The driver shows these two by priority. */
static void per_class(const struct asked *asked, uint8_t *out)
{
    const struct vcx_port_counters *c = asked->counters;
    PUT_COUNTER(eth_per_tc_prio_grp_data_layout, no_buffer_discard_uc,
                c->priority[asked->priority].rx_discards);
}

static void per_class_congestion(const struct asked *asked, uint8_t *out)
{
    const struct vcx_port_counters *c = asked->counters;
    PUT_COUNTER(eth_per_tc_congest_prio_grp_data_layout, ecn_marked_tc,
                c->priority[asked->priority].rx_marked);
}

static void put_physical_counters(const struct asked *asked, uint8_t *out)
{
    const struct vcx_port_counters *c = asked->counters;
    PUT_COUNTER(phys_layer_cntrs, time_since_last_clear, asked->now_ns / NS_PER_MS);
    vcx_set(out, phys_layer_cntrs, link_down_events, c->link_downs);
}

/* A line without errors: every received bit is right. */
static void physical_statistical(const struct asked *asked, uint8_t *out)
{
    const struct vcx_port_counters *c = asked->counters;
    PUT_COUNTER(phys_layer_statistical_cntrs, time_since_last_clear, asked->now_ns / NS_PER_MS);
    PUT_COUNTER(phys_layer_statistical_cntrs, phy_received_bits,
                8 * (c->rx.bytes + BYTES_ROUND_FRAMES * c->rx.frames));
}

static const struct {
    uint8_t number;
    void (*write)(const struct asked *asked, uint8_t *out);
} groups[] = {
    {0x00, ieee_802_3},
    {0x01, rfc_2863},
    {0x02, rfc_2819},
    {0x03, rfc_3635},
    {0x05, put_extended_counters},
    {0x10, per_priority},
    {0x11, per_class},
    {0x12, put_physical_counters},
    {0x13, per_class_congestion},
    {0x16, physical_statistical},
};

/* false: there is no such group. */
static bool write_group(uint64_t number, const struct asked *asked, uint8_t *out)
{
    for (size_t i = 0; i < VCX_COUNT(groups); i++)
        if (groups[i].number == number) {
            groups[i].write(asked, out);
            return true;
        }
    return false;
}

/* The port by its number, or the one of the function that asks, whatever number stands there (mlx5e asks
 * for the counters of traffic classes so). */
static bool names_port(const struct vcx_register_call *call)
{
    return vcx_get(call->in, ppcnt_reg, pnat) == PORT_OF_FUNCTION ||
           vcx_get(call->in, ppcnt_reg, local_port) == VCX_LOCAL_PORT;
}

/* Counters are never cleared: that they are asked to be is refused. */
static enum vcx_status ppcnt(struct vcx_register_call *call)
{
    uint64_t group = vcx_get(call->in, ppcnt_reg, grp), priority = vcx_get(call->in, ppcnt_reg, prio_tc);
    struct asked asked = {vcx_port_counters(call->device), (uint8_t)priority, vcx_now_ns(call->device)};
    if (!names_port(call) || vcx_get(call->in, ppcnt_reg, clr) ||
        !write_group(group, &asked, vcx_at(call->out, ppcnt_reg, counter_set)))
        return VCX_BAD_PARAMETER;
    vcx_set(call->out, ppcnt_reg, local_port, VCX_LOCAL_PORT);
    vcx_set(call->out, ppcnt_reg, grp, group);
    vcx_set(call->out, ppcnt_reg, prio_tc, priority);
    return VCX_OK;
}

/* A link to the host without errors, that never lacks credits. */
static enum vcx_status mpcnt(struct vcx_register_call *call)
{
    uint8_t *out = vcx_at(call->out, mpcnt_reg, counter_set);
    if (vcx_get(call->in, mpcnt_reg, pcie_index) || vcx_get(call->in, mpcnt_reg, grp) ||
        vcx_get(call->in, mpcnt_reg, clr))
        return VCX_BAD_PARAMETER;
    PUT_COUNTER(pcie_perf_cntrs_grp_data_layout, life_time_counter, vcx_now_ns(call->device) / NS_PER_MS);
    return VCX_OK;
}

const struct vcx_register vcx_registers_counters[] = {
    {0x5008, 256, 0, ppcnt},
    {0x9051, 256, 0, mpcnt},
    {0},
};
