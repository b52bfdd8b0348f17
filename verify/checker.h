/*
 * A checker judges one thing in a stream of captured packets. It keeps state of bounded size, allocates only
 * when a flow or an interface is new, and says what it cannot judge: a capture may begin and end in the
 * middle, have one direction only, hold the first bytes of packets only, or be taken where marks and losses
 * of the rest of the way are not seen.
 */
#ifndef VERIFY_CHECKER_H
#define VERIFY_CHECKER_H

#include "verify/clocks.h"
#include "verify/findings.h"
#include "verify/flows.h"
#include "verify/verify_settings.h"
#include "lib/packets/capture.h"
#include "lib/packets/frame.h"

/* A packet and where it was seen. */
struct verify_packet {
    uint64_t number; /* as Wireshark shows it */
    int64_t time_ns; /* -1: it has none */
    uint32_t interface;
    enum capture_direction direction;
    bool sent_here;     /* its sender is the host of this interface: nothing was lost or marked before */
    bool received_here; /* its receiver is: nothing is lost or marked behind it on the network */
    const uint8_t *own; /* hardware address of the port; NULL: not known, or there are several */
    uint32_t bytes;     /* on the wire, without FCS */
    enum frame_icrc icrc;
    int priority;  /* 0 to 7; -1: not known */
    uint32_t flow; /* of a RoCEv2 packet; FLOW_NONE: too many */
    struct frame frame;
};

/* What shows that packets are missing from a capture which does not say so. */
struct verify_missing {
    uint64_t count;
    char first[200]; /* a sentence */
};

/* What checkers look up. */
struct verify_context {
    const struct verify_settings *settings; /* of the last packet's interface */
    const struct verify_settings *of_all;
    const struct flows *flows;
    const struct capture_reader *capture; /* its interfaces */
    const struct states *clocks;          /* struct clock, by interface */
    struct findings *findings;            /* of this checker */
    struct verify_missing *missing;       /* of all */
    int64_t rate_bps; /* of the last packet's interface: as set, else as the capture says; 0: not known */
    int64_t end_ns;   /* the latest time so far; after verify_turn_to of an interface whose times are not
                         judged to the end, the last one that was */
    int64_t all_end_ns;
    int64_t unit_ns; /* of the last packet's times; 0: they are as fine as here */
};

/* Is it said that the capture has all packets of its ports? By the settings or, at its end, by what it
 * counts. */
bool verify_is_whole(const struct verify_settings *of_all, const struct capture_reader *capture);

/* Nanoseconds from an earlier time to the packet; -1: one of them has none. */
static inline int64_t verify_since_ns(const struct verify_packet *p, int64_t earlier_ns)
{
    return p->time_ns >= 0 && earlier_ns >= 0 ? p->time_ns - earlier_ns : -1;
}

struct checker {
    enum capture_check check; /* its place in capture_check_names, and in checkers */
    const char *about;
    /* The kinds of findings that hold although the capture lost packets, ended by NULL; NULL: all. */
    const char *const *proved;
    /* Those that no single missing packet explains, which hold although nothing says that the capture has
     * all, likewise. */
    const char *const *sure;
    /* Would it have judged something by times, where packets have none? NULL: it would. */
    bool (*needs_times)(const void *state, const struct verify_context *c);
    size_t state_bytes; /* of its state, which begins as zeros */
    /* Takes each packet; `c` is the same for all packets of this checker. */
    void (*frame)(void *state, struct verify_context *c, const struct verify_packet *p);
    /* After the last. */
    void (*end)(void *state, struct verify_context *c);
    void (*free)(void *state);
};

/* All, ended by NULL. */
extern const struct checker *const checkers[];

/* Interfaces named NODE:PORT, as those of simulated runs, are ports of one node: the first interface of the
 * same node; VERIFY_NO_NODE: the interface has no name. It looks at all that come before. */
#define VERIFY_NO_NODE UINT32_MAX
uint32_t verify_node_of(const struct verify_context *c, uint32_t interface);
/* As if the last packet was one of this interface: its settings, its rate, its times. */
void verify_turn_to(struct verify_context *c, uint32_t interface);
/* Packets are missing from the capture, unless it is known to have all: "packet 7 acknowledges PSN 5, ...".
 */
void verify_note_missing(struct verify_context *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The time that these bytes take on the wire at the context's rate, with preamble, FCS and gap, and by how
 * much times of this unit may differ more than they did on the wire. */
int64_t verify_wire_ns(const struct verify_context *c, uint32_t bytes);

#endif
