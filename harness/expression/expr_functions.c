/* The functions of expressions. */
#include "harness/expression/expr_tree.h"
#include <stdio.h>
#include <string.h>

const struct expr_function_row expr_functions[EXPR_FUNCTIONS] = {
    [DELTA] = {.name = "delta", .of = OF_COUNTER, .key = "delta", .combine = COMBINE_SUM},
    [RATE] = {.name = "rate", .of = OF_COUNTER, .key = "rate_per_s", .combine = COMBINE_SUM},
    [TOTAL] = {.name = "total", .of = OF_COUNTER, .key = "total", .combine = COMBINE_SUM},
    [FIRST] = {.name = "first", .of = OF_COUNTER | OF_GAUGE, .key = "first", .combine = COMBINE_SUM},
    [LAST] = {.name = "last", .of = OF_COUNTER | OF_GAUGE, .key = "last", .combine = COMBINE_SUM},
    [MIN] = {.name = "min", .of = OF_GAUGE | OF_FLOW, .key = "min", .combine = COMBINE_MIN},
    [MAX] = {.name = "max", .of = OF_GAUGE | OF_FLOW, .key = "max", .combine = COMBINE_MAX},
    [MEAN] = {.name = "mean", .of = OF_GAUGE | OF_FLOW, .key = "mean", .combine = COMBINE_MEAN},
    [SUM] = {.name = "sum", .of = OF_FLOW, .combine = COMBINE_SUM},
    [COUNT_OF] = {.name = "count",
                  .of = OF_COUNTER | OF_GAUGE | OF_FLOW,
                  .key = "last",
                  .combine = COMBINE_COUNT,
                  .plain = true},
    /* (sum x)^2 / (n sum x^2): R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of Fairness and Discrimination for Resource Allocation
     * in Shared Computer Systems, DEC-TR-301, 1984. */
    [JAIN] = {.name = "jain", .of = OF_FLOW, .combine = COMBINE_JAIN, .plain = true, .two = true},
    [STDDEV] = {.name = "stddev", .of = OF_FLOW, .combine = COMBINE_STDDEV, .two = true},
    [P50] = {.name = "p50", .of = OF_GAUGE | OF_FLOW, .key = "p50", .combine = COMBINE_QUANTILE, .q = 0.5},
    [P90] = {.name = "p90", .of = OF_GAUGE | OF_FLOW, .key = "p90", .combine = COMBINE_QUANTILE, .q = 0.9},
    [P99] = {.name = "p99", .of = OF_GAUGE | OF_FLOW, .key = "p99", .combine = COMBINE_QUANTILE, .q = 0.99},
    [P99_9] =
        {.name = "p99_9", .of = OF_GAUGE | OF_FLOW, .key = "p99_9", .combine = COMBINE_QUANTILE, .q = 0.999},
};

void expr_functions_of(int of, char *out, size_t size)
{
    size_t left = 0, used = 0;
    for (size_t i = 0; i < EXPR_FUNCTIONS; i++)
        left += (expr_functions[i].of & of) != 0;
    out[0] = '\0';
    for (size_t i = 0; i < EXPR_FUNCTIONS && used < size; i++) {
        if (!(expr_functions[i].of & of))
            continue;
        left--;
        used += (size_t)snprintf(out + used, size - used, "%s%s", expr_functions[i].name,
                                 left > 1    ? ", "
                                 : left == 1 ? " or "
                                             : "");
    }
}
