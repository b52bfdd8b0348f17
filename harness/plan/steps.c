#include "harness/plan/steps.h"
#include "lib/document/json_text.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DECIMALS 15
#define LARGEST       ((double)STEPS_MOST)
#define DIGITS        17

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
    error_set(e, "%.60s is no number, and no quantity with a unit such as \"10us\", \"64KiB\" or \"25Gb/s\"",
              shown ? shown : "?");
    free(shown);
    return -1;
}

static int refuse(const json_t *const *values, size_t count, struct error *e)
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
    if (largest > LARGEST)
        return error_set(e, "%.15g is too large: expected at most %.0g", largest, LARGEST);
    if (steps->whole)
        return 0;
    steps->decimals = MOST_DECIMALS;
    while (largest * pow(10, steps->decimals) > LARGEST)
        steps->decimals--;
    return 0;
}

int steps_of(const json_t *const *values, size_t count, struct steps *steps, struct error *e)
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
        return refuse(values, count, e);
    steps->prefixes = prefixes_of(values, count);
    return 0;
}

/* What was written: the 15 digits that a double holds, not the double. */
static int64_t take_fraction(double number, int decimals)
{
    char text[40];
    snprintf(text, sizeof text, "%.15g", number);
    return (int64_t)llroundl(strtold(text, NULL) * powl(10, decimals));
}

int64_t steps_take(const struct steps *steps, const json_t *value)
{
    int64_t number = 0;
    if (steps->quantity)
        units_parse(steps->unit, json_string_value(value), &number, NULL);
    else if (steps->whole)
        number = json_integer_value(value);
    else
        number = take_fraction(json_number_value(value), steps->decimals);
    return number;
}

json_t *steps_write(const struct steps *steps, int64_t value)
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

/* Rounded to so many significant digits, counted in `unit`. */
static double round_in(double exact, double unit, int digits)
{
    double scaled = exact / unit, place = ceil(log10(fmax(fabs(scaled), 1e-300)) + 1e-12);
    double power = pow(10, fabs(digits - place));
    return unit * (digits >= place ? round(scaled * power) / power : round(scaled / power) * power);
}

int64_t steps_round(const struct steps *steps, double exact, int digits, double low, double high)
{
    double unit = steps->quantity ? (double)units_scale(steps->unit, (int64_t)exact, steps->prefixes) : 1;
    for (; digits <= DIGITS; digits++) {
        double number = round_in(exact, unit, digits);
        if (fabs(number - round(number)) > 1e-6) /* such as 7.56KiB */
            number = round(round_in(exact, 1, digits));
        if (number >= low && number <= high)
            return (int64_t)round(number);
    }
    return (int64_t)llround(exact);
}
