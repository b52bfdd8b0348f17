/* The numbers of a range as a user writes them, written out as a list, and by their place in the range. */
#include "harness/plan/value_range.h"

#include "lib/document/json_text.h"
#include "lib/document/table.h"
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- steps */

#define STEPS_MOST    INT64_C(4000000000000000000) /* sums and rounded values stay within 64 bits */
#define MOST_DECIMALS 15
#define STEPS_LARGEST ((double)STEPS_MOST)
#define DOUBLE_DIGITS 17
#define BELOW_ONE     (1 - DBL_EPSILON) /* a quotient may be rounded to 1 */

/* The family in which all values are quantities; times are counted in ns if they can be. */
static bool unit_of(const json_t *const *values, size_t count, enum unit *unit)
{
    for (int u = 0; u < UNIT_COUNT; u++) {
        size_t fit = 0;
        int64_t number;
        for (size_t i = 0; i < count; i++)
            fit += units_parse((enum unit)u, json_string_value(values[i]), &number, NULL) == 0;
        *unit = (enum unit)u;
        if (fit == count)
            return true;
    }
    return false;
}

static enum units_prefixes prefixes_of(const json_t *const *values, size_t count)
{
    bool binary = false, decimal = false;
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(values[i]);
        binary |= strstr(text, "iB") != NULL;
        decimal |= !strstr(text, "iB") && strpbrk(text, "kKMGT");
    }
    return binary == decimal ? UNITS_ANY : binary ? UNITS_BINARY : UNITS_DECIMAL;
}

static bool has_unit(const json_t *value)
{
    enum unit unit;
    return json_is_string(value) && unit_of(&value, 1, &unit);
}

static int refuse_value(const json_t *value, struct error *e)
{
    char *shown = json_shown(value);
    error_set(
        e, "%.60s is neither a number nor a quantity with a unit such as \"10us\", \"64KiB\" or \"25Gb/s\"",
        shown ? shown : "?");
    free(shown);
    return -1;
}

static int refuse_values(const json_t *const *values, size_t count, struct error *e)
{
    for (size_t i = 0; i < count; i++)
        if (!json_is_number(values[i]) && !has_unit(values[i]))
            return refuse_value(values[i], e);
    char *first = json_shown(values[0]), *last = json_shown(values[count - 1]);
    error_set(e, "%.60s and %.60s have no unit in common", first ? first : "?", last ? last : "?");
    free(first);
    free(last);
    return -1;
}

/* As many decimals as keep the largest number in 64 bits. */
static int choose_decimals(const json_t *const *values, size_t count, struct steps *steps, struct error *e)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(json_number_value(values[i])));
    if (largest > STEPS_LARGEST)
        return error_set(e, "%.15g is too large: expected at most %.0g", largest, STEPS_LARGEST);
    if (steps->whole)
        return 0;
    steps->decimals = MOST_DECIMALS;
    while (largest * pow(10, steps->decimals) > STEPS_LARGEST)
        steps->decimals--;
    return 0;
}

/* What the values (NULL ends them early) are counted in: all are quantities of one unit, or all numbers. */
static int steps_choose(const json_t *const *values, size_t count, struct steps *steps, struct error *e)
{
    size_t strings = 0, numbers = 0, whole = 0;
    for (size_t i = 0; i < count; i++) {
        strings += json_is_string(values[i]);
        numbers += json_is_number(values[i]);
        whole += json_is_integer(values[i]);
    }
    *steps = (struct steps){.quantity = strings == count, .whole = whole == count};
    if (numbers == count)
        return choose_decimals(values, count, steps, e);
    if (strings != count || !unit_of(values, count, &steps->unit))
        return refuse_values(values, count, e);
    steps->prefixes = prefixes_of(values, count);
    return 0;
}

/* What was written: the 15 digits that a double holds, not the double. */
static int64_t fraction_in_steps(double number, int decimals)
{
    char text[40];
    snprintf(text, sizeof text, "%.15g", number);
    return (int64_t)llroundl(strtold(text, NULL) * powl(10, decimals));
}

/* A value that steps_of was given. */
static int64_t steps_take(const struct steps *steps, const json_t *value)
{
    int64_t number = 0;
    if (steps->quantity)
        units_parse(steps->unit, json_string_value(value), &number, NULL);
    else if (steps->whole)
        number = json_integer_value(value);
    else
        number = fraction_in_steps(json_number_value(value), steps->decimals);
    return number;
}

/* As a user would write it: "1.5us", 64, 0.3. A new reference. */
static json_t *steps_write(const struct steps *steps, int64_t value)
{
    char text[64];
    if (steps->quantity)
        return json_text(units_write(steps->unit, value, steps->prefixes, text, sizeof text));
    if (steps->whole)
        return json_integer(value);
    long double number = (long double)value / powl(10, steps->decimals);
    snprintf(text, sizeof text, "%.15Lg", number);
    return json_real(strtod(text, NULL));
}

/* Rounded to `digits` significant digits, counted in `unit`. */
static double round_to_digits(double exact, double unit, int digits)
{
    double scaled = exact / unit, place = ceil(log10(fmax(fabs(scaled), 1e-300)) + 1e-12);
    double power = pow(10, fabs(digits - place));
    return unit * (digits >= place ? round(scaled * power) / power : round(scaled / power) * power);
}

/* The number nearest to `exact` with the fewest significant digits, at least `digits`, that lies from `low`
 * to `high`. Digits are those of the unit in which the number is written. If there is none, the nearest. */
static int64_t steps_round(const struct steps *steps, double exact, int digits, double low, double high)
{
    double unit = steps->quantity ? (double)units_scale(steps->unit, (int64_t)exact, steps->prefixes) : 1;
    for (; digits <= DOUBLE_DIGITS; digits++) {
        double number = round_to_digits(exact, unit, digits);
        if (fabs(number - round(number)) > 1e-6) /* such as 7.56KiB */
            number = round(round_to_digits(exact, 1, digits));
        if (number >= low && number <= high)
            return (int64_t)round(number);
    }
    return (int64_t)llround(exact);
}

/* ---- ranges */

#define POINT_DIGITS                                                                                         \
    3                   /* of a point that no one wrote; more where neighbours would move towards each other \
                           \ */
#define FACTOR_DIGITS 4 /* of a value that a factor with a fraction made */

static const char *const scales[] = {"linear", "log", NULL};
enum scale { SCALE_LINEAR, SCALE_LOGARITHMIC };

struct written_range {
    json_t *from, *to, *step;
    double factor;
    int64_t points;
    int scale;
};

#define AT(member) .offset = offsetof(struct written_range, member)
static const struct field range_fields[] = {
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
static const struct table range_table = {"sweep", "A range of values.", sizeof(struct written_range),
                                         range_fields, NULL};

/* ---- bounds */

static int range_read_bounds(const struct written_range *w, struct value_range *r, struct error *e)
{
    const json_t *bounds[] = {w->from, w->to, w->step};
    if (steps_choose(bounds, w->step ? 3 : 2, &r->steps, e) != 0)
        return error_prefix(e, w->step ? "from, to and step" : "from and to");
    r->from = steps_take(&r->steps, w->from);
    r->to = steps_take(&r->steps, w->to);
    r->logarithmic = w->scale == SCALE_LOGARITHMIC;
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

static int values_append(json_t *values, const struct steps *steps, int64_t value, const char *key,
                         struct error *e)
{
    if (json_array_size(values) == SWEEP_MOST_VALUES)
        return error_set(e, "%s: more than %d values", key, SWEEP_MOST_VALUES);
    return json_array_append_new(values, steps_write(steps, value)) == 0 ? 0 : error_set(e, "out of memory");
}

/* The i-th value; whole factors make exact ones. */
static int64_t value_by_factor(const struct value_range *r, double factor, int i, int64_t last)
{
    double exact = (double)r->from * pow(factor, i);
    if (i == 0)
        return r->from;
    if (factor == floor(factor))
        return last * (int64_t)factor;
    return steps_round(&r->steps, exact, FACTOR_DIGITS, exact * (1 - 1e-4), exact * (1 + 1e-4));
}

static int write_by_factor(const struct value_range *r, double factor, json_t *values, struct error *e)
{
    int64_t last = 0;
    if (!(factor > 1) || (r->from < r->to && (double)r->from * factor > (double)r->to))
        return never_arrives("factor",
                             factor > 1 ? "from times factor is above to" : "expected a factor above 1", e);
    for (int i = 0; (double)r->from * pow(factor, i) <= (double)r->to * (1 + 1e-12); i++) {
        int64_t value = value_by_factor(r, factor, i, last);
        if (i && value <= last)
            return never_arrives("factor", "values this small are rounded to the same one", e);
        last = value > r->to ? r->to : value;
        if (values_append(values, &r->steps, last, "factor", e) != 0)
            return -1;
    }
    return 0;
}

static int write_by_step(const struct value_range *r, const json_t *written, json_t *values, struct error *e)
{
    int64_t step = steps_take(&r->steps, written);
    if (step <= 0 || (r->from < r->to && step > r->to - r->from))
        return never_arrives("step", step > 0 ? "from plus step is above to" : "expected a step above 0", e);
    for (int64_t value = r->from;; value += step)
        if (values_append(values, &r->steps, value, "step", e) != 0)
            return -1;
        else if (value > r->to - step)
            return 0;
}

static double range_number(const struct value_range *r, double at)
{
    double from = (double)r->from, to = (double)r->to;
    return r->logarithmic ? from * pow(to / from, at) : from + (to - from) * at;
}

/* Point i of `points`: moved by at most a hundredth of the distance to its neighbours. */
static int64_t range_point(const struct value_range *r, int64_t i, int64_t points)
{
    if (i == 0 || i == points - 1)
        return i ? r->to : r->from;
    double exact = range_number(r, (double)i / (double)(points - 1));
    double gap = (exact - range_number(r, (double)(i - 1) / (double)(points - 1))) / 100;
    return steps_round(&r->steps, exact, POINT_DIGITS, exact - gap, exact + gap);
}

static int write_by_points(const struct value_range *r, int64_t points, json_t *values, struct error *e)
{
    int64_t last = 0;
    for (int64_t i = 0; i < points; i++) {
        int64_t value = range_point(r, i, points);
        if (i && value <= last)
            return error_set(e, "points: there are not %lld different values between from and to",
                             (long long)points);
        last = value;
        if (values_append(values, &r->steps, value, "points", e) != 0)
            return -1;
    }
    return 0;
}

static int range_write_out(const struct written_range *w, json_t *values, struct error *e)
{
    bool factor = isfinite(w->factor), points = w->points != FIELD_UNSET;
    struct value_range range = {0};
    if (factor + points + (w->step != NULL) != 1)
        return error_set(e, "expected one of \"factor\", \"step\" and \"points\" beside from and to");
    if (w->scale >= 0 && !points)
        return error_set(e, "scale: it is for points; a factor or a step already is one");
    if (range_read_bounds(w, &range, e) != 0)
        return -1;
    return factor   ? write_by_factor(&range, w->factor, values, e)
           : points ? write_by_points(&range, w->points, values, e)
                    : write_by_step(&range, w->step, values, e);
}

static int no_values(const char *expected, struct error *e)
{
    return error_set(e, "expected a list of values, or %s", expected);
}

json_t *sweep_values(const json_t *value, struct error *e)
{
    struct written_range written;
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
    if (range_write_out(&written, values, e) != 0) {
        json_decref(values);
        values = NULL;
    }
    table_free(&range_table, &written);
    return values;
}

/* ---- samples of a range */

int value_range_parse(const json_t *value, struct value_range *range, struct error *e)
{
    struct written_range written;
    *range = (struct value_range){0};
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
             : range_read_bounds(&written, range, e);
    table_free(&range_table, &written);
    return result;
}

/* Each whole number is as likely as the others: it stands for the part of the range up to the next one. */
static int64_t range_whole_at(const struct value_range *r, double at)
{
    struct value_range wider = *r;
    wider.to++;
    int64_t value = (int64_t)floor(range_number(&wider, at));
    return value > r->to ? r->to : value;
}

json_t *value_range_at(const struct value_range *r, double at, size_t strata)
{
    at = fmin(at, BELOW_ONE);
    double low = floor(at * (double)strata), high = low + 1;
    if (r->list)
        return json_incref(json_array_get(r->list, (size_t)(at * (double)json_array_size(r->list))));
    if (r->steps.whole)
        return steps_write(&r->steps, range_whole_at(r, at));
    if (strata == 0)
        return steps_write(&r->steps, steps_round(&r->steps, range_number(r, at), POINT_DIGITS,
                                                  (double)r->from, (double)r->to));
    low = ceil(range_number(r, low / (double)strata));
    high = ceil(range_number(r, high / (double)strata)) - 1;
    return steps_write(&r->steps, steps_round(&r->steps, range_number(r, at), POINT_DIGITS, low, high));
}

double value_range_place(const struct value_range *r, const json_t *value)
{
    struct steps steps;
    struct error e;
    for (size_t i = 0; i < json_array_size(r->list); i++)
        if (json_equal(json_array_get(r->list, i), value))
            return ((double)i + 0.5) / (double)json_array_size(r->list);
    if (r->list || steps_choose(&value, 1, &steps, &e) != 0 || steps.quantity != r->steps.quantity ||
        (r->steps.whole && !steps.whole) || (steps.quantity && steps.unit != r->steps.unit))
        return NAN;
    int64_t number = steps_take(&r->steps, value);
    if (number < r->from || number > r->to || r->from == r->to)
        return NAN;
    double from = (double)r->from, to = (double)r->to + (r->steps.whole ? 1 : 0),
           at = (double)number + (r->steps.whole ? 0.5 : 0);
    double place = r->logarithmic ? log(at / from) / log(to / from) : (at - from) / (to - from);
    return fmin(place, BELOW_ONE);
}
