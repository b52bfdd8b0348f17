// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/switch/inside.h"

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

static void apply(struct vcx_switch *sw, const struct setting *row, uint8_t port, uint8_t index,
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
    apply(sw, row, port, (uint8_t)index, value);
    return true;
}
