/* The packages of a profile's bundle: guest-setup/host/packages fetches, checks and caches them on this
 * machine, guests are served from there. */
#ifndef GUEST_SETUP_REBUILD_PACKAGES_H
#define GUEST_SETUP_REBUILD_PACKAGES_H

#include "guest-setup/rebuild/steps.h"

/* Fetch everything that the profile's bundle names into the cache; profile->served is then its folder. Takes
 * minutes the first time. */
int packages_fetch(struct profile *profile, struct error *e);
/* Print what would be fetched, each line after `indent`. */
int packages_print(const struct profile *profile, const char *indent, struct error *e);
/* Copy the content of profile->served into folder `to` on the guest, unless it is there already. */
int packages_serve(struct guest *g, const char *to, struct error *e);

#endif
