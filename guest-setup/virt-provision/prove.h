/* After a rebuild: the program that proves that the guests can do together what the profile is for. */
#ifndef VIRT_PROVISION_PROVE_H
#define VIRT_PROVISION_PROVE_H

#include "guest-setup/virt-provision/context.h"

/* Run each profile's `prove` program once, as "PROGRAM run --lab FILE"; 0 when none has one. The lab must not be locked. */
int prove_lab(struct context *c, struct error *e);

#endif
