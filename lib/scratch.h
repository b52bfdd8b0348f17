/*
 * Files and folders at places where other users may write too: /tmp, a cache, a folder of another user that
 * root was told to use. guest-setup/scratch.bash is the same for shell scripts.
 */
#ifndef LIB_SCRATCH_H
#define LIB_SCRATCH_H

#include "lib/error.h"
#include <stdbool.h>
#include <sys/types.h>

/* Open a file that is this user's alone, such as a lock or a log: a regular file, of this user, with one
 * name, and not a link. `flags` as for open; nothing is truncated. Returns a descriptor (close-on-exec), or
 * -1. */
int scratch_open(const char *path, int flags, mode_t mode, struct error *e);
/* Is this a folder of this user, not a link, to which nobody else may write? */
bool scratch_is_own_folder(const char *path);

#endif
