/* The programs that run on a host. */
#ifndef HARNESS_LABS_PROGRAMS_H
#define HARNESS_LABS_PROGRAMS_H

#include "harness/labs/hosts/host.h"
#include "lib/words.h"

/* Add their names: harness's own, and those of the traffic tools that come with it. */
void remote_programs_names(struct words *names);
/* Do they all start on the host? Returns 0; 1 if one has another version than this program; -1 if one is missing or
 * does not start. `e` is set unless 0. */
int remote_programs_check(struct remote_host *h, struct error *e);
/* Copy the programs from this program's folder to the host's "programs" folder and check them there. Results as above. */
int remote_programs_put(struct remote_host *h, struct error *e);

#endif
