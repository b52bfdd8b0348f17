// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What registers and features there are: bit n of a mask is register n of a range, so that the masks are read from the tables. */
#include "virtual-connectx/model/port/port.h"
#include "virtual-connectx/model/register/register.h"
#include "virtual-connectx/model/register/register_state.h"

#define RANGE         128 /* registers of a mask */
#define MASK_BYTES    (RANGE / 8)
#define FIRST_PORT    0x5000
#define FIRST_QOS     0x4000
#define FIRST_BUFFERS 0xb000

/* MCAM's groups follow each other from here; Linux 6.1 asks for three, 6.12 for one more */
#define FIRST_MANAGEMENT  0x9000
#define MANAGEMENT_GROUPS 4

static void set_mask(uint8_t *mask, uint16_t first)
{
    for (uint16_t n = 0; n < RANGE; n++)
        if (vcx_register_find(first + n))
            mask[MASK_BYTES - 1 - n / 8] |= (uint8_t)(1u << n % 8);
}

/* The feature and register groups of the call; all capability registers have them in the same place. */
static bool is_first_group(const struct vcx_register_call *call)
{
    return vcx_get(call->in, pcam_reg, feature_group) == 0 &&
           vcx_get(call->in, pcam_reg, access_reg_group) == 0;
}

static enum vcx_status pcap(struct vcx_register_call *call)
{
    (void)call; /* capabilities of an InfiniBand port: none */
    return VCX_OK;
}

static enum vcx_status pcam(struct vcx_register_call *call)
{
    if (!is_first_group(call))
        return VCX_BAD_PARAMETER;
    set_mask(vcx_at(call->out, pcam_reg, port_access_reg_cap_mask), FIRST_PORT);
    vcx_set(call->out, pcam_reg, pfcc_mask, 1);
    vcx_set(call->out, pcam_reg, per_lane_error_counters, 1);
    vcx_set(call->out, pcam_reg, rx_buffer_fullness_counters, 1);
    vcx_set(call->out, pcam_reg, ptys_connector_type, 1);
    vcx_set(call->out, pcam_reg, ppcnt_statistical_group, 1);
    return VCX_OK;
}

static enum vcx_status mcam(struct vcx_register_call *call)
{
    uint64_t group = vcx_get(call->in, mcam_reg, access_reg_group);
    if (group >= MANAGEMENT_GROUPS || vcx_get(call->in, mcam_reg, feature_group) != 0)
        return VCX_BAD_PARAMETER;
    vcx_set(call->out, mcam_reg, access_reg_group, group);
    set_mask(vcx_at(call->out, mcam_reg, mng_access_reg_cap_mask),
             (uint16_t)(FIRST_MANAGEMENT + group * RANGE));
    vcx_set(call->out, mcam_reg, mcia_32dwords, 1);
    vcx_set(call->out, mcam_reg, pcie_performance_group, 1);
    vcx_set(call->out, mcam_reg, tx_overflow_buffer_pkt, 1);
    vcx_set(call->out, mcam_reg, pcie_outbound_stalled, 1);
    return VCX_OK;
}

static enum vcx_status qcam(struct vcx_register_call *call)
{
    if (!is_first_group(call))
        return VCX_BAD_PARAMETER;
    set_mask(vcx_at(call->out, qcam_reg, qos_access_reg_cap_mask), FIRST_QOS);
    return VCX_OK;
}

static enum vcx_status sbcam(struct vcx_register_call *call)
{
    if (!is_first_group(call))
        return VCX_BAD_PARAMETER;
    set_mask(vcx_at(call->out, sbcam_reg, sb_access_reg_cap_mask), FIRST_BUFFERS);
    vcx_set(call->out, sbcam_reg, cap_total_buffer_size, VCX_BUFFER_BYTES);
    vcx_set(call->out, sbcam_reg, cap_cell_size, VCX_CELL_BYTES);
    vcx_set(call->out, sbcam_reg, cap_max_pg_buffers, VCX_RECEIVE_BUFFERS);
    vcx_set(call->out, sbcam_reg, cap_num_pool_supported, VCX_POOLS);
    return VCX_OK;
}

const struct vcx_register vcx_registers_capabilities[] = {
    {0x5001, 20, VCX_REGISTER_OF_PORT, pcap},
    {0x507f, 80, 0, pcam},
    {0x907f, 72, 0, mcam},
    {0x4019, 72, 0, qcam},
    {0xb01f, 76, 0, sbcam},
    {0},
};
