#include "harness/plan/sweep_values.h"
#include "lib/document/table.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

#define DIGITS        3 /* of a point that no one wrote; more where neighbours would move towards each other */
#define FACTOR_DIGITS 4 /* of a value that a factor with a fraction made */

static const char *const scales[] = {"linear", "log", NULL};
enum scale { LINEAR, LOGARITHMIC };

struct written {
    json_t *from, *to, *step;
    double factor;
    int64_t points;
    int scale;
};

#define AT(member) .offset = offsetof(struct written, member)
static const struct field fields[] = {
    {"from", FIELD_JSON, AT(from), .required = true,
     .help = "First value: a quantity with a unit, or a number."},
    {"to", FIELD_JSON, AT(to), .required = true, .help = "Largest value."},
    {"factor", FIELD_NUMBER, AT(factor), .help = "Each value is this many times the one before."},
    {"step", FIELD_JSON, AT(step), .help = "Each value is this much more than the one before."},
    {"points", FIELD_INTEGER, AT(points), .min = 2, .max = SWEEP_MOST_VALUES, .help = "So many values."},
    {"scale", FIELD_CHOICE, AT(scale), .choices = scales,
     .help = "Of points and samples: equal distances (linear, the default) or equal ratios (log)."},
    {0},
};
#undef AT
static const struct table range_table = {"sweep", "A range of values.", sizeof(struct written), fields, NULL};

/* ---- bounds */

static int take_bounds(const struct written *w, struct sweep_range *r, struct error *e)
{
    const json_t *bounds[] = {w->from, w->to, w->step};
    if (steps_of(bounds, w->step ? 3 : 2, &r->steps, e) != 0)
        return error_prefix(e, w->step ? "from, to and step" : "from and to");
    r->from = steps_take(&r->steps, w->from);
    r->to = steps_take(&r->steps, w->to);
    r->logarithmic = w->scale == LOGARITHMIC;
    if (r->from > r->to)
        return error_set(e, "to: expected a value that is not below from");
    if (r->to > STEPS_MOST)
        return error_set(e, "to: too large for a range");
    if ((r->logarithmic || isfinite(w->factor)) && r->from <= 0)
        return error_set(
            e, "from: expected a value above 0, because every value is a multiple of the one before");
    return 0;
}

static int never_arrives(const char *key, const char *why, struct error *e)
{
    return error_set(e, "%s: it never arrives at a second value: %s", key, why);
}

/* ---- values */

static int append(json_t *values, const struct steps *steps, int64_t value, const char *key, struct error *e)
{
    if (json_array_size(values) == SWEEP_MOST_VALUES)
        return error_set(e, "%s: more than %d values", key, SWEEP_MOST_VALUES);
    return json_array_append_new(values, steps_write(steps, value)) == 0 ? 0 : error_set(e, "out of memory");
}

/* The i-th value; whole factors make exact ones. */
static int64_t grown(const struct sweep_range *r, double factor, int i, int64_t last)
{
    double exact = (double)r->from * pow(factor, i);
    if (i == 0)
        return r->from;
    if (factor == floor(factor))
        return last * (int64_t)factor;
    return steps_round(&r->steps, exact, FACTOR_DIGITS, exact * (1 - 1e-4), exact * (1 + 1e-4));
}

static int by_factor(const struct sweep_range *r, double factor, json_t *values, struct error *e)
{
    int64_t last = 0;
    if (!(factor > 1) || (r->from < r->to && (double)r->from * factor > (double)r->to))
        return never_arrives("factor",
                             factor > 1 ? "from times factor is above to" : "expected a factor above 1", e);
    for (int i = 0; (double)r->from * pow(factor, i) <= (double)r->to * (1 + 1e-12); i++) {
        int64_t value = grown(r, factor, i, last);
        if (i && value <= last)
            return never_arrives("factor", "values this small are rounded to the same one", e);
        last = value > r->to ? r->to : value;
        if (append(values, &r->steps, last, "factor", e) != 0)
            return -1;
    }
    return 0;
}

static int by_step(const struct sweep_range *r, const json_t *written, json_t *values, struct error *e)
{
    int64_t step = steps_take(&r->steps, written);
    if (step <= 0 || (r->from < r->to && step > r->to - r->from))
        return never_arrives("step", step > 0 ? "from plus step is above to" : "expected a step above 0", e);
    for (int64_t value = r->from;; value += step)
        if (append(values, &r->steps, value, "step", e) != 0)
            return -1;
        else if (value > r->to - step)
            return 0;
}

static double place(const struct sweep_range *r, double at)
{
    double from = (double)r->from, to = (double)r->to;
    return r->logarithmic ? from * pow(to / from, at) : from + (to - from) * at;
}

/* The i-th of so many points: moved by at most a hundredth of the distance to its neighbours. */
static int64_t point(const struct sweep_range *r, int64_t i, int64_t points)
{
    if (i == 0 || i == points - 1)
        return i ? r->to : r->from;
    double exact = place(r, (double)i / (double)(points - 1));
    double gap = (exact - place(r, (double)(i - 1) / (double)(points - 1))) / 100;
    return steps_round(&r->steps, exact, DIGITS, exact - gap, exact + gap);
}

static int by_points(const struct sweep_range *r, int64_t points, json_t *values, struct error *e)
{
    int64_t last = 0;
    for (int64_t i = 0; i < points; i++) {
        int64_t value = point(r, i, points);
        if (i && value <= last)
            return error_set(e, "points: there are not %lld different values between from and to",
                             (long long)points);
        last = value;
        if (append(values, &r->steps, value, "points", e) != 0)
            return -1;
    }
    return 0;
}

static int values_of(const struct written *w, json_t *values, struct error *e)
{
    bool factor = isfinite(w->factor), points = w->points != FIELD_UNSET;
    struct sweep_range range = {0};
    if (factor + points + (w->step != NULL) != 1)
        return error_set(e, "expected one of \"factor\", \"step\" and \"points\" beside from and to");
    if (w->scale >= 0 && !points)
        return error_set(e, "scale: it is for points; a factor or a step says the scale itself");
    if (take_bounds(w, &range, e) != 0)
        return -1;
    return factor   ? by_factor(&range, w->factor, values, e)
           : points ? by_points(&range, w->points, values, e)
                    : by_step(&range, w->step, values, e);
}

static int no_values(const char *expected, struct error *e)
{
    return error_set(e, "expected a list of values, or %s", expected);
}

json_t *sweep_values(const json_t *value, struct error *e)
{
    struct written written;
    if (json_is_array(value) && json_array_size(value))
        return json_incref((json_t *)(uintptr_t)value);
    if (!json_is_object(value)) {
        no_values("{\"from\": VALUE, \"to\": VALUE} with \"factor\", \"step\" or \"points\"", e);
        return NULL;
    }
    if (json_object_get(value, "times")) {
        error_set(e, "times: it is called \"factor\"");
        return NULL;
    }
    if (table_parse(&range_table, value, &written, e) != 0)
        return NULL;
    json_t *values = json_array();
    if (values_of(&written, values, e) != 0) {
        json_decref(values);
        values = NULL;
    }
    table_free(&range_table, &written);
    return values;
}

/* ---- samples */

int sweep_range_parse(const json_t *value, struct sweep_range *range, struct error *e)
{
    struct written written;
    *range = (struct sweep_range){0};
    if (json_is_array(value) && json_array_size(value)) {
        range->list = (json_t *)(uintptr_t)value;
        return 0;
    }
    if (!json_is_object(value))
        return no_values("{\"from\": VALUE, \"to\": VALUE, \"scale\": \"linear\" or \"log\"}", e);
    if (table_parse(&range_table, value, &written, e) != 0)
        return -1;
    bool more = isfinite(written.factor) || written.step || written.points != FIELD_UNSET;
    int result =
        more ? error_set(e, "a sample is drawn from the whole range: expected from, to and scale alone")
             : take_bounds(&written, range, e);
    table_free(&range_table, &written);
    return result;
}

/* Each whole number is as likely as the others: it stands for the part of the range up to the next one. */
static int64_t whole_at(const struct sweep_range *r, double at)
{
    struct sweep_range wider = *r;
    wider.to++;
    int64_t value = (int64_t)floor(place(&wider, at));
    return value > r->to ? r->to : value;
}

json_t *sweep_range_at(const struct sweep_range *r, double at, size_t strata)
{
    double low = floor(at * (double)strata), high = low + 1;
    if (r->list)
        return json_incref(json_array_get(r->list, (size_t)(at * (double)json_array_size(r->list))));
    if (r->steps.whole)
        return steps_write(&r->steps, whole_at(r, at));
    low = ceil(place(r, low / (double)strata));
    high = ceil(place(r, high / (double)strata)) - 1;
    return steps_write(&r->steps, steps_round(&r->steps, place(r, at), DIGITS, low, high));
}
