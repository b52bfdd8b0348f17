// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/queue/eq.h"

#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/memory.h"

#define CREATE_EQ  0x301
#define DESTROY_EQ 0x302
#define QUERY_EQ   0x303

/* an entry */
#define LOG_ENTRY     6
#define ENTRY_BYTES   64u
#define ENTRY_TYPE    1
#define ENTRY_SUBTYPE 3
#define ENTRY_DATA    32
#define ENTRY_OWNER   63
/* in the data of an entry */
#define COMMAND_VECTOR 0
#define COMPLETION_CQN 24

struct eq {
    struct vcx_object object;
    struct vcx_buffer buffer;
    uint8_t log_size;
    uint16_t vector;
    uint32_t producer;
    uint64_t mask; /* bit n: events of type n */
    uint8_t context[64];
};

static void clear_eq(struct vcx_device *device, void *eq)
{
    struct eq *e = eq;
    if (device->command_eq == e->object.id)
        device->command_eq = 0;
    vcx_buffer_clear(&e->buffer);
}

const struct vcx_kind_of_object vcx_kind_eq = {"event queue", 5, 1, sizeof(struct eq), clear_eq};

static int init_eq(struct eq *eq, const struct vcx_call *call)
{
    const uint8_t *context = vcx_at(call->in, create_eq_in, eq_context_entry);
    uint32_t list = vcx_offset(create_eq_in, pas);
    eq->log_size = (uint8_t)vcx_get(context, eqc, log_eq_size);
    eq->vector = (uint16_t)vcx_get(context, eqc, intr);
    eq->mask = vcx_get(call->in, create_eq_in, event_bitmask_0);
    memcpy(eq->context, context, sizeof eq->context);
    return vcx_buffer_init(&eq->buffer, call->in + list, (call->in_bytes - list) / 8,
                           (uint32_t)vcx_get(context, eqc, log_page_size),
                           (uint32_t)vcx_get(context, eqc, page_offset),
                           (uint64_t)ENTRY_BYTES << eq->log_size);
}

/* Entries begin as the device's: their owner bit is the one that the first round does not write. */
static void mark_unused(struct vcx_device *device, struct eq *eq)
{
    for (uint64_t i = 0; i < 1ull << eq->log_size; i++) {
        uint8_t *entry = vcx_buffer_at(device, &eq->buffer, i << LOG_ENTRY, ENTRY_BYTES, VCX_TO_WRITE);
        if (entry)
            vcx_share8(entry + ENTRY_OWNER, 1);
    }
}

static enum vcx_status create_eq(struct vcx_call *call)
{
    struct eq *eq = vcx_object_new(call->device, VCX_EQ);
    if (!eq)
        return VCX_NO_RESOURCES;
    if (init_eq(eq, call) != 0) {
        vcx_object_free(call->device, VCX_EQ, eq->object.id);
        return VCX_BAD_PARAMETER;
    }
    mark_unused(call->device, eq);
    if (eq->mask & 1ull << VCX_EVENT_COMMAND)
        call->device->command_eq = eq->object.id;
    vcx_set(call->out, create_eq_out, eq_number, eq->object.id);
    return VCX_OK;
}

static enum vcx_status destroy_eq(struct vcx_call *call)
{
    uint32_t id = (uint32_t)vcx_get(call->in, destroy_eq_in, eq_number);
    return vcx_object_free(call->device, VCX_EQ, id) ? VCX_OK : VCX_BAD_RESOURCE;
}

static enum vcx_status query_eq(struct vcx_call *call)
{
    struct eq *eq = vcx_object(call->device, VCX_EQ, (uint32_t)vcx_get(call->in, query_eq_in, eq_number));
    if (!eq)
        return VCX_BAD_RESOURCE;
    uint8_t *context = vcx_at(call->out, query_eq_out, eq_context_entry);
    memcpy(context, eq->context, sizeof eq->context);
    vcx_set(context, eqc, producer_counter, eq->producer);
    return VCX_OK;
}

const struct vcx_command vcx_commands_eq[] = {
    {CREATE_EQ, vcx_offset(create_eq_in, pas), 16, create_eq},
    {DESTROY_EQ, 16, 16, destroy_eq},
    {QUERY_EQ, 16, vcx_offset(query_eq_out, eq_context_entry) + 64, query_eq},
    {0},
};

/* ---- events */

static void write_entry(struct vcx_device *device, struct eq *eq, enum vcx_event type, uint8_t subtype,
                        const uint8_t *data)
{
    uint32_t size = 1u << eq->log_size, index = eq->producer & (size - 1);
    uint8_t *entry =
        vcx_buffer_at(device, &eq->buffer, (uint64_t)index << LOG_ENTRY, ENTRY_BYTES, VCX_TO_WRITE);
    if (!entry)
        return;
    memset(entry, 0, ENTRY_OWNER);
    entry[ENTRY_TYPE] = (uint8_t)type;
    entry[ENTRY_SUBTYPE] = subtype;
    memcpy(entry + ENTRY_DATA, data, VCX_EVENT_DATA_BYTES);
    vcx_share8(entry + ENTRY_OWNER, eq->producer >> eq->log_size & 1);
    eq->producer++;
    device->ops->interrupt(device->front, eq->vector);
}

/* Write an event into queue `eq`, if it exists. `data` has VCX_EVENT_DATA_BYTES. */
static void vcx_eq_write(struct vcx_device *device, uint32_t eq, enum vcx_event type, uint8_t subtype,
                         const uint8_t *data)
{
    struct eq *e = vcx_object(device, VCX_EQ, eq);
    if (e)
        write_entry(device, e, type, subtype, data);
}

void vcx_event_write(struct vcx_device *device, enum vcx_event type, uint8_t subtype, const uint8_t *data)
{
    for (struct eq *e = vcx_object_from(device, VCX_EQ, 0); e;
         e = vcx_object_from(device, VCX_EQ, e->object.id + 1))
        if (e->mask & 1ull << type)
            write_entry(device, e, type, subtype, data);
}

void vcx_eq_command_done(struct vcx_device *device, uint32_t eq, uint32_t slot)
{
    uint8_t data[VCX_EVENT_DATA_BYTES] = {0};
    vcx_put32(data + COMMAND_VECTOR, 1u << slot);
    vcx_eq_write(device, eq, VCX_EVENT_COMMAND, 0, data);
}

void vcx_eq_completion(struct vcx_device *device, uint32_t eq, uint32_t cq)
{
    uint8_t data[VCX_EVENT_DATA_BYTES] = {0};
    vcx_put32(data + COMPLETION_CQN, cq);
    vcx_eq_write(device, eq, VCX_EVENT_COMPLETION, 0, data);
}
