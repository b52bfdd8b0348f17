/* What a search found: a document (search.json), and its lines for people. */
#ifndef HARNESS_ANSWER_H
#define HARNESS_ANSWER_H

#include "harness/search/trial.h"
#include "reports/results/run.h"

struct answer_of {
    const struct study *study;
    const struct candidates *all;
    const char *folder;
    int64_t seed;
    size_t rounds, runs, seeds;
    size_t lost;         /* of the runs, those that did not run */
    size_t refused;      /* proposals that the lab cannot run, */
    const char *refusal; /* and why not, of the first */
    const struct trial *trials;
    size_t trial_count;
    bool complete;
};

/* Those that no other is better than, of all that are feasible and have all their runs. */
struct best {
    const struct candidate **items; /* by the first objective, the best first */
    struct vector *values;
    size_t count, knee;
};
/* To be freed. */
struct best best_of(const struct candidates *all, const struct study *study);
void best_free(struct best *best);

/* A new reference. */
json_t *answer_make(const struct answer_of *of);
void answer_print(const json_t *document, const char *folder);
/* How many runs have no figures, and how many proposals did not run. */
void answer_print_runs(const json_t *document);
/* A line after a round. */
void answer_print_progress(const struct study *study, const struct candidates *all, size_t rounds,
                           size_t runs);
/* What would be searched, before anything runs. */
void answer_print_plan(const struct study *study, bool json);

#endif
