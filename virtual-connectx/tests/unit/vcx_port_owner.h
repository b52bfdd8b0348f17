/* An owner of ports for tests: a clock that the test sets, the frames that a port sent, and a cost of each
 * delivered frame. */
#ifndef VCX_TEST_PORT_OWNER_H
#define VCX_TEST_PORT_OWNER_H

#include "virtual-connectx/tests/unit/vcx_unit.h"
#include "virtual-connectx/model/port/port.h"

struct sent {
    uint32_t frames, bytes, pauses;
    uint8_t last[64]; /* the begin of the last frame */
};

struct owner {
    struct vcx_port port;
    uint64_t now_ns, deliver_ns;
    struct sent sent, of_priority[8];
    uint32_t delivered;
    struct vcx_port *peer; /* gets what the port sent */
};

static inline uint64_t owner_now(void *owner)
{
    return ((struct owner *)owner)->now_ns;
}

static inline void note_sent(struct sent *sent, const struct vcx_frame *frame)
{
    sent->frames++;
    sent->bytes += frame->length;
    memcpy(sent->last, frame->data, frame->length < 64 ? frame->length : 64);
}

static inline void owner_transmit(void *owner, struct vcx_port *port, struct vcx_frame *frame)
{
    struct owner *o = owner;
    bool pause = vcx_be16(frame->data + 12) == 0x8808;
    (void)port;
    note_sent(&o->sent, frame);
    o->sent.pauses += pause;
    if (!pause)
        note_sent(&o->of_priority[frame->priority], frame);
    if (o->peer)
        vcx_port_receive(o->peer, frame);
    else
        vcx_release(frame);
}

static inline uint64_t owner_deliver(void *owner, struct vcx_port *port, struct vcx_frame *frame)
{
    struct owner *o = owner;
    (void)port;
    o->delivered++;
    vcx_release(frame);
    return o->deliver_ns;
}

static const struct vcx_port_ops owner_ops = {
    .now_ns = owner_now, .transmit = owner_transmit, .deliver = owner_deliver};

static inline void owner_open(struct owner *owner, uint64_t line_bps)
{
    memset(owner, 0, sizeof *owner);
    owner->now_ns = 1000000000;
    vcx_port_start(&owner->port, &owner_ops, owner, line_bps, line_bps);
}

/* A frame to another station, tagged with a priority. */
static inline struct vcx_frame *tagged(uint32_t bytes, uint8_t priority)
{
    static const uint8_t header[18] = {2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x81, 0, 0, 1, 0x88, 0xb5};
    struct vcx_frame *frame = vcx_frame_new(bytes);
    assert_non_null(frame);
    frame->length = bytes;
    memcpy(frame->data, header, bytes < sizeof header ? bytes : sizeof header);
    if (bytes > 14)
        frame->data[14] = (uint8_t)(priority << 5);
    return frame;
}

/* A tagged IPv4 packet with these ECN bits and DSCP. */
static inline struct vcx_frame *packet(uint32_t bytes, uint8_t priority, uint8_t dscp, uint8_t ecn)
{
    struct vcx_frame *frame = tagged(bytes, priority);
    vcx_put16(frame->data + 16, 0x0800);
    frame->data[18] = 0x45;
    frame->data[19] = (uint8_t)(dscp << 2 | ecn);
    vcx_put16(frame->data + 20, (uint16_t)(bytes - 18));
    return frame;
}

/* PFC with quanta for the priorities of `enable`. */
static inline struct vcx_frame *pfc(uint16_t enable, uint16_t quanta)
{
    static const uint8_t header[16] = {1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 7, 0x88, 0x08, 1, 1};
    struct vcx_frame *frame = vcx_frame_new(60);
    assert_non_null(frame);
    frame->length = 60;
    memcpy(frame->data, header, sizeof header);
    vcx_put16(frame->data + 16, enable);
    for (int i = 0; i < 8; i++)
        vcx_put16(frame->data + 18 + 2 * i, quanta);
    return frame;
}

/* 802.3x */
static inline struct vcx_frame *pause_all(uint16_t quanta)
{
    struct vcx_frame *frame = pfc(quanta, 0);
    vcx_put16(frame->data + 14, 1);
    return frame;
}

/* Polls every `step_ns` for `ns`. */
static inline void pass(struct owner *owner, uint64_t ns, uint64_t step_ns)
{
    for (uint64_t end = owner->now_ns + ns; owner->now_ns < end;) {
        owner->now_ns += step_ns;
        while (vcx_port_poll(&owner->port))
            continue;
    }
}

#endif
