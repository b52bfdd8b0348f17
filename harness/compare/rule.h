/*
 * A rule by which a difference fails: "goodput < 97% of old", "latency_p99 > old + 5us". Its left side is a
 * figure's name or a value of expressions (harness/expression/expr.h), of the new result; `old` on its right
 * is the same value of the old one.
 */
#ifndef HARNESS_RULE_H
#define HARNESS_RULE_H

#include "harness/expression/expr.h"
#include <jansson.h>
#include <stdbool.h>

/* Compile into an expression in which `old` is other(LEFT). The caller frees. */
struct expr *rule_compile(const char *rule, struct error *e);

/* The name of figure i; NULL after the last. */
const char *rule_figure_name(size_t i);

/* What a rule reads of a result: the left side of it, or the right side of an old one. */
struct rule_value {
    double value;     /* NAN: the result lacks it */
    const char *unit; /* of the value */
    char why[300];    /* why it is lacking; else what the number does not say of itself, or "" */
};
void rule_read(struct expr *rule, const json_t *result, bool old, struct rule_value *out);

#endif
