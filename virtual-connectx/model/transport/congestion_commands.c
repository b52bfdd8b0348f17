// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Congestion control as the driver sees it: parameters, where it is enabled, and statistics. */
#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/transport/transport.h"

#define QUERY_CONG_STATUS     0x822
#define MODIFY_CONG_STATUS    0x823
#define QUERY_CONG_PARAMS     0x824
#define MODIFY_CONG_PARAMS    0x825
#define QUERY_CONG_STATISTICS 0x826

#define BPS_PER_MBPS 1000000u
#define NS_PER_US    1000u
#define BITS(n)      (uint32_t)((1ull << (n)) - 1)

/* A parameter: its bit of field_select (the driver's MLX5_IB_RP_*_ATTR, MLX5_IB_NP_*_ATTR), its range, and mlx5's default. */
struct row {
    uint32_t select, place, least, most, standard;
};
#define REACTION(bit, field, ...)                                         \
    {                                                                     \
        1u << (bit), VCX_cong_control_r_roce_ecn_rp__##field, __VA_ARGS__ \
    }
#define NOTIFICATION(bit, field, ...)                                     \
    {                                                                     \
        1u << (bit), VCX_cong_control_r_roce_ecn_np__##field, __VA_ARGS__ \
    }

static const struct row reaction_rows[] = {
    REACTION(1, clamp_tgt_rate, 0, 1, 0),
    REACTION(2, clamp_tgt_rate_after_time_inc, 0, 1, 1),
    REACTION(3, rpg_time_reset, 0, BITS(17), 300),
    REACTION(4, rpg_byte_reset, 0, BITS(15), 32767),
    REACTION(5, rpg_threshold, 0, BITS(5), 1),
    REACTION(6, rpg_max_rate, 0, BITS(32), 0),
    REACTION(7, rpg_ai_rate, 0, BITS(17), 5),
    REACTION(8, rpg_hai_rate, 0, BITS(17), 50),
    REACTION(9, rpg_min_dec_fac, 0, 100, 50),
    REACTION(10, rpg_min_rate, 1, BITS(17), 1),
    REACTION(11, rate_to_set_on_first_cnp, 0, BITS(32), 0),
    REACTION(12, dce_tcp_g, 0, BITS(10), 1019),
    REACTION(13, dce_tcp_rtt, 1, BITS(17), 1),
    REACTION(14, rate_reduce_monitor_period, 1, BITS(17), 4),
    REACTION(15, initial_alpha_value, 1, BITS(10), 1023),
    REACTION(16, rpg_gd, 0, BITS(4), 11),
};
static const struct row notification_rows[] = {
    NOTIFICATION(2, min_time_between_cnps, 0, BITS(17), 4),
    NOTIFICATION(3, cnp_dscp, 0, BITS(6), 48),
    NOTIFICATION(4, cnp_prio_mode, 0, 1, 0),
    NOTIFICATION(4, cnp_802p_prio, 0, BITS(3), 6),
};
static const struct {
    const struct row *rows;
    size_t count;
} points[VCX_CONGESTION_POINTS] = {
    [VCX_REACTION_POINT] = {reaction_rows, VCX_COUNT(reaction_rows)},
    [VCX_NOTIFICATION_POINT] = {notification_rows, VCX_COUNT(notification_rows)},
};

/* ---- the device's */

#define OF_REACTION(field) vcx_get(block, cong_control_r_roce_ecn_rp, field)

static uint64_t rate_of(uint64_t megabits, uint64_t most)
{
    return vcx_least(megabits * BPS_PER_MBPS, most);
}

void vcx_congestion_update(struct vcx_device *device)
{
    const uint8_t *block = device->congestion->block[VCX_REACTION_POINT];
    uint64_t line = device->configuration.nominal_bps, most = rate_of(OF_REACTION(rpg_max_rate), line);
    uint32_t alpha = (uint32_t)OF_REACTION(initial_alpha_value);
    if (!most)
        most = line;
    device->congestion->reaction = (struct vcx_reaction_parameters){
        .most_bps = most,
        .least_bps = rate_of(OF_REACTION(rpg_min_rate), most),
        .additive_bps = rate_of(OF_REACTION(rpg_ai_rate), line),
        .hyper_bps = rate_of(OF_REACTION(rpg_hai_rate), line),
        .first_bps = rate_of(OF_REACTION(rate_to_set_on_first_cnp), most),
        .keep = (uint32_t)OF_REACTION(dce_tcp_g) * (VCX_FRACTION / 1024),
        .initial_alpha =
            alpha == BITS(10) ? VCX_FRACTION : alpha * (VCX_FRACTION / 1024), /* the largest is 1 */
        .least_factor = (uint32_t)(OF_REACTION(rpg_min_dec_fac) * (uint64_t)VCX_FRACTION / 100),
        .log_decrease = (uint32_t)OF_REACTION(rpg_gd),
        .alpha_ns = OF_REACTION(dce_tcp_rtt) * NS_PER_US,
        .decrease_ns = OF_REACTION(rate_reduce_monitor_period) * NS_PER_US,
        .increase_ns = OF_REACTION(rpg_time_reset) * NS_PER_US,
        .byte_reset = (uint32_t)OF_REACTION(rpg_byte_reset),
        .threshold = (uint32_t)OF_REACTION(rpg_threshold),
        .clamp = OF_REACTION(clamp_tgt_rate),
        .clamp_after_timer = OF_REACTION(clamp_tgt_rate_after_time_inc)};
}

int vcx_congestion_start(struct vcx_device *device)
{
    struct vcx_congestion *c = vcx_allocate(sizeof *c);
    device->congestion = c;
    if (!c)
        return -1;
    for (int point = 0; point < VCX_CONGESTION_POINTS; point++) {
        for (size_t i = 0; i < points[point].count; i++)
            vcx_set_place(c->block[point], points[point].rows[i].place, points[point].rows[i].standard);
        memset(c->enabled[point], true, sizeof c->enabled[point]);
    }
    vcx_congestion_update(device);
    return 0;
}

void vcx_congestion_stop(struct vcx_device *device)
{
    vcx_release(device->congestion);
    device->congestion = NULL;
}

/* ---- commands */

/* false: no such protocol. The points are numbered from 1. */
static bool point_of(uint64_t protocol, uint32_t *point)
{
    *point = (uint32_t)protocol - 1;
    return *point < VCX_CONGESTION_POINTS;
}

static enum vcx_status query_status(struct vcx_call *call)
{
    uint32_t point;
    uint64_t priority = vcx_get(call->in, query_cong_status_in, priority);
    if (!point_of(vcx_get(call->in, query_cong_status_in, cong_protocol), &point) ||
        priority >= VCX_PRIORITIES)
        return VCX_BAD_PARAMETER;
    vcx_set(call->out, query_cong_status_out, enable, call->device->congestion->enabled[point][priority]);
    return VCX_OK;
}

static enum vcx_status modify_status(struct vcx_call *call)
{
    uint32_t point;
    uint64_t priority = vcx_get(call->in, modify_cong_status_in, priority);
    if (!point_of(vcx_get(call->in, modify_cong_status_in, cong_protocol), &point) ||
        priority >= VCX_PRIORITIES)
        return VCX_BAD_PARAMETER;
    call->device->congestion->enabled[point][priority] = vcx_get(call->in, modify_cong_status_in, enable);
    return VCX_OK;
}

static enum vcx_status query_parameters(struct vcx_call *call)
{
    uint32_t point;
    if (!point_of(vcx_get(call->in, query_cong_params_in, cong_protocol), &point))
        return VCX_BAD_PARAMETER;
    memcpy(vcx_at(call->out, query_cong_params_out, congestion_parameters),
           call->device->congestion->block[point], VCX_CONGESTION_BLOCK);
    return VCX_OK;
}

/* All that are selected, or none. */
static enum vcx_status modify_parameters(struct vcx_call *call)
{
    uint32_t point, select = vcx_be32(vcx_at(call->in, modify_cong_params_in, field_select));
    const uint8_t *from = vcx_at(call->in, modify_cong_params_in, congestion_parameters);
    if (!point_of(vcx_get(call->in, modify_cong_params_in, cong_protocol), &point))
        return VCX_BAD_PARAMETER;
    const struct row *rows = points[point].rows;
    for (size_t i = 0; i < points[point].count; i++) {
        uint64_t value = vcx_get_place(from, rows[i].place);
        if (select & rows[i].select && (value < rows[i].least || value > rows[i].most))
            return VCX_BAD_PARAMETER;
    }
    for (size_t i = 0; i < points[point].count; i++)
        if (select & rows[i].select)
            vcx_set_place(call->device->congestion->block[point], rows[i].place,
                          vcx_get_place(from, rows[i].place));
    vcx_congestion_update(call->device);
    return VCX_OK;
}

/* Queue pairs that send slower than they might. */
static uint32_t limited_flows(struct vcx_device *device)
{
    const struct vcx_reaction_parameters *p = &device->congestion->reaction;
    uint64_t now_ns = vcx_nominal_ns(device, vcx_now_ns(device));
    uint32_t count = 0;
    for (struct vcx_qp *qp = vcx_object_from(device, VCX_QP, 0); qp;
         qp = vcx_object_from(device, VCX_QP, qp->object.id + 1)) {
        vcx_reaction_advance(&qp->reaction, p, now_ns);
        count += qp->reaction.started && qp->reaction.rate_bps < p->most_bps;
    }
    return count;
}

static enum vcx_status query_statistics(struct vcx_call *call)
{
    struct vcx_congestion *c = call->device->congestion;
    uint64_t now = vcx_now_ns(call->device);
#define PUT(name, value)                                                                       \
    do {                                                                                       \
        vcx_set(call->out, query_cong_statistics_out, name##_high, (uint32_t)((value) >> 32)); \
        vcx_set(call->out, query_cong_statistics_out, name##_low, (uint32_t)(value));          \
    } while (0)
    PUT(rp_cnp_ignored, c->cnps_ignored);
    PUT(rp_cnp_handled, c->cnps_handled);
    PUT(np_ecn_marked_roce_packets, c->marked);
    PUT(np_cnp_sent, c->cnps_sent);
    PUT(time_stamp, now);
#undef PUT
    vcx_set(call->out, query_cong_statistics_out, rp_cur_flows, limited_flows(call->device));
    vcx_set(call->out, query_cong_statistics_out, sum_flows, c->flows);
    if (vcx_get(call->in, query_cong_statistics_in, clear))
        c->cnps_ignored = c->cnps_handled = c->marked = c->cnps_sent = c->flows = 0;
    return VCX_OK;
}

#define BLOCK_AFTER(structure) (vcx_offset(structure, congestion_parameters) + VCX_CONGESTION_BLOCK)

const struct vcx_command vcx_commands_congestion[] = {
    {QUERY_CONG_STATUS, 16, 16, query_status},
    {MODIFY_CONG_STATUS, 16, 16, modify_status},
    {QUERY_CONG_PARAMS, 16, BLOCK_AFTER(query_cong_params_out), query_parameters},
    {MODIFY_CONG_PARAMS, BLOCK_AFTER(modify_cong_params_in), 16, modify_parameters},
    {QUERY_CONG_STATISTICS, 16, vcx_offset(query_cong_statistics_out, np_cnp_sent_low) + 4, query_statistics},
    {0},
};
