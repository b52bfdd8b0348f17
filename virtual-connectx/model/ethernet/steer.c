// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The walk of a frame through the tables of NIC_RECEIVE. */
#include "virtual-connectx/model/ethernet/ethernet.h"

#define MOST_VISITS 128u /* of tables, by one frame: the driver makes no loops, and one that does ends here */

struct visit {
    uint32_t table, tag;
};

struct walk {
    struct vcx_device *device;
    uint8_t fields[VCX_MATCH_BYTES];
    uint32_t bytes;
    struct visit visit[MOST_VISITS];
    uint32_t planned;
    struct vcx_steered *route;
};

static void plan(struct walk *w, uint32_t table, uint32_t tag)
{
    if (w->planned < MOST_VISITS)
        w->visit[w->planned++] = (struct visit){table, tag};
}

/* The first entry that matches; entries of a group follow each other, so that groups are looked up once. */
static const struct vcx_flow_entry *find(const struct walk *w, const struct vcx_flow_table *table)
{
    const struct vcx_flow_group *group = NULL;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct vcx_flow_entry *entry = table->entry[i];
        if (!group || group->object.id != entry->group)
            group = vcx_object(w->device, VCX_FLOW_GROUP, entry->group);
        if (group && vcx_match(&group->mask, entry->value, w->fields))
            return entry;
    }
    return NULL;
}

static void count(const struct walk *w, const struct vcx_flow_entry *entry)
{
    for (uint32_t i = 0; entry->action & VCX_FLOW_COUNT && i < entry->counters; i++) {
        struct vcx_flow_counter *counter = vcx_object(w->device, VCX_FLOW_COUNTER, entry->counter[i]);
        if (!counter)
            continue;
        counter->packets++;
        counter->octets += w->bytes;
    }
}

static void forward(struct walk *w, const struct vcx_flow_entry *entry, uint32_t tag)
{
    struct vcx_steered *route = w->route;
    for (uint32_t i = 0; entry->action & VCX_FLOW_FORWARD && i < entry->destinations; i++) {
        const struct vcx_destination *to = &entry->destination[i];
        if (to->type == VCX_TO_TABLE) {
            plan(w, to->id, tag);
        } else if (route->count < VCX_MOST_TARGETS) {
            route->target[route->count].tir = to->id;
            route->target[route->count++].tag = tag;
        }
    }
}

static void visit(struct walk *w, struct visit visit)
{
    const struct vcx_flow_table *table = vcx_object(w->device, VCX_FLOW_TABLE, visit.table);
    const struct vcx_flow_entry *entry = table ? find(w, table) : NULL;
    if (entry) {
        count(w, entry);
        forward(w, entry, entry->tag ? entry->tag : visit.tag);
    } else if (table && table->miss_forwards) {
        plan(w, table->miss, visit.tag);
    }
}

void vcx_steer(struct vcx_device *device, const struct vcx_headers *headers, const struct vcx_frame *frame,
               struct vcx_steered *route)
{
    struct walk walk = {.device = device, .bytes = frame->length, .route = route};
    uint32_t root = device->steering->root[VCX_TABLE_NIC_RECEIVE];
    if (!root)
        return;
    vcx_match_fields(headers, frame->data, walk.fields);
    plan(&walk, root, 0);
    for (uint32_t i = 0; i < walk.planned; i++)
        visit(&walk, walk.visit[i]);
}
