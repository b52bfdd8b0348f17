/* The versions that a profile installs together: guest-setup/bundles/NAME.json. docs/rocky-guests.md. */
#ifndef GUEST_BUNDLE_H
#define GUEST_BUNDLE_H

#include "lib/error.h"

/* The image that a bundle names. If it names one, *image_url and *image_sha256 are freed and replaced. */
int bundle_image(const char *name, char **image_url, char **image_sha256, struct error *e);

#endif
