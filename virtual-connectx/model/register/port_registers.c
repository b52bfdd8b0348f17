// SPDX-License-Identifier: GPL-2.0 OR MIT
/* State, MTU, lanes and checks of the port. */
#include "virtual-connectx/model/port/function.h"
#include "virtual-connectx/model/register/link_modes.h"
#include "virtual-connectx/model/register/register.h"
#include "virtual-connectx/model/register/register_state.h"

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
