/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A cable whose ends are two machines that are not always scheduled. Frames travel in frames of another link
 * (an interface, a bridge), each behind a header in which the ends tell each other how far they have come. An
 * end does not send further ahead of the other one than that one has room for: while the far end stands still
 * the cable does too, and nothing is lost between a pause and its effect, whatever the machines' schedulers
 * do.
 */
#ifndef VCX_CREDIT_H
#define VCX_CREDIT_H

#include "virtual-connectx/model/port/port.h"

#define VCX_CREDIT_BYTES 24u /* of the header */

/* What a header announces. A question asks whether the other end is there, and is answered. */
enum vcx_credit_kind {
    VCX_CREDIT_FRAME, /* it follows */
    VCX_CREDIT_STATE,
    VCX_CREDIT_QUESTION,
    VCX_CREDIT_ANSWER,
    VCX_CREDIT_BAD,
};

struct vcx_credit {
    uint32_t epoch;              /* of this end: another at each start, never 0 */
    uint32_t sent, acknowledged; /* bytes of frames, modulo 2^32 */
    uint32_t window;             /* the other end's */
    bool coupled;                /* the other end is there, or may be; without one frames go as they come */
    uint32_t expired;            /* the port's, when last seen */
    uint16_t question;           /* its number */
    bool heard;                  /* since stuck_ns was set */
    bool doubt;                  /* the question has to be answered before anything is sent */
    uint64_t stuck_ns, asked_ns; /* stuck: since when nothing may be sent; 0: it may */
    /* the other way */
    uint32_t peer_epoch, taken, told, told_window;
    uint16_t answer; /* to the question of this number */
    bool answers;
    uint64_t missing; /* gaps in what came */
    /* The port at this end is closed, as its owner says, and what was told of it; that at the other end is. A
     * port that is has no link, and neither has the one across the cable. */
    bool closed, told_closed, peer_closed;
    uint64_t told_closed_ns;
};

/* Bytes that the other end may be ahead of a port. They and a frame more fit into what is free of each
 * lossless memory whose priority is not paused. */
uint32_t vcx_credit_window(const struct vcx_port *port);

void vcx_credit_start(struct vcx_credit *credit, uint32_t epoch);
/* The cable takes a frame of the port now. After a pause that ended because nothing was heard any more,
 * the other end has to answer first. */
bool vcx_credit_open(struct vcx_credit *credit, const struct vcx_port *port, uint64_t now_ns);
/* What the other end has to be told now; VCX_CREDIT_BAD: nothing. */
enum vcx_credit_kind vcx_credit_due(struct vcx_credit *credit, uint32_t window, uint64_t now_ns);
/* The header of a frame of `bytes`, or of none. */
void vcx_credit_write(struct vcx_credit *credit, enum vcx_credit_kind kind, uint32_t bytes, uint32_t window,
                      uint8_t *header);
/* Takes a header and says what follows it in `bytes`. Call it when the frame is given to the port. */
enum vcx_credit_kind vcx_credit_take(struct vcx_credit *credit, const uint8_t *header, uint32_t bytes);

#endif
