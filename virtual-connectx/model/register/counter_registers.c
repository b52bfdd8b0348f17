// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Counters of the port (PPCNT) and of PCI Express (MPCNT), in groups as the driver reads them. */
#include "virtual-connectx/model/port/function.h"
#include "virtual-connectx/model/register/register.h"

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

static uint64_t unicast(const struct vcx_direction_counters *d)
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
    I(if_in_ucast_pkts, unicast(&c->rx));
    I(if_in_discards, SUM(c, rx_discards));
    I(if_in_errors, c->rx_fcs_errors + c->rx_too_long + c->rx_too_short);
    I(if_out_octets, c->tx.bytes);
    I(if_out_ucast_pkts, unicast(&c->tx));
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

static void extended(const struct asked *asked, uint8_t *out)
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

static void physical(const struct asked *asked, uint8_t *out)
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
    {0x05, extended},
    {0x10, per_priority},
    {0x11, per_class},
    {0x12, physical},
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

/* The port by its number, or the one of the function that asks, whatever number stands there (mlx5e asks for the counters of traffic
 * classes so). */
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
