/* After a rebuild: the program that tests whether the guests together fulfil the purpose of the profile. */
#ifndef GUEST_SETUP_REBUILD_PROVE_H
#define GUEST_SETUP_REBUILD_PROVE_H

#include "guest-setup/rebuild/context.h"

/* Run each profile's `prove` program once, as "PROGRAM run --lab FILE"; 0 when none has one. The lab must not
 * be locked. */
int prove_lab(struct context *c, struct error *e);

#endif
