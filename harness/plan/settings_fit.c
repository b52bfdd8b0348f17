#include "harness/plan/settings_fit.h"
#include "lib/formats/settings.h"
#include "lib/physics/fabric.h"
#include "lib/text.h"
#include <stdio.h>
#include <string.h>

static const char *const node_words[] = {[ON_HOST] = "a host",
                                         [ON_SIM_HOST] = "a host",
                                         [ON_FORWARDER] = "a forwarding host",
                                         [ON_SIM_SWITCH] = "a switch",
                                         [ON_SONIC] = "a switch that runs SONiC",
                                         [ON_VIRTUAL_SWITCH] = "a virtual switch"};

static enum settings_node node_of_switch(const struct physics_switch *s)
{
    return s->software ? ON_FORWARDER : ON_SIM_SWITCH;
}

enum settings_node settings_node_of(const struct lab *lab, const char *role)
{
    int at = lab_switch_of(lab, role), host = lab_host_of(lab, role);
    if (at >= 0)
        return node_of_switch(lab_switch_at(lab, (size_t)at));
    if (lab_kind(lab)->simulated)
        return ON_SIM_HOST;
    if (lab_real_switch(lab, role))
        return ON_SONIC;
    return host >= 0 && lab_host_at(lab, (size_t)host)->forwarding ? ON_VIRTUAL_SWITCH : ON_HOST;
}

static unsigned nodes_of_lab(const struct lab *lab)
{
    const struct physics_switch *s;
    unsigned nodes = lab_kind(lab)->simulated ? ON_SIM_HOST : ON_HOST;
    for (size_t i = 0; (s = lab_switch_at(lab, i)); i++)
        nodes |= node_of_switch(s);
    return nodes;
}

/* Real hosts lack what is simulated only: their driver refuses it, in common settings too
 * (harness/labs/hosts). */
static bool some_node_has(unsigned nodes, const struct setting *setting)
{
    return setting->nodes & nodes || (nodes & ON_HOST && setting->nodes & ON_SIM_HOST);
}

/* "of hosts and simulated switches" */
static void describe_owners(const struct setting *setting, struct text *out)
{
    const char *hosts = setting->nodes & ON_SIM_HOST    ? "hosts"
                        : setting->nodes & ON_FORWARDER ? "forwarding hosts"
                                                        : "";
    const char *switches = !(setting->nodes & ON_SIM_SWITCH) ? ""
                           : setting->nodes & ON_SONIC       ? "switches"
                                                             : "simulated switches";
    text_add(out, "of %s%s%s", hosts, *hosts && *switches ? " and " : "", switches);
    if (setting->instead)
        text_add(out, "; %s", setting->instead);
}

/* "a switch has pfc, ecn_threshold and watchdog" */
static void describe_node(enum settings_node node, struct text *out)
{
    const char *last = NULL;
    size_t count = 0;
    text_add(out, "%s has ", node_words[node]);
    for (const struct setting *s = settings_known; s->key; s++) {
        if (!(s->nodes & node))
            continue;
        if (last)
            text_add(out, "%s%s", count++ ? ", " : "", last);
        last = s->key;
    }
    text_add(out, "%s%s", count ? " and " : "", last);
}

/* A simulated watchdog acts on packets. */
static int check_watchdog(const struct cell *cell, enum settings_node node, const json_t *settings,
                          const char *path, struct error *e)
{
    const char *action = json_string_value(json_object_get(json_object_get(settings, "watchdog"), "action"));
    if (node != ON_SIM_SWITCH || !action || strcmp(action, "alert") != 0)
        return 0;
    return error_set(e,
                     "%s.watchdog.action: \"alert\" is of switches that run SONiC; lab %s is simulated: "
                     "expected drop or forward",
                     path, cell->lab.name);
}

/* Classes of a simulated switch go first, or share by their weights (harness/labs/sim/sim_config.c). */
static int check_ets(const struct cell *cell, enum settings_node node, const json_t *settings,
                     const char *path, struct error *e)
{
    const json_t *ets = json_object_get(settings, "ets"), *weights = json_object_get(ets, "weights"), *item;
    size_t i;
    json_array_foreach(json_object_get(ets, "selection"), i, item)
    {
        const char *is = json_string_value(item);
        bool shares = is && strcmp(is, "ets") == 0;
        if (node != ON_SIM_SWITCH || !is || strcmp(is, "strict") == 0 ||
            (shares && json_integer_value(json_array_get(weights, i)) > 0))
            continue;
        return error_set(
            e,
            "%s.ets.selection[%zu]: \"%.20s\"%s is not simulated: expected strict, or ets with a "
            "weight in ets.weights, of the switches of lab %s",
            path, i, is, shares ? " without a weight" : "", cell->lab.name);
    }
    return 0;
}

static int refuse_for_role(const struct cell *cell, const char *role, const struct setting *setting,
                           struct error *e)
{
    enum settings_node node = settings_node_of(&cell->lab, role);
    struct text owners = {0};
    describe_owners(setting, &owners);
    if (node & ON_SWITCHES && !(setting->nodes & ON_SWITCHES) && !setting->instead) {
        text_add(&owners, "; ");
        describe_node(node, &owners);
    }
    error_set(e, "settings_of.%s.%s: role \"%s\" is %s in lab %s, and %s is a setting %s", role, setting->key,
              role, node_words[node], cell->lab.name, setting->key, text_string(&owners));
    text_free(&owners);
    return -1;
}

static int check_role(const struct cell *cell, const char *role, const json_t *settings, struct error *e)
{
    enum settings_node node = settings_node_of(&cell->lab, role);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)settings, key, value)
    {
        const struct setting *setting = settings_find(key);
        if (setting && !some_node_has(node, setting))
            return refuse_for_role(cell, role, setting, e);
    }
    char path[160];
    snprintf(path, sizeof path, "settings_of.%.120s", role);
    json_t *merged = scenario_role_settings(cell->scenario_json, role);
    int result = check_watchdog(cell, node, settings, path, e);
    if (result == 0)
        result = check_ets(cell, node, merged, path, e);
    json_decref(merged);
    return result;
}

/* Common settings reach every node of a simulated lab; a real lab may lack what another lab has. */
static int check_common(const struct cell *cell, const json_t *settings, struct error *e)
{
    unsigned nodes = nodes_of_lab(&cell->lab);
    struct text owners = {0};
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)settings, key, value)
    {
        const struct setting *setting = settings_find(key);
        if (!setting || nodes & ON_HOST || some_node_has(nodes, setting))
            continue;
        describe_owners(setting, &owners);
        error_set(e, "settings.%s: lab %s has no node for it: it is a setting %s", key, cell->lab.name,
                  text_string(&owners));
        text_free(&owners);
        return -1;
    }
    enum settings_node node = nodes & ON_SIM_SWITCH ? ON_SIM_SWITCH : ON_HOST;
    int result = check_watchdog(cell, node, settings, "settings", e);
    return result != 0 ? result : check_ets(cell, node, settings, "settings", e);
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
