/* Candidates of a search and known settings, and what their runs gave. */
#ifndef HARNESS_CANDIDATES_H
#define HARNESS_CANDIDATES_H

#include "harness/search/strategy.h"
#include "lib/statistics/spread.h"
#include "lib/text.h"

struct candidate {
    json_t *choice;    /* path -> value; of a known setting what it sets, {} of the scenario itself */
    const char *known; /* the name of a known setting; NULL: it was proposed */
    double *places;    /* NULL: a value is not in its range */
    size_t round;      /* that it was proposed in, from 1 */
    size_t runs;       /* that have ended */
    size_t lost;       /* that did not run, nor when they were made once more: nothing is known of them */
    size_t found;      /* of these, in which what is looked for holds */
    struct spread_sums figures[SEARCH_MOST_OBJECTIVES]; /* by objective, as they are */
    char units[SEARCH_MOST_OBJECTIVES][8];
    size_t early;     /* runs that ended as soon as a constraint was broken */
    size_t unmet;     /* runs in which a constraint did not hold, or an objective had no value */
    char *why;        /* the first such constraint; without one why a run did not run */
    char *harm;       /* of a run that ends the search (study_guards); NULL: none */
    json_t *folders;  /* of its runs, below the study's */
    json_t *warnings; /* of its runs: an object whose keys are sentences */
    bool out;         /* of the race: it gets no more runs */
    bool whole;       /* it has all runs that a candidate gets */
};

struct candidates {
    struct candidate **items;
    size_t count;
    json_t *seen; /* the choices, as keys */
};

/* A new one; takes `choice`. */
struct candidate *candidates_add(struct candidates *all, json_t *choice, const char *known);
/* Was the same proposed before? */
bool candidates_have(const struct candidates *all, const json_t *choice);
/* The unit of an objective's values: "b/s", "ns", "bytes", "/s" or "". */
const char *candidates_unit(const struct candidates *all, size_t objective);
void candidates_free(struct candidates *all);

/* Take in the result of one of its runs, in the folder FOLDER of the study. */
void candidate_take(struct candidate *c, const struct study *study, const json_t *result, const char *folder);
/* It sets the same as another one, whose runs are its own. */
void candidate_share(struct candidate *c, const struct candidate *with);
/* Its run did not run, for this reason. */
void candidate_miss(struct candidate *c, const char *why);
/* Did the run of this result run, to its end or until a constraint was broken? */
bool candidate_has_run(const json_t *result);
/* What a run of this result did to others (study_guards), a sentence, which the caller frees; NULL: nothing.
 */
char *candidate_harm(const struct study *study, const json_t *result);
bool candidate_was_tried(const struct candidate *c);
bool candidate_is_feasible(const struct candidate *c);
/* Did runs of it not run, so that it is not known whether it is feasible? */
bool candidate_is_unknown(const struct candidate *c);
/* The means, of which the smaller is the better. */
struct vector candidate_vector(const struct candidate *c, const struct study *study);
/* {"values", "known", "runs", "feasible" (but of an unknown one), "not_run", "why", "objectives": {NAME:
 * {"mean", "ci95", ...}}, "folders"}: a new reference. */
json_t *candidate_json(const struct candidate *c, const struct study *study);
/* Add the value of an objective (an entry of search.json) of a candidate's document: "93.1 +- 0.4 Gb/s". */
void candidate_add_value(const json_t *entry, const json_t *objective, struct text *out);

#endif
