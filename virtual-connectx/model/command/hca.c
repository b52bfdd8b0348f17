// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Start, stop, and what the device says of itself. */
#include "virtual-connectx/model/capability.h"
#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/queue/mkey.h"

#define ISSI_1          1
#define ISSI_0_AND_1    3 /* bit n: version n */
#define IEEE_MELLANOX   0x2c9
#define VENDOR_MELLANOX 0x15b3

#define ATOMIC_GROUP 3
#define ATOMIC_BYTES 12 /* of the group, with what may be set */

static enum vcx_status nothing(struct vcx_call *call)
{
    (void)call;
    return VCX_OK;
}

static enum vcx_status teardown(struct vcx_call *call)
{
    vcx_objects_free(call->device);
    vcx_capabilities_start(call->device);
    call->device->command_eq = 0;
    return VCX_OK;
}

static enum vcx_status query_issi(struct vcx_call *call)
{
    vcx_set(call->out, query_issi_out, current_issi, ISSI_1);
    vcx_set(call->out, query_issi_out, supported_issi_dw0, ISSI_0_AND_1);
    return VCX_OK;
}

static enum vcx_status query_adapter(struct vcx_call *call)
{
    memcpy(vcx_at(call->out, query_adapter_out, psid), "VCX0000000001", 13);
    vcx_set(call->out, query_adapter_out, ieee_vendor_id, IEEE_MELLANOX);
    vcx_set(call->out, query_adapter_out, vsd_vendor_id, VENDOR_MELLANOX);
    return VCX_OK;
}

static enum vcx_status query_special_contexts(struct vcx_call *call)
{
    vcx_set(call->out, query_special_contexts_out, dump_fill_mkey, VCX_KEY_NULL);
    vcx_set(call->out, query_special_contexts_out, resd_lkey, VCX_KEY_RESERVED);
    vcx_set(call->out, query_special_contexts_out, null_mkey, VCX_KEY_NULL);
    return VCX_OK;
}

/* The group stands above the bit that asks for the maximum or the current value: both are the same here. */
static uint8_t *capability(struct vcx_call *call)
{
    uint64_t group = vcx_get(call->in, nop_in, op_mod) >> 1;
    return group < VCX_CAPABILITY_GROUPS ? call->device->capability[group] : NULL;
}

static enum vcx_status query_capability(struct vcx_call *call)
{
    const uint8_t *group = capability(call);
    uint32_t at = vcx_offset(query_hca_cap_out, capability);
    if (!group)
        return VCX_BAD_PARAMETER;
    memcpy(call->out + at, group, vcx_least(call->out_bytes - at, VCX_CAPABILITY_BYTES));
    return VCX_OK;
}

/* Of the atomic operations only the byte order is set; a driver that does so leaves the rest of the group zero. */
static enum vcx_status set_atomic(struct vcx_call *call, uint8_t *group)
{
    const uint8_t *wanted = vcx_at(call->in, set_hca_cap_in, capability);
    if (call->in_bytes < vcx_offset(set_hca_cap_in, capability) + ATOMIC_BYTES)
        return VCX_BAD_INPUT_LENGTH;
    vcx_set(group, atomic_caps, atomic_req_8B_endianness_mode,
            vcx_get(wanted, atomic_caps, atomic_req_8B_endianness_mode));
    return VCX_OK;
}

static enum vcx_status set_capability(struct vcx_call *call)
{
    uint8_t *group = capability(call);
    uint32_t at = vcx_offset(set_hca_cap_in, capability);
    if (!group)
        return VCX_BAD_PARAMETER;
    if (vcx_get(call->in, nop_in, op_mod) >> 1 == ATOMIC_GROUP)
        return set_atomic(call, group);
    memcpy(group, call->in + at, vcx_least(call->in_bytes - at, VCX_CAPABILITY_BYTES));
    return VCX_OK;
}

const struct vcx_command vcx_commands_hca[] = {
    {0x104, 16, 16, nothing},        /* ENABLE_HCA */
    {0x105, 16, 16, nothing},        /* DISABLE_HCA */
    {0x102, 16, 16, nothing},        /* INIT_HCA */
    {0x103, 16, 16, teardown},       /* TEARDOWN_HCA */
    {0x10a, 16, 112, query_issi},    /* QUERY_ISSI */
    {0x10b, 16, 16, nothing},        /* SET_ISSI */
    {0x10d, 16, 16, nothing},        /* SET_DRIVER_VERSION */
    {0x80d, 16, 16, nothing},        /* NOP */
    {0x101, 16, 272, query_adapter}, /* QUERY_ADAPTER */
    {0x203, 16, 32, query_special_contexts},
    {0x100, 16, 16, query_capability}, /* QUERY_HCA_CAP */
    {0x109, 16, 16, set_capability},   /* SET_HCA_CAP */
    {0},
};
