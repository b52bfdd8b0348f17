/* What a check's sides can be in any run: a comparison that their bounds decide says nothing about one. */
#include "harness/expression/expr.h"
#include "harness/expression/expr_tree.h"
#include "lib/names/range.h"
#include "lib/roce/counters.h"
#include <math.h>
#include <string.h>

struct bounds {
    double low, high;
};
static const struct bounds unbounded = {-INFINITY, INFINITY}, positive = {0, INFINITY}, share = {0, 1};

bool expr_is_share(const struct expr_node *node, const struct scenario *scenario)
{
    char near[128];
    double scale;
    size_t roles = 0;
    if (node->kind != STATISTIC || node->function != RATE || node->flow || strpbrk(node->group, "*?[") ||
        strpbrk(node->name, "*?["))
        return false;
    for (size_t i = 0; i < scenario->roles.count; i++)
        roles += name_matches(node->group, ((char *const *)scenario->roles.items)[i]);
    const struct counter *row = counters_known(node->name, near, sizeof near);
    return roles == 1 && row && expr_unit_dimension(row->unit, &scale) == DIMENSION_TIME_NS;
}

/* Counters and what flows have are never below 0; a driver may have others. */
static struct bounds bounds_of_statistic(const struct expr_node *node, const struct scenario *scenario)
{
    char near[128];
    const struct counter *row = node->flow ? NULL : counters_known(node->name, near, sizeof near);
    bool of_counters = node->function == DELTA || node->function == RATE || node->function == TOTAL ||
                       node->function == COUNT_OF;
    if (node->function == JAIN || (scenario && expr_is_share(node, scenario)))
        return share;
    if (node->flow || node->function == STDDEV)
        return positive;
    return row           ? row->origin == COUNTER_FROM_DRIVER ? unbounded : positive
           : of_counters ? positive
                         : unbounded;
}

static double product(double a, double b)
{
    return a == 0 || b == 0 ? 0 : a * b;
}

static struct bounds bounds_of_product(struct bounds a, struct bounds b)
{
    const double ends[] = {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low),
                           product(a.high, b.high)};
    struct bounds all = {ends[0], ends[0]};
    for (size_t i = 1; i < sizeof ends / sizeof *ends; i++)
        all = (struct bounds){fmin(all.low, ends[i]), fmax(all.high, ends[i])};
    return all;
}

/* Divided by 0 there is no value. */
static struct bounds bounds_of_inverse(struct bounds b)
{
    return b.low < 0 && b.high > 0 ? unbounded
           : b.low >= 0            ? (struct bounds){1 / b.high, b.low > 0 ? 1 / b.low : INFINITY}
                                   : (struct bounds){b.high < 0 ? 1 / b.high : -INFINITY, 1 / b.low};
}

static struct bounds bounds_of(const struct expr_node *node, const struct scenario *scenario)
{
    if (node->kind == NUMBER)
        return (struct bounds){node->number, node->number};
    if (node->kind == STATISTIC)
        return bounds_of_statistic(node, scenario);
    struct bounds a = bounds_of(node->left, scenario), b = node->right ? bounds_of(node->right, scenario) : a;
    switch (node->kind) {
    case ADD:
        return (struct bounds){a.low + b.low, a.high + b.high};
    case SUBTRACT:
        return (struct bounds){a.low - b.high, a.high - b.low};
    case MULTIPLY:
        return bounds_of_product(a, b);
    case DIVIDE:
        return bounds_of_product(a, bounds_of_inverse(b));
    default:
        return node->kind == NEGATE ? (struct bounds){-a.high, -a.low} : a;
    }
}

/* Left sides that are below, equal to and above right ones: which of them there may be. */
enum expr_foregone expr_foregone(const struct expr *check, const struct scenario *scenario)
{
    const struct bounds left = bounds_of(check->left, scenario), right = bounds_of(check->right, scenario);
    const bool may[] = {left.low < right.high, left.low <= right.high && left.high >= right.low,
                        left.high > right.low};
    bool holds = false, fails = false;
    for (int k = 0; k < 3; k++) {
        bool one = expr_compare(check, k, 1);
        holds = holds || (may[k] && one);
        fails = fails || (may[k] && !one);
    }
    return holds && fails ? EXPR_OPEN : holds ? EXPR_ALWAYS : EXPR_NEVER;
}
