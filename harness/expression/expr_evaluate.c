/* Expressions over a result. */
#include "harness/expression/expr.h"
#include "harness/expression/expr_tree.h"
#include "lib/formats/result_flows.h"
#include <fnmatch.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct evaluation {
    const json_t *result;
    struct expr_result *out;
};

/* What a statistic gathers over everything that its globs match. */
struct gathered {
    size_t count;
    double sum, min, max;
    enum dimension dimension;
};

static void gather(struct gathered *g, double value)
{
    g->min = g->count == 0 || value < g->min ? value : g->min;
    g->max = g->count == 0 || value > g->max ? value : g->max;
    g->sum += value;
    g->count++;
}

static void gather_counter(const struct expr_node *node, const json_t *counter, struct gathered *g)
{
    static const char *const keys[] = {"delta", "rate_per_s", "first", "last", "min",
                                       "max",   "mean",       "",      "last", "total"};
    const json_t *value = json_object_get(counter, keys[node->function]);
    const char *unit = json_string_value(json_object_get(counter, "unit"));
    double scale;
    enum dimension d = expr_unit_dimension(unit ? unit : "", &scale);
    if (node->function == RATE)
        d = expr_rate_dimension(d, &scale);
    if (!json_is_number(value))
        return;
    g->dimension = node->function == COUNT_OF ? DIMENSION_PLAIN : d;
    gather(g, json_number_value(value) * scale);
}

static void gather_counters(const struct expr_node *node, const json_t *result, struct gathered *g)
{
    const char *role, *name;
    json_t *host, *counter;
    json_object_foreach(json_object_get(result, "hosts"), role, host)
    {
        if (fnmatch(node->group, role, 0) != 0)
            continue;
        json_object_foreach(json_object_get(host, "counters"), name, counter)
        {
            if (fnmatch(node->name, name, 0) == 0)
                gather_counter(node, counter, g);
        }
    }
}

static void gather_flows(const struct expr_node *node, const json_t *result, struct gathered *g)
{
    const json_t *flows = json_object_get(result, "flows");
    const char *name;
    json_t *flow;
    json_object_foreach((json_t *)(uintptr_t)flows, name, flow)
    {
        if (result_flow_counts(flows, name, node->flow, node->name))
            gather(g, json_number_value(result_flow_value(flow, node->name)));
    }
    if (node->function == COUNT_OF || !expr_flow_dimension(node->name, &g->dimension))
        g->dimension = DIMENSION_PLAIN;
}

static double statistic(const struct expr_node *node, struct evaluation *v, enum dimension *dimension)
{
    struct gathered g = {.dimension = DIMENSION_PLAIN};
    if (node->flow)
        gather_flows(node, v->result, &g);
    else
        gather_counters(node, v->result, &g);
    *dimension = g.dimension;
    if (node->function == COUNT_OF)
        return (double)g.count;
    if (g.count == 0) {
        snprintf(v->out->reason, sizeof v->out->reason, "there is no %s%s%.60s.%.100s in the result",
                 node->flow ? "flows." : "", "", node->flow ? node->flow : node->group, node->name);
        return NAN;
    }
    if (node->function == MIN)
        return g.min;
    if (node->function == MAX)
        return g.max;
    return node->function == MEAN ? g.sum / (double)g.count : g.sum;
}

static double evaluate(const struct expr_node *node, struct evaluation *v, enum dimension *dimension)
{
    enum dimension left_dimension, right_dimension = DIMENSION_PLAIN;
    if (node->kind == NUMBER) {
        *dimension = node->dimension;
        return node->number;
    }
    if (node->kind == STATISTIC)
        return statistic(node, v, dimension);
    double left = evaluate(node->left, v, &left_dimension);
    double right = node->right ? evaluate(node->right, v, &right_dimension) : 0;
    *dimension = expr_sum_dimension(left_dimension, right_dimension);
    if (node->kind == MULTIPLY || node->kind == DIVIDE)
        *dimension = expr_product_dimension(node->kind == DIVIDE, left_dimension, right_dimension);
    switch (node->kind) {
    case ADD:
        return left + right;
    case SUBTRACT:
        return left - right;
    case MULTIPLY:
        return left * right;
    case DIVIDE:
        if (right == 0)
            snprintf(v->out->reason, sizeof v->out->reason, "column %d: division by zero", node->column);
        return right == 0 ? NAN : left / right;
    default:
        *dimension = left_dimension;
        return -left;
    }
}

static bool compare(enum expr_comparison comparison, double left, double right)
{
    switch (comparison) {
    case LESS:
        return left < right;
    case LESS_EQUAL:
        return left <= right;
    case GREATER:
        return left > right;
    case GREATER_EQUAL:
        return left >= right;
    case EQUAL:
        return left == right;
    case NOT_EQUAL:
        return left != right;
    }
    return false;
}

enum expr_outcome expr_evaluate(const struct expr *expr, const json_t *result, struct expr_result *out)
{
    struct evaluation v = {result, out};
    enum dimension left, right = DIMENSION_ANY;
    *out = (struct expr_result){.right = NAN, .unit = "", .sign = expr->sign ? expr->sign->text : ""};
    out->left = evaluate(expr->left, &v, &left);
    if (expr->right)
        out->right = evaluate(expr->right, &v, &right);
    enum dimension both = expr_sum_dimension(left, right);
    out->unit = expr_dimension_unit(both);
    if (isnan(out->left) || (expr->right && isnan(out->right)))
        return EXPR_UNKNOWN;
    if (!expr_go_together(left, right)) {
        snprintf(out->reason, sizeof out->reason, "column %d: in this result %s is compared with %s",
                 expr->column, expr_dimension_words(left), expr_dimension_words(right));
        return EXPR_UNKNOWN;
    }
    return !expr->sign || compare(expr->sign->comparison, out->left, out->right) ? EXPR_TRUE : EXPR_FALSE;
}
