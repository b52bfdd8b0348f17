/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Commands. Each file of objects has a table of those that it answers; a command that no table has is refused
 * with BAD_OPERATION and counted, so that vcx/usage shows what a driver asked for in vain.
 */
#ifndef VCX_COMMAND_H
#define VCX_COMMAND_H

#include "virtual-connectx/model/device.h"
#include "virtual-connectx/model/layout.h"
#include "virtual-connectx/model/objects.h"

/* Status values of the programming interface (mlx5's MLX5_CMD_STAT_*). */
enum vcx_status {
    VCX_OK = 0x00,
    VCX_INTERNAL_ERROR = 0x01,
    VCX_BAD_OPERATION = 0x02,
    VCX_BAD_PARAMETER = 0x03,
    VCX_BAD_SYSTEM_STATE = 0x04,
    VCX_BAD_RESOURCE = 0x05,
    VCX_RESOURCE_BUSY = 0x06,
    VCX_LIMIT_EXCEEDED = 0x08,
    VCX_BAD_RESOURCE_STATE = 0x09,
    VCX_NO_RESOURCES = 0x0f,
    VCX_BAD_SIZE = 0x40, /* too small for the completions that wait */
    VCX_BAD_INPUT_LENGTH = 0x50,
    VCX_BAD_OUTPUT_LENGTH = 0x51,
};

/* A command that was fetched whole. `in` and `out` have at least the bytes that its row asks for; `out` is
 * zeroed. */
struct vcx_call {
    struct vcx_device *device;
    const uint8_t *in;
    uint8_t *out;
    uint32_t in_bytes, out_bytes;
};

struct vcx_command {
    uint16_t opcode;
    uint16_t in_bytes, out_bytes; /* the least that the driver has to give */
    enum vcx_status (*run)(struct vcx_call *call);
};

/* Runs the command whose opcode stands in `in`, and writes its status and syndrome. */
enum vcx_status vcx_command_run(struct vcx_call *call);
/* Takes the commands that the driver handed over. true: there was one. */
bool vcx_command_poll(struct vcx_device *device);
/* The initialization segment as after power-on. */
void vcx_command_start(struct vcx_device *device);

/* The number in an answer or a request where nearly all commands have it: bits 8 to 31 of the third word. */
static inline void vcx_answer_number(struct vcx_call *call, uint32_t id)
{
    vcx_set(call->out, alloc_pd_out, pd, id);
}

static inline uint32_t vcx_asked_number(const struct vcx_call *call)
{
    return (uint32_t)vcx_get(call->in, dealloc_pd_in, pd);
}

/* ---- the tables; each ends with an opcode of 0 */
extern const struct vcx_command vcx_commands_eq[];
extern const struct vcx_command vcx_commands_cq[];
extern const struct vcx_command vcx_commands_mkey[];
extern const struct vcx_command vcx_commands_sq[];
extern const struct vcx_command vcx_commands_rq[];
extern const struct vcx_command vcx_commands_rqt[];
extern const struct vcx_command vcx_commands_tis[];
extern const struct vcx_command vcx_commands_tir[];
extern const struct vcx_command vcx_commands_flow_table[];
extern const struct vcx_command vcx_commands_flow_group[];
extern const struct vcx_command vcx_commands_flow_entry[];
extern const struct vcx_command vcx_commands_flow_counter[];
extern const struct vcx_command vcx_commands_registers[];
extern const struct vcx_command vcx_commands_vport[];
extern const struct vcx_command vcx_commands_qp[];
extern const struct vcx_command vcx_commands_srq[];
extern const struct vcx_command vcx_commands_addresses[];
extern const struct vcx_command vcx_commands_congestion[];

#endif
