/* Which congestion control a NIC's firmware uses: the parameters of DCQCN do nothing where another one is in
 * control. */
#ifndef COLLECTORS_CONGESTION_H
#define COLLECTORS_CONGESTION_H

#include "collectors/facts/facts.h"

/* {"control", "why", "slots"} of an mlx5 NIC with these other facts; null: another driver's. control:
 * "dcqcn"; "rtt", RTTCC, which NVIDIA calls Zero Touch RoCE; "negotiated", either of them, by connection;
 * "programmable", what a program of DOCA PCC says; null: not known. */
json_t *facts_congestion(const struct facts_source *s, const json_t *nic);

/* What `mstreg --reg_name PPCC --get` printed of one field ("value", "text[0]"): -1 if it is not there. */
int64_t ppcc_field(const char *output, const char *field);
/* The name of an algorithm, from the fields text[0] and on: up to its first comma. */
void ppcc_name(const char *output, char *name, size_t size);

#endif
