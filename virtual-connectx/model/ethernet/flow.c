// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Steering as the driver sets it: flow tables, groups of entries that look at the same fields, entries,
 * and counters of what matched. */
#include "virtual-connectx/model/ethernet/flow.h"
#include "virtual-connectx/model/capability.h"
#include "virtual-connectx/model/ethernet/ethernet.h"

/* ---- counters of frames that entries matched: the commands */

#define COUNTER_BYTES 16

const struct vcx_kind_of_object vcx_kind_flow_counter = {"flow counter", 10, 1,
                                                         sizeof(struct vcx_flow_counter), NULL};

static enum vcx_status alloc_counter(struct vcx_call *call)
{
    if (vcx_get(call->in, alloc_flow_counter_in, flow_counter_bulk))
        return VCX_BAD_PARAMETER;
    const struct vcx_flow_counter *counter = vcx_object_new(call->device, VCX_FLOW_COUNTER);
    if (!counter)
        return VCX_NO_RESOURCES;
    vcx_set(call->out, alloc_flow_counter_out, flow_counter_id, counter->object.id);
    return VCX_OK;
}

static enum vcx_status dealloc_counter(struct vcx_call *call)
{
    uint32_t id = (uint32_t)vcx_get(call->in, dealloc_flow_counter_in, flow_counter_id);
    return vcx_object_free(call->device, VCX_FLOW_COUNTER, id) ? VCX_OK : VCX_BAD_RESOURCE;
}

static void write_counter(uint8_t *out, struct vcx_flow_counter *counter, bool clear)
{
    vcx_set(out, traffic_counter, packets, counter->packets);
    vcx_set(out, traffic_counter, octets, counter->octets);
    if (clear)
        counter->packets = counter->octets = 0;
}

/* One counter, or a row of numbers; those in it that do not exist are zero. */
static enum vcx_status query_counter(struct vcx_call *call)
{
    uint32_t first = (uint32_t)vcx_get(call->in, query_flow_counter_in, flow_counter_id),
             rows = (uint32_t)vcx_get(call->in, query_flow_counter_in, num_of_counters);
    bool clear = vcx_get(call->in, query_flow_counter_in, clear);
    uint8_t *out = vcx_at(call->out, query_flow_counter_out, flow_statistics);
    if (rows == 0 && !vcx_object(call->device, VCX_FLOW_COUNTER, first))
        return VCX_BAD_RESOURCE;
    rows = (uint32_t)vcx_most(rows, 1);
    if (call->out_bytes < (uint32_t)(out - call->out) + rows * COUNTER_BYTES)
        return VCX_BAD_OUTPUT_LENGTH;
    for (uint32_t i = 0; i < rows; i++) {
        struct vcx_flow_counter *counter = vcx_object(call->device, VCX_FLOW_COUNTER, first + i);
        if (counter)
            write_counter(out + i * COUNTER_BYTES, counter, clear);
    }
    return VCX_OK;
}

const struct vcx_command vcx_commands_flow_counter[] = {
    {0x939, 16, 16, alloc_counter},
    {0x93a, 16, 16, dealloc_counter},
    {0x93b, 32, 16, query_counter},
    {0},
};

/* ---- groups of entries that look at the same fields: the commands */

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

static bool group_overlaps(struct vcx_device *device, uint32_t table, uint32_t first, uint32_t last)
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
        group_overlaps(call->device, table->object.id, first, last))
        return VCX_BAD_PARAMETER;
    return vcx_match_mask(&mask, vcx_at(call->in, create_flow_group_in, match_criteria),
                          (uint8_t)vcx_get(call->in, create_flow_group_in, match_criteria_enable))
               ? VCX_OK
               : VCX_BAD_PARAMETER;
}

static struct vcx_flow_table *flow_table_asked(const struct vcx_call *call);

static enum vcx_status create_group(struct vcx_call *call)
{
    struct vcx_flow_table *table = flow_table_asked(call);
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
    const struct vcx_flow_table *table = flow_table_asked(call);
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

/* ---- the entries of flow tables */

/* A table holds them by rising index, and only those that were set. */

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

/* Where an entry with the index is, or would be. */
static uint32_t flow_place(const struct vcx_flow_table *table, uint32_t index)
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
    uint32_t place = flow_place(table, index);
    return place < table->count && table->entry[place]->index == index ? table->entry[place] : NULL;
}

static void flow_entry_free(struct vcx_flow_entry *entry)
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
static enum vcx_status entry_make(const struct vcx_call *call, const struct vcx_flow_table *table,
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

static enum vcx_status table_add_entry(struct vcx_device *device, struct vcx_flow_table *table,
                                       struct vcx_flow_group *group, struct vcx_flow_entry *entry)
{
    if (entry_at(table, entry->index))
        return VCX_BAD_RESOURCE_STATE;
    if (device->steering->entries >= MOST_ENTRIES)
        return VCX_LIMIT_EXCEEDED;
    if (!make_room(table))
        return VCX_NO_RESOURCES;
    uint32_t place = flow_place(table, entry->index);
    memmove(&table->entry[place + 1], &table->entry[place], (table->count - place) * sizeof *table->entry);
    table->entry[place] = entry;
    table->count++;
    group->entries++;
    device->steering->entries++;
    return VCX_OK;
}

/* The new entry takes over from the old one what the command does not change. Its lists come together. */
static enum vcx_status table_change_entry(struct vcx_flow_table *table, uint32_t selected,
                                          struct vcx_flow_entry *entry)
{
    const uint32_t lists = MODIFY_DESTINATIONS | MODIFY_COUNTERS;
    uint32_t place = flow_place(table, entry->index);
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
    flow_entry_free(old);
    return VCX_OK;
}

static enum vcx_status set_entry(struct vcx_call *call)
{
    const uint8_t *context = vcx_at(call->in, set_fte_in, flow_context);
    struct vcx_flow_table *table = flow_table_asked(call);
    struct vcx_flow_group *group =
        vcx_object(call->device, VCX_FLOW_GROUP, (uint32_t)vcx_get(context, flow_context, group_id));
    uint32_t operation = (uint32_t)vcx_get(call->in, nop_in, op_mod),
             index = (uint32_t)vcx_get(call->in, set_fte_in, flow_index);
    struct vcx_flow_entry *entry = NULL;
    if (!table || !group || group->table != table->object.id)
        return VCX_BAD_RESOURCE;
    if (operation > OPERATION_MODIFY || index < group->first || index > group->last)
        return VCX_BAD_PARAMETER;
    enum vcx_status status = entry_make(call, table, group, &entry);
    if (status == VCX_OK)
        status = operation == OPERATION_SET
                     ? table_add_entry(call->device, table, group, entry)
                     : table_change_entry(table, (uint32_t)vcx_get(call->in, set_fte_in, modify_enable_mask),
                                          entry);
    if (status != VCX_OK)
        flow_entry_free(entry);
    return status;
}

static enum vcx_status delete_entry(struct vcx_call *call)
{
    struct vcx_flow_table *table = flow_table_asked(call);
    uint32_t index = (uint32_t)vcx_get(call->in, set_fte_in, flow_index);
    struct vcx_flow_entry *entry = table ? entry_at(table, index) : NULL;
    if (!entry)
        return VCX_BAD_RESOURCE;
    struct vcx_flow_group *group = vcx_object(call->device, VCX_FLOW_GROUP, entry->group);
    uint32_t place = flow_place(table, index);
    if (group)
        group->entries--;
    table->count--;
    memmove(&table->entry[place], &table->entry[place + 1], (table->count - place) * sizeof *table->entry);
    call->device->steering->entries--;
    flow_entry_free(entry);
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
    const struct vcx_flow_table *table = flow_table_asked(call);
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

/* ---- flow tables: the commands */

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
        flow_entry_free(table->entry[i]);
    device->steering->entries -= table->count;
    vcx_release(table->entry);
    if (device->steering->root[table->type] == table->object.id)
        device->steering->root[table->type] = 0;
}

const struct vcx_kind_of_object vcx_kind_flow_table = {"flow table", 12, 1, sizeof(struct vcx_flow_table),
                                                       clear_table};

/* The table that a command names with its type; NULL if there is none. */
static struct vcx_flow_table *flow_table_asked(const struct vcx_call *call)
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
    const struct vcx_flow_table *table = flow_table_asked(call);
    if (!table)
        return VCX_BAD_RESOURCE;
    if (table->groups)
        return VCX_RESOURCE_BUSY;
    vcx_object_free(call->device, VCX_FLOW_TABLE, table->object.id);
    return VCX_OK;
}

static enum vcx_status query_table(struct vcx_call *call)
{
    const struct vcx_flow_table *table = flow_table_asked(call);
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
    struct vcx_flow_table *table = flow_table_asked(call);
    if (!table)
        return VCX_BAD_RESOURCE;
    if (vcx_get(call->in, modify_flow_table_in, modify_field_select) != MODIFY_MISS_TABLE)
        return VCX_BAD_PARAMETER;
    return set_miss(call->device, table, vcx_at(call->in, modify_flow_table_in, flow_table_context));
}

static enum vcx_status set_root(struct vcx_call *call)
{
    const struct vcx_flow_table *table = flow_table_asked(call);
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
