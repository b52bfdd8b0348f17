// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Registers of priorities: pause, PFC and receive buffers, traffic classes, and what priority a frame has. */
#include "virtual-connectx/model/port/function.h"
#include "virtual-connectx/model/register/register.h"

/* ---- pause, PFC and receive buffers: PFCC, PBMC, PPTB; shares of the buffer behind them: SBPR, SBCM */

#define BUFFERS_IN_PBMC 10 /* the last two are the firmware's own */
#define BUFFER_ROW      8  /* bytes */
#define XOFF_TIMER      VCX_XOFF_QUANTA
#define XOFF_REFRESH    (VCX_XOFF_QUANTA / 2)

static uint8_t masked_bits(uint8_t old, uint64_t mask, uint64_t value)
{
    return (uint8_t)((old & ~mask) | (value & mask));
}

/* A link has global pause or PFC: what a write turns on turns the other off, and PFC where a write asks
 * for both. */
static void set_pauses(const uint8_t *in, struct vcx_port_settings *settings)
{
    uint64_t mask_tx = vcx_get(in, pfcc_reg, prio_mask_tx), mask_rx = vcx_get(in, pfcc_reg, prio_mask_rx);
    bool leave_tx = vcx_get(in, pfcc_reg, pptx_mask_n), leave_rx = vcx_get(in, pfcc_reg, pprx_mask_n);
    settings->pfc_tx = masked_bits(settings->pfc_tx, mask_tx, vcx_get(in, pfcc_reg, pfctx));
    settings->pfc_rx = masked_bits(settings->pfc_rx, mask_rx, vcx_get(in, pfcc_reg, pfcrx));
    settings->pause_tx = leave_tx ? settings->pause_tx : vcx_get(in, pfcc_reg, pptx);
    settings->pause_rx = leave_rx ? settings->pause_rx : vcx_get(in, pfcc_reg, pprx);
    if (!(settings->pfc_tx | settings->pfc_rx) || !(settings->pause_tx || settings->pause_rx))
        return;
    if (mask_tx | mask_rx)
        settings->pause_tx = settings->pause_rx = false;
    else
        settings->pfc_tx = settings->pfc_rx = 0;
}

static void set_stalls(const uint8_t *in, struct vcx_port_settings *settings)
{
    if (vcx_get(in, pfcc_reg, minor_stall_mask))
        settings->minor_stall_ms = (uint16_t)vcx_get(in, pfcc_reg, device_stall_minor_watermark);
    if (vcx_get(in, pfcc_reg, critical_stall_mask))
        settings->critical_stall_ms = (uint16_t)vcx_get(in, pfcc_reg, device_stall_critical_watermark);
}

static enum vcx_status pfcc(struct vcx_register_call *call)
{
    struct vcx_port_settings *settings = vcx_port_settings(call->device);
    if (call->write) {
        set_pauses(call->in, settings);
        set_stalls(call->in, settings);
        vcx_port_settings_changed(call->device);
    }
    vcx_set(call->out, pfcc_reg, pfctx, settings->pfc_tx);
    vcx_set(call->out, pfcc_reg, pfcrx, settings->pfc_rx);
    vcx_set(call->out, pfcc_reg, pptx, settings->pause_tx);
    vcx_set(call->out, pfcc_reg, pprx, settings->pause_rx);
    vcx_set(call->out, pfcc_reg, device_stall_minor_watermark, settings->minor_stall_ms);
    vcx_set(call->out, pfcc_reg, device_stall_critical_watermark, settings->critical_stall_ms);
    return VCX_OK;
}

/* ---- receive buffers */

static struct vcx_receive_buffer buffer_from(const uint8_t *row)
{
    return (struct vcx_receive_buffer){
        .bytes = (uint32_t)vcx_get(row, bufferx_reg, size) * VCX_CELL_BYTES,
        .xoff_bytes = (uint32_t)vcx_get(row, bufferx_reg, xoff_threshold) * VCX_CELL_BYTES,
        .xon_bytes = (uint32_t)vcx_get(row, bufferx_reg, xon_threshold) * VCX_CELL_BYTES,
        .lossy = vcx_get(row, bufferx_reg, lossy),
    };
}

static void write_buffer(uint8_t *row, const struct vcx_receive_buffer *buffer)
{
    vcx_set(row, bufferx_reg, size, buffer->bytes / VCX_CELL_BYTES);
    vcx_set(row, bufferx_reg, xoff_threshold, buffer->xoff_bytes / VCX_CELL_BYTES);
    vcx_set(row, bufferx_reg, xon_threshold, buffer->xon_bytes / VCX_CELL_BYTES);
    vcx_set(row, bufferx_reg, lossy, buffer->lossy);
}

static bool set_buffers(const uint8_t *rows, struct vcx_port_settings *settings)
{
    struct vcx_receive_buffer buffers[BUFFERS_IN_PBMC];
    uint32_t total = 0;
    for (size_t i = 0; i < BUFFERS_IN_PBMC; i++) {
        buffers[i] = buffer_from(rows + i * BUFFER_ROW);
        total += buffers[i].bytes;
        if (buffers[i].xoff_bytes > buffers[i].bytes || buffers[i].xon_bytes > buffers[i].xoff_bytes)
            return false;
        if (i >= VCX_RECEIVE_BUFFERS && buffers[i].bytes)
            return false;
    }
    if (total > VCX_BUFFER_BYTES)
        return false;
    memcpy(settings->buffers, buffers, sizeof settings->buffers);
    settings->buffers_set = true;
    return true;
}

static enum vcx_status pbmc(struct vcx_register_call *call)
{
    struct vcx_port_settings *settings = vcx_port_settings(call->device);
    if (call->write) {
        if (!set_buffers(vcx_at(call->in, pbmc_reg, buffer), settings))
            return VCX_BAD_PARAMETER;
        vcx_port_settings_changed(call->device);
    }
    vcx_set(call->out, pbmc_reg, xoff_timer_value, XOFF_TIMER);
    vcx_set(call->out, pbmc_reg, xoff_refresh, XOFF_REFRESH);
    vcx_set(call->out, pbmc_reg, port_buffer_size, VCX_BUFFER_BYTES / VCX_CELL_BYTES);
    for (size_t i = 0; i < VCX_RECEIVE_BUFFERS; i++)
        write_buffer(vcx_at(call->out, pbmc_reg, buffer) + i * BUFFER_ROW, &settings->buffers[i]);
    return VCX_OK;
}

/* Four bits a priority; `pm` names those that a write changes. Control frames and untagged ones have no
 * buffer of their own. */
static bool set_buffers_of_priorities(const uint8_t *in, struct vcx_port_settings *settings)
{
    uint64_t named = vcx_get(in, pptb_reg, pm), map = vcx_get(in, pptb_reg, prio_x_buff);
    if (vcx_get(in, pptb_reg, cm) || vcx_get(in, pptb_reg, um) || vcx_get(in, pptb_reg, pm_msb))
        return false;
    for (int i = 0; i < VCX_PRIORITIES; i++)
        if ((named >> i & 1) && (map >> 4 * i & 0xf) >= VCX_RECEIVE_BUFFERS)
            return false;
    for (int i = 0; i < VCX_PRIORITIES; i++)
        if (named >> i & 1)
            settings->buffer_of_priority[i] = map >> 4 * i & 0xf;
    settings->buffers_set = true; /* else the firmware would map them anew */
    return true;
}

static enum vcx_status pptb(struct vcx_register_call *call)
{
    struct vcx_port_settings *settings = vcx_port_settings(call->device);
    uint32_t map = 0;
    if (call->write) {
        if (!set_buffers_of_priorities(call->in, settings))
            return VCX_BAD_PARAMETER;
        vcx_port_settings_changed(call->device);
    }
    for (int i = 0; i < VCX_PRIORITIES; i++)
        map |= (uint32_t)settings->buffer_of_priority[i] << 4 * i;
    vcx_set(call->out, pptb_reg, prio_x_buff, map);
    return VCX_OK;
}

/* ---- pools: kept for the driver, which computes with them; frames do not use them */

static enum vcx_status sbpr(struct vcx_register_call *call)
{
    uint64_t direction = vcx_get(call->in, sbpr_reg, dir), number = vcx_get(call->in, sbpr_reg, pool);
    if (direction >= VCX_POOL_DIRECTIONS || number >= VCX_POOLS)
        return VCX_BAD_PARAMETER;
    struct vcx_pool *pool = &call->device->registers_kept->pools[direction][number];
    if (call->write)
        *pool = (struct vcx_pool){.infinite = vcx_get(call->in, sbpr_reg, infi_size),
                                  .cells = (uint32_t)vcx_get(call->in, sbpr_reg, size),
                                  .mode = (uint8_t)vcx_get(call->in, sbpr_reg, mode)};
    vcx_set(call->out, sbpr_reg, dir, direction);
    vcx_set(call->out, sbpr_reg, pool, number);
    vcx_set(call->out, sbpr_reg, infi_size, pool->infinite);
    vcx_set(call->out, sbpr_reg, size, pool->cells);
    vcx_set(call->out, sbpr_reg, mode, pool->mode);
    return VCX_OK;
}

static bool set_pool_use(const uint8_t *in, struct vcx_pool_use *use)
{
    uint64_t pool = vcx_get(in, sbcm_reg, pool);
    if (pool >= VCX_POOLS)
        return false;
    *use = (struct vcx_pool_use){.exclusive = vcx_get(in, sbcm_reg, exc),
                                 .infinite = vcx_get(in, sbcm_reg, infi_max),
                                 .least_cells = (uint32_t)vcx_get(in, sbcm_reg, min_buff),
                                 .most = (uint32_t)vcx_get(in, sbcm_reg, max_buff),
                                 .pool = (uint8_t)pool};
    return true;
}

static enum vcx_status sbcm(struct vcx_register_call *call)
{
    uint64_t direction = vcx_get(call->in, sbcm_reg, dir), buffer = vcx_get(call->in, sbcm_reg, pg_buff);
    if (direction >= VCX_POOL_DIRECTIONS || buffer >= VCX_RECEIVE_BUFFERS)
        return VCX_BAD_PARAMETER;
    struct vcx_pool_use *use = &call->device->registers_kept->uses[direction][buffer];
    if (call->write && !set_pool_use(call->in, use))
        return VCX_BAD_PARAMETER;
    vcx_set(call->out, sbcm_reg, dir, direction);
    vcx_set(call->out, sbcm_reg, pg_buff, buffer);
    vcx_set(call->out, sbcm_reg, exc, use->exclusive);
    vcx_set(call->out, sbcm_reg, infi_max, use->infinite);
    vcx_set(call->out, sbcm_reg, min_buff, use->least_cells);
    vcx_set(call->out, sbcm_reg, max_buff, use->most);
    vcx_set(call->out, sbcm_reg, pool, use->pool);
    return VCX_OK;
}

const struct vcx_register vcx_registers_flow_control[] = {
    {0x5007, 20, VCX_REGISTER_PORT_RW, pfcc}, {0x500c, 92, VCX_REGISTER_PORT_RW, pbmc},
    {0x500b, 12, VCX_REGISTER_PORT_RW, pptb}, {0xb001, 24, VCX_REGISTER_WRITABLE, sbpr},
    {0xb002, 40, VCX_REGISTER_PORT_RW, sbcm}, {0},
};

/* ---- traffic classes and what priority a frame has: QETCR, QTCT, QPTS, QPDPM */

#define CLASS_ROW   8 /* bytes */
#define DSCP_ROW    2
#define DSCPS       64
#define DSCP_ENABLE 0x8000 /* a write changes this row; the priority is in the low four bits */
#define GROUPS      8
#define WHOLE       100

enum { UNIT_NONE = 0, UNIT_100_MBPS = 3, UNIT_GBPS = 4 };
#define BPS_PER_100_MBPS 100000000u
#define BPS_PER_GBPS     1000000000u
#define MOST_UNITS       255

/* The driver leaves the port's number out of these. */
static bool wrong_port(const struct vcx_register_call *call)
{
    return vcx_get(call->in, qetc_reg, port_number) > VCX_LOCAL_PORT;
}

static bool class_fits(const uint8_t *row)
{
    uint64_t units = vcx_get(row, ets_tcn_config_reg, max_bw_units);
    if (vcx_get(row, ets_tcn_config_reg, g) && vcx_get(row, ets_tcn_config_reg, group) >= GROUPS)
        return false;
    if (vcx_get(row, ets_tcn_config_reg, b) && vcx_get(row, ets_tcn_config_reg, bw_allocation) > WHOLE)
        return false;
    if (!vcx_get(row, ets_tcn_config_reg, r) || units == UNIT_NONE)
        return true;
    return (units == UNIT_100_MBPS || units == UNIT_GBPS) &&
           vcx_get(row, ets_tcn_config_reg, max_bw_value) != 0;
}

static uint64_t rate_from(const uint8_t *row)
{
    uint64_t value = vcx_get(row, ets_tcn_config_reg, max_bw_value);
    switch (vcx_get(row, ets_tcn_config_reg, max_bw_units)) {
    case UNIT_100_MBPS:
        return value * BPS_PER_100_MBPS;
    case UNIT_GBPS:
        return value * BPS_PER_GBPS;
    default:
        return 0;
    }
}

/* In the smaller unit where it fits, as the driver writes it. */
static void write_rate(uint8_t *row, uint64_t bps)
{
    bool small = bps <= (uint64_t)MOST_UNITS * BPS_PER_100_MBPS;
    vcx_set(row, ets_tcn_config_reg, max_bw_units, !bps ? UNIT_NONE : small ? UNIT_100_MBPS : UNIT_GBPS);
    vcx_set(row, ets_tcn_config_reg, max_bw_value, bps / (small ? BPS_PER_100_MBPS : BPS_PER_GBPS));
}

static void set_class(const uint8_t *row, struct vcx_traffic_class *class)
{
    if (vcx_get(row, ets_tcn_config_reg, g))
        class->group = (uint8_t)vcx_get(row, ets_tcn_config_reg, group);
    if (vcx_get(row, ets_tcn_config_reg, b))
        class->share_percent = (uint8_t)vcx_get(row, ets_tcn_config_reg, bw_allocation);
    if (vcx_get(row, ets_tcn_config_reg, r))
        class->most_bps = rate_from(row);
}

/* All rows, or none if one is wrong. A limit of the whole port is not among what the device can do. */
static bool set_classes(const struct vcx_register_call *call, struct vcx_port_settings *settings)
{
    const uint8_t *rows = vcx_at(call->in, qetc_reg, tc_configuration);
    if (vcx_get(call->in, qetc_reg, global_limit))
        return false;
    for (int i = 0; i < VCX_PRIORITIES; i++)
        if (!class_fits(rows + i * CLASS_ROW))
            return false;
    for (int i = 0; i < VCX_PRIORITIES; i++)
        set_class(rows + i * CLASS_ROW, &settings->classes[i]);
    return true;
}

static enum vcx_status qetcr(struct vcx_register_call *call)
{
    struct vcx_port_settings *settings = vcx_port_settings(call->device);
    if (wrong_port(call))
        return VCX_BAD_PARAMETER;
    if (call->write) {
        if (!set_classes(call, settings))
            return VCX_BAD_PARAMETER;
        vcx_port_settings_changed(call->device);
    }
    vcx_set(call->out, qetc_reg, port_number, VCX_LOCAL_PORT);
    for (int i = 0; i < VCX_PRIORITIES; i++) {
        uint8_t *row = vcx_at(call->out, qetc_reg, tc_configuration) + i * CLASS_ROW;
        vcx_set(row, ets_tcn_config_reg, group, settings->classes[i].group);
        vcx_set(row, ets_tcn_config_reg, bw_allocation, settings->classes[i].share_percent);
        write_rate(row, settings->classes[i].most_bps);
    }
    return VCX_OK;
}

static enum vcx_status qtct(struct vcx_register_call *call)
{
    struct vcx_port_settings *settings = vcx_port_settings(call->device);
    uint64_t priority = vcx_get(call->in, qtct_reg, prio);
    if (wrong_port(call))
        return VCX_BAD_PARAMETER;
    if (call->write) {
        settings->class_of_priority[priority] = (uint8_t)vcx_get(call->in, qtct_reg, tclass);
        vcx_port_settings_changed(call->device);
    }
    vcx_set(call->out, qtct_reg, port_number, VCX_LOCAL_PORT);
    vcx_set(call->out, qtct_reg, prio, priority);
    vcx_set(call->out, qtct_reg, tclass, settings->class_of_priority[priority]);
    return VCX_OK;
}

static enum vcx_status qpts(struct vcx_register_call *call)
{
    struct vcx_port_settings *settings = vcx_port_settings(call->device);
    if (call->write) {
        uint64_t trust = vcx_get(call->in, qpts_reg, trust_state);
        if (trust != VCX_TRUST_PCP && trust != VCX_TRUST_DSCP)
            return VCX_BAD_PARAMETER;
        settings->trust = (enum vcx_trust)trust;
        vcx_port_settings_changed(call->device);
    }
    vcx_set(call->out, qpts_reg, trust_state, settings->trust);
    return VCX_OK;
}

static bool set_priorities_of_dscps(const uint8_t *rows, struct vcx_port_settings *settings)
{
    for (int i = 0; i < DSCPS; i++) {
        uint16_t row = vcx_be16(rows + i * DSCP_ROW);
        if ((row & DSCP_ENABLE) && (row & 0xf) >= VCX_PRIORITIES)
            return false;
    }
    for (int i = 0; i < DSCPS; i++) {
        uint16_t row = vcx_be16(rows + i * DSCP_ROW);
        if (row & DSCP_ENABLE)
            settings->priority_of_dscp[i] = row & 0xf;
    }
    return true;
}

static enum vcx_status qpdpm(struct vcx_register_call *call)
{
    struct vcx_port_settings *settings = vcx_port_settings(call->device);
    if (call->write) {
        if (!set_priorities_of_dscps(vcx_at(call->in, qpdpm_reg, dscp), settings))
            return VCX_BAD_PARAMETER;
        vcx_port_settings_changed(call->device);
    }
    for (int i = 0; i < DSCPS; i++)
        vcx_put16(vcx_at(call->out, qpdpm_reg, dscp) + i * DSCP_ROW, settings->priority_of_dscp[i]);
    return VCX_OK;
}

const struct vcx_register vcx_registers_qos[] = {
    {0x4005, 80, VCX_REGISTER_WRITABLE, qetcr},
    {0x400a, 8, VCX_REGISTER_WRITABLE, qtct},
    {0x4002, 8, VCX_REGISTER_PORT_RW, qpts},
    {0x4013, 132, VCX_REGISTER_PORT_RW, qpdpm},
    {0},
};
