#include "harness/doctor/switches/switch.h"

#include "harness/labs/hosts/sonic/redis.h"
#include "harness/labs/hosts/sonic/switches.h"
#include "harness/plan/traffic_class.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <stdlib.h>
#include <string.h>
#include "lib/words.h"

/* A switch of the lab, and what was read of it. */
struct read_switch {
    const struct lab_switch *of;
    struct switch_role role; /* its ports */
    bool read;
    json_t *tables;
    struct sonic_config config;
    struct text from;
    json_t *counted; /* a reading of its counters; NULL: none */
};

struct doctor_switches {
    struct read_switch *items;
    size_t count;
};

/* ---- words */

void switch_describe_end(const struct switch_end *end, struct text *out)
{
    const char *peer = lab_link_peer(end->link, end->of->name);
    text_add(out, "%s (to %s)", end->port->name, peer ? peer : "?");
}

void switch_describe_priorities(unsigned bits, struct text *out)
{
    bool any = false;
    for (int i = 0; i < SONIC_PRIORITIES; i++)
        if (bits >> i & 1) {
            text_add(out, "%s%d", any ? "," : "", i);
            any = true;
        }
    if (!any)
        text_add(out, "none");
}

void switch_describe_rate(int64_t speed_Mbps, struct text *out)
{
    char word[40];
    text_add(out, "%s", units_write(UNIT_RATE_BPS, speed_Mbps * 1000000, UNITS_DECIMAL, word, sizeof word));
}

void switch_describe_length(int64_t length_mm, struct text *out)
{
    char word[40];
    text_add(out, "%s", units_write(UNIT_LENGTH_MM, length_mm, UNITS_DECIMAL, word, sizeof word));
}

/* ---- what the checks share */

unsigned switch_flow_priorities(const struct doctor_subject *x)
{
    unsigned bits = 0;
    const struct scenario *scenario = x->cell ? &x->cell->scenario : NULL;
    const struct scenario_flow *flows = scenario ? scenario->flows.items : NULL;
    for (size_t i = 0; x->end->role && scenario && i < scenario->flows.count; i++)
        if (strcmp(flows[i].from, x->end->role) == 0 || strcmp(flows[i].to, x->end->role) == 0)
            bits |= 1u << (flows[i].priority & 7);
    return bits;
}

void switch_report_pfc_unread(const struct doctor_subject *x, const char *check)
{
    struct text reason = {0};
    switch_describe_end(x->end, &reason);
    text_add(&reason, ": which priorities have PFC was not understood (pfc_enable)");
    doctor_add(x->entries, x->end->of->name, check, "unknown", NULL, "%s", text_string(&reason));
    doctor_add_evidence(x->entries, "%s: PORT_QOS_MAP|%s", x->end->from, x->end->port->name);
    text_free(&reason);
}

int64_t switch_senders_to(const struct doctor_subject *x, int priority)
{
    const struct scenario *scenario = x->cell ? &x->cell->scenario : NULL;
    const struct scenario_flow *flows = scenario ? scenario->flows.items : NULL;
    json_t *senders = json_object();
    for (size_t i = 0; x->end->role && scenario && i < scenario->flows.count; i++)
        if (strcmp(flow_receiver(&flows[i]), x->end->role) == 0 && flows[i].priority == priority)
            json_put(senders, flow_sender(&flows[i]), json_true());
    int64_t count = (int64_t)json_object_size(senders);
    json_decref(senders);
    return count;
}

/* A dynamic threshold is alpha times what is free of the pool: n groups get n alpha / (1 + n alpha) of it
 * (SAI's SAI_BUFFER_PROFILE_ATTR_SHARED_DYNAMIC_TH, alpha = 2 to its power). */
int64_t switch_most_before_xoff(const struct sonic_buffer *b, int64_t senders)
{
    int64_t reserved = sonic_is_given(b->size_bytes) ? b->size_bytes : 0;
    if (b->size_bytes == SONIC_UNREAD)
        return FIELD_UNSET;
    if (b->threshold == SONIC_STATIC)
        return senders * (b->static_bytes + reserved);
    if (b->threshold != SONIC_DYNAMIC || !sonic_is_given(b->pool_bytes))
        return FIELD_UNSET;
    double alpha = b->alpha_log >= 0 ? (double)(1 << b->alpha_log) : 1.0 / (double)(1 << -b->alpha_log);
    double all = (double)senders * alpha;
    return (int64_t)((double)b->pool_bytes * all / (1 + all)) + senders * reserved;
}

/* ---- reading */

/* CONFIG_DB and counters of a running switch. */
static json_t *ask_switch(struct read_switch *s, struct error *e)
{
    struct error ignored; /* its counters, of which a port has none, are not judged */
    text_add(&s->from, "CONFIG_DB of %s, by redis-cli over ssh", s->of->name);
    struct ssh_session *session = sonic_open(s->of, NULL, e);
    json_t *tables = session ? sonic_tables(s->of, session, e) : NULL;
    if (tables)
        s->counted = sonic_ask(s->of, session, SONIC_COUNTERS_DB, sonic_counters_script, s->role.ports,
                               s->role.port_count, &ignored);
    if (session)
        ssh_close(session);
    return tables;
}

static int read_config(const struct doctor_subject *x, struct read_switch *s, struct error *e)
{
    struct switch_role *r = &s->role;
    r->ports = sonic_ports_named(x->lab, s->of, &r->port_count);
    if (s->of->config)
        text_add(&s->from, "%s", s->of->config);
    s->tables = s->of->config ? json_file_load(s->of->config, DOCUMENT_ANSWER, e) : ask_switch(s, e);
    if (!s->tables)
        return -1;
    return sonic_config_read(s->tables, r->ports, r->port_count, &s->config, e) == 0
               ? 0
               : error_prefix(e, "%s", text_string(&s->from));
}

/* Each costs its own value alone, which the checks take for unknown. */
static void report_unread(const struct doctor_subject *x, const struct read_switch *s)
{
    size_t i;
    const json_t *sentence;
    json_array_foreach(s->config.unread, i, sentence)
    {
        doctor_add(x->entries, s->of->name, "config-db", "warning",
                   "correct the value; what depends on it is unknown until then", "%s",
                   json_string_value(sentence));
        doctor_add_evidence(x->entries, "%s", text_string(&s->from));
    }
}

static void examine_config(const struct doctor_subject *x, struct read_switch *s)
{
    struct error e;
    struct text fix = {0};
    const struct lab_switch *of = s->of;
    s->read = read_config(x, s, &e) == 0;
    if (of->ssh) {
        doctor_begin_ssh(&fix, of->ssh, of->port, of->identity, of->known_hosts, "redis-cli");
        text_add(&fix, "%s%s -n 4 KEYS 'PORT|*'", of->socket ? " -s " : "", of->socket ? of->socket : "");
    } else {
        text_add(&fix, "record it on the switch: sonic-cfggen -d --print-data > config_db.json");
    }
    if (s->read)
        doctor_add(x->entries, of->name, "config-db", "ok", NULL, "SONiC%s%s%s%s",
                   *s->config.hwsku ? ", " : "", s->config.hwsku, *s->config.platform ? ", " : "",
                   s->config.platform);
    else
        doctor_add(x->entries, of->name, "config-db", "failure", text_string(&fix), "%s", e.text);
    doctor_add_evidence(x->entries, "%s", text_string(&s->from));
    if (s->read)
        report_unread(x, s);
    if (json_is_true(json_object_get(s->counted, "journal"))) {
        text_clear(&fix);
        text_add(&fix, "harness restore --lab ");
        shell_quote(&fix, x->lab_path);
        doctor_add(x->entries, of->name, "settings", "warning", text_string(&fix),
                   "settings of an earlier run were not restored");
        doctor_add_evidence(x->entries, "HARNESS_JOURNAL in STATE_DB of the switch");
    }
    text_free(&fix);
}

static const char *role_of_switch(const struct cell *cell, const struct lab_switch *of)
{
    const char *role;
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++) {
        const struct lab_switch *has = lab_real_switch(&cell->lab, role);
        if (has && strcmp(has->name, of->name) == 0)
            return role;
    }
    return NULL;
}

static void note_columns(const struct doctor_subject *x, const struct read_switch *s)
{
    const char *role = x->plan ? role_of_switch(&x->plan->first, s->of) : NULL;
    if (!role || !s->counted)
        return;
    struct sonic_series *series =
        sonic_series_open(x->lab, s->of, s->counted, scenario_groups(&x->plan->first.scenario));
    json_object_set_new(x->seen->columns, role, sonic_series_names(series));
    sonic_series_close(series);
}

struct doctor_switches *doctor_switches_read(const struct doctor_subject *x)
{
    struct doctor_switches *all = xcalloc(1, sizeof *all);
    const struct lab_switch *of;
    while (lab_real_switch_at(x->lab, all->count))
        all->count++;
    all->items = xcalloc(all->count + 1, sizeof *all->items);
    for (size_t i = 0; (of = lab_real_switch_at(x->lab, i)); i++) {
        struct read_switch *s = &all->items[i];
        s->of = s->role.of = of;
        examine_config(x, s);
        note_columns(x, s);
    }
    return all;
}

void doctor_switches_close(struct doctor_switches *all)
{
    for (size_t i = 0; i < all->count; i++) {
        struct read_switch *s = &all->items[i];
        sonic_config_free(&s->config);
        text_free(&s->from);
        free((void *)s->role.ports);
        json_decref(s->tables);
        json_decref(s->counted);
    }
    free(all->items);
    free(all);
}

/* ---- the ports of one switch */

static const char *role_of_host(const struct doctor_subject *x, const struct lab_host *host)
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
static void see_host(const struct doctor_subject *x, struct switch_end *end)
{
    int node = lab_node_index(x->lab, lab_link_peer(end->link, end->of->name));
    end->host = node < 0 ? NULL : lab_host_at(x->lab, (size_t)node);
    end->host_mtu = end->host_speed_Mbps = FIELD_UNSET;
    if (!end->host)
        return;
    end->role = role_of_host(x, end->host);
    const json_t *seen = json_object_get(x->seen->interfaces, x->cell ? end->role : end->host->name);
    const json_t *now = json_object_get(seen, "settings");
    json_t *wanted = x->cell && end->role ? scenario_role_settings(x->cell->scenario_json, end->role) : NULL;
    end->settings = now ? json_deep_copy(now) : json_object();
    if (wanted)
        json_merge_deep(end->settings, wanted);
    json_decref(wanted);
    end->host_mtu = number_or_unset(json_object_get(end->settings, "mtu"));
    end->host_speed_Mbps = number_or_unset(json_object_get(seen, "speed_Mbps"));
}

void doctor_walk_ports(const struct doctor_subject *x, struct switch_end end)
{
    const struct lab_link *link;
    size_t count = 0;
    for (size_t i = 0; (link = lab_link_at(x->lab, i)); i++) {
        const char *name = lab_link_port(link, end.of->name);
        struct switch_end of_link = end;
        struct doctor_subject of_port = *x;
        of_link.link = link;
        of_link.port = name ? sonic_port_named(end.config, name) : NULL;
        if (!of_link.port)
            continue;
        count++;
        see_host(x, &of_link);
        unsigned found =
            (of_link.port->exists ? DOCTOR_NEEDS_PORT : 0) | (of_link.host ? DOCTOR_NEEDS_PORT_HOST : 0);
        of_port.end = &of_link;
        of_port.found = &found;
        doctor_walk(DOCTOR_PORT, DOCTOR_EXAMINES, &of_port);
        json_decref(of_link.settings);
    }
    if (count == 0) {
        doctor_add(x->entries, end.of->name, "port", "unknown",
                   "name them: \"ports\": {\"SWITCH\": \"Ethernet0\"} in links",
                   "no link of the lab names a port of this switch: none was checked");
        doctor_add_evidence(x->entries, "links of the lab");
    }
}

/* ---- what a run would set */

static void report_changes(const struct doctor_subject *x, const struct read_switch *s,
                           const struct sonic_changes *changes)
{
    const char *key, *field;
    json_t *fields, *value;
    json_object_foreach(changes->wanted, key, fields)
    {
        json_object_foreach(fields, field, value)
        {
            const char *now =
                json_string_value(json_object_get(json_object_get(changes->before, key), field));
            doctor_add(x->entries, s->of->name, "settings", "ok", NULL,
                       "%s: a run changes %s from %s to %s, and back", key, field, now ? now : "none",
                       json_is_null(value) ? "none" : json_string_value(value));
            doctor_add_evidence(x->entries, "%s", text_string(&s->from));
        }
    }
}

/* CONFIG_DB's tables as they are in the cell's run; NULL: the run would be refused. A new reference. */
static json_t *tables_in_run(const struct doctor_subject *x, const struct read_switch *s, const char *role)
{
    struct error e;
    struct sonic_changes changes;
    const struct switch_settings now = {s->tables, s->config};
    json_t *wanted = scenario_role_settings(x->cell->scenario_json, role), *warnings = json_array(), *warning;
    json_t *tables = NULL;
    size_t i;
    if (switch_settings_plan(&s->role, &now, wanted, &changes, warnings, &e) == 0) {
        report_changes(x, s, &changes);
        tables = json_deep_copy(s->tables);
        sonic_settings_put(tables, changes.wanted);
        sonic_changes_free(&changes);
    } else {
        doctor_add(x->entries, s->of->name, "settings", "failure", NULL, "%s", e.text);
        doctor_add_evidence(x->entries, "%s", text_string(&s->from));
    }
    json_array_foreach(warnings, i, warning)
    {
        doctor_add(x->entries, s->of->name, "settings", "warning", NULL, "%s", json_string_value(warning));
        doctor_add_evidence(x->entries, "%s", text_string(&s->from));
    }
    json_decref(warnings);
    json_decref(wanted);
    return tables;
}

/* With the settings that the cell's run would have; without a role those that are there. */
static void examine_switch(const struct doctor_subject *x, const struct read_switch *s)
{
    struct error e;
    struct sonic_config in_run = {0};
    struct switch_end end = {
        .of = s->of, .config = &s->config, .recorded = s->of->config, .from = text_string(&s->from)};
    const char *role = x->cell ? role_of_switch(x->cell, s->of) : NULL;
    json_t *tables = role ? tables_in_run(x, s, role) : NULL;
    bool changed = tables && sonic_config_read(tables, s->role.ports, s->role.port_count, &in_run, &e) == 0;
    if (changed)
        end.config = &in_run;
    doctor_walk_ports(x, end);
    if (changed)
        sonic_config_free(&in_run);
    json_decref(tables);
}

/* ---- all switches */

static void walk_cables(const struct doctor_subject *x, const struct doctor_switches *all)
{
    const struct lab_link *link;
    for (size_t i = 0; (link = lab_link_at(x->lab, i)); i++) {
        struct switch_cable cable;
        size_t ends = 0;
        for (size_t k = 0; ends < 2 && k < all->count; k++) {
            const struct read_switch *s = &all->items[k];
            const char *name = lab_link_port(link, s->of->name);
            const struct sonic_port *port = name && s->read ? sonic_port_named(&s->config, name) : NULL;
            if (port) {
                cable.names[ends] = s->of->name;
                cable.ports[ends++] = port;
            }
        }
        struct doctor_subject of_cable = *x;
        of_cable.cable = &cable;
        if (ends == 2)
            doctor_walk(DOCTOR_CABLE, DOCTOR_EXAMINES, &of_cable);
    }
}

static void examine_switches(const struct doctor_subject *x, const struct doctor_switches *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].read)
            examine_switch(x, &all->items[i]);
}

void doctor_walk_switches(const struct doctor_subject *x, const struct doctor_switches *all)
{
    const struct cell *cell;
    for (size_t i = 0; (cell = doctor_cell_at(x->plan, i)); i++) {
        struct doctor_subject of_cell = *x;
        of_cell.lab = &cell->lab;
        of_cell.cell = cell;
        of_cell.entries = json_array();
        examine_switches(&of_cell, all);
        doctor_add_new(x->entries, of_cell.entries);
        plan_release(x->plan, cell);
    }
    if (!x->plan)
        examine_switches(x, all);
    walk_cables(x, all);
}
