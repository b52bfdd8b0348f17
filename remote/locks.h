/* Locks of hosts. */
#ifndef REMOTE_LOCKS_H
#define REMOTE_LOCKS_H

#include "lib/error.h"
#include "lib/formats/lab.h"

/* Locks: one program at a time works on a host, whichever lab names it. Held by flock, so the lock of a
 * killed program is released. */
struct lab_lock;
/* Lock every host of the lab (by libvirt URI and domain, or by ssh target). If one is locked, the error
 * message names the host, and the program, process and start time of the holder. `purpose` is shown to others
 * ("run pfc-bidir"). */
struct lab_lock *lab_lock(const struct lab *lab, const char *purpose, struct error *e);
/* Lock a switch of the lab, too, whose settings will change. */
int lab_lock_switch(struct lab_lock *lock, const struct lab *lab, const struct lab_switch *s,
                    const char *purpose, struct error *e);
void lab_unlock(struct lab_lock *lock);

#endif
