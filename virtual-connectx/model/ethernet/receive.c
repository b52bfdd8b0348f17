// SPDX-License-Identifier: GPL-2.0 OR MIT
/* From frames to the entries of receive queues; the queues' turns. */
#include "virtual-connectx/model/command/domains.h"
#include "virtual-connectx/model/ethernet/ethernet.h"
#include "virtual-connectx/model/queue/cq.h"
#include "virtual-connectx/model/vport/vport.h"

/* ---- from frames to the entries of receive queues */

/* Positions are those of mlx5's struct mlx5_wqe_data_seg and mlx5_cqe64. */

#define UNIT_BYTES    16u
#define KEY_END       0x100u /* ends an entry's list (mlx5's MLX5_INVALID_LKEY) */
#define FCS_BYTES     4u
#define GROUP_ADDRESS 1 /* in the first byte of a MAC address */
#define MAC_BYTES     6u

/* in a completion */
#define L2_OK           1
#define L3_OK           2
#define L4_OK           4
#define TAG_STRIPPED    1
#define L3_IPV6         (1 << 2)
#define L3_IPV4         (2 << 2)
#define L4_TCP          (1 << 4) /* without acknowledgement */
#define L4_UDP          (2 << 4)
#define L4_TCP_ACK      (3 << 4)
#define L4_TCP_ACK_DATA (4 << 4)

/* A frame on its way into a queue. */
struct arrival {
    const struct vcx_frame *frame;
    const struct vcx_headers *headers;
    struct vcx_hash hash;
    uint32_t tag; /* of the flow */
};

/* Where in an entry's list of memory the next byte goes. */
struct cursor {
    struct vcx_device *device;
    const struct vcx_wq *wq;
    uint32_t next; /* offset in the entry of the next stretch */
    uint32_t key, left;
    uint64_t address;
};

/* false: the list has ended. */
static bool next_stretch(struct cursor *c)
{
    uint8_t unit[UNIT_BYTES];
    while (!c->left) {
        if (c->next >= 1u << c->wq->log_stride || !vcx_wq_read(c->device, c->wq, c->next, unit, UNIT_BYTES))
            return false;
        c->left = vcx_be32(unit) & VCX_RECEIVE_BYTES;
        c->key = vcx_be32(unit + 4);
        c->address = vcx_be64(unit + 8);
        c->next += UNIT_BYTES;
        if (c->key == KEY_END)
            return false;
    }
    return true;
}

/* Returns a syndrome, or 0. */
static uint32_t scatter_bytes(struct cursor *c, const uint8_t *from, uint32_t bytes)
{
    while (bytes) {
        if (!next_stretch(c))
            return VCX_LOCAL_LENGTH;
        uint32_t part = (uint32_t)vcx_least(bytes, c->left);
        if (!vcx_mkey_write(c->device, c->wq->rights, c->key, VCX_LOCAL_WRITE, c->address, from, part))
            return VCX_LOCAL_PROTECTION;
        from += part;
        bytes -= part;
        c->address += part;
        c->left -= part;
    }
    return 0;
}

static bool strips_tag(const struct vcx_rq *rq, const struct vcx_headers *h)
{
    return !rq->keeps_tag && h->tags && h->tag[0].type == VCX_TYPE_CTAG;
}

static uint32_t scatter_frame(struct vcx_device *device, const struct vcx_rq *rq, const struct arrival *a)
{
    struct cursor cursor = {.device = device, .wq = &rq->wq};
    const uint8_t *data = a->frame->data;
    uint32_t rest = strips_tag(rq, a->headers) ? 2 * MAC_BYTES + VCX_TAG_BYTES : 2 * MAC_BYTES;
    uint32_t syndrome = scatter_bytes(&cursor, data, 2 * MAC_BYTES);
    if (!syndrome)
        syndrome = scatter_bytes(&cursor, data + rest, a->frame->length - rest);
    if (!syndrome && rq->scatters_fcs) {
        uint32_t crc = ~vcx_crc32(~0u, data, a->frame->length);
        uint8_t fcs[FCS_BYTES] = {(uint8_t)crc, (uint8_t)(crc >> 8), (uint8_t)(crc >> 16),
                                  (uint8_t)(crc >> 24)};
        syndrome = scatter_bytes(&cursor, fcs, FCS_BYTES);
    }
    return syndrome;
}

static uint8_t l4_type(const struct vcx_headers *h, const uint8_t *frame)
{
    if (!h->l4)
        return 0;
    if (h->protocol == VCX_PROTOCOL_UDP)
        return L4_UDP;
    if (!(frame[h->l4 + 13] & VCX_TCP_ACK))
        return L4_TCP;
    return h->payload < h->end ? L4_TCP_ACK_DATA : L4_TCP_ACK;
}

/* The checksum is the sum from the IP header to the packet's end; padding is not in it. */
static void write_checksums(uint8_t *completion, const struct vcx_headers *h, const uint8_t *frame)
{
    uint8_t ok = L2_OK;
    if (h->version) {
        completion[VCX_CQE_L4_L3_TYPE] |=
            (uint8_t)((h->version == 4 ? L3_IPV4 : L3_IPV6) | l4_type(h, frame));
        vcx_put16(completion + VCX_CQE_CHECKSUM, vcx_sum_fold(vcx_sum(0, frame + h->l3, h->end - h->l3)));
        ok |= h->whole && vcx_checksum_l3_right(h, frame) ? L3_OK : 0;
        ok |= vcx_checksum_l4_right(h, frame) ? L4_OK : 0;
    }
    completion[VCX_CQE_HEADER_FLAGS] = ok;
}

static bool complete_received(struct vcx_device *device, const struct vcx_rq *rq, const struct arrival *a)
{
    uint8_t completion[VCX_CQE_BYTES] = {0};
    uint32_t bytes = a->frame->length + (rq->scatters_fcs ? FCS_BYTES : 0);
    write_checksums(completion, a->headers, a->frame->data);
    if (strips_tag(rq, a->headers)) {
        bytes -= VCX_TAG_BYTES;
        completion[VCX_CQE_L4_L3_TYPE] |= TAG_STRIPPED;
        vcx_put16(completion + VCX_CQE_VLAN, a->headers->tag[0].tci);
    }
    vcx_put32(completion + VCX_CQE_RSS_RESULT, a->hash.result);
    completion[VCX_CQE_RSS_TYPE] = a->hash.type;
    vcx_put32(completion + VCX_CQE_SRQN_UIDX, rq->wq.user_index);
    vcx_put32(completion + VCX_CQE_BYTE_COUNT, bytes);
    vcx_put32(completion + VCX_CQE_OPCODE_QPN, a->tag);
    vcx_put16(completion + VCX_CQE_WQE_COUNTER, rq->wq.consumer);
    return vcx_cq_write(device, rq->wq.cq, VCX_CQE_SEND, completion, false);
}

/* A frame that is longer than its entry costs the entry; memory that the queue may not write, or a
 * completion that cannot be written, costs the queue. */
static void fill_entry(struct vcx_device *device, struct vcx_rq *rq, const struct arrival *a)
{
    uint32_t syndrome = scatter_frame(device, rq, a);
    bool completed = syndrome ? vcx_wq_complete_error(device, &rq->wq, (enum vcx_ending)syndrome, 0)
                              : complete_received(device, rq, a);
    rq->wq.consumer++;
    if (!completed || syndrome == VCX_LOCAL_PROTECTION)
        vcx_wq_fail(device, &rq->wq, completed);
}

static void count_out_of_buffer(struct vcx_device *device, const struct vcx_rq *rq)
{
    struct vcx_counter_set *set = vcx_object(device, VCX_COUNTER_SET, rq->counter_set);
    if (set)
        set->out_of_buffer++;
}

static struct vcx_rq *find_queue(struct vcx_device *device, const struct vcx_tir *tir, struct vcx_hash hash)
{
    const struct vcx_rqt *rqt = tir->indirect ? vcx_object(device, VCX_RQT, tir->rqt) : NULL;
    if (tir->indirect && !rqt)
        return NULL;
    return vcx_object(device, VCX_RQ, rqt ? rqt->rq[hash.result % rqt->count] : tir->rq);
}

/* A frame with the own address as its source is one that this function sent. */
static bool tir_takes_frame(const struct vcx_device *device, const struct vcx_tir *tir, const uint8_t *frame)
{
    uint8_t own[MAC_BYTES];
    bool multicast = frame[0] & GROUP_ADDRESS;
    vcx_vport_mac(device, own);
    return memcmp(frame + MAC_BYTES, own, MAC_BYTES) != 0 ||
           (tir->own_frames >> multicast & 1 && !vcx_vport_blocks_loopback(device, multicast));
}

static void tir_receive(struct vcx_device *device, const struct vcx_tir *tir, struct arrival *a)
{
    if (!tir_takes_frame(device, tir, a->frame->data))
        return;
    a->hash = vcx_hash(&tir->hash, a->headers, a->frame->data);
    struct vcx_rq *rq = find_queue(device, tir, a->hash);
    if (!rq || rq->wq.state != VCX_WQ_READY)
        return;
    if (vcx_wq_posted(device, &rq->wq))
        fill_entry(device, rq, a);
    else
        count_out_of_buffer(device, rq);
}

void vcx_ethernet_receive(struct vcx_device *device, struct vcx_frame *frame)
{
    struct vcx_headers headers;
    struct vcx_steered route = {0};
    vcx_headers_read(&headers, frame->data, frame->length);
    if (frame->length >= VCX_ETHERNET_BYTES)
        vcx_steer(device, &headers, frame, &route);
    if (route.count)
        vcx_vport_count(device, VCX_VPORT_ETHERNET, VCX_VPORT_RECEIVED, frame->data, frame->length);
    else
        vcx_vport_count_unsteered(device);
    for (uint32_t i = 0; i < route.count; i++) {
        const struct vcx_tir *tir = vcx_object(device, VCX_TIR, route.target[i].tir);
        struct arrival arrival = {frame, &headers, {0}, route.target[i].tag};
        if (tir)
            tir_receive(device, tir, &arrival);
    }
    vcx_release(frame);
}

/* ---- turns of queues */

#define MOST_STEPS   128u /* in a poll: entries taken and frames sent */
#define TURN_STEPS   8u   /* of a queue, before the next one's turn */
#define MOST_FLUSHES 16u  /* of a queue in error, in a poll */

static int start_ethernet(struct vcx_device *device)
{
    device->steering = vcx_allocate(sizeof *device->steering);
    return device->steering ? 0 : -1;
}

static void stop_ethernet(struct vcx_device *device)
{
    vcx_release(device->steering);
    device->steering = NULL;
}

static struct vcx_sq *next_sq(struct vcx_device *device)
{
    struct vcx_sq *sq = vcx_object_from(device, VCX_SQ, device->steering->next_sq);
    sq = sq ? sq : vcx_object_from(device, VCX_SQ, 0);
    device->steering->next_sq = sq ? sq->wq.object.id + 1 : 0;
    return sq;
}

/* Returns how many steps were made. */
static uint32_t sq_take_turn(struct vcx_device *device, struct vcx_sq *sq, uint32_t most)
{
    uint32_t steps = 0;
    while (steps < most && sq->wq.state == VCX_WQ_READY && vcx_sq_step(device, sq))
        steps++;
    if (sq->wq.state == VCX_WQ_ERROR)
        steps += vcx_wq_flush(device, &sq->wq, MOST_FLUSHES);
    return steps;
}

static bool flush_receive_queues(struct vcx_device *device)
{
    bool busy = false;
    for (struct vcx_rq *rq = vcx_object_from(device, VCX_RQ, 0); rq;
         rq = vcx_object_from(device, VCX_RQ, rq->wq.object.id + 1))
        if (rq->wq.state == VCX_WQ_ERROR)
            busy |= vcx_wq_flush(device, &rq->wq, MOST_FLUSHES);
    return busy;
}

bool vcx_ethernet_poll(struct vcx_device *device)
{
    uint32_t left = MOST_STEPS;
    for (uint32_t i = device->numbers[VCX_SQ].used; i && left; i--)
        left -= sq_take_turn(device, next_sq(device), (uint32_t)vcx_least(left, TURN_STEPS));
    return flush_receive_queues(device) || left != MOST_STEPS;
}

const struct vcx_room vcx_room_ethernet = {
    .start = start_ethernet, .stop = stop_ethernet, .poll = vcx_ethernet_poll};
