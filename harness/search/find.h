/* A search for what makes an expression true ("find"): which values, which of them matter, and the least
 * scenario that shows it. */
#ifndef HARNESS_FIND_H
#define HARNESS_FIND_H

#include "harness/search/candidates.h"

struct finder {
    const struct study *study;
    const char *folder; /* of the study */
    size_t seeds;
    int64_t seed, jobs;
    bool quiet;
    void *context;
    /* Run a candidate, whose results are then in it; the exit status is EXIT_DONE if the runs have ended. */
    int (*run)(void *context, const char *name, struct candidate *c, size_t first_seed, size_t seeds);
    size_t (*runs)(const void *context); /* that have ended so far */
    void (*release)(void *context);      /* the hosts' settings, as others are to run */

    struct candidates parts; /* some of a candidate's values, the others as they are written */
    json_t *findings;        /* as in search.json */
    json_t *blamed;          /* of each finding the features that tell its kind */
    json_t *alike;           /* features of what was found besides and is of their kinds */
};

/* What the comparison of a check is short of being true, as an expression: above 0 it holds (`equal`: also at
 * 0). The caller frees; NULL: it has another sign than < <= > >=. */
char *finder_margin(const char *check, bool *equal, struct error *e);

/* Look at candidates that have run with the first seed: confirm what was found, and reduce it. EXIT_DONE;
 * else the exit status of what was broken off. */
int finder_look(struct finder *f, struct candidate *const *candidates, size_t count);
/* Were as many kinds found as the search is for? */
bool finder_has_enough(const struct finder *f);
/* The exit status of a search that has ended: EXIT_FAILED if a kind could not be reduced. */
int finder_end(const struct finder *f);
/* Is a choice of the kind that was found, and not to be looked at again? */
bool finder_explains(const struct finder *f, const json_t *choice);
/* What such a search found, for people, of its document. */
void finder_print(const json_t *document);
void finder_free(struct finder *f);

#endif
