// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Speeds and error correction: PTYS and PPLM. */
#include "virtual-connectx/model/register/register.h"

#include "virtual-connectx/model/port/function.h"
#include "virtual-connectx/model/register/link_modes.h"
#include "virtual-connectx/model/register/register_state.h"

#define PROTOCOL_ETHERNET (1u << 2) /* MLX5_PTYS_EN */
#define COPPER_CABLE      7         /* MLX5E_PORT_DA */
#define UNIT_OF_RATE      100000000u

enum { NEGOTIATION_NONE = 0, NEGOTIATION_COMPLETE = 1 };

/* The line has one speed: modes without it are refused. */
static bool set_modes(struct vcx_register_call *call)
{
    struct vcx_register_state *state = call->device->registers_kept;
    uint32_t asked = (uint32_t)vcx_get(call->in, ptys_reg, eth_proto_admin);
    if (vcx_get(call->in, ptys_reg, ext_eth_proto_admin) != 0 || !(asked & vcx_link_mode(call->device)) ||
        (asked & ~vcx_link_modes(call->device)))
        return false;
    state->link_modes = asked;
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
    vcx_set(out, ptys_reg, eth_proto_capability, vcx_link_modes(call->device));
    vcx_set(out, ptys_reg, eth_proto_admin, state->link_modes);
    vcx_set(out, ptys_reg, connector_type, COPPER_CABLE);
    if (up) {
        vcx_set(out, ptys_reg, data_rate_oper, vcx_link_gbps(call->device) * (1000000000u / UNIT_OF_RATE));
        vcx_set(out, ptys_reg, eth_proto_oper, vcx_link_mode(call->device));
        vcx_set(out, ptys_reg, eth_proto_lp_advertise, vcx_link_modes(call->device));
    }
    return VCX_OK;
}

/* ---- forward error correction: bits none, Fire code (BASE-R), Reed-Solomon; 0 as a setting is the device's choice */

#define FEC_NONE    1
#define FEC_FIRE    2
#define FEC_REED    4
#define FEC_OF_10G  (FEC_NONE | FEC_FIRE)
#define FEC_OF_25G  (FEC_NONE | FEC_FIRE | FEC_REED)
#define FEC_OF_100G (FEC_NONE | FEC_REED)

static uint32_t active_fec(const struct vcx_device *device)
{
    const struct vcx_register_state *state = device->registers_kept;
    switch (vcx_link_gbps(device)) {
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
