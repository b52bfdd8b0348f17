/* In-band telemetry: what a switch's port appends to a data packet that leaves its queue (congestion.h). */
#ifndef SIM_TELEMETRY_H
#define SIM_TELEMETRY_H

#include "sim/model.h"

void telemetry_append_hop(struct sim *sim, uint32_t port, uint32_t p);

/* The packet is out of the queue and not yet counted as sent. */
static inline void telemetry_append(struct sim *sim, uint32_t port, uint32_t p)
{
    if (sim->telemetry_paths && sim->packets[p].kind == PACKET_DATA)
        telemetry_append_hop(sim, port, p);
}

#endif
