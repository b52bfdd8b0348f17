#include "lib/document/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- nearest word */

#define WORD_LIMIT 63

/* Edits (insert, delete, replace, swap two neighbours) that turn a into b; words longer than the limit count as far away. */
static size_t distance(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b), rows[3][WORD_LIMIT + 1];
    if (la > WORD_LIMIT || lb > WORD_LIMIT)
        return WORD_LIMIT;
    for (size_t j = 0; j <= lb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && above2[j - 2] + 1 < best)
                best = above2[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[la % 3][lb];
}

/* A word that was not finished is near to what it begins. */
static size_t farness(const char *word, const char *known)
{
    size_t length = strlen(word);
    return length >= 3 && strncmp(word, known, length) == 0 ? 1 : distance(word, known);
}

const char *options_nearest(const char *word, const char *const *words)
{
    const char *best = NULL;
    size_t best_distance = strlen(word) / 2 + 1;
    for (; *words; words++) {
        size_t d = farness(word, *words);
        if (d < best_distance) {
            best_distance = d;
            best = *words;
        }
    }
    return best;
}

/* ---- parsing */

static size_t count_specs(const struct option_spec *specs)
{
    size_t n = 0;
    while (specs[n].name)
        n++;
    return n;
}

static const struct option_spec *find_long(const struct option_spec *specs, const char *name, size_t length,
                                           struct error *e)
{
    for (const struct option_spec *s = specs; s->name; s++)
        if (strlen(s->name) == length && memcmp(s->name, name, length) == 0)
            return s;
    char word[WORD_LIMIT + 1];
    snprintf(word, sizeof word, "%.*s", (int)(length < WORD_LIMIT ? length : WORD_LIMIT), name);
    size_t n = count_specs(specs);
    const char **names = calloc(n + 1, sizeof *names);
    for (size_t i = 0; names && i < n; i++)
        names[i] = specs[i].name;
    const char *near = names ? options_nearest(word, names) : NULL;
    free(names);
    if (near)
        error_set(e, "unknown option --%s; did you mean --%s?", word, near);
    else
        error_set(e, "unknown option --%s; --help lists them", word);
    return NULL;
}

static const struct option_spec *find_letter(const struct option_spec *specs, char letter, struct error *e)
{
    for (const struct option_spec *s = specs; s->name; s++)
        if (s->letter && s->letter == letter)
            return s;
    error_set(e, "unknown option -%c; --help lists them", letter);
    return NULL;
}

static int set_integer(const struct option_spec *s, const char *value, int64_t *target, struct error *e)
{
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (end == value || *end || errno)
        return error_set(e, "--%s %.60s: expected a whole number", s->name, value);
    if (s->max > s->min && (number < s->min || number > s->max))
        return error_set(e, "--%s %.60s: expected %" PRId64 " to %" PRId64, s->name, value, s->min, s->max);
    *target = number;
    return 0;
}

static int set_number(const struct option_spec *s, const char *value, double *target, struct error *e)
{
    char *end;
    *target = strtod(value, &end);
    return end == value || *end ? error_set(e, "--%s %.60s: expected a number", s->name, value) : 0;
}

static int set_quantity(const struct option_spec *s, const char *value, int64_t *target, struct error *e)
{
    if (units_parse(s->unit, value, target, e) != 0)
        return error_prefix(e, "--%s", s->name);
    if (s->max > s->min && (*target < s->min || *target > s->max)) {
        char low[40], high[40];
        return error_set(e, "--%s %.60s: expected %s to %s", s->name, value,
                         units_format(s->unit, s->min, low, sizeof low),
                         units_format(s->unit, s->max, high, sizeof high));
    }
    return 0;
}

static int set_choice(const struct option_spec *s, const char *value, int *target, struct error *e)
{
    for (int i = 0; s->choices[i]; i++) {
        if (strcmp(s->choices[i], value) == 0) {
            *target = i;
            return 0;
        }
    }
    error_set(e, "--%s %.60s: expected one of", s->name, value);
    for (int i = 0; e && s->choices[i]; i++) {
        size_t length = strlen(e->text);
        snprintf(e->text + length, sizeof e->text - length, "%s %s", i ? "," : "", s->choices[i]);
    }
    return -1;
}

static int add_string(struct option_strings *strings, const char *value, struct error *e)
{
    const char **items = realloc(strings->items, (strings->count + 1) * sizeof *items);
    if (!items)
        return error_set(e, "out of memory for the command line");
    items[strings->count++] = value;
    strings->items = items;
    return 0;
}

static int set_value(const struct option_spec *s, const char *value, void *target, struct error *e)
{
    void *field = (char *)target + s->offset;
    switch (s->kind) {
    case OPTION_FLAG:
        ++*(int *)field;
        return 0;
    case OPTION_STRING:
        *(const char **)field = value;
        return 0;
    case OPTION_STRINGS:
        return add_string(field, value, e);
    case OPTION_INTEGER:
        return set_integer(s, value, field, e);
    case OPTION_NUMBER:
        return set_number(s, value, field, e);
    case OPTION_QUANTITY:
        return set_quantity(s, value, field, e);
    case OPTION_CHOICE:
        return set_choice(s, value, field, e);
    }
    return -1;
}

/* What is being walked through. */
struct scan {
    const struct option_spec *specs;
    char **argv;
    int argc;
    int at;
    void *target;
};

static const char *next_argument(struct scan *scan)
{
    return scan->at + 1 < scan->argc ? scan->argv[++scan->at] : NULL;
}

static int parse_long(struct scan *scan, struct error *e)
{
    const char *name = scan->argv[scan->at] + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const struct option_spec *s = find_long(scan->specs, name, length, e);
    if (!s)
        return -1;
    if (s->kind == OPTION_FLAG)
        return equals ? error_set(e, "--%s takes no value", s->name) : set_value(s, NULL, scan->target, e);
    const char *value = equals ? equals + 1 : next_argument(scan);
    return value ? set_value(s, value, scan->target, e)
                 : error_set(e, "--%s needs a value: %s", s->name, s->argument);
}

static int parse_letters(struct scan *scan, struct error *e)
{
    for (const char *p = scan->argv[scan->at] + 1; *p; p++) {
        const struct option_spec *s = find_letter(scan->specs, *p, e);
        if (!s)
            return -1;
        if (s->kind == OPTION_FLAG) {
            set_value(s, NULL, scan->target, e);
            continue;
        }
        const char *value = p[1] ? p + 1 : next_argument(scan);
        return value ? set_value(s, value, scan->target, e)
                     : error_set(e, "-%c needs a value: %s", *p, s->argument);
    }
    return 0;
}

int options_parse(const struct option_spec *specs, int argc, char **argv, void *target,
                  const char ***arguments, size_t *argument_count, struct error *e)
{
    struct scan scan = {.specs = specs, .argv = argv, .argc = argc, .target = target};
    const char **rest = calloc((size_t)argc + 1, sizeof *rest);
    size_t count = 0;
    bool ended = false;
    int result = 0;
    if (!rest)
        return error_set(e, "out of memory for the command line");
    for (scan.at = 1; result == 0 && scan.at < argc; scan.at++) {
        const char *word = argv[scan.at];
        if (ended || word[0] != '-' || !word[1])
            rest[count++] = word;
        else if (strcmp(word, "--") == 0)
            ended = true;
        else
            result = word[1] == '-' ? parse_long(&scan, e) : parse_letters(&scan, e);
    }
    if (result != 0) {
        options_free(specs, target, rest);
        return -1;
    }
    *arguments = rest;
    *argument_count = count;
    return 0;
}

void options_free(const struct option_spec *specs, void *target, const char **arguments)
{
    for (const struct option_spec *s = specs; s->name; s++) {
        if (s->kind != OPTION_STRINGS)
            continue;
        struct option_strings *strings = (void *)((char *)target + s->offset);
        free(strings->items);
        *strings = (struct option_strings){0};
    }
    free(arguments);
}

/* ---- help */

void options_help(FILE *out, const char *program, const char *synopsis, const char *about,
                  const struct option_spec *specs)
{
    fprintf(out, "usage: %s %s\n\n%s\n\n", program, synopsis, about);
    for (const struct option_spec *s = specs; s->name; s++) {
        char left[80];
        if (!s->help)
            continue; /* for tests: not shown */
        int length = s->letter ? snprintf(left, sizeof left, "  -%c, --%s", s->letter, s->name)
                               : snprintf(left, sizeof left, "      --%s", s->name);
        if (s->argument)
            snprintf(left + length, sizeof left - (size_t)length, " %s", s->argument);
        if (strlen(left) > 29)
            fprintf(out, "%s\n%30s%s\n", left, "", s->help);
        else
            fprintf(out, "%-30s%s\n", left, s->help);
    }
}
