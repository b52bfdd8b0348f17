/* Does a lab's nic.gid_index still name the RoCE v2 GID of the NIC's address? After a link was down, or addresses changed, the table has another order. */
#ifndef HARNESS_GID_H
#define HARNESS_GID_H

#include "lib/formats/lab.h"

/* An entry `gid-index` of preflight.h, by host-facts' document of the host; none where the lab gives no index, or flows use a VLAN's
 * GID. */
void gid_examine(const struct lab_host *host, const json_t *facts, json_t *entries);

#endif
