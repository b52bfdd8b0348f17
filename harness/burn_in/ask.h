/* Stages of a burn-in without traffic of this program: what the hosts of a lab answer. */
#ifndef HARNESS_BURN_IN_ASK_H
#define HARNESS_BURN_IN_ASK_H

#include "lib/formats/lab.h"
#include <jansson.h>

/* harness doctor's entries. *status is its exit status, or EXIT_DONE. A new reference; NULL: there is no
 * answer. */
json_t *ask_doctor(const struct lab *lab, const char *lab_path, int *status, struct error *e);

/*
 * Copies between memories by nvbandwidth (NVIDIA's, docs/burn-in.md) on every machine at once: {MACHINE:
 * {"version", "driver", "gpus": [text], "tests": {NAME: [[GB/s, null: not measured]]}, "waived": [NAME]}}, or
 * of a machine that cannot do it {"why": a sentence}. *status: EXIT_LAB if a machine has no figures though it
 * has the program, EXIT_SKIPPED if none has it. As above.
 */
json_t *ask_bandwidth(const struct lab *lab, const char *lab_path, int *status, struct error *e);
/* What `nvbandwidth -j` printed, as above; NULL: it is not that, or it says itself that it failed. */
json_t *ask_parse_bandwidth(const char *text, size_t length, struct error *e);

#endif
