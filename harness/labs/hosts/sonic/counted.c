#include "harness/labs/hosts/sonic/counted.h"

#include "harness/labs/hosts/sonic/reach.h"
#include "harness/labs/hosts/sonic/role.h"
#include "harness/labs/hosts/sonic/config_db.h"
#include "harness/labs/hosts/sonic/counters.h"
#include "lib/document/json_text.h"
#include "lib/interrupt.h"
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define COUNTERS_DB 2

struct one_switch {
    const struct lab_switch *of;
    const char **ports;
    size_t port_count;
    struct ssh_session *session; /* NULL: not reached */
    json_t *before, *after;      /* whole answers; NULL: not read */
    int64_t before_ns, after_ns; /* on the run's clock */
};

struct switch_counts {
    struct one_switch *switches;
    size_t count;
};

static void warn(struct remote_lab *lab, const struct one_switch *s, const struct error *e)
{
    json_array_append_new(lab->warnings,
                          json_textf("counters of switch %s are missing: %s", s->of->name, e->text));
}

static json_t *read_counters(struct remote_lab *lab, struct one_switch *s, int64_t *at_ns)
{
    struct error e;
    if (!s->session)
        return NULL;
    *at_ns = clock_steady_ns(&lab->clock);
    json_t *reading =
        sonic_ask(s->of, s->session, COUNTERS_DB, sonic_counters_script, s->ports, s->port_count, &e);
    if (!reading)
        warn(lab, s, &e);
    return reading;
}

int switch_counts_open(struct remote_lab *lab, struct error *e)
{
    const struct lab *where = &lab->run->cell->lab;
    const struct lab_switch *of;
    struct error why;
    if (lab->run->as_is)
        return 0;
    struct switch_counts *counts = calloc(1, sizeof *counts);
    lab->switches = counts;
    if (counts)
        counts->switches = calloc(where->switches.count + 1, sizeof *counts->switches);
    if (!counts || !counts->switches)
        return error_set(e, "out of memory for %zu switches", where->switches.count);
    for (size_t i = 0; (of = lab_real_switch_at(where, i)); i++) {
        struct one_switch *s = &counts->switches[counts->count];
        if (!of->ssh)
            continue;
        s->of = of;
        counts->count++;
        if (sonic_ports_named(where, of, &s->ports, &s->port_count, e) != 0)
            return -1;
        if (s->port_count && !(s->session = sonic_open(of, &lab->cancelled, &why)))
            warn(lab, s, &why);
    }
    return 0;
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
        struct one_switch *s = &lab->switches->switches[i];
        s->before = read_counters(lab, s, &s->before_ns);
        if (json_is_true(json_object_get(s->before, "journal")) && !has_role(lab, s->of))
            json_array_append_new(
                lab->warnings,
                json_textf("switch %s has settings that another run has changed: if none goes on, "
                           "`harness restore --lab %s` puts the earlier ones back",
                           s->of->name, lab->run->lab_path));
    }
}

/* Ctrl-C ends the wait. */
static void settle(struct remote_lab *lab)
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
    settle(lab);
    for (size_t i = 0; i < lab->switches->count; i++) {
        struct one_switch *s = &lab->switches->switches[i];
        if (s->before)
            s->after = read_counters(lab, s, &s->after_ns);
    }
}

/* ---- the result */

static json_t *port_json(struct remote_lab *lab, const struct one_switch *s, const char *port)
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

static json_t *switch_json(struct remote_lab *lab, const struct one_switch *s)
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
        const struct one_switch *s = &lab->switches->switches[i];
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
        struct one_switch *s = &lab->switches->switches[i];
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
