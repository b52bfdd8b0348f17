#include "lib/packets/frame_write.h"

#include "lib/packets/icrc.h"
#include "lib/packets/opcode.h"
#include <string.h>

#define IPV4_BYTES           20
#define IPV6_BYTES           40
#define UDP_BYTES            8
#define BTH_BYTES            12
#define MOST_EXTENSION_BYTES 64
#define MOST_HEADER_BYTES \
    (FRAME_ETHERNET_BYTES + FRAME_VLAN_BYTES + IPV6_BYTES + UDP_BYTES + BTH_BYTES + MOST_EXTENSION_BYTES)

#define PROTOCOL_UDP    17
#define DO_NOT_FRAGMENT 0x4000

#define BTH_SOLICITED 0x80
#define BTH_MIGRATED  0x40
#define BTH_FECN      0x80
#define BTH_BECN      0x40
#define BTH_ASKS_ACK  0x80

static uint8_t *put8(uint8_t *at, uint8_t value)
{
    *at = value;
    return at + 1;
}

static uint8_t *put16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
    return at + 2;
}

static uint8_t *put24(uint8_t *at, uint32_t value)
{
    return put16(put8(at, (uint8_t)(value >> 16)), value);
}

static uint8_t *put32(uint8_t *at, uint32_t value)
{
    return put16(put16(at, value >> 16), value);
}

static uint8_t *put64(uint8_t *at, uint64_t value)
{
    return put32(put32(at, (uint32_t)(value >> 32)), (uint32_t)value);
}

static uint8_t *put_bytes(uint8_t *at, const uint8_t *bytes, size_t count)
{
    memcpy(at, bytes, count);
    return at + count;
}

/* ---- lengths */

static uint32_t pad_bytes(const struct frame_roce *r)
{
    return -r->payload_bytes & 3;
}

/* Of the UDP datagram, the ICRC included. */
static uint32_t udp_bytes(const struct frame_roce *r)
{
    return UDP_BYTES + BTH_BYTES + opcode_header_bytes(r->bth.opcode) + r->payload_bytes + pad_bytes(r) +
           FRAME_ICRC_BYTES;
}

static uint32_t ip_bytes(const struct frame_roce *r)
{
    return r->ip.v6 ? IPV6_BYTES : IPV4_BYTES;
}

static size_t ethernet_bytes(const struct frame *f)
{
    return FRAME_ETHERNET_BYTES + (f->ethernet.tagged ? FRAME_VLAN_BYTES : 0);
}

static size_t at_least(size_t bytes)
{
    return bytes > FRAME_LEAST_BYTES ? bytes : FRAME_LEAST_BYTES;
}

size_t frame_length(const struct frame *f)
{
    if (f->kind == FRAME_OTHER)
        return 0;
    return at_least(ethernet_bytes(f) +
                    (f->kind == FRAME_ROCE ? ip_bytes(&f->roce) + udp_bytes(&f->roce) : 0));
}

/* ---- headers */

static uint8_t *put_ethernet(uint8_t *at, const struct frame_ethernet *e, uint16_t type)
{
    at = put_bytes(put_bytes(at, e->destination, 6), e->source, 6);
    if (e->tagged)
        at = put16(put16(at, FRAME_TYPE_VLAN), (uint32_t)e->priority << 13 | (e->vlan & 0xfffu));
    return put16(at, type);
}

/* Of an IPv4 header: over its words, with a checksum of 0. From the fields, which takes less than to read what was just written. */
static uint16_t ip_checksum(const struct frame_ip *ip, uint8_t class, uint32_t bytes)
{
    uint32_t sum = 0x4500u + class + bytes + ip->identification + DO_NOT_FRAGMENT +
                   ((uint32_t)ip->hop_limit << 8 | PROTOCOL_UDP);
    for (unsigned i = 0; i < 4; i += 2)
        sum += (uint32_t)(ip->source[i] << 8 | ip->source[i + 1]) +
               (uint32_t)(ip->destination[i] << 8 | ip->destination[i + 1]);
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t) ~(sum + (sum >> 16));
}

static uint8_t *put_ip(uint8_t *at, const struct frame_ip *ip, uint32_t bytes)
{
    uint8_t class = (uint8_t)(ip->dscp << 2 | (ip->ecn & 3));
    if (ip->v6) {
        at = put32(at, 6u << 28 | (uint32_t) class << 20 | (ip->flow_label & 0xfffffu));
        at = put8(put8(put16(at, bytes), PROTOCOL_UDP), ip->hop_limit);
        return put_bytes(put_bytes(at, ip->source, 16), ip->destination, 16);
    }
    at = put16(put8(put8(at, 0x45), class), IPV4_BYTES + bytes);
    at = put16(put16(at, ip->identification), DO_NOT_FRAGMENT);
    at = put16(put8(put8(at, ip->hop_limit), PROTOCOL_UDP), ip_checksum(ip, class, IPV4_BYTES + bytes));
    return put_bytes(put_bytes(at, ip->source, 4), ip->destination, 4);
}

static uint8_t *put_bth(uint8_t *at, const struct frame_bth *b, uint32_t pad)
{
    at = put8(at, b->opcode);
    at =
        put8(at, (uint8_t)((b->solicited ? BTH_SOLICITED : 0) | (b->migrated ? BTH_MIGRATED : 0) | pad << 4));
    at = put16(at, b->partition);
    at = put8(at, (b->fecn ? BTH_FECN : 0) | (b->becn ? BTH_BECN : 0));
    at = put8(put24(at, b->qpn), b->ack_request ? BTH_ASKS_ACK : 0);
    return put24(at, b->psn);
}

static uint8_t *put_zeros(uint8_t *at, uint32_t count)
{
    memset(at, 0, count);
    return at + count;
}

/* Extension headers, in the order of the specification. */
static uint8_t *put_extensions(uint8_t *at, const struct frame_roce *r)
{
    const struct opcode_row *row = opcode_find(r->bth.opcode);
    if (!row || r->bth.opcode == OPCODE_CNP)
        return put_zeros(at, opcode_header_bytes(r->bth.opcode));
    if (OPCODE_SERVICE(r->bth.opcode) == OPCODE_XRC && !row->response)
        at = put_zeros(at, 4); /* the receive queue */
    if (OPCODE_SERVICE(r->bth.opcode) == OPCODE_UD)
        at = put32(put32(at, r->queue_key), r->source_qpn & 0xffffffu);
    if (row->feth)
        at = put32(at, r->flush);
    if (row->reth || row->atomic)
        at = put32(put64(at, r->reth.address), r->reth.key);
    if (row->reth)
        at = put32(at, r->reth.length);
    if (row->atomic)
        at = put64(put64(at, r->swap), r->compare);
    if (row->aeth)
        at = put24(put8(at, r->aeth.syndrome), r->aeth.msn);
    if (row->atomic_answer)
        at = put64(at, r->compare);
    if (row->immediate)
        at = put32(at, r->immediate);
    return at;
}

/* ---- frames */

/* The rest behind the headers, zeros but for the ICRC, as far as there is room. */
static size_t finish(const uint8_t *headers, size_t header_bytes, size_t length, uint8_t *at, size_t room)
{
    size_t bytes = length < room ? length : room;
    memcpy(at, headers, header_bytes < bytes ? header_bytes : bytes);
    if (bytes > header_bytes)
        memset(at + header_bytes, 0, bytes - header_bytes);
    return bytes;
}

static size_t write_roce(const struct frame *f, uint8_t *at, size_t room)
{
    const struct frame_roce *r = &f->roce;
    uint8_t headers[MOST_HEADER_BYTES];
    uint32_t datagram_bytes = udp_bytes(r);
    uint8_t *ip = put_ethernet(headers, &f->ethernet, r->ip.v6 ? FRAME_TYPE_IPV6 : FRAME_TYPE_IPV4);
    uint8_t *end = put_ip(ip, &r->ip, datagram_bytes);
    end = put16(put16(end, r->source_port), FRAME_ROCE_PORT);
    end = put16(put16(end, datagram_bytes), 0);
    end = put_extensions(put_bth(end, &r->bth, pad_bytes(r)), r);
    size_t crc_at = (size_t)(ip - headers) + ip_bytes(r) + datagram_bytes - FRAME_ICRC_BYTES;
    size_t bytes = finish(headers, (size_t)(end - headers), at_least(crc_at + FRAME_ICRC_BYTES), at, room);
    if (bytes <= crc_at)
        return bytes;
    uint32_t crc = icrc_with_zeros(ip, ip_bytes(r), (size_t)(end - ip), r->payload_bytes + pad_bytes(r));
    for (size_t i = crc_at; i < bytes && i < crc_at + FRAME_ICRC_BYTES; i++)
        at[i] = (uint8_t)(crc >> 8 * (i - crc_at));
    return bytes;
}

static size_t write_control(const struct frame *f, uint8_t *at, size_t room)
{
    uint8_t headers[MOST_HEADER_BYTES];
    uint8_t *end = put_ethernet(headers, &f->ethernet, FRAME_TYPE_CONTROL);
    if (f->kind == FRAME_PAUSE) {
        end = put16(put16(end, FRAME_CONTROL_PAUSE), f->pause_quanta);
    } else {
        end = put16(put16(end, FRAME_CONTROL_PFC), f->pfc.priorities);
        for (unsigned i = 0; i < FRAME_PRIORITIES; i++)
            end = put16(end, f->pfc.quanta[i]);
    }
    return finish(headers, (size_t)(end - headers), frame_length(f), at, room);
}

size_t frame_write(const struct frame *f, uint8_t *at, size_t room)
{
    switch (f->kind) {
    case FRAME_ROCE:
        return write_roce(f, at, room);
    case FRAME_PFC:
    case FRAME_PAUSE:
        return write_control(f, at, room);
    case FRAME_OTHER:
        break;
    }
    return 0;
}
