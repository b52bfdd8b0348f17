/*
 * What the two ends of a connection and the checker of go-back-N share: the rules that hold, and what is
 * counted. A requester is judged at its own port, a responder at its own: neither looks at the other's state.
 */
#ifndef VERIFY_GO_BACK_N_H
#define VERIFY_GO_BACK_N_H

#include "verify/checker.h"
#include "verify/sequence.h"

#define NAK_NS 1000000 /* within this time a requester goes back for a NAK */
#define EARLY  0.9     /* of a set time: timers have a grain, and the answer's way is within it */

/* kinds of findings of both ends */
#define KIND_ACK "ACK"
#define KIND_MSN "MSN"

/* The requests of a connection at one port. A capture may have one direction only: without their answers what
 * follows from these is not known. */
struct requests {
    uint64_t packets;
    int64_t begun_ns;
    bool answered; /* any answer to them is in the capture */
};

/* One more. */
void requests_add(struct requests *r, const struct verify_packet *p);
/* An answer; *longest_ns: that a connection waited for its first one. */
void requests_answer(struct requests *r, const struct verify_packet *p, int64_t *longest_ns);
/* How many have no answer in the capture, which is not only that it ended too early. */
uint64_t requests_unanswered(const struct requests *r, const struct verify_context *c, int64_t longest_ns);

/* Of answers, and of packets whose headers are cut: each may be seen at both ends of its connection. */
enum seen { SEEN_ACK, SEEN_NAK, SEEN_RESPONSE, SEEN_CUT, SEEN_CUT_ANSWER, SEEN_CUT_READ, SEEN };

/* What is counted of requesters that go back, and what the capture showed of the rules. */
struct tally {
    uint64_t back, back_nak, back_gap, back_lost, back_timeout, back_unset, back_unknown, jumped;
    uint64_t untimed;            /* what would have been judged by its time, and has none */
    char shown[RECOVERIES][200]; /* what the capture showed first that NICs do so only; "": nothing */
};

struct go_back_n {
    struct states requesters, responders; /* by the requests' flow */
    struct states seen;                   /* struct seen_packets, by the packets' own flow */
    struct same_flows same;               /* those of packets so far, and of the first `same_count` */
    uint32_t same_count;
    struct states
        ends; /* uint8_t, by the first flow that is the same: at whose ports its packets were seen */
    struct states untied; /* uint64_t, by the flow of the answers: those of no known request */
    bool pauses;          /* PFC frames were seen, or links were down: waiting may have other reasons */
    struct tally t;
    uint64_t sent, received, elsewhere; /* packets */
    uint64_t renewed[2];          /* queue pair numbers used again, as requesters and responders saw it */
    uint64_t renewals_open[2];    /* that use a number again or not, which no answer tells, */
    uint64_t renewal_open_number; /* the first at this packet */
    int64_t longest_ns[2];        /* that a requester, a responder had no answer */
    /* of requesters */
    bool lost_between;      /* packets, on their way between two ports of the capture */
    uint64_t skipped_asked; /* times that PSNs were left out for which the other end's port has a NAK */
    uint64_t holes;         /* that left out a PSN, of which no answer has told yet */
    uint64_t gone_silent;   /* that may have given up */
    /* of responders */
    struct findings twice; /* NAKs, which are right if it is shown later that NICs repeat selectively */
    uint64_t no_naks, naks_again, naks_open, naks_late;
};

/* One more of the packet's flow, which this port sent or got. */
void go_back_n_note_seen(struct go_back_n *g, const struct verify_packet *p, bool sent, enum seen what);
/* Were the packets of this flow captured both where they are sent and where they arrive? */
bool go_back_n_has_both_ends(struct go_back_n *g, const struct verify_context *c, uint32_t flow);
/* One of either end may be a new connection, from this packet on: no answer tells. */
void go_back_n_note_open_renewal(struct go_back_n *g, int end, uint64_t number);
/* Does the NIC do it, or may it be that it does? */
bool recovery_is_possible(const struct verify_context *c, enum verify_recovery which);
/* Is it said, or was it shown, that single packets are sent again? */
bool recovery_is_selective(const struct go_back_n *g, const struct verify_context *c);
/* The packet shows that it does: kept once, unless it was said. */
void go_back_n_note_rule(struct go_back_n *g, const struct verify_context *c, enum verify_recovery which,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

/* ---- the requesters of a capture: requests that leave at their port, and answers that come */

/* A request leaves. */
void requesters_sent(struct go_back_n *g, struct verify_context *c, const struct verify_packet *p);
/* An ACK, a NAK or a response to requests of the flow `of`. */
void requesters_answered(struct go_back_n *g, uint32_t of, struct verify_context *c,
                         const struct verify_packet *p);
/* The sender of this flow got a CNP. */
void requesters_notified(struct go_back_n *g, uint32_t of);
/* A request is seen elsewhere on its way, that its sender's port may not have. */
void requesters_look_for_hole(struct go_back_n *g, struct verify_context *c, const struct verify_packet *p);
/* The capture has ended. */
void requesters_end(struct go_back_n *g, struct verify_context *c);
/* Packets sent to which no answer is in the capture. */
uint64_t requesters_unanswered(const struct go_back_n *g, const struct verify_context *c);
void requesters_free(struct go_back_n *g);

/* ---- its responders: requests that arrive at their port, and answers that leave */

/* A request arrives. */
void responders_received(struct go_back_n *g, struct verify_context *c, const struct verify_packet *p);
/* An ACK, a NAK or a response to requests of the flow `of`. */
void responders_answer(struct go_back_n *g, uint32_t of, struct verify_context *c,
                       const struct verify_packet *p);
/* Does it still wait for this PSN, or one before it, at its own port? `of` is the flow of the requests at
 * any. */
bool responders_lack(struct go_back_n *g, const struct verify_context *c, uint32_t of, uint32_t psn);
/* Did it ask for this PSN, of late, by a NAK at its own port? 1: yes; 0: no; -1: it is not in the capture.
 * `of` is the flow of the requests at any port. */
int responders_have_asked(struct go_back_n *g, const struct verify_context *c, uint32_t of, uint32_t psn);
/* The capture has ended. */
void responders_end(const struct go_back_n *g, struct verify_context *c);
/* Packets received that nothing in the capture answers. */
uint64_t responders_unanswered(const struct go_back_n *g, const struct verify_context *c);
void responders_free(struct go_back_n *g);

#endif
