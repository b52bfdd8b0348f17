/* Folders for a lab's persistent files: key pair, pinned host keys, states, logs. */
#ifndef REMOTE_PLACES_H
#define REMOTE_PLACES_H

#include "lib/error.h"
#include "lib/formats/lab.h"

/* $XDG_STATE_HOME/harness/BELOW, or ~/.local/state/harness/BELOW. The caller frees. */
char *places_state(const char *below, struct error *e);
/* $XDG_STATE_HOME/harness/labs/LAB, or ~/.local/state/harness/labs/LAB. The caller frees. */
char *places_lab(const struct lab *lab, struct error *e);
/* A file or folder in it. The caller frees. */
char *places_in_lab(const struct lab *lab, const char *name, struct error *e);
/* A host's file or folder in it: LAB/hosts/HOST/NAME (NAME may be NULL). The caller frees. */
char *places_of_host(const struct lab *lab, const struct lab_host *host, const char *name, struct error *e);
/* A guest-setup folder ("profiles", "build-image"): in the source tree of this program, or installed. The
 * caller frees. */
char *places_project(const char *name, struct error *e);

#endif
