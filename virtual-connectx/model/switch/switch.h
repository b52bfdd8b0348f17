/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A switch: ports joined by a table of learned addresses and a packet buffer that they share. A frame is held
 * in the buffer, for the port and priority by which it came in, until it is sent. Of a lossless priority
 * (PFC) a threshold pauses the one that sends to the port, and what comes after that goes into headroom; of
 * another, frames above the threshold are discarded.
 */
#ifndef VCX_SWITCH_H
#define VCX_SWITCH_H

#include "virtual-connectx/model/port/port.h"
#include "virtual-connectx/model/words.h"

#define VCX_SWITCH_PORTS     32u
#define VCX_SWITCH_ADDRESSES 1024u /* a power of two */
#define VCX_NO_PORT          0xff

struct vcx_switch_front;
struct vcx_switch_ops {
    uint64_t (*now_ns)(struct vcx_switch_front *front);
    /* A port's wire takes a frame now. NULL: always. */
    bool (*ready)(struct vcx_switch_front *front, uint8_t port);
    /* Puts a frame onto a port's wire; owns it. */
    void (*transmit)(struct vcx_switch_front *front, uint8_t port, struct vcx_frame *frame);
};

struct vcx_address {
    bool used;
    uint8_t mac[6];
    uint16_t vlan;
    uint8_t port;
};

/* A priority of a port that the other end holds for too long. */
struct vcx_watch {
    uint64_t since_ns; /* of the hold, or in a storm of its end; 0: neither */
    bool storm;        /* its frames are dropped */
};

struct vcx_switch_counters {
    uint64_t learned, moved, table_full;
    uint64_t flooded;  /* frames to unknown or group addresses */
    uint64_t filtered; /* to where they came from, or to reserved addresses */
    uint64_t storms, restores, storm_discards;
};

struct vcx_switch {
    struct vcx_switch_front *front;
    const struct vcx_switch_ops *ops;
    struct vcx_port *ports;
    uint8_t count;
    struct vcx_address addresses[VCX_SWITCH_ADDRESSES];
    struct vcx_switch_counters counters;
    bool forwarded; /* in this poll, maybe to a port that was polled before */
    /* the buffer: thresholds are alpha_eighths / 8 of what is free of shared_bytes, or threshold_bytes if
     * alpha_eighths is 0 */
    uint32_t shared_bytes, headroom_bytes, hysteresis_bytes, alpha_eighths, threshold_bytes;
    uint32_t watchdog_us, restore_us; /* nominal; watchdog_us 0: none */
    struct vcx_watch watch[VCX_SWITCH_PORTS][VCX_PRIORITIES];
};

/* A switch of 1 to VCX_SWITCH_PORTS ports of line_bps. -1: memory ran out, or a number is out of range.
 * Its clock and thread are one front's; no call is made from another. */
int vcx_switch_start(struct vcx_switch *sw, uint8_t ports, uint64_t line_bps, struct vcx_switch_front *front,
                     const struct vcx_switch_ops *ops);
void vcx_switch_stop(struct vcx_switch *sw);
/* A frame from a port's wire; owns it. */
void vcx_switch_receive(struct vcx_switch *sw, uint8_t port, struct vcx_frame *frame);
/* Does a bounded amount of what is to be done. true: there may be more. */
bool vcx_switch_poll(struct vcx_switch *sw);
void vcx_switch_carrier(struct vcx_switch *sw, uint8_t port, bool up);

/* A setting as a line "[PORT.]NAME [INDEX] VALUE": of the switch, of all its ports, or of one port
 * (settings.c has the names). false: what is wrong is in `error`. */
bool vcx_switch_set(struct vcx_switch *sw, const char *line, struct vcx_sentence *error);
/* All counters, each by a call with a line "NAME VALUE". */
void vcx_switch_show(struct vcx_switch *sw, void (*line)(void *to, const char *text), void *to);

/* Bytes of all frames in its buffer. */
uint64_t vcx_shared_held(const struct vcx_switch *sw);

#endif
