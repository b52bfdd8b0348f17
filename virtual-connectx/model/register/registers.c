// SPDX-License-Identifier: GPL-2.0 OR MIT
/* ACCESS_REG: finds the register, and checks what all have in common. */
#include "virtual-connectx/model/register/register.h"

#define ACCESS_REG 0x805

enum { MODE_WRITE = 0, MODE_READ = 1 };

static const struct vcx_register *const tables[] = {
    vcx_registers_port,     vcx_registers_link,         vcx_registers_flow_control, vcx_registers_qos,
    vcx_registers_counters, vcx_registers_capabilities, vcx_registers_management,   vcx_registers_module,
};

const struct vcx_register *vcx_register_find(uint16_t id)
{
    for (size_t i = 0; i < VCX_COUNT(tables); i++)
        for (const struct vcx_register *r = tables[i]; r->id; r++)
            if (r->id == id)
                return r;
    return NULL;
}

static enum vcx_status checked_access(const struct vcx_register *row, struct vcx_register_call *call)
{
    if (call->in_bytes < row->bytes)
        return VCX_BAD_INPUT_LENGTH;
    if (call->out_bytes < row->bytes)
        return VCX_BAD_OUTPUT_LENGTH;
    if (call->write && !(row->traits & VCX_REGISTER_WRITABLE))
        return VCX_BAD_PARAMETER;
    if (row->traits & VCX_REGISTER_OF_PORT) {
        if (vcx_get_place(call->in, VCX_PORT_PLACE) != VCX_LOCAL_PORT)
            return VCX_BAD_PARAMETER;
        vcx_set_place(call->out, VCX_PORT_PLACE, VCX_LOCAL_PORT);
    }
    return row->access(call);
}

static enum vcx_status access_found(const struct vcx_register *row, struct vcx_call *command)
{
    uint32_t in_at = vcx_offset(access_register_in, register_data),
             out_at = vcx_offset(access_register_out, register_data);
    uint64_t mode = vcx_get(command->in, nop_in, op_mod);
    struct vcx_register_call call = {
        .device = command->device,
        .in = command->in + in_at,
        .out = command->out + out_at,
        .in_bytes = command->in_bytes - in_at,
        .out_bytes = command->out_bytes - out_at,
        .argument = (uint32_t)vcx_get(command->in, access_register_in, argument),
        .write = mode == MODE_WRITE,
    };
    if (!row || mode > MODE_READ)
        return VCX_BAD_PARAMETER;
    enum vcx_status status = checked_access(row, &call);
    if (status)
        memset(call.out, 0, call.out_bytes);
    return status;
}

static enum vcx_status access_register(struct vcx_call *command)
{
    struct vcx_device *device = command->device;
    uint16_t id = (uint16_t)vcx_get(command->in, access_register_in, register_id);
    enum vcx_status status = access_found(vcx_register_find(id), command);
    vcx_count_use(device->registers, VCX_COUNT(device->registers), id, (uint8_t)status);
    if (status)
        vcx_log(device, "register 0x%04x: status 0x%x", id, status);
    return status;
}

const struct vcx_command vcx_commands_registers[] = {
    {ACCESS_REG, vcx_offset(access_register_in, register_data),
     vcx_offset(access_register_out, register_data), access_register},
    {0},
};
