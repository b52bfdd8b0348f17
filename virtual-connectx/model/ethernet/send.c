// SPDX-License-Identifier: GPL-2.0 OR MIT
/* From the entries of a send queue to frames, one or, of large sends, many. */
#include "virtual-connectx/model/ethernet/ethernet.h"
#include "virtual-connectx/model/queue/cq.h"
#include "virtual-connectx/model/vport/vport.h"

/* ---- large sends: a TCP or UDP packet cut into segments, each with headers of its own */

/* positions in headers */
#define IPV4_LENGTH   2
#define IPV4_ID       4
#define IPV6_LENGTH   4
#define IPV6_BYTES    40u
#define TCP_SEQUENCE  4
#define TCP_FLAG_BYTE 13
#define UDP_LENGTH    4

/* Bytes of payload in it. */
static uint32_t vcx_segment_bytes(const struct vcx_sq_message *m)
{
    return (uint32_t)vcx_least(m->segment_bytes, m->frame->length - m->headers.payload - m->sent);
}

static void write_ip(const struct vcx_sq_message *m, uint8_t *frame, uint32_t length)
{
    uint8_t *ip = frame + m->headers.l3;
    if (m->headers.version == 6) {
        vcx_put16(ip + IPV6_LENGTH, (uint16_t)(length - m->headers.l3 - IPV6_BYTES));
        return;
    }
    vcx_put16(ip + IPV4_LENGTH, (uint16_t)(length - m->headers.l3));
    vcx_put16(ip + IPV4_ID, (uint16_t)(vcx_be16(ip + IPV4_ID) + m->segment));
}

/* What belongs to the begin of the data is told in the first segment only, what belongs to its end in the
 * last. */
static void write_tcp(const struct vcx_sq_message *m, uint8_t *tcp, bool last)
{
    vcx_put32(tcp + TCP_SEQUENCE, vcx_be32(tcp + TCP_SEQUENCE) + m->sent);
    if (m->segment)
        tcp[TCP_FLAG_BYTE] &= (uint8_t)~VCX_TCP_CWR;
    if (!last)
        tcp[TCP_FLAG_BYTE] &= (uint8_t) ~(VCX_TCP_FIN | VCX_TCP_PSH);
}

/* The next frame of a message in segments, as long as there are bytes left of its payload; NULL: memory
 * ran out. */
static struct vcx_frame *vcx_segment(const struct vcx_sq_message *m)
{
    const struct vcx_headers *h = &m->headers;
    uint32_t bytes = vcx_segment_bytes(m), length = h->payload + bytes;
    struct vcx_frame *frame = vcx_frame_new((uint32_t)vcx_most(length, VCX_LEAST_FRAME));
    if (!frame)
        return NULL;
    memcpy(frame->data, m->frame->data, h->payload);
    memcpy(frame->data + h->payload, m->frame->data + h->payload + m->sent, bytes);
    frame->length = length;
    write_ip(m, frame->data, length);
    if (h->protocol == VCX_PROTOCOL_TCP)
        write_tcp(m, frame->data + h->l4, h->payload + m->sent + bytes == m->frame->length);
    else
        vcx_put16(frame->data + h->l4 + UDP_LENGTH, (uint16_t)(length - h->l4));
    struct vcx_headers own = *h;
    own.length = own.end = length;
    vcx_checksum_l3(&own, frame->data);
    vcx_checksum_l4(&own, frame->data);
    return frame;
}

/* ---- from the entries of a send queue to frames */

/* Positions are those of mlx5's struct mlx5_wqe_ctrl_seg, mlx5_wqe_eth_seg and mlx5_wqe_data_seg. */

/* opcodes (mlx5's MLX5_OPCODE_*) */
#define OPCODE_NOP  0x00
#define OPCODE_SEND 0x0a
#define OPCODE_LSO  0x0e

/* an entry */
#define UNIT_BYTES       16u
#define UNITS_PER_STRIDE 4u
#define MOST_UNITS       63u
#define CONTROL_OPCODE   3
#define CONTROL_UNITS    7
#define CONTROL_FLAGS    11
#define ASKS_COMPLETION  8
#define ETHERNET_FLAGS   20
#define ETHERNET_MSS     22
#define ETHERNET_INLINE  28 /* the length of the inline header, or that a tag is to be inserted */
#define ETHERNET_START   30 /* the inline header, or the tag */
#define DATA_AT          32u
#define INLINE_LENGTH    0x3ff
#define INLINE_IN_UNIT   2u /* bytes of the inline header that stand in the Ethernet segment */
#define INSERT_TAG       0x8000
#define INSERT_STAG      1
#define CHECKSUM_L3      0x40
#define CHECKSUM_L4      0x80
#define DATA_INLINE      0x80000000u

#define MOST_FRAME    (VCX_MOST_MTU + VCX_TAG_BYTES)
#define MOST_LARGE    (65536u + 256) /* payload and headers of a large send */
#define MOST_SEGMENTS 2048u

struct entry {
    uint8_t bytes[MOST_UNITS * UNIT_BYTES];
    uint32_t length, strides;
    uint8_t opcode;
};

/* A piece of a message: in the entry, or in memory by a key. */
struct piece {
    const uint8_t *inlined;
    uint32_t bytes, key;
    uint64_t address;
};

static uint32_t inline_bytes(const struct entry *e)
{
    uint16_t word = vcx_be16(e->bytes + ETHERNET_INLINE);
    return word & INSERT_TAG ? 0 : word & INLINE_LENGTH;
}

static uint32_t first_data(const struct entry *e)
{
    uint32_t bytes = inline_bytes(e);
    return DATA_AT + (bytes > INLINE_IN_UNIT
                          ? (uint32_t)vcx_divide_up(bytes - INLINE_IN_UNIT, UNIT_BYTES) * UNIT_BYTES
                          : 0);
}

/* The piece at *at, which moves to the next one. false: it goes beyond the entry. */
static bool next_piece(const struct entry *e, uint32_t *at, struct piece *piece)
{
    const uint8_t *unit = e->bytes + *at;
    uint32_t count = vcx_be32(unit), taken = UNIT_BYTES;
    *piece = (struct piece){.bytes = count & ~DATA_INLINE};
    if (count & DATA_INLINE) {
        if (piece->bytes > e->length - *at - 4)
            return false;
        piece->inlined = unit + 4;
        taken = (uint32_t)vcx_divide_up(4 + piece->bytes, UNIT_BYTES) * UNIT_BYTES;
    } else {
        piece->key = vcx_be32(unit + 4);
        piece->address = vcx_be64(unit + 8);
    }
    *at += taken;
    return true;
}

/* Bytes of the message, or 0: the entry contradicts itself. */
static uint64_t entry_message_bytes(const struct entry *e)
{
    uint64_t bytes = inline_bytes(e);
    uint32_t at = first_data(e);
    if (at > e->length)
        return 0;
    for (struct piece piece; at < e->length; bytes += piece.bytes)
        if (!next_piece(e, &at, &piece))
            return 0;
    return bytes;
}

/* false: a key does not allow it. */
static bool entry_gather(struct vcx_device *device, const struct vcx_sq *sq, const struct entry *e,
                         uint8_t *to)
{
    uint32_t at = first_data(e), header = inline_bytes(e);
    memcpy(to, e->bytes + ETHERNET_START, header);
    to += header;
    for (struct piece piece; at < e->length && next_piece(e, &at, &piece); to += piece.bytes) {
        if (piece.inlined)
            memcpy(to, piece.inlined, piece.bytes);
        else if (!vcx_mkey_read(device, sq->wq.rights, piece.key, VCX_LOCAL_READ, piece.address, to,
                                piece.bytes))
            return false;
    }
    return true;
}

static void insert_tag(struct vcx_frame *frame, uint16_t type, uint16_t tci)
{
    uint8_t *at = frame->data + VCX_ETHERNET_BYTES - 2;
    memmove(at + VCX_TAG_BYTES, at, frame->length - (VCX_ETHERNET_BYTES - 2));
    vcx_put16(at, type);
    vcx_put16(at + 2, tci);
    frame->length += VCX_TAG_BYTES;
}

static void set_priority(struct vcx_device *device, const struct vcx_sq *sq, struct vcx_sq_message *m)
{
    const struct vcx_tis *tis = vcx_object(device, VCX_TIS, sq->tis);
    const struct vcx_headers *h = &m->headers;
    int8_t priority = tis ? (int8_t)(vcx_get(tis->context, tisc, prio) >> 1) : 0;
    uint8_t pcp = h->tags ? (uint8_t)(h->tag[0].tci >> 13) : 0, dscp = h->version ? h->traffic_class >> 2 : 0;
    m->priority = priority ? priority : -1;
    m->room_priority = priority ? (uint8_t)priority : vcx_send_priority(device, dscp, pcp);
}

/* The syndrome of a message that cannot be sent as the entry asks, or 0. */
static uint32_t check_message(const struct vcx_sq_message *m)
{
    uint32_t header = m->headers.payload, bytes = m->frame->length - header;
    if (m->opcode == OPCODE_SEND)
        return m->frame->length > MOST_FRAME ? VCX_LOCAL_LENGTH : 0;
    if (!header || !m->segment_bytes)
        return VCX_LOCAL_OPERATION;
    if (header + vcx_least(m->segment_bytes, bytes) > MOST_FRAME || bytes / m->segment_bytes >= MOST_SEGMENTS)
        return VCX_LOCAL_LENGTH;
    return 0;
}

/* Gathers the message of an entry. Returns a syndrome, or 0; without a frame then, memory ran out. */
static uint32_t make_message(struct vcx_device *device, struct vcx_sq *sq, const struct entry *e)
{
    struct vcx_sq_message *m = &sq->message;
    uint64_t bytes = entry_message_bytes(e);
    if (bytes < VCX_ETHERNET_BYTES)
        return VCX_LOCAL_OPERATION;
    if (bytes > MOST_LARGE)
        return VCX_LOCAL_LENGTH;
    struct vcx_frame *frame = vcx_frame_new((uint32_t)vcx_most(bytes + VCX_TAG_BYTES, VCX_LEAST_FRAME));
    if (!frame)
        return 0;
    *m = (struct vcx_sq_message){.frame = frame, .opcode = e->opcode, .checksums = e->bytes[ETHERNET_FLAGS]};
    m->tells = e->bytes[CONTROL_FLAGS] & ASKS_COMPLETION;
    m->entry_strides = (uint8_t)e->strides;
    m->segment_bytes = e->opcode == OPCODE_LSO ? vcx_be16(e->bytes + ETHERNET_MSS) : 0;
    frame->length = (uint32_t)bytes;
    if (!entry_gather(device, sq, e, frame->data))
        return VCX_LOCAL_PROTECTION;
    uint16_t insert = vcx_be16(e->bytes + ETHERNET_INLINE);
    if (insert & INSERT_TAG)
        insert_tag(frame, insert & INSERT_STAG ? VCX_TYPE_STAG : VCX_TYPE_CTAG,
                   vcx_be16(e->bytes + ETHERNET_START));
    vcx_headers_read(&m->headers, frame->data, frame->length);
    set_priority(device, sq, m);
    return check_message(m);
}

static void drop_message(struct vcx_sq *sq)
{
    vcx_release(sq->message.frame);
    sq->message = (struct vcx_sq_message){0};
}

static void sq_fail(struct vcx_device *device, struct vcx_sq *sq, uint32_t syndrome, const struct entry *e)
{
    drop_message(sq);
    bool completed = vcx_wq_complete_error(device, &sq->wq, (enum vcx_ending)syndrome, e->opcode);
    sq->wq.consumer = (uint16_t)(sq->wq.consumer + e->strides);
    vcx_wq_fail(device, &sq->wq, completed);
}

static void complete_sent(struct vcx_device *device, struct vcx_sq *sq, uint8_t opcode, bool tells,
                          uint32_t strides)
{
    uint8_t completion[VCX_CQE_BYTES] = {0};
    vcx_put32(completion + VCX_CQE_SRQN_UIDX, sq->wq.user_index);
    vcx_put32(completion + VCX_CQE_OPCODE_QPN, (uint32_t)opcode << 24 | sq->wq.object.id);
    vcx_put16(completion + VCX_CQE_WQE_COUNTER, sq->wq.consumer);
    sq->wq.consumer = (uint16_t)(sq->wq.consumer + strides);
    if (tells && !vcx_cq_write(device, sq->wq.cq, VCX_CQE_REQUESTER, completion, false))
        vcx_wq_fail(device, &sq->wq, false);
}

static void message_send_frame(struct vcx_device *device, const struct vcx_sq_message *m,
                               struct vcx_frame *frame)
{
    if (frame->length < VCX_LEAST_FRAME) {
        memset(frame->data + frame->length, 0, VCX_LEAST_FRAME - frame->length);
        frame->length = VCX_LEAST_FRAME;
    }
    vcx_vport_count(device, VCX_VPORT_ETHERNET, VCX_VPORT_SENT, frame->data, frame->length);
    vcx_send(device, frame, m->priority);
}

static struct vcx_frame *whole_frame(struct vcx_sq_message *m)
{
    struct vcx_frame *frame = m->frame;
    if (m->checksums & CHECKSUM_L3)
        vcx_checksum_l3(&m->headers, frame->data);
    if (m->checksums & CHECKSUM_L4)
        vcx_checksum_l4(&m->headers, frame->data);
    m->frame = NULL;
    return frame;
}

/* One frame of the message, if the port has room for it. */
static bool send_some(struct vcx_device *device, struct vcx_sq *sq)
{
    struct vcx_sq_message *m = &sq->message;
    uint32_t part = m->segment_bytes ? vcx_segment_bytes(m) : 0,
             bytes = m->segment_bytes ? m->headers.payload + part : m->frame->length;
    if (vcx_send_room(device, m->room_priority, false) < vcx_most(bytes, VCX_LEAST_FRAME))
        return false;
    struct vcx_frame *frame = m->segment_bytes ? vcx_segment(m) : whole_frame(m);
    if (!frame)
        return false;
    message_send_frame(device, m, frame);
    m->sent += part;
    m->segment++;
    if (!m->frame || m->headers.payload + m->sent == m->frame->length) {
        struct vcx_sq_message done = *m;
        drop_message(sq);
        complete_sent(device, sq, done.opcode, done.tells, done.entry_strides);
    }
    return true;
}

/* Copies the entry at the consumer's place. false: its length is not one that was posted, or it is not
 * memory. */
static bool sq_fetch_entry(struct vcx_device *device, const struct vcx_sq *sq, uint32_t posted,
                           struct entry *e)
{
    e->strides = 1;
    if (!vcx_wq_read(device, &sq->wq, 0, e->bytes, UNIT_BYTES))
        return false;
    uint32_t units = e->bytes[CONTROL_UNITS] & MOST_UNITS;
    uint32_t strides = (uint32_t)vcx_divide_up(units, UNITS_PER_STRIDE);
    e->opcode = e->bytes[CONTROL_OPCODE];
    if (units == 0 || strides > posted)
        return false;
    e->strides = strides;
    e->length = units * UNIT_BYTES;
    return vcx_wq_read(device, &sq->wq, UNIT_BYTES, e->bytes + UNIT_BYTES, e->length - UNIT_BYTES);
}

/* false: memory for the message ran out, and the entry stays where it is. */
static bool sq_take_entry(struct vcx_device *device, struct vcx_sq *sq, uint32_t posted)
{
    struct entry e = {.strides = 1};
    uint32_t syndrome = VCX_LOCAL_OPERATION;
    bool fetched = sq_fetch_entry(device, sq, posted, &e);
    if (fetched && e.opcode == OPCODE_NOP) {
        complete_sent(device, sq, OPCODE_NOP, e.bytes[CONTROL_FLAGS] & ASKS_COMPLETION, e.strides);
        return true;
    }
    if (fetched && (e.opcode == OPCODE_SEND || e.opcode == OPCODE_LSO) && e.length >= DATA_AT)
        syndrome = make_message(device, sq, &e);
    if (syndrome)
        sq_fail(device, sq, syndrome, &e);
    return syndrome || sq->message.frame;
}

bool vcx_sq_step(struct vcx_device *device, struct vcx_sq *sq)
{
    if (sq->message.frame)
        return send_some(device, sq);
    uint32_t posted = vcx_wq_posted(device, &sq->wq);
    return posted && sq_take_entry(device, sq, posted);
}
