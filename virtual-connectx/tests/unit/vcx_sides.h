/* Two functions joined by a cable, each with a small driver: its memory, commands, and a key. */
#ifndef VCX_TEST_SIDES_H
#define VCX_TEST_SIDES_H

#include "virtual-connectx/tests/unit/vcx_front.h"
#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/deliver.h"
#include "virtual-connectx/model/transport/transport.h"

#define SIDE_PAGE_AT(page) (MEMORY_AT + (uint64_t)(page)*VCX_PAGE_BYTES)

enum {
    RECORDS = 0,
    FIRST_FREE = 1,
    SIDE_DATA = 40,
    SIDE_DATA_PAGES = 24,
    ENTRIES = 64,
    SQ_BLOCKS = 32,
    RQ_STRIDES = 16
};
enum { FIRST_A = 0xfffffe, FIRST_B = 0x7ffffe }; /* packet sequence numbers: the first wraps */
#define DATA_AT    0x7f0000000000ull             /* address of the data in the key */
#define DATA_BYTES (SIDE_DATA_PAGES * VCX_PAGE_BYTES)
#define STEP_NS    10000u

struct pair;
struct side {
    struct vcx_front front; /* the first: the front's functions find the rest */
    struct vcx_device device;
    struct pair *pair;
    int number, next_page, next_record;
    uint32_t eq, pd, key, counters;
    uint32_t lent_key; /* the last that a peer may invalidate */
    uint8_t in[4096], out[4096];
};

struct pair {
    struct side side[2];
    struct vcx_frame *first, *last; /* on the cable */
    struct vcx_frame *held;         /* an acknowledgement that is late */
    bool holds;
    uint64_t frames;             /* that were sent so far */
    int64_t drop, drop_from;     /* number of a frame that is lost; from which on all are; -1: none */
    uint64_t data_frames, drops; /* of those that are no acknowledgements: bit n: frame n is lost, too */
    uint32_t lose, overtake, repeat, random; /* of 256 packets, how many are lost, overtake all that are on
                                              * the cable, come twice, by chance */
    void (*watch)(struct pair *pair, int from, const struct vcx_packet *packet); /* NULL: nobody looks */
    uint64_t mark_left; /* how many data packets from now on are marked */
    uint64_t cnps, naks;
    uint8_t last_cnp_dscp, last_tos; /* of a CNP; of a request */
};

/* ---- the cable */

static inline bool pair_chance(struct pair *pair, uint32_t of_256)
{
    pair->random = pair->random * 1664525 + 1013904223;
    return (pair->random >> 16 & 0xff) < of_256;
}

static inline void pair_put(struct pair *pair, struct vcx_frame *frame, bool overtakes)
{
    frame->next = overtakes ? pair->first : NULL;
    if (pair->first && !overtakes)
        pair->last->next = frame;
    if (!pair->first || overtakes)
        pair->first = frame;
    if (!frame->next)
        pair->last = frame;
}

static inline void pair_transmit(struct vcx_front *front, struct vcx_frame *frame)
{
    struct pair *pair = ((struct side *)front)->pair;
    struct vcx_packet p;
    int64_t number = (int64_t)pair->frames++;
    bool data = false, dropped = false;
    assert_int_equal(vcx_packet_parse(frame, &p), VCX_PACKET);
    if (p.opcode == VCX_OPCODE_CNP) {
        pair->cnps++;
        pair->last_cnp_dscp = p.dscp;
    } else if ((p.opcode & 0x1f) == VCX_ACKNOWLEDGE) {
        pair->naks += p.header[0] >= 0x20;
    } else {
        data = true;
        pair->last_tos = (uint8_t)(p.dscp << 2 | p.ecn);
        if (pair->mark_left && p.ecn == VCX_ECT_0) {
            pair->mark_left--;
            vcx_frame_mark(frame);
        }
    }
    if (data && pair->data_frames < 64)
        dropped = pair->drops >> pair->data_frames & 1;
    pair->data_frames += data;
    if (pair->watch)
        pair->watch(pair, frame->data[5] == 1, &p);
    if (pair_chance(pair, pair->lose) || number == pair->drop || dropped ||
        (pair->drop_from >= 0 && number >= pair->drop_from)) {
        vcx_release(frame);
        return;
    }
    frame->priority = frame->data[5] == 1 ? 0 : 1; /* who gets it, by its address */
    if (pair->holds && (p.opcode & 0x1f) == VCX_ACKNOWLEDGE) {
        assert_null(pair->held);
        pair->held = frame;
        return;
    }
    if (pair_chance(pair, pair->repeat)) {
        struct vcx_frame *copy = vcx_frame_copy(frame);
        assert_non_null(copy);
        copy->priority = frame->priority;
        pair_put(pair, copy, false);
    }
    pair_put(pair, frame, pair_chance(pair, pair->overtake));
}

static const struct vcx_front_ops pair_ops = {.memory = front_memory,
                                              .bar_read = front_read,
                                              .bar_write = front_write,
                                              .now_ns = front_now,
                                              .interrupt = front_interrupt,
                                              .transmit = pair_transmit,
                                              .log = front_log};

static inline bool pair_deliver(struct pair *pair)
{
    bool any = pair->first;
    while (pair->first) {
        struct vcx_frame *frame = pair->first;
        pair->first = frame->next;
        assert_true(vcx_transport_receive(&pair->side[frame->priority].device, frame));
    }
    return any;
}

static inline bool pair_step(struct pair *pair, uint64_t ns)
{
    bool busy = false;
    for (int i = 0; i < 2; i++) {
        pair->side[i].front.now_ns += ns;
        busy |= vcx_device_poll(&pair->side[i].device);
    }
    return busy | pair_deliver(pair);
}

/* Until nothing moves without further time. */
static inline void pair_run(struct pair *pair)
{
    for (int quiet = 0, steps = 0; quiet < 30; steps++) {
        quiet = pair_step(pair, STEP_NS) ? 0 : quiet + 1;
        assert_true(steps < 200000);
    }
}

static inline void pair_run_ms(struct pair *pair, uint32_t ms)
{
    for (uint32_t i = 0; i < ms * 20; i++)
        pair_step(pair, 50000);
    pair_run(pair);
}

/* ---- commands */

static inline enum vcx_status side_run(struct side *s, uint16_t opcode, uint32_t in_bytes, uint32_t out_bytes)
{
    vcx_put16(s->in, opcode);
    memset(s->out, 0, sizeof s->out);
    struct vcx_call call = {&s->device, s->in, s->out, in_bytes, out_bytes};
    enum vcx_status status = vcx_command_run(&call);
    memset(s->in, 0, sizeof s->in);
    return status;
}

static inline void side_ok(struct side *s, uint16_t opcode, uint32_t in_bytes, uint32_t out_bytes)
{
    enum vcx_status status = side_run(s, opcode, in_bytes, out_bytes);
    if (status)
        fail_msg("command 0x%x: status 0x%x", opcode, status);
}

static inline uint8_t *side_page(struct side *s, int page)
{
    return s->front.memory + (size_t)page * VCX_PAGE_BYTES;
}

static inline uint8_t *side_data(struct side *s)
{
    return side_page(s, SIDE_DATA);
}

static inline int side_take_pages(struct side *s, int count)
{
    int first = s->next_page;
    s->next_page += count;
    assert_true(s->next_page <= SIDE_DATA);
    return first;
}

/* A doorbell record's offset in its page. */
static inline uint32_t side_take_record(struct side *s)
{
    return (uint32_t)s->next_record++ * 64;
}

static inline void create_side_eq(struct side *s)
{
    int page = side_take_pages(s, 1);
    uint8_t *context = vcx_at(s->in, create_eq_in, eq_context_entry);
    vcx_set(context, eqc, log_eq_size, 6);
    vcx_set(s->in, create_eq_in, event_bitmask_0, ~0ull); /* all events */
    vcx_put64(vcx_at(s->in, create_eq_in, pas), SIDE_PAGE_AT(page));
    side_ok(s, 0x301, vcx_offset(create_eq_in, pas) + 8, 16);
    s->eq = (uint32_t)vcx_get(s->out, create_eq_out, eq_number);
}

/* A key over the data, with all rights. */
static inline void create_side_key(struct side *s)
{
    uint8_t *context = vcx_at(s->in, create_mkey_in, memory_key_mkey_entry),
            *list = vcx_at(s->in, create_mkey_in, klm_pas_mtt);
    vcx_set(context, mkc, access_mode_1_0, 1);
    vcx_set(context, mkc, lr, 1);
    vcx_set(context, mkc, lw, 1);
    vcx_set(context, mkc, rr, 1);
    vcx_set(context, mkc, rw, 1);
    vcx_set(context, mkc, a, 1);
    vcx_set(context, mkc, mkey_7_0, 0x5a);
    vcx_set(context, mkc, log_page_size, 12);
    vcx_set(context, mkc, start_addr, DATA_AT);
    vcx_set(context, mkc, len, DATA_BYTES);
    vcx_set(context, mkc, pd, s->pd);
    vcx_set(s->in, create_mkey_in, translations_octword_actual_size, SIDE_DATA_PAGES / 2);
    for (int i = 0; i < SIDE_DATA_PAGES; i++)
        vcx_put64(list + 8 * i, SIDE_PAGE_AT(SIDE_DATA + i));
    side_ok(s, 0x200, vcx_offset(create_mkey_in, klm_pas_mtt) + 8 * SIDE_DATA_PAGES, 16);
    s->key = (uint32_t)vcx_get(s->out, create_mkey_out, mkey_index) << 8 | 0x5a;
}

/* A new key that a peer may invalidate. */
static inline uint32_t side_lend_key(struct side *s)
{
    uint8_t *context = vcx_at(s->in, create_mkey_in, memory_key_mkey_entry);
    vcx_set(context, mkc, en_rinval, 1);
    vcx_set(context, mkc, pd, s->pd);
    side_ok(s, 0x200, vcx_offset(create_mkey_in, klm_pas_mtt), 16);
    s->lent_key = (uint32_t)vcx_get(s->out, create_mkey_out, mkey_index) << 8;
    return s->lent_key;
}

static inline void side_mac(int number, uint8_t *mac)
{
    static const uint8_t first[6] = {2, 0, 0, 0, 0, 1};
    memcpy(mac, first, 6);
    mac[5] = (uint8_t)(1 + number);
}

static inline void side_gid(int number, uint8_t *gid)
{
    memset(gid, 0, 16);
    gid[10] = gid[11] = 0xff;
    gid[12] = 10;
    gid[15] = (uint8_t)(1 + number);
}

/* Source address 0 of the function. */
static inline void set_side_address(struct side *s)
{
    uint8_t *address = vcx_at(s->in, set_roce_address_in, roce_address), mac[6];
    side_mac(s->number, mac);
    side_gid(s->number, vcx_at(address, roce_addr_layout, source_l3_address));
    vcx_set(address, roce_addr_layout, source_mac_47_32, vcx_be16(mac));
    vcx_set(address, roce_addr_layout, source_mac_31_0, vcx_be32(mac + 2));
    side_ok(s, 0x761, vcx_offset(set_roce_address_in, roce_address) + 32, 16);
}

/* The driver's address and whether it takes RoCE; NULL: the address stays. */
static inline void set_side_vport(struct side *s, const uint8_t *mac, bool roce)
{
    uint8_t *select = vcx_at(s->in, modify_nic_vport_context_in, field_select),
            *context = vcx_at(s->in, modify_nic_vport_context_in, nic_vport_context);
    vcx_set(select, modify_nic_vport_field_select, roce_en, 1);
    vcx_set(context, nic_vport_context, roce_en, roce);
    vcx_set(select, modify_nic_vport_field_select, permanent_address, mac != NULL);
    if (mac)
        memcpy(vcx_at(context, nic_vport_context, permanent_address) + 2, mac, 6);
    side_ok(s, 0x755, 512, 16);
}

/* The device and its driver; the front is there already. */
static inline void side_start(struct pair *pair, int number, struct vcx_configuration own,
                              const struct vcx_front_ops *ops)
{
    struct side *s = &pair->side[number];
    side_mac(number, own.mac);
    s->pair = pair;
    s->number = number;
    s->next_page = FIRST_FREE;
    assert_int_equal(vcx_device_start(&s->device, &own, &s->front, ops), 0);
    side_ok(s, 0x800, 16, 16);
    s->pd = (uint32_t)vcx_get(s->out, alloc_pd_out, pd);
    side_ok(s, 0x771, 16, 16);
    s->counters = (uint32_t)vcx_get(s->out, alloc_q_counter_out, counter_set_id);
    create_side_eq(s);
    create_side_key(s);
    set_side_vport(s, NULL, true);
    set_side_address(s);
}

static inline void side_open(struct pair *pair, int number, const struct vcx_configuration *configuration)
{
    struct vcx_front *front = &pair->side[number].front;
    front_open(front);
    front->now_ns = 1000000000;
    side_start(pair, number, *configuration, &pair_ops);
}

static inline struct pair *pair_open_with(const struct vcx_configuration *configuration)
{
    struct pair *pair = calloc(1, sizeof *pair);
    assert_non_null(pair);
    pair->drop = pair->drop_from = -1;
    for (int i = 0; i < 2; i++)
        side_open(pair, i, configuration);
    return pair;
}

static inline struct pair *pair_open(void)
{
    return pair_open_with(&front_configuration);
}

static inline void pair_close(struct pair *pair)
{
    while (pair->first) {
        struct vcx_frame *frame = pair->first;
        pair->first = frame->next;
        vcx_release(frame);
    }
    for (int i = 0; i < 2; i++) {
        vcx_device_stop(&pair->side[i].device);
        front_close(&pair->side[i].front);
    }
    free(pair);
}

static inline struct vcx_counter_set *side_counters(struct side *s)
{
    return vcx_object(&s->device, VCX_COUNTER_SET, s->counters);
}

/* How many events of a type the driver was told of. */
static inline int side_events(struct side *s, uint8_t type)
{
    int count = 0;
    for (int i = 0; i < 64; i++)
        count += side_page(s, FIRST_FREE)[64 * i + 1] == type && !(side_page(s, FIRST_FREE)[64 * i + 63] & 1);
    return count;
}

#endif
