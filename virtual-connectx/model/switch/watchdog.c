// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The PFC watchdog: a priority that is held without a break for too long, with frames waiting, loses its frames and all that follow, until
 * it was not held for some time. */
#include "virtual-connectx/model/switch/inside.h"

#define NS_OF_US 1000u

static bool lasts(const struct vcx_port *port, uint64_t since_ns, uint32_t us, uint64_t now_ns)
{
    return now_ns - since_ns >= vcx_port_stretch(port, (uint64_t)us * NS_OF_US);
}

static void look_for_storm(struct vcx_switch *sw, uint8_t port, uint8_t priority, uint64_t now_ns)
{
    struct vcx_watch *watch = &sw->watch[port][priority];
    struct vcx_port *p = &sw->ports[port];
    if (!p->hold[priority].on || !p->sending[priority].first) {
        watch->since_ns = 0;
    } else if (!watch->since_ns) {
        watch->since_ns = now_ns;
    } else if (lasts(p, watch->since_ns, sw->watchdog_us, now_ns)) {
        *watch = (struct vcx_watch){.storm = true};
        sw->counters.storms++;
        sw->counters.storm_discards += p->sending[priority].count;
        vcx_port_flush(p, priority);
    }
}

static void look_for_end(struct vcx_switch *sw, uint8_t port, uint8_t priority, uint64_t now_ns)
{
    struct vcx_watch *watch = &sw->watch[port][priority];
    struct vcx_port *p = &sw->ports[port];
    if (p->hold[priority].on) {
        watch->since_ns = 0;
    } else if (!watch->since_ns) {
        watch->since_ns = now_ns;
    } else if (lasts(p, watch->since_ns, sw->restore_us, now_ns)) {
        *watch = (struct vcx_watch){0};
        sw->counters.restores++;
    }
}

void vcx_watchdog_poll(struct vcx_switch *sw, uint64_t now_ns)
{
    for (uint8_t i = 0; i < sw->count; i++)
        for (uint8_t p = 0; p < VCX_PRIORITIES; p++)
            if (sw->watch[i][p].storm)
                look_for_end(sw, i, p, now_ns);
            else if (sw->watchdog_us)
                look_for_storm(sw, i, p, now_ns);
}

bool vcx_watchdog_refuses(struct vcx_switch *sw, uint8_t port, uint8_t priority)
{
    bool storm = sw->watch[port][priority].storm;
    sw->counters.storm_discards += storm;
    return storm;
}
