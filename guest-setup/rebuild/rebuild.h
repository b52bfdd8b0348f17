/* Builds guests, returns them to their snapshot, and removes them. */
#ifndef GUEST_SETUP_REBUILD_REBUILD_H
#define GUEST_SETUP_REBUILD_REBUILD_H

#include "guest-setup/rebuild/context.h"

int rebuild_hosts(struct context *c, struct error *e);
int reset_hosts(struct context *c, struct error *e);
int destroy_hosts(struct context *c, struct error *e);

#endif
