/* The two ends of a reliable connection as the checker of go-back-N follows them. */
#ifndef VERIFY_GO_BACK_N_H
#define VERIFY_GO_BACK_N_H

#include "verify/checker.h"
#include "verify/go_back_n/messages.h"

/*
 * How many PSNs the requests of a connection take: a read takes one for each packet of its answer (IBTA 9.4.4), which the path's MTU says.
 * That is learned from any packet that is followed by others of its message; until then a read takes one, and up to `loose` more.
 */
struct span {
    uint32_t mtu;       /* 0: not known */
    uint32_t psn;       /* of the last read whose answer's packets are not known, */
    uint32_t length;    /* and its bytes; 0: there is none */
    bool reads, others; /* it has requests that are answered one by one, such as reads; it has others */
};

/* A requester, seen at its own port: every request it sends, every answer that it gets. */
struct requester {
    bool begun;
    bool answered;           /* `unacked` is known */
    bool gap;                /* an answer behind `unacked` came since `unacked` was expected */
    bool waited;             /* it has gone back since the last progress */
    bool nak_spare;          /* a NAK came beside the one that it was asked with */
    bool nak;                /* it was asked to go back since it last went back */
    bool notified;           /* it got a CNP: its rate may be low */
    uint32_t next;           /* the first PSN that was never sent */
    uint32_t cursor;         /* the PSN that follows the last one sent */
    uint32_t loose;          /* a read has taken up to so many PSNs more */
    uint32_t nak_psn;        /* that the last NAK asked for */
    uint32_t gap_answers;    /* that came since */
    uint32_t unacked;        /* the first PSN that is not acknowledged */
    uint32_t unacked_before; /* what it was a while ago: the NIC may not have looked at later answers */
    uint32_t nak_new;        /* new packets since it was asked */
    uint64_t answer_number;  /* the packet that acknowledged last */
    uint64_t nak_number, gap_number, sent_number;
    int64_t before_ns;   /* since when `unacked_before` holds */
    int64_t progress_ns; /* since when `unacked` waits for its answer */
    int64_t nak_ns, answer_ns, gap_ns;
    struct messages messages;
    struct span span;
};

#define RESPONDER_AGAIN 8

/* A responder, seen at its own port: every request that arrives, every answer that it sends. It may have lost a packet that arrived, so what
 * it expects is known from two sides. */
struct responder {
    bool begun;
    bool answers;   /* `answer_next` is known */
    bool unasked;   /* it answered what was not asked for */
    bool ahead;     /* a packet behind `most` arrived since `most` was expected */
    bool nak;       /* it asked for `nak_psn`, which has not arrived since */
    uint32_t least; /* it answered all before */
    uint32_t most;  /* all before arrived */
    uint32_t loose;
    uint32_t nak_psn;
    uint32_t answer_next; /* PSN of the next answer of a read or an atomic */
    uint32_t
        again[RESPONDER_AGAIN]; /* PSNs from which answers were asked for again, the latest ones, a ring */
    uint32_t again_count;
    uint64_t nak_number, ahead_number, answer_number, response_number;
    int64_t ahead_ns;
    struct messages messages;
    struct span span;
};

struct go_back_n {
    struct states requesters, responders; /* by the requests' flow */
    bool pauses;                          /* PFC frames were seen: waiting may have other reasons */
    uint64_t sent, received, back, back_nak, back_gap, back_timeout, back_unknown;
    uint64_t acks, naks, responses, untied, elsewhere;
};

void requester_sent(struct go_back_n *g, struct requester *r, struct verify_context *c,
                    const struct verify_packet *p);
void requester_answered(struct go_back_n *g, struct requester *r, struct verify_context *c,
                        const struct verify_packet *p);
void responder_received(struct go_back_n *g, struct responder *r, struct verify_context *c,
                        const struct verify_packet *p);
void responder_answers(struct go_back_n *g, struct responder *r, struct verify_context *c,
                       const struct verify_packet *p);

/* When the capture has ended: did a time-out that was due not come? */
void requester_end(const struct go_back_n *g, const struct requester *r, struct verify_context *c);

/* Learns from a packet of the connection. True: the MTU is known since this packet. */
bool span_learn(struct span *s, const struct frame_roce *roce);
/* PSNs that a request takes; *loose: how many more it may take. */
uint32_t span_of(struct span *s, const struct frame_roce *roce, uint32_t *loose);
/* PSNs that the read takes whose length was kept. */
uint32_t span_kept(const struct span *s);
/* Only reads, atomics, FLUSH and ATOMIC WRITE, whose PSNs are known: each of its answers can be told. */
static inline bool span_answers(const struct span *s)
{
    return s->reads && !s->others && (s->mtu || !s->length);
}

#endif
