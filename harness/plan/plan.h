/*
 * What will be run: a scenario and a lab, and every cell of the sweep, which is a combination of its values.
 * No host is reached, and no driver of a lab is asked.
 */
#ifndef HARNESS_PLAN_H
#define HARNESS_PLAN_H

#include "harness/plan/cell.h"
#include "harness/plan/choices.h"

/* What cells are made of. */
struct cell_sources {
    json_t *scenario, *lab; /* lab NULL: there is none */
    json_t *requested;      /* paths that the request sets -> values */
    struct {
        json_t *scenario, *lab;
        json_t *ranges; /* as in a cell */
    } written; /* before that, defaults written out; NULL: nothing is set, or no figure is compared */
    const char *scenario_path, *lab_path; /* the plan's */
    char *scenario_opened;                /* scenario_path, as it is opened from the current folder */
    char *lab_opened;                     /* lab_path, as it is opened from the current folder */
    uint64_t seed;                        /* draws random permutations between real hosts */
};

struct plan {
    char *scenario_path, *lab_path;
    struct {
        json_t *scenario, *lab;
    } read;                         /* the documents as the files have them */
    const char *lab_why;            /* "--lab", "HARNESS_LAB", ...: who chose the lab; without a lab NULL */
    const char *folder;             /* that relative paths begin at; NULL: the current one */
    bool changed;                   /* by --set or --duration */
    bool as_written;                /* not changed, and with the lab that the scenario names */
    json_t *sweep;                  /* path -> list of values, {} without one */
    struct choices choices;         /* of the sweep: choices_at(&plan->choices, i) is that of cell i */
    struct scenario_search *search; /* of the scenario; NULL: it has none */
    struct cell_sources from;
    struct cell first;        /* cell 0 */
    struct made_cells *cells; /* the others that are kept */
    size_t cell_count;        /* 0: the plan could not be made */
};

/* Documents that were read before: their files, which may be pipes, are not looked at. */
struct plan_documents {
    json_t *scenario, *lab; /* not changed; lab NULL: the request's, as without documents */
    const char *scenario_path, *lab_path, *lab_why;
    const char *folder; /* that relative paths begin at; NULL: the current one */
};

struct plan_request {
    const struct plan_documents *documents; /* in the place of the next ones; NULL: none */
    const char *scenario;                   /* path or name */
    const char *lab;                        /* path or name; NULL: find_lab chooses */
    bool own_lab;                           /* without a lab, take the one that the scenario names, or none */
    const char *const *sets;                /* KEY=VALUE */
    size_t set_count;
    int64_t duration_ns; /* of the measure phase; FIELD_UNSET: the scenario's */
    uint64_t seed;       /* draws random permutations between real hosts */
    bool many;           /* more than CHOICES_MANY cells are meant */
};

/* Read the documents and make the first cell. Error messages begin with the file's name. */
int plan_load(const struct plan_request *request, struct plan *plan, struct error *e);
void plan_free(struct plan *plan);
/* The file of the lab that its scenario names, as it is opened from here. The caller frees; NULL: it names
 * none, or there is none. */
char *plan_named_lab(const struct plan *plan, struct error *e);

/* Cell i < cell_count, made at its first use; as many are kept as there is room for. It borrows
 * from the plan, which outlives it. Give it back with plan_release. NULL: it cannot be made; the error
 * message begins with a file's name. */
const struct cell *plan_cell(const struct plan *plan, size_t i, struct error *e);
/* `cell` may be NULL. */
void plan_release(const struct plan *plan, const struct cell *cell);

/* Can it be run? 0; -1 with the reason. */
typedef int cell_check(void *context, const struct cell *cell, struct error *e);
/* Can a cell be made of another choice (path -> value), which is not of the sweep? `of_caller`: `of`,
 * `except`, `only` and `seen`, which it also has to meet; `check`: as well, unless NULL. 1; 0 with the
 * reason; -1: a condition cannot be read. */
int plan_admits(const struct plan *plan, const struct choice_conditions *of_caller, const json_t *choice,
                cell_check *check, void *context, struct error *e);
/* Does the lab's "scaled" put other values in the place of these? */
bool plan_replaces(const struct plan *plan, const json_t *choice);

/* Does the "when" of an expectation or published figure hold for the cell, by the sweep's choice, or in the
 * documents? NULL always does. One that plan_judge_when refuses does not. */
bool plan_when(const struct cell *cell, const json_t *when);
/* The same; 1 or 0, or -1 with an error if it cannot be read (condition.h). */
int plan_judge_when(const struct cell *cell, const json_t *when, struct error *e);
/* What a published figure holds for, path -> value; and why not for the cell, as "settings.mtu is 1500": by
 * its conditions, or by what --set has changed that it says nothing of. NULL: it does. New references. */
json_t *plan_conditions(const struct cell *cell, const struct scenario_published *published);
json_t *plan_published_why_not(const struct cell *cell, const struct scenario_published *published);
/* The values at the path in the cell, as an array; NULL if it is a path into a lab and there is none. A new
 * reference. */
json_t *plan_values(const struct cell *cell, const char *path);

/* The cells of a plan by their choices. */
struct cell_places {
    json_t *by_choice;
};
#define NO_CELL SIZE_MAX
void cell_places_make(struct cell_places *places, const struct plan *plan);
void cell_places_free(struct cell_places *places);
/* The index of the cell with the values of `against` (path -> value) and otherwise the same choice (NULL: its
 * own); NO_CELL if there is none, or a path is not of the sweep. */
size_t cell_places_other(const struct cell_places *places, const struct cell *cell, const json_t *against);

/* The scenario as its file has it, with the lab that it names (without one, that of the plan), whatever the
 * request of `plan` changed. Outlived by `plan`. */
int plan_load_as_written(const struct plan *plan, struct plan *written, struct error *e);

/* A lab alone, that was read from `path`. */
int plan_check_lab(json_t *lab, const char *path, struct error *e);

#endif
