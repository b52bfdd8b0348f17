#include "harness/labs/hosts/sonic/changes.h"

#include "harness/labs/hosts/sonic/counters.h"
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct planning {
    const struct sonic_request *request;
    const json_t *json;
    const struct sonic_config *config;
    struct sonic_changes *out;
    json_t *warnings;
};

/* ---- one field */

static json_t *object_at(json_t *of, const char *key)
{
    if (!json_object_get(of, key))
        json_put(of, key, json_object());
    return json_object_get(of, key);
}

/* Change a field, NULL: remove it. Nothing changes where the switch has the value already. */
static int change_field(struct planning *p, const char *table, const char *key, const char *field,
                        const char *value, struct error *e)
{
    char name[2 * SONIC_NAME];
    const json_t *all = json_object_get(p->json, table), *fields = json_object_get(all, key);
    const json_t *now = json_object_get(fields, field);
    const char *is = json_string_value(now);
    if ((all && !json_is_object(all)) || (fields && !json_is_object(fields)) || (now && !is))
        return error_set(e, "%s|%.80s: %s: what is there was not understood, and could not be put back",
                         table, key, field);
    if (is && value ? strcmp(is, value) == 0 : !is && !value)
        return 0;
    if ((size_t)snprintf(name, sizeof name, "%s|%s", table, key) >= sizeof name)
        return error_set(e, "%s|%.80s...: a key has at most %zu characters", table, key, sizeof name - 1);
    json_put(object_at(p->out->before, name), field, is ? json_text(is) : json_null());
    json_put(object_at(p->out->wanted, name), field, value ? json_text(value) : json_null());
    return 0;
}

static int change_number(struct planning *p, const char *table, const char *key, const char *field,
                         int64_t value, struct error *e)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    return change_field(p, table, key, field, text, e);
}

/* ---- what other ports use */

static bool is_port_of_lab(const struct planning *p, const char *port, size_t length)
{
    for (size_t i = 0; i < p->request->count; i++)
        if (strlen(p->request->ports[i]) == length && memcmp(p->request->ports[i], port, length) == 0)
            return true;
    return false;
}

/* Those of a list "Ethernet0,Ethernet4" that the lab does not name. */
static void add_ports_of_others(const struct planning *p, const char *ports, size_t count, json_t *others)
{
    const char *at = ports, *end = ports + count;
    while (at < end) {
        char name[SONIC_NAME];
        size_t length = strcspn(at, ",|");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), at);
        if (!is_port_of_lab(p, at, length))
            json_put(others, name, json_true());
        at += length + (at + length < end);
    }
}

#define NAMED_PORTS 4

/* `others`: ports that the lab does not name; released. */
static int refuse_shared(const struct planning *p, const char *what, json_t *others, struct error *e)
{
    struct text names = {0};
    const char *name;
    json_t *value;
    size_t count = json_object_size(others), named = 0;
    int result = 0;
    json_object_foreach(others, name, value)
    {
        if (named++ < NAMED_PORTS)
            text_add(&names, "%s%s", names.length ? ", " : "", name);
    }
    if (count > NAMED_PORTS)
        text_add(&names, " and %zu more ports", count - NAMED_PORTS);
    if (count && p->request->shared)
        json_array_append_new(p->warnings, json_textf("%s is used by %s too: the run changes it for all",
                                                      what, text_string(&names)));
    else if (count)
        result =
            error_set(e,
                      "%s is used by %s too, which the lab does not name: give the lab's ports one of their "
                      "own, or allow it with \"shared\": true of the switch",
                      what, text_string(&names));
    text_free(&names);
    json_decref(others);
    return result;
}

/* ---- PFC */

static void add_priorities(const struct settings *s, struct text *out)
{
    const int64_t *items = s->pfc.items;
    unsigned bits = 0;
    for (size_t i = 0; i < s->pfc.count; i++)
        bits |= 1U << (items[i] & 7);
    for (int i = 0; i < 8; i++)
        if (bits >> i & 1)
            text_add(out, "%s%d", out->length ? "," : "", i);
}

/* The key of the port in PORT_QOS_MAP, which may name several; its own, if there is none. */
static const char *qos_key(const json_t *json, const char *port)
{
    const char *key, *found = port;
    json_t *fields;
    json_object_foreach(json_object_get(json, "PORT_QOS_MAP"), key, fields)
    {
        (void)fields;
        if (sonic_key_lists(key, strcspn(key, "|"), port))
            found = key;
    }
    return found;
}

static int plan_pfc(struct planning *p, const char *port, struct error *e)
{
    const char *key = qos_key(p->json, port);
    struct text value = {0}, what = {0};
    if (!p->request->settings->pfc.items)
        return 0;
    json_t *others = json_object();
    add_ports_of_others(p, key, strlen(key), others);
    text_add(&what, "PORT_QOS_MAP|%.80s", key);
    add_priorities(p->request->settings, &value);
    int result = refuse_shared(p, text_string(&what), others, e) != 0 ||
                         change_field(p, "PORT_QOS_MAP", key, "pfc_enable", text_string(&value), e) != 0
                     ? -1
                     : 0;
    text_free(&value);
    text_free(&what);
    return result;
}

/* ---- WRED */

/* A profile's name in a reference: "AZURE" or "[WRED_PROFILE|AZURE]". */
static bool refers_to(const json_t *fields, const char *profile)
{
    const char *text = json_string_value(json_object_get(fields, "wred_profile"));
    if (text && *text == '[')
        return strncmp(text, "[WRED_PROFILE|", 14) == 0 && strlen(text) == strlen(profile) + 15 &&
               strncmp(text + 14, profile, strlen(profile)) == 0;
    return text && strcmp(text, profile) == 0;
}

static int check_profile_is_own(const struct planning *p, const char *profile, struct error *e)
{
    struct text what = {0};
    json_t *others = json_object(), *fields;
    const char *name;
    json_object_foreach(json_object_get(p->json, "QUEUE"), name, fields)
    {
        struct sonic_key key;
        if (!refers_to(fields, profile) || !sonic_key_parse(name, &key))
            continue;
        if (sonic_key_is_here(&key, p->config) == SONIC_YES)
            add_ports_of_others(p, key.ports, key.ports_length, others);
        else /* of another line card, whose ports may have the same names */
            json_put(others, name, json_true());
    }
    text_add(&what, "WRED_PROFILE|%s", profile);
    int result = refuse_shared(p, text_string(&what), others, e);
    text_free(&what);
    return result;
}

/* Thresholds of ECN alone, where the profile has them, are those that count. */
static int plan_profile(struct planning *p, const struct sonic_wred *wred, int64_t percent, struct error *e)
{
    const struct settings_ecn_threshold *ecn = p->request->settings->ecn_threshold;
    const json_t *all = json_object_get(p->json, "WRED_PROFILE");
    bool own = json_object_get(json_object_get(all, wred->profile), "ecn_green_min_threshold");
    if (wred->described == SONIC_UNKNOWN)
        return error_set(
            e, "the WRED profile of a queue was not understood: correct it before a run changes it");
    if (wred->described == SONIC_NO)
        return error_set(e, "WRED_PROFILE|%s, which a queue names, is not there", wred->profile);
    if (check_profile_is_own(p, wred->profile, e) != 0)
        return -1;
    if ((wred->ecn != SONIC_YES &&
         change_field(p, "WRED_PROFILE", wred->profile, "ecn", "ecn_all", e) != 0) ||
        (wred->enabled != SONIC_YES &&
         change_field(p, "WRED_PROFILE", wred->profile, "wred_green_enable", "true", e) != 0))
        return -1;
    return change_number(p, "WRED_PROFILE", wred->profile,
                         own ? "ecn_green_min_threshold" : "green_min_threshold", ecn->kmin_bytes, e) != 0 ||
                   change_number(p, "WRED_PROFILE", wred->profile,
                                 own ? "ecn_green_max_threshold" : "green_max_threshold", ecn->kmax_bytes,
                                 e) != 0 ||
                   change_number(p, "WRED_PROFILE", wred->profile,
                                 own ? "ecn_green_mark_probability" : "green_drop_probability", percent,
                                 e) != 0
               ? -1
               : 0;
}

/* Nothing is marked: the port's queues have no profile, as `ecnconfig -q` does it. A profile without ECN
 * would drop packets. */
static int plan_off(struct planning *p, const char *port, struct error *e)
{
    const char *name;
    json_t *fields;
    json_object_foreach(json_object_get(p->json, "QUEUE"), name, fields)
    {
        struct text what = {0};
        struct sonic_key key;
        if (!json_object_get(fields, "wred_profile") || !sonic_key_parse(name, &key) ||
            !sonic_key_lists(key.ports, key.ports_length, port))
            continue;
        enum sonic_answer here = sonic_key_is_here(&key, p->config);
        if (here == SONIC_UNKNOWN)
            return error_set(
                e,
                "QUEUE|%.80s: whether this is the line card that it names DEVICE_METADATA|localhost "
                "does not say (hostname, asic_name)",
                name);
        if (here == SONIC_NO)
            continue;
        text_add(&what, "QUEUE|%.80s", name);
        json_t *others = json_object();
        add_ports_of_others(p, key.ports, key.ports_length, others);
        int result = refuse_shared(p, text_string(&what), others, e);
        text_free(&what);
        if (result != 0 || change_field(p, "QUEUE", name, "wred_profile", NULL, e) != 0)
            return -1;
    }
    return 0;
}

static int whole_percent(double pmax, int64_t *percent, struct error *e)
{
    *percent = llround(pmax * 100);
    return fabs(pmax * 100 - (double)*percent) < 1e-6
               ? 0
               : error_set(e, "ecn_threshold.pmax is %g: SONiC takes whole per cent, such as 0.05", pmax);
}

static int plan_ecn(struct planning *p, const struct sonic_port *port, struct error *e)
{
    const struct settings_ecn_threshold *ecn = p->request->settings->ecn_threshold;
    int64_t percent;
    bool any = false;
    if (!ecn)
        return 0;
    if (ecn->kmax_bytes == 0)
        return plan_off(p, port->name, e);
    if (whole_percent(ecn->pmax, &percent, e) != 0)
        return -1;
    if (ecn->kmax_bytes > UINT32_MAX)
        return error_set(e, "ecn_threshold.kmax is %" PRId64 " bytes: SONiC takes at most %" PRIu32,
                         ecn->kmax_bytes, UINT32_MAX);
    for (int i = 0; i < SONIC_QUEUES; i++) {
        if (!*port->queue[i].profile)
            continue;
        any = true;
        if (plan_profile(p, &port->queue[i], percent, e) != 0)
            return -1;
    }
    return any ? 0
               : error_set(e,
                           "%s: no queue has a WRED profile, whose thresholds could be set: give it one "
                           "(wred_profile in QUEUE|%s|3)",
                           port->name, port->name);
}

/* ---- the watchdog */

static int whole_ms(int64_t value_ns, const char *name, int64_t least, int64_t most, int64_t *value_ms,
                    struct error *e)
{
    *value_ms = value_ns / NS_PER_MS;
    if (value_ns % NS_PER_MS == 0 && *value_ms >= least && *value_ms <= most)
        return 0;
    return error_set(e, "watchdog.%s is %g ms: SONiC takes whole milliseconds from %" PRId64 " to %" PRId64,
                     name, (double)value_ns / 1e6, least, most);
}

static int watchdog_times(const struct planning *p, int64_t *detect, int64_t *restore, struct error *e)
{
    const struct settings_watchdog *w = p->request->settings->watchdog;
    int64_t poll = p->config->poll_ms == FIELD_UNSET ? SONIC_POLL_DEFAULT_MS : p->config->poll_ms;
    if (poll == SONIC_UNREAD)
        return error_set(e,
                         "watchdog: POLL_INTERVAL of PFC_WD|GLOBAL was not understood, below which its times "
                         "may not be");
    if (whole_ms(w->detect_ns, "detect", SONIC_DETECTION_LEAST_MS, SONIC_DETECTION_MOST_MS, detect, e) != 0 ||
        whole_ms(w->restore_ns == FIELD_UNSET ? 2 * w->detect_ns : w->restore_ns, "restore",
                 SONIC_RESTORATION_LEAST_MS, SONIC_RESTORATION_MOST_MS, restore, e) != 0)
        return -1;
    return *detect >= poll && *restore >= poll
               ? 0
               : error_set(e,
                           "watchdog: detect %" PRId64 " ms and restore %" PRId64
                           " ms: neither may be below PFC_WD|GLOBAL POLL_INTERVAL, %" PRId64 " ms",
                           *detect, *restore, poll);
}

static int remove_watchdog(struct planning *p, const char *port, struct error *e)
{
    const char *field;
    json_t *value;
    json_object_foreach(json_object_get(json_object_get(p->json, "PFC_WD"), port), field, value)
    {
        (void)value;
        if (change_field(p, "PFC_WD", port, field, NULL, e) != 0)
            return -1;
    }
    return 0;
}

static int plan_watchdog(struct planning *p, const struct sonic_port *port, struct error *e)
{
    const struct settings_watchdog *w = p->request->settings->watchdog;
    int64_t detect = 0, restore = 0;
    if (!w)
        return 0;
    if (w->detect_ns == 0)
        return remove_watchdog(p, port->name, e);
    if (port->has_pfc == SONIC_NO && !p->request->settings->pfc.items)
        return error_set(e,
                         "%s: PORT_QOS_MAP has no pfc_enable for it: the switch watches PFC priorities only",
                         port->name);
    return watchdog_times(p, &detect, &restore, e) != 0 ||
                   change_number(p, "PFC_WD", port->name, "detection_time", detect, e) != 0 ||
                   change_number(p, "PFC_WD", port->name, "restoration_time", restore, e) != 0 ||
                   change_field(p, "PFC_WD", port->name, "action", settings_watchdog_action_names[w->action],
                                e) != 0
               ? -1
               : 0;
}

/* ---- all */

int sonic_settings_plan(const struct sonic_request *request, const json_t *json,
                        const struct sonic_config *config, struct sonic_changes *out, json_t *warnings,
                        struct error *e)
{
    *out = (struct sonic_changes){json_object(), json_object()};
    struct planning p = {request, json, config, out, json_array()};
    int result = 0;
    for (size_t i = 0; result == 0 && i < config->count; i++) {
        const struct sonic_port *port = &config->ports[i];
        result = !port->exists ? error_set(e, "the switch has no port %s", port->name)
                 : plan_pfc(&p, port->name, e) != 0 || plan_ecn(&p, port, e) != 0 ||
                         plan_watchdog(&p, port, e) != 0
                     ? -1
                     : 0;
    }
    size_t i;
    json_t *warning;
    json_array_foreach(p.warnings, i, warning) /* several queues use one profile */
    {
        if (i == 0 || !json_equal(warning, json_array_get(p.warnings, i - 1)))
            json_array_append(warnings, warning);
    }
    json_decref(p.warnings);
    if (result != 0) {
        error_one_line(e); /* keys of the switch are in it */
        sonic_changes_free(out);
    }
    return result;
}

void sonic_settings_put(json_t *tables, const json_t *wanted)
{
    const char *key, *field;
    json_t *fields, *value;
    json_object_foreach((json_t *)(uintptr_t)wanted, key, fields)
    {
        char table[SONIC_NAME];
        const char *entry = sonic_key_entry(key, table, sizeof table);
        json_t *all = object_at(tables, table), *there = entry ? object_at(all, entry) : NULL;
        json_object_foreach(fields, field, value)
        {
            if (json_is_null(value))
                json_object_del(there, field);
            else
                json_object_set(there, field, value);
        }
        if (entry && json_object_size(there) == 0)
            json_object_del(all, entry);
    }
}

void sonic_changes_free(struct sonic_changes *changes)
{
    json_decref(changes->before);
    json_decref(changes->wanted);
    *changes = (struct sonic_changes){0};
}

/* ---- in a scenario's words */

static json_t *pfc_json(const struct sonic_port *port)
{
    json_t *list = port->has_pfc == SONIC_YES ? json_array() : NULL;
    for (int i = 0; list && i < SONIC_PRIORITIES; i++)
        if (port->pfc >> i & 1)
            json_array_append_new(list, json_integer(i));
    return list;
}

/* Thresholds of the queues that have a profile; NULL: they differ, or a value is not given. */
static json_t *ecn_json(const struct sonic_port *port)
{
    const struct sonic_wred *first = NULL;
    for (int i = 0; i < SONIC_QUEUES; i++) {
        const struct sonic_wred *w = &port->queue[i];
        if (!*w->profile)
            continue;
        if (first &&
            (w->kmin_bytes != first->kmin_bytes || w->kmax_bytes != first->kmax_bytes ||
             w->pmax_percent != first->pmax_percent || w->ecn != first->ecn || w->enabled != first->enabled))
            return NULL;
        first = w;
    }
    if (!first)
        return json_make("{s:I,s:I,s:f}", "kmin", (json_int_t)0, "kmax", (json_int_t)0, "pmax", 0.0);
    if (first->ecn != SONIC_YES || first->enabled != SONIC_YES || !sonic_is_given(first->kmin_bytes) ||
        !sonic_is_given(first->kmax_bytes) || !sonic_is_given(first->pmax_percent))
        return NULL;
    return json_make("{s:I,s:I,s:f}", "kmin", (json_int_t)first->kmin_bytes, "kmax",
                     (json_int_t)first->kmax_bytes, "pmax", (double)first->pmax_percent / 100);
}

static json_t *watchdog_json(const struct sonic_watchdog *w)
{
    json_t *json = json_object();
    if (w->on == SONIC_NO)
        json_object_set_new(json, "detect", json_text("0"));
    if (sonic_is_given(w->detection_ms))
        json_object_set_new(json, "detect", json_textf("%" PRId64 "ms", w->detection_ms));
    if (sonic_is_given(w->restoration_ms))
        json_object_set_new(json, "restore", json_textf("%" PRId64 "ms", w->restoration_ms));
    if (*w->action && !sonic_is_unread(w->action))
        json_object_set_new(json, "action", json_text(w->action));
    return json;
}

json_t *sonic_settings_json(const struct sonic_config *config)
{
    json_t *all = json_object();
    for (size_t i = 0; i < config->count; i++) {
        const struct sonic_port *port = &config->ports[i];
        if (port->exists)
            json_put(all, port->name,
                     json_make("{s:o*,s:o*,s:o*}", "pfc", pfc_json(port), "ecn_threshold", ecn_json(port),
                               "watchdog", watchdog_json(&port->watchdog)));
    }
    return all;
}

/* ---- is it in force? Attributes of ASIC_DB: opencomputeproject/SAI, inc/saiport.h, saiqueue.h, saiwred.h */

const char sonic_asic_script[] =
    "local function hash(key)\n"
    "  local f, all = {}, redis.call('HGETALL', key)\n"
    "  for i = 1, #all, 2 do f[all[i]] = all[i + 1] end\n"
    "  return f\n"
    "end\n"
    "local out = {ports = {}}\n"
    "for _, port in ipairs(ARGV) do\n"
    "  redis.call('SELECT', 2)\n"
    "  local oid, queues = redis.call('HGET', 'COUNTERS_PORT_NAME_MAP', port), {}\n"
    "  for i = 0, 9 do queues[i] = redis.call('HGET', 'COUNTERS_QUEUE_NAME_MAP', port .. ':' .. i) end\n"
    "  redis.call('SELECT', 1)\n"
    "  local key = 'ASIC_STATE:SAI_OBJECT_TYPE_PORT:' .. (oid or '')\n"
    "  if oid and redis.call('EXISTS', key) == 1 then\n"
    "    local of = {port = hash(key), queues = {}}\n"
    "    for i = 0, 9 do\n"
    "      local queue = queues[i] and 'ASIC_STATE:SAI_OBJECT_TYPE_QUEUE:' .. queues[i]\n"
    "      if queue and redis.call('EXISTS', queue) == 1 then\n"
    "        local wred = redis.call('HGET', queue, 'SAI_QUEUE_ATTR_WRED_PROFILE_ID')\n"
    "        of.queues[tostring(i)] = hash('ASIC_STATE:SAI_OBJECT_TYPE_WRED:' .. (wred or ''))\n"
    "      end\n"
    "    end\n"
    "    out.ports[port] = of\n"
    "  end\n"
    "end\n"
    "return cjson.encode(out)\n";

/* With asymmetric PFC a port has a mask for each direction; that for sending follows CONFIG_DB (sonic-swss,
 * portsorch.cpp, setPortPfc). */
static bool asic_has_pfc(const struct sonic_port *port, const json_t *attributes, struct text *why)
{
    const char *mode =
        json_string_value(json_object_get(attributes, "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_MODE"));
    bool separate = mode && strcmp(mode, "SAI_PORT_PRIORITY_FLOW_CONTROL_MODE_SEPARATE") == 0;
    int64_t mask = 0;
    sonic_read_value(
        attributes,
        separate ? "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_TX" : "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL", &mask);
    if (port->has_pfc != SONIC_YES || mask == port->pfc)
        return true;
    text_add(why, "%s: CONFIG_DB has PFC with the mask 0x%x, the ASIC 0x%" PRIx64, port->name,
             (unsigned)port->pfc, mask);
    return false;
}

static bool attribute_agrees(int64_t wanted, const json_t *attributes, const char *name,
                             const struct sonic_port *port, int queue, struct text *why)
{
    int64_t value = FIELD_UNSET;
    if (!sonic_is_given(wanted) || (sonic_read_value(attributes, name, &value) && value == wanted))
        return true;
    text_add(why, "%s, queue %d: %s ", port->name, queue, name);
    if (value == FIELD_UNSET)
        text_add(why, "is not there");
    else
        text_add(why, "is %" PRId64, value);
    text_add(why, ", by CONFIG_DB %" PRId64, wanted);
    return false;
}

static bool asic_has_wred(const struct sonic_port *port, int queue, const json_t *attributes,
                          struct text *why)
{
    const struct sonic_wred *w = &port->queue[queue];
    if (!*w->profile && json_object_size(attributes) == 0)
        return true;
    if (!*w->profile) {
        text_add(why, "%s, queue %d: it has no WRED profile in CONFIG_DB, and one in the ASIC", port->name,
                 queue);
        return false;
    }
    if (sonic_is_unread(w->profile))
        return true;
    if (w->own_ecn) /* these attributes have other names, which not all releases have */
        return true;
    return attribute_agrees(w->kmin_bytes, attributes, "SAI_WRED_ATTR_GREEN_MIN_THRESHOLD", port, queue,
                            why) &&
           attribute_agrees(w->kmax_bytes, attributes, "SAI_WRED_ATTR_GREEN_MAX_THRESHOLD", port, queue,
                            why) &&
           attribute_agrees(w->pmax_percent, attributes, "SAI_WRED_ATTR_GREEN_DROP_PROBABILITY", port, queue,
                            why);
}

enum sonic_applied sonic_asic_has(const struct sonic_port *port, const json_t *asic, struct text *why)
{
    const json_t *attributes = json_object_get(asic, "port"), *queues = json_object_get(asic, "queues");
    char key[8];
    if (!json_is_object(attributes))
        return SONIC_UNSEEN;
    if (!asic_has_pfc(port, attributes, why))
        return SONIC_DIFFERS;
    for (int i = 0; i < SONIC_QUEUES; i++) {
        snprintf(key, sizeof key, "%d", i);
        const json_t *queue = json_object_get(queues, key);
        if (queue && !asic_has_wred(port, i, queue, why))
            return SONIC_DIFFERS;
    }
    return SONIC_APPLIED;
}

/* ---- what redis runs to write, and to put back. Databases by their numbers (redis.h) */

/* The journal is in STATE_DB: it comes and goes in one step with the values, and CONFIG_DB has only tables
 * that SONiC knows (`config reload` refuses a saved one with others: sonic-utilities, config/main.py,
 * config_file_yang_validation). */
#define JOURNAL      "'" SONIC_JOURNAL "'"
#define OPEN_JOURNAL "redis.call('SELECT', 6)\nlocal open = redis.call('HGET', " JOURNAL ", 'journal')\n"

/* The commands that write PFC_WD remove an entry and make it again (sonic-utilities, pfcwd/main.py):
 * orchagent starts a watchdog once. */
#define WRITE                                                                                \
    "local function write(key, fields, values)\n"                                            \
    "  local whole = string.sub(key, 1, 7) == 'PFC_WD|'\n"                                   \
    "  local left = whole and redis.call('HGETALL', key) or {}\n"                            \
    "  if whole then redis.call('DEL', key) end\n"                                           \
    "  for i = 1, #left, 2 do\n"                                                             \
    "    if fields[left[i]] == nil then redis.call('HSET', key, left[i], left[i + 1]) end\n" \
    "  end\n"                                                                                \
    "  for field, value in pairs(values) do\n"                                               \
    "    if value == cjson.null then redis.call('HDEL', key, field)\n"                       \
    "    else redis.call('HSET', key, field, value) end\n"                                   \
    "  end\n"                                                                                \
    "end\n"

const char sonic_set_script[] =
    WRITE "local journal = cjson.decode(ARGV[1])\n" OPEN_JOURNAL
          "if open then return cjson.encode({open = open}) end\n"
          "redis.call('SELECT', 4)\n"
          "for key, fields in pairs(journal.before) do\n"
          "  for field, value in pairs(fields) do\n"
          "    local now = redis.call('HGET', key, field) or cjson.null\n"
          "    if now ~= value then return cjson.encode({changed = key .. ' ' .. field}) end\n"
          "  end\n"
          "end\n"
          "redis.call('SELECT', 6)\n"
          "redis.call('HSET', " JOURNAL ", 'journal', ARGV[1])\n"
          "redis.call('SELECT', 4)\n"
          "for key, values in pairs(journal.wanted) do write(key, journal.before[key], values) end\n"
          "return cjson.encode({set = true})\n";

const char sonic_restore_script[] = WRITE OPEN_JOURNAL
    "if not open then return cjson.encode({open = false}) end\n"
    "local journal, restored = cjson.decode(open), {}\n"
    "redis.call('SELECT', 4)\n"
    "for key, values in pairs(journal.before) do\n"
    "  for field, value in pairs(values) do\n"
    "    restored[#restored + 1] = {interface = key, setting = field, put_back = value,\n"
    "                               found = redis.call('HGET', key, field) or cjson.null}\n"
    "  end\n"
    "  write(key, values, values)\n"
    "end\n"
    "redis.call('SELECT', 6)\n"
    "redis.call('DEL', " JOURNAL ")\n"
    "return cjson.encode({open = true, since_s = journal.since_s, restored = restored})\n";
