// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/transport/packet.h"

#define ETHERNET_BYTES 14u
#define TAG_BYTES      4u
#define IPV4_BYTES     20u
#define IPV6_BYTES     40u
#define UDP_BYTES      8u
#define BTH_BYTES      12u
#define ICRC_BYTES     4u
#define TYPE_TAG       0x8100
#define TYPE_IPV4      0x0800
#define TYPE_IPV6      0x86dd
#define PROTOCOL_UDP   17

/* bits of the base transport header */
#define BTH_SOLICITED   0x80
#define BTH_MIGRATED    0x40
#define BTH_BECN        0x40
#define BTH_ACKNOWLEDGE 0x80

const struct vcx_operation_row vcx_operations[32] = {
    [VCX_SEND_FIRST] = {.exists = true, .first = true, .send = true},
    [VCX_SEND_MIDDLE] = {.exists = true, .send = true},
    [VCX_SEND_LAST] = {.exists = true, .last = true, .send = true},
    [VCX_SEND_LAST_IMMEDIATE] =
        {.exists = true, .last = true, .send = true, .immediate = true, .header_bytes = 4},
    [VCX_SEND_ONLY] = {.exists = true, .first = true, .last = true, .send = true},
    [VCX_SEND_ONLY_IMMEDIATE] =
        {.exists = true, .first = true, .last = true, .send = true, .immediate = true, .header_bytes = 4},
    [VCX_WRITE_FIRST] = {.exists = true, .first = true, .write = true, .header_bytes = 16},
    [VCX_WRITE_MIDDLE] = {.exists = true, .write = true},
    [VCX_WRITE_LAST] = {.exists = true, .last = true, .write = true},
    [VCX_WRITE_LAST_IMMEDIATE] =
        {.exists = true, .last = true, .write = true, .immediate = true, .header_bytes = 4},
    [VCX_WRITE_ONLY] = {.exists = true, .first = true, .last = true, .write = true, .header_bytes = 16},
    [VCX_WRITE_ONLY_IMMEDIATE] =
        {.exists = true, .first = true, .last = true, .write = true, .immediate = true, .header_bytes = 20},
    [VCX_READ_REQUEST] = {.exists = true, .first = true, .last = true, .header_bytes = 16},
    [VCX_READ_FIRST] = {.exists = true, .response = true, .first = true, .header_bytes = 4},
    [VCX_READ_MIDDLE] = {.exists = true, .response = true},
    [VCX_READ_LAST] = {.exists = true, .response = true, .last = true, .header_bytes = 4},
    [VCX_READ_ONLY] = {.exists = true, .response = true, .first = true, .last = true, .header_bytes = 4},
    [VCX_ACKNOWLEDGE] = {.exists = true, .response = true, .header_bytes = 4},
    [VCX_ATOMIC_ACKNOWLEDGE] = {.exists = true, .response = true, .header_bytes = 12},
    [VCX_COMPARE_SWAP] = {.exists = true, .first = true, .last = true, .header_bytes = 28},
    [VCX_FETCH_ADD] = {.exists = true, .first = true, .last = true, .header_bytes = 28},
    [VCX_SEND_LAST_INVALIDATE] =
        {.exists = true, .last = true, .send = true, .invalidate = true, .header_bytes = 4},
    [VCX_SEND_ONLY_INVALIDATE] =
        {.exists = true, .first = true, .last = true, .send = true, .invalidate = true, .header_bytes = 4},
};

/* ---- checksums */

static uint16_t ip_checksum(const uint8_t *header, uint32_t bytes)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < bytes; i += 2)
        sum += vcx_be16(header + i);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

/* The invariant CRC: over the packet from the IP header on, with the fields that routers change as ones,
 * after eight bytes of ones in place of InfiniBand's local route header. */
static uint32_t icrc(const uint8_t *l3, bool v6, const uint8_t *end)
{
    uint8_t masked[IPV6_BYTES + UDP_BYTES + BTH_BYTES];
    static const uint8_t ones[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    uint32_t ip = v6 ? IPV6_BYTES : IPV4_BYTES, bytes = ip + UDP_BYTES + BTH_BYTES;
    memcpy(masked, l3, bytes);
    if (v6) {
        masked[0] |= 0x0f; /* traffic class, flow label */
        masked[1] = masked[2] = masked[3] = 0xff;
        masked[7] = 0xff; /* hop limit */
    } else {
        masked[1] = 0xff;               /* type of service */
        masked[8] = 0xff;               /* time to live */
        masked[10] = masked[11] = 0xff; /* checksum */
    }
    masked[ip + 6] = masked[ip + 7] = 0xff; /* UDP checksum */
    masked[ip + UDP_BYTES + 4] = 0xff;      /* FECN, BECN, reserved */
    uint32_t crc = vcx_crc32(0xffffffff, ones, sizeof ones);
    crc = vcx_crc32(crc, masked, bytes);
    return ~vcx_crc32(crc, l3 + bytes, (size_t)(end - l3) - bytes);
}

static void put_le32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t le32(const uint8_t *at)
{
    return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

/* ---- reading */

/* The IP header, or NULL if the frame has none that fits. */
static uint8_t *ip_header(const struct vcx_frame *frame, bool *v6)
{
    uint32_t at = ETHERNET_BYTES;
    if (frame->length < ETHERNET_BYTES + TAG_BYTES)
        return NULL;
    uint16_t type = vcx_be16(frame->data + 12);
    if (type == TYPE_TAG) {
        type = vcx_be16(frame->data + 16);
        at += TAG_BYTES;
    }
    *v6 = type == TYPE_IPV6;
    uint32_t bytes = *v6 ? IPV6_BYTES : IPV4_BYTES;
    if ((type != TYPE_IPV4 && !*v6) || frame->length < at + bytes)
        return NULL;
    uint8_t *l3 = frame->data + at;
    if (l3[0] >> 4 != (*v6 ? 6 : 4) || (!*v6 && (l3[0] & 15) != 5))
        return NULL; /* RoCE has no options; what has them is the host's */
    return l3;
}

static void read_ip(const uint8_t *l3, bool v6, struct vcx_packet *p)
{
    uint8_t class = v6 ? (uint8_t)(vcx_be16(l3) >> 4) : l3[1];
    p->l3 = l3;
    p->v6 = v6;
    p->dscp = class >> 2;
    p->ecn = class & 3;
    p->hop_limit = v6 ? l3[7] : l3[8];
}

static void read_bth(uint8_t *bth, uint32_t udp_bytes, struct vcx_packet *p)
{
    p->opcode = bth[0];
    p->solicited = bth[1] & BTH_SOLICITED;
    p->partition = vcx_be16(bth + 2);
    p->qpn = vcx_be24(bth + 5);
    p->acknowledge = bth[8] & BTH_ACKNOWLEDGE;
    p->psn = vcx_be24(bth + 9);
    p->header = bth + BTH_BYTES;
    p->bytes = udp_bytes - UDP_BYTES - BTH_BYTES - ICRC_BYTES;
}

enum vcx_parsed vcx_packet_parse(struct vcx_frame *frame, struct vcx_packet *p)
{
    bool v6 = false;
    uint8_t *l3 = ip_header(frame, &v6);
    uint32_t ip = v6 ? IPV6_BYTES : IPV4_BYTES, left = l3 ? frame->length - (uint32_t)(l3 - frame->data) : 0;
    if (left < ip + UDP_BYTES || (v6 ? l3[6] : l3[9]) != PROTOCOL_UDP || (!v6 && vcx_be16(l3 + 6) & 0x3fff))
        return VCX_OTHER_FRAME; /* a fragment has no port that could be trusted */
    uint8_t *udp = l3 + ip;
    if (vcx_be16(udp + 2) != VCX_ROCE_PORT)
        return VCX_OTHER_FRAME;
    uint32_t udp_bytes = vcx_be16(udp + 4), declared = v6 ? vcx_be16(l3 + 4) + IPV6_BYTES : vcx_be16(l3 + 2);
    if (udp_bytes < UDP_BYTES + BTH_BYTES + ICRC_BYTES || declared != ip + udp_bytes || declared > left)
        return VCX_BAD_PACKET;
    if (!v6 && ip_checksum(l3, IPV4_BYTES) != 0)
        return VCX_BAD_PACKET;
    if (le32(udp + udp_bytes - ICRC_BYTES) != icrc(l3, v6, udp + udp_bytes - ICRC_BYTES))
        return VCX_BAD_PACKET;
    *p = (struct vcx_packet){.ethernet = frame->data, .source_port = vcx_be16(udp)};
    read_ip(l3, v6, p);
    read_bth(udp + UDP_BYTES, udp_bytes, p);
    uint32_t pad = udp[UDP_BYTES + 1] >> 4 & 3;
    if (pad > p->bytes || (udp[UDP_BYTES + 1] & 15) != 0)
        return VCX_BAD_PACKET; /* transport header version 0 */
    p->bytes -= pad;
    return VCX_PACKET;
}

bool vcx_frame_ip(const struct vcx_frame *frame, uint8_t *dscp, uint8_t *ecn)
{
    struct vcx_packet p;
    bool v6;
    const uint8_t *l3 = ip_header(frame, &v6);
    if (!l3)
        return false;
    read_ip(l3, v6, &p);
    *dscp = p.dscp;
    *ecn = p.ecn;
    return true;
}

void vcx_frame_mark(struct vcx_frame *frame)
{
    bool v6;
    uint8_t *l3 = ip_header(frame, &v6);
    if (!l3)
        return;
    l3[1] |= v6 ? VCX_CE << 4 : VCX_CE;
    if (v6)
        return;
    vcx_put16(l3 + 10, 0);
    vcx_put16(l3 + 10, ip_checksum(l3, IPV4_BYTES));
}

/* ---- writing */

static uint8_t *write_ethernet(uint8_t *at, const struct vcx_path *path)
{
    memcpy(at, path->destination_mac, 6);
    memcpy(at + 6, path->source_mac, 6);
    at += 12;
    if (path->tagged) {
        vcx_put16(at, TYPE_TAG);
        vcx_put16(at + 2, (uint16_t)(path->pcp << 13 | (path->vlan & 0xfff)));
        at += TAG_BYTES;
    }
    vcx_put16(at, path->v6 ? TYPE_IPV6 : TYPE_IPV4);
    return at + 2;
}

static uint8_t *write_ip(uint8_t *at, const struct vcx_path *path, uint32_t udp_bytes)
{
    uint8_t class = (uint8_t)(path->dscp << 2 | path->ecn), hops = path->hop_limit ? path->hop_limit : 64;
    if (path->v6) {
        vcx_put32(at, 6u << 28 | (uint32_t) class << 20);
        vcx_put16(at + 4, (uint16_t)udp_bytes);
        at[6] = PROTOCOL_UDP;
        at[7] = hops;
        memcpy(at + 8, path->source, 16);
        memcpy(at + 24, path->destination, 16);
        return at + IPV6_BYTES;
    }
    at[0] = 0x45;
    at[1] = class;
    vcx_put16(at + 2, (uint16_t)(IPV4_BYTES + udp_bytes));
    vcx_put32(at + 4, 0x4000); /* identification 0, do not fragment */
    at[8] = hops;
    at[9] = PROTOCOL_UDP;
    vcx_put16(at + 10, 0);
    memcpy(at + 12, path->source + 12, 4);
    memcpy(at + 16, path->destination + 12, 4);
    vcx_put16(at + 10, ip_checksum(at, IPV4_BYTES));
    return at + IPV4_BYTES;
}

static uint8_t *write_bth(uint8_t *at, const struct vcx_packet_header *h, uint32_t pad)
{
    at[0] = h->opcode;
    at[1] = (uint8_t)((h->solicited ? BTH_SOLICITED : 0) | BTH_MIGRATED | pad << 4);
    vcx_put16(at + 2, h->partition);
    at[4] = h->becn ? BTH_BECN : 0;
    vcx_put24(at + 5, h->qpn);
    at[8] = h->acknowledge ? BTH_ACKNOWLEDGE : 0;
    vcx_put24(at + 9, h->psn);
    return at + BTH_BYTES;
}

struct vcx_frame *vcx_packet_open(const struct vcx_path *path, const struct vcx_packet_header *h,
                                  uint32_t bytes, uint8_t **payload)
{
    uint32_t pad = -bytes & 3,
             udp_bytes = UDP_BYTES + BTH_BYTES + h->extension_bytes + bytes + pad + ICRC_BYTES;
    uint32_t most = ETHERNET_BYTES + TAG_BYTES + IPV6_BYTES + udp_bytes;
    struct vcx_frame *frame = udp_bytes <= UINT16_MAX - IPV4_BYTES ? vcx_frame_new(most) : NULL;
    if (!frame)
        return NULL;
    uint8_t *at = write_ip(write_ethernet(frame->data, path), path, udp_bytes);
    vcx_put16(at, path->source_port);
    vcx_put16(at + 2, VCX_ROCE_PORT);
    vcx_put16(at + 4, (uint16_t)udp_bytes);
    vcx_put16(at + 6, 0);
    at = write_bth(at + UDP_BYTES, h, pad);
    if (h->extension_bytes)
        memcpy(at, h->extension, h->extension_bytes);
    *payload = at + h->extension_bytes;
    memset(*payload + bytes, 0, pad);
    frame->length = (uint32_t)(*payload - frame->data) + bytes + pad + ICRC_BYTES;
    return frame;
}

void vcx_packet_close(struct vcx_frame *frame)
{
    bool v6;
    uint8_t *l3 = ip_header(frame, &v6), *end = frame->data + frame->length - ICRC_BYTES;
    if (l3)
        put_le32(end, icrc(l3, v6, end));
}
