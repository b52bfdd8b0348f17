/* Which priority a probe's packets really had, at their sender and at their receiver, by the bytes that the NICs counted per priority. */
#ifndef HARNESS_PROBE_CLASSES_H
#define HARNESS_PROBE_CLASSES_H

#include "harness/doctor/probe/counted.h"

/* Append entries of preflight.h:
 *   tx-class, rx-class  of a role: is what its flows moved counted with their priority?
 *   same-class          of two roles: is it the same priority at both ends, and in both directions?
 *   answers             of a role that only receives: do its acknowledgements have the flows' priority?
 */
void probe_judge_classes(const struct probed *p, json_t *entries);

#endif
