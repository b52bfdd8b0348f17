/* The VLAN interface that a run makes on a host whose NIC has a vlan in the lab: docs/lab.md. */
#ifndef HARNESS_LABS_VLAN_H
#define HARNESS_LABS_VLAN_H

#include "harness/labs/hosts/host.h"

#define VLAN_NAME 16 /* IFNAMSIZ of Linux */

/* The priorities of the flows that have an end at the role, a bit each. */
uint8_t vlan_priorities(const struct scenario *scenario, const char *role);
/* Its name: IF.ID. Of an IF that is too long for that, the beginning is left out: names differ at their
 * end. */
void vlan_name(const char *netdev, int64_t id, char name[VLAN_NAME]);
/* Priority in the tag (PCP) of each priority of the kernel's packets, for priorities of h->priorities. A new
 * reference. */
json_t *vlan_egress(uint8_t priorities);

/* Add it to nic-config's interfaces, after the NIC's own; nothing without a vlan. It has the MTU of
 * `wanted`. */
void vlan_add(const struct remote_host *h, const json_t *wanted, json_t *interfaces);
/* What a run would do, as an entry of harness doctor (harness/doctor/check.h); `plan` is nic-config's
 * answer. */
void vlan_say(const struct remote_host *h, const json_t *plan, json_t *entries);

#endif
