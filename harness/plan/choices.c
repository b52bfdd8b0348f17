/*
 * The "sweep" of a scenario: the numbers of a range as a user writes them, ranges and samples as lists of
 * values, and the combinations of all lists, by their number.
 */
#include "harness/plan/choices.h"

#include "harness/plan/condition.h"
#include "lib/document/json_text.h"
#include "lib/document/table.h"
#include "lib/random.h"
#include "lib/units.h"
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- steps */

/* The numbers of a range: quantities with a unit, whole numbers, fractions. They are counted in steps, the
 * smallest difference that is kept (1 ns, 1 B, 1, or a power of ten), so that no value gains digits that
 * nobody wrote. */
struct steps {
    bool quantity, whole; /* neither: fractions */
    enum unit unit;       /* of a quantity */
    enum units_prefixes prefixes;
    int decimals; /* of fractions: a step is 10 to the power of -decimals */
};

#define STEPS_MOST    INT64_C(4000000000000000000) /* sums and rounded values stay within 64 bits */
#define MOST_DECIMALS 15
#define STEPS_LARGEST ((double)STEPS_MOST)
#define DOUBLE_DIGITS 17

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

/* What a sample is drawn from: a list, or {"from", "to", "scale"}. */
struct sweep_range {
    json_t *list; /* NULL: from `from` to `to`; not owned */
    struct steps steps;
    int64_t from, to;
    bool logarithmic;
};

/* ---- bounds */

static int range_read_bounds(const struct written_range *w, struct sweep_range *r, struct error *e)
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
static int64_t value_by_factor(const struct sweep_range *r, double factor, int i, int64_t last)
{
    double exact = (double)r->from * pow(factor, i);
    if (i == 0)
        return r->from;
    if (factor == floor(factor))
        return last * (int64_t)factor;
    return steps_round(&r->steps, exact, FACTOR_DIGITS, exact * (1 - 1e-4), exact * (1 + 1e-4));
}

static int write_by_factor(const struct sweep_range *r, double factor, json_t *values, struct error *e)
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

static int write_by_step(const struct sweep_range *r, const json_t *written, json_t *values, struct error *e)
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

static double range_at(const struct sweep_range *r, double at)
{
    double from = (double)r->from, to = (double)r->to;
    return r->logarithmic ? from * pow(to / from, at) : from + (to - from) * at;
}

/* Point i of `points`: moved by at most a hundredth of the distance to its neighbours. */
static int64_t range_point(const struct sweep_range *r, int64_t i, int64_t points)
{
    if (i == 0 || i == points - 1)
        return i ? r->to : r->from;
    double exact = range_at(r, (double)i / (double)(points - 1));
    double gap = (exact - range_at(r, (double)(i - 1) / (double)(points - 1))) / 100;
    return steps_round(&r->steps, exact, POINT_DIGITS, exact - gap, exact + gap);
}

static int write_by_points(const struct sweep_range *r, int64_t points, json_t *values, struct error *e)
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
    struct sweep_range range = {0};
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

static int range_parse(const json_t *value, struct sweep_range *range, struct error *e)
{
    struct written_range written;
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
             : range_read_bounds(&written, range, e);
    table_free(&range_table, &written);
    return result;
}

/* Each whole number is as likely as the others: it stands for the part of the range up to the next one. */
static int64_t range_whole_at(const struct sweep_range *r, double at)
{
    struct sweep_range wider = *r;
    wider.to++;
    int64_t value = (int64_t)floor(range_at(&wider, at));
    return value > r->to ? r->to : value;
}

/* The value at a place 0 <= at < 1 of the range. It has the fewest digits with which it stays in its stratum,
 * one of `strata` equal parts of the range. A new reference. */
static json_t *range_draw(const struct sweep_range *r, double at, size_t strata)
{
    double low = floor(at * (double)strata), high = low + 1;
    if (r->list)
        return json_incref(json_array_get(r->list, (size_t)(at * (double)json_array_size(r->list))));
    if (r->steps.whole)
        return steps_write(&r->steps, range_whole_at(r, at));
    low = ceil(range_at(r, low / (double)strata));
    high = ceil(range_at(r, high / (double)strata)) - 1;
    return steps_write(&r->steps, steps_round(&r->steps, range_at(r, at), POINT_DIGITS, low, high));
}

/* ---- draws */

#define BELOW_ONE (1 - DBL_EPSILON) /* a quotient may be rounded to 1 */

static const char *const methods[] = {"random", "latin-hypercube", NULL};
enum method { METHOD_RANDOM, METHOD_LATIN_HYPERCUBE };

struct written_draw {
    int64_t count, seed;
    int method;
    json_t *over;
};

#define AT(member) .offset = offsetof(struct written_draw, member)
static const struct field draw_fields[] = {
    {"count", FIELD_INTEGER, AT(count), .min = 1, .max = SWEEP_MOST_VALUES, .required = true,
     .help = "So many samples."},
    {"method", FIELD_CHOICE, AT(method), .choices = methods, .fallback = "\"latin-hypercube\"",
     .help = "How they are drawn."},
    {"seed", FIELD_INTEGER, AT(seed), .min = 0, .max = INT64_MAX, .fallback = "1",
     .help = "Another seed, other samples."},
    {"over", FIELD_JSON, AT(over), .required = true,
     .help =
         "Map of path to a list, or to {\"from\": VALUE, \"to\": VALUE, \"scale\": \"linear\" or \"log\"}."},
    {0},
};
#undef AT
static const struct table draw_table = {"draw", "Samples of ranges.", sizeof(struct written_draw),
                                        draw_fields, NULL};

/* A number from 0 to below `count`. */
static size_t random_below(struct random *random, size_t count)
{
    return (size_t)(random_unit(random) * (double)count);
}

/* The strata in random order (Fisher and Yates). */
static void shuffle_strata(struct random *random, size_t *strata, size_t count)
{
    for (size_t i = 0; i < count; i++)
        strata[i] = i;
    for (size_t i = count; i > 1; i--) {
        size_t k = random_below(random, i), other = strata[k];
        strata[k] = strata[i - 1];
        strata[i - 1] = other;
    }
}

static json_t *draw_path(const struct written_draw *w, const json_t *range_json, struct random *random,
                         struct error *e)
{
    size_t count = (size_t)w->count;
    struct sweep_range range;
    if (range_parse(range_json, &range, e) != 0)
        return NULL;
    size_t *strata = calloc(count, sizeof *strata);
    json_t *values = strata ? json_array() : NULL;
    if (!values)
        error_set(e, "out of memory");
    if (strata && w->method == METHOD_LATIN_HYPERCUBE)
        shuffle_strata(random, strata, count);
    for (size_t i = 0; values && i < count; i++) {
        double at = random_unit(random);
        if (w->method == METHOD_LATIN_HYPERCUBE)
            at = ((double)strata[i] + at) / (double)count;
        json_array_append_new(values, range_draw(&range, fmin(at, BELOW_ONE), count));
    }
    free(strata);
    return values;
}

static int draw_all(const struct written_draw *w, json_t *lists, struct error *e)
{
    struct random random;
    const char *path;
    json_t *range;
    if (json_object_size(w->over) == 0)
        return error_set(e, "over: expected an object such as {\"PATH\": {\"from\": VALUE, \"to\": VALUE}}");
    random_seed(&random, (uint64_t)w->seed);
    json_object_foreach(w->over, path, range)
    {
        json_t *values = draw_path(w, range, &random, e);
        if (!values)
            return error_prefix(e, "over.%.100s", path);
        json_object_set_new(lists, path, values);
    }
    return 0;
}

json_t *sweep_draw(const json_t *written, struct error *e)
{
    struct written_draw w;
    json_t *lists = json_object();
    if (!json_is_object(written)) {
        error_set(e, "expected an object such as {\"count\": 20, \"seed\": 1, \"over\": {\"PATH\": RANGE}}");
    } else if (table_parse(&draw_table, written, &w, e) == 0) {
        int result = draw_all(&w, lists, e);
        table_free(&draw_table, &w);
        if (result == 0)
            return lists;
    }
    json_decref(lists);
    return NULL;
}

/* ---- the words of a sweep */

/* Words of a sweep that are not paths: no key of a scenario has these names. */
enum word { WORD_PATH, WORD_ZIP, WORD_DRAW, WORD_EXCEPT, WORD_ONLY };

static enum word word_of(const char *key)
{
    static const char *const words[] = {
        [WORD_ZIP] = "zip", [WORD_DRAW] = "draw", [WORD_EXCEPT] = "except", [WORD_ONLY] = "only"};
    for (size_t i = WORD_ZIP; i < sizeof words / sizeof *words; i++)
        if (strcmp(key, words[i]) == 0)
            return (enum word)i;
    return WORD_PATH;
}

/* ---- values that make identical cells */

/* Value `i` of each path, as one text. The caller frees it. */
static char *values_of(const json_t *lists, size_t i)
{
    struct text words = {0};
    const char *path;
    json_t *values;
    json_object_foreach((json_t *)(uintptr_t)lists, path, values)
    {
        json_add_canonical(json_array_get(values, i), &words);
        text_add(&words, "\n");
    }
    return text_take(&words);
}

static int refuse_repeated(const json_t *lists, size_t first, size_t again, struct error *e)
{
    const char *path = json_object_iter_key(json_object_iter((json_t *)(uintptr_t)lists));
    const json_t *values = json_object_get(lists, path);
    char *one = json_shown(json_array_get(values, first)), *other = json_shown(json_array_get(values, again));
    error_set(
        e,
        "%.100s: value %zu, %.60s, is value %zu, %.60s, again: their cells would be identical (--repeat runs "
        "each cell several times)",
        path, again + 1, other ? other : "?", first + 1, one ? one : "?");
    free(one);
    free(other);
    return -1;
}

/* Samples of a draw may be the same by chance; of a zip all values together count. */
static int check_repeated(const json_t *lists, size_t count, struct error *e)
{
    json_t *seen = json_object();
    int result = 0;
    for (size_t i = 0; result == 0 && i < count; i++) {
        char *key = values_of(lists, i);
        const json_t *before = key ? json_object_get(seen, key) : NULL;
        if (before)
            result = refuse_repeated(lists, (size_t)json_integer_value(before), i, e);
        else if (!key || json_put(seen, key, json_integer((json_int_t)i)) != 0)
            result = error_set(e, "out of memory");
        free(key);
    }
    json_decref(seen);
    return result;
}

/* Value `value` of one path; of each other that comes before `end` (NULL: all) the first value. `last`: put
 * the path behind all others. `value` SIZE_MAX: without the path. */
static json_t *choice_with(const struct choices *c, const char *which, size_t value, const char *end,
                           bool last)
{
    json_t *choice = json_object(), *values;
    const char *path;
    json_object_foreach(c->lists, path, values)
    {
        if (end && strcmp(path, end) == 0)
            break;
        if (strcmp(path, which) != 0)
            json_object_set(choice, path, json_array_get(values, 0));
        else if (!last && value != SIZE_MAX)
            json_object_set(choice, path, json_array_get(values, value));
    }
    if (last)
        json_object_set(choice, which, json_array_get(json_object_get(c->lists, which), value));
    return choice;
}

struct documents {
    const struct choices *choices;
    choices_document of;
    const void *context;
};

/* Takes both over. */
static bool make_same(const struct documents *d, json_t *one, json_t *other)
{
    json_t *a = d->of(d->context, one), *b = d->of(d->context, other);
    bool same = json_equal(a, b);
    json_decref(a);
    json_decref(b);
    json_decref(one);
    json_decref(other);
    return same;
}

/* Do values of a path change nothing where they stand, of those that would behind the paths before `end`? */
static bool is_overwritten(const struct documents *d, const char *path, const char *end)
{
    const struct choices *c = d->choices;
    size_t count = json_array_size(json_object_get(c->lists, path));
    bool would = false;
    for (size_t i = 0; i < count; i++) {
        if (!make_same(d, choice_with(c, path, i, end, false), choice_with(c, path, SIZE_MAX, end, false)))
            return false;
        would = would ||
                !make_same(d, choice_with(c, path, i, end, true), choice_with(c, path, SIZE_MAX, end, false));
    }
    return would;
}

int choices_check_effects(const struct choices *c, choices_document document_of, const void *context,
                          struct error *e)
{
    const struct documents d = {c, document_of, context};
    const char *path;
    json_t *values;
    json_object_foreach(c->lists, path, values)
    {
        void *by = json_object_iter_at(c->lists, path), *next = json_object_iter_next(c->lists, by);
        if (!next) /* nothing comes after the last */
            break;
        if (!is_overwritten(&d, path, NULL))
            continue;
        do {
            by = next;
            next = json_object_iter_next(c->lists, by);
        } while (next && !is_overwritten(&d, path, json_object_iter_key(next)));
        return error_set(e, "sweep: %.100s changes nothing: %.100s, later in the sweep, sets it again", path,
                         json_object_iter_key(by));
    }
    return 0;
}

/* Are they numbers, quantities of one unit, or words, so that other text is another value? */
static bool are_of_one_kind(const json_t *values)
{
    enum unit first = UNIT_COUNT;
    json_t *value;
    size_t i;
    json_array_foreach(values, i, value)
    {
        enum unit unit = UNIT_COUNT;
        if (json_is_string(value) && !unit_of((const json_t *const *)&value, 1, &unit))
            unit = UNIT_COUNT;
        first = i == 0 ? unit : first;
        bool numbers = json_is_number(value) && json_is_number(json_array_get(values, 0));
        if (!numbers && (json_typeof(value) != json_typeof(json_array_get(values, 0)) || unit != first ||
                         json_is_object(value) || json_is_array(value)))
            return false;
    }
    return true;
}

/* Is a value of the axis, when it is read, an earlier one? */
static int check_same_of(const struct documents *d, const struct axis *axis, struct error *e)
{
    json_t *seen = json_object(), *values;
    int result = 0;
    for (size_t i = 0; result == 0 && i < axis->count; i++) {
        json_t *choice = json_copy(d->choices->lists);
        const char *path;
        json_object_foreach(d->choices->lists, path, values)
        {
            json_object_set(choice, path, json_array_get(values, json_object_get(axis->lists, path) ? i : 0));
        }
        json_t *parsed = d->of(d->context, choice);
        char *key = parsed ? json_dumps(parsed, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
        const json_t *before = key ? json_object_get(seen, key) : NULL;
        if (before)
            result = refuse_repeated(axis->lists, (size_t)json_integer_value(before), i, e);
        else if (key)
            json_object_set_new(seen, key, json_integer((json_int_t)i));
        free(key);
        json_decref(parsed);
        json_decref(choice);
    }
    json_decref(seen);
    return result;
}

int choices_check_same(const struct choices *c, choices_document parsed_of, const void *context,
                       struct error *e)
{
    const struct documents d = {c, parsed_of, context};
    for (size_t k = 0; k < c->axis_count; k++) {
        const char *path;
        json_t *values;
        bool plain = true;
        json_object_foreach(c->axes[k].lists, path, values)
        {
            plain = plain && are_of_one_kind(values);
        }
        if (!plain && !c->axes[k].drawn && c->axes[k].count > 1 && check_same_of(&d, &c->axes[k], e) != 0)
            return error_prefix(e, "sweep");
    }
    return 0;
}

/* ---- axes, which are combined */

/* Takes `lists`. `drawn`: by chance, so values may come again. */
static int add_axis(struct choices *c, json_t *lists, bool drawn, struct error *e)
{
    const char *path;
    json_t *values;
    struct axis *grown = lists ? realloc(c->axes, (c->axis_count + 1) * sizeof *grown) : NULL;
    if (!grown) {
        json_decref(lists);
        return error_set(e, "out of memory");
    }
    c->axes = grown;
    struct axis *axis = &c->axes[c->axis_count++];
    *axis = (struct axis){.lists = lists, .drawn = drawn};
    json_object_foreach(lists, path, values)
    {
        axis->count = json_array_size(values);
        if (json_object_get(c->lists, path))
            return error_set(e, "%.100s: the sweep has this path twice", path);
        if (json_object_set(c->lists, path, values) != 0)
            return error_set(e, "out of memory");
    }
    return drawn ? 0 : check_repeated(lists, axis->count, e);
}

static int add_path(struct choices *c, const char *path, const json_t *written, struct error *e)
{
    json_t *values = sweep_values(written, e), *lists = values ? json_object() : NULL;
    if (!values)
        return error_prefix(e, "sweep.%.100s", path);
    if (lists)
        json_object_set(lists, path, values);
    json_decref(values);
    return add_axis(c, lists, false, e) == 0 ? 0 : error_prefix(e, "sweep");
}

/* The lists of paths that go together. */
static json_t *read_zip(const json_t *group, struct error *e)
{
    json_t *lists = json_object(), *written;
    const char *path, *first = NULL;
    size_t count = 0;
    if (json_object_size(group) < 2) {
        error_set(e, "expected an object of at least two paths such as {\"PATH\": [VALUE, ...], \"PATH\": "
                     "[VALUE, ...]}");
        goto failed;
    }
    json_object_foreach((json_t *)(uintptr_t)group, path, written)
    {
        json_t *values = sweep_values(written, e);
        if (!values) {
            error_prefix(e, "%.100s", path);
            goto failed;
        }
        json_object_set_new(lists, path, values);
        if (first && json_array_size(values) != count) {
            error_set(
                e,
                "%.100s has %zu values and %.100s has %zu: paths that go together need equally many values",
                first, count, path, json_array_size(values));
            goto failed;
        }
        first = path;
        count = json_array_size(values);
    }
    return lists;
failed:
    json_decref(lists);
    return NULL;
}

static int add_zips(struct choices *c, const json_t *groups, struct error *e)
{
    size_t i;
    json_t *group;
    if (json_array_size(groups) == 0)
        return error_set(
            e, "sweep.zip: expected a list such as [{\"PATH\": [VALUE, ...], \"PATH\": [VALUE, ...]}]");
    json_array_foreach(groups, i, group)
    {
        json_t *lists = read_zip(group, e);
        if (!lists || add_axis(c, lists, false, e) != 0)
            return error_prefix(e, "sweep.zip[%zu]", i);
    }
    return 0;
}

static int add_draw(struct choices *c, const json_t *written, struct error *e)
{
    json_t *lists = sweep_draw(written, e);
    return lists && add_axis(c, lists, true, e) == 0 ? 0 : error_prefix(e, "sweep.draw");
}

static int add_axes(struct choices *c, const json_t *sweep, struct error *e)
{
    const char *key;
    json_t *written;
    if (sweep && !json_is_object(sweep))
        return error_set(e, "sweep: expected an object such as {\"PATH\": [VALUE, ...]}");
    json_object_foreach((json_t *)(uintptr_t)sweep, key, written)
    {
        enum word word = word_of(key);
        int result = word == WORD_PATH   ? add_path(c, key, written, e)
                     : word == WORD_ZIP  ? add_zips(c, written, e)
                     : word == WORD_DRAW ? add_draw(c, written, e)
                                         : 0;
        if (result != 0)
            return -1;
    }
    return 0;
}

static int count_combinations(struct choices *c, bool many, struct error *e)
{
    c->count = 1;
    for (size_t i = 0; i < c->axis_count; i++) {
        if (__builtin_mul_overflow(c->count, c->axes[i].count, &c->count) ||
            c->count > SIZE_MAX / sizeof *c->kept)
            return error_set(e, "sweep: more combinations than can be counted");
    }
    if (c->count > CHOICES_MANY && !many)
        return error_set(e, "sweep: %zu combinations are more than %d: if they are meant, add --yes",
                         c->count, CHOICES_MANY);
    return 0;
}

/* Combination i of all, also of those that are not kept. */
static json_t *combination_at(const struct choices *choices, size_t i)
{
    json_t *choice = json_object(), *values;
    const char *path;
    size_t cells = 1;
    for (size_t k = 0; k < choices->axis_count; k++)
        cells *= choices->axes[k].count;
    for (size_t k = 0; choice && k < choices->axis_count; k++) {
        size_t count = choices->axes[k].count;
        cells /= count;
        json_object_foreach(choices->axes[k].lists, path, values)
        {
            json_object_set(choice, path, json_array_get(values, i / cells % count));
        }
    }
    return choice;
}

/* ---- which combinations are kept */

struct lookup {
    const json_t *choice;
    choices_values values_at;
    const void *context;
    json_t *seen; /* paths that matched */
};

static json_t *values_of_choice(const void *context, const char *path)
{
    const struct lookup *lookup = context;
    json_t *chosen = json_object_get(lookup->choice, path);
    json_t *values =
        chosen ? json_make("[O]", chosen) : lookup->values_at(lookup->context, lookup->choice, path);
    if (json_array_size(values))
        json_object_set_new(lookup->seen, path, json_true());
    return values;
}

/* Does one of the conditions hold? */
static int any_holds(const json_t *conditions, const char *key, const struct lookup *lookup, struct error *e)
{
    int holds = 0;
    for (size_t i = 0; i < json_array_size(conditions); i++) {
        int one = condition_holds(json_array_get(conditions, i), values_of_choice, lookup, e);
        if (one < 0)
            return error_prefix(e, "sweep.%s[%zu]", key, i);
        holds |= one;
    }
    return holds;
}

static int keep_combinations(struct choices *c, const json_t *except, const json_t *only,
                             struct lookup *lookup, struct error *e)
{
    size_t kept = 0;
    int left_out = 0, in = 1;
    c->kept = calloc(c->count, sizeof *c->kept);
    if (!c->kept)
        return error_set(e, "out of memory");
    for (size_t i = 0; left_out >= 0 && in >= 0 && i < c->count; i++) {
        json_t *choice = combination_at(c, i);
        lookup->choice = choice;
        left_out = any_holds(except, "except", lookup, e);
        in = left_out < 0 ? 0 : only ? any_holds(only, "only", lookup, e) : 1;
        if (left_out == 0 && in == 1)
            c->kept[kept++] = i;
        json_decref(choice);
    }
    c->count = kept;
    return left_out < 0 || in < 0 ? -1 : 0;
}

static int check_conditions(const json_t *conditions, const char *key, struct error *e)
{
    size_t i;
    json_t *condition;
    if (conditions && json_array_size(conditions) == 0)
        return error_set(e, "sweep.%s: expected a list of conditions such as [{\"PATH\": \">= 64KiB\"}]",
                         key);
    json_array_foreach(conditions, i, condition)
    {
        if (json_object_size(condition) == 0)
            return error_set(e, "sweep.%s[%zu]: expected a condition such as {\"PATH\": \">= 64KiB\"}", key,
                             i);
    }
    return 0;
}

/* A path that matches nothing is a slip: its condition says nothing. */
static int check_seen(const json_t *conditions, const char *key, const json_t *seen, struct error *e)
{
    for (size_t i = 0; i < json_array_size(conditions); i++) {
        const char *path;
        json_t *wanted;
        json_object_foreach(json_array_get(conditions, i), path, wanted)
        {
            if (!json_object_get(seen, path))
                return error_set(e, "sweep.%s[%zu]: nothing in the scenario as it is written matches %.100s",
                                 key, i, path);
        }
    }
    return 0;
}

static int choose_combinations(struct choices *c, const json_t *sweep, choices_values values_at,
                               const void *context, struct error *e)
{
    const json_t *except = json_object_get(sweep, "except"), *only = json_object_get(sweep, "only");
    struct lookup lookup = {.values_at = values_at, .context = context};
    if (!except && !only)
        return 0;
    if (check_conditions(except, "except", e) != 0 || check_conditions(only, "only", e) != 0)
        return -1;
    size_t combinations = c->count;
    lookup.seen = json_object();
    int result = keep_combinations(c, except, only, &lookup, e);
    if (result == 0 &&
        (check_seen(except, "except", lookup.seen, e) != 0 || check_seen(only, "only", lookup.seen, e) != 0))
        result = -1;
    if (result == 0 && c->count == 0)
        result = error_set(e, "sweep: except and only leave none of %zu combinations", combinations);
    json_decref(lookup.seen);
    return result;
}

/* ---- the whole sweep */

int choices_parse(const json_t *sweep, bool many, choices_values values_at, const void *context,
                  struct choices *choices, struct error *e)
{
    *choices = (struct choices){.lists = json_object()};
    if (add_axes(choices, sweep, e) == 0 && count_combinations(choices, many, e) == 0 &&
        choose_combinations(choices, sweep, values_at, context, e) == 0)
        return 0;
    choices_free(choices);
    return -1;
}

void choices_free(struct choices *choices)
{
    for (size_t i = 0; i < choices->axis_count; i++)
        json_decref(choices->axes[i].lists);
    free(choices->axes);
    free(choices->kept);
    json_decref(choices->lists);
    *choices = (struct choices){0};
}

json_t *choices_at(const struct choices *choices, size_t i)
{
    return combination_at(choices, choices->kept ? choices->kept[i] : i);
}
