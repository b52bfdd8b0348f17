/* Roles as the simulator's hosts. */
#include "harness/labs/sim/sim_setup.h"

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
