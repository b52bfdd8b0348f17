// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Groups of entries that look at the same fields: the commands. */
#include "virtual-connectx/model/ethernet/flow.h"

#define GROUP_BYTES 1024 /* CREATE_FLOW_GROUP, and the answer of QUERY_FLOW_GROUP */

static void clear_group(struct vcx_device *device, void *object)
{
    const struct vcx_flow_group *group = object;
    struct vcx_flow_table *table = vcx_object(device, VCX_FLOW_TABLE, group->table);
    if (table)
        table->groups--;
}

const struct vcx_kind_of_object vcx_kind_flow_group = {"flow group", 14, 1, sizeof(struct vcx_flow_group),
                                                       clear_group};

static bool overlaps(struct vcx_device *device, uint32_t table, uint32_t first, uint32_t last)
{
    for (const struct vcx_flow_group *g = vcx_object_from(device, VCX_FLOW_GROUP, 0); g;
         g = vcx_object_from(device, VCX_FLOW_GROUP, g->object.id + 1))
        if (g->table == table && g->first <= last && first <= g->last)
            return true;
    return false;
}

static enum vcx_status check_group(const struct vcx_call *call, const struct vcx_flow_table *table)
{
    uint32_t first = (uint32_t)vcx_get(call->in, create_flow_group_in, start_flow_index),
             last = (uint32_t)vcx_get(call->in, create_flow_group_in, end_flow_index);
    struct vcx_flow_mask mask;
    if (!table)
        return VCX_BAD_RESOURCE;
    if (first > last || last >= 1u << table->log_size ||
        overlaps(call->device, table->object.id, first, last))
        return VCX_BAD_PARAMETER;
    return vcx_match_mask(&mask, vcx_at(call->in, create_flow_group_in, match_criteria),
                          (uint8_t)vcx_get(call->in, create_flow_group_in, match_criteria_enable))
               ? VCX_OK
               : VCX_BAD_PARAMETER;
}

static enum vcx_status create_group(struct vcx_call *call)
{
    struct vcx_flow_table *table = vcx_flow_table_asked(call);
    const uint8_t *criteria = vcx_at(call->in, create_flow_group_in, match_criteria);
    enum vcx_status status = check_group(call, table);
    if (status != VCX_OK)
        return status;
    struct vcx_flow_group *group = vcx_object_new(call->device, VCX_FLOW_GROUP);
    if (!group)
        return VCX_NO_RESOURCES;
    group->table = table->object.id;
    group->first = (uint32_t)vcx_get(call->in, create_flow_group_in, start_flow_index);
    group->last = (uint32_t)vcx_get(call->in, create_flow_group_in, end_flow_index);
    group->enabled = (uint8_t)vcx_get(call->in, create_flow_group_in, match_criteria_enable);
    memcpy(group->criteria, criteria, sizeof group->criteria);
    vcx_match_mask(&group->mask, criteria, group->enabled);
    table->groups++;
    vcx_set(call->out, create_flow_group_out, group_id, group->object.id);
    return VCX_OK;
}

static struct vcx_flow_group *asked_group(const struct vcx_call *call)
{
    const struct vcx_flow_table *table = vcx_flow_table_asked(call);
    struct vcx_flow_group *group = vcx_object(call->device, VCX_FLOW_GROUP,
                                              (uint32_t)vcx_get(call->in, destroy_flow_group_in, group_id));
    return table && group && group->table == table->object.id ? group : NULL;
}

static enum vcx_status destroy_group(struct vcx_call *call)
{
    const struct vcx_flow_group *group = asked_group(call);
    if (!group)
        return VCX_BAD_RESOURCE;
    if (group->entries)
        return VCX_RESOURCE_BUSY;
    vcx_object_free(call->device, VCX_FLOW_GROUP, group->object.id);
    return VCX_OK;
}

static enum vcx_status query_group(struct vcx_call *call)
{
    const struct vcx_flow_group *group = asked_group(call);
    if (!group)
        return VCX_BAD_RESOURCE;
    vcx_set(call->out, query_flow_group_out, start_flow_index, group->first);
    vcx_set(call->out, query_flow_group_out, end_flow_index, group->last);
    vcx_set(call->out, query_flow_group_out, match_criteria_enable, group->enabled);
    memcpy(vcx_at(call->out, query_flow_group_out, match_criteria), group->criteria, sizeof group->criteria);
    return VCX_OK;
}

const struct vcx_command vcx_commands_flow_group[] = {
    {0x933, GROUP_BYTES, 16, create_group},
    {0x934, 64, 16, destroy_group},
    {0x935, 64, GROUP_BYTES, query_group},
    {0},
};
