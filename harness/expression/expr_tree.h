/* An expression as a tree: expr_parse.c builds it, expr_check.c and expr_evaluate.c read it. Internal to expr.h. */
#ifndef HARNESS_EXPR_TREE_H
#define HARNESS_EXPR_TREE_H

#include "harness/expression/expr_units.h"

enum expr_node_kind { NUMBER, STATISTIC, ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE };

enum expr_function { DELTA, RATE, FIRST, LAST, MIN, MAX, MEAN, SUM, COUNT_OF, TOTAL };
/* By enum expr_function, ended by NULL. */
extern const char *const expr_function_names[];

enum expr_comparison { LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, NOT_EQUAL };
struct expr_sign {
    const char *text;
    enum expr_comparison comparison;
};

struct expr_node {
    enum expr_node_kind kind;
    int column; /* of the text, from 1 */
    double number;
    enum dimension dimension; /* of a NUMBER */
    enum expr_function function;
    char *group; /* of a STATISTIC: a glob over roles, or "flows" */
    char *flow;  /* a glob over flows, or NULL */
    char *name;  /* counter or value */
    struct expr_node *left, *right;
};

struct expr {
    struct expr_node *left, *right; /* right only in a check */
    const struct expr_sign *sign;
    int column; /* of the comparison */
};

#endif
