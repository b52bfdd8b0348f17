/* Packets, the lists that they wait in, and arrays that start at a cache line. */
#ifndef SIM_PACKET_H
#define SIM_PACKET_H

#include <stddef.h>
#include <stdint.h>

#define CACHE_LINE 64

/* new_bytes of memory that begin with the old_bytes of `old` (which may be NULL), the rest zero; `old` is
 * freed. NULL when memory ran out: `old` is still there. Free it with free. */
void *array_grow(void *old, size_t old_bytes, size_t new_bytes);

#define NONE UINT32_MAX

enum packet_kind { PACKET_DATA, PACKET_ACK, PACKET_NAK, PACKET_READ_REQUEST, PACKET_CNP, PACKET_PFC };

enum packet_flags {
    PACKET_FIRST = 1,     /* of its message */
    PACKET_LAST = 2,      /* of its message */
    PACKET_ECT = 4,       /* may be marked */
    PACKET_CE = 8,        /* was marked */
    PACKET_ECHO = 16,     /* an ACK that carries congestion back */
    PACKET_INLINE = 32,   /* needs no DMA read */
    PACKET_ASKS_ACK = 64, /* BTH's AckReq: answered with a separate ACK */
};

/* Half a cache line. Within a node packets are in the pool of its thread; on a link they are in its ring. */
struct packet {
    int64_t time_ps; /* on a link: when it arrives; in a delay line: when the next one comes out */
    union {
        int64_t sent_ps; /* on a link */
        struct {
            uint32_t next;    /* in its list or delay line */
            uint32_t ingress; /* the port through which it came into this node */
        };
    };
    uint32_t qp;
    /* Low half; of an ACK or NAK: the next one expected; of a PFC frame: quanta. Of a NAK of selective
     * repeat: the first one missing, in PACKET_PSN, and above it how many are. */
    uint32_t psn;
    uint32_t path; /* index of its next egress port in sim->paths */
    union {
        uint32_t all;
        struct {
            uint32_t bytes : 16; /* the frame, without gap */
            uint32_t flags : 8;  /* of a PFC frame: its priorities */
            uint32_t kind : 4, priority : 4;
        };
    };
};

#define PACKET_PSN      UINT32_C(0xffffff) /* the bits that a frame has */
#define PACKET_PSN_BITS 24

struct packet_list {
    uint32_t head, tail;
};

/* Packets that come out in the order in which they went in, each at its time. */
struct delay_line {
    int64_t first_ps;     /* when the first one comes out */
    uint32_t first, last; /* first NONE: empty */
};

#endif
