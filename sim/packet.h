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

enum packet_kind {
    PACKET_DATA,
    PACKET_ACK,
    PACKET_NAK,
    PACKET_READ_REQUEST,
    PACKET_CNP,
    PACKET_PFC,
    PACKET_NOT_READY
};

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
    uint32_t psn;  /* low half; of an ACK or NAK: the next one expected; of a PFC frame: quanta */
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

/* A NAK of selective repeat says how far behind the expected packet the missing one is, which a real NIC
 * would say in a header of its own: in the bits of the PSN that no frame has, and in flags that no NAK has.
 */
#define PACKET_PSN_BITS 24
#define PACKET_PSN      UINT32_C(0xffffff)

/* gap: less than 8192. */
static inline void packet_set_gap(struct packet *nak, uint32_t gap)
{
    nak->psn = (nak->psn & PACKET_PSN) | gap << PACKET_PSN_BITS;
    nak->flags = (gap >> 8 & 3) | (gap >> 8 & 28) << 3; /* neither ECT, CE nor ECHO */
}

static inline uint32_t packet_gap(const struct packet *nak)
{
    uint32_t flags = nak->flags;
    return ((flags & 3) | (flags >> 3 & 28)) << 8 | nak->psn >> PACKET_PSN_BITS;
}

struct packet_list {
    uint32_t head, tail;
};

/* Packets that come out in the order in which they went in, each at its time. */
struct delay_line {
    int64_t first_ps;     /* when the first one comes out */
    uint32_t first, last; /* first NONE: empty */
};

#endif
