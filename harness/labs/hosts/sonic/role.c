#include "harness/labs/hosts/sonic/role.h"

#include "harness/labs/hosts/sonic/reach.h"
#include "harness/labs/hosts/start.h"
#include "harness/labs/hosts/sonic/config_db.h"
#include "harness/labs/hosts/sonic/counters.h"
#include "lib/document/json_text.h"
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COUNTERS_DB   2
#define LEAST_STEP_NS (100 * NS_PER_MS)
#define MOST_STEP_NS  (5 * NS_PER_S)

/* ---- before a switch is reached */

struct port_search {
    const struct cell *cell;
    struct error *e;
    int result;
};

/* A name "port7_..." of roles that are switches, which have fewer ports. */
static void check_port(void *context, const char *role_glob, const char *counter, const char *key)
{
    struct port_search *s = context;
    const char *role, *of = NULL;
    size_t most = 0, digits = strncmp(counter, "port", 4) == 0 ? strspn(counter + 4, "0123456789") : 0;
    (void)key;
    if (s->result != 0 || digits == 0 || digits > 6 || counter[4 + digits] != '_')
        return;
    for (size_t i = 0; (role = scenario_role(&s->cell->scenario, i)); i++) {
        if (fnmatch(role_glob, role, 0) != 0)
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

static int check_ports(const struct cell *cell, struct error *e)
{
    struct port_search search = {cell, e, 0};
    for (size_t i = 0; i < cell->scenario.expect.count; i++)
        expr_each_counter(cell->checks[i], check_port, &search);
    for (size_t i = 0; i < cell->scenario.published.count; i++)
        expr_each_counter(cell->published[i], check_port, &search);
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
    return any ? check_ports(cell, e) : 0;
}

static int make(struct remote_lab *lab, size_t role, const struct lab_switch *of, struct error *e)
{
    struct switch_role *s = lab->hosts[role].sonic = calloc(1, sizeof *s);
    if (!s)
        return error_set(e, "out of memory for switch %s", of->name);
    s->of = of;
    s->as_host = (struct lab_host){.name = of->name, .ssh = of->ssh, .sudo = of->sudo};
    lab->hosts[role].lab = &s->as_host;
    return sonic_ports_named(&lab->run->cell->lab, of, &s->ports, &s->port_count, e);
}

int switch_roles_make(struct remote_lab *lab, const char *purpose, struct error *e)
{
    const struct cell *cell = lab->run->cell;
    const char *role;
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++) {
        const struct lab_switch *of = lab_real_switch(&cell->lab, role);
        if (of && (make(lab, i, of, e) != 0 || lab_lock_switch(lab->lock, &cell->lab, of, purpose, e) != 0))
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

/* ---- reaching them */

static int bring_up(struct remote_lab *lab, struct remote_host *h, struct error *e)
{
    if (!(h->ssh = sonic_open(h->sonic->of, &lab->cancelled, e)))
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
        if (lab->hosts[i].sonic && bring_up(lab, &lab->hosts[i], e) != 0)
            return -1;
    return 0;
}

/* The first name that some port has, with a '#' for its number. */
static bool counts(const struct switch_role *s, const char *behind)
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

static json_t *capabilities(const struct switch_role *s)
{
    json_t *names = json_make("[s]", "switch");
    if (counts(s, "_pause"))
        json_array_append_new(names, json_text("pfc"));
    if (counts(s, "_pause_duration"))
        json_array_append_new(names, json_text("pfc-duration"));
    if (counts(s, "_ecn_marked"))
        json_array_append_new(names, json_text("ecn-mark"));
    return names;
}

/* A switch copies its ASIC's counters at an interval of its own: more samples have the same values. */
static int64_t step_ns(const struct cell *cell, const json_t *reading)
{
    int64_t poll_ms = SONIC_PORT_POLL_MS, every = cell->scenario.sample.every_ns;
    sonic_read_value(json_object_get(reading, "poll_ms"), "PORT", &poll_ms);
    poll_ms = poll_ms > MOST_STEP_NS / NS_PER_MS ? MOST_STEP_NS / NS_PER_MS : poll_ms;
    every = every > poll_ms * NS_PER_MS ? every : poll_ms * NS_PER_MS;
    return every < LEAST_STEP_NS ? LEAST_STEP_NS : every > MOST_STEP_NS ? MOST_STEP_NS : every;
}

static int describe(struct remote_lab *lab, struct remote_host *h, struct host_description *out,
                    struct error *e)
{
    struct switch_role *s = h->sonic;
    const struct cell *cell = lab->run->cell;
    if (remote_clock(h, &lab->clock, &h->offset_ns, &h->error_ns, e) != 0)
        return -1;
    json_t *reading =
        sonic_ask(s->of, h->ssh, COUNTERS_DB, sonic_counters_script, s->ports, s->port_count, e);
    if (!reading)
        return -1;
    s->series = sonic_series_open(&cell->lab, s->of, reading, scenario_groups(&cell->scenario), e);
    s->every_ns = step_ns(cell, reading);
    s->settle_ns = sonic_settle_ms(reading) * NS_PER_MS;
    if (s->series) {
        out->name = strdup(s->of->name);
        out->facts =
            json_make("{s:{s:s?}}", "sonic", "hwsku", json_string_value(json_object_get(reading, "hwsku")));
        out->capabilities = capabilities(s);
        out->origin = ORIGIN_MEASURED;
        out->clock_offset_ns = h->offset_ns;
        out->clock_error_ns = h->error_ns;
    }
    json_decref(reading);
    return s->series ? 0 : -1;
}

int switch_roles_describe(struct remote_lab *lab, struct host_description out[], struct error *e)
{
    for (size_t i = 0; i < lab->host_count; i++)
        if (lab->hosts[i].sonic && describe(lab, &lab->hosts[i], &out[i], e) != 0)
            return -1;
    return 0;
}

/* ---- samples */

static int give_header(struct remote_lab *lab, size_t role, struct error *e)
{
    const struct switch_role *s = lab->hosts[role].sonic;
    json_t *header = sonic_series_header(s->series, s->of->name, s->every_ns);
    return header ? recorder_object(lab->run->recorder, role, LINE_HEADER, header, e)
                  : error_set(e, "out of memory");
}

/* redis-cli repeats the reading by itself. */
static int sample(struct remote_lab *lab, size_t role, struct error *e)
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
    sonic_words(s->of, COUNTERS_DB, s->every_ns, sonic_counters_script, s->ports, s->port_count, &w);
    int result =
        words_whole(&w, e) == 0 && give_header(lab, role, e) == 0 ? start_stream(lab, &request, e) : -1;
    if (result == 0)
        lab->streams[lab->stream_count - 1].lines = 1; /* its header */
    words_free(&w);
    return result;
}

int switch_roles_sample(struct remote_lab *lab, struct error *e)
{
    for (size_t i = 0; i < lab->host_count; i++)
        if (lab->hosts[i].sonic && sample(lab, i, e) != 0)
            return -1;
    return 0;
}
