// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Flow tables: the commands. */
#include "virtual-connectx/model/capability.h"
#include "virtual-connectx/model/ethernet/ethernet.h"

#define CONTEXT_BYTES     40 /* of a table */
#define MISS_FORWARD      1
#define MODIFY_MISS_TABLE 1
#define ROOT_SET          0
#define ROOT_RESET        1

static const bool types[VCX_TABLE_TYPES] = {
    [VCX_TABLE_NIC_RECEIVE] = true,
    [VCX_TABLE_NIC_TRANSMIT] = true,
    [VCX_TABLE_RDMA_RECEIVE] = true,
    [VCX_TABLE_RDMA_TRANSMIT] = true,
};

static void clear_table(struct vcx_device *device, void *object)
{
    struct vcx_flow_table *table = object;
    for (uint32_t i = 0; i < table->count; i++)
        vcx_flow_entry_free(table->entry[i]);
    device->steering->entries -= table->count;
    vcx_release(table->entry);
    if (device->steering->root[table->type] == table->object.id)
        device->steering->root[table->type] = 0;
}

const struct vcx_kind_of_object vcx_kind_flow_table = {"flow table", 12, 1, sizeof(struct vcx_flow_table),
                                                       clear_table};

struct vcx_flow_table *vcx_flow_table_asked(const struct vcx_call *call)
{
    struct vcx_flow_table *table = vcx_object(call->device, VCX_FLOW_TABLE,
                                              (uint32_t)vcx_get(call->in, destroy_flow_table_in, table_id));
    return table && table->type == vcx_get(call->in, destroy_flow_table_in, table_type) ? table : NULL;
}

static enum vcx_status set_miss(struct vcx_device *device, struct vcx_flow_table *table,
                                const uint8_t *context)
{
    uint32_t action = (uint32_t)vcx_get(context, flow_table_context, table_miss_action),
             id = (uint32_t)vcx_get(context, flow_table_context, table_miss_id);
    const struct vcx_flow_table *miss = vcx_object(device, VCX_FLOW_TABLE, id);
    if (action > MISS_FORWARD)
        return VCX_BAD_PARAMETER;
    if (action == MISS_FORWARD && (!miss || miss == table || miss->type != table->type))
        return VCX_BAD_RESOURCE;
    table->miss_forwards = action == MISS_FORWARD;
    table->miss = id;
    return VCX_OK;
}

static enum vcx_status init_table(struct vcx_flow_table *table, const struct vcx_call *call)
{
    const uint8_t *context = vcx_at(call->in, create_flow_table_in, flow_table_context);
    uint32_t type = (uint32_t)vcx_get(call->in, create_flow_table_in, table_type);
    table->level = (uint8_t)vcx_get(context, flow_table_context, level);
    table->log_size = (uint8_t)vcx_get(context, flow_table_context, log_size);
    if (type >= VCX_TABLE_TYPES || !types[type] || table->level > VCX_MOST_FLOW_LEVEL ||
        table->log_size > VCX_LOG_MOST_FLOW_ENTRIES || vcx_get(context, flow_table_context, sw_owner) ||
        vcx_get(context, flow_table_context, reformat_en) || vcx_get(context, flow_table_context, decap_en))
        return VCX_BAD_PARAMETER;
    table->type = (uint8_t)type;
    return set_miss(call->device, table, context);
}

static enum vcx_status create_table(struct vcx_call *call)
{
    struct vcx_flow_table *table = vcx_object_new(call->device, VCX_FLOW_TABLE);
    enum vcx_status status = table ? init_table(table, call) : VCX_NO_RESOURCES;
    if (status == VCX_OK)
        vcx_set(call->out, create_flow_table_out, table_id, table->object.id);
    else if (table)
        vcx_object_free(call->device, VCX_FLOW_TABLE, table->object.id);
    return status;
}

static enum vcx_status destroy_table(struct vcx_call *call)
{
    const struct vcx_flow_table *table = vcx_flow_table_asked(call);
    if (!table)
        return VCX_BAD_RESOURCE;
    if (table->groups)
        return VCX_RESOURCE_BUSY;
    vcx_object_free(call->device, VCX_FLOW_TABLE, table->object.id);
    return VCX_OK;
}

static enum vcx_status query_table(struct vcx_call *call)
{
    const struct vcx_flow_table *table = vcx_flow_table_asked(call);
    uint8_t *context = vcx_at(call->out, query_flow_table_out, flow_table_context);
    if (!table)
        return VCX_BAD_RESOURCE;
    vcx_set(context, flow_table_context, level, table->level);
    vcx_set(context, flow_table_context, log_size, table->log_size);
    vcx_set(context, flow_table_context, table_miss_action, table->miss_forwards ? MISS_FORWARD : 0);
    vcx_set(context, flow_table_context, table_miss_id, table->miss);
    return VCX_OK;
}

static enum vcx_status modify_table(struct vcx_call *call)
{
    struct vcx_flow_table *table = vcx_flow_table_asked(call);
    if (!table)
        return VCX_BAD_RESOURCE;
    if (vcx_get(call->in, modify_flow_table_in, modify_field_select) != MODIFY_MISS_TABLE)
        return VCX_BAD_PARAMETER;
    return set_miss(call->device, table, vcx_at(call->in, modify_flow_table_in, flow_table_context));
}

static enum vcx_status set_root(struct vcx_call *call)
{
    const struct vcx_flow_table *table = vcx_flow_table_asked(call);
    uint32_t operation = (uint32_t)vcx_get(call->in, nop_in, op_mod);
    if (!table)
        return VCX_BAD_RESOURCE;
    if (operation > ROOT_RESET)
        return VCX_BAD_PARAMETER;
    call->device->steering->root[table->type] = operation == ROOT_SET ? table->object.id : 0;
    return VCX_OK;
}

const struct vcx_command vcx_commands_flow_table[] = {
    {0x92f, 64, 16, set_root},
    {0x930, 24 + CONTEXT_BYTES, 16, create_table},
    {0x931, 64, 16, destroy_table},
    {0x932, 64, 24 + CONTEXT_BYTES, query_table},
    {0x93c, 24 + CONTEXT_BYTES, 16, modify_table},
    {0},
};
