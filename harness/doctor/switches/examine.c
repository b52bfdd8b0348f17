#include "harness/doctor/switches/check.h"

#include "harness/doctor/doctor.h"
#include "lib/document/json_text.h"
#include "lib/text.h"
#include <stdlib.h>
#include <string.h>

/* ---- words */

void sonic_say_end(const struct sonic_end *end, const struct sonic_subject *x, struct text *out)
{
    const char *peer = lab_link_peer(end->link, x->of->name);
    text_add(out, "%s (to %s)", end->port->name, peer ? peer : "?");
}

void sonic_say_priorities(unsigned bits, struct text *out)
{
    bool any = false;
    for (int i = 0; i < SONIC_TCS; i++)
        if (bits >> i & 1) {
            text_add(out, "%s%d", any ? "," : "", i);
            any = true;
        }
    if (!any)
        text_add(out, "none");
}

void sonic_say_rate(int64_t speed_Mbps, struct text *out)
{
    char word[40];
    text_add(out, "%s", units_write(UNIT_RATE_BPS, speed_Mbps * 1000000, UNITS_DECIMAL, word, sizeof word));
}

void sonic_say_length(int64_t length_mm, struct text *out)
{
    char word[40];
    text_add(out, "%s", units_write(UNIT_LENGTH_MM, length_mm, UNITS_DECIMAL, word, sizeof word));
}

/* ---- what the checks share */

unsigned sonic_flow_priorities(const struct sonic_subject *x, const struct sonic_end *end)
{
    unsigned bits = 0;
    const struct scenario *scenario = x->cell ? &x->cell->scenario : NULL;
    const struct scenario_flow *flows = scenario ? scenario->flows.items : NULL;
    for (size_t i = 0; end->role && scenario && i < scenario->flows.count; i++)
        if (strcmp(flows[i].from, end->role) == 0 || strcmp(flows[i].to, end->role) == 0)
            bits |= 1u << (flows[i].priority & 7);
    return bits;
}

/* A dynamic threshold is alpha times what is free of the pool: alone, a group gets alpha / (1 + alpha) of it (SAI's
 * SAI_BUFFER_PROFILE_ATTR_SHARED_DYNAMIC_TH, alpha = 2 to its power). */
int64_t sonic_most_before_xoff(const struct sonic_buffer *b)
{
    int64_t reserved = b->size_bytes == FIELD_UNSET ? 0 : b->size_bytes;
    if (b->threshold == SONIC_STATIC)
        return b->static_bytes + reserved;
    if (b->threshold != SONIC_DYNAMIC || b->pool_bytes == FIELD_UNSET)
        return FIELD_UNSET;
    double alpha = b->alpha_log >= 0 ? (double)(1 << b->alpha_log) : 1.0 / (double)(1 << -b->alpha_log);
    return (int64_t)((double)b->pool_bytes * alpha / (1 + alpha)) + reserved;
}

/* ---- ports */

static const char *role_of(const struct sonic_subject *x, const struct lab_host *host)
{
    const char *role;
    for (size_t i = 0; x->cell && (role = scenario_role(&x->cell->scenario, i)); i++)
        if (lab_real_host(x->lab, role) == host)
            return role;
    return NULL;
}

static int64_t number_or_unset(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) > 0 ? json_integer_value(value) : FIELD_UNSET;
}

/* The host's settings now, overridden by the scenario's. */
static void see_host(const struct sonic_subject *x, struct sonic_end *end)
{
    int node = lab_node_index(x->lab, lab_link_peer(end->link, x->of->name));
    end->host = node < 0 ? NULL : lab_host_at(x->lab, (size_t)node);
    end->host_mtu = end->host_speed_Mbps = FIELD_UNSET;
    if (!end->host)
        return;
    end->role = role_of(x, end->host);
    const json_t *seen = json_object_get(x->seen, x->cell ? end->role : end->host->name);
    const json_t *now = json_object_get(seen, "settings");
    json_t *wanted = x->cell && end->role ? scenario_role_settings(x->cell->scenario_json, end->role) : NULL;
    end->settings = now ? json_deep_copy(now) : json_object();
    if (wanted)
        json_merge_deep(end->settings, wanted);
    json_decref(wanted);
    end->host_mtu = number_or_unset(json_object_get(end->settings, "mtu"));
    end->host_speed_Mbps = number_or_unset(json_object_get(seen, "speed_Mbps"));
}

static void examine_end(const struct sonic_subject *x, struct sonic_end *end)
{
    sonic_check_port(x, end);
    if (!end->port->exists)
        return;
    sonic_check_pfc(x, end);
    sonic_check_classes(x, end);
    sonic_check_headroom(x, end);
    sonic_check_wred(x, end);
    sonic_check_watchdog(x, end);
}

void sonic_examine(const struct sonic_subject *x)
{
    const struct lab_link *link;
    size_t count = 0;
    for (size_t i = 0; (link = lab_link_at(x->lab, i)); i++) {
        const char *name = lab_link_port(link, x->of->name);
        struct sonic_end end = {.link = link, .port = name ? sonic_port_named(x->config, name) : NULL};
        if (!end.port)
            continue;
        count++;
        see_host(x, &end);
        examine_end(x, &end);
        json_decref(end.settings);
    }
    if (count == 0) {
        preflight_say(x->entries, x->of->name, "port", "unknown",
                      "name them: \"ports\": {\"SWITCH\": \"Ethernet0\"} in links",
                      "no link of the lab names a port of this switch: none was checked");
        preflight_read(x->entries, "links of the lab");
    }
}
