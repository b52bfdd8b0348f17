/* What is searched: the "search" of a scenario, checked against its plan. */
#ifndef HARNESS_STUDY_H
#define HARNESS_STUDY_H

#include "harness/plan/plan.h"
#include "harness/plan/value_range.h"
#include "lib/formats/search.h"

/* A value that is varied. */
struct parameter {
    const char *path;
    const json_t *written; /* its range or list, as the scenario has it */
    struct value_range range;
    bool ordered; /* values near each other are alike: a range, or a list of numbers or quantities */
};

struct objective {
    const char *name;
    const char *text; /* the expression */
    bool max;
    struct expr *of;
};

/* Known settings: what they set (path -> value), besides the scenario as it is written. */
struct known_settings {
    const char *name;
    json_t *values;     /* NULL: nothing */
    const char *source; /* of what was published; NULL: the scenario's own */
    json_t *left_out;   /* what else belongs to them -> why it is not set here; NULL: nothing */
};

#define STUDY_MOST_PARAMETERS 64

struct study {
    struct plan plan;
    const struct scenario_search *search; /* the plan's */
    struct parameter parameters[STUDY_MOST_PARAMETERS];
    size_t parameter_count;
    struct objective objectives[SEARCH_MOST_OBJECTIVES];
    size_t objective_count;
    char *margin;                     /* of "find": the first objective; NULL: there is none */
    bool at_margin;                   /* does what is looked for hold at 0, too? */
    struct known_settings *baselines; /* the first is the scenario itself */
    size_t baseline_count;
    json_t *absent;               /* name -> why such settings are not among them */
    struct known_settings *other; /* traffic */
    size_t other_count;
};

/* Load the plan and check all that can be checked before anything runs. To be closed after a failure too. */
int study_open(const struct plan_request *request, struct study *study, struct error *e);
void study_close(struct study *study);

/* The values at these places, one for each parameter, in [0, 1): path -> value. A new reference. */
json_t *study_choice(const struct study *study, const double *places);
/* Are they a valid scenario? 1; 0 with the reason; -1: a condition cannot be read. */
int study_admits(const struct study *study, const json_t *choice, struct error *e);
/* The same, and can the lab run it? *by_lab: it is valid, and the lab cannot. */
int study_can_run(const struct study *study, const json_t *choice, bool *by_lab, struct error *e);
/* Can the lab run known settings, or traffic? As study_admits, without conditions. */
int study_can_run_known(const struct study *study, const char *of, const json_t *values, struct error *e);
/* The scenario with these settings (path -> value) put in, as it runs: ranges written out. A new reference;
 * NULL: they make none. */
json_t *study_scenario(const struct study *study, const json_t *settings);
/* All values at paths, the keys of an object, in the scenario with these settings (path -> value; NULL: none)
 * put in: path -> list, with null for places that have none where others have. A new reference. */
json_t *study_values(const struct study *study, const json_t *settings, const json_t *paths);
/* What the parameters are there: path -> value, null where none is set; without those of which the places
 * that the path leads to have several. A new reference. */
json_t *study_has(const struct study *study, const json_t *settings);
/* The places of the parameters' values in the scenario with these settings put in; false: one is not in its
 * range, or differs between the places that its path leads to. */
bool study_places(const struct study *study, const struct known_settings *settings, double *places);
/* Must the expectation of this name pass? */
bool study_is_constraint(const struct study *study, const char *name);
/* The same, of a study, as experiment_stops. */
bool study_stops(const void *study, const char *name);
/* Does a run that fails it end the search, as it concerns others on the same hosts? */
bool study_guards(const struct study *study, const char *name);
/* Is there such a one? Then runs are made one by one. */
bool study_is_guarded(const struct study *study);

#endif
