/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an mlx5 driver makes of PFC, global pause and receive buffers, and what it refuses: for the stand-in
 * kernel module (testnic.c) and for the library that is preloaded into nic-config
 * (tests/e2e/nic-config/mlx5_port.c).
 *
 * After linux drivers/net/ethernet/mellanox/mlx5/core/en/port_buffer.c, en_dcbnl.c and port.c: a write of PFC
 * turns global pause off, a write of pause leaves PFC as it is (or, where `exclusive`, turns it off, as
 * firmware may); while pause is on, every buffer with a priority is lossless; a new map is held against the
 * old sizes; a PFC write that is refused for its buffers stays done. Buffers are looked at only after they
 * were written once.
 */
#ifndef TESTS_MLX5_PORT_H
#define TESTS_MLX5_PORT_H

#define MLX5_PORT_BUFFERS 8
#define MLX5_PORT_CELL    128
#define MLX5_PORT_ENOMEM  12
#define MLX5_PORT_EINVAL  22

struct mlx5_port {
    unsigned int pfc; /* mask of priorities */
    unsigned int pause_rx, pause_tx;
    unsigned int cable_m;
    unsigned int manual;                    /* buffers were written */
    unsigned int buffer[MLX5_PORT_BUFFERS]; /* of each priority */
    unsigned int size[MLX5_PORT_BUFFERS], lossless[MLX5_PORT_BUFFERS], xoff[MLX5_PORT_BUFFERS],
        xon[MLX5_PORT_BUFFERS];
    unsigned int last_headroom;
    /* the port's surroundings */
    unsigned int total, speed_Mbps, mtu, max_mtu, exclusive;
};

static inline unsigned int mlx5_port_headroom(const struct mlx5_port *p)
{
    unsigned int speed = p->speed_Mbps < 40000 ? 40000 : p->speed_Mbps;

    return (301 + 216 * p->cable_m / 100) * speed / 1000 + 272 * p->mtu / 100;
}

/* 0, or the error number of a lossless buffer that is too small. */
static inline int mlx5_port_thresholds(struct mlx5_port *p)
{
    unsigned int headroom = mlx5_port_headroom(p), frame = p->max_mtu < 9216 ? 9216 : p->max_mtu;
    int i;

    for (i = 0; i < MLX5_PORT_BUFFERS; i++) {
        p->xoff[i] = p->xon[i] = 0;
        if (!p->lossless[i])
            continue;
        if (p->size[i] < headroom + frame + MLX5_PORT_CELL)
            return MLX5_PORT_ENOMEM;
        p->xoff[i] = (p->size[i] - headroom) / MLX5_PORT_CELL * MLX5_PORT_CELL;
        p->xon[i] = (p->size[i] - headroom - frame) / MLX5_PORT_CELL * MLX5_PORT_CELL;
    }
    return 0;
}

/* Which buffers are lossless with this map; the thresholds follow only if that changes. */
static inline int mlx5_port_lossless(struct mlx5_port *p, unsigned int mask, const unsigned int *map)
{
    unsigned int now[MLX5_PORT_BUFFERS] = {0};
    int i, changed = 0;

    for (i = 0; i < MLX5_PORT_BUFFERS; i++)
        if (mask & (1u << i))
            now[map[i]] = 1;
    for (i = 0; i < MLX5_PORT_BUFFERS; i++) {
        changed |= now[i] != p->lossless[i];
        p->lossless[i] = now[i];
    }
    return changed ? mlx5_port_thresholds(p) : 0;
}

static inline int mlx5_port_set_pause(struct mlx5_port *p, unsigned int rx, unsigned int tx)
{
    p->pause_rx = rx;
    p->pause_tx = tx;
    if (p->exclusive && (rx || tx))
        p->pfc = 0;
    return 0;
}

/* The part of a refused write that concerns buffers is not done; mask and pause stay as written. */
static inline int mlx5_port_set_pfc(struct mlx5_port *p, unsigned int mask, unsigned int cable_m)
{
    struct mlx5_port next;
    unsigned int old_cable_m = p->cable_m;
    int result = 0, mask_changes = mask != p->pfc;

    if (mask_changes) {
        p->pfc = mask;
        p->pause_rx = p->pause_tx = 0;
    }
    if (cable_m > 0 && cable_m < 1000)
        p->cable_m = cable_m;
    if (!p->manual)
        return 0;
    next = *p;
    if (p->cable_m != old_cable_m)
        result = mlx5_port_thresholds(&next);
    if (!result && mask_changes)
        result = mlx5_port_lossless(&next, mask, next.buffer);
    if (!result && mlx5_port_headroom(&next) != next.last_headroom)
        result = mlx5_port_thresholds(&next);
    if (result) {
        p->cable_m = old_cable_m;
        return result;
    }
    next.last_headroom = mlx5_port_headroom(&next);
    *p = next;
    return 0;
}

static inline int mlx5_port_set_sizes(struct mlx5_port *next, const unsigned int *size)
{
    unsigned int sum = 0;
    int i;

    for (i = 0; i < MLX5_PORT_BUFFERS; i++) {
        if (next->lossless[i] && !size[i])
            return MLX5_PORT_EINVAL;
        next->size[i] = size[i] / MLX5_PORT_CELL * MLX5_PORT_CELL;
        sum += size[i];
    }
    return sum > next->total ? MLX5_PORT_EINVAL : mlx5_port_thresholds(next);
}

static inline int mlx5_port_set_buffers(struct mlx5_port *p, const unsigned int *map,
                                        const unsigned int *size)
{
    struct mlx5_port next = *p;
    int i, map_changes = 0, sizes_change = 0, result = 0;

    for (i = 0; i < MLX5_PORT_BUFFERS; i++) {
        map_changes |= map[i] != p->buffer[i];
        sizes_change |= size[i] != p->size[i];
    }
    if (!map_changes && !sizes_change)
        return 0;
    p->manual = next.manual = 1;
    if (map_changes)
        result = mlx5_port_lossless(&next, p->pause_rx || p->pause_tx ? 0xff : p->pfc, map);
    if (!result && sizes_change)
        result = mlx5_port_set_sizes(&next, size);
    if (!result && mlx5_port_headroom(&next) != next.last_headroom)
        result = mlx5_port_thresholds(&next);
    if (result)
        return result;
    for (i = 0; i < MLX5_PORT_BUFFERS; i++)
        next.buffer[i] = map[i];
    next.last_headroom = mlx5_port_headroom(&next);
    *p = next;
    return 0;
}

#endif
