/*
 * The versions that a profile installs together, guest-setup/bundles/NAME.json, and the packages that guests are served from
 * (guest-setup/host/packages fetches, checks and caches them on this machine). docs/rocky-guests.md.
 */
#ifndef GUEST_BUNDLE_H
#define GUEST_BUNDLE_H

#include "guest-setup/virt-provision/steps.h"

/* The image that a bundle names, where it names one: fills url and sha256 of *image. */
int bundle_image(const char *name, struct profile_image *image, struct error *e);
/* Have everything that the profile's bundle names in the cache; profile->served is the folder then. Takes minutes the first time. */
int bundle_fetch(struct profile *profile, struct error *e);
/* Print what would be fetched, each line after `indent`. */
int bundle_print(const struct profile *profile, const char *indent, struct error *e);
/* Put what is in profile->served into folder `to` on the guest, unless it is there already. */
int bundle_serve(struct guest *g, const char *to, struct error *e);

#endif
