/* The cells of a plan: each combination of the sweep's values, with a scenario and a lab. */
#ifndef HARNESS_CELL_H
#define HARNESS_CELL_H

#include "harness/expression/expr.h"
#include "harness/plan/choices.h"
#include "lib/formats/lab.h"
#include "lib/formats/scenario.h"

/* One combination of the sweep's values, parsed and checked. */
struct cell {
    json_t *choice;           /* path -> value */
    json_t *scenario_json;    /* expanded, defaults written out, without the sweep */
    json_t *lab_json;         /* as the lab's file is, defaults written out */
    struct scenario scenario; /* in a lab of real hosts with the flows of its patterns */
    struct lab lab;
    struct expr **checks;                  /* of scenario.expect, in order */
    struct expr **published;               /* of scenario.published */
    bool borrows_lab, borrows_expressions; /* they are the plan's first cell's */
};

/* What cells are made of. */
struct cell_sources {
    json_t *scenario, *lab;               /* lab NULL: there is none */
    json_t *requested;                    /* paths that the request sets */
    const char *scenario_path, *lab_path; /* the plan's */
    uint64_t seed;                        /* draws random permutations between real hosts */
};

struct plan {
    char *scenario_path, *lab_path;
    struct {
        json_t *scenario, *lab;
    } read;                 /* the documents as the files have them */
    const char *lab_why;    /* "--lab", "HARNESS_LAB", ...: who chose the lab; without a lab NULL */
    bool changed;           /* by --set or --duration */
    json_t *sweep;          /* path -> list of values, {} without one */
    struct choices choices; /* of the sweep: choices_at(&plan->choices, i) is that of cell i */
    struct cell_sources from;
    struct cell first;  /* cell 0; any cell is made when it is needed: plan_cell */
    size_t cell_count;  /* 0: the plan could not be made */
    uint64_t run_bytes; /* memory that the largest run takes, once foresee() has looked at it; 0: not known */
};

/* Make cell i < cell_count. It borrows from the plan, which outlives it and is not changed. Free it with cell_free. */
int plan_cell(const struct plan *plan, size_t i, struct cell *cell, struct error *e);

void cell_free(struct cell *cell);

/* Does the "when" of an expectation or published figure hold for the cell, by the sweep's choice, or in the documents? NULL always does.
 * One that plan_judge_when refuses does not. */
bool plan_when(const struct cell *cell, const json_t *when);
/* The same; 1 or 0, or -1 with an error if it cannot be read (condition.h). */
int plan_judge_when(const struct cell *cell, const json_t *when, struct error *e);
/* The values at the path in the cell, as an array; NULL if it is a path into a lab and there is none. A new reference. */
json_t *plan_values(const struct cell *cell, const char *path);

/* The cells of a plan by their choices. */
struct cell_places {
    json_t *by_choice;
};
#define NO_CELL SIZE_MAX
/* After a failure too, cell_places_free may be called. */
int cell_places_make(struct cell_places *places, const struct plan *plan, struct error *e);
void cell_places_free(struct cell_places *places);
/* The index of the cell with the values of `against` (path -> value) and otherwise the same choice (NULL: its own); NO_CELL if there is none,
 * or a path is not of the sweep. */
size_t cell_places_other(const struct cell_places *places, const struct cell *cell, const json_t *against);

#endif
