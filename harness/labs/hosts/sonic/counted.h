/* Counters of the lab's SONiC switches in a run: read before its traffic and after it. What cannot be read is a warning. */
#ifndef HARNESS_LABS_SONIC_COUNTED_H
#define HARNESS_LABS_SONIC_COUNTED_H

#include "harness/labs/hosts/lab.h"

struct switch_counts;

/* Connect to the switches that are reached over ssh and whose ports the lab names; not in a run as it is, which probes. -1: out of memory. */
int switch_counts_open(struct remote_lab *lab, struct error *e);
/* Before the traffic. */
void switch_counts_before(struct remote_lab *lab);
/* After it: waits until the switches have counted its end, unless Ctrl-C is pressed. */
void switch_counts_after(struct remote_lab *lab);
/* "switches" of the result (docs/result.md). */
void switch_counts_add_to_result(struct remote_lab *lab, json_t *result);
void switch_counts_close(struct remote_lab *lab);

#endif
