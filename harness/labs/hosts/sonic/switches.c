#include "harness/labs/hosts/sonic/switches.h"

#include "harness/labs/hosts/sonic/redis.h"
#include "harness/labs/hosts/start.h"
#include "lib/document/json_text.h"
#include "lib/formats/settings.h"
#include "lib/interrupt.h"
#include "lib/names/range.h"
#include "lib/output/visible.h"
#include "lib/words.h"
#include "lib/xalloc.h"
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_STEP_NS (100 * NS_PER_MS)
#define MOST_STEP_NS  (5 * NS_PER_S)
#define ENDED_NS      (3 * NS_PER_S) /* to find out whether a connection still carries commands */
#define APPLIED_NS    (5 * NS_PER_S) /* for orchagent to have applied what CONFIG_DB says */
#define LOOK_MS       200

/* A warning in one line, whatever the switch has in its values. */
static void warn(json_t *warnings, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void warn(json_t *warnings, const char *format, ...)
{
    struct text line = {0};
    va_list arguments;
    va_start(arguments, format);
    visible_add_line(&line, format, arguments);
    va_end(arguments);
    json_array_append_new(warnings, json_text(text_string(&line)));
    text_free(&line);
}

/* ---- roles: before a switch is reached */

struct port_search {
    const struct cell *cell;
    struct error *e;
    int result;
};

/* A name "port7_..." of roles that are switches, which have fewer ports. */
static void check_port_exists(void *context, const char *role_glob, const char *counter, const char *key)
{
    struct port_search *s = context;
    const char *role, *of = NULL;
    size_t most = 0, digits = strncmp(counter, "port", 4) == 0 ? strspn(counter + 4, "0123456789") : 0;
    (void)key;
    if (s->result != 0 || digits == 0 || digits > 6 || counter[4 + digits] != '_')
        return;
    for (size_t i = 0; (role = scenario_role(&s->cell->scenario, i)); i++) {
        if (!name_matches(role_glob, role))
            continue;
        if (!lab_real_switch(&s->cell->lab, role))
            return;
        size_t ports = sonic_series_ports(&s->cell->lab, lab_node_of(&s->cell->lab, role));
        most = ports > most ? ports : most;
        of = role;
    }
    if (of && strtoul(counter + 4, NULL, 10) >= most)
        s->result = error_set(
            s->e, "%.100s is a switch of lab %s with %zu ports, counted from 0, and has no counter %.100s",
            lab_node_of(&s->cell->lab, of), s->cell->lab.name, most, counter);
}

static int check_ports_exist(const struct cell *cell, struct error *e)
{
    const struct scenario_expect *expect = cell->scenario.expect.items;
    const struct scenario_published *published = cell->scenario.published.items;
    struct port_search search = {cell, e, 0};
    for (size_t i = 0; i < cell->scenario.expect.count; i++)
        if (plan_when(cell, expect[i].when))
            expr_each_counter(cell->checks[i], check_port_exists, &search);
    for (size_t i = 0; i < cell->scenario.published.count; i++)
        if (plan_when(cell, published[i].when))
            expr_each_counter(cell->published[i], check_port_exists, &search);
    return search.result;
}

static bool names_a_port(const struct lab *lab, const struct lab_switch *s)
{
    const struct lab_link *link;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++)
        if (lab_link_port(link, s->name))
            return true;
    return false;
}

int switch_roles_check(const struct cell *cell, struct error *e)
{
    const char *role;
    bool any = false;
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++) {
        const struct lab_switch *s = lab_real_switch(&cell->lab, role);
        any |= s != NULL;
        if (s && s->config)
            return error_set(
                e,
                "role \"%s\": switch %s of lab %s is a recorded file: a run needs a switch that is "
                "reached by ssh",
                role, s->name, cell->lab.name);
        if (s && !names_a_port(&cell->lab, s))
            return error_set(
                e,
                "role \"%s\": no link of lab %s names a port of switch %s: add \"ports\": {\"%s\": "
                "\"Ethernet0\"} to its links",
                role, cell->lab.name, s->name, s->name);
    }
    return any ? check_ports_exist(cell, e) : 0;
}

static void role_make(struct remote_lab *lab, size_t role, const struct lab_switch *of)
{
    struct switch_role *s = lab->hosts[role].sonic = xcalloc(1, sizeof *s);
    s->of = of;
    s->as_host = (struct lab_host){.name = of->name, .ssh = of->ssh, .sudo = of->sudo};
    s->ports = sonic_ports_named(&lab->run->cell->lab, of, &s->port_count);
    lab->hosts[role].lab = &s->as_host;
}

int switch_roles_make(struct remote_lab *lab, struct error *e)
{
    const struct cell *cell = lab->run->cell;
    const char *role;
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++) {
        const struct lab_switch *of = lab_real_switch(&cell->lab, role);
        if (!of)
            continue;
        role_make(lab, i, of);
        if (lab_lock_switch(lab->lock, of, e) != 0)
            return -1;
    }
    return 0;
}

void switch_role_free(struct switch_role *s)
{
    if (!s)
        return;
    sonic_changes_free(&s->changes);
    sonic_series_close(s->series);
    free((void *)s->ports);
    free(s);
}

/* ---- roles: reaching them */

static int role_bring_up(struct remote_lab *lab, struct remote_host *h, struct error *e)
{
    if (!(h->ssh = sonic_open_locked(h->sonic->of, lab->lock, &lab->cancelled, lab->warnings, e)))
        return -1;
    if (lab->run->as_is)
        return 0;
    json_t *answer = switch_restore(h->sonic->of, h->ssh, e);
    if (!answer)
        return error_prefix(e, "restoring settings of an earlier run");
    if (json_is_true(json_object_get(answer, "open")))
        json_array_append_new(
            lab->warnings,
            json_textf("%s: settings that an earlier run had left were restored first", h->lab->name));
    json_decref(answer);
    return 0;
}

int switch_roles_bring_up(struct remote_lab *lab, struct error *e)
{
    for (size_t i = 0; i < lab->host_count; i++)
        if (lab->hosts[i].sonic && role_bring_up(lab, &lab->hosts[i], e) != 0)
            return -1;
    return 0;
}

/* The first name that some port has, with a '#' for its number. */
static bool role_counts(const struct switch_role *s, const char *behind)
{
    size_t i;
    json_t *name, *names = sonic_series_names(s->series);
    bool found = false;
    json_array_foreach(names, i, name)
    {
        const char *text = json_string_value(name);
        size_t length = strlen(text), wanted = strlen(behind);
        found |= length > wanted && strcmp(text + length - wanted, behind) == 0;
    }
    json_decref(names);
    return found;
}

static json_t *role_capabilities(const struct switch_role *s)
{
    json_t *names = json_make("[s]", "switch");
    if (role_counts(s, "_pause"))
        json_array_append_new(names, json_text("pfc"));
    if (role_counts(s, "_pause_duration"))
        json_array_append_new(names, json_text("pfc-duration"));
    if (role_counts(s, "_ecn_marked"))
        json_array_append_new(names, json_text("ecn-mark"));
    return names;
}

/* A switch copies its ASIC's counters at an interval of its own: more samples have the same values. */
static int64_t sample_interval_ns(const struct cell *cell, const json_t *reading)
{
    int64_t poll_ms = SONIC_PORT_POLL_MS, every = cell->scenario.sample.every_ns;
    sonic_read_value(json_object_get(reading, "poll_ms"), "PORT", &poll_ms);
    poll_ms = poll_ms > MOST_STEP_NS / NS_PER_MS ? MOST_STEP_NS / NS_PER_MS : poll_ms;
    every = every > poll_ms * NS_PER_MS ? every : poll_ms * NS_PER_MS;
    return every < LEAST_STEP_NS ? LEAST_STEP_NS : every > MOST_STEP_NS ? MOST_STEP_NS : every;
}

static int role_describe(struct remote_lab *lab, struct remote_host *h, struct host_description *out,
                         struct error *e)
{
    struct switch_role *s = h->sonic;
    const struct cell *cell = lab->run->cell;
    if (remote_clock(h, &lab->clock, &h->offset_ns, &h->error_ns, e) != 0)
        return -1;
    json_t *reading =
        sonic_ask(s->of, h->ssh, SONIC_COUNTERS_DB, sonic_counters_script, s->ports, s->port_count, e);
    if (!reading)
        return -1;
    s->series = sonic_series_open(&cell->lab, s->of, reading, scenario_groups(&cell->scenario));
    s->every_ns = sample_interval_ns(cell, reading);
    s->settle_ns = sonic_settle_ms(reading) * NS_PER_MS;
    out->name = xstrdup(s->of->name);
    out->facts =
        json_make("{s:{s:s?}}", "sonic", "hwsku", json_string_value(json_object_get(reading, "hwsku")));
    out->capabilities = role_capabilities(s);
    out->origin = ORIGIN_MEASURED;
    out->clock_offset_ns = h->offset_ns;
    out->clock_error_ns = h->error_ns;
    json_decref(reading);
    return 0;
}

int switch_roles_describe(struct remote_lab *lab, struct host_description out[], struct error *e)
{
    for (size_t i = 0; i < lab->host_count; i++)
        if (lab->hosts[i].sonic && role_describe(lab, &lab->hosts[i], &out[i], e) != 0)
            return -1;
    return 0;
}

/* ---- roles: samples */

static int record_header(struct remote_lab *lab, size_t role, struct error *e)
{
    const struct switch_role *s = lab->hosts[role].sonic;
    json_t *header = sonic_series_header(s->series, s->of->name, s->every_ns);
    return recorder_object(lab->run->recorder, role, LINE_HEADER, header, e);
}

/* redis-cli repeats the reading by itself. */
static int role_sample(struct remote_lab *lab, size_t role, struct error *e)
{
    struct remote_host *h = &lab->hosts[role];
    struct switch_role *s = h->sonic;
    struct words w = {0};
    struct stream_request request = {.kind = STREAM_SAMPLER,
                                     .program = "redis-cli",
                                     .role = role,
                                     .host = h,
                                     .series = s->series,
                                     .words = &w};
    sonic_words(s->of, SONIC_COUNTERS_DB, s->every_ns, sonic_counters_script, s->ports, s->port_count, &w);
    int result =
        words_whole(&w, e) == 0 && record_header(lab, role, e) == 0 ? start_stream(lab, &request, e) : -1;
    if (result == 0)
        lab->streams[lab->stream_count - 1].lines = 1; /* its header */
    words_free(&w);
    return result;
}

int switch_roles_sample(struct remote_lab *lab, struct error *e)
{
    for (size_t i = 0; i < lab->host_count; i++)
        if (lab->hosts[i].sonic && role_sample(lab, i, e) != 0)
            return -1;
    return 0;
}

/* ---- settings: reading, planning */

/* The settings of the switch's ports that the lab names. */
static int switch_settings_read(const struct switch_role *s, struct ssh_session *session,
                                struct switch_settings *out, struct error *e)
{
    *out = (struct switch_settings){.tables = sonic_tables(s->of, session, e)};
    if (out->tables && sonic_config_read(out->tables, s->ports, s->port_count, &out->config, e) == 0)
        return 0;
    if (out->tables)
        error_prefix(e, "switch %s: CONFIG_DB", s->of->name);
    json_decref(out->tables);
    out->tables = NULL;
    return -1;
}

static void switch_settings_free(struct switch_settings *settings)
{
    json_decref(settings->tables);
    sonic_config_free(&settings->config);
    *settings = (struct switch_settings){0};
}

int switch_settings_plan(const struct switch_role *s, const struct switch_settings *now, const json_t *wanted,
                         struct sonic_changes *out, json_t *warnings, struct error *e)
{
    struct settings settings;
    if (table_parse(&settings_table, wanted, &settings, e) != 0)
        return -1;
    const struct sonic_request request = {&settings, s->ports, s->port_count, s->of->shared == 1};
    int result = sonic_settings_plan(&request, now->tables, &now->config, out, warnings, e);
    table_free(&settings_table, &settings);
    return result == 0 ? 0 : error_prefix(e, "switch %s", s->of->name);
}

/* ---- settings: the journal */

static json_t *ask_state_db(const struct lab_switch *of, struct ssh_session *session, const char *script,
                            const char *argument, struct error *e)
{
    return sonic_ask(of, session, SONIC_STATE_DB, script, &argument, argument ? 1 : 0, e);
}

json_t *switch_restore(const struct lab_switch *of, struct ssh_session *session, struct error *e)
{
    json_t *answer = ask_state_db(of, session, sonic_restore_script, NULL, e);
    if (!answer && strstr(e->text, "redis answered")) {
        struct error told = *e;
        error_set(e,
                  "%.700s (a journal that is damaged is removed with redis-cli -n 6 DEL '" SONIC_JOURNAL "')",
                  told.text);
    }
    const json_t *since = json_object_get(answer, "since_s");
    if (json_is_number(since) && json_number_value(since) > 0 && json_number_value(since) < 4e9)
        json_object_set_new(answer, "since_ns",
                            json_integer((json_int_t)json_number_value(since) * (json_int_t)NS_PER_S));
    return answer;
}

static int write_changes(struct remote_lab *lab, const struct switch_role *s, struct ssh_session *session,
                         struct error *e)
{
    json_t *journal =
        json_make("{s:O,s:O,s:s,s:I}", "before", s->changes.before, "wanted", s->changes.wanted, "run",
                  lab->run->cell->scenario.name, "since_s", (json_int_t)(clock_realtime_ns() / NS_PER_S));
    char *text = json_dumps(journal, JSON_COMPACT);
    json_decref(journal);
    json_t *answer = ask_state_db(s->of, session, sonic_set_script, text, e);
    const char *changed = json_string_value(json_object_get(answer, "changed"));
    free(text);
    if (!answer)
        return -1;
    bool set = json_is_true(json_object_get(answer, "set"));
    char *path = shell_quoted(lab->run->lab_path);
    if (!set && changed)
        error_set(e, "switch %s: %.200s changed while the run began: start it again", s->of->name, changed);
    else if (!set)
        error_set(
            e,
            "switch %s: a run that began meanwhile, perhaps from another machine, has changed its settings "
            "(HARNESS_JOURNAL in STATE_DB): wait for it, or restore with `harness restore --lab %s`",
            s->of->name, path);
    free(path);
    json_decref(answer);
    if (!set)
        error_one_line(e);
    return set ? 0 : -1;
}

/* ---- settings: are they in force? */

/* Does CONFIG_DB have these values? */
static bool config_db_holds(const json_t *tables, const json_t *values, struct text *why)
{
    const char *key, *field;
    json_t *fields, *value;
    json_object_foreach((json_t *)(uintptr_t)values, key, fields)
    {
        char table[SONIC_NAME];
        const char *entry = sonic_key_entry(key, table, sizeof table);
        const json_t *there = json_object_get(json_object_get(tables, table), entry ? entry : "");
        json_object_foreach(fields, field, value)
        {
            const json_t *now = json_object_get(there, field);
            if (json_is_null(value) ? !now : json_equal(now, value))
                continue;
            text_add(why, "%s: %s is %.80s in CONFIG_DB, not %.80s", key, field,
                     now ? json_string_value(now) : "not there",
                     json_is_null(value) ? "gone" : json_string_value(value));
            return false;
        }
    }
    return true;
}

/* Has the ASIC the settings of all ports? SONIC_UNSEEN: ASIC_DB has none of them. */
static enum sonic_applied asic_has_all(const struct switch_role *s, const struct sonic_config *config,
                                       const json_t *answer, struct text *why)
{
    enum sonic_applied all = SONIC_UNSEEN;
    for (size_t i = 0; i < config->count && all != SONIC_DIFFERS; i++) {
        const json_t *asic = json_object_get(json_object_get(answer, "ports"), s->ports[i]);
        enum sonic_applied one = sonic_asic_has(&config->ports[i], asic, why);
        all = one == SONIC_UNSEEN ? all : one;
    }
    return all;
}

/* One look: are the values in force? -1: it could not be read. */
static int check_in_force(const struct switch_role *s, struct ssh_session *session, const json_t *values,
                          enum sonic_applied *applied, json_t **found, struct text *why, struct error *e)
{
    struct switch_settings now;
    *applied = SONIC_DIFFERS;
    if (switch_settings_read(s, session, &now, e) != 0)
        return -1;
    json_t *answer = sonic_ask(s->of, session, SONIC_ASIC_DB, sonic_asic_script, s->ports, s->port_count, e);
    if (answer && config_db_holds(now.tables, values, why))
        *applied = asic_has_all(s, &now.config, answer, why);
    json_decref(*found);
    *found = sonic_settings_json(&now.config);
    switch_settings_free(&now);
    json_decref(answer);
    return answer ? 0 : -1;
}

/* Wait until the values are in force. Returns the settings that were read, or NULL. Ctrl-C ends the wait, and
 * says what was seen. */
static json_t *wait_until_in_force(struct remote_lab *lab, const struct switch_role *s,
                                   struct ssh_session *session, const json_t *values,
                                   enum sonic_applied *applied, struct error *e)
{
    int64_t deadline_ns = clock_monotonic_ns() + APPLIED_NS;
    int patience = interrupt_count(lab->run->interrupt);
    json_t *found = NULL;
    struct text why = {0};
    for (;;) {
        text_clear(&why);
        int result = check_in_force(s, session, values, applied, &found, &why, e);
        if (result == 0 && *applied == SONIC_DIFFERS && clock_monotonic_ns() < deadline_ns &&
            interrupt_count(lab->run->interrupt) == patience) {
            poll(NULL, 0, LOOK_MS);
            continue;
        }
        if (result == 0 && *applied != SONIC_DIFFERS)
            break;
        if (result == 0)
            error_set(e, "switch %s has not applied its settings: %s; its syslog may say why (orchagent)",
                      s->of->name, text_string(&why));
        error_one_line(e);
        json_decref(found);
        found = NULL;
        break;
    }
    text_free(&why);
    return found;
}

/* ---- settings: the phases of a run */

static int role_save(struct remote_lab *lab, struct remote_host *h, struct role_settings *r, struct error *e)
{
    struct switch_role *s = h->sonic;
    struct switch_settings now;
    if (switch_settings_read(s, h->ssh, &now, e) != 0)
        return -1;
    int result = switch_settings_plan(s, &now, r->wanted, &s->changes, lab->warnings, e);
    size_t i;
    json_t *unread;
    json_array_foreach(now.config.unread, i, unread)
    {
        warn(lab->warnings, "switch %s: not understood, and taken for unknown: %s", s->of->name,
             json_string_value(unread));
    }
    if (result == 0) {
        r->before = sonic_settings_json(&now.config);
        json_object_set(r->before, "CONFIG_DB", s->changes.before);
    }
    switch_settings_free(&now);
    return result;
}

int switch_roles_save(struct remote_lab *lab, struct role_settings roles[], struct error *e)
{
    for (size_t i = 0; i < lab->host_count; i++)
        if (lab->hosts[i].sonic && role_save(lab, &lab->hosts[i], &roles[i], e) != 0)
            return -1;
    return 0;
}

bool switch_roles_changed(const struct remote_lab *lab)
{
    for (size_t i = 0; i < lab->host_count; i++)
        if (lab->hosts[i].sonic && json_object_size(lab->hosts[i].sonic->changes.wanted))
            return true;
    return false;
}

static int role_apply(struct remote_lab *lab, struct remote_host *h, struct role_settings *r, struct error *e)
{
    struct switch_role *s = h->sonic;
    enum sonic_applied applied;
    if (json_object_size(s->changes.wanted) == 0) {
        r->read_back = json_deep_copy(r->before);
        json_object_del(r->read_back, "CONFIG_DB");
        return 0;
    }
    if (write_changes(lab, s, h->ssh, e) != 0)
        return -1;
    r->read_back = wait_until_in_force(lab, s, h->ssh, s->changes.wanted, &applied, e);
    if (!r->read_back)
        return -1;
    json_object_set(r->read_back, "CONFIG_DB", s->changes.wanted);
    if (applied == SONIC_UNSEEN)
        json_array_append_new(
            lab->warnings, json_textf("switch %s: its ASIC_DB has none of the lab's ports: CONFIG_DB has the "
                                      "settings, whether the ASIC has them is not known",
                                      s->of->name));
    return 0;
}

int switch_roles_apply(struct remote_lab *lab, struct role_settings roles[], struct error *e)
{
    for (size_t i = 0; i < lab->host_count; i++)
        if (lab->hosts[i].sonic && role_apply(lab, &lab->hosts[i], &roles[i], e) != 0)
            return -1;
    return 0;
}

/* ---- settings: put back */

static int reconnect(struct remote_lab *lab, struct remote_host *h, struct error *e)
{
    if (!lab->failed && ssh_alive(h->ssh, NULL))
        return 0;
    if (!ssh_ended(h->ssh, ENDED_NS, NULL))
        return 0;
    struct ssh_session *again = sonic_open_locked(h->sonic->of, lab->lock, NULL, lab->warnings, e);
    if (!again)
        return -1;
    ssh_close(h->ssh);
    h->ssh = again;
    return 0;
}

/* What somebody else has changed since. */
static void warn_of_changed(struct remote_lab *lab, const struct switch_role *s, const json_t *answer)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(answer, "restored"), i, entry)
    {
        const char *key = json_string_value(json_object_get(entry, "interface")),
                   *field = json_string_value(json_object_get(entry, "setting"));
        const json_t *found = json_object_get(entry, "found"),
                     *set = key ? json_object_get(json_object_get(s->changes.wanted, key), field) : NULL;
        if (set && !json_equal(set, found))
            warn(lab->warnings, "switch %s: %s %s was changed during the run, to %.80s", s->of->name, key,
                 field, json_is_null(found) ? "none" : json_string_value(found));
    }
}

/* Without changes of this run there is no journal of it, and what another run has changed is left alone. */
static json_t *role_restore(struct remote_lab *lab, struct remote_host *h, struct error *e)
{
    const struct switch_role *s = h->sonic;
    struct switch_settings now;
    enum sonic_applied applied;
    if (reconnect(lab, h, e) != 0)
        return NULL;
    if (json_object_size(s->changes.wanted) == 0) {
        if (switch_settings_read(s, h->ssh, &now, e) != 0)
            return NULL;
        json_t *found = sonic_settings_json(&now.config);
        switch_settings_free(&now);
        return found;
    }
    json_t *answer = switch_restore(s->of, h->ssh, e);
    if (!answer)
        return NULL;
    warn_of_changed(lab, s, answer);
    json_decref(answer);
    return wait_until_in_force(lab, s, h->ssh, s->changes.before, &applied, e);
}

void switch_roles_restore(struct remote_lab *lab, struct role_settings roles[])
{
    for (size_t i = 0; i < lab->host_count; i++) {
        struct role_settings *r = &roles[i];
        if (lab->hosts[i].sonic && r->before)
            r->after = role_restore(lab, &lab->hosts[i], &r->why_not);
    }
}

/* ---- counts before and after the traffic: of all switches whose ports the lab names */

struct counted_switch {
    const struct lab_switch *of;
    const char **ports;
    size_t port_count;
    struct ssh_session *session; /* NULL: not reached */
    json_t *before, *after;      /* whole answers; NULL: not read */
    int64_t before_ns, after_ns; /* on the run's clock */
};

struct switch_counts {
    struct counted_switch *switches;
    size_t count;
};

static void warn_of_missing(struct remote_lab *lab, const struct counted_switch *s, const struct error *e)
{
    json_array_append_new(lab->warnings,
                          json_textf("counters of switch %s are missing: %s", s->of->name, e->text));
}

static json_t *read_counters(struct remote_lab *lab, struct counted_switch *s, int64_t *at_ns)
{
    struct error e;
    if (!s->session)
        return NULL;
    *at_ns = clock_steady_ns(&lab->clock);
    json_t *reading =
        sonic_ask(s->of, s->session, SONIC_COUNTERS_DB, sonic_counters_script, s->ports, s->port_count, &e);
    if (!reading)
        warn_of_missing(lab, s, &e);
    return reading;
}

void switch_counts_open(struct remote_lab *lab)
{
    const struct lab *where = &lab->run->cell->lab;
    const struct lab_switch *of;
    struct error why;
    if (lab->run->as_is)
        return;
    struct switch_counts *counts = lab->switches = xcalloc(1, sizeof *counts);
    counts->switches = xcalloc(where->switches.count + 1, sizeof *counts->switches);
    for (size_t i = 0; (of = lab_real_switch_at(where, i)); i++) {
        struct counted_switch *s = &counts->switches[counts->count];
        if (!of->ssh)
            continue;
        s->of = of;
        counts->count++;
        s->ports = sonic_ports_named(where, of, &s->port_count);
        if (s->port_count && !(s->session = sonic_open(of, &lab->cancelled, &why)))
            warn_of_missing(lab, s, &why);
    }
}

static bool has_role(const struct remote_lab *lab, const struct lab_switch *of)
{
    for (size_t i = 0; i < lab->host_count; i++)
        if (lab->hosts[i].sonic && lab->hosts[i].sonic->of == of)
            return true;
    return false;
}

void switch_counts_before(struct remote_lab *lab)
{
    for (size_t i = 0; lab->switches && i < lab->switches->count; i++) {
        struct counted_switch *s = &lab->switches->switches[i];
        s->before = read_counters(lab, s, &s->before_ns);
        if (!json_is_true(json_object_get(s->before, "journal")) || has_role(lab, s->of))
            continue;
        char *path = shell_quoted(lab->run->lab_path);
        json_array_append_new(lab->warnings,
                              json_textf("switch %s has settings that another run has changed: if none goes "
                                         "on, `harness restore --lab %s` puts the earlier ones back",
                                         s->of->name, path));
        free(path);
    }
}

/* Ctrl-C ends the wait. */
static void wait_for_counters(struct remote_lab *lab)
{
    long longest_ms = 0;
    for (size_t i = 0; i < lab->switches->count; i++) {
        long ms = sonic_settle_ms(lab->switches->switches[i].before);
        longest_ms = ms > longest_ms ? ms : longest_ms;
    }
    if (lab->traffic_ended_ns)
        longest_ms -= (clock_monotonic_ns() - lab->traffic_ended_ns) / NS_PER_MS;
    struct pollfd signals = {.fd = lab->run->interrupt->fd, .events = POLLIN};
    if (longest_ms > 0 && interrupt_count(lab->run->interrupt) == 0)
        poll(&signals, 1, (int)longest_ms);
}

void switch_counts_after(struct remote_lab *lab)
{
    if (!lab->switches)
        return;
    wait_for_counters(lab);
    for (size_t i = 0; i < lab->switches->count; i++) {
        struct counted_switch *s = &lab->switches->switches[i];
        if (s->before)
            s->after = read_counters(lab, s, &s->after_ns);
    }
}

/* ---- counts: the result */

static json_t *port_json(struct remote_lab *lab, const struct counted_switch *s, const char *port)
{
    const json_t *before = json_object_get(json_object_get(s->before, "ports"), port),
                 *after = json_object_get(json_object_get(s->after, "ports"), port);
    const struct lab_link *link;
    const char *peer = NULL;
    char where[140];
    for (size_t i = 0; !peer && (link = lab_link_at(&lab->run->cell->lab, i)); i++) {
        const char *at = lab_link_port(link, s->of->name);
        peer = at && strcmp(at, port) == 0 ? lab_link_peer(link, s->of->name) : NULL;
    }
    snprintf(where, sizeof where, "switch %.60s, %.60s", s->of->name, port);
    if (!before || !after) {
        json_array_append_new(lab->warnings,
                              json_textf("%s: COUNTERS_PORT_NAME_MAP has no such port: no counters", where));
        return NULL;
    }
    return json_make("{s:s?,s:o}", "to", peer, "counters",
                     sonic_counters(before, after, where, lab->warnings));
}

static json_t *switch_json(struct remote_lab *lab, const struct counted_switch *s)
{
    json_t *ports = json_object();
    for (size_t i = 0; i < s->port_count; i++) {
        json_t *port = port_json(lab, s, s->ports[i]);
        if (port)
            json_put(ports, s->ports[i], port);
    }
    const json_t *sku = json_object_get(s->before, "hwsku");
    return json_make("{s:s,s:s?,s:I,s:I,s:I,s:o}", "runs", "SONiC", "hwsku", json_string_value(sku),
                     "before_ns", (json_int_t)s->before_ns, "after_ns", (json_int_t)s->after_ns, "settle_ns",
                     (json_int_t)sonic_settle_ms(s->before) * 1000000, "ports", ports);
}

void switch_counts_add_to_result(struct remote_lab *lab, json_t *result)
{
    json_t *switches = json_object();
    for (size_t i = 0; lab->switches && i < lab->switches->count; i++) {
        const struct counted_switch *s = &lab->switches->switches[i];
        if (s->before && s->after)
            json_put(switches, s->of->name, switch_json(lab, s));
    }
    if (json_object_size(switches))
        json_object_set(result, "switches", switches);
    json_decref(switches);
}

void switch_counts_close(struct remote_lab *lab)
{
    for (size_t i = 0; lab->switches && i < lab->switches->count; i++) {
        struct counted_switch *s = &lab->switches->switches[i];
        if (s->session)
            ssh_close(s->session);
        free((void *)s->ports);
        json_decref(s->before);
        json_decref(s->after);
    }
    if (lab->switches)
        free(lab->switches->switches);
    free(lab->switches);
}
