#include "sim/congestion/telemetry.h"

/* A sixth hop finds no room: congestion_build refuses such paths for rows that read the telemetry. */
void telemetry_append_hop(struct sim *sim, uint32_t port, uint32_t p)
{
    struct telemetry_path *path = &sim->telemetry_paths[p];
    const struct port *out = &sim->ports[port];
    if (path->count == CONGESTION_MOST_HOPS)
        return;
    struct telemetry_hop *hop = &path->hops[path->count++];
    *hop = (struct telemetry_hop){.left_ps = sim->now_ps, .rate_bps = out->rate_bps};
    for (unsigned queue = QUEUE_CONTROL; queue < QUEUES; queue++) {
        hop->sent_bytes += out->queues[queue].sent_bytes;
        hop->queued_bytes += out->queues[queue].bytes;
    }
}
