/* Settings of switches that have a role: saved, applied, verified, restored. */
#include "harness/labs/hosts/sonic/reach.h"
#include "harness/labs/hosts/sonic/role.h"
#include "harness/labs/hosts/sonic/counters.h"
#include "harness/labs/hosts/sonic/keys.h"
#include "lib/document/json_text.h"
#include "lib/formats/settings.h"
#include <poll.h>
#include <string.h>

#define CONFIG_DB 4
#define STATE_DB  6
#define ASIC_DB   1

#define ENDED_NS   (3 * NS_PER_S) /* to find out whether a connection still carries commands */
#define APPLIED_NS (5 * NS_PER_S) /* for orchagent to have applied what CONFIG_DB says */
#define LOOK_MS    200

/* ---- reading */

int switch_settings_read(const struct switch_role *s, struct ssh_session *session,
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

void switch_settings_free(struct switch_settings *settings)
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
    const struct sonic_wish wish = {&settings, s->ports, s->port_count, s->of->shared == 1};
    int result = sonic_settings_plan(&wish, now->tables, &now->config, out, warnings, e);
    table_free(&settings_table, &settings);
    return result == 0 ? 0 : error_prefix(e, "switch %s", s->of->name);
}

/* ---- the journal */

static json_t *ask_with(const struct lab_switch *of, struct ssh_session *session, const char *script,
                        const char *argument, struct error *e)
{
    return sonic_ask(of, session, STATE_DB, script, &argument, argument ? 1 : 0, e);
}

json_t *switch_restore(const struct lab_switch *of, struct ssh_session *session, struct error *e)
{
    json_t *answer = ask_with(of, session, sonic_restore_script, NULL, e);
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
    char *text = journal ? json_dumps(journal, JSON_COMPACT) : NULL;
    json_decref(journal);
    if (!text)
        return error_set(e, "out of memory");
    json_t *answer = ask_with(s->of, session, sonic_set_script, text, e);
    const char *changed = json_string_value(json_object_get(answer, "changed"));
    free(text);
    if (!answer)
        return -1;
    bool set = json_is_true(json_object_get(answer, "set"));
    if (!set && changed)
        error_set(e, "switch %s: %.200s changed while the run began: start it again", s->of->name, changed);
    else if (!set)
        error_set(
            e,
            "switch %s: a run that began meanwhile, perhaps from another machine, has changed its settings "
            "(HARNESS_JOURNAL in STATE_DB): wait for it, or restore with `harness restore --lab %s`",
            s->of->name, lab->run->lab_path);
    json_decref(answer);
    return set ? 0 : -1;
}

/* ---- verifying */

/* Does CONFIG_DB have these values? */
static bool holds(const json_t *tables, const json_t *values, struct text *why)
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

/* Of the switch's ports: SONIC_UNSEEN if ASIC_DB has none of them. */
static enum sonic_applied look_at_asic(const struct switch_role *s, const struct sonic_config *config,
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
static int look(const struct switch_role *s, struct ssh_session *session, const json_t *values,
                enum sonic_applied *applied, json_t **found, struct text *why, struct error *e)
{
    struct switch_settings now;
    *applied = SONIC_DIFFERS;
    if (switch_settings_read(s, session, &now, e) != 0)
        return -1;
    json_t *answer = sonic_ask(s->of, session, ASIC_DB, sonic_asic_script, s->ports, s->port_count, e);
    if (answer && holds(now.tables, values, why))
        *applied = look_at_asic(s, &now.config, answer, why);
    json_decref(*found);
    *found = sonic_settings_json(&now.config);
    switch_settings_free(&now);
    json_decref(answer);
    return answer ? 0 : -1;
}

/* Wait until the values are in force. Returns the settings that were read, or NULL. Ctrl-C ends the wait, and says what was seen. */
static json_t *verify(struct remote_lab *lab, const struct switch_role *s, struct ssh_session *session,
                      const json_t *values, enum sonic_applied *applied, struct error *e)
{
    int64_t deadline_ns = clock_monotonic_ns() + APPLIED_NS;
    int patience = interrupt_count(lab->run->interrupt);
    json_t *found = NULL;
    struct text why = {0};
    for (;;) {
        text_clear(&why);
        int result = look(s, session, values, applied, &found, &why, e);
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
        json_decref(found);
        found = NULL;
        break;
    }
    text_free(&why);
    return found;
}

/* ---- the phases */

static int save(struct remote_lab *lab, struct remote_host *h, struct role_settings *r, struct error *e)
{
    struct switch_role *s = h->sonic;
    struct switch_settings now;
    if (switch_settings_read(s, h->ssh, &now, e) != 0)
        return -1;
    int result = switch_settings_plan(s, &now, r->wanted, &s->changes, lab->warnings, e);
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
        if (lab->hosts[i].sonic && save(lab, &lab->hosts[i], &roles[i], e) != 0)
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

static int apply(struct remote_lab *lab, struct remote_host *h, struct role_settings *r, struct error *e)
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
    r->read_back = verify(lab, s, h->ssh, s->changes.wanted, &applied, e);
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
        if (lab->hosts[i].sonic && apply(lab, &lab->hosts[i], &roles[i], e) != 0)
            return -1;
    return 0;
}

/* ---- restoring */

static int reconnect(struct remote_lab *lab, struct remote_host *h, struct error *e)
{
    if (!lab->failed && ssh_alive(h->ssh, NULL))
        return 0;
    if (!ssh_ended(h->ssh, ENDED_NS, NULL))
        return 0;
    struct ssh_session *again = sonic_open(h->sonic->of, NULL, e);
    if (!again)
        return -1;
    ssh_close(h->ssh);
    h->ssh = again;
    return 0;
}

/* What somebody else has changed since. */
static void note_changed(struct remote_lab *lab, const struct switch_role *s, const json_t *answer)
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
            json_array_append_new(lab->warnings,
                                  json_textf("switch %s: %s %s was changed during the run, to %.80s",
                                             s->of->name, key, field,
                                             json_is_null(found) ? "none" : json_string_value(found)));
    }
}

/* Without changes of this run there is no journal of it, and what another run has changed is left alone. */
static json_t *restore(struct remote_lab *lab, struct remote_host *h, struct error *e)
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
    note_changed(lab, s, answer);
    json_decref(answer);
    return verify(lab, s, h->ssh, s->changes.before, &applied, e);
}

void switch_roles_restore(struct remote_lab *lab, struct role_settings roles[])
{
    for (size_t i = 0; i < lab->host_count; i++) {
        struct role_settings *r = &roles[i];
        if (lab->hosts[i].sonic && r->before)
            r->after = restore(lab, &lab->hosts[i], &r->why_not);
    }
}
