/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The headers of a frame, and the checksums of IP, TCP and UDP. */
#ifndef VCX_HEADERS_H
#define VCX_HEADERS_H

#include "virtual-connectx/model/base.h"

#define VCX_ETHERNET_BYTES 14u
#define VCX_TAG_BYTES      4u
#define VCX_LEAST_FRAME    60u /* without FCS */

#define VCX_TYPE_IPV4 0x0800
#define VCX_TYPE_IPV6 0x86dd
#define VCX_TYPE_CTAG 0x8100
#define VCX_TYPE_STAG 0x88a8

#define VCX_PROTOCOL_TCP 6
#define VCX_PROTOCOL_UDP 17

#define VCX_TCP_FIN 0x01
#define VCX_TCP_PSH 0x08
#define VCX_TCP_ACK 0x10
#define VCX_TCP_CWR 0x80

struct vcx_tag {
    uint16_t type, tci;
};

/* What a frame has. Offsets are from its begin; each is 0, or its whole header lies in the frame. */
struct vcx_headers {
    uint32_t length;
    uint32_t tags;
    struct vcx_tag tag[2];
    uint16_t ethertype; /* after the tags */
    uint8_t version;    /* 4, 6, or 0: no IP */
    uint8_t protocol;   /* after IPv6's extension headers */
    uint8_t traffic_class, hop_limit;
    bool fragment;
    bool whole;       /* the frame is as long as its IP header says */
    uint32_t l3;      /* IP */
    uint32_t end;     /* of the IP packet, or of the frame if that is shorter */
    uint32_t l4;      /* TCP or UDP, unless it is a fragment */
    uint32_t payload; /* of TCP or UDP */
};

/* Reads the headers of a frame; a header that is cut off or contradicts itself is none. */
void vcx_headers_read(struct vcx_headers *headers, const uint8_t *frame, uint32_t length);

/* The one's complement sum of 16-bit words, continued from `sum`; at most 64 KiB in all. */
uint32_t vcx_sum(uint32_t sum, const uint8_t *data, uint32_t bytes);
uint16_t vcx_sum_fold(uint32_t sum);

/* Write the checksum of the IPv4 header; of TCP or UDP. Nothing is written if the frame has no such
 * header. */
void vcx_checksum_l3(const struct vcx_headers *headers, uint8_t *frame);
void vcx_checksum_l4(const struct vcx_headers *headers, uint8_t *frame);
/* The checksum of the IPv4 header, or of TCP or UDP, is right; IPv6 has none, and UDP over IPv4 need not. */
bool vcx_checksum_l3_right(const struct vcx_headers *headers, const uint8_t *frame);
bool vcx_checksum_l4_right(const struct vcx_headers *headers, const uint8_t *frame);

#endif
