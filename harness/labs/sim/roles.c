/* Roles and nodes by their names. */
#include "harness/labs/sim/sim_setup.h"
#include "lib/document/nearest.h"
#include <stdlib.h>

int sim_setup_host(const struct cell *cell, const struct sim_setup *setup, const json_t *roles,
                   const char *role, const char *of, uint32_t *host, struct error *e)
{
    struct sim_node node = setup->node_of_role[json_integer_value(json_object_get(roles, role))];
    *host = node.index;
    if (node.kind == SIM_HOST)
        return 0;
    return error_set(e, "%s: role \"%s\" is a switch in lab %s: only hosts can send and receive traffic", of,
                     role, cell->lab.name);
}

static int unknown_node(const struct lab *lab, const char *path, const char *name, struct error *e)
{
    size_t count = lab->hosts.count + lab->switches.count;
    const char **words = calloc(count + 1, sizeof *words);
    for (size_t i = 0; words && i < count; i++)
        words[i] = lab_node_name(lab, i);
    const char *near = words ? nearest_word(name, words) : NULL;
    error_set(e, "%s: lab %s has no node \"%.60s\"%s%s%s", path, lab->name, name,
              near ? "; did you mean \"" : "", near ? near : "",
              near ? "\"?" : ": expected a host, a switch, or a role");
    free(words);
    return -1;
}

int sim_setup_end(const struct lab *lab, const char *path, const char *text, struct sim_end *end,
                  struct error *e)
{
    char name[80];
    if (link_fault_end(text, name, sizeof name, &end->port) != 0)
        return error_set(e, "%s: \"%.80s\": expected a node, or NODE:PORT", path, text);
    end->node = lab_node_index(lab, lab_node_of(lab, name));
    return end->node >= 0 ? 0 : unknown_node(lab, path, name, e);
}
