#include "lib/formats/lines.h"
#include "lib/document/json_file.h"

#include "lib/document/json_text.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading */

/* Samples are by far the most frequent lines: arrays of whole numbers and nulls. They are parsed in place. */
static int parse_number(const char **at, const char *end, int64_t *value)
{
    const char *p = *at;
    if (end - p >= 4 && memcmp(p, "null", 4) == 0) {
        *value = LINES_NULL;
        *at = p + 4;
        return 0;
    }
    bool negative = p < end && *p == '-';
    int64_t number = 0;
    p += negative;
    const char *first = p;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(number, 10, &number) || __builtin_sub_overflow(number, *p - '0', &number))
            return -1; /* computed as a negative number, so that the whole range fits */
    if (p == first || (!negative && number == INT64_MIN))
        return -1;
    *value = negative ? number : -number;
    *at = p;
    return 0;
}

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
        p++;
    return p;
}

/* Count the commas first, to allocate the right size at once. */
static size_t count_numbers(const char *p, const char *end)
{
    size_t count = 1;
    for (; p < end; p++)
        count += *p == ',';
    return count;
}

/* ---- ranges: what is computed with is checked where it enters */

bool lines_fits(int64_t value, int64_t least)
{
    return value >= least && value <= LINES_MOST;
}

static int check_number(const char *what, int64_t value, int64_t least, struct error *e)
{
    if (lines_fits(value, least))
        return 0;
    return error_set(e, "a line's %s is %" PRId64 ": expected %" PRId64 " to %" PRId64, what, value, least,
                     LINES_MOST);
}

static int parse_sample(const char *text, size_t length, struct line *line, struct error *e)
{
    const char *p = text + 1, *end = text + length;
    size_t room = count_numbers(p, end), used = 0;
    if (room < 2 || room > LINES_MAX_COLUMNS + 2)
        return error_set(e, "a sample line has %zu numbers: expected 2 to %d", room, LINES_MAX_COLUMNS + 2);
    int64_t *numbers = malloc(room * sizeof *numbers);
    if (!numbers)
        return error_set(e, "out of memory for a sample line");
    for (;;) {
        p = skip_space(p, end);
        if (used == room || parse_number(&p, end, &numbers[used]) != 0)
            break;
        used++;
        p = skip_space(p, end);
        if (p < end && *p == ',') {
            p++;
            continue;
        }
        if (p < end && *p == ']' && skip_space(p + 1, end) == end && used >= 2 && numbers[0] != LINES_NULL &&
            numbers[1] != LINES_NULL) {
            if (check_number("time_ns", numbers[0], -LINES_MOST, e) != 0 ||
                check_number("read_ns", numbers[1], 0, e) != 0) {
                free(numbers);
                return -1;
            }
            *line = (struct line){.kind = LINE_SAMPLE, .time_ns = numbers[0], .read_ns = numbers[1]};
            line->count = used - 2;
            memmove(numbers, numbers + 2, line->count * sizeof *numbers);
            line->values = numbers;
            return 0;
        }
        break;
    }
    free(numbers);
    return error_set(e, "a sample line is damaged near byte %td: \"%.*s\"", p - text,
                     (int)(length < 60 ? length : 60), text);
}

/* The numbers of object lines that are computed with. */
static const struct {
    const char *key;
    bool whole;
    int64_t least;
} object_numbers[] = {
    {"time_ns", true, -LINES_MOST}, {"duration_ns", true, 0},    {"bytes", true, 0},
    {"messages", true, 0},          {"errors", true, 0},         {"retransmitted_packets", true, 0},
    {"delivered_bytes", true, 0},   {"marked_packets", true, 0}, {"decreases", true, 0},
    {"increases", true, 0},         {"overruns", true, 0},       {"cpu_ns", true, 0},
    {"silent_ns", true, 0},         {"goodput_bps", false, 0},   {"messages_per_s", false, 0},
};

static int check_real(const char *key, const json_t *value, struct error *e)
{
    double number = json_number_value(value);
    if (!json_is_number(value))
        return error_set(e, "a line's %s is not a number", key);
    return number >= 0 && number <= (double)LINES_MOST
               ? 0
               : error_set(e, "a line's %s is %g: expected 0 to %g", key, number, (double)LINES_MOST);
}

/* {"count":...,"mean":...}: numbers alone. */
static int check_distribution(const char *key, const json_t *object, struct error *e)
{
    const char *name;
    json_t *value;
    if (!json_is_object(object))
        return error_set(e, "a line's %s is not an object", key);
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        if (check_real(key, value, e) != 0)
            return -1;
    }
    return 0;
}

/* A header has the options in effect under some of these names. */
static int check_object(enum line_kind kind, const json_t *json, struct error *e)
{
    static const char *const distributions[] = {"latency_ns", "completion_ns", "slowdown"};
    const json_t *value;
    if (kind == LINE_HEADER)
        return 0;
    for (size_t i = 0; i < sizeof object_numbers / sizeof *object_numbers; i++) {
        const char *key = object_numbers[i].key;
        if (!(value = json_object_get(json, key)))
            continue;
        if (object_numbers[i].whole && !json_is_integer(value))
            return error_set(e, "a line's %s is not a whole number", key);
        if (object_numbers[i].whole ? check_number(key, json_integer_value(value), object_numbers[i].least, e)
                                    : check_real(key, value, e))
            return -1;
    }
    for (size_t i = 0; i < sizeof distributions / sizeof *distributions; i++)
        if ((value = json_object_get(json, distributions[i])) &&
            check_distribution(distributions[i], value, e) != 0)
            return -1;
    return 0;
}

static int kind_of(const char *type)
{
    static const char *const names[] = {
        [LINE_HEADER] = "header",   [LINE_EVENT] = "event", [LINE_INTERVAL] = "interval",
        [LINE_SUMMARY] = "summary", [LINE_ERROR] = "error", [LINE_END] = "end",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i] && strcmp(names[i], type) == 0)
            return (int)i;
    return -1;
}

bool lines_next(FILE *file, char *text, size_t *length)
{
    size_t got = 0;
    int c;
    while ((c = getc_unlocked(file)) != EOF && c != '\n') {
        if (got < LINES_MAX_LENGTH)
            text[got] = (char)c;
        got += got <= LINES_MAX_LENGTH;
    }
    text[got < LINES_MAX_LENGTH ? got : LINES_MAX_LENGTH] = '\0';
    *length = got;
    return c == '\n';
}

int lines_parse(const char *text, size_t length, struct line *line, struct error *e)
{
    *line = (struct line){0};
    if (length > LINES_MAX_LENGTH)
        return error_set(e, "a line has %zu bytes: expected at most %d", length, LINES_MAX_LENGTH);
    if (length && text[0] == '[')
        return parse_sample(text, length, line, e);
    struct error why;
    json_t *json = json_file_parse(text, length, "line", DOCUMENT_LINE, &why);
    if (!json)
        return error_set(e, "a line is not JSON (%.300s): \"%.*s\"", why.text,
                         (int)(length < 60 ? length : 60), text);
    const char *type = json_string_value(json_object_get(json, "type"));
    int kind = type ? kind_of(type) : -1;
    if (kind < 0) {
        error_set(e, "a line has the type \"%.40s\": expected header, event, interval, summary, error or end",
                  type ? type : "none");
        json_decref(json);
        return -1;
    }
    if (check_object((enum line_kind)kind, json, e) != 0) {
        json_decref(json);
        return -1;
    }
    line->kind = (enum line_kind)kind;
    line->json = json;
    line->time_ns = json_integer_value(json_object_get(json, "time_ns"));
    return 0;
}

void lines_free_parsed(struct line *line)
{
    json_decref(line->json);
    free(line->values);
    *line = (struct line){0};
}

static int column_from_json(const json_t *json, struct column *column, struct error *e)
{
    const char *name = json_string_value(json_object_get(json, "name"));
    const char *unit = json_string_value(json_object_get(json, "unit"));
    const char *kind = json_string_value(json_object_get(json, "kind"));
    const char *source = json_string_value(json_object_get(json, "source"));
    const char *group = json_string_value(json_object_get(json, "group"));
    if (!name || !*name || !unit || !kind || !source || !group)
        return error_set(e, "a header's column needs name, unit, kind, source and group");
    if (strlen(name) > LINES_MAX_NAME || strlen(unit) > LINES_MAX_NAME || strlen(source) > LINES_MAX_NAME ||
        strlen(group) > LINES_MAX_NAME)
        return error_set(e, "column \"%.60s\" has a name, unit, source or group of more than %d bytes", name,
                         LINES_MAX_NAME);
    if (strcmp(kind, "counter") != 0 && strcmp(kind, "gauge") != 0)
        return error_set(e, "column \"%.60s\" has the kind \"%.40s\": expected counter or gauge", name, kind);
    column->kind = kind[0] == 'c' ? COLUMN_COUNTER : COLUMN_GAUGE;
    column->name = strdup(name);
    column->unit = strdup(unit);
    column->source = strdup(source);
    column->group = strdup(group);
    if (!column->name || !column->unit || !column->source || !column->group)
        return error_set(e, "out of memory for a header's columns");
    return 0;
}

/* Values of two columns of one name and source would count as those of one. */
static int column_is_new(json_t *taken, const struct column *column, struct error *e)
{
    char key[2 * LINES_MAX_NAME + 2];
    snprintf(key, sizeof key, "%s\n%s", column->source, column->name);
    if (json_object_get(taken, key))
        return error_set(e, "a header has the column %.100s of %.100s twice", column->name, column->source);
    return json_object_set_new(taken, key, json_true()) == 0 ? 0 : error_set(e, "out of memory");
}

int lines_columns(const json_t *header, struct column **columns, size_t *count, struct error *e)
{
    const json_t *array = json_object_get(header, "columns"), *schema = json_object_get(header, "schema");
    *columns = NULL;
    *count = 0;
    if (schema && json_integer_value(schema) != 1)
        return error_set(e, "a header line has another schema than 1");
    if (!json_is_array(array))
        return error_set(e, "a header line has no \"columns\" array");
    size_t size = json_array_size(array);
    if (size > LINES_MAX_COLUMNS)
        return error_set(e, "a header has %zu columns: expected at most %d", size, LINES_MAX_COLUMNS);
    struct column *made = calloc(size + 1, sizeof *made);
    if (!made)
        return error_set(e, "out of memory for a header's columns");
    json_t *taken = json_object();
    int result = 0;
    for (size_t i = 0; i < size && result == 0; i++)
        if (column_from_json(json_array_get(array, i), &made[i], e) != 0 ||
            column_is_new(taken, &made[i], e) != 0)
            result = -1;
    json_decref(taken);
    if (result != 0) {
        lines_free_columns(made, size);
        return -1;
    }
    *columns = made;
    *count = size;
    return 0;
}

void lines_free_column(struct column *column)
{
    free(column->name);
    free(column->unit);
    free(column->source);
    free(column->group);
}

void lines_free_columns(struct column *columns, size_t count)
{
    for (size_t i = 0; columns && i < count; i++)
        lines_free_column(&columns[i]);
    free(columns);
}

/* ---- writing */

/* Write the decimal digits of value before `end`, two at a time; returns their start. printf would take most
 * of the time of a sample. */
static char *put_number(char *end, int64_t value)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
        "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
        "8081828384858687888990919293949596979899";
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    for (; rest >= 100; rest /= 100)
        memcpy(end -= 2, pairs + 2 * (rest % 100), 2);
    if (rest >= 10)
        memcpy(end -= 2, pairs + 2 * rest, 2);
    else
        *--end = (char)('0' + rest);
    if (value < 0)
        *--end = '-';
    return end;
}

#define LONGEST_VALUE 24 /* preceding character, sign, 19 digits */

/* Write the character and the value at `at`, which has room for LONGEST_VALUE; returns the position after
 * them. */
static inline char *put_value(char *at, char before, int64_t value)
{
    char buffer[LONGEST_VALUE], *end = buffer + sizeof buffer;
    *at++ = before;
    if (value >= 0 && value < 10) { /* most counters of a NIC are zero */
        *at++ = (char)('0' + value);
        return at;
    }
    if (value == LINES_NULL)
        return (char *)memcpy(at, "null", 4) + 4; /* NOLINT(bugprone-not-null-terminated-result) */
    const char *start = put_number(end, value);
    return (char *)memcpy(at, start, (size_t)(end - start)) + (end - start);
}

/* A line is written to stdio in pieces. */
static int write_values(FILE *out, char before, int64_t time_ns, int64_t read_ns, const int64_t *values,
                        size_t count)
{
    char piece[4096], *at = piece, *full = piece + sizeof piece - LONGEST_VALUE;
    at = put_value(at, before, time_ns);
    at = put_value(at, ',', read_ns);
    for (size_t i = 0; i < count; i++) {
        if (at > full) {
            fwrite(piece, 1, (size_t)(at - piece), out);
            at = piece;
        }
        at = put_value(at, ',', values[i]);
    }
    fwrite(piece, 1, (size_t)(at - piece), out);
    fputs("]\n", out);
    return ferror(out) ? -1 : 0;
}

int lines_write_sample(FILE *out, int64_t time_ns, int64_t read_ns, const int64_t *values, size_t count)
{
    flockfile(out);
    int result = write_values(out, '[', time_ns, read_ns, values, count);
    funlockfile(out);
    return result;
}

int lines_write_sample_of(FILE *out, const char *host, int64_t time_ns, int64_t read_ns,
                          const int64_t *values, size_t count)
{
    flockfile(out);
    fputs("[\"", out);
    fputs(host, out);
    fputs("\"", out);
    int result = write_values(out, ',', time_ns, read_ns, values, count);
    funlockfile(out);
    return result;
}

json_t *lines_columns_json(const struct column *columns, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < count; i++)
        json_array_append_new(array, json_make("{s:s,s:s,s:s,s:s,s:s}", "name", columns[i].name, "unit",
                                               columns[i].unit, "kind",
                                               columns[i].kind == COLUMN_COUNTER ? "counter" : "gauge",
                                               "source", columns[i].source, "group", columns[i].group));
    return array;
}

int lines_write_object(FILE *out, const json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(15));
    if (!text) {
        errno = ENOMEM; /* strings of values are valid: nothing else can be wrong */
        return -1;
    }
    size_t length = strlen(text);
    if (length > LINES_MAX_LENGTH) {
        free(text);
        errno = EMSGSIZE;
        return -1;
    }
    text[length] = '\n';
    size_t written = fwrite(text, 1, length + 1, out);
    free(text);
    return written == length + 1 ? 0 : -1;
}
