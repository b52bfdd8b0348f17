/*
 * A frame of a RoCEv2 network, field by field: RoCEv2 packets (InfiniBand Architecture Specification, annex
 * A17), PFC frames (IEEE 802.1Q, 36.2) and pause frames (IEEE 802.3, annex 31B). Numbers are in the host's
 * order; addresses as they are on the wire.
 */
#ifndef LIB_FRAME_H
#define LIB_FRAME_H

#include "lib/packets/opcode.h"
#include <stddef.h>

#define FRAME_ROCE_PORT      4791
#define FRAME_PSN_MASK       0xffffffu
#define FRAME_PRIORITIES     8
#define FRAME_QUANTUM_BITS   512 /* of a pause: IEEE 802.3, 31B.2 */
#define FRAME_TYPE_VLAN      0x8100
#define FRAME_TYPE_IPV4      0x0800
#define FRAME_TYPE_IPV6      0x86dd
#define FRAME_TYPE_CONTROL   0x8808 /* MAC control */
#define FRAME_CONTROL_PAUSE  0x0001
#define FRAME_CONTROL_PFC    0x0101
#define FRAME_ETHERNET_BYTES 14
#define FRAME_VLAN_BYTES     4
#define FRAME_ICRC_BYTES     4
#define FRAME_FCS_BYTES      4  /* not in captures */
#define FRAME_LEAST_BYTES    60 /* without FCS */
#define FRAME_IPV6_BYTES     40
#define FRAME_UDP_BYTES      8
#define FRAME_BTH_BYTES      12 /* base transport header */
/* The longest headers that a RoCEv2 packet with one VLAN tag has, and with its ICRC all of a packet without a
 * payload: what a capture has to keep of each frame, so that all can be judged but payloads. */
#define FRAME_MOST_HEADER_BYTES                                                                       \
    (FRAME_ETHERNET_BYTES + FRAME_VLAN_BYTES + FRAME_IPV6_BYTES + FRAME_UDP_BYTES + FRAME_BTH_BYTES + \
     OPCODE_MOST_HEADER_BYTES)
#define FRAME_SNAP_BYTES (FRAME_MOST_HEADER_BYTES + FRAME_ICRC_BYTES)

/* The two ECN bits (RFC 3168). */
enum frame_ecn { FRAME_NOT_ECT = 0, FRAME_ECT_1 = 1, FRAME_ECT_0 = 2, FRAME_CE = 3 };

enum frame_kind {
    FRAME_OTHER, /* neither of the following, or not readable as such */
    FRAME_ROCE,
    FRAME_PFC,
    FRAME_PAUSE,
    FRAME_CUT, /* RoCEv2 or PFC, or what may be: captured up to a place within the headers that say it */
};

/* What a frame is that is neither: for people who wonder why nothing of it is judged. */
enum frame_other {
    FRAME_OTHER_PROTOCOL, /* that RDMA does not use */
    FRAME_OTHER_ROCE_V1,
    FRAME_OTHER_VXLAN,
    FRAME_OTHER_GENEVE,
    FRAME_OTHER_ERSPAN,
    FRAME_OTHER_GRE,
    FRAME_OTHER_TUNNEL, /* MPLS, IP in IP */
    FRAME_OTHER_UDP,    /* to another port */
    FRAME_OTHER_FRAGMENT,
    FRAME_OTHER_EXTENDED,  /* IPv6 with extension headers */
    FRAME_OTHER_MALFORMED, /* to RoCEv2's port; its lengths or its opcode contradict themselves */
    FRAME_OTHERS
};

struct frame_ethernet {
    uint8_t destination[6], source[6];
    bool tagged;      /* has a VLAN tag */
    uint8_t priority; /* of the tag (PCP) */
    uint16_t vlan;    /* of the tag; 0: priority only */
};

struct frame_ip {
    bool v6;
    uint8_t source[16], destination[16]; /* of IPv4: the first four */
    uint8_t dscp, ecn, hop_limit;
    uint16_t identification; /* IPv4 */
    uint32_t flow_label;     /* IPv6 */
};

/* Base transport header. */
struct frame_bth {
    uint8_t opcode; /* opcode.h */
    bool solicited, migrated, fecn, becn;
    bool ack_request;
    uint8_t pad_bytes;
    uint16_t partition;
    uint32_t qpn; /* the destination's */
    uint32_t psn;
};

/* RDMA extended transport header, and of atomics the address and key of theirs. */
struct frame_reth {
    uint64_t address;
    uint32_t key;
    uint32_t length; /* bytes; not of atomics */
};

/* ACK extended transport header. */
struct frame_aeth {
    uint8_t syndrome; /* opcode.h */
    uint32_t msn;
};

/* Which extension headers a RoCEv2 packet has follows from its opcode. */
struct frame_roce {
    struct frame_ip ip;
    uint16_t source_port;
    bool cut; /* extension headers were not captured to their end: they are zeros */
    struct frame_bth bth;
    uint32_t flush; /* of FLUSH: its selectivity and placement type */
    struct frame_reth reth;
    struct frame_aeth aeth;
    uint64_t swap, compare; /* of atomics; of an atomic's answer `compare` is the original value */
    uint32_t immediate;     /* or the key to invalidate */
    uint32_t queue_key;     /* of datagrams */
    uint32_t source_qpn;    /* of datagrams */
    uint32_t payload_bytes; /* without pad */
};

/* By priority, where its bit is set: the quanta during which nothing is to be sent; 0: go on. */
struct frame_pfc {
    uint8_t priorities;
    uint16_t quanta[FRAME_PRIORITIES];
};

struct frame {
    enum frame_kind kind;
    struct frame_ethernet ethernet;
    union {
        struct frame_roce roce;
        struct frame_pfc pfc;
        uint16_t pause_quanta;
        struct {
            enum frame_other is;
            uint16_t port;     /* of UDP: the destination's */
            uint16_t inner_at; /* where a frame within it begins; 0: it has none, or none that is known */
            bool may_be_roce;  /* RoCEv2 that is not read: behind other headers, or its lengths lie */
        } other;
    };
};

/* ---- reading: frames from bytes that may be anything */

enum frame_icrc {
    FRAME_ICRC_NONE, /* not a RoCEv2 packet */
    FRAME_ICRC_RIGHT,
    FRAME_ICRC_WRONG,
    FRAME_ICRC_CUT, /* the packet was not captured to its end */
};

/* Take the first `bytes` of a frame apart; the headers are enough. What is neither RoCEv2, PFC nor pause, and
 * what contradicts itself, is FRAME_OTHER. */
void frame_read(const uint8_t *at, size_t bytes, struct frame *f);
/* Is the ICRC at the end of the packet that of its bytes? */
enum frame_icrc frame_read_icrc(const uint8_t *at, size_t bytes);

/* ---- writing: headers, a payload of zeros, pad and ICRC; without FCS */

/* The longest payload that a frame can have: the IP header counts 16 bits. */
#define FRAME_MOST_PAYLOAD_BYTES 65000

/* Bytes of a RoCEv2, PFC or pause frame; 0 for others. The payload is at most FRAME_MOST_PAYLOAD_BYTES. */
size_t frame_length(const struct frame *f);
/* Write the first `room` bytes of the frame, or all of them; returns how many. Lengths, pad and checksums
 * follow from the other fields: bth.pad_bytes is not looked at. The UDP checksum is 0, as RoCEv2's usually
 * is; in IPv4 fragments are not allowed. */
size_t frame_write(const struct frame *f, uint8_t *at, size_t room);

#endif
