// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/ethernet/headers.h"

#define IPV4_BYTES      20u
#define IPV6_BYTES      40u
#define TCP_BYTES       20u
#define UDP_BYTES       8u
#define MOST_EXTENSIONS 8 /* of IPv6, that are looked through */

#define HOP_BY_HOP  0
#define ROUTING     43
#define FRAGMENT    44
#define DESTINATION 60

#define IPV4_MORE_AND_OFFSET 0x3fff
#define IPV4_OFFSET          0x1fff
#define IPV6_OFFSET          0xfff8

/* positions of checksums */
#define IPV4_CHECKSUM 10
#define TCP_CHECKSUM  16
#define UDP_CHECKSUM  6

/* The end of the IP packet by its own header, cut to the frame. */
static void set_end(struct vcx_headers *h, uint32_t end)
{
    h->whole = end <= h->length;
    h->end = h->whole ? end : h->length;
}

/* Returns where the next header begins, or 0: it is not IPv4, or a later fragment. */
static uint32_t read_ipv4(struct vcx_headers *h, const uint8_t *frame)
{
    const uint8_t *ip = frame + h->l3;
    uint32_t left = h->length - h->l3, bytes = left < IPV4_BYTES ? 0 : (ip[0] & 15) * 4u;
    if (bytes < IPV4_BYTES || bytes > left || ip[0] >> 4 != 4 || vcx_be16(ip + 2) < bytes)
        return 0;
    uint16_t fragment = vcx_be16(ip + 6);
    h->version = 4;
    h->protocol = ip[9];
    h->traffic_class = ip[1];
    h->hop_limit = ip[8];
    h->fragment = fragment & IPV4_MORE_AND_OFFSET;
    set_end(h, h->l3 + vcx_be16(ip + 2));
    return fragment & IPV4_OFFSET ? 0 : h->l3 + bytes;
}

static bool is_extension(uint8_t header)
{
    return header == HOP_BY_HOP || header == ROUTING || header == FRAGMENT || header == DESTINATION;
}

static uint32_t read_extensions(struct vcx_headers *h, const uint8_t *frame, uint32_t at)
{
    for (int i = 0; i < MOST_EXTENSIONS && is_extension(h->protocol); i++) {
        if (at + 8 > h->end)
            return 0;
        bool fragment = h->protocol == FRAGMENT;
        uint32_t bytes = fragment ? 8 : 8 + frame[at + 1] * 8u;
        h->protocol = frame[at];
        h->fragment |= fragment;
        if (fragment && vcx_be16(frame + at + 2) & IPV6_OFFSET)
            return 0;
        at += bytes;
    }
    return at;
}

static uint32_t read_ipv6(struct vcx_headers *h, const uint8_t *frame)
{
    const uint8_t *ip = frame + h->l3;
    if (h->length - h->l3 < IPV6_BYTES || ip[0] >> 4 != 6)
        return 0;
    h->version = 6;
    h->protocol = ip[6];
    h->traffic_class = (uint8_t)(vcx_be16(ip) >> 4);
    h->hop_limit = ip[7];
    set_end(h, h->l3 + IPV6_BYTES + vcx_be16(ip + 4));
    return read_extensions(h, frame, h->l3 + IPV6_BYTES);
}

static void read_l4(struct vcx_headers *h, const uint8_t *frame, uint32_t at)
{
    uint32_t left = at && at < h->end ? h->end - at : 0, bytes = 0;
    if (h->protocol == VCX_PROTOCOL_TCP && left >= TCP_BYTES)
        bytes = (frame[at + 12] >> 4) * 4u;
    else if (h->protocol == VCX_PROTOCOL_UDP && left >= UDP_BYTES)
        bytes = UDP_BYTES;
    if (bytes < (h->protocol == VCX_PROTOCOL_TCP ? TCP_BYTES : UDP_BYTES) || bytes > left)
        return;
    h->l4 = at;
    h->payload = at + bytes;
}

/* Returns where the EtherType is. */
static uint32_t read_tags(struct vcx_headers *h, const uint8_t *frame)
{
    uint32_t at = VCX_ETHERNET_BYTES - 2;
    for (; h->tags < VCX_COUNT(h->tag) && at + 2 + VCX_TAG_BYTES <= h->length; at += VCX_TAG_BYTES) {
        uint16_t type = vcx_be16(frame + at);
        if (type != VCX_TYPE_CTAG && type != VCX_TYPE_STAG)
            break;
        h->tag[h->tags++] = (struct vcx_tag){type, vcx_be16(frame + at + 2)};
    }
    return at;
}

void vcx_headers_read(struct vcx_headers *h, const uint8_t *frame, uint32_t length)
{
    *h = (struct vcx_headers){.length = length};
    if (length < VCX_ETHERNET_BYTES)
        return;
    uint32_t at = read_tags(h, frame), next = 0;
    h->ethertype = vcx_be16(frame + at);
    h->l3 = at + 2;
    if (h->ethertype == VCX_TYPE_IPV4)
        next = read_ipv4(h, frame);
    else if (h->ethertype == VCX_TYPE_IPV6)
        next = read_ipv6(h, frame);
    if (!h->version)
        h->l3 = 0;
    if (!h->fragment)
        read_l4(h, frame, next);
}

uint32_t vcx_sum(uint32_t sum, const uint8_t *data, uint32_t bytes)
{
    for (; bytes >= 2; data += 2, bytes -= 2)
        sum += vcx_be16(data);
    return bytes ? sum + ((uint32_t)*data << 8) : sum;
}

uint16_t vcx_sum_fold(uint32_t sum)
{
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)(sum + (sum >> 16));
}

static uint32_t ipv4_header_bytes(const struct vcx_headers *h, const uint8_t *frame)
{
    return (frame[h->l3] & 15) * 4u;
}

void vcx_checksum_l3(const struct vcx_headers *h, uint8_t *frame)
{
    if (h->version != 4)
        return;
    uint8_t *ip = frame + h->l3;
    vcx_put16(ip + IPV4_CHECKSUM, 0);
    vcx_put16(ip + IPV4_CHECKSUM, (uint16_t)~vcx_sum_fold(vcx_sum(0, ip, ipv4_header_bytes(h, frame))));
}

bool vcx_checksum_l3_right(const struct vcx_headers *h, const uint8_t *frame)
{
    return h->version == 6 ||
           (h->version == 4 &&
            vcx_sum_fold(vcx_sum(0, frame + h->l3, ipv4_header_bytes(h, frame))) == 0xffff);
}

/* The addresses, the protocol, the length, then the header with its payload. */
static uint16_t sum_l4(const struct vcx_headers *h, const uint8_t *frame)
{
    uint32_t bytes = h->end - h->l4, sum = h->protocol + bytes;
    sum = h->version == 4 ? vcx_sum(sum, frame + h->l3 + 12, 8) : vcx_sum(sum, frame + h->l3 + 8, 32);
    return vcx_sum_fold(vcx_sum(sum, frame + h->l4, bytes));
}

static uint32_t l4_checksum_at(const struct vcx_headers *h)
{
    return h->l4 + (h->protocol == VCX_PROTOCOL_TCP ? TCP_CHECKSUM : UDP_CHECKSUM);
}

void vcx_checksum_l4(const struct vcx_headers *h, uint8_t *frame)
{
    if (!h->l4)
        return;
    uint8_t *at = frame + l4_checksum_at(h);
    vcx_put16(at, 0);
    uint16_t checksum = (uint16_t)~sum_l4(h, frame);
    vcx_put16(at, checksum || h->protocol == VCX_PROTOCOL_TCP ? checksum : 0xffff);
}

bool vcx_checksum_l4_right(const struct vcx_headers *h, const uint8_t *frame)
{
    if (!h->l4 || !h->whole)
        return false;
    if (h->protocol == VCX_PROTOCOL_UDP && vcx_be16(frame + h->l4 + 4) != h->end - h->l4)
        return false;
    if (h->protocol == VCX_PROTOCOL_UDP && !vcx_be16(frame + l4_checksum_at(h)))
        return h->version == 4;
    return sum_l4(h, frame) == 0xffff;
}
