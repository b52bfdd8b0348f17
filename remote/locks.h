/* Locks of hosts. */
#ifndef REMOTE_LOCKS_H
#define REMOTE_LOCKS_H

#include "remote/ssh.h"
#include "lib/error.h"
#include "lib/formats/lab.h"

/* Locks: one program at a time works on a host, whichever lab names it. Held by flock: on this machine, by
 * the host's name, before it is reached; and on the machine that was reached, whoever names it how. */
struct lab_lock;
/* Lock every machine of the lab's hosts on this one (by libvirt URI and domain, or by ssh target); it is
 * released when this program ends. If one is locked, the error message names the host, and the holder:
 * program, process, user, machine, start time. `purpose` is shown to others ("run pfc-bidir"). The lab must
 * outlive the lock. */
struct lab_lock *lab_lock(const struct lab *lab, const char *purpose, struct error *e);
/* Lock a switch of the lab, too, whose settings will change. */
int lab_lock_switch(struct lab_lock *lock, const struct lab_switch *s, struct error *e);
/* Lock the machine that a session has reached, in its own runtime folder, until the session is closed or the
 * connection ends. `kind` and `name`: "host", "a". 0: locked. 1: it cannot be locked (a login that is not
 * root, no flock, a /run that is read-only), `e` says why. -1: another program holds it, whom `e` names, or
 * something else is in the lock's place. */
int lab_lock_reached(const struct lab_lock *lock, struct ssh_session *session, const char *kind,
                     const char *name, struct error *e);
void lab_unlock(struct lab_lock *lock);

#endif
