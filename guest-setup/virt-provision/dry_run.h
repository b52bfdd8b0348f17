/* rebuild --dry-run. */
#ifndef VIRT_PROVISION_DRY_RUN_H
#define VIRT_PROVISION_DRY_RUN_H

#include "guest-setup/virt-provision/context.h"

/* Print every action, version, checksum and the XML of a rebuild of the context's hosts. */
int dry_run(struct context *c, struct error *e);

#endif
