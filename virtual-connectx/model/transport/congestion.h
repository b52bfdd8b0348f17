/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * DCQCN: the notification point of a receiver, and the reaction point of each queue pair (Zhu et al.,
 * "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, with mlx5's parameters). Rates and
 * times are those of the nominal line; a slower line stretches them. The equations are those of the simulator
 * (sim/congestion/dcqcn.c), in integers.
 */
#ifndef VCX_CONGESTION_H
#define VCX_CONGESTION_H

#include "virtual-connectx/model/device.h"

#define VCX_CONGESTION_BLOCK 256 /* bytes of a protocol's parameters */

/* cong_protocol (mlx5's enum mlx5_ib_cong_node_type), as index of the tables below less one */
enum vcx_congestion_point { VCX_REACTION_POINT, VCX_NOTIFICATION_POINT, VCX_CONGESTION_POINTS };

/* The reaction point's parameters in the units of the arithmetic. */
struct vcx_reaction_parameters {
    uint64_t most_bps, least_bps, additive_bps, hyper_bps;
    uint64_t first_bps; /* rate at the first CNP; 0: the current one is kept */
    uint32_t keep;      /* 1 - g: what alpha keeps in an interval, of VCX_FRACTION */
    uint32_t initial_alpha, least_factor;
    uint32_t log_decrease; /* rpg_gd */
    uint64_t alpha_ns, decrease_ns, increase_ns;
    uint32_t byte_reset, threshold;
    bool clamp, clamp_after_timer;
};
#define VCX_FRACTION (1u << 30) /* 1 */

/* A queue pair's rate machine. Times are nominal. All zero: no CNP came yet, and the rate is not limited. */
struct vcx_reaction {
    bool started; /* by the first CNP */
    uint64_t rate_bps, target_bps;
    uint32_t alpha;
    bool cnp_since_alpha_tick, decrease_waits;
    bool decreased; /* once: from then on the rate increases */
    uint64_t alpha_tick_ns, decrease_tick_ns, decrease_base_ns, increase_tick_ns;
    int64_t bytes_left; /* until the byte counter's next event */
    uint32_t timer_stage, byte_stage;
};

struct vcx_congestion {
    uint8_t block[VCX_CONGESTION_POINTS][VCX_CONGESTION_BLOCK]; /* as the driver reads and writes them */
    bool enabled[VCX_CONGESTION_POINTS][VCX_PRIORITIES];
    struct vcx_reaction_parameters reaction;
    uint64_t cnps_handled, cnps_ignored, marked, cnps_sent;
    uint32_t flows; /* that had a CNP */
};

/* ---- the nominal line's time */

/* A nominal duration on the line as it is, in ns. */
uint64_t vcx_stretch_ns(const struct vcx_device *device, uint64_t nominal_ns);

/* ---- the reaction point. `now_ns` is nominal */

void vcx_reaction_cnp(struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint64_t now_ns);
/* Process the ticks up to now. false: there were more than are processed at a time. */
bool vcx_reaction_advance(struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint64_t now_ns);
/* A packet is sent, after vcx_reaction_advance: how long its bytes take at the rate as it is and as it
 * will change without a further CNP, in nominal ns. Advances the byte counter. */
uint64_t vcx_reaction_sent(struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint64_t now_ns,
                           uint32_t bytes);

/* ---- of the device */

int vcx_congestion_start(struct vcx_device *device);
void vcx_congestion_stop(struct vcx_device *device);

#endif
