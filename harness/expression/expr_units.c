#include "harness/expression/expr_units.h"
#include "lib/roce/counters.h"
#include <string.h>

static const struct {
    const char *unit, *words;
} dimensions[] = {
    [DIMENSION_PLAIN] = {"", "a plain number"},
    [DIMENSION_NUMBER] = {"", "a plain number"},
    [DIMENSION_COUNT] = {"", "a plain number"},
    [DIMENSION_SHARE] = {"", "a share"},
    [DIMENSION_TIME_NS] = {"ns", "a time"},
    [DIMENSION_BYTES] = {"bytes", "a size"},
    [DIMENSION_RATE_BPS] = {"b/s", "a rate"},
    [DIMENSION_PER_SECOND] = {"/s", "events per second"},
    [DIMENSION_ANY] = {"", "zero"},
};

const char *expr_dimension_unit(enum dimension d)
{
    return dimensions[d].unit;
}

const char *expr_dimension_words(enum dimension d)
{
    return dimensions[d].words;
}

bool expr_is_plain(enum dimension d)
{
    return d == DIMENSION_PLAIN || d == DIMENSION_NUMBER || d == DIMENSION_COUNT || d == DIMENSION_SHARE;
}

enum dimension expr_unit_dimension(const char *unit, double *scale)
{
    static const enum dimension of_quantity[] = {
        [COUNTER_NUMBER] = DIMENSION_COUNT,
        [COUNTER_TIME_NS] = DIMENSION_TIME_NS,
        [COUNTER_BYTES] = DIMENSION_BYTES,
        [COUNTER_RATE_BPS] = DIMENSION_RATE_BPS,
    };
    const struct counter_unit *known = counters_unit(unit);
    *scale = known ? known->scale : 1;
    return known ? of_quantity[known->quantity] : DIMENSION_COUNT;
}

enum dimension expr_rate_dimension(enum dimension d, double *scale)
{
    if (d == DIMENSION_TIME_NS) {
        *scale *= 1e-9;
        return DIMENSION_SHARE;
    }
    if (d == DIMENSION_BYTES) {
        *scale *= 8;
        return DIMENSION_RATE_BPS;
    }
    return d == DIMENSION_ANY ? d : DIMENSION_PER_SECOND;
}

static bool takes(enum dimension number, enum dimension d)
{
    return (number == DIMENSION_NUMBER && (expr_is_plain(d) || d == DIMENSION_PER_SECOND)) ||
           (number == DIMENSION_PLAIN && expr_is_plain(d));
}

bool expr_go_together(enum dimension a, enum dimension b)
{
    return a == b || a == DIMENSION_ANY || b == DIMENSION_ANY || takes(a, b) || takes(b, a);
}

enum dimension expr_sum_dimension(enum dimension a, enum dimension b)
{
    return a == DIMENSION_ANY || (a == DIMENSION_NUMBER && b != DIMENSION_ANY) ? b : a;
}

/* Products of two that have units: what they are, and how the numbers become that. */
static const struct {
    bool divide;
    enum dimension a, b, product;
    double by;
} products[] = {
    {false, DIMENSION_RATE_BPS, DIMENSION_TIME_NS, DIMENSION_BYTES, 8e9},
    {false, DIMENSION_PER_SECOND, DIMENSION_TIME_NS, DIMENSION_COUNT, 1e9},
    {false, DIMENSION_PER_SECOND, DIMENSION_BYTES, DIMENSION_RATE_BPS, -8},
    {true, DIMENSION_BYTES, DIMENSION_TIME_NS, DIMENSION_RATE_BPS, -8e9},
    {true, DIMENSION_BYTES, DIMENSION_RATE_BPS, DIMENSION_TIME_NS, -8e9},
    {true, DIMENSION_RATE_BPS, DIMENSION_BYTES, DIMENSION_PER_SECOND, 8},
    {true, DIMENSION_RATE_BPS, DIMENSION_PER_SECOND, DIMENSION_BYTES, 8},
    {true, DIMENSION_PLAIN, DIMENSION_TIME_NS, DIMENSION_PER_SECOND, -1e9},
    {true, DIMENSION_PLAIN, DIMENSION_PER_SECOND, DIMENSION_TIME_NS, -1e9},
};

double expr_scaled(double number, double by)
{
    return by < 0 ? number * -by : number / by;
}

static enum dimension unit_of_zero(enum dimension d)
{
    return d == DIMENSION_ANY ? DIMENSION_NUMBER : d;
}

/* Of two without a unit: so many times a count is a count, also a share of it. */
static enum dimension plain_product(bool divide, enum dimension a, enum dimension b)
{
    bool factor = b == DIMENSION_NUMBER || b == DIMENSION_SHARE;
    if (!divide && (a == DIMENSION_NUMBER || a == DIMENSION_SHARE))
        return factor ? DIMENSION_NUMBER : b;
    return factor && !(a == DIMENSION_SHARE && a == b) ? a : DIMENSION_PLAIN;
}

bool expr_product(bool divide, enum dimension a, enum dimension b, enum dimension *product, double *by)
{
    a = unit_of_zero(a);
    b = unit_of_zero(b);
    *by = 1;
    bool plain = expr_is_plain(a), by_plain = expr_is_plain(b);
    *product = plain && by_plain  ? plain_product(divide, a, b)
               : divide && a == b ? DIMENSION_PLAIN
               : by_plain         ? a
                                  : b;
    if (by_plain || (divide && a == b) || (!divide && plain))
        return true;
    a = plain ? DIMENSION_PLAIN : a;
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (products[i].divide == divide && ((products[i].a == a && products[i].b == b) ||
                                             (!divide && products[i].a == b && products[i].b == a))) {
            *product = products[i].product;
            *by = products[i].by;
            return true;
        }
    *product = DIMENSION_PLAIN;
    return a == DIMENSION_PLAIN; /* errors per byte */
}

/* ---- what flows have */

static const struct {
    const char *name;
    enum dimension dimension;
    bool counts; /* the longer the measured phase, the more */
} flow_values[] = {
    {"goodput_bps", DIMENSION_RATE_BPS, false},
    {"goodput_MiBps", DIMENSION_COUNT, false},
    {"messages_per_s", DIMENSION_PER_SECOND, false},
    {"bytes", DIMENSION_BYTES, true},
    {"messages", DIMENSION_COUNT, true},
    {"errors", DIMENSION_COUNT, true},
    {"silent_ns", DIMENSION_TIME_NS, false},
    {"latency_min_ns", DIMENSION_TIME_NS, false},
    {"latency_mean_ns", DIMENSION_TIME_NS, false},
    {"latency_p50_ns", DIMENSION_TIME_NS, false},
    {"latency_p90_ns", DIMENSION_TIME_NS, false},
    {"latency_p99_ns", DIMENSION_TIME_NS, false},
    {"latency_p99_9_ns", DIMENSION_TIME_NS, false},
    {"latency_p99_99_ns", DIMENSION_TIME_NS, false},
    {"latency_max_ns", DIMENSION_TIME_NS, false},
    {"retransmitted_packets", DIMENSION_COUNT, true},
    {"delivered_bytes", DIMENSION_BYTES, true},
    {"delivered_bps", DIMENSION_RATE_BPS, false},
    {"marked_packets", DIMENSION_COUNT, true},
    {"decreases", DIMENSION_COUNT, true},
    {"increases", DIMENSION_COUNT, true},
    {"completion_min_ns", DIMENSION_TIME_NS, false},
    {"completion_mean_ns", DIMENSION_TIME_NS, false},
    {"completion_p50_ns", DIMENSION_TIME_NS, false},
    {"completion_p99_ns", DIMENSION_TIME_NS, false},
    {"completion_max_ns", DIMENSION_TIME_NS, false},
    {"completion_begin_ns", DIMENSION_TIME_NS, false},
    {"completion_end_ns", DIMENSION_TIME_NS, false},
    {"slowdown_min", DIMENSION_PLAIN, false},
    {"slowdown_mean", DIMENSION_PLAIN, false},
    {"slowdown_p50", DIMENSION_PLAIN, false},
    {"slowdown_p99", DIMENSION_PLAIN, false},
    {"slowdown_max", DIMENSION_PLAIN, false},
};
#define FLOW_VALUES (sizeof flow_values / sizeof *flow_values)

bool expr_flow_value_counts(const char *name)
{
    for (size_t i = 0; i < FLOW_VALUES; i++)
        if (strcmp(flow_values[i].name, name) == 0)
            return flow_values[i].counts;
    return false;
}

const char *expr_flow_value(size_t i, enum dimension *d)
{
    if (i >= FLOW_VALUES)
        return NULL;
    *d = flow_values[i].dimension;
    return flow_values[i].name;
}

const char *expr_flow_value_unit(size_t i)
{
    return strcmp(flow_values[i].name, "goodput_MiBps") == 0 ? "MiB/s"
                                                             : dimensions[flow_values[i].dimension].unit;
}

bool expr_flow_dimension(const char *name, enum dimension *d)
{
    const char *known;
    for (size_t i = 0; (known = expr_flow_value(i, d)); i++)
        if (strcmp(known, name) == 0)
            return true;
    return false;
}
