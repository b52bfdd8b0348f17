/* The PFC thresholds that the mlx5 driver derives from a receive buffer's size. */
#ifndef LIB_THRESHOLDS_H
#define LIB_THRESHOLDS_H

#include "lib/error.h"
#include <stdint.h>

/* Largest MTU of a ConnectX-4 Lx port, and the size of a buffer cell; both fit the thresholds printed by
 * remote-lab.net (March/April 2026 series): 114944 bytes, 1 m, MTU 4200 -> xoff 91392, xon 81408. */
#define THRESHOLDS_MLX5_MAX_MTU 9978
#define THRESHOLDS_MLX5_CELL    128

struct thresholds_port {
    int64_t cable_m;
    int64_t speed_Mbps; /* 0 or less: unknown, then 40 Gb/s as in the driver */
    int64_t mtu;
    int64_t max_mtu; /* of the interface */
    int64_t cell_bytes;
};

struct thresholds {
    int64_t xoff_bytes, xon_bytes; /* whole cells */
    int64_t headroom_bytes;        /* kept free above xoff for data in flight */
};

/* What the driver keeps free above xoff for data in flight: its allowance for the cable's delay, for how
 * long the peer takes to react at this speed, and for frames under way. Of the port's cable, speed and MTU
 * alone. */
int64_t thresholds_mlx5_headroom(const struct thresholds_port *port);
/* The bytes that arrive after the decision to send XOFF, at a peer that reacts at once: those on the wire in
 * both directions, a frame that the peer has begun, one of ours that the pause frame waits for, and the pause
 * frame itself. Frames with their gaps. */
int64_t thresholds_in_flight(int64_t rate_bps, int64_t delay_ps, int64_t frame_bytes, int64_t pause_bytes);

/* Thresholds of a lossless buffer of size_bytes. Fails if the driver would refuse it; the sentence names the
 * least size. */
int thresholds_mlx5(const struct thresholds_port *port, int64_t size_bytes, struct thresholds *out,
                    struct error *e);

#endif
