// SPDX-License-Identifier: GPL-2.0 OR MIT
/* DCQCN: a queue pair's rate machine, marks and CNPs on their way, and what the driver sets and reads of
 * them. */
#include "virtual-connectx/model/transport/congestion.h"
#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/deliver.h"
#include "virtual-connectx/model/late.h"
#include "virtual-connectx/model/transport/transport.h"

#define FRACTION_BITS 30
#define NS_PER_S      1000000000u
/* The decrease clock runs one nanosecond behind the alpha clock, so that a decrease sees alpha after the
 * update of the same instant. */
#define DECREASE_LAG_NS    1u
#define TICKS_AT_A_TIME    4096u
#define TICKS_LOOKED_AHEAD 64u
#define NEVER              UINT64_MAX

/* a * part of VCX_FRACTION; a below 2^40 */
static uint64_t share_of(uint64_t a, uint32_t part)
{
    return (a * (part >> 6)) >> (FRACTION_BITS - 6);
}

/* x^n of a fraction. */
static uint32_t fraction_power(uint32_t x, uint64_t n)
{
    uint64_t result = VCX_FRACTION, square = x;
    for (; n && result; n >>= 1) {
        if (n & 1)
            result = result * square >> FRACTION_BITS;
        square = square * square >> FRACTION_BITS;
    }
    return (uint32_t)result;
}

/* ---- the nominal line's time */

/* value * by / per without overflow for rates in Mbit/s */
static uint64_t rate_scaled(uint64_t value, uint64_t by, uint64_t per)
{
    return value / per * by + value % per * by / per;
}

static uint64_t to_megabits(uint64_t bps)
{
    return vcx_most(1, bps / 1000000);
}

uint64_t vcx_stretch_ns(const struct vcx_device *device, uint64_t nominal_ns)
{
    return rate_scaled(nominal_ns, to_megabits(device->configuration.nominal_bps),
                       to_megabits(device->configuration.line_bps));
}

/* The nominal line's clock. */
static uint64_t vcx_nominal_ns(const struct vcx_device *device, uint64_t ns)
{
    return rate_scaled(ns, to_megabits(device->configuration.line_bps),
                       to_megabits(device->configuration.nominal_bps));
}

/* ---- the reaction point */

/* Alpha's ticks up to `at`: the first may have seen a CNP, the rest have not. */
static void run_alpha_clock(struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint64_t at_ns)
{
    if (r->alpha_tick_ns > at_ns)
        return;
    uint64_t ticks = (at_ns - r->alpha_tick_ns) / p->alpha_ns + 1;
    r->alpha = (uint32_t)((uint64_t)r->alpha * p->keep >> FRACTION_BITS);
    if (r->cnp_since_alpha_tick)
        r->alpha += VCX_FRACTION - p->keep;
    if (ticks > 1)
        r->alpha = (uint32_t)((uint64_t)r->alpha * fraction_power(p->keep, ticks - 1) >> FRACTION_BITS);
    r->cnp_since_alpha_tick = false;
    r->alpha_tick_ns += ticks * p->alpha_ns;
}

static void reaction_decrease(struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint64_t at_ns)
{
    run_alpha_clock(r, p, at_ns);
    if (p->clamp || r->byte_stage > 0 || (p->clamp_after_timer && r->timer_stage > 0))
        r->target_bps = r->rate_bps;
    uint64_t cut = vcx_least(((uint64_t)r->alpha << 10) >> p->log_decrease, VCX_FRACTION);
    uint32_t factor = (uint32_t)vcx_most(VCX_FRACTION - cut, p->least_factor);
    r->rate_bps = vcx_most(share_of(r->rate_bps, factor), p->least_bps);
    r->timer_stage = 0;
    r->byte_stage = 0;
    r->bytes_left = p->byte_reset;
    r->decreased = true;
    r->increase_tick_ns = at_ns + p->increase_ns;
    r->decrease_base_ns = at_ns;
    r->decrease_waits = false;
}

/* Fast recovery until a stage counter reaches the threshold, additive from there, hyper once all counters
 * in use are above it. */
static void reaction_increase(struct vcx_reaction *r, const struct vcx_reaction_parameters *p)
{
    uint64_t most = vcx_most(r->timer_stage, r->byte_stage), least = vcx_least(r->timer_stage, r->byte_stage);
    if (!p->byte_reset)
        least = r->timer_stage;
    if (least > p->threshold)
        r->target_bps += p->hyper_bps;
    else if (most >= p->threshold)
        r->target_bps += p->additive_bps;
    r->target_bps = vcx_least(r->target_bps, p->most_bps);
    r->rate_bps = (r->rate_bps + r->target_bps + 1) / 2;
}

static uint64_t next_decrease(const struct vcx_reaction *r)
{
    return r->decrease_waits ? r->decrease_tick_ns : NEVER;
}

static uint64_t next_increase(const struct vcx_reaction *r, const struct vcx_reaction_parameters *p)
{
    return r->decreased && p->increase_ns ? r->increase_tick_ns : NEVER;
}

static void reaction_tick(struct vcx_reaction *r, const struct vcx_reaction_parameters *p)
{
    if (next_decrease(r) <= next_increase(r, p)) {
        reaction_decrease(r, p, r->decrease_tick_ns);
        return;
    }
    reaction_increase(r, p);
    r->timer_stage++;
    r->increase_tick_ns += p->increase_ns;
}

/* At the highest rate further increases change nothing but their count. */
static void skip_idle(struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint64_t now_ns)
{
    uint64_t end = vcx_least(now_ns, next_decrease(r));
    if (r->rate_bps < p->most_bps || next_increase(r, p) >= end)
        return;
    uint64_t ticks = (end - r->increase_tick_ns) / p->increase_ns;
    r->timer_stage = (uint32_t)vcx_least(r->timer_stage + ticks, UINT32_MAX / 2);
    r->increase_tick_ns += ticks * p->increase_ns;
}

bool vcx_reaction_advance(struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint64_t now_ns)
{
    for (uint32_t done = 0; vcx_least(next_decrease(r), next_increase(r, p)) <= now_ns; done++) {
        if (done == TICKS_AT_A_TIME)
            return false;
        skip_idle(r, p, now_ns);
        reaction_tick(r, p);
    }
    return true;
}

static void start_reaction(struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint64_t now_ns)
{
    *r = (struct vcx_reaction){.started = true,
                               .rate_bps = p->first_bps ? p->first_bps : p->most_bps,
                               .target_bps = p->first_bps ? p->first_bps : p->most_bps,
                               .alpha = p->initial_alpha,
                               .alpha_tick_ns = now_ns + p->alpha_ns,
                               .decrease_base_ns = now_ns + DECREASE_LAG_NS,
                               .bytes_left = p->byte_reset};
}

void vcx_reaction_cnp(struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint64_t now_ns)
{
    vcx_reaction_advance(r, p, now_ns);
    if (!r->started) {
        start_reaction(r, p, now_ns);
    } else {
        run_alpha_clock(r, p, now_ns);
        r->cnp_since_alpha_tick = true;
    }
    if (r->decrease_waits)
        return;
    uint64_t ticks = now_ns < r->decrease_base_ns ? 1 : (now_ns - r->decrease_base_ns) / p->decrease_ns + 1;
    r->decrease_tick_ns = r->decrease_base_ns + ticks * p->decrease_ns;
    r->decrease_waits = true;
}

static void count_bytes(struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint32_t bytes)
{
    if (!p->byte_reset || !r->decreased)
        return;
    for (r->bytes_left -= bytes; r->bytes_left <= 0; r->bytes_left += p->byte_reset) {
        reaction_increase(r, p);
        r->byte_stage++;
    }
}

/* The time that bits take, by the rate's changes that are known. */
static uint64_t reaction_gap_ns(const struct vcx_reaction *r, const struct vcx_reaction_parameters *p,
                                uint64_t now_ns, uint64_t bits)
{
    struct vcx_reaction ahead = *r;
    uint64_t at_ns = now_ns, units = bits * NS_PER_S; /* bits * ns/s: what is left */
    for (uint32_t i = 0; i < TICKS_LOOKED_AHEAD; i++) {
        uint64_t next = vcx_least(next_decrease(&ahead), next_increase(&ahead, p)), span = next - at_ns;
        if (next == NEVER || units / ahead.rate_bps < span)
            break;
        units -= span * ahead.rate_bps;
        at_ns = next;
        reaction_tick(&ahead, p);
    }
    return at_ns - now_ns + units / ahead.rate_bps;
}

uint64_t vcx_reaction_sent(struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint64_t now_ns,
                           uint32_t bytes)
{
    if (!r->started)
        return 0;
    uint64_t ns = reaction_gap_ns(r, p, now_ns, 8ull * bytes);
    count_bytes(r, p, bytes);
    return ns;
}

/* ---- a queue pair: marks and CNPs on their way, and the pace of what it sends */

#define CNP_BYTES 16u /* of zeros after the base transport header */
#define NS_PER_US 1000u
#define TYPE_TAG  0x8100

static bool point_enabled(const struct vcx_device *device, enum vcx_congestion_point point, uint8_t priority)
{
    return device->congestion->enabled[point][priority % VCX_PRIORITIES];
}

/* ---- the notification point */

#define OF_NOTIFICATION_POINT(field) \
    vcx_get(device->congestion->block[VCX_NOTIFICATION_POINT], cong_control_r_roce_ecn_np, field)

static bool cnp_is_due(const struct vcx_device *device, const struct vcx_qp *qp, uint64_t now_ns)
{
    uint64_t gap = vcx_stretch_ns(device, OF_NOTIFICATION_POINT(min_time_between_cnps) * NS_PER_US);
    return !qp->cnp_sent_ns || now_ns - qp->cnp_sent_ns >= gap;
}

static void route_cnp(struct vcx_device *device, const struct vcx_qp *qp, struct vcx_route *route)
{
    vcx_route_connection(device, qp, route);
    route->path.dscp = (uint8_t)OF_NOTIFICATION_POINT(cnp_dscp);
    route->path.ecn = VCX_ECT_0; /* as captured from a ConnectX-4 Lx */
    if (OF_NOTIFICATION_POINT(cnp_prio_mode)) {
        route->priority = vcx_send_priority(device, route->path.dscp, route->path.pcp);
        return;
    }
    route->path.pcp = (uint8_t)OF_NOTIFICATION_POINT(cnp_802p_prio);
    route->priority = route->path.pcp;
}

static void send_cnp(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns)
{
    static const uint8_t zeros[CNP_BYTES];
    uint8_t *payload;
    struct vcx_packet_header h = {.opcode = VCX_OPCODE_CNP,
                                  .becn = true,
                                  .partition = 0xffff,
                                  .qpn = qp->remote_qpn,
                                  .extension = zeros,
                                  .extension_bytes = CNP_BYTES};
    struct vcx_route route;
    route_cnp(device, qp, &route);
    struct vcx_frame *frame =
        vcx_transport_room(device, &route, CNP_BYTES) ? vcx_packet_open(&route.path, &h, 0, &payload) : NULL;
    if (!frame)
        return;
    qp->cnp_sent_ns = now_ns;
    device->congestion->cnps_sent++;
    vcx_transport_send(device, &route, frame);
}

static uint8_t priority_of(struct vcx_device *device, const struct vcx_packet *packet)
{
    bool tagged = vcx_be16(packet->ethernet + 12) == TYPE_TAG;
    return vcx_send_priority(device, packet->dscp, tagged ? packet->ethernet[14] >> 5 : 0);
}

void vcx_congestion_notify(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_packet *packet)
{
    uint64_t now_ns = vcx_now_ns(device);
    if (packet->ecn != VCX_CE || !vcx_qp_receives(qp) ||
        !point_enabled(device, VCX_NOTIFICATION_POINT, priority_of(device, packet)))
        return;
    device->congestion->marked++;
    if (cnp_is_due(device, qp, now_ns))
        send_cnp(device, qp, now_ns);
}

/* ---- what the reaction point does to sending */

static bool qp_reacts(struct vcx_device *device, const struct vcx_qp *qp)
{
    struct vcx_route route;
    if (qp->state < VCX_QP_RTR || qp->state > VCX_QP_RTS)
        return false;
    vcx_route_connection(device, qp, &route);
    return point_enabled(device, VCX_REACTION_POINT, route.priority);
}

void vcx_congestion_capable(struct vcx_device *device, struct vcx_route *route)
{
    if (point_enabled(device, VCX_REACTION_POINT, route->priority))
        route->path.ecn = VCX_ECT_0;
}

static void slow_down(struct vcx_device *device, struct vcx_qp *qp)
{
    struct vcx_congestion *c = device->congestion;
    c->flows += !qp->reaction.started;
    vcx_reaction_cnp(&qp->reaction, &c->reaction, vcx_nominal_ns(device, vcx_now_ns(device)));
}

void vcx_congestion_cnp(struct vcx_device *device, struct vcx_qp *qp)
{
    struct vcx_congestion *c = device->congestion;
    if (!qp || !qp_reacts(device, qp)) {
        c->cnps_ignored++;
        return;
    }
    slow_down(device, qp);
    c->cnps_handled++;
}

void vcx_congestion_restart(struct vcx_device *device, struct vcx_qp *qp)
{
    device->congestion->cnps_handled++;
    if (qp_reacts(device, qp))
        slow_down(device, qp);
}

bool vcx_congestion_may_send(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns)
{
    if (!qp->reaction.started)
        return true;
    return vcx_reaction_advance(&qp->reaction, &device->congestion->reaction,
                                vcx_nominal_ns(device, now_ns)) &&
           now_ns >= qp->next_send_ns;
}

void vcx_congestion_sent(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns, uint32_t bytes)
{
    if (!qp->reaction.started)
        return;
    uint64_t gap = vcx_reaction_sent(&qp->reaction, &device->congestion->reaction,
                                     vcx_nominal_ns(device, now_ns), bytes);
    vcx_take_ns(&qp->next_send_ns, now_ns, vcx_stretch_ns(device, gap));
}

void vcx_congestion_idle(struct vcx_qp *qp, uint64_t now_ns)
{
    qp->next_send_ns = vcx_most(qp->next_send_ns, now_ns);
}

/* ---- as the driver sees it: parameters, where it is enabled, and statistics */

#define QUERY_CONG_STATUS     0x822
#define MODIFY_CONG_STATUS    0x823
#define QUERY_CONG_PARAMS     0x824
#define MODIFY_CONG_PARAMS    0x825
#define QUERY_CONG_STATISTICS 0x826

#define BPS_PER_MBPS 1000000u
#define BITS(n)      (uint32_t)((1ull << (n)) - 1)

/* A parameter: its bit of field_select (the driver's MLX5_IB_RP_*_ATTR, MLX5_IB_NP_*_ATTR), its range, and
 * mlx5's default. */
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

/* Set the reaction point's parameters from their block. */
static void congestion_update(struct vcx_device *device)
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
    congestion_update(device);
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
    congestion_update(call->device);
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
