/* Creates and removes a host's domain and its disks. */
#ifndef GUEST_SETUP_REBUILD_DOMAIN_H
#define GUEST_SETUP_REBUILD_DOMAIN_H

#include "guest-setup/rebuild/making.h"

#define DISK_BASE ".qcow2"      /* volume of the provisioned disk, and of an image */
#define DISK_WORK ".work.qcow2" /* the overlay over it that the guest writes to */

/* A domain that virt-provision did not create for this host is an error, except with --adopt. 1: the domain
 * may be changed, 0: there is none. */
int making_check_domain(struct making *m, struct error *e);
int making_remove_domain(struct making *m, int64_t grace_ns, struct error *e);
/* Define the domain on the host's disk with this suffix. */
int making_define_domain(struct making *m, const char *suffix, struct error *e);

int making_delete_volume(struct making *m, const char *suffix, struct error *e);
/* Create a new overlay over volume `base`, which is freed. bytes: its size, 0: that of the base. */
int making_overlay(struct making *m, const char *suffix, char *base, int64_t bytes, struct error *e);
/* Create an empty overlay over the image, and the seed. */
int making_fresh_disks(struct making *m, struct error *e);

#endif
