/* The first-boot configuration of a guest: name, keys, interfaces. Keys are created here and pinned before
 * the first connection. */
#ifndef GUEST_SEED_H
#define GUEST_SEED_H

#include "guest-setup/guest/profile.h"
#include "guest-setup/guest/wiring.h"

/* Create the lab's key pair if it does not exist. */
int seed_lab_key(const struct lab *lab, struct error *e);
/* Create a new ssh host key for a host. */
int seed_host_key(const struct lab *lab, const struct lab_host *host, struct error *e);
/* Write known_hosts from the keys of all the lab's hosts. */
int seed_pin(const struct lab *lab, struct error *e);
/* Create the host's seed, a disk image in the lab's state folder; returns its path. The caller frees. */
char *seed_make(const struct lab *lab, const struct lab_host *host, const struct profile *profile,
                struct error *e);

#endif
