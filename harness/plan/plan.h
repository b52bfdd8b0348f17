/* What will be run: a scenario and a lab, checked together, with every cell of the sweep. No host is reached. */
#ifndef HARNESS_PLAN_H
#define HARNESS_PLAN_H

#include "harness/expression/expr.h"
#include "lib/formats/lab.h"
#include "lib/formats/scenario.h"

struct plan_request {
    const char *scenario;    /* path or name */
    const char *lab;         /* path or name; NULL: find_lab chooses */
    const char *const *sets; /* KEY=VALUE */
    size_t set_count;
    int64_t duration_ns; /* of the measure phase; FIELD_UNSET: the scenario's */
};

/* One combination of the sweep's values, parsed and checked. */
struct cell {
    json_t *choice;        /* path -> value */
    json_t *scenario_json; /* expanded, defaults written out, without the sweep */
    json_t *lab_json;      /* as the lab's file is, defaults written out */
    struct scenario scenario;
    struct lab lab;
    struct expr **checks;    /* of scenario.expect, in order */
    struct expr **published; /* of scenario.published */
};

struct plan {
    char *scenario_path, *lab_path;
    const char *lab_why; /* "--lab", "HARNESS_LAB", ...: who chose the lab */
    json_t *sweep;       /* path -> list, {} without one */
    struct cell *cells;
    size_t cell_count;
};

/* Error messages begin with the file's name. */
int plan_load(const struct plan_request *request, struct plan *plan, struct error *e);
void plan_free(struct plan *plan);

/* Load one document alone: for `harness check`. The scenario is checked without a lab. */
int plan_check_scenario(const char *path, struct error *e);
int plan_check_lab(const char *path, struct error *e);

/* Does the "when" of an expectation or published figure hold for the cell? NULL always does. */
bool plan_when(const struct cell *cell, const json_t *when);

#endif
