/* Visiting the hosts of a lab outside a run, for commands such as doctor and restore. */
#ifndef HARNESS_LABS_VISIT_H
#define HARNESS_LABS_VISIT_H

#include "remote/virt.h"
#include "lib/formats/lab.h"
#include "lib/text.h"

/* Load the lab `said`, or the user's default if that is NULL. Returns its file's path, which the caller frees after
 * lab_free. NULL: there is no such lab, or its file has an error. */
char *lab_hosts_load(const char *said, struct lab *lab, struct error *e);
/* What is done on host i of a lab; `virt` is NULL where the lab has no guests. Text in `said` is for stdout. Returns 0, or -1 with `e` set. It
 * runs in a thread of its own, beside the visits of other hosts. */
typedef int host_visit(void *context, size_t i, struct virt *virt, const struct lab_host *host,
                       struct text *said, struct error *e);

/* Visit all real hosts of a lab side by side, under the lab's lock. What they say is printed in the lab's order, failures as errors on
 * stderr; *failures is their number. -1: the lab is in use or cannot be reached, nothing was visited. */
int lab_hosts_visit(const struct lab *lab, const char *purpose, host_visit *visit, void *context,
                    size_t *failures, struct error *e);

#endif
