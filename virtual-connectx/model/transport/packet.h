/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* RoCEv2 packets (InfiniBand Architecture Specification, annex A17): headers read from a frame and written
 * into one. */
#ifndef VCX_PACKET_H
#define VCX_PACKET_H

#include "virtual-connectx/model/front.h"

#define VCX_ROCE_PORT 4791
#define VCX_PSN_MASK  0xffffffu

/* Base transport header's opcode: the service in the upper three bits, the operation in the lower five. */
enum vcx_service {
    VCX_SERVICE_RC = 0,
    VCX_SERVICE_UC = 1,
    VCX_SERVICE_UD = 3,
    VCX_SERVICE_CNP = 4,
    VCX_SERVICE_XRC = 5
};
enum vcx_operation {
    VCX_SEND_FIRST = 0x00,
    VCX_SEND_MIDDLE = 0x01,
    VCX_SEND_LAST = 0x02,
    VCX_SEND_LAST_IMMEDIATE = 0x03,
    VCX_SEND_ONLY = 0x04,
    VCX_SEND_ONLY_IMMEDIATE = 0x05,
    VCX_WRITE_FIRST = 0x06,
    VCX_WRITE_MIDDLE = 0x07,
    VCX_WRITE_LAST = 0x08,
    VCX_WRITE_LAST_IMMEDIATE = 0x09,
    VCX_WRITE_ONLY = 0x0a,
    VCX_WRITE_ONLY_IMMEDIATE = 0x0b,
    VCX_READ_REQUEST = 0x0c,
    VCX_READ_FIRST = 0x0d,
    VCX_READ_MIDDLE = 0x0e,
    VCX_READ_LAST = 0x0f,
    VCX_READ_ONLY = 0x10,
    VCX_ACKNOWLEDGE = 0x11,
    VCX_ATOMIC_ACKNOWLEDGE = 0x12,
    VCX_COMPARE_SWAP = 0x13,
    VCX_FETCH_ADD = 0x14,
    VCX_SEND_LAST_INVALIDATE = 0x16,
    VCX_SEND_ONLY_INVALIDATE = 0x17,
};
#define VCX_OPCODE_CNP 0x81

/* What an operation's packet has and does: one row for each of the 32. */
struct vcx_operation_row {
    uint8_t header_bytes; /* extension headers, without XRC's and datagrams' */
    bool exists;
    bool first, last; /* packet of a message */
    bool send, write; /* request with payload */
    bool immediate, invalidate;
    bool response;
};
extern const struct vcx_operation_row vcx_operations[32];

enum vcx_ecn { VCX_NOT_ECT = 0, VCX_ECT_1 = 1, VCX_ECT_0 = 2, VCX_CE = 3 };

/* A packet read from a frame. Pointers are into the frame. */
struct vcx_packet {
    uint8_t opcode;
    bool solicited, acknowledge;
    uint16_t partition;
    uint32_t qpn, psn;
    bool v6;
    uint8_t dscp, ecn, hop_limit;
    uint16_t source_port;
    const uint8_t *ethernet, *l3; /* headers */
    uint8_t *header;              /* extension headers */
    uint32_t bytes;               /* from `header` to the end of the payload, without pad and ICRC */
};

enum vcx_parsed { VCX_PACKET, VCX_OTHER_FRAME, VCX_BAD_PACKET };
/* OTHER: not RoCEv2. BAD: RoCEv2 with a wrong length, checksum or ICRC: it is dropped. */
enum vcx_parsed vcx_packet_parse(struct vcx_frame *frame, struct vcx_packet *packet);

/* Where a packet goes: what of an address path and of the source address table the headers need. */
struct vcx_path {
    uint8_t source_mac[6], destination_mac[6];
    uint8_t source[16], destination[16]; /* IPv6, or IPv4 mapped into it */
    bool v6, tagged;
    uint16_t vlan;
    uint8_t pcp, dscp, ecn, hop_limit;
    uint16_t source_port;
};

/* A packet to be written: its base transport header, extension headers, and room for the payload. */
struct vcx_packet_header {
    uint8_t opcode;
    bool solicited, acknowledge, becn;
    uint16_t partition;
    uint32_t qpn, psn;
    const uint8_t *extension;
    uint32_t extension_bytes;
};

/* A frame with all headers; *payload is where `bytes` of payload go before vcx_packet_close. NULL: memory
 * ran out. */
struct vcx_frame *vcx_packet_open(const struct vcx_path *path, const struct vcx_packet_header *header,
                                  uint32_t bytes, uint8_t **payload);
/* Writes pad and ICRC. */
void vcx_packet_close(struct vcx_frame *frame);

/* The DSCP and ECN bits of a frame's IP packet. false: it has none. */
bool vcx_frame_ip(const struct vcx_frame *frame, uint8_t *dscp, uint8_t *ecn);
/* Set the ECN bits to CE and mend the checksum. */
void vcx_frame_mark(struct vcx_frame *frame);

static inline uint32_t vcx_be24(const uint8_t *at)
{
    return (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
}

static inline void vcx_put24(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 16);
    at[1] = (uint8_t)(value >> 8);
    at[2] = (uint8_t)value;
}

/* a - b of packet sequence numbers, from -2^23 to 2^23 - 1 */
static inline int32_t vcx_psn_distance(uint32_t a, uint32_t b)
{
    return (int32_t)((a - b) << 8) >> 8;
}

#endif
