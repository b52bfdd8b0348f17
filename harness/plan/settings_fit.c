#include "harness/plan/settings_fit.h"
#include "lib/physics/fabric.h"
#include <stdio.h>
#include <string.h>

/* What plays a role. */
enum node {
    REAL_HOST = 1,
    SIMULATED_HOST = 2,
    FORWARDING_HOST = 4, /* a simulated switch with "software" */
    SWITCH = 8,
    SONIC = 16, /* a real switch */
};

/* Settings that not all nodes have; a switch has only those that are listed. */
static const struct {
    const char *key;
    int nodes;
    const char *whose;
} rows[] = {
    {"ecn_threshold", SWITCH | SONIC, "of switches; a host marks by red"},
    {"watchdog", SWITCH | SONIC, "of switches"},
    {"red", REAL_HOST | FORWARDING_HOST, "of forwarding hosts; a switch marks by ecn_threshold"},
    {"pfc", REAL_HOST | SIMULATED_HOST | FORWARDING_HOST | SWITCH | SONIC, ""},
    {"ets", REAL_HOST | SIMULATED_HOST | FORWARDING_HOST | SWITCH, "of hosts and simulated switches"},
    {"mtu", REAL_HOST | SIMULATED_HOST | FORWARDING_HOST | SWITCH, "of hosts and simulated switches"},
};
#define ROWS (sizeof rows / sizeof *rows)

static const char *const node_words[] = {[REAL_HOST] = "a host",
                                         [SIMULATED_HOST] = "a host",
                                         [FORWARDING_HOST] = "a forwarding host",
                                         [SWITCH] = "a switch",
                                         [SONIC] = "a switch that runs SONiC"};

static enum node node_of_switch(const struct physics_switch *s)
{
    return s->software ? FORWARDING_HOST : SWITCH;
}

static enum node node_of(const struct lab *lab, const char *role)
{
    int at = lab_switch_of(lab, role);
    if (at >= 0)
        return node_of_switch(lab_switch_at(lab, (size_t)at));
    return lab_kind(lab)->simulated ? SIMULATED_HOST : lab_real_switch(lab, role) ? SONIC : REAL_HOST;
}

static int nodes_of_lab(const struct lab *lab)
{
    const struct physics_switch *s;
    int nodes = lab_kind(lab)->simulated ? SIMULATED_HOST : REAL_HOST;
    for (size_t i = 0; (s = lab_switch_at(lab, i)); i++)
        nodes |= node_of_switch(s);
    return nodes;
}

static bool has_setting(int nodes, const char *key, const char **whose)
{
    *whose = "of hosts; a switch has pfc, ecn_threshold and watchdog, a simulated one ets too";
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].key, key) != 0)
            continue;
        *whose = rows[i].whose;
        return nodes & rows[i].nodes;
    }
    return nodes & ~(SWITCH | SONIC);
}

/* A simulated watchdog acts on packets. */
static int check_watchdog(const struct cell *cell, enum node node, const json_t *settings, const char *path,
                          struct error *e)
{
    const char *action = json_string_value(json_object_get(json_object_get(settings, "watchdog"), "action"));
    if (node != SWITCH || !action || strcmp(action, "alert") != 0)
        return 0;
    return error_set(e,
                     "%s.watchdog.action: \"alert\" is of switches that run SONiC; lab %s is simulated: "
                     "expected drop or forward",
                     path, cell->lab.name);
}

static int check_role(const struct cell *cell, const char *role, const json_t *settings, struct error *e)
{
    enum node node = node_of(&cell->lab, role);
    const char *key, *whose;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)settings, key, value)
    {
        if (!has_setting((int)node, key, &whose))
            return error_set(e, "settings_of.%s.%s: role \"%s\" is %s in lab %s, and %s is a setting %s",
                             role, key, role, node_words[node], cell->lab.name, key, whose);
    }
    char path[160];
    snprintf(path, sizeof path, "settings_of.%.120s", role);
    return check_watchdog(cell, node, settings, path, e);
}

/* Common settings reach every node of a simulated lab; a real lab may lack what another lab has. */
static int check_common(const struct cell *cell, const json_t *settings, struct error *e)
{
    int nodes = nodes_of_lab(&cell->lab);
    const char *key, *whose;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)settings, key, value)
    {
        if (!(nodes & REAL_HOST) && !has_setting(nodes, key, &whose))
            return error_set(e, "settings.%s: lab %s has no node for it: it is a setting %s", key,
                             cell->lab.name, whose);
    }
    return check_watchdog(cell, nodes & SWITCH ? SWITCH : REAL_HOST, settings, "settings", e);
}

int settings_fit(const struct cell *cell, struct error *e)
{
    const char *role;
    json_t *settings;
    json_object_foreach(json_object_get(cell->scenario_json, "settings_of"), role, settings)
    {
        if (check_role(cell, role, settings, e) != 0)
            return -1;
    }
    return check_common(cell, json_object_get(cell->scenario_json, "settings"), e);
}
