/* Builds guests, returns them to their snapshot, and removes them. */
#ifndef GUEST_SETUP_REBUILD_REBUILD_H
#define GUEST_SETUP_REBUILD_REBUILD_H

#include "guest-setup/rebuild/context.h"
#include "guest-setup/rebuild/guest_build.h"

int rebuild_hosts(struct context *c, struct error *e);
/* Print every action, version, checksum and the XML of a rebuild of the context's hosts; nothing is fetched
 * or changed. */
int rebuild_dry_run(struct context *c, struct error *e);
/* After a rebuild: run each profile's `prove` program once, as "PROGRAM run --lab FILE", which tests whether
 * the guests together fulfil the purpose of the profile; 0 when none has one. The lab must not be locked. */
int rebuild_prove(struct context *c, struct error *e);

int reset_hosts(struct context *c, struct error *e);
/* Before a guest's disk is discarded: restore what nic-config has changed at NICs that are passed through.
 * Their firmware keeps PFC, buffers and DCQCN over the guest's end, and the journal with the earlier values
 * is on the disk. A guest that is off is started for it. Nothing is done for a guest without such a NIC,
 * whose settings end with it. An error says that the guest is not `what_next` ("reset"), and how it is all
 * the same. */
int reset_nic_settings(struct guest_build *build, const char *what_next, struct error *e);
/* The command by which a reset restores settings of NICs that are passed through, for the guest's nic-config
 * at `program`; words end with NULL. A guest without the program has nothing to restore. */
void reset_nic_settings_command(const char *program, const char *words[6]);
/* How that command ended: 0, or an error with nic-config's reason from what it printed. */
int reset_nic_settings_result(const char *host, int status, const char *printed, struct error *e);

int destroy_hosts(struct context *c, struct error *e);

#endif
