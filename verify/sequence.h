/*
 * What follows from the PSNs of a reliable connection (InfiniBand Architecture Specification, 9.7): which
 * messages have ended, how many PSNs requests take, and which packets came before earlier ones.
 */
#ifndef VERIFY_SEQUENCE_H
#define VERIFY_SEQUENCE_H

#include "lib/roce/retransmission.h"
#include "verify/psn.h"

/* ---- messages that have ended at a PSN, for the MSN of answers (9.7.5.1.2 and 9.7.7.1) */

#define MESSAGES_KEPT 32

/* Zeros at first. The MSN before the capture's first message is not known: it is `base`, or up to `base_most`
 * more. MSNs and counts of messages wrap at 2^24. */
struct messages {
    uint32_t ends[MESSAGES_KEPT]; /* PSNs of the last packets of the latest messages, a ring */
    uint32_t count;               /* of messages that ended since the capture began */
    bool based;
    uint32_t base;
    int32_t base_most;
};

/* A message's last packet came, in order. */
void messages_end(struct messages *m, uint32_t psn);
/* Messages were missed: all that is known is of no use any more. */
void messages_forget(struct messages *m);
/* Messages that ended behind this PSN; -1: all that are kept, so there may be more, or the PSN is from before
 * the capture. */
int messages_ended_behind(const struct messages *m, uint32_t psn);
/* Can an answer of this PSN have this MSN? It counts the messages that ended up to its PSN, or up to the time
 * when it was sent. If not, *least and *most are what was expected. An answer of a PSN long before the latest
 * is not judged. */
bool messages_fit(struct messages *m, uint32_t psn, uint32_t msn, uint32_t *least, uint32_t *most);

/* ---- PSNs that requests take */

/*
 * How many PSNs the requests of a connection take: a read takes one for each packet of its answer
 * (IBTA 9.4.4), which the path's MTU says. That is learned from any packet that is followed by others of its
 * message; until then a read that is longer than any packet so far takes one, and up to `loose` more.
 */
struct span {
    uint32_t mtu;       /* 0: not known, */
    uint32_t most;      /* and no less than these bytes, which a packet had */
    uint32_t psn;       /* of the last read whose answer's packets are not known, */
    uint32_t length;    /* and its bytes; 0: there is none */
    bool reads, others; /* it has requests that are answered one by one, such as reads; it has others */
    bool cut;           /* a read's length was not captured: which PSNs follow is not known */
};

/* Learns from a packet of the connection. True: the MTU is known since this packet. */
bool span_learn(struct span *s, const struct frame_roce *roce);
/* PSNs that the read takes whose length was kept. */
uint32_t span_kept(const struct span *s);
/* PSNs that an answer of this length takes; 0: not known. */
uint32_t span_of_answer(const struct span *s, uint32_t length);
/* PSNs that a request takes; *loose: how many more it may take. */
uint32_t span_count(const struct span *s, const struct frame_roce *roce, uint32_t *loose);
/* The same, and the request is the newest. */
uint32_t span_of(struct span *s, const struct frame_roce *roce, uint32_t *loose);
/* Only reads, atomics, FLUSH and ATOMIC WRITE, whose PSNs are known: each of its answers can be told. */
bool span_answers(const struct span *s);

/* ---- packets that come before an earlier one, and may have been kept */

#define HELD_PSNS 4096 /* so far ahead */

/* Zeros at first. The bits of a PSN are cleared when the expected one passes it. */
struct held {
    early_bits *here,
        *ends; /* by the low bits of the PSN; the last packet of its message; NULL: none came yet */
    uint32_t count;
};

void held_add(struct held *h, uint32_t psn, int32_t ahead, bool ends);
bool held_has(const struct held *h, uint32_t psn);
/* The expected one passes it: was it kept, and did its message end with it? */
bool held_take(struct held *h, uint32_t psn, bool *ends);
void held_forget(struct held *h, uint32_t from, uint32_t count);

/* ---- a queue pair number that is used again */

#define RENEWAL_FAR     4096    /* PSNs: no requester has so many on their way */
#define RENEWAL_IDLE_NS 1000000 /* no connection begins sooner behind another one */

/* Requests that do not follow those before may be the first of a new connection: its PSNs begin anywhere, its
 * MSN at 0. Its first answers tell. */
struct renewal {
    bool far, behind; /* of what the connection before may have sent */
    bool idle;        /* nothing was sent or answered for a time before it */
    bool ahead;       /* a packet behind `next` came */
    uint32_t first, next;
    uint32_t loose;
    struct messages messages; /* that ended since it began */
    uint64_t number, ahead_number;
    int64_t time_ns, ahead_ns;
};
enum renewed { RENEWED_UNKNOWN, RENEWED_YES, RENEWED_NO };

/* May a packet of this PSN be of another connection? `behind`: the one so far has sent beyond it; `first`:
 * its first PSN. Where that has reads it may ask again for all since its first, and their answers count as
 * they did. */
bool renewal_may_begin(const struct span *s, uint32_t psn, bool behind, uint32_t first);
/* Takes its first packet, or one more. `taken`, `loose`: PSNs of the request. */
void renewal_take(struct renewal *n, const struct frame_roce *roce, uint32_t taken, uint32_t loose);
/* What an answer says. `msn`: of the latest answer before; -1: there was none. */
enum renewed renewal_decide(const struct renewal *n, const struct frame_roce *answer, int32_t msn);

#endif
