/* What `harness doctor --probe` does: a short run of small traffic with the settings as they are, and what its counters say. */
#ifndef HARNESS_PROBE_H
#define HARNESS_PROBE_H

#include "harness/plan/plan.h"

struct probe {
    const struct plan *plan; /* of the scenario, whose first cell is probed; NULL: there is none */
    const char *lab_path;    /* without a plan the lab is read from there */
    const char *out;         /* folder that keeps the results; NULL: they are removed */
    const json_t *in_force;  /* settings of the hosts that were seen, by role, without a plan by name */
    bool quiet;              /* show no progress */
};

/* Run it, and append entries of preflight.h; what cannot be probed is an entry too. 1: it was interrupted. -1: it could not be run here (a full disk). */
int probe_lab(const struct probe *probe, json_t *entries, struct error *e);

#endif
