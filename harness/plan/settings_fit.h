/* Settings of single roles against what the lab has in these roles. */
#ifndef HARNESS_SETTINGS_FIT_H
#define HARNESS_SETTINGS_FIT_H

#include "harness/plan/cell.h"
#include "lib/formats/settings.h"

/* What plays a role of the lab. */
enum settings_node settings_node_of(const struct lab *lab, const char *role);

/* Can each role, and with common settings any node of the lab, have the settings that the scenario gives
 * it? The cell's scenario and lab are parsed, and each role has a node. The error message begins with the
 * place in the scenario. */
int settings_fit(const struct cell *cell, struct error *e);

#endif
