/* An expression as a tree: expr_parse.c builds it, expr_check.c and expr_evaluate.c read it. Internal to
 * expr.h. */
#ifndef HARNESS_EXPR_TREE_H
#define HARNESS_EXPR_TREE_H

#include "harness/expression/expr_units.h"

enum expr_node_kind { NUMBER, STATISTIC, OTHER, ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE };

enum expr_function {
    DELTA,
    RATE,
    FIRST,
    LAST,
    MIN,
    MAX,
    MEAN,
    SUM,
    COUNT_OF,
    TOTAL,
    JAIN,
    STDDEV,
    P50,
    P90,
    P99,
    P99_9,
    EXPR_FUNCTIONS
};

/* What a function takes, and how it makes one number of what its globs match. */
enum { OF_COUNTER = 1, OF_GAUGE = 2, OF_FLOW = 4 };
enum expr_combine {
    COMBINE_SUM,
    COMBINE_MIN,
    COMBINE_MAX,
    COMBINE_MEAN,
    COMBINE_COUNT,
    COMBINE_JAIN,
    COMBINE_STDDEV,
    COMBINE_QUANTILE /* of gauges, each of which has its own, the largest */
};
struct expr_function_row {
    const char *name;
    int of;
    const char *key; /* in the result, of a counter or gauge */
    enum expr_combine combine;
    double q;           /* of COMBINE_QUANTILE */
    enum dimension own; /* of its value, whatever that is of; DIMENSION_PLAIN: that of what it is of */
    bool two;           /* one flow says nothing */
};
extern const struct expr_function_row expr_functions[EXPR_FUNCTIONS];
/* The dimension of a function's value of what has dimension `d`. */
enum dimension expr_function_dimension(enum expr_function function, enum dimension d);
/* The names of the functions that take one of these, for sentences: "delta, rate or total". */
void expr_functions_of(int of, char *out, size_t size);

struct expr_node {
    enum expr_node_kind kind;
    int column; /* of the text, from 1 */
    double number;
    enum dimension dimension; /* of a NUMBER */
    enum expr_function function;
    char *group;                    /* of a STATISTIC: a glob over roles, "flows" or "collectives" */
    char *flow;                     /* a glob over flows or collectives, or NULL */
    char *name;                     /* counter or value */
    struct expr_node *left, *right; /* of OTHER: left */
};

/* Is it a unit of the grammar, "Gb/s", "k/s" or "%", and of what? */
bool expr_unit_known(const char *unit, enum dimension *d);

struct expr;
/* Is it a statistic of collectives? */
bool expr_is_of_collectives(const struct expr_node *node);
bool expr_is_of_jobs(const struct expr_node *node);
/* The i-th value that what a statistic is of may have - collectives, or ranks of jobs - with its unit and
 * words; NULL after the last, and of others. */
const char *expr_listed_value(const struct expr_node *node, size_t i, const char **unit, const char **words);

/* Is it a statistic of what a gauge was at single moments: what lies between them is not in it? The largest
 * of a gauge that keeps its own largest value is none. */
bool expr_is_over_samples(const struct expr_node *node, const char *counter);

/* One counter of a time of one role counts at most as much as passes, so its rate is a share of the time; the
 * counters of a glob, and of a host's NICs, add up to more. */
struct scenario;
bool expr_is_share(const struct expr_node *node, const struct scenario *scenario);

/* The statistic that a check compares with a number alone, and the number; NULL: it is none. */
const struct expr_node *expr_limited(const struct expr *check, double *limit);

struct expr {
    struct expr_node *left, *right; /* right only in a check */
    const char *sign;               /* of a check: "<=" */
    int column;                     /* of the comparison */
};

#endif
