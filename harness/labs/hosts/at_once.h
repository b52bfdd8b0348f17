/* Work on the hosts of a run side by side. */
#ifndef HARNESS_LABS_AT_ONCE_H
#define HARNESS_LABS_AT_ONCE_H

#include "harness/labs/hosts/lab.h"

/* What became of the work on a host. */
struct host_turn {
    size_t first; /* of the roles that this role's host has; a guest without a role has itself */
    json_t *warnings;
    bool failed;
    struct error e;
};

/* Is it the first of the roles of its host? What a host has once is done for that one. */
static inline bool host_is_first(const struct remote_lab *lab, size_t i)
{
    return lab->turns[i].first == i;
}

/* Work on host i of the lab: 0, or -1 with `e` set. It runs in the host's thread, beside the work on other hosts, and changes nothing
 * that they share; `warnings` are its own. */
typedef int host_work(struct remote_lab *lab, size_t i, void *context, json_t *warnings, struct error *e);

/* Once, before the crew starts: lab->turns. */
int hosts_prepare(struct remote_lab *lab, struct error *e);
void hosts_release(struct remote_lab *lab);
/* Do the work for each host below `count`, and wait for all. Warnings go to the lab's in the order of the hosts. Returns 0, or -1: the
 * first failure in this order is in `e`, the others are in the log. Roles of one host have their turns one after the other. Ctrl-C ends
 * connecting alone. Roles that are switches are left out. */
int hosts_at_once(struct remote_lab *lab, size_t count, host_work *work, void *context, struct error *e);

#endif
