/* The "search" of a scenario: which values are tried, what is wanted of them, and for how long. */
#ifndef LIB_SEARCH_H
#define LIB_SEARCH_H

#include "lib/document/table.h"

enum search_strategy { SEARCH_MODEL, SEARCH_ANNEALING, SEARCH_LATIN_HYPERCUBE, SEARCH_RANDOM };
extern const char *const search_strategies[]; /* ended by NULL */

/* One of `min` and `max` is an expression (docs/scenario.md). */
struct search_objective {
    char *name;
    char *min, *max;
};

struct scenario_search {
    json_t *over;              /* path -> range or list (harness/plan/value_range.h) */
    json_t *except, *only;     /* lists of conditions (harness/plan/condition.h); NULL: none */
    struct list_of objectives; /* struct search_objective */
    char *find; /* a check (docs/scenario.md) that is to be made true; NULL: there are objectives */
    struct list_of led_by;      /* char *: expressions whose values are driven up on the way there */
    int64_t findings;           /* kinds, at most; unset: as many as there are */
    struct list_of constraints; /* char *: names of expectations, globs; empty: all expectations */
    struct list_of guard;       /* char *: names of expectations that concern others, globs */
    json_t *baselines;          /* name -> {path -> value}; NULL: none but the scenario itself */
    json_t *other;              /* name -> {path -> value}: other traffic, for the winner; NULL: none */
    int64_t runs;               /* at most; unset: `time_ns` is set */
    int64_t time_ns;
    int64_t seeds;   /* of a candidate, at most */
    int64_t at_once; /* candidates of a round */
    int strategy;    /* enum search_strategy */
    int reduce;      /* 1: what is found, to the least scenario */
    int stop_early;  /* end a run once a constraint is broken for good */
};

#define SEARCH_MOST_OBJECTIVES 4
#define SEARCH_MOST_SEEDS      100
#define SEARCH_MOST_RUNS       1000000

extern const struct table scenario_search_table;

#endif
