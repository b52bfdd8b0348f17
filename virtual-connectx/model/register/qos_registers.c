// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Traffic classes and what priority a frame has: QETCR, QTCT, QPTS, QPDPM. */
#include "virtual-connectx/model/port/function.h"
#include "virtual-connectx/model/register/register.h"

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
