/*
 * The flows of a capture: packets at one interface from one address to a queue pair of another. What a queue
 * pair sends is one flow, what it receives another, its partner. Packets name the destination's queue pair
 * only, so partners are found: by the UDP source port, which NICs make of both queue pairs alike, and by the
 * PSNs that an answer names; where that leaves a choice there is none. The number of flows is bounded; flows
 * beyond it are NONE.
 */
#ifndef VERIFY_FLOWS_H
#define VERIFY_FLOWS_H

#include "lib/packets/capture_read.h"
#include "lib/packets/frame.h"

#define FLOW_NONE  UINT32_MAX
#define FLOWS_MOST 65536

struct flow {
    uint8_t source[16], destination[16];
    uint32_t qpn, interface;
    uint32_t hash;
    uint32_t pair;                /* index of all flows between the same addresses */
    uint32_t next_in_pair;        /* FLOW_NONE: the last */
    uint32_t partner;             /* FLOW_NONE: not known */
    uint16_t source_port;         /* of its first packet, or where PSNs last began anew */
    bool requests;                /* it has some, */
    bool reads;                   /* reads, each of as many PSNs as its answer has packets */
    uint32_t first_psn, last_psn; /* of these; `first_psn` is not long before the last */
    uint32_t tries;               /* to find its partner */
    uint64_t last_at;             /* its last packet, as counted here */
    uint64_t anew_at; /* the request that may be the first of a new connection; 0: there is none */
};

/* All flows of an interface from one address to another. */
struct flow_pair {
    uint32_t first; /* flow */
    uint32_t hash;
    uint32_t reverse; /* pair; FLOW_NONE: not seen */
    uint32_t count;   /* of its flows */
};

struct flows {
    struct flow *flows;
    struct flow_pair *pairs;
    uint32_t count, pair_count, room;
    uint32_t *table, *pair_table; /* open addressing; index + 1, 0: free */
    uint32_t table_size;          /* of each, a power of two */
    uint64_t packets;
    uint64_t left_out; /* packets of flows beyond the limit */
};

int flows_init(struct flows *t, struct error *e);
void flows_free(struct flows *t);
/* The flow of a RoCEv2 packet, a new one if need be, and what can be learned from the packet about partners.
 * FLOW_NONE: there are too many. */
uint32_t flows_of(struct flows *t, uint32_t interface, const struct frame_roce *roce);

/* An array of states by flow or interface that grows with them, zeros at first. */
struct states {
    void *items;
    size_t count;
};
/* State i of `size` bytes, and room for more: `count` is of states, some of which nothing has. NULL: out of
 * memory. Earlier pointers are not valid any more. */
void *states_at(struct states *s, uint32_t i, size_t size);
static inline void *states_have(const struct states *s, uint32_t i, size_t size)
{
    return i < s->count ? (char *)s->items + i * size : NULL;
}

/* Count a packet of a flow whose partner is not known: `untied` has a uint64_t by flow. */
void flows_note_untied(struct states *untied, uint32_t flow);
/* How many there are of flows whose partner was not found later either, although something goes the other
 * way; *alone: and of flows where nothing does. */
uint64_t flows_count_untied(const struct flows *t, const struct states *untied, uint64_t *alone);

/* ---- flows that are the same but for the interface: a packet's way through the ports of a capture */

/* Zeros at first. */
struct same_flows {
    uint32_t *first; /* of each, open addressing, index + 1 */
    uint32_t table_size, used;
    struct states chains; /* by flow: the first of all that are the same, and the next one */
};

/* The first of all flows that are the same as this one; itself if it is new, or there is no memory. */
uint32_t same_flows_first(struct same_flows *s, const struct flows *flows, uint32_t flow);
/* The next flow that is the same as a first one, or as one that this gave. FLOW_NONE: there is none. */
uint32_t same_flows_next(const struct same_flows *s, uint32_t flow);
void same_flows_free(struct same_flows *s);
/* Was any flow seen at several interfaces? Then its packets are in the capture more than once. */
bool flows_seen_again(const struct flows *t);

#endif
