#include "harness/doctor/switches/switches.h"

#include "harness/labs/hosts/sonic/redis.h"
#include "harness/labs/hosts/sonic/switches.h"
#include "harness/doctor/doctor.h"
#include "harness/doctor/switches/check.h"
#include "lib/document/json_text.h"
#include "lib/log.h"
#include "lib/text.h"
#include <stdlib.h>
#include <string.h>

/* A switch of the lab, and what was read of it. */
struct look {
    const struct lab_switch *of;
    struct switch_role role; /* its ports */
    bool read;
    json_t *tables;
    struct sonic_config config;
    struct text from;
    json_t *counted; /* a reading of its counters; NULL: none */
};

/* CONFIG_DB and counters of a running switch. */
static json_t *ask_switch(struct look *look, struct error *e)
{
    struct error ignored; /* its counters, of which a port has none, are not judged */
    text_add(&look->from, "CONFIG_DB of %s, by redis-cli over ssh", look->of->name);
    struct ssh_session *session = sonic_open(look->of, NULL, e);
    json_t *tables = session ? sonic_tables(look->of, session, e) : NULL;
    if (tables)
        look->counted = sonic_ask(look->of, session, SONIC_COUNTERS_DB, sonic_counters_script,
                                  look->role.ports, look->role.port_count, &ignored);
    if (session)
        ssh_close(session);
    return tables;
}

static int read_config(const struct lab *lab, const char *lab_path, struct look *look, struct error *e)
{
    struct switch_role *r = &look->role;
    r->ports = sonic_ports_named(lab, look->of, &r->port_count);
    look->tables =
        look->of->config ? sonic_recorded(look->of, lab_path, &look->from, e) : ask_switch(look, e);
    if (!look->tables)
        return -1;
    return sonic_config_read(look->tables, r->ports, r->port_count, &look->config, e) == 0
               ? 0
               : error_prefix(e, "%s", text_string(&look->from));
}

static void read_switch(const struct lab *lab, const char *lab_path, struct look *look, json_t *entries)
{
    struct error e;
    struct text fix = {0};
    const struct lab_switch *s = look->of;
    look->read = read_config(lab, lab_path, look, &e) == 0;
    if (s->ssh)
        text_add(&fix, "ssh %s redis-cli%s%s -n 4 KEYS 'PORT|*'", s->ssh, s->socket ? " -s " : "",
                 s->socket ? s->socket : "");
    else
        text_add(&fix, "record it on the switch: sonic-cfggen -d --print-data > config_db.json");
    if (look->read)
        preflight_say(entries, s->name, "config-db", "ok", NULL, "SONiC%s%s%s%s",
                      *look->config.hwsku ? ", " : "", look->config.hwsku, *look->config.platform ? ", " : "",
                      look->config.platform);
    else
        preflight_say(entries, s->name, "config-db", "failure", text_string(&fix), "%s", e.text);
    preflight_read(entries, "%s", text_string(&look->from));
    if (json_is_true(json_object_get(look->counted, "journal"))) {
        text_clear(&fix);
        text_add(&fix, "harness restore --lab %s", lab_path);
        preflight_say(entries, s->name, "settings", "warning", text_string(&fix),
                      "settings of an earlier run were not restored");
        preflight_read(entries, "HARNESS_JOURNAL in STATE_DB of the switch");
    }
    text_free(&fix);
}

/* ---- what a run would set */

static const char *role_of(const struct cell *cell, const struct lab_switch *of)
{
    const char *role;
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++) {
        const struct lab_switch *has = lab_real_switch(&cell->lab, role);
        if (has && strcmp(has->name, of->name) == 0)
            return role;
    }
    return NULL;
}

static void say_changes(const struct look *look, const struct sonic_changes *changes, json_t *entries)
{
    const char *key, *field;
    json_t *fields, *value;
    json_object_foreach(changes->wanted, key, fields)
    {
        json_object_foreach(fields, field, value)
        {
            const char *now =
                json_string_value(json_object_get(json_object_get(changes->before, key), field));
            preflight_say(entries, look->of->name, "settings", "ok", NULL,
                          "%s: a run changes %s from %s to %s, and back", key, field, now ? now : "none",
                          json_is_null(value) ? "none" : json_string_value(value));
            preflight_read(entries, "%s", text_string(&look->from));
        }
    }
}

/* CONFIG_DB's tables as they are in the cell's run; NULL: the run would be refused. A new reference. */
static json_t *tables_in(const struct look *look, const struct cell *cell, const char *role, json_t *entries)
{
    struct error e;
    struct sonic_changes changes;
    const struct switch_settings now = {look->tables, look->config};
    json_t *wanted = scenario_role_settings(cell->scenario_json, role), *warnings = json_array(), *warning;
    json_t *tables = NULL;
    size_t i;
    if (switch_settings_plan(&look->role, &now, wanted, &changes, warnings, &e) == 0) {
        say_changes(look, &changes, entries);
        tables = json_deep_copy(look->tables);
        sonic_settings_put(tables, changes.wanted);
        sonic_changes_free(&changes);
    } else {
        preflight_say(entries, look->of->name, "settings", "failure", NULL, "%s", e.text);
        preflight_read(entries, "%s", text_string(&look->from));
    }
    json_array_foreach(warnings, i, warning)
    {
        preflight_say(entries, look->of->name, "settings", "warning", NULL, "%s", json_string_value(warning));
        preflight_read(entries, "%s", text_string(&look->from));
    }
    json_decref(warnings);
    json_decref(wanted);
    return tables;
}

/* With the settings that the cell's run would have; without a role those that are there. */
static void check_in(const struct look *look, const struct cell *cell, const struct sonic_subject *subject)
{
    struct error e;
    struct sonic_config config;
    const char *role = cell ? role_of(cell, look->of) : NULL;
    json_t *tables = role ? tables_in(look, cell, role, subject->entries) : NULL;
    if (tables && sonic_config_read(tables, look->role.ports, look->role.port_count, &config, &e) == 0) {
        struct sonic_subject then = *subject;
        then.config = &config;
        sonic_examine(&then);
        sonic_config_free(&config);
    } else {
        sonic_examine(subject);
    }
    json_decref(tables);
}

/* ---- all switches */

/* Both ends of the cables between switches of which both were read. */
static void check_between(const struct lab *lab, const struct look *looks, json_t *entries)
{
    const struct lab_link *link;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++)
        for (size_t a = 0; looks[a].of; a++)
            for (size_t b = a + 1; looks[b].of; b++) {
                const char *at = lab_link_port(link, looks[a].of->name),
                           *to = lab_link_port(link, looks[b].of->name);
                const struct sonic_port *one =
                    at && looks[a].read ? sonic_port_named(&looks[a].config, at) : NULL;
                const struct sonic_port *other =
                    to && looks[b].read ? sonic_port_named(&looks[b].config, to) : NULL;
                if (one && other)
                    sonic_check_between(looks[a].of->name, one, looks[b].of->name, other, entries);
            }
}

static void check_switches(const struct lab *lab, const struct look *looks, const json_t *seen,
                           const struct cell *cell, json_t *entries)
{
    for (size_t i = 0; looks[i].of; i++) {
        const struct sonic_subject subject = {.lab = lab,
                                              .of = looks[i].of,
                                              .config = &looks[i].config,
                                              .recorded = looks[i].of->config,
                                              .from = text_string(&looks[i].from),
                                              .seen = seen,
                                              .cell = cell,
                                              .entries = entries};
        if (looks[i].read)
            check_in(&looks[i], cell, &subject);
    }
}

/* Cells have settings of their own: each yields entries, of which equal ones are said once. */
static void check_cells(const struct look *looks, const struct plan *plan, const json_t *seen,
                        json_t *entries)
{
    for (size_t i = 0; i < plan->cell_count; i++) {
        struct error e;
        json_t *found = json_array();
        const struct cell *cell = plan_cell(plan, i, &e);
        if (!cell) {
            log_error("%s", e.text);
            json_decref(found);
            return;
        }
        check_switches(&cell->lab, looks, seen, cell, found);
        preflight_add_new(entries, found);
        plan_release(plan, cell);
    }
}

/* The names of its counters, by role. */
static void note_columns(const struct lab *lab, const struct look *look, const struct plan *plan,
                         json_t *columns)
{
    const char *role = plan ? role_of(&plan->first, look->of) : NULL;
    struct sonic_series *series =
        role && look->counted
            ? sonic_series_open(lab, look->of, look->counted, scenario_groups(&plan->first.scenario))
            : NULL;
    if (series)
        json_object_set_new(columns, role, sonic_series_names(series));
    sonic_series_close(series);
}

void sonic_examine_switches(const struct lab *lab, const char *lab_path, const struct plan *plan,
                            const json_t *seen, json_t *columns, json_t *entries)
{
    const struct lab_switch *s;
    size_t count = 0;
    while (lab_real_switch_at(lab, count))
        count++;
    struct look *looks = calloc(count + 1, sizeof *looks);
    if (!looks) {
        preflight_say(entries, lab->name, "config-db", "unknown", NULL, "out of memory for %zu switches",
                      count);
        return;
    }
    for (size_t i = 0; (s = lab_real_switch_at(lab, i)); i++) {
        looks[i].of = looks[i].role.of = s;
        read_switch(lab, lab_path, &looks[i], entries);
        note_columns(lab, &looks[i], plan, columns);
    }
    if (plan)
        check_cells(looks, plan, seen, entries);
    else
        check_switches(lab, looks, seen, NULL, entries);
    check_between(lab, looks, entries);
    for (size_t i = 0; i < count; i++) {
        sonic_config_free(&looks[i].config);
        text_free(&looks[i].from);
        free((void *)looks[i].role.ports);
        json_decref(looks[i].tables);
        json_decref(looks[i].counted);
    }
    free(looks);
}
