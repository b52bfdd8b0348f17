/* A switch's shared buffer: dynamic thresholds (Choudhury and Hahne, 1998) over what ingress ports hold. */
#ifndef SIM_SHARED_BUFFER_H
#define SIM_SHARED_BUFFER_H

#include "sim/fabric/switch.h"

static inline int64_t xoff_threshold(const struct fabric_switch *s, const struct switch_port *at)
{
    if (s->static_xoff_bytes)
        return s->static_xoff_bytes;
    int64_t free_bytes = s->shared_bytes - s->shared_used;
    return free_bytes > 0 ? (int64_t)((uint64_t)free_bytes * at->xoff_q16 >> 16) : 0;
}

static inline int64_t shared_use(const struct fabric_switch *s, const struct switch_port *at,
                                 unsigned priority)
{
    int64_t over = at->ingress[priority].used - s->reserve_bytes;
    return over > 0 ? over : 0;
}

/* If the shared part grows by this much and this port uses `use` of it, are neither XOFF nor headroom needed? */
static inline bool far_from_xoff(const struct fabric_switch *s, const struct switch_port *at, int64_t use,
                                 int64_t shared_used)
{
    if (s->static_xoff_bytes)
        return use < s->static_xoff_bytes;
    int64_t free_bytes = s->shared_bytes - shared_used;
    return free_bytes > 0 && use < (int64_t)((uint64_t)free_bytes * at->xoff_q16 >> 16);
}

/* May a frame of a lossless priority go through without being kept? Then the peak is as if it had been. */
static inline bool passes_buffer(struct fabric_switch *s, const struct switch_port *at, unsigned priority,
                                 uint32_t frame_bytes)
{
    if (at->ingress[priority].headroom_used || at->xoff >> priority & 1)
        return false;
    int64_t bytes = frame_bytes, over = at->ingress[priority].used + bytes - s->reserve_bytes;
    int64_t shared = over < 0 ? 0 : over < bytes ? over : bytes;
    if (!far_from_xoff(s, at, shared_use(s, at, priority) + bytes, s->shared_used + shared))
        return false;
    if (s->shared_used + shared > s->peak_bytes)
        s->peak_bytes = s->shared_used + shared;
    return true;
}

#endif
