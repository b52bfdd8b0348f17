/* Guest images on this machine: built from a profile's recipe, or fetched and checked; kept in a cache. */
#ifndef GUEST_IMAGE_H
#define GUEST_IMAGE_H

#include "guest-setup/guest/profile.h"

struct image {
    char *id;     /* "debian-12-softroce-0123456789abcdef": changes with its content */
    char *disk;   /* qcow2 */
    char *kernel; /* NULL unless the profile boots it directly */
    char *initrd;
    int held; /* a lock that keeps it in the cache until it is freed, or -1 */
};

/* Find the profile's image in the cache, or build it; `fresh`: build it again. Takes minutes. Free with
 * image_free. */
int image_prepare(const struct profile *profile, bool fresh, struct image *image, struct error *e);
void image_free(struct image *image);
/* The folder of the cache. The caller frees. */
char *image_cache(struct error *e);

#endif
