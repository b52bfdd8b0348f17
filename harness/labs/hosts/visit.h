/* Visiting the hosts of a lab outside a run, for commands such as doctor and restore. */
#ifndef HARNESS_LABS_VISIT_H
#define HARNESS_LABS_VISIT_H

#include "remote/virt.h"
#include "lib/formats/lab.h"

/* Load the lab `said`, or the user's default if that is NULL. Returns its file's path, which the caller frees after
 * lab_free. NULL: there is no such lab, or its file has an error. */
char *lab_hosts_load(const char *said, struct lab *lab, struct error *e);
/* Visit every real host of a lab, in its order, under the lab's lock. `virt` is NULL where the lab has no guests. -1: the lab is in use
 * or cannot be reached, nothing was visited. */
int lab_hosts_visit(const struct lab *lab, const char *purpose,
                    void (*visit)(void *context, struct virt *virt, const struct lab_host *host),
                    void *context, struct error *e);

#endif
