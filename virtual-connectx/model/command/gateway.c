// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/command/gateway.h"
#include "virtual-connectx/model/capability.h"
#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/register/register.h"

/* Numbers of spaces, addresses and codes are those that mstflint 4.21 (mtcr_ul) uses. */
/* Both spaces of commands have the one mailbox. */
enum gateway_space { OTHER_COMMANDS = 0x1, CR_SPACE = 0x2, COMMANDS = 0x3, SEMAPHORES = 0xa };

#define HARDWARE_ID  0xf0014 /* in CR_SPACE */
#define CONTROL      0x0     /* in COMMANDS: opcode, status, busy */
#define MAILBOX_SIZE 0x1000
#define MAILBOX      0x100000
#define BUSY         1u
#define OPCODE_SHIFT 16
#define STATUS_SHIFT 8

/* opcodes */
#define QUERY_CAPABILITIES 0x8400
#define ACCESS_BY_MAILBOX  0x9001 /* a register, in two TLVs */

enum gateway_status { GATEWAY_OK = 0, BAD_OPCODE = 1, BAD_GATEWAY_PARAMETER = 4 };

static bool has_commands(uint16_t space)
{
    return space == COMMANDS || space == OTHER_COMMANDS;
}

bool vcx_gateway_has(uint16_t space)
{
    return space == CR_SPACE || has_commands(space) || space == SEMAPHORES;
}

static bool is_in_mailbox(uint32_t address)
{
    return address >= MAILBOX && address - MAILBOX <= VCX_GATEWAY_MAILBOX - 4;
}

static uint32_t read_command_space(const struct vcx_gateway *g, uint32_t address)
{
    bool busy = vcx_shared8(&g->busy);
    if (address == CONTROL)
        return (uint32_t)g->opcode << OPCODE_SHIFT | (busy ? BUSY : (uint32_t)g->status << STATUS_SHIFT);
    if (address == MAILBOX_SIZE)
        return VCX_GATEWAY_MAILBOX;
    return is_in_mailbox(address) && !busy ? vcx_be32(g->mailbox + (address - MAILBOX)) : 0;
}

uint32_t vcx_gateway_read(const struct vcx_gateway *g, uint16_t device_id, uint16_t space, uint32_t address)
{
    if (address % 4)
        return 0;
    if (space == CR_SPACE && address == HARDWARE_ID)
        return vcx_model_of(device_id)->hardware_id;
    if (space == SEMAPHORES && address / 4 < VCX_GATEWAY_SEMAPHORES)
        return g->semaphores[address / 4];
    return has_commands(space) ? read_command_space(g, address) : 0;
}

/* A semaphore that is held changes only when it is given back. */
static void write_semaphore(uint32_t *semaphore, uint32_t value)
{
    if (!*semaphore || !value)
        *semaphore = value;
}

bool vcx_gateway_write(struct vcx_gateway *g, uint16_t space, uint32_t address, uint32_t value)
{
    if (address % 4)
        return false;
    if (space == SEMAPHORES && address / 4 < VCX_GATEWAY_SEMAPHORES)
        write_semaphore(&g->semaphores[address / 4], value);
    if (!has_commands(space) || vcx_shared8(&g->busy))
        return false;
    if (is_in_mailbox(address))
        vcx_put32(g->mailbox + (address - MAILBOX), value);
    if (address != CONTROL)
        return false;
    g->opcode = (uint16_t)(value >> OPCODE_SHIFT);
    if (value & BUSY)
        vcx_share8(&g->busy, 1);
    return value & BUSY;
}

/* ---- a register in the mailbox: what is done, then the register's words */

enum tlv { OPERATION = 1, REGISTER = 3 };
enum method { QUERY_METHOD = 1, WRITE_METHOD = 2 };
enum answer { DONE = 0, UNKNOWN_TLV = 3, NO_REGISTER = 4, BAD_METHOD = 6, BAD_REGISTER = 7 };

#define OPERATION_STATUS   2 /* and whether it is a direct route */
#define OPERATION_REGISTER 4
#define OPERATION_METHOD   6
#define OPERATION_BYTES    16
#define REGISTER_DATA      (OPERATION_BYTES + 4)
#define RESPONSE           0x80 /* in the byte of the method */

static unsigned tlv_type(const uint8_t *at)
{
    return at[0] >> 3;
}

static uint32_t tlv_bytes(const uint8_t *at)
{
    return (vcx_be16(at) & 0x7ffu) * 4;
}

/* ACCESS_REG, as the driver would give it. */
static enum vcx_status access_as_command(struct vcx_device *device, uint8_t *mailbox, uint32_t bytes,
                                         bool write)
{
    uint8_t in[VCX_GATEWAY_MAILBOX] = {0}, out[VCX_GATEWAY_MAILBOX] = {0};
    uint32_t at = vcx_offset(access_register_in, register_data);
    struct vcx_call call = {device, in, out, at + bytes, at + bytes};
    vcx_put16(in, 0x805);
    vcx_set(in, nop_in, op_mod, !write);
    vcx_set(in, access_register_in, register_id, vcx_be16(mailbox + OPERATION_REGISTER));
    memcpy(in + at, mailbox + REGISTER_DATA, bytes);
    enum vcx_status status = vcx_command_run(&call);
    if (!status)
        memcpy(mailbox + REGISTER_DATA, out + at, bytes);
    return status;
}

static enum answer access_by_mailbox(struct vcx_device *device, uint8_t *mailbox)
{
    uint8_t method = mailbox[OPERATION_METHOD] & 0x7f;
    uint32_t bytes = tlv_bytes(mailbox + OPERATION_BYTES);
    if (tlv_type(mailbox) != OPERATION || tlv_bytes(mailbox) != OPERATION_BYTES ||
        tlv_type(mailbox + OPERATION_BYTES) != REGISTER || bytes < 4 ||
        bytes > VCX_GATEWAY_MAILBOX - OPERATION_BYTES)
        return UNKNOWN_TLV;
    if (method != QUERY_METHOD && method != WRITE_METHOD)
        return BAD_METHOD;
    if (!vcx_register_find(vcx_be16(mailbox + OPERATION_REGISTER)))
        return NO_REGISTER;
    return access_as_command(device, mailbox, bytes - 4, method == WRITE_METHOD) ? BAD_REGISTER : DONE;
}

/* Every register may be accessed, and the capability registers say which there are. */
static enum gateway_status query_capabilities(uint8_t *mailbox)
{
    enum { ANY_REGISTER = 1 << 29, PCAM = 1 << 27, MCAM = 1 << 26, QCAM = 1 << 25, SBCAM = 1 << 18 };
    if (vcx_be32(mailbox)) /* another group of capabilities */
        return BAD_GATEWAY_PARAMETER;
    vcx_put32(mailbox, ANY_REGISTER | PCAM | MCAM | QCAM | SBCAM);
    vcx_put32(mailbox + 4, 0);
    return GATEWAY_OK;
}

static enum gateway_status execute(struct vcx_gateway *g, struct vcx_device *device)
{
    uint8_t *status = g->mailbox + OPERATION_STATUS;
    if (g->opcode == QUERY_CAPABILITIES)
        return query_capabilities(g->mailbox);
    if (g->opcode != ACCESS_BY_MAILBOX)
        return BAD_OPCODE;
    *status = (uint8_t)((*status & 0x80) | access_by_mailbox(device, g->mailbox));
    g->mailbox[OPERATION_METHOD] |= RESPONSE;
    return GATEWAY_OK;
}

bool vcx_gateway_poll(struct vcx_gateway *g, struct vcx_device *device)
{
    if (!vcx_shared8(&g->busy))
        return false;
    g->status = (uint8_t)execute(g, device);
    vcx_share8(&g->busy, 0);
    return true;
}
