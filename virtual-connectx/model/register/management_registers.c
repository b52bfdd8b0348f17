// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The device as a whole: the host's byte order and name for it, clock, PCI Express link, firmware and its components. */
#include "virtual-connectx/model/register/register.h"
#include "virtual-connectx/model/register/register_state.h"

#define NS_PER_US 1000u

static enum vcx_status host_endianness(struct vcx_register_call *call)
{
    struct vcx_register_state *state = call->device->registers_kept;
    if (call->write)
        state->host_big_endian = vcx_get(call->in, register_host_endianness, he);
    vcx_set(call->out, register_host_endianness, he, state->host_big_endian);
    return VCX_OK;
}

static enum vcx_status node_description(struct vcx_register_call *call)
{
    struct vcx_register_state *state = call->device->registers_kept;
    if (call->write)
        memcpy(state->description, call->in, sizeof state->description);
    memcpy(call->out, state->description, sizeof state->description);
    return VCX_OK;
}

/* Resets of the firmware: none can be asked for. */
static enum vcx_status mfrl(struct vcx_register_call *call)
{
    bool asks =
        vcx_get(call->in, mfrl_reg, reset_level) || vcx_get(call->in, mfrl_reg, pci_sync_for_fw_update_start);
    return call->write && asks ? VCX_BAD_PARAMETER : VCX_OK;
}

/* The module is plugged in and enabled; the driver chooses which events it wants of it. */
static enum vcx_status pmaos(struct vcx_register_call *call)
{
    struct vcx_register_state *state = call->device->registers_kept;
    if (vcx_get(call->in, pmaos_reg, module) != 0)
        return VCX_BAD_PARAMETER;
    if (call->write && vcx_get(call->in, pmaos_reg, ase))
        return VCX_BAD_PARAMETER;
    if (call->write && vcx_get(call->in, pmaos_reg, ee))
        state->module_events = (uint8_t)vcx_get(call->in, pmaos_reg, e);
    vcx_set(call->out, pmaos_reg, admin_status, 1);
    vcx_set(call->out, pmaos_reg, oper_status, 1);
    vcx_set(call->out, pmaos_reg, e, state->module_events);
    return VCX_OK;
}

/* The clock by which the firmware dates its messages: microseconds that the driver sets. */
static enum vcx_status mrtc(struct vcx_register_call *call)
{
    struct vcx_register_state *state = call->device->registers_kept;
    uint64_t own_us = vcx_now_ns(call->device) / NS_PER_US;
    if (call->write) {
        state->clock_us =
            (vcx_get(call->in, mrtc_reg, time_h) << 32 | vcx_get(call->in, mrtc_reg, time_l)) - own_us;
        state->clock_set = true;
    }
    vcx_set(call->out, mrtc_reg, time_synced, state->clock_set);
    vcx_set(call->out, mrtc_reg, time_h, (state->clock_us + own_us) >> 32);
    vcx_set(call->out, mrtc_reg, time_l, state->clock_us + own_us);
    return VCX_OK;
}

/* A link of eight lanes at 8 GT/s: bits of widths and speeds in the order of the specification. */
static enum vcx_status mpein(struct vcx_register_call *call)
{
    if (vcx_get(call->in, mpein_reg, pcie_index) || vcx_get(call->in, mpein_reg, depth) ||
        vcx_get(call->in, mpein_reg, node))
        return VCX_BAD_PARAMETER;
    vcx_set(call->out, mpein_reg, link_width_enabled, 8);
    vcx_set(call->out, mpein_reg, link_speed_enabled, 4);
    vcx_set(call->out, mpein_reg, link_width_active, 8);
    vcx_set(call->out, mpein_reg, link_speed_active, 4);
    vcx_set(call->out, mpein_reg, num_of_pfs, 1);
    vcx_set(call->out, mpein_reg, max_read_request_size, 2); /* 512 bytes */
    vcx_set(call->out, mpein_reg, max_payload_size, 1);      /* 256 bytes */
    return VCX_OK;
}

/* ---- components of the firmware: the image that runs, and no other */

#define BOOT_IMAGE    1 /* MCQS' identifier */
#define PRESENT       1
#define INFO_CAPABLE  0
#define INFO_VERSION  1
#define INFOS         (1u << INFO_CAPABLE | 1u << INFO_VERSION)
#define CAPABLE_BYTES 20
#define VERSION_BYTES 124
#define FW_REVISION   0 /* of the initialization segment: minor and major */
#define FW_SUBMINOR   4 /* in the low half */

static enum vcx_status mcqs(struct vcx_register_call *call)
{
    if (vcx_get(call->in, mcqs_reg, component_index) != 0)
        return VCX_BAD_PARAMETER;
    vcx_set(call->out, mcqs_reg, last_index_flag, 1);
    vcx_set(call->out, mcqs_reg, identifier, BOOT_IMAGE);
    vcx_set(call->out, mcqs_reg, component_status, PRESENT);
    return VCX_OK;
}

static void write_version(struct vcx_device *device, uint8_t *out)
{
    uint32_t revision = device->ops->bar_read(device->front, FW_REVISION);
    uint32_t major = revision & 0xffff, minor = revision >> 16,
             subminor = device->ops->bar_read(device->front, FW_SUBMINOR) & 0xffff;
    char text[32];
    int length = snprintf(text, sizeof text, "%u.%u.%u", major, minor, subminor);
    vcx_set(out, mcqi_version, version, major << 24 | (minor & 0xff) << 16 | subminor);
    vcx_set(out, mcqi_version, version_string_length, (uint32_t)length);
    memcpy(vcx_at(out, mcqi_version, version_string), text, (size_t)length);
}

/* The answer's room decides how much of the information is given. */
static enum vcx_status mcqi(struct vcx_register_call *call)
{
    uint8_t info[VERSION_BYTES] = {0};
    uint64_t type = vcx_get(call->in, mcqi_reg, info_type), asked = vcx_get(call->in, mcqi_reg, data_size);
    uint32_t at = vcx_offset(mcqi_reg, data), size = type == INFO_VERSION ? VERSION_BYTES : CAPABLE_BYTES;
    if (vcx_get(call->in, mcqi_reg, component_index) != 0 || type > INFO_VERSION ||
        vcx_get(call->in, mcqi_reg, offset) != 0 || vcx_get(call->in, mcqi_reg, read_pending_component))
        return VCX_BAD_PARAMETER;
    if (type == INFO_VERSION)
        write_version(call->device, info);
    else
        vcx_set(info, mcqi_cap, supported_info_bitmask, INFOS);
    vcx_set(call->out, mcqi_reg, info_type, type);
    vcx_set(call->out, mcqi_reg, info_size, size);
    vcx_set(call->out, mcqi_reg, data_size, vcx_least(asked, size));
    memcpy(call->out + at, info, vcx_least(vcx_least(asked, size), call->out_bytes - at));
    return VCX_OK;
}

const struct vcx_register vcx_registers_management[] = {
    {0x7004, 16, VCX_REGISTER_WRITABLE, host_endianness},
    {0x6001, VCX_DESCRIPTION_BYTES, VCX_REGISTER_WRITABLE, node_description},
    {0x9028, 8, VCX_REGISTER_WRITABLE, mfrl},
    {0x5012, 16, VCX_REGISTER_WRITABLE, pmaos},
    {0x902d, 16, VCX_REGISTER_WRITABLE, mrtc},
    {0x9050, 48, 0, mpein},
    {0x9060, 16, 0, mcqs},
    {0x9061, 24, 0, mcqi},
    {0},
};
