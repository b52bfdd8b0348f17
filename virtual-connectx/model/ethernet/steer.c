// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Where a frame goes: its fields, compared with the entries of the tables of NIC_RECEIVE. */
#include "virtual-connectx/model/ethernet/ethernet.h"
#include "virtual-connectx/model/ethernet/flow.h"

/* ---- the fields of a frame as steering compares them */

#define IPV4_IN_ADDRESS 12 /* an IPv4 address stands in the last bytes of an address's 16 */
#define TCP_FLAGS       12 /* and the byte that follows: nine bits */

enum { OUTER = 0, MISC = 1, MISC_2 = 3 };

static const uint32_t known_outer[] = {
    VCX_fte_match_set_lyr_2_4__smac_47_16,   VCX_fte_match_set_lyr_2_4__smac_15_0,
    VCX_fte_match_set_lyr_2_4__ethertype,    VCX_fte_match_set_lyr_2_4__dmac_47_16,
    VCX_fte_match_set_lyr_2_4__dmac_15_0,    VCX_fte_match_set_lyr_2_4__first_prio,
    VCX_fte_match_set_lyr_2_4__first_cfi,    VCX_fte_match_set_lyr_2_4__first_vid,
    VCX_fte_match_set_lyr_2_4__ip_protocol,  VCX_fte_match_set_lyr_2_4__ip_dscp,
    VCX_fte_match_set_lyr_2_4__ip_ecn,       VCX_fte_match_set_lyr_2_4__cvlan_tag,
    VCX_fte_match_set_lyr_2_4__svlan_tag,    VCX_fte_match_set_lyr_2_4__frag,
    VCX_fte_match_set_lyr_2_4__ip_version,   VCX_fte_match_set_lyr_2_4__tcp_flags,
    VCX_fte_match_set_lyr_2_4__tcp_sport,    VCX_fte_match_set_lyr_2_4__tcp_dport,
    VCX_fte_match_set_lyr_2_4__ttl_hoplimit, VCX_fte_match_set_lyr_2_4__udp_sport,
    VCX_fte_match_set_lyr_2_4__udp_dport,
};

static const uint32_t known_misc[] = {
    VCX_fte_match_set_misc__outer_second_prio,      VCX_fte_match_set_misc__outer_second_cfi,
    VCX_fte_match_set_misc__outer_second_vid,       VCX_fte_match_set_misc__outer_second_cvlan_tag,
    VCX_fte_match_set_misc__outer_second_svlan_tag, VCX_fte_match_set_misc__outer_ipv6_flow_label,
};

/* Nothing writes these registers: they are 0 for every frame. */
static const uint32_t known_misc_2[] = {
    VCX_fte_match_set_misc2__metadata_reg_c_7, VCX_fte_match_set_misc2__metadata_reg_c_6,
    VCX_fte_match_set_misc2__metadata_reg_c_5, VCX_fte_match_set_misc2__metadata_reg_c_4,
    VCX_fte_match_set_misc2__metadata_reg_c_3, VCX_fte_match_set_misc2__metadata_reg_c_2,
    VCX_fte_match_set_misc2__metadata_reg_c_1, VCX_fte_match_set_misc2__metadata_reg_c_0,
    VCX_fte_match_set_misc2__metadata_reg_a,
};

static void set_known(uint8_t *block, const uint32_t *places, size_t count)
{
    for (size_t i = 0; i < count; i++)
        vcx_set_place(block, places[i], ~0ull);
}

static void known_bits(uint8_t *known)
{
    uint8_t *outer = known + OUTER * VCX_MATCH_BLOCK_BYTES;
    memset(known, 0, VCX_MATCH_BYTES);
    set_known(outer, known_outer, VCX_COUNT(known_outer));
    memset(vcx_at(outer, fte_match_set_lyr_2_4, src_ipv4_src_ipv6), 0xff, 16);
    memset(vcx_at(outer, fte_match_set_lyr_2_4, dst_ipv4_dst_ipv6), 0xff, 16);
    set_known(known + MISC * VCX_MATCH_BLOCK_BYTES, known_misc, VCX_COUNT(known_misc));
    set_known(known + MISC_2 * VCX_MATCH_BLOCK_BYTES, known_misc_2, VCX_COUNT(known_misc_2));
}

bool vcx_match_mask(struct vcx_flow_mask *mask, const uint8_t *criteria, uint8_t enabled)
{
    uint8_t known[VCX_MATCH_BYTES];
    known_bits(known);
    *mask = (struct vcx_flow_mask){0};
    for (uint32_t at = 0; at < VCX_MATCH_PARAM_BYTES; at += 4) {
        uint32_t bits, allowed = 0, block = at / VCX_MATCH_BLOCK_BYTES;
        memcpy(&bits, criteria + at, 4);
        if (at < VCX_MATCH_BYTES)
            memcpy(&allowed, known + at, 4);
        if (!bits || !(enabled >> block & 1))
            continue;
        if (bits & ~allowed)
            return false;
        mask->bits[mask->words] = bits;
        mask->word[mask->words++] = (uint8_t)(at / 4);
    }
    return true;
}

static uint32_t field_word(const uint8_t *fields, uint32_t word)
{
    uint32_t value;
    memcpy(&value, fields + 4 * word, 4);
    return value;
}

void vcx_match_value(const struct vcx_flow_mask *mask, const uint8_t *fields, uint32_t *value)
{
    for (uint32_t i = 0; i < mask->words; i++)
        value[i] = field_word(fields, mask->word[i]) & mask->bits[i];
}

static bool entry_matches(const struct vcx_flow_mask *mask, const uint32_t *value, const uint8_t *fields)
{
    for (uint32_t i = 0; i < mask->words; i++)
        if ((field_word(fields, mask->word[i]) & mask->bits[i]) != value[i])
            return false;
    return true;
}

/* ---- the fields of a frame */

#define OUTER_SET(field, value) vcx_set(outer, fte_match_set_lyr_2_4, field, value)
#define MISC_SET(field, value)  vcx_set(misc, fte_match_set_misc, field, value)

static void set_ethernet(const struct vcx_headers *h, const uint8_t *frame, uint8_t *outer)
{
    OUTER_SET(dmac_47_16, vcx_be32(frame));
    OUTER_SET(dmac_15_0, vcx_be16(frame + 4));
    OUTER_SET(smac_47_16, vcx_be32(frame + 6));
    OUTER_SET(smac_15_0, vcx_be16(frame + 10));
    OUTER_SET(ethertype, h->ethertype);
    if (!h->tags)
        return;
    OUTER_SET(cvlan_tag, h->tag[0].type == VCX_TYPE_CTAG);
    OUTER_SET(svlan_tag, h->tag[0].type == VCX_TYPE_STAG);
    OUTER_SET(first_prio, h->tag[0].tci >> 13);
    OUTER_SET(first_cfi, h->tag[0].tci >> 12 & 1);
    OUTER_SET(first_vid, h->tag[0].tci & 0xfff);
}

static void set_second_tag(const struct vcx_headers *h, uint8_t *misc)
{
    if (h->tags < 2)
        return;
    MISC_SET(outer_second_cvlan_tag, h->tag[1].type == VCX_TYPE_CTAG);
    MISC_SET(outer_second_svlan_tag, h->tag[1].type == VCX_TYPE_STAG);
    MISC_SET(outer_second_prio, h->tag[1].tci >> 13);
    MISC_SET(outer_second_cfi, h->tag[1].tci >> 12 & 1);
    MISC_SET(outer_second_vid, h->tag[1].tci & 0xfff);
}

static void set_ip(const struct vcx_headers *h, const uint8_t *ip, uint8_t *outer, uint8_t *misc)
{
    uint8_t *source = vcx_at(outer, fte_match_set_lyr_2_4, src_ipv4_src_ipv6),
            *destination = vcx_at(outer, fte_match_set_lyr_2_4, dst_ipv4_dst_ipv6);
    OUTER_SET(ip_version, h->version);
    OUTER_SET(ip_protocol, h->protocol);
    OUTER_SET(ip_dscp, h->traffic_class >> 2);
    OUTER_SET(ip_ecn, h->traffic_class & 3);
    OUTER_SET(ttl_hoplimit, h->hop_limit);
    OUTER_SET(frag, h->fragment);
    if (h->version == 4) {
        memcpy(source + IPV4_IN_ADDRESS, ip + 12, 4);
        memcpy(destination + IPV4_IN_ADDRESS, ip + 16, 4);
        return;
    }
    memcpy(source, ip + 8, 16);
    memcpy(destination, ip + 24, 16);
    MISC_SET(outer_ipv6_flow_label, vcx_be32(ip) & 0xfffff);
}

static void set_l4(const struct vcx_headers *h, const uint8_t *l4, uint8_t *outer)
{
    if (h->protocol == VCX_PROTOCOL_UDP) {
        OUTER_SET(udp_sport, vcx_be16(l4));
        OUTER_SET(udp_dport, vcx_be16(l4 + 2));
        return;
    }
    OUTER_SET(tcp_sport, vcx_be16(l4));
    OUTER_SET(tcp_dport, vcx_be16(l4 + 2));
    OUTER_SET(tcp_flags, vcx_be16(l4 + TCP_FLAGS) & 0x1ff);
}

/* The frame's fields in the layout of fte_match_param, VCX_MATCH_BYTES of it. */
static void match_fields(const struct vcx_headers *h, const uint8_t *frame, uint8_t *fields)
{
    uint8_t *outer = fields + OUTER * VCX_MATCH_BLOCK_BYTES, *misc = fields + MISC * VCX_MATCH_BLOCK_BYTES;
    memset(fields, 0, VCX_MATCH_BYTES);
    set_ethernet(h, frame, outer);
    set_second_tag(h, misc);
    if (h->version)
        set_ip(h, frame + h->l3, outer, misc);
    if (h->l4)
        set_l4(h, frame + h->l4, outer);
}

/* ---- the walk of a frame through the tables of NIC_RECEIVE */

#define MOST_VISITS                                                                         \
    128u /* of tables, by one frame: the driver makes no loops, and one that does ends here \
            \ */

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

static void walk_add_table(struct walk *w, uint32_t table, uint32_t tag)
{
    if (w->planned < MOST_VISITS)
        w->visit[w->planned++] = (struct visit){table, tag};
}

/* The first entry that matches; entries of a group follow each other, so that groups are looked up once. */
static const struct vcx_flow_entry *table_find_entry(const struct walk *w, const struct vcx_flow_table *table)
{
    const struct vcx_flow_group *group = NULL;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct vcx_flow_entry *entry = table->entry[i];
        if (!group || group->object.id != entry->group)
            group = vcx_object(w->device, VCX_FLOW_GROUP, entry->group);
        if (group && entry_matches(&group->mask, entry->value, w->fields))
            return entry;
    }
    return NULL;
}

static void entry_count_frame(const struct walk *w, const struct vcx_flow_entry *entry)
{
    for (uint32_t i = 0; entry->action & VCX_FLOW_COUNT && i < entry->counters; i++) {
        struct vcx_flow_counter *counter = vcx_object(w->device, VCX_FLOW_COUNTER, entry->counter[i]);
        if (!counter)
            continue;
        counter->packets++;
        counter->octets += w->bytes;
    }
}

static void walk_forward(struct walk *w, const struct vcx_flow_entry *entry, uint32_t tag)
{
    struct vcx_steered *route = w->route;
    for (uint32_t i = 0; entry->action & VCX_FLOW_FORWARD && i < entry->destinations; i++) {
        const struct vcx_destination *to = &entry->destination[i];
        if (to->type == VCX_TO_TABLE) {
            walk_add_table(w, to->id, tag);
        } else if (route->count < VCX_MOST_TARGETS) {
            route->target[route->count].tir = to->id;
            route->target[route->count++].tag = tag;
        }
    }
}

static void walk_visit(struct walk *w, struct visit visit)
{
    const struct vcx_flow_table *table = vcx_object(w->device, VCX_FLOW_TABLE, visit.table);
    const struct vcx_flow_entry *entry = table ? table_find_entry(w, table) : NULL;
    if (entry) {
        entry_count_frame(w, entry);
        walk_forward(w, entry, entry->tag ? entry->tag : visit.tag);
    } else if (table && table->miss_forwards) {
        walk_add_table(w, table->miss, visit.tag);
    }
}

void vcx_steer(struct vcx_device *device, const struct vcx_headers *headers, const struct vcx_frame *frame,
               struct vcx_steered *route)
{
    struct walk walk = {.device = device, .bytes = frame->length, .route = route};
    uint32_t root = device->steering->root[VCX_TABLE_NIC_RECEIVE];
    if (!root)
        return;
    match_fields(headers, frame->data, walk.fields);
    walk_add_table(&walk, root, 0);
    for (uint32_t i = 0; i < walk.planned; i++)
        walk_visit(&walk, walk.visit[i]);
}
