#include "lib/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Products of a number and a unit before the range is known. */
__extension__ typedef __int128 int128;

struct suffix {
    const char *name;
    int64_t factor;
    bool preferred; /* used when writing */
};

struct family {
    const char *description;
    const struct suffix *suffixes; /* rising; ended by no name */
};

static const struct suffix time_ns[] = {{"ns", 1, true},
                                        {"us", 1000, true},
                                        {"ms", 1000000, true},
                                        {"s", 1000000000, true},
                                        {"min", 60000000000, true},
                                        {"h", 3600000000000, true},
                                        {0}};
static const struct suffix time_ps[] = {
    {"ps", 1, true},          {"ns", 1000, true},         {"us", 1000000, true},
    {"ms", 1000000000, true}, {"s", 1000000000000, true}, {0}};
static const struct suffix bytes[] = {{"B", 1, true},
                                      {"kB", 1000, true},
                                      {"KB", 1000, false},
                                      {"KiB", 1024, true},
                                      {"MB", 1000000, true},
                                      {"MiB", 1 << 20, true},
                                      {"GB", 1000000000, true},
                                      {"GiB", 1 << 30, true},
                                      {"TB", 1000000000000, true},
                                      {"TiB", 1LL << 40, true},
                                      {0}};
static const struct suffix rate_bps[] = {{"b/s", 1, true},
                                         {"B/s", 8, false},
                                         {"kb/s", 1000, true},
                                         {"kB/s", 8000, false},
                                         {"KiB/s", 8 * 1024, false},
                                         {"Mb/s", 1000000, true},
                                         {"MB/s", 8000000, false},
                                         {"MiB/s", 8 << 20, false},
                                         {"Gb/s", 1000000000, true},
                                         {"GB/s", 8000000000, false},
                                         {"GiB/s", 8LL << 30, false},
                                         {"Tb/s", 1000000000000, true},
                                         {0}};
static const struct suffix length_mm[] = {
    {"mm", 1, true}, {"cm", 10, true}, {"m", 1000, true}, {"km", 1000000, true}, {0}};
static const struct suffix per_second[] = {
    {"/s", 1, true}, {"k/s", 1000, true}, {"M/s", 1000000, true}, {"G/s", 1000000000, true}, {0}};
static const struct suffix percent_milli[] = {{"%", 1000, true}, {0}};

static const struct family families[] = {
    [UNIT_TIME_NS] = {"a time such as \"10ms\" (ns, us, ms, s, min, h)", time_ns},
    [UNIT_TIME_PS] = {"a time such as \"250ns\" (ps, ns, us, ms, s)", time_ps},
    [UNIT_BYTES] = {"a size such as \"64KiB\" (B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)", bytes},
    [UNIT_RATE_BPS] =
        {"a rate such as \"25Gb/s\" (b/s, kb/s, Mb/s, Gb/s, Tb/s, or B/s, kB/s, KiB/s ... GiB/s)", rate_bps},
    [UNIT_LENGTH_MM] = {"a length such as \"1m\" (mm, cm, m, km)", length_mm},
    [UNIT_PER_SECOND] = {"a frequency such as \"3.77M/s\" (/s, k/s, M/s, G/s)", per_second},
    [UNIT_PERCENT_MILLI] = {"a percentage such as \"20%\"", percent_milli},
};

const char *units_describe(enum unit unit)
{
    return families[unit].description;
}

void units_names(enum unit unit, const char *between, struct text *out)
{
    for (const struct suffix *s = families[unit].suffixes; s->name; s++)
        text_add(out, "%s%s", s == families[unit].suffixes ? "" : between, s->name);
}

/* Split "12.5us" into digits without the point (125), the number of decimals (1) and what follows. */
static bool split_number(const char *string, int64_t *digits, int *decimals, const char **rest)
{
    bool any = false, point = false;
    *digits = 0;
    *decimals = 0;
    for (; isdigit((unsigned char)*string) || (*string == '.' && !point && any); string++) {
        if (*string == '.') {
            point = true;
            continue;
        }
        any = true;
        if (__builtin_mul_overflow(*digits, 10, digits) ||
            __builtin_add_overflow(*digits, *string - '0', digits))
            return false;
        *decimals += point;
    }
    *rest = string;
    return any && string[-1] != '.';
}

static const struct suffix *find_suffix(enum unit unit, const char *name)
{
    for (const struct suffix *s = families[unit].suffixes; s->name; s++)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

int units_parse(enum unit unit, const char *string, int64_t *value, struct error *e)
{
    int64_t digits;
    int decimals;
    const char *rest;
    if (!split_number(string, &digits, &decimals, &rest))
        return error_set(e, "\"%.40s\" is not %s", string, units_describe(unit));
    if (*rest == ' ')
        rest++;
    if (*rest == '\0' && digits == 0) {
        *value = 0;
        return 0;
    }
    if (*rest == '\0')
        return error_set(e, "\"%.40s\" has no unit: expected %s", string, units_describe(unit));
    const struct suffix *suffix = find_suffix(unit, rest);
    if (!suffix)
        return error_set(e, "\"%.40s\" has the unknown unit \"%.20s\": expected %s", string, rest,
                         units_describe(unit));
    int128 scaled = (int128)digits * suffix->factor;
    for (; decimals > 0; decimals--) {
        if (scaled % 10)
            return error_set(e, "\"%.40s\" is not a multiple of one %s", string,
                             families[unit].suffixes[0].name);
        scaled /= 10;
    }
    if (scaled > INT64_MAX)
        return error_set(e, "\"%.40s\" is too large", string);
    *value = (int64_t)scaled;
    return 0;
}

bool units_find(const char *string, enum unit *unit, int64_t *value)
{
    for (int u = 0; u < UNIT_COUNT; u++) {
        *unit = (enum unit)u;
        if (units_parse(*unit, string, value, NULL) == 0)
            return true;
    }
    return false;
}

char *units_format(enum unit unit, int64_t value, char *buffer, size_t size)
{
    const struct suffix *best = families[unit].suffixes;
    char best_text[32] = "";
    if (value == 0) {
        snprintf(buffer, size, "0%s", best->name);
        return buffer;
    }
    for (const struct suffix *s = best; s->name; s++) {
        char text[32];
        if (!s->preferred || value % s->factor)
            continue;
        snprintf(text, sizeof text, "%" PRId64, value / s->factor);
        if (!best_text[0] || strlen(text) < strlen(best_text)) {
            memcpy(best_text, text, sizeof text);
            best = s;
        }
    }
    if (!best_text[0]) /* a family whose smallest suffix is not 1: thousandths of a per cent */
        snprintf(best_text, sizeof best_text, "%.3f", (double)value / (double)best->factor);
    snprintf(buffer, size, "%s%s", best_text, best->name);
    return buffer;
}

/* ---- as people write it */

static bool has_prefix(enum unit unit, const struct suffix *s, enum units_prefixes prefixes)
{
    if (unit != UNIT_BYTES || s->factor == 1 || prefixes == UNITS_ANY)
        return true;
    return (s->name[1] == 'i') == (prefixes == UNITS_BINARY);
}

/* value / factor with all its decimals, at most six. False if it has more. */
static bool write_exactly(int64_t value, int64_t factor, char text[48])
{
    int64_t rest = value % factor;
    int length = snprintf(text, 48, "%" PRId64 "%s", value / factor, rest ? "." : "");
    for (int i = 0; rest && i < 6; i++) {
        int128 tenfold = (int128)rest * 10;
        text[length++] = (char)('0' + (int)(tenfold / factor));
        rest = (int64_t)(tenfold % factor);
    }
    text[length] = '\0';
    return rest == 0;
}

char *units_write(enum unit unit, int64_t value, enum units_prefixes prefixes, char *buffer, size_t size)
{
    size_t shortest = 0;
    units_format(unit, value, buffer, size);
    for (const struct suffix *s = families[unit].suffixes; value && s->name; s++) {
        char text[48];
        if (!s->preferred || !has_prefix(unit, s, prefixes) || !write_exactly(value, s->factor, text))
            continue;
        size_t length = strlen(text) + strlen(s->name);
        if (shortest && (length > shortest || s->factor > value))
            continue;
        snprintf(buffer, size, "%s%s", text, s->name);
        shortest = length;
    }
    return buffer;
}

const char *units_of_time(double ns, double *one_ns)
{
    *one_ns = ns < 1e3 ? 1 : ns < 1e6 ? 1e3 : 1e6;
    return ns < 1e3 ? "ns" : ns < 1e6 ? "us" : "ms";
}

char *units_write_seconds(int64_t ns, char *buffer, size_t size)
{
    lldiv_t seconds = lldiv(ns, 1000000000);
    snprintf(buffer, size, "%s%lld.%09lld", ns < 0 ? "-" : "", llabs(seconds.quot), llabs(seconds.rem));
    return buffer;
}

#define LIMIT_DIGITS 5

char *units_limit(enum unit unit, int64_t value, char *buffer, size_t size)
{
    int64_t scale = units_scale(unit, value, UNITS_DECIMAL), step = 1;
    units_format(unit, value, buffer, size);
    if (strspn(buffer, "0123456789") <= LIMIT_DIGITS)
        return buffer;
    while (value / step >= 1000)
        step *= 10;
    value -= value % step;
    for (const struct suffix *s = families[unit].suffixes; s->name; s++)
        if (s->preferred && s->factor == scale)
            snprintf(buffer, size, "%.6g%s", (double)value / (double)scale, s->name);
    return buffer;
}

int64_t units_scale(enum unit unit, int64_t value, enum units_prefixes prefixes)
{
    int64_t scale = 1;
    for (const struct suffix *s = families[unit].suffixes; s->name; s++)
        if (s->preferred && has_prefix(unit, s, prefixes) && s->factor <= value)
            scale = s->factor;
    return scale;
}
