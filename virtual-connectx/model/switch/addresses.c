// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Learned addresses: a hash table of a fixed size. They do not age; a link that goes down takes its addresses away. */
#include "virtual-connectx/model/switch/inside.h"

#define TRIES     8u /* places that an address may be in */
#define AT_SOURCE 6
#define AT_TYPE   12
#define AT_TAG    14
#define TYPE_TAG  0x8100

static uint16_t vlan_of(const struct vcx_frame *frame)
{
    bool tagged = frame->length >= AT_TAG + 2 && vcx_be16(frame->data + AT_TYPE) == TYPE_TAG;
    return tagged ? vcx_be16(frame->data + AT_TAG) & 0xfff : 0;
}

/* FNV-1a */
static uint32_t hash_of(const uint8_t *mac, uint16_t vlan)
{
    uint32_t hash = 2166136261u ^ vlan;
    for (int i = 0; i < 6; i++)
        hash = (hash ^ mac[i]) * 16777619u;
    return hash ^ hash >> 15;
}

/* The address's place in the table, or the first free one of those that it may be in; VCX_SWITCH_ADDRESSES: neither. */
static uint32_t place_of(const struct vcx_switch *sw, const uint8_t *mac, uint16_t vlan)
{
    uint32_t hash = hash_of(mac, vlan), free = VCX_SWITCH_ADDRESSES;
    for (uint32_t i = 0; i < TRIES; i++) {
        uint32_t place = (hash + i) % VCX_SWITCH_ADDRESSES;
        const struct vcx_address *a = &sw->addresses[place];
        if (a->used && a->vlan == vlan && memcmp(a->mac, mac, 6) == 0)
            return place;
        if (!a->used && free == VCX_SWITCH_ADDRESSES)
            free = place;
    }
    return free;
}

void vcx_address_learn(struct vcx_switch *sw, const struct vcx_frame *frame)
{
    const uint8_t *mac = frame->data + AT_SOURCE;
    uint16_t vlan = vlan_of(frame);
    if (mac[0] & 1)
        return; /* no station has a group's address */
    uint32_t place = place_of(sw, mac, vlan);
    if (place == VCX_SWITCH_ADDRESSES) {
        sw->counters.table_full++;
        return;
    }
    struct vcx_address *a = &sw->addresses[place];
    sw->counters.learned += !a->used;
    sw->counters.moved += a->used && a->port != frame->port;
    *a = (struct vcx_address){.used = true, .vlan = vlan, .port = frame->port};
    memcpy(a->mac, mac, 6);
}

uint8_t vcx_address_port(const struct vcx_switch *sw, const struct vcx_frame *frame)
{
    if (frame->data[0] & 1)
        return VCX_NO_PORT;
    uint32_t place = place_of(sw, frame->data, vlan_of(frame));
    return place < VCX_SWITCH_ADDRESSES && sw->addresses[place].used ? sw->addresses[place].port
                                                                     : VCX_NO_PORT;
}

void vcx_address_forget(struct vcx_switch *sw, uint8_t port)
{
    for (uint32_t i = 0; i < VCX_SWITCH_ADDRESSES; i++)
        if (sw->addresses[i].port == port)
            sw->addresses[i].used = false;
}
