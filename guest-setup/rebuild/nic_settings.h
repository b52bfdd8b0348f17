/* Settings of NICs that are passed through to a guest. */
#ifndef GUEST_SETUP_REBUILD_NIC_SETTINGS_H
#define GUEST_SETUP_REBUILD_NIC_SETTINGS_H

#include "guest-setup/rebuild/making.h"

/*
 * Before the guest's disk is discarded: restore what nic-config has changed at NICs that are passed through. Their firmware keeps
 * PFC, buffers and DCQCN over the guest's end, and the journal with the earlier values is on the disk. A guest that is off is started
 * for it. Nothing is done for a guest without such a NIC, whose settings end with it. An error says how to reset all the same.
 */
int nic_settings_restore(struct making *m, struct error *e);

/* The command that restores, for the host's nic-config at `program`; words end with NULL. A guest without the program has nothing to
 * restore. */
void nic_settings_command(const char *program, const char *words[6]);
/* Its end: 0, or an error with nic-config's reason from what it printed. */
int nic_settings_judge(const char *host, int status, const char *printed, struct error *e);

#endif
