/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A port: what the driver set, what it counted, frames on their way out and in. It knows no device: a
 * function of the virtual ConnectX has one, a switch has several.
 */
#ifndef VCX_PORT_H
#define VCX_PORT_H

#include "virtual-connectx/model/port/frames.h"

#define VCX_PRIORITIES      8
#define VCX_RECEIVE_BUFFERS 8
#define VCX_CELL_BYTES      128u    /* unit of the registers' buffer sizes */
#define VCX_BUFFER_BYTES    262016u /* of all receive buffers */
#define VCX_MOST_MTU        9978u   /* with the Ethernet header */
#define VCX_XOFF_QUANTA     0xffff

enum vcx_trust { VCX_TRUST_PCP = 1, VCX_TRUST_DSCP = 2 };

struct vcx_receive_buffer {
    uint32_t bytes, xoff_bytes, xon_bytes;
    bool lossy;
};

struct vcx_traffic_class {
    uint8_t group, share_percent; /* of the group; the highest group with frames goes first */
    uint64_t most_bps;            /* nominal; 0: no limit */
};

/* Set by the driver's registers (a function) or by the configuration (a switch). */
struct vcx_port_settings {
    bool admin_up;
    uint16_t mtu;
    bool pause_tx, pause_rx; /* 802.3x pause: holds every priority */
    uint8_t pfc_tx, pfc_rx;  /* bit n: priority n */
    enum vcx_trust trust;
    uint8_t priority_of_dscp[64];
    uint8_t buffer_of_priority[VCX_PRIORITIES];
    struct vcx_receive_buffer buffers[VCX_RECEIVE_BUFFERS];
    bool buffers_set; /* by the driver; until then the firmware divides them by itself */
    uint8_t class_of_priority[VCX_PRIORITIES];
    struct vcx_traffic_class classes[VCX_PRIORITIES];
    uint16_t minor_stall_ms, critical_stall_ms; /* 0: pauses are sent for as long as needed */
};

struct vcx_direction_counters {
    uint64_t frames, bytes, multicast, broadcast; /* bytes with FCS */
    uint64_t pause;                               /* 802.3x frames */
    uint64_t of_size[10]; /* 64, 65-127, 128-255, 256-511, 512-1023, 1024-1518, 1519-2047, 2048-4095,
                             4096-8191, 8192-10239 */
};

struct vcx_priority_counters {
    uint64_t rx_frames, rx_bytes, tx_frames, tx_bytes;
    uint64_t rx_pause, tx_pause, rx_pause_us, tx_pause_us, rx_pause_transitions;
    uint64_t rx_discards; /* no room in the receive buffer */
    uint64_t rx_marked;   /* with CE */
    uint64_t tx_marked;   /* by this port's marking */
    uint64_t tx_discards; /* no room in the send queue, or no link */
};

struct vcx_port_counters {
    struct vcx_direction_counters rx, tx;
    struct vcx_priority_counters priority[VCX_PRIORITIES];
    uint64_t rx_pause_us, rx_pause_transitions, tx_pause_us; /* 802.3x */
    uint64_t rx_passed_threshold;                            /* a receive buffer became nearly full */
    uint64_t rx_fcs_errors, rx_too_long, rx_too_short, tx_discards;
    uint64_t minor_stalls, critical_stalls, link_downs;
};

/* ---- the port itself */

#define VCX_PAUSE_ALL VCX_PRIORITIES /* the place of 802.3x pause behind those of the priorities */
#define VCX_PAUSES    (VCX_PRIORITIES + 1)

/* How full the memory is into which a priority's frames are received, in bytes. */
struct vcx_fill {
    uint64_t held, size, xoff, xon;
    bool lossy;
};

struct vcx_port;
/* What a port asks of its owner. */
struct vcx_port_ops {
    uint64_t (*now_ns)(void *owner);
    /* The wire takes a frame now. NULL: always. Pauses do not wait for it. */
    bool (*ready)(void *owner, struct vcx_port *port);
    /* Puts a frame on the wire; owns it. */
    void (*transmit)(void *owner, struct vcx_port *port, struct vcx_frame *frame);
    /* Takes a frame out of the receive buffer; owns it. Returns how long that took, in ns. */
    uint64_t (*deliver)(void *owner, struct vcx_port *port, struct vcx_frame *frame);
    /* Takes a frame that was to be sent and is dropped; owns it. NULL: it is released. */
    void (*drop)(void *owner, struct vcx_port *port, struct vcx_frame *frame);
    /* The memory of a priority. NULL: the receive buffers of the settings, from which a delivered frame is
     * gone; else the owner calls vcx_port_release when it is. */
    void (*fill)(void *owner, const struct vcx_port *port, uint8_t priority, struct vcx_fill *fill);
};

/* Congestion marks at the send queue: none up to min_bytes, from max_bytes on each frame, between them a
 * probability that grows to `percent`. max_bytes 0: none. */
struct vcx_marking {
    uint32_t min_bytes, max_bytes;
    uint8_t percent;
};

/* The other end holds this one's frames. */
struct vcx_hold {
    bool on, lifted;                       /* lifted: by the other end */
    uint64_t until_ns, since_ns, total_ns; /* since: what is before it is in the total */
};

/* This end holds the other one's. */
struct vcx_xoff {
    bool on, minor, critical; /* critical: given up, until the memory is below xon again */
    uint64_t began_ns, since_ns, refresh_ns, total_ns;
    uint64_t held_bytes; /* of the priority when it began */
};

/* A line that is given out in time: free from free_ns on. */
struct vcx_line {
    uint64_t free_ns, rest; /* rest: of the last division */
};

struct vcx_port {
    struct vcx_port_settings settings;
    struct vcx_port_counters counters;
    const struct vcx_port_ops *ops;
    void *owner;
    uint8_t number;
    uint8_t mac[6]; /* source of pause frames */
    uint64_t nominal_bps, line_bps;
    uint32_t queue_bytes; /* the limit of each priority's send queue */
    uint32_t cable_ns;    /* how long a frame is on its way to here */
    bool carrier, was_up;
    bool flapping; /* a fault keeps the link down */
    uint8_t
        storming; /* priorities of the other end that a fault holds, however much room there is; bit n: n */
    struct vcx_marking marking[VCX_PRIORITIES];
    uint64_t random;
    /* egress */
    struct vcx_frames sending[VCX_PRIORITIES];
    uint64_t rdma_bytes[VCX_PRIORITIES];         /* of these */
    struct vcx_line line, limit[VCX_PRIORITIES]; /* of the port and of each class */
    uint64_t served[VCX_PRIORITIES];             /* of each class: bits over share */
    uint64_t group_served[16];
    uint8_t sent_last;
    struct vcx_hold hold[VCX_PAUSES];
    uint32_t expired; /* holds that ended without being lifted */
    /* ingress: frames of each priority, and the port's own to itself */
    struct vcx_frames arriving, received[VCX_PRIORITIES + 1];
    uint64_t held[VCX_PRIORITIES];
    uint64_t drained_ns;
    uint8_t delivered_last;
    struct vcx_xoff xoff[VCX_PAUSES];
};

/* The settings as after power-on: 802.3x pause in both directions, priorities by tag, each a class of its
 * own, strict. */
void vcx_port_defaults(struct vcx_port_settings *settings);
/* The firmware's own division of the receive buffers for the settings' flow control, as long as the driver
 * has set none (buffers_set). Call it after each change of pause or PFC. */
void vcx_port_divide_buffers(struct vcx_port_settings *settings);

/* A zeroed port comes into being, with the link's carrier. `line_bps` 0: the nominal rate. */
void vcx_port_start(struct vcx_port *port, const struct vcx_port_ops *ops, void *owner, uint64_t nominal_bps,
                    uint64_t line_bps);
/* What the line carries from now on. */
void vcx_port_set_line(struct vcx_port *port, uint64_t line_bps);
/* Drops all frames. */
void vcx_port_stop(struct vcx_port *port);
/* By the driver's will, or a fault. */
bool vcx_port_closed(const struct vcx_port *port);
/* It has carrier and is not closed. */
bool vcx_port_up(const struct vcx_port *port);
/* The link went down: frames and pauses of both directions are gone. */
void vcx_port_went_down(struct vcx_port *port);
/* A bounded number of frames in both directions, pauses, durations. true: there may be more. */
bool vcx_port_poll(struct vcx_port *port);

/* The priority of a frame by the port's trust, 0 if it has neither tag nor DSCP that counts. */
uint8_t vcx_port_priority(const struct vcx_port *port, const struct vcx_frame *frame);
/* Queues a frame, or drops and counts it; owns it. */
void vcx_port_send(struct vcx_port *port, struct vcx_frame *frame, uint8_t priority);
/* Drops what waits to be sent of a priority. */
void vcx_port_flush(struct vcx_port *port, uint8_t priority);
/* Bytes that a priority's send queue has room for. */
uint32_t vcx_port_room(const struct vcx_port *port, uint8_t priority);
/* A frame from the wire; owns it. Pauses take effect at once, the rest is delivered by polls. May transmit
 * a pause. */
void vcx_port_receive(struct vcx_port *port, struct vcx_frame *frame);
/* Bytes that vcx_port_loop has room for. */
uint32_t vcx_port_loop_room(const struct vcx_port *port);
/* A frame of the port to itself: it goes neither over the wire nor through the counters. Owns it. */
void vcx_port_loop(struct vcx_port *port, struct vcx_frame *frame);
/* A frame of `bytes` that `fill`'s owner held is gone. */
void vcx_port_release(struct vcx_port *port, uint8_t priority, uint32_t bytes);

/* Times of the nominal line, stretched to the line's. */
uint64_t vcx_port_stretch(const struct vcx_port *port, uint64_t ns);

/* The port sends pauses: of a priority, or VCX_PAUSE_ALL. */
bool vcx_port_tells(const struct vcx_port *port, int pause);
/* How full the receive memory of a priority is. */
void vcx_ingress_fill(const struct vcx_port *port, uint8_t priority, struct vcx_fill *fill);

#endif
