/* Passes on what the programs on hosts print, and notices failures. */
#ifndef HARNESS_LABS_WATCH_H
#define HARNESS_LABS_WATCH_H

#include "harness/labs/hosts/lab.h"

#define WATCH_STEP_NS (200 * NS_PER_MS) /* the longest wait for lines */

/* Wait until lines come, at most until the deadline (monotonic) or WATCH_STEP_NS; pass them all on. */
int watch_pump(struct remote_lab *lab, int64_t deadline_ns, struct error *e);
/* -1 with the cause: a guest was stopped, a connection ended, a program ended that should not have, a host
 * is silent. */
int watch_look(struct remote_lab *lab, struct error *e);
/* -1: a guest of the lab was stopped. */
int watch_events(struct remote_lab *lab, struct error *e);
/* `first` is the failure that was noticed first. Find its cause and set `e` to it; returns -1. Takes
 * seconds. */
int watch_find_cause(struct remote_lab *lab, const struct error *first, struct error *e);

#endif
