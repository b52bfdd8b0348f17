/* Guests that are switches: the module virtual_connectx forwards there. Their settings are lines that the module takes. */
#ifndef HARNESS_LABS_HOSTS_VIRTUAL_SWITCH_H
#define HARNESS_LABS_HOSTS_VIRTUAL_SWITCH_H

#include "harness/labs/hosts/host.h"

/* What the lab says of the switch and the scenario of all nodes, as lines (virtual-connectx/model/switch/settings.c). Each setting has one, so
 * that nothing of an earlier run stays. */
int virtual_switch_lines(const struct lab *lab, const struct lab_host *host, const json_t *wanted,
                         struct text *lines, struct error *e);
/* Apply them. Returns what the switch took: {"switch": [LINE...]}. */
json_t *virtual_switch_set(struct remote_host *h, const struct lab *lab, const json_t *wanted,
                           struct error *e);

#endif
