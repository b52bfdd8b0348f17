#include "harness/labs/hosts/sonic/examine.h"

#include "harness/labs/hosts/sonic/reach.h"
#include "harness/preflight/preflight.h"
#include "harness/sonic/check.h"
#include "lib/log.h"
#include "lib/text.h"
#include <stdlib.h>
#include <string.h>

/* A switch of the lab, and what was read of it. */
struct look {
    const struct lab_switch *of;
    bool read;
    struct sonic_config config;
    struct text from;
};

static int read_config(const struct lab *lab, const char *lab_path, struct look *look, struct error *e)
{
    const char **ports;
    size_t count;
    if (sonic_ports_named(lab, look->of, &ports, &count, e) != 0)
        return -1;
    json_t *json = sonic_config_of(look->of, lab_path, &look->from, e);
    int result = json ? sonic_config_read(json, ports, count, &look->config, e) : -1;
    if (json && result != 0)
        error_prefix(e, "%s", text_string(&look->from));
    json_decref(json);
    free((void *)ports);
    return result;
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
    text_free(&fix);
}

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
            sonic_examine(&subject);
    }
}

/* Cells have settings of their own: each yields entries, of which equal ones are said once. */
static void check_cells(const struct look *looks, const struct plan *plan, const json_t *seen,
                        json_t *entries)
{
    for (size_t i = 0; i < plan->cell_count; i++) {
        struct cell cell;
        struct error e;
        json_t *found = json_array();
        if (plan_cell(plan, i, &cell, &e) != 0) {
            log_error("%s", e.text);
            json_decref(found);
            return;
        }
        check_switches(&cell.lab, looks, seen, &cell, found);
        preflight_add_new(entries, found);
        cell_free(&cell);
    }
}

void sonic_examine_switches(const struct lab *lab, const char *lab_path, const struct plan *plan,
                            const json_t *seen, json_t *entries)
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
        looks[i].of = s;
        read_switch(lab, lab_path, &looks[i], entries);
    }
    if (plan)
        check_cells(looks, plan, seen, entries);
    else
        check_switches(lab, looks, seen, NULL, entries);
    check_between(lab, looks, entries);
    for (size_t i = 0; i < count; i++) {
        sonic_config_free(&looks[i].config);
        text_free(&looks[i].from);
    }
    free(looks);
}
