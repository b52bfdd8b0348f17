#include "lib/roce/thresholds.h"

#include <math.h>

/* linux drivers/net/ethernet/mellanox/mlx5/core/en/port_buffer.c: calculate_xoff (speeds below 40 Gb/s count
 * as 40 Gb/s), mlx5e_port_manual_buffer_config (MINIMUM_MAX_MTU), update_xoff_threshold, port_set_buffer
 * (whole cells). */
#define SPEED_LEAST_MBPS 40000
#define MAX_MTU_LEAST    9216

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t thresholds_mlx5_headroom(const struct thresholds_port *port)
{
    int64_t speed = larger(port->speed_Mbps, SPEED_LEAST_MBPS);
    return (301 + 216 * port->cable_m / 100) * speed / 1000 + 272 * port->mtu / 100;
}

int64_t thresholds_in_flight(int64_t rate_bps, int64_t delay_ps, int64_t frame_bytes, int64_t pause_bytes)
{
    double bytes_per_delay = (double)delay_ps * (double)rate_bps / 8e12;
    return (int64_t)ceil(2 * bytes_per_delay) + 2 * frame_bytes + pause_bytes;
}

int thresholds_mlx5(const struct thresholds_port *port, int64_t size_bytes, struct thresholds *out,
                    struct error *e)
{
    int64_t speed = larger(port->speed_Mbps, SPEED_LEAST_MBPS),
            max_mtu = larger(port->max_mtu, MAX_MTU_LEAST);
    int64_t headroom = thresholds_mlx5_headroom(port);
    int64_t cell = port->cell_bytes;
    int64_t least = headroom + max_mtu + cell;
    if (size_bytes < least)
        return error_set(
            e,
            "%lld bytes are too small for a lossless buffer: cable %lld m, MTU %lld and %lld Mb/s "
            "need at least "
            "%lld (headroom %lld, largest frame %lld, one cell)",
            (long long)size_bytes, (long long)port->cable_m, (long long)port->mtu, (long long)speed,
            (long long)((least + cell - 1) / cell * cell), (long long)headroom, (long long)max_mtu);
    out->xoff_bytes = (size_bytes - headroom) / cell * cell;
    out->xon_bytes = (size_bytes - headroom - max_mtu) / cell * cell;
    out->headroom_bytes = headroom;
    return 0;
}
