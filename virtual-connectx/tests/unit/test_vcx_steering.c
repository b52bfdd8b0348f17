/* The virtual ConnectX's flow tables, programmed as mlx5's steering core does. */
#include "virtual-connectx/tests/unit/vcx_ethernet_driver.h"

#include "virtual-connectx/model/capability.h"

enum { OUTER = 1, MISC = 2, MISC_2 = 8, ENTRIES = 1 << LOG_RQ };

#define MASK(field, bits) \
    vcx_set(vcx_at(d->in, create_flow_group_in, match_criteria), fte_match_set_lyr_2_4, field, bits)
#define VALUE(field, value) vcx_set(value_of(d), fte_match_set_lyr_2_4, field, value)

static uint8_t *value_of(struct driver *d)
{
    return vcx_at(vcx_at(d->in, set_fte_in, flow_context), flow_context, match_value);
}

/* Four queues with a TIR each. The entries' memory shows which one a frame went to. */
static void make_tirs(struct driver *d, uint32_t tirs[4])
{
    for (int i = 0; i < 4; i++) {
        tirs[i] = make_direct_tir(d, make_rq(d, i, true));
        post_receives(d, i, 2048, ENTRIES);
    }
}

/* The queues that got the frame: bit n of queue n. The entry that took it is posted again. */
static uint32_t where(struct driver *d, const uint8_t *frame, uint32_t length)
{
    uint32_t queues = 0;
    for (int number = 0; number < 4; number++)
        for (uint32_t i = 0; i < ENTRIES; i++)
            memset(receive_memory(d, number, i), 0, 4);
    arrive(d, frame, length);
    for (int number = 0; number < 4; number++) {
        for (uint32_t i = 0; i < ENTRIES; i++)
            queues |= (uint32_t)(vcx_be32(receive_memory(d, number, i)) != 0) << number;
        uint8_t *record = page(d, RECORDS) + 128 + 8 * number;
        vcx_put32(record, vcx_be32(record) + (queues >> number & 1));
    }
    return queues;
}

static uint32_t take_all(struct driver *d)
{
    uint32_t tag = 0;
    for (const uint8_t *completion; (completion = received(d));)
        tag = vcx_be32(completion + VCX_CQE_OPCODE_QPN);
    return tag;
}

static struct deed to_tir(uint32_t tir)
{
    return (struct deed){.action = VCX_FLOW_FORWARD, .tirs = {tir}};
}

static void add(struct driver *d, uint32_t table, uint32_t group, uint32_t index, struct deed deed)
{
    assert_int_equal(set_entry(d, table, group, index, &deed), VCX_OK);
}

static uint32_t make_counter(struct driver *d)
{
    expect(d, VCX_OK, 0x939, 16, 16);
    return (uint32_t)vcx_get(d->out, alloc_flow_counter_out, flow_counter_id);
}

static uint64_t packets_of(struct driver *d, uint32_t counter, uint64_t *octets)
{
    vcx_set(d->in, query_flow_counter_in, flow_counter_id, counter);
    expect(d, VCX_OK, 0x93b, 32, 32);
    *octets = vcx_get(vcx_at(d->out, query_flow_counter_out, flow_statistics), traffic_counter, octets);
    return vcx_get(vcx_at(d->out, query_flow_counter_out, flow_statistics), traffic_counter, packets);
}

/* ---- what goes where */

static void without_a_root_nothing_is_received(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    uint32_t tirs[4], length = write_packet(frame, &tcp4);
    make_tirs(d, tirs);
    assert_int_equal(where(d, frame, length), 0);
    catch_all(d, tirs[2]);
    assert_int_equal(where(d, frame, length), 1 << 2);
    vcx_set(d->in, nop_in, op_mod, 1);
    vcx_set(d->in, set_flow_table_root_in, table_id, d->device.steering->root[0]);
    expect(d, VCX_OK, 0x92f, 64, 16);
    assert_int_equal(where(d, frame, length), 0);
}

/* One address, a multicast address with a mask of its own, everything else dropped: as the driver's table
 * of addresses. */
static void frames_are_steered_by_address(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    uint32_t tirs[4], length = write_packet(frame, &udp4), table = make_table(d, 1, 4, 0);
    make_tirs(d, tirs);
    MASK(dmac_47_16, 0xffffffff);
    MASK(dmac_15_0, 0xffff);
    uint32_t whole = make_group(d, table, 0, 7, OUTER);
    MASK(dmac_47_16, 0x01000000);
    uint32_t multicast = make_group(d, table, 8, 8, OUTER);
    VALUE(dmac_47_16, 0x02000000);
    VALUE(dmac_15_0, 2);
    add(d, table, whole, 3, to_tir(tirs[0]));
    VALUE(dmac_47_16, 0x01000000);
    add(d, table, multicast, 8, to_tir(tirs[1]));
    assert_int_equal(set_root(d, table), VCX_OK);
    assert_int_equal(where(d, frame, length), 1);
    frame[5] = 3;
    assert_int_equal(where(d, frame, length), 0);
    frame[0] = 0x33;
    assert_int_equal(where(d, frame, length), 2);
    memset(frame, 0xff, 6);
    assert_int_equal(where(d, frame, length), 2);
}

/* Untagged frames, one VLAN, any service tag: as the driver's table of VLANs; what passes goes on to the
 * next table. */
static void frames_are_steered_by_tag(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    struct packet tagged = udp4;
    uint32_t tirs[4], table = make_table(d, 0, 4, 0), next = make_table(d, 1, 0, 0);
    make_tirs(d, tirs);
    add(d, next, make_group(d, next, 0, 0, 0), 0, to_tir(tirs[0]));
    MASK(cvlan_tag, 1);
    MASK(first_vid, 0xfff);
    uint32_t vid = make_group(d, table, 0, 3, OUTER);
    MASK(svlan_tag, 1);
    uint32_t service = make_group(d, table, 4, 4, OUTER);
    MASK(cvlan_tag, 1);
    uint32_t untagged = make_group(d, table, 5, 5, OUTER);
    VALUE(cvlan_tag, 1);
    VALUE(first_vid, 5);
    add(d, table, vid, 0, (struct deed){.action = VCX_FLOW_FORWARD, .tables = {next}});
    VALUE(svlan_tag, 1);
    add(d, table, service, 4, to_tir(tirs[1]));
    add(d, table, untagged, 5, to_tir(tirs[2]));
    assert_int_equal(set_root(d, table), VCX_OK);
    assert_int_equal(where(d, frame, write_packet(frame, &udp4)), 1 << 2);
    tagged.tagged = true;
    tagged.tci = 0x6005;
    assert_int_equal(where(d, frame, write_packet(frame, &tagged)), 1 << 0);
    tagged.tci = 6;
    assert_int_equal(where(d, frame, write_packet(frame, &tagged)), 0);
    uint32_t length = write_packet(frame, &tagged);
    vcx_put16(frame + 12, 0x88a8);
    assert_int_equal(where(d, frame, length), 1 << 1);
}

/* By IP version and protocol, as the driver's table of traffic types; below the tag. */
static void frames_are_steered_by_traffic_type(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    uint32_t tirs[4], table = make_table(d, 0, 4, 0);
    make_tirs(d, tirs);
    MASK(ip_version, 0xf);
    MASK(ip_protocol, 0xff);
    uint32_t l4 = make_group(d, table, 0, 7, OUTER);
    MASK(ip_version, 0xf);
    uint32_t l3 = make_group(d, table, 8, 9, OUTER), any = make_group(d, table, 10, 10, 0);
    VALUE(ip_version, 4);
    VALUE(ip_protocol, 6);
    add(d, table, l4, 0, to_tir(tirs[0]));
    VALUE(ip_version, 6);
    VALUE(ip_protocol, 17);
    add(d, table, l4, 1, to_tir(tirs[1]));
    VALUE(ip_version, 4);
    add(d, table, l3, 8, to_tir(tirs[2]));
    add(d, table, any, 10, to_tir(tirs[3]));
    assert_int_equal(set_root(d, table), VCX_OK);
    for (int kind = 0; kind < 8; kind++) {
        static const uint32_t expected[] = {1 << 2, 1 << 0, 1 << 1, 1 << 3}; /* UDP 4, TCP 4, UDP 6, TCP 6 */
        struct packet p = kind & 1 ? tcp4 : udp4;
        p.version = kind & 2 ? 6 : 4;
        p.tagged = kind & 4;
        assert_int_equal(where(d, frame, write_packet(frame, &p)), expected[kind % 4]);
    }
    memset(frame + 12, 0x88, 60);
    assert_int_equal(where(d, frame, 72), 1 << 3);
}

/* A rule as ethtool sets: addresses and ports, or all but a bit of them; the first index wins. */
static void rules_by_five_fields_come_first(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    struct packet p = tcp4;
    uint32_t tirs[4], table = make_table(d, 0, 4, 0), counter = make_counter(d);
    uint64_t octets;
    make_tirs(d, tirs);
    MASK(ip_version, 0xf);
    MASK(tcp_sport, 0xffff);
    MASK(tcp_dport, 0xff00);
    memset(vcx_at(vcx_at(d->in, create_flow_group_in, match_criteria), fte_match_set_lyr_2_4,
                  src_ipv4_src_ipv6) +
               12,
           0xff, 4);
    uint32_t rule = make_group(d, table, 2, 3, OUTER);
    MASK(tcp_flags, 0x002);
    MASK(ip_dscp, 0x3f);
    MASK(ttl_hoplimit, 0xff);
    uint32_t other = make_group(d, table, 4, 4, OUTER), rest = make_group(d, table, 15, 15, 0);
    VALUE(ip_version, 4);
    VALUE(tcp_sport, 40000);
    memcpy(vcx_at(value_of(d), fte_match_set_lyr_2_4, src_ipv4_src_ipv6) + 12, p.source, 4);
    add(d, table, rule, 2,
        (struct deed){.action = VCX_FLOW_FORWARD | VCX_FLOW_COUNT,
                      .tag = 0xabcdef,
                      .tirs = {tirs[1]},
                      .counter = counter});
    VALUE(tcp_flags, 2);
    VALUE(ip_dscp, 26);
    VALUE(ttl_hoplimit, 64);
    add(d, table, other, 4, (struct deed){.action = VCX_FLOW_DROP});
    add(d, table, rest, 15, to_tir(tirs[0]));
    assert_int_equal(set_root(d, table), VCX_OK);
    uint32_t length = write_packet(frame, &p);
    assert_int_equal(where(d, frame, length), 1 << 1);
    assert_int_equal(take_all(d), 0xabcdef);
    assert_int_equal(packets_of(d, counter, &octets), 1);
    assert_int_equal(octets, length);
    p.destination_port = 80 + 256;
    assert_int_equal(where(d, frame, write_packet(frame, &p)), 1 << 0);
    assert_int_equal(take_all(d), 0);
    p = tcp4;
    p.source[3] ^= 1;
    write_packet(frame, &p);
    assert_int_equal(where(d, frame, length), 1 << 0);
    frame[15] = 26 << 2;
    frame[47] = 2;
    assert_int_equal(where(d, frame, length), 0);
    write_packet(frame, &tcp4);
    vcx_put16(frame + 20, 0x2000); /* a fragment has no ports */
    assert_int_equal(where(d, frame, length), 1 << 0);
}

static void fields_of_the_second_tag_and_the_flow_label_match(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    struct packet p = udp4;
    uint32_t tirs[4], table = make_table(d, 0, 4, 0);
    make_tirs(d, tirs);
    uint8_t *misc =
        vcx_at(vcx_at(d->in, create_flow_group_in, match_criteria), fte_match_param, misc_parameters);
    vcx_set(misc, fte_match_set_misc, outer_ipv6_flow_label, 0xfffff);
    uint32_t label = make_group(d, table, 0, 0, MISC);
    vcx_set(misc, fte_match_set_misc, outer_second_vid, 0xfff);
    vcx_set(misc, fte_match_set_misc, outer_second_cvlan_tag, 1);
    uint32_t second = make_group(d, table, 1, 1, MISC);
    misc = vcx_at(value_of(d), fte_match_param, misc_parameters);
    vcx_set(misc, fte_match_set_misc, outer_ipv6_flow_label, 0x12345);
    add(d, table, label, 0, to_tir(tirs[0]));
    vcx_set(misc, fte_match_set_misc, outer_second_vid, 7);
    vcx_set(misc, fte_match_set_misc, outer_second_cvlan_tag, 1);
    add(d, table, second, 1, to_tir(tirs[1]));
    assert_int_equal(set_root(d, table), VCX_OK);
    p.version = 6;
    assert_int_equal(where(d, frame, write_packet(frame, &p)), 1 << 0);
    p.version = 4;
    p.tagged = true;
    p.tci = 7;
    uint32_t length = write_packet(frame, &p);
    memmove(frame + 16, frame + 12, length - 12);
    vcx_put16(frame + 12, 0x88a8);
    vcx_put16(frame + 14, 9);
    assert_int_equal(where(d, frame, length + 4), 1 << 1);
}

/* A frame may go to several queues and tables, each of which does what it says. */
static void frames_are_copied_to_several_destinations(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    uint32_t tirs[4], table = make_table(d, 0, 0, 0), next = make_table(d, 1, 0, 0);
    make_tirs(d, tirs);
    add(d, next, make_group(d, next, 0, 0, 0), 0, to_tir(tirs[3]));
    add(d, table, make_group(d, table, 0, 0, 0), 0,
        (struct deed){.action = VCX_FLOW_FORWARD, .tables = {next}, .tirs = {tirs[0], tirs[1]}});
    assert_int_equal(set_root(d, table), VCX_OK);
    assert_int_equal(where(d, frame, write_packet(frame, &udp4)), 1 << 0 | 1 << 1 | 1 << 3);
}

static void a_miss_goes_on_where_the_table_says(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    uint32_t tirs[4], last = make_table(d, 9, 0, 0), middle = make_table(d, 5, 2, last),
                      first = make_table(d, 1, 2, middle);
    uint32_t length = write_packet(frame, &udp4);
    make_tirs(d, tirs);
    add(d, last, make_group(d, last, 0, 0, 0), 0, to_tir(tirs[1]));
    assert_int_equal(set_root(d, first), VCX_OK);
    assert_int_equal(where(d, frame, length), 1 << 1);
    vcx_set(d->in, destroy_flow_table_in, table_id, middle);
    vcx_set(d->in, modify_flow_table_in, modify_field_select, 1);
    expect(d, VCX_OK, 0x93c, 64, 16); /* misses are dropped from now on */
    assert_int_equal(where(d, frame, length), 0);
    vcx_set(d->in, destroy_flow_table_in, table_id, first);
    vcx_set(d->in, modify_flow_table_in, modify_field_select, 1);
    uint8_t *context = vcx_at(d->in, modify_flow_table_in, flow_table_context);
    vcx_set(context, flow_table_context, table_miss_action, 1);
    vcx_set(context, flow_table_context, table_miss_id, last);
    expect(d, VCX_OK, 0x93c, 64, 16);
    assert_int_equal(where(d, frame, length), 1 << 1);
    vcx_set(d->in, destroy_flow_table_in, table_id, first);
    expect(d, VCX_OK, 0x932, 64, 64);
    context = vcx_at(d->out, query_flow_table_out, flow_table_context);
    assert_int_equal(vcx_get(context, flow_table_context, table_miss_id), last);
    assert_int_equal(vcx_get(context, flow_table_context, level), 1);
}

/* ---- changes */

static void entries_change_in_place(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    uint32_t tirs[4], table = make_table(d, 0, 20, 0), length = write_packet(frame, &udp4),
                      counter = make_counter(d);
    uint64_t octets;
    make_tirs(d, tirs);
    uint32_t group = make_group(d, table, 0, (1 << 20) - 1, 0), index = 987654;
    add(d, table, group, index, to_tir(tirs[0]));
    assert_int_equal(set_root(d, table), VCX_OK);
    struct deed deed = {.action = VCX_FLOW_FORWARD, .tag = 5, .tirs = {tirs[1], tirs[2]}};
    vcx_set(d->in, nop_in, op_mod, 1);
    vcx_set(d->in, set_fte_in, modify_enable_mask, 4); /* destinations only */
    assert_int_equal(set_entry(d, table, group, index, &deed), VCX_OK);
    assert_int_equal(where(d, frame, length), 1 << 1 | 1 << 2);
    assert_int_equal(take_all(d), 0);
    deed = (struct deed){.action = VCX_FLOW_DROP | VCX_FLOW_COUNT, .counter = counter};
    vcx_set(d->in, nop_in, op_mod, 1);
    vcx_set(d->in, set_fte_in, modify_enable_mask, 1 | 8);
    assert_int_equal(set_entry(d, table, group, index, &deed), VCX_OK);
    assert_int_equal(where(d, frame, length), 0);
    assert_int_equal(packets_of(d, counter, &octets), 1);
    deed = to_tir(tirs[0]);
    vcx_set(d->in, nop_in, op_mod, 1);
    assert_int_equal(set_entry(d, table, group, index + 1, &deed), VCX_BAD_RESOURCE); /* there is none */
    assert_int_equal(set_entry(d, table, group, index, &deed), VCX_BAD_RESOURCE_STATE);
    vcx_set(d->in, destroy_flow_table_in, table_id, table);
    vcx_set(d->in, set_fte_in, flow_index, index);
    expect(d, VCX_OK, 0x938, 64, 16);
    vcx_set(d->in, destroy_flow_table_in, table_id, table);
    vcx_set(d->in, set_fte_in, flow_index, index);
    expect(d, VCX_BAD_RESOURCE, 0x938, 64, 16);
    assert_int_equal(d->device.steering->entries, 0);
}

static void what_was_set_is_read_back(void **state)
{
    struct driver *d = *state;
    uint32_t tirs[4], table = make_table(d, 0, 4, 0), counter = make_counter(d);
    make_tirs(d, tirs);
    MASK(dmac_47_16, 0xff00ff00);
    uint32_t group = make_group(d, table, 1, 5, OUTER);
    VALUE(dmac_47_16, 0x12345678);
    add(d, table, group, 4,
        (struct deed){
            .action = VCX_FLOW_FORWARD | VCX_FLOW_COUNT, .tag = 3, .tirs = {tirs[2]}, .counter = counter});
    vcx_set(d->in, destroy_flow_table_in, table_id, table);
    vcx_set(d->in, set_fte_in, flow_index, 4);
    expect(d, VCX_OK, 0x937, 64, 64 + 768 + 16);
    const uint8_t *context = vcx_at(d->out, query_fte_out, flow_context),
                  *list = vcx_at(context, flow_context, destination);
    assert_int_equal(vcx_get(context, flow_context, flow_tag), 3);
    assert_int_equal(vcx_get(context, flow_context, action), VCX_FLOW_FORWARD | VCX_FLOW_COUNT);
    assert_int_equal(vcx_get(vcx_at(context, flow_context, match_value), fte_match_set_lyr_2_4, dmac_47_16),
                     0x12005600);
    assert_int_equal(vcx_be32(list), 2u << 24 | tirs[2]);
    assert_int_equal(vcx_be32(list + 8), counter);
    vcx_set(d->in, destroy_flow_table_in, table_id, table);
    vcx_set(d->in, destroy_flow_group_in, group_id, group);
    expect(d, VCX_OK, 0x935, 64, 1024);
    assert_int_equal(vcx_get(d->out, query_flow_group_out, start_flow_index), 1);
    assert_int_equal(vcx_get(d->out, query_flow_group_out, end_flow_index), 5);
}

static void what_is_in_use_is_not_destroyed(void **state)
{
    struct driver *d = *state;
    uint32_t tirs[4], table = make_table(d, 0, 4, 0), group = make_group(d, table, 0, 0, 0);
    make_tirs(d, tirs);
    add(d, table, group, 0, to_tir(tirs[0]));
    for (int round = 0; round < 2; round++) {
        enum vcx_status status = round ? VCX_OK : VCX_RESOURCE_BUSY;
        vcx_set(d->in, destroy_flow_table_in, table_id, table);
        if (round)
            expect(d, VCX_OK, 0x938, 64, 16);
        vcx_set(d->in, destroy_flow_table_in, table_id, table);
        vcx_set(d->in, destroy_flow_group_in, group_id, group);
        expect(d, status, 0x934, 64, 16);
        vcx_set(d->in, destroy_flow_table_in, table_id, table);
        expect(d, status, 0x931, 64, 16);
    }
    assert_int_equal(set_root(d, table), VCX_BAD_RESOURCE);
}

static void counters_are_read_in_rows_and_cleared(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    uint32_t tirs[4], table = make_table(d, 0, 0, 0), length = write_packet(frame, &udp4), counters[3];
    make_tirs(d, tirs);
    for (int i = 0; i < 3; i++)
        counters[i] = make_counter(d);
    add(d, table, make_group(d, table, 0, 0, 0), 0,
        (struct deed){.action = VCX_FLOW_DROP | VCX_FLOW_COUNT, .counter = counters[1]});
    assert_int_equal(set_root(d, table), VCX_OK);
    arrive(d, frame, length);
    vcx_set(d->in, query_flow_counter_in, flow_counter_id, counters[0]);
    vcx_set(d->in, query_flow_counter_in, num_of_counters, 4);
    vcx_set(d->in, query_flow_counter_in, clear, 1);
    expect(d, VCX_OK, 0x93b, 32, 16 + 4 * 16);
    static const uint64_t expected[] = {0, 1, 0, 0};
    for (int i = 0; i < 4; i++)
        assert_int_equal(vcx_be64(d->out + 16 + 16 * i), expected[i]);
    vcx_set(d->in, query_flow_counter_in, flow_counter_id, counters[0]);
    vcx_set(d->in, query_flow_counter_in, num_of_counters, 4);
    expect(d, VCX_BAD_OUTPUT_LENGTH, 0x93b, 32, 16 + 3 * 16);
    vcx_set(d->in, dealloc_flow_counter_in, flow_counter_id, counters[1]);
    expect(d, VCX_OK, 0x93a, 16, 16);
    arrive(d, frame, length); /* the entry's counter is gone */
    vcx_set(d->in, query_flow_counter_in, flow_counter_id, counters[1]);
    expect(d, VCX_BAD_RESOURCE, 0x93b, 32, 32);
}

/* ---- what is refused, and what is destroyed later */

static void masks_that_are_not_matched_are_refused(void **state)
{
    struct driver *d = *state;
    uint32_t table = make_table(d, 0, 4, 0);
    static const uint32_t unknown[] = {0xc0 / 8, 0x200 / 8 + 20 / 1, 0x400 / 8, 0x800 / 8, 0xc00 / 8};
    for (size_t i = 0; i < VCX_COUNT(unknown); i++) {
        uint8_t *criteria = vcx_at(d->in, create_flow_group_in, match_criteria);
        criteria[unknown[i]] = 1;
        assert_int_equal(try_group(d, table, 0, 0, 0x7f), VCX_BAD_PARAMETER);
    }
    vcx_at(d->in, create_flow_group_in, match_criteria)[0x400 / 8] = 1; /* in a block that is not enabled */
    assert_int_equal(try_group(d, table, 0, 0, OUTER), VCX_OK);
}

static void bad_groups_are_refused(void **state)
{
    struct driver *d = *state;
    uint32_t table = make_table(d, 0, 4, 0), other = make_table(d, 0, 4, 0);
    make_group(d, table, 4, 7, 0);
    static const uint32_t ranges[][2] = {{3, 2}, {0, 16}, {16, 16}, {0, UINT32_MAX},
                                         {7, 8}, {0, 4},  {5, 6},   {0, 15}};
    for (size_t i = 0; i < VCX_COUNT(ranges); i++)
        assert_int_equal(try_group(d, table, ranges[i][0], ranges[i][1], 0), VCX_BAD_PARAMETER);
    assert_int_equal(try_group(d, table + 9, 0, 0, 0), VCX_BAD_RESOURCE);
    assert_int_equal(try_group(d, other, 4, 7, 0), VCX_OK);
    assert_int_equal(try_group(d, table, 8, 15, 0), VCX_OK);
}

static void bad_tables_are_refused(void **state)
{
    struct driver *d = *state;
    for (int kind = 0; kind < 6; kind++) {
        uint8_t *context = vcx_at(d->in, create_flow_table_in, flow_table_context);
        vcx_set(d->in, create_flow_table_in, table_type, kind == 0 ? 4 : kind == 1 ? 255 : 0);
        vcx_set(context, flow_table_context, level, kind == 2 ? VCX_MOST_FLOW_LEVEL + 1 : 0);
        vcx_set(context, flow_table_context, log_size, kind == 3 ? 21 : 0);
        vcx_set(context, flow_table_context, table_miss_action, kind == 4 ? 2 : kind == 5);
        vcx_set(context, flow_table_context, table_miss_id, 77);
        expect(d, kind == 5 ? VCX_BAD_RESOURCE : VCX_BAD_PARAMETER, 0x930, 64, 16);
    }
    assert_int_equal(d->device.numbers[VCX_FLOW_TABLE].used, 0);
    vcx_set(vcx_at(d->in, create_flow_table_in, flow_table_context), flow_table_context, level,
            VCX_MOST_FLOW_LEVEL);
    expect(d, VCX_OK, 0x930, 64, 16);
}

static void bad_entries_are_refused(void **state)
{
    struct driver *d = *state;
    uint32_t tirs[4], table = make_table(d, 5, 4, 0), lower = make_table(d, 5, 4, 0),
                      group = make_group(d, table, 2, 9, 0);
    make_tirs(d, tirs);
    const struct {
        struct deed deed;
        uint32_t index;
        enum vcx_status status;
    } rows[] = {
        {{.action = VCX_FLOW_FORWARD, .tirs = {tirs[0]}}, 1, VCX_BAD_PARAMETER},
        {{.action = VCX_FLOW_FORWARD, .tirs = {tirs[0]}}, 10, VCX_BAD_PARAMETER},
        {{.action = VCX_FLOW_FORWARD}, 2, VCX_BAD_PARAMETER},
        {{.action = VCX_FLOW_COUNT}, 2, VCX_BAD_PARAMETER},
        {{.action = 0}, 2, VCX_BAD_PARAMETER},
        {{.action = VCX_FLOW_DROP | VCX_FLOW_FORWARD, .tirs = {tirs[0]}}, 2, VCX_BAD_PARAMETER},
        {{.action = 0x40}, 2, VCX_BAD_PARAMETER},
        {{.action = VCX_FLOW_FORWARD, .tirs = {tirs[3] + 1}}, 2, VCX_BAD_RESOURCE},
        {{.action = VCX_FLOW_FORWARD, .tables = {99}}, 2, VCX_BAD_RESOURCE},
        {{.action = VCX_FLOW_FORWARD, .tables = {table}}, 2, VCX_BAD_RESOURCE},
        {{.action = VCX_FLOW_FORWARD, .tables = {lower}}, 2, VCX_BAD_RESOURCE},
        {{.action = VCX_FLOW_COUNT | VCX_FLOW_DROP, .counter = 5}, 2, VCX_BAD_RESOURCE},
    };
    for (size_t i = 0; i < VCX_COUNT(rows); i++)
        assert_int_equal(set_entry(d, table, group, rows[i].index, &rows[i].deed), rows[i].status);
    assert_int_equal(set_entry(d, lower, group, 2, &rows[0].deed), VCX_BAD_RESOURCE);
    uint8_t *context = vcx_at(d->in, set_fte_in, flow_context);
    vcx_set(d->in, destroy_flow_table_in, table_id, table);
    vcx_set(d->in, set_fte_in, flow_index, 2);
    vcx_set(context, flow_context, group_id, group);
    vcx_set(context, flow_context, action, VCX_FLOW_FORWARD);
    vcx_set(context, flow_context, destination_list_size, 4096); /* more than the command has */
    expect(d, VCX_BAD_INPUT_LENGTH, 0x936, 64 + 768, 16);
    assert_int_equal(d->device.steering->entries, 0);
}

static void destinations_may_be_destroyed(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    uint32_t tirs[4], next = make_table(d, 3, 0, 0), table = make_table(d, 0, 0, next),
                      length = write_packet(frame, &udp4);
    make_tirs(d, tirs);
    add(d, table, make_group(d, table, 0, 0, 0), 0,
        (struct deed){.action = VCX_FLOW_FORWARD, .tables = {next}, .tirs = {tirs[0], tirs[1]}});
    assert_int_equal(set_root(d, table), VCX_OK);
    vcx_set(d->in, dealloc_pd_in, pd, tirs[0]);
    expect(d, VCX_OK, 0x902, 16, 16);
    vcx_set(d->in, destroy_flow_table_in, table_id, next);
    expect(d, VCX_OK, 0x931, 64, 16);
    assert_int_equal(where(d, frame, length), 1 << 1);
}

/* Tables that name each other as the next: a frame ends nevertheless. */
static void loops_end(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    uint32_t tirs[4], length = write_packet(frame, &udp4), first = make_table(d, 0, 0, 0),
                      second = make_table(d, 1, 0, first);
    make_tirs(d, tirs);
    vcx_set(d->in, set_fte_in, ignore_flow_level, 1);
    add(d, first, make_group(d, first, 0, 0, 0), 0,
        (struct deed){.action = VCX_FLOW_FORWARD, .tables = {second, second, second}, .tirs = {tirs[0]}});
    assert_int_equal(set_root(d, first), VCX_OK);
    assert_int_equal(where(d, frame, length), 1);
    for (uint32_t i = 0; i < ENTRIES; i++)
        assert_memory_equal(receive_memory(d, 0, i), frame,
                            length); /* as often as there was an entry, at most 64 times */
}

/* Commands of any content, then frames through what they made. */
static void any_command_is_answered(void **state)
{
    struct driver *d = *state;
    static const uint16_t opcodes[] = {0x900, 0x901, 0x902, 0x904, 0x908, 0x909, 0x90a, 0x912, 0x916,
                                       0x917, 0x918, 0x92f, 0x930, 0x931, 0x932, 0x933, 0x934, 0x935,
                                       0x936, 0x937, 0x938, 0x939, 0x93a, 0x93b, 0x93c};
    uint8_t frame[300];
    uint32_t seed = 11, tirs[4], length = write_packet(frame, &udp4), answered = 0;
    make_tirs(d, tirs);
    for (int i = 0; i < 60000; i++) {
        uint16_t opcode = opcodes[next_random(&seed) % VCX_COUNT(opcodes)];
        uint32_t bytes = 16 + next_random(&seed) % 1100;
        for (int edits = (int)(next_random(&seed) % 24);
             edits--;) /* small numbers, so that objects are hit */
            d->in[4 + next_random(&seed) % (edits % 2 ? 60 : 900)] = (uint8_t)(next_random(&seed) % 5);
        answered += run(d, opcode, bytes, 1024 + 16) == VCX_OK;
        if (i % 64 == 0)
            where(d, frame, length);
    }
    assert_true(answered > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_a_root_nothing_is_received),
        TEST(frames_are_steered_by_address),
        TEST(frames_are_steered_by_tag),
        TEST(frames_are_steered_by_traffic_type),
        TEST(rules_by_five_fields_come_first),
        TEST(fields_of_the_second_tag_and_the_flow_label_match),
        TEST(frames_are_copied_to_several_destinations),
        TEST(a_miss_goes_on_where_the_table_says),
        TEST(entries_change_in_place),
        TEST(what_was_set_is_read_back),
        TEST(what_is_in_use_is_not_destroyed),
        TEST(counters_are_read_in_rows_and_cleared),
        TEST(masks_that_are_not_matched_are_refused),
        TEST(bad_groups_are_refused),
        TEST(bad_tables_are_refused),
        TEST(bad_entries_are_refused),
        TEST(destinations_may_be_destroyed),
        TEST(loops_end),
        TEST(any_command_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
