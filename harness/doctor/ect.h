/* Flows whose packets cannot be marked although they should be: harness/doctor/ect.c. */
#ifndef HARNESS_DOCTOR_ECT_H
#define HARNESS_DOCTOR_ECT_H

#include "harness/plan/cell.h"
#include "lib/text.h"

/* What is found in a cell: an array of {"host": "a->b", "reason", "fix", "forced", ...}. `in_force` (role ->
 * settings): the hosts' current settings as nic-config reads them, which the scenario's override and from
 * which follows what kind of NIC it is; may be NULL. A new reference, or NULL with `e` set. */
json_t *ect_find(const struct cell *cell, const json_t *in_force, struct error *e);
/* The effect of a finding, by the counters of a result's hosts; nothing if none were sampled. */
void ect_describe_counted(const json_t *finding, const json_t *hosts, struct text *out);

#endif
