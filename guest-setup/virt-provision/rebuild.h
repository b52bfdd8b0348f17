/* Builds guests, returns them to their snapshot, and removes them. */
#ifndef VIRT_PROVISION_REBUILD_H
#define VIRT_PROVISION_REBUILD_H

#include "guest-setup/virt-provision/context.h"

int rebuild_hosts(struct context *c, struct error *e);
int reset_hosts(struct context *c, struct error *e);
int destroy_hosts(struct context *c, struct error *e);

#endif
