/* The bytes of a frame: headers, a payload of zeros, pad and ICRC; without FCS. */
#ifndef LIB_FRAME_WRITE_H
#define LIB_FRAME_WRITE_H

#include "lib/packets/frame.h"
#include <stddef.h>

/* The longest payload that a frame can have: the IP header counts 16 bits. */
#define FRAME_MOST_PAYLOAD_BYTES 65000

/* Bytes of a RoCEv2, PFC or pause frame; 0 for others. The payload is at most FRAME_MOST_PAYLOAD_BYTES. */
size_t frame_length(const struct frame *f);
/* Write the first `room` bytes of the frame, or all of them; returns how many. Lengths, pad and checksums follow from the other fields:
 * bth.pad_bytes is not looked at. The UDP checksum is 0, as RoCEv2's usually is; in IPv4 fragments are not allowed. */
size_t frame_write(const struct frame *f, uint8_t *at, size_t room);

#endif
