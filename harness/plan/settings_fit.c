#include "harness/plan/settings_fit.h"
#include "lib/physics/fabric.h"
#include <string.h>

/* What plays a role. */
enum node {
    REAL_HOST = 1,
    SIMULATED_HOST = 2,
    FORWARDING_HOST = 4, /* a simulated switch with "software" */
    SWITCH = 8,
};

/* Settings that not all nodes have; a switch has only those that are listed. */
static const struct {
    const char *key;
    int nodes;
    const char *whose;
} rows[] = {
    {"ecn_threshold", SWITCH, "of simulated switches; a host marks by red"},
    {"red", REAL_HOST | FORWARDING_HOST, "of forwarding hosts; a switch marks by ecn_threshold"},
    {"pfc", REAL_HOST | SIMULATED_HOST | FORWARDING_HOST | SWITCH, ""},
    {"ets", REAL_HOST | SIMULATED_HOST | FORWARDING_HOST | SWITCH, ""},
    {"mtu", REAL_HOST | SIMULATED_HOST | FORWARDING_HOST | SWITCH, ""},
};
#define ROWS (sizeof rows / sizeof *rows)

static const char *const node_words[] = {[REAL_HOST] = "a host",
                                         [SIMULATED_HOST] = "a host",
                                         [FORWARDING_HOST] = "a forwarding host",
                                         [SWITCH] = "a switch"};

static enum node node_of_switch(const struct physics_switch *s)
{
    return s->software ? FORWARDING_HOST : SWITCH;
}

static enum node node_of(const struct lab *lab, const char *role)
{
    int at = lab_switch_of(lab, role);
    if (at >= 0)
        return node_of_switch(lab_switch_at(lab, (size_t)at));
    return lab_kind(lab)->simulated ? SIMULATED_HOST : REAL_HOST;
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
    *whose = "of hosts; a switch has pfc, ets and ecn_threshold";
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].key, key) != 0)
            continue;
        *whose = rows[i].whose;
        return nodes & rows[i].nodes;
    }
    return nodes & ~SWITCH;
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
    return 0;
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
    return 0;
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
