/* rebuild --dry-run. */
#ifndef GUEST_SETUP_REBUILD_DRY_RUN_H
#define GUEST_SETUP_REBUILD_DRY_RUN_H

#include "guest-setup/rebuild/context.h"

/* Print every action, version, checksum and the XML of a rebuild of the context's hosts. */
int dry_run(struct context *c, struct error *e);

#endif
