/* Two hosts sent to a third one as fast as they could: was it held by pauses or marks, or was something lost? */
#ifndef HARNESS_PROBE_INCAST_H
#define HARNESS_PROBE_INCAST_H

#include "harness/doctor/probe/counted.h"

/* Append the entry `incast` of the receiver. Its line is the lab's link at the receiver, else the speed of its NIC by host-facts. */
void probe_judge_incast(const struct probed *p, json_t *entries);

#endif
