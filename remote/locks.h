/* Locks of hosts. */
#ifndef REMOTE_LOCKS_H
#define REMOTE_LOCKS_H

#include "lib/error.h"
#include "lib/formats/lab.h"

/* Locks: one program at a time works on a host, whichever lab names it. Held by flock, so that what a killed
 * program leaves is never in the way. */
struct lab_lock;
/* Lock every host of the lab (by libvirt URI and domain, or by ssh target). When one is held, the sentence
 * says which host, by which program, process and since when. `purpose` is what others are told ("run
 * pfc-bidir"). */
struct lab_lock *lab_lock(const struct lab *lab, const char *purpose, struct error *e);
void lab_unlock(struct lab_lock *lock);

#endif
