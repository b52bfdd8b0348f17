// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What is set and read of a switch, as lines: settings, and all counters. */
#include "virtual-connectx/model/switch/switch.h"

/* A row is a number in struct vcx_switch, or something of each port that a function sets. */
struct setting {
    const char *name;
    uint64_t least, most;
    uint8_t indexes; /* INDEX is below this; 0: the line has none */
    size_t at;       /* of a uint32_t in struct vcx_switch, if there is no function */
    void (*set)(struct vcx_port *port, uint8_t index, uint64_t value);
};

static void set_pfc(struct vcx_port *port, uint8_t index, uint64_t value)
{
    (void)index;
    port->settings.pfc_tx = port->settings.pfc_rx = (uint8_t)value;
}

static void set_trust(struct vcx_port *port, uint8_t index, uint64_t value)
{
    (void)index;
    port->settings.trust = value ? VCX_TRUST_DSCP : VCX_TRUST_PCP;
}

static void set_priority(struct vcx_port *port, uint8_t index, uint64_t value)
{
    port->settings.priority_of_dscp[index] = (uint8_t)value;
}

static void set_mtu(struct vcx_port *port, uint8_t index, uint64_t value)
{
    (void)index;
    port->settings.mtu = (uint16_t)value;
}

static void set_line(struct vcx_port *port, uint8_t index, uint64_t value)
{
    (void)index;
    port->line_bps = value;
}

static void set_nominal(struct vcx_port *port, uint8_t index, uint64_t value)
{
    (void)index;
    port->nominal_bps = value;
}

static void set_cable(struct vcx_port *port, uint8_t index, uint64_t value)
{
    (void)index;
    port->cable_ns = (uint32_t)value;
}

static void set_up(struct vcx_port *port, uint8_t index, uint64_t value)
{
    (void)index;
    port->settings.admin_up = value;
}

static void set_ecn_min(struct vcx_port *port, uint8_t index, uint64_t value)
{
    port->marking[index].min_bytes = (uint32_t)value;
}

static void set_ecn_max(struct vcx_port *port, uint8_t index, uint64_t value)
{
    port->marking[index].max_bytes = (uint32_t)value;
}

static void set_ecn_percent(struct vcx_port *port, uint8_t index, uint64_t value)
{
    port->marking[index].percent = (uint8_t)value;
}

static void set_class(struct vcx_port *port, uint8_t index, uint64_t value)
{
    port->settings.class_of_priority[index] = (uint8_t)value;
}

static void set_group(struct vcx_port *port, uint8_t index, uint64_t value)
{
    port->settings.classes[index].group = (uint8_t)value;
}

static void set_share(struct vcx_port *port, uint8_t index, uint64_t value)
{
    port->settings.classes[index].share_percent = (uint8_t)value;
}

static void set_most(struct vcx_port *port, uint8_t index, uint64_t value)
{
    port->settings.classes[index].most_bps = value;
}

#define SETTING_AT(field) .at = offsetof(struct vcx_switch, field)
#define MOST_BPS          800000000000ull
#define MOST_BYTES        (1u << 30)
#define MOST_US           600000000u

static const struct setting rows[] = {
    {"shared_bytes", 0, MOST_BYTES, 0, SETTING_AT(shared_bytes)},
    {"headroom_bytes", 0, MOST_BYTES, 0, SETTING_AT(headroom_bytes)},
    {"hysteresis_bytes", 0, MOST_BYTES, 0, SETTING_AT(hysteresis_bytes)},
    {"alpha_eighths", 0, 1024, 0, SETTING_AT(alpha_eighths)},
    {"threshold_bytes", 0, MOST_BYTES, 0, SETTING_AT(threshold_bytes)},
    {"watchdog_us", 0, MOST_US, 0, SETTING_AT(watchdog_us)},
    {"restore_us", 0, MOST_US, 0, SETTING_AT(restore_us)},
    {"pfc", 0, 0xff, .set = set_pfc},
    {"trust_dscp", 0, 1, .set = set_trust},
    {"dscp", 0, VCX_PRIORITIES - 1, 64, .set = set_priority},
    {"mtu", 64, VCX_MOST_MTU, .set = set_mtu},
    {"line_bps", 1000, MOST_BPS, .set = set_line},
    {"nominal_bps", 1000, MOST_BPS, .set = set_nominal},
    {"cable_ns", 0, 1000000000, .set = set_cable},
    {"up", 0, 1, .set = set_up},
    {"ecn_min_bytes", 0, MOST_BYTES, VCX_PRIORITIES, .set = set_ecn_min},
    {"ecn_max_bytes", 0, MOST_BYTES, VCX_PRIORITIES, .set = set_ecn_max},
    {"ecn_percent", 0, 100, VCX_PRIORITIES, .set = set_ecn_percent},
    {"class", 0, VCX_PRIORITIES - 1, VCX_PRIORITIES, .set = set_class},
    {"group", 0, 15, VCX_PRIORITIES, .set = set_group},
    {"share_percent", 1, 100, VCX_PRIORITIES, .set = set_share},
    {"most_bps", 0, MOST_BPS, VCX_PRIORITIES, .set = set_most},
};

/* "PORT.NAME" becomes the port and what follows the point; without a point *port is VCX_NO_PORT. */
static const char *take_port(const struct vcx_switch *sw, char *word, uint8_t *port)
{
    uint64_t number = VCX_NO_PORT;
    char *point = word;
    while (*point && *point != '.')
        point++;
    *port = VCX_NO_PORT;
    if (!*point)
        return word;
    *point = 0;
    if (!vcx_word_number(word, 0, sw->count - 1u, &number))
        return NULL;
    *port = (uint8_t)number;
    return point + 1;
}

static const struct setting *row_of(const char *name)
{
    for (size_t i = 0; i < VCX_COUNT(rows); i++)
        if (vcx_word_is(name, rows[i].name))
            return &rows[i];
    return NULL;
}

static void setting_apply(struct vcx_switch *sw, const struct setting *row, uint8_t port, uint8_t index,
                          uint64_t value)
{
    if (!row->set)
        *(uint32_t *)((uint8_t *)sw + row->at) = (uint32_t)value;
    for (uint8_t i = 0; row->set && i < sw->count; i++)
        if (port == i || port == VCX_NO_PORT)
            row->set(&sw->ports[i], index, value);
}

bool vcx_switch_set(struct vcx_switch *sw, const char *line, struct vcx_sentence *error)
{
    struct vcx_words words;
    uint64_t value, index = 0;
    uint8_t port;
    if (!vcx_words_split(&words, line) || !words.count)
        return vcx_say(error, "the line is empty or too long");
    const char *name = take_port(sw, words.text + (words.word[0] - words.text), &port);
    const struct setting *row = name ? row_of(name) : NULL;
    if (!name)
        return vcx_say(error, "%s: no such port", words.word[0]);
    if (!row || (!row->set && port != VCX_NO_PORT))
        return vcx_say(error, "%s: no such setting of a %s", name, port == VCX_NO_PORT ? "switch" : "port");
    int at = row->indexes ? 2 : 1;
    if (words.count != at + 1 ||
        (row->indexes && !vcx_word_number(words.word[1], 0, row->indexes - 1u, &index)))
        return vcx_say(error, "%s: expected %sa value", name, row->indexes ? "an index and " : "");
    if (!vcx_word_number(words.word[at], row->least, row->most, &value))
        return vcx_say(error, "%s: expected a number from %llu to %llu", name, (unsigned long long)row->least,
                       (unsigned long long)row->most);
    setting_apply(sw, row, port, (uint8_t)index, value);
    return true;
}

/* ---- all counters as lines, under the names that a simulated switch's have */

/* Those of the same meaning at a NIC have mlx5's. */

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

static void counter_show(const struct show *s, const char *before, const char *name, uint64_t value)
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

/* The state of a priority: held by the other end, bytes that wait to be sent, bytes in the buffer that
 * came in. */
static void show_state(const struct show *s, const struct vcx_port *port, int priority)
{
    char before[24];
    snprintf(before, sizeof before, "port%u_prio%d_", port->number, priority);
    counter_show(s, before, "paused", port->hold[priority].on);
    counter_show(s, before, "queue_bytes", port->sending[priority].bytes);
    counter_show(s, before, "ingress_bytes", port->held[priority]);
}

static void show_priority(const struct show *s, const struct vcx_port *port, int priority)
{
    char before[24];
    for (size_t i = 0; i < VCX_COUNT(of_priority); i++) {
        const struct priority_counter *row = &of_priority[i];
        snprintf(before, sizeof before, "port%u_%s_prio%d_", port->number, row->direction, priority);
        counter_show(s, before, row->counter.name,
                     value_at(&port->counters.priority[priority], &row->counter));
    }
    show_state(s, port, priority);
}

static void show_port(const struct show *s, const struct vcx_port *port)
{
    char before[24];
    snprintf(before, sizeof before, "port%u_", port->number);
    for (size_t i = 0; i < VCX_COUNT(of_port); i++)
        counter_show(s, before, of_port[i].name, value_at(&port->counters, &of_port[i]));
    counter_show(s, before, "ecn_marked", OVER_PRIORITIES(port, tx_marked));
    counter_show(s, before, "discards", OVER_PRIORITIES(port, rx_discards) + port->counters.tx_discards);
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
        counter_show(&s, "", of_switch[i].name, value_at(&sw->counters, &of_switch[i]));
    counter_show(&s, "", "rx_pause", OVER_PORTS(sw, rx_pause));
    counter_show(&s, "", "tx_pause", OVER_PORTS(sw, tx_pause));
    counter_show(&s, "", "ecn_marked", OVER_PORTS(sw, tx_marked));
    counter_show(&s, "", "buffer_discards", OVER_PORTS(sw, rx_discards));
    counter_show(&s, "", "shared_bytes", vcx_shared_held(sw));
    for (uint8_t i = 0; i < sw->count; i++)
        show_port(&s, &sw->ports[i]);
}
