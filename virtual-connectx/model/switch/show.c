// SPDX-License-Identifier: GPL-2.0 OR MIT
/* All counters as lines, under the names that a simulated switch's have. Those of the same meaning at a NIC have mlx5's. */
#include "virtual-connectx/model/switch/inside.h"

struct counter {
    const char *name;
    size_t at;
};

#define COUNTER_OF_SWITCH(name, field)                    \
    {                                                     \
        name, offsetof(struct vcx_switch_counters, field) \
    }
static const struct counter of_switch[] = {
    COUNTER_OF_SWITCH("learned", learned),
    COUNTER_OF_SWITCH("moved", moved),
    COUNTER_OF_SWITCH("table_full", table_full),
    COUNTER_OF_SWITCH("flooded", flooded),
    COUNTER_OF_SWITCH("filtered", filtered),
    COUNTER_OF_SWITCH("watchdog_storms", storms),
    COUNTER_OF_SWITCH("watchdog_restores", restores),
    COUNTER_OF_SWITCH("watchdog_discards", storm_discards),
};

#define OF_PORT(name, field)                            \
    {                                                   \
        name, offsetof(struct vcx_port_counters, field) \
    }
static const struct counter of_port[] = {
    OF_PORT("rx_frames", rx.frames),       OF_PORT("rx_bytes", rx.bytes),
    OF_PORT("rx_multicast", rx.multicast), OF_PORT("rx_broadcast", rx.broadcast),
    OF_PORT("tx_frames", tx.frames),       OF_PORT("tx_bytes", tx.bytes),
    OF_PORT("tx_multicast", tx.multicast), OF_PORT("tx_broadcast", tx.broadcast),
    OF_PORT("rx_too_long", rx_too_long),   OF_PORT("rx_too_short", rx_too_short),
    OF_PORT("tx_discards", tx_discards),   OF_PORT("link_downs", link_downs),
};

/* The name is DIRECTION_prioN_NAME. */
struct priority_counter {
    const char *direction;
    struct counter counter;
};
#define OF_PRIORITY(direction, name, field)                     \
    {                                                           \
#direction,                                             \
        {                                                       \
            name, offsetof(struct vcx_priority_counters, field) \
        }                                                       \
    }
static const struct priority_counter of_priority[] = {
    OF_PRIORITY(rx, "frames", rx_frames),
    OF_PRIORITY(rx, "bytes", rx_bytes),
    OF_PRIORITY(tx, "frames", tx_frames),
    OF_PRIORITY(tx, "bytes", tx_bytes),
    OF_PRIORITY(rx, "pause", rx_pause),
    OF_PRIORITY(tx, "pause", tx_pause),
    OF_PRIORITY(rx, "pause_duration", rx_pause_us),
    OF_PRIORITY(tx, "pause_duration", tx_pause_us),
    OF_PRIORITY(rx, "pause_transition", rx_pause_transitions),
    OF_PRIORITY(rx, "discards", rx_discards),
    OF_PRIORITY(tx, "discards", tx_discards),
    OF_PRIORITY(rx, "marked", rx_marked),
    OF_PRIORITY(tx, "marked", tx_marked),
};

struct show {
    void (*line)(void *to, const char *text);
    void *to;
};

static void show(const struct show *s, const char *before, const char *name, uint64_t value)
{
    char text[VCX_LINE_BYTES];
    snprintf(text, sizeof text, "%s%s %llu", before, name, (unsigned long long)value);
    s->line(s->to, text);
}

static uint64_t value_at(const void *counters, const struct counter *counter)
{
    return *(const uint64_t *)((const uint8_t *)counters + counter->at);
}

/* ---- a port */

static uint64_t over_priorities(const struct vcx_port *port, size_t at)
{
    uint64_t sum = 0;
    for (int p = 0; p < VCX_PRIORITIES; p++)
        sum += *(const uint64_t *)((const uint8_t *)&port->counters.priority[p] + at);
    return sum;
}

#define OVER_PRIORITIES(port, field) over_priorities(port, offsetof(struct vcx_priority_counters, field))

/* The state of a priority: held by the other end, bytes that wait to be sent, bytes in the buffer that came in. */
static void show_state(const struct show *s, const struct vcx_port *port, int priority)
{
    char before[24];
    snprintf(before, sizeof before, "port%u_prio%d_", port->number, priority);
    show(s, before, "paused", port->hold[priority].on);
    show(s, before, "queue_bytes", port->sending[priority].bytes);
    show(s, before, "ingress_bytes", port->held[priority]);
}

static void show_priority(const struct show *s, const struct vcx_port *port, int priority)
{
    char before[24];
    for (size_t i = 0; i < VCX_COUNT(of_priority); i++) {
        const struct priority_counter *row = &of_priority[i];
        snprintf(before, sizeof before, "port%u_%s_prio%d_", port->number, row->direction, priority);
        show(s, before, row->counter.name, value_at(&port->counters.priority[priority], &row->counter));
    }
    show_state(s, port, priority);
}

static void show_port(const struct show *s, const struct vcx_port *port)
{
    char before[24];
    snprintf(before, sizeof before, "port%u_", port->number);
    for (size_t i = 0; i < VCX_COUNT(of_port); i++)
        show(s, before, of_port[i].name, value_at(&port->counters, &of_port[i]));
    show(s, before, "ecn_marked", OVER_PRIORITIES(port, tx_marked));
    show(s, before, "discards", OVER_PRIORITIES(port, rx_discards) + port->counters.tx_discards);
    for (int p = 0; p < VCX_PRIORITIES; p++)
        show_priority(s, port, p);
}

/* ---- all ports */

static uint64_t over_ports(const struct vcx_switch *sw, size_t at)
{
    uint64_t sum = 0;
    for (uint8_t i = 0; i < sw->count; i++)
        sum += over_priorities(&sw->ports[i], at);
    return sum;
}

#define OVER_PORTS(sw, field) over_ports(sw, offsetof(struct vcx_priority_counters, field))

void vcx_switch_show(struct vcx_switch *sw, void (*line)(void *to, const char *text), void *to)
{
    struct show s = {line, to};
    for (size_t i = 0; i < VCX_COUNT(of_switch); i++)
        show(&s, "", of_switch[i].name, value_at(&sw->counters, &of_switch[i]));
    show(&s, "", "rx_pause", OVER_PORTS(sw, rx_pause));
    show(&s, "", "tx_pause", OVER_PORTS(sw, tx_pause));
    show(&s, "", "ecn_marked", OVER_PORTS(sw, tx_marked));
    show(&s, "", "buffer_discards", OVER_PORTS(sw, rx_discards));
    show(&s, "", "shared_bytes", vcx_shared_held(sw));
    for (uint8_t i = 0; i < sw->count; i++)
        show_port(&s, &sw->ports[i]);
}
