/* Frames from bytes that may be anything. */
#ifndef LIB_FRAME_READ_H
#define LIB_FRAME_READ_H

#include "lib/packets/frame.h"
#include <stddef.h>

enum frame_icrc {
    FRAME_ICRC_NONE, /* no RoCEv2 packet */
    FRAME_ICRC_RIGHT,
    FRAME_ICRC_WRONG,
    FRAME_ICRC_CUT, /* the packet was not captured to its end */
};

/* Take the first `bytes` of a frame apart; the headers are enough. What is neither RoCEv2, PFC nor pause, and what ends before its
 * headers do or contradicts itself, is FRAME_OTHER. */
void frame_read(const uint8_t *at, size_t bytes, struct frame *f);
/* Is the ICRC at the end of the packet that of its bytes? */
enum frame_icrc frame_read_icrc(const uint8_t *at, size_t bytes);

#endif
