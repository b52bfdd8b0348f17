/* What will be run: a scenario and a lab, checked together, with every cell of the sweep. No host is reached. */
#ifndef HARNESS_PLAN_H
#define HARNESS_PLAN_H

#include "harness/plan/cell.h"

/* Documents that were read before: no file is looked at. */
struct plan_documents {
    json_t *scenario, *lab; /* not changed */
    const char *scenario_path, *lab_path, *lab_why;
};

struct plan_request {
    const struct plan_documents *documents; /* in the place of the next three; NULL: none */
    const char *scenario;                   /* path or name */
    const char *lab;                        /* path or name; NULL: find_lab chooses */
    bool own_lab;                           /* without a lab, take the one that the scenario names, or none */
    const char *const *sets;                /* KEY=VALUE */
    size_t set_count;
    int64_t duration_ns; /* of the measure phase; FIELD_UNSET: the scenario's */
    uint64_t seed;       /* draws random permutations between real hosts */
    bool many;           /* more than CHOICES_MANY cells are meant */
    /* Called with each cell in turn, which is freed afterwards: for what is to be known of all of them. NULL: nothing is. */
    void (*each)(void *context, const struct cell *cell);
    void *context;
};

/* Error messages begin with the file's name. The scenario as it is written, with the lab that it names, is also checked for what
 * could never be decided (decidable.h). */
int plan_load(const struct plan_request *request, struct plan *plan, struct error *e);
void plan_free(struct plan *plan);

/* Load a lab alone: for `harness check`. */
int plan_check_lab(const char *path, struct error *e);

#endif
