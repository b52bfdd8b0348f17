/* Where a lab keeps what outlives a program: its key pair, pinned host keys, states, logs; and its locks. */
#ifndef REMOTE_PLACES_H
#define REMOTE_PLACES_H

#include "lib/error.h"
#include "lib/formats/lab.h"

/* $XDG_STATE_HOME/harness/labs/LAB, or ~/.local/state/harness/labs/LAB. The caller frees. */
char *places_lab(const struct lab *lab, struct error *e);
/* A file or folder in it. The caller frees. */
char *places_in_lab(const struct lab *lab, const char *name, struct error *e);
/* A guest-setup folder ("profiles", "build-image"): beside the program's source tree, or installed. The
 * caller frees. */
char *places_project(const char *name, struct error *e);

/* Locks: one program at a time works on a host, whichever lab names it. Held by flock, so that what a killed
 * program leaves is never in the way. */
struct lab_lock;
/* Lock every host of the lab (by libvirt URI and domain, or by ssh target). When one is held, the sentence
 * says which host, by which program, process and since when. `purpose` is what others are told ("run
 * pfc-bidir"). */
struct lab_lock *lab_lock(const struct lab *lab, const char *purpose, struct error *e);
void lab_unlock(struct lab_lock *lock);

#endif
