// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/command/command.h"

static const struct vcx_command *const tables[] = {
    vcx_commands_hca,        vcx_commands_pages,      vcx_commands_domains,      vcx_commands_eq,
    vcx_commands_cq,         vcx_commands_mkey,       vcx_commands_sq,           vcx_commands_rq,
    vcx_commands_rqt,        vcx_commands_tis,        vcx_commands_tir,          vcx_commands_flow_table,
    vcx_commands_flow_group, vcx_commands_flow_entry, vcx_commands_flow_counter, vcx_commands_registers,
    vcx_commands_vport,      vcx_commands_qp,         vcx_commands_srq,          vcx_commands_addresses,
    vcx_commands_congestion,
};

static const struct vcx_command *find(uint16_t opcode)
{
    for (size_t i = 0; i < VCX_COUNT(tables); i++)
        for (const struct vcx_command *c = tables[i]; c->opcode; c++)
            if (c->opcode == opcode)
                return c;
    return NULL;
}

static enum vcx_status checked_run(struct vcx_call *call, const struct vcx_command *command)
{
    if (!command)
        return VCX_BAD_OPERATION;
    if (call->in_bytes < command->in_bytes)
        return VCX_BAD_INPUT_LENGTH;
    if (call->out_bytes < command->out_bytes)
        return VCX_BAD_OUTPUT_LENGTH;
    return command->run(call);
}

enum vcx_status vcx_command_run(struct vcx_call *call)
{
    uint16_t opcode = (uint16_t)vcx_get(call->in, nop_in, opcode);
    enum vcx_status status = checked_run(call, find(opcode));
    vcx_set(call->out, nop_out, status, status);
    vcx_set(call->out, nop_out, syndrome, status ? (uint32_t)opcode << 8 | status : 0);
    vcx_count_use(call->device->commands, VCX_COUNT(call->device->commands), opcode, (uint8_t)status);
    if (status)
        vcx_log(call->device, "command 0x%03x: status 0x%x", opcode, status);
    return status;
}
