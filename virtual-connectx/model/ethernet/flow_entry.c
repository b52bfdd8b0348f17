// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The entries of flow tables: the commands. A table holds them by rising index, and only those that were set. */
#include "virtual-connectx/model/ethernet/ethernet.h"

#define MOST_ENTRIES     65536u /* of a device */
#define FIRST_ROOM       8u
#define ENTRY_IN_BYTES   (64 + 768) /* SET_FLOW_TABLE_ENTRY with a context, without its lists */
#define LIST_BYTES       8u         /* of a destination or counter */
#define MOST_LISTED      4096u
#define KNOWN_ACTIONS    (VCX_FLOW_ALLOW | VCX_FLOW_DROP | VCX_FLOW_FORWARD | VCX_FLOW_COUNT)
#define OPERATION_SET    0
#define OPERATION_MODIFY 1
/* what a change takes from the new context (bits by mlx5's MLX5_SET_FTE_MODIFY_ENABLE_MASK_*) */
#define MODIFY_ACTION       1u
#define MODIFY_TAG          2u
#define MODIFY_DESTINATIONS 4u
#define MODIFY_COUNTERS     8u

uint32_t vcx_flow_place(const struct vcx_flow_table *table, uint32_t index)
{
    uint32_t low = 0, high = table->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table->entry[middle]->index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct vcx_flow_entry *entry_at(const struct vcx_flow_table *table, uint32_t index)
{
    uint32_t place = vcx_flow_place(table, index);
    return place < table->count && table->entry[place]->index == index ? table->entry[place] : NULL;
}

void vcx_flow_entry_free(struct vcx_flow_entry *entry)
{
    if (entry)
        vcx_release(entry->destination);
    vcx_release(entry);
}

/* ---- what a context says */

static bool action_right(const uint8_t *context)
{
    uint32_t action = (uint32_t)vcx_get(context, flow_context, action),
             end = action & (VCX_FLOW_ALLOW | VCX_FLOW_DROP | VCX_FLOW_FORWARD),
             destinations = (uint32_t)vcx_get(context, flow_context, destination_list_size),
             counters = (uint32_t)vcx_get(context, flow_context, flow_counter_list_size);
    return !(action & ~(uint32_t)KNOWN_ACTIONS) && (end & (end - 1)) == 0 && action &&
           !(action & VCX_FLOW_FORWARD && !destinations) && !(action & VCX_FLOW_COUNT && !counters) &&
           destinations <= MOST_LISTED && counters <= MOST_LISTED &&
           !vcx_get(context, flow_context, extended_destination);
}

/* A table may be forwarded to if it is at a higher level, so that walks end. */
static bool destination_right(const struct vcx_call *call, const struct vcx_flow_table *table,
                              const struct vcx_destination *to)
{
    if (to->type == VCX_TO_TIR)
        return vcx_object(call->device, VCX_TIR, to->id);
    const struct vcx_flow_table *next = vcx_object(call->device, VCX_FLOW_TABLE, to->id);
    return to->type == VCX_TO_TABLE && next && next->type == table->type &&
           (next->level > table->level || vcx_get(call->in, set_fte_in, ignore_flow_level));
}

static enum vcx_status read_lists(struct vcx_flow_entry *entry, const struct vcx_call *call,
                                  const struct vcx_flow_table *table, const uint8_t *list)
{
    for (uint32_t i = 0; i < entry->destinations; i++, list += LIST_BYTES) {
        struct vcx_destination *to = &entry->destination[i];
        to->type = (uint8_t)vcx_get(list, dest_format_struct, destination_type);
        to->id = (uint32_t)vcx_get(list, dest_format_struct, destination_id);
        if (to->type != VCX_TO_TABLE && to->type != VCX_TO_TIR)
            return VCX_BAD_PARAMETER;
        if (!destination_right(call, table, to))
            return VCX_BAD_RESOURCE;
    }
    for (uint32_t i = 0; i < entry->counters; i++, list += LIST_BYTES) {
        entry->counter[i] = (uint32_t)vcx_get(list, flow_counter_list, flow_counter_id);
        if (!vcx_object(call->device, VCX_FLOW_COUNTER, entry->counter[i]))
            return VCX_BAD_RESOURCE;
    }
    return VCX_OK;
}

/* An entry as the command has it, in no table yet. */
static enum vcx_status make(const struct vcx_call *call, const struct vcx_flow_table *table,
                            const struct vcx_flow_group *group, struct vcx_flow_entry **made)
{
    const uint8_t *context = vcx_at(call->in, set_fte_in, flow_context);
    uint32_t destinations = (uint32_t)vcx_get(context, flow_context, destination_list_size),
             counters = (uint32_t)vcx_get(context, flow_context, flow_counter_list_size);
    if (!action_right(context))
        return VCX_BAD_PARAMETER;
    if (call->in_bytes < ENTRY_IN_BYTES + LIST_BYTES * (destinations + counters))
        return VCX_BAD_INPUT_LENGTH;
    struct vcx_flow_entry *entry = vcx_allocate(sizeof *entry + group->mask.words * sizeof *entry->value);
    struct vcx_destination *lists =
        vcx_allocate(destinations * sizeof *lists + (counters + 1) * sizeof *entry->counter);
    if (!entry || !lists) {
        vcx_release(entry);
        vcx_release(lists);
        return VCX_NO_RESOURCES;
    }
    entry->index = (uint32_t)vcx_get(call->in, set_fte_in, flow_index);
    entry->group = group->object.id;
    entry->tag = (uint32_t)vcx_get(context, flow_context, flow_tag);
    entry->action = (uint16_t)vcx_get(context, flow_context, action);
    entry->destinations = destinations;
    entry->counters = counters;
    entry->destination = lists;
    entry->counter = (uint32_t *)(lists + destinations);
    vcx_match_value(&group->mask, vcx_at(context, flow_context, match_value), entry->value);
    *made = entry;
    return read_lists(entry, call, table, vcx_at(context, flow_context, destination));
}

/* ---- setting and changing */

static bool make_room(struct vcx_flow_table *table)
{
    if (table->count < table->room)
        return true;
    uint32_t room = table->room ? 2 * table->room : FIRST_ROOM;
    struct vcx_flow_entry **larger = vcx_allocate(room * sizeof *larger);
    if (!larger)
        return false;
    if (table->count)
        memcpy(larger, table->entry, table->count * sizeof *larger);
    vcx_release(table->entry);
    table->entry = larger;
    table->room = room;
    return true;
}

static enum vcx_status add(struct vcx_device *device, struct vcx_flow_table *table,
                           struct vcx_flow_group *group, struct vcx_flow_entry *entry)
{
    if (entry_at(table, entry->index))
        return VCX_BAD_RESOURCE_STATE;
    if (device->steering->entries >= MOST_ENTRIES)
        return VCX_LIMIT_EXCEEDED;
    if (!make_room(table))
        return VCX_NO_RESOURCES;
    uint32_t place = vcx_flow_place(table, entry->index);
    memmove(&table->entry[place + 1], &table->entry[place], (table->count - place) * sizeof *table->entry);
    table->entry[place] = entry;
    table->count++;
    group->entries++;
    device->steering->entries++;
    return VCX_OK;
}

/* The new entry takes over from the old one what the command does not change. Its lists come together. */
static enum vcx_status change(struct vcx_flow_table *table, uint32_t selected, struct vcx_flow_entry *entry)
{
    const uint32_t lists = MODIFY_DESTINATIONS | MODIFY_COUNTERS;
    uint32_t place = vcx_flow_place(table, entry->index);
    struct vcx_flow_entry *old = entry_at(table, entry->index);
    if (!old || old->group != entry->group)
        return VCX_BAD_RESOURCE;
    if (!(selected & MODIFY_ACTION))
        entry->action = old->action;
    if (!(selected & MODIFY_TAG))
        entry->tag = old->tag;
    if (!(selected & lists)) {
        struct vcx_flow_entry kept = *old;
        old->destination = entry->destination;
        entry->destination = kept.destination;
        entry->counter = kept.counter;
        entry->destinations = kept.destinations;
        entry->counters = kept.counters;
    }
    table->entry[place] = entry;
    vcx_flow_entry_free(old);
    return VCX_OK;
}

static enum vcx_status set_entry(struct vcx_call *call)
{
    const uint8_t *context = vcx_at(call->in, set_fte_in, flow_context);
    struct vcx_flow_table *table = vcx_flow_table_asked(call);
    struct vcx_flow_group *group =
        vcx_object(call->device, VCX_FLOW_GROUP, (uint32_t)vcx_get(context, flow_context, group_id));
    uint32_t operation = (uint32_t)vcx_get(call->in, nop_in, op_mod),
             index = (uint32_t)vcx_get(call->in, set_fte_in, flow_index);
    struct vcx_flow_entry *entry = NULL;
    if (!table || !group || group->table != table->object.id)
        return VCX_BAD_RESOURCE;
    if (operation > OPERATION_MODIFY || index < group->first || index > group->last)
        return VCX_BAD_PARAMETER;
    enum vcx_status status = make(call, table, group, &entry);
    if (status == VCX_OK)
        status = operation == OPERATION_SET
                     ? add(call->device, table, group, entry)
                     : change(table, (uint32_t)vcx_get(call->in, set_fte_in, modify_enable_mask), entry);
    if (status != VCX_OK)
        vcx_flow_entry_free(entry);
    return status;
}

static enum vcx_status delete_entry(struct vcx_call *call)
{
    struct vcx_flow_table *table = vcx_flow_table_asked(call);
    uint32_t index = (uint32_t)vcx_get(call->in, set_fte_in, flow_index);
    struct vcx_flow_entry *entry = table ? entry_at(table, index) : NULL;
    if (!entry)
        return VCX_BAD_RESOURCE;
    struct vcx_flow_group *group = vcx_object(call->device, VCX_FLOW_GROUP, entry->group);
    uint32_t place = vcx_flow_place(table, index);
    if (group)
        group->entries--;
    table->count--;
    memmove(&table->entry[place], &table->entry[place + 1], (table->count - place) * sizeof *table->entry);
    call->device->steering->entries--;
    vcx_flow_entry_free(entry);
    return VCX_OK;
}

/* ---- query */

static void write_lists(const struct vcx_flow_entry *entry, uint8_t *list)
{
    for (uint32_t i = 0; i < entry->destinations; i++, list += LIST_BYTES) {
        vcx_set(list, dest_format_struct, destination_type, entry->destination[i].type);
        vcx_set(list, dest_format_struct, destination_id, entry->destination[i].id);
    }
    for (uint32_t i = 0; i < entry->counters; i++, list += LIST_BYTES)
        vcx_set(list, flow_counter_list, flow_counter_id, entry->counter[i]);
}

static enum vcx_status query_entry(struct vcx_call *call)
{
    const struct vcx_flow_table *table = vcx_flow_table_asked(call);
    const struct vcx_flow_entry *entry =
        table ? entry_at(table, (uint32_t)vcx_get(call->in, set_fte_in, flow_index)) : NULL;
    const struct vcx_flow_group *group =
        entry ? vcx_object(call->device, VCX_FLOW_GROUP, entry->group) : NULL;
    uint8_t *context = vcx_at(call->out, query_fte_out, flow_context);
    if (!group)
        return VCX_BAD_RESOURCE;
    if (call->out_bytes < ENTRY_IN_BYTES + LIST_BYTES * (entry->destinations + entry->counters))
        return VCX_BAD_OUTPUT_LENGTH;
    vcx_set(context, flow_context, group_id, entry->group);
    vcx_set(context, flow_context, flow_tag, entry->tag);
    vcx_set(context, flow_context, action, entry->action);
    vcx_set(context, flow_context, destination_list_size, entry->destinations);
    vcx_set(context, flow_context, flow_counter_list_size, entry->counters);
    for (uint32_t i = 0; i < group->mask.words; i++)
        memcpy(vcx_at(context, flow_context, match_value) + 4 * group->mask.word[i], &entry->value[i], 4);
    write_lists(entry, vcx_at(context, flow_context, destination));
    return VCX_OK;
}

const struct vcx_command vcx_commands_flow_entry[] = {
    {0x936, ENTRY_IN_BYTES, 16, set_entry},
    {0x937, 64, ENTRY_IN_BYTES, query_entry},
    {0x938, 64, 16, delete_entry},
    {0},
};
