#include "reports/export/rows.h"

#include "lib/document/json_text.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/text.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct export_value export_integer(int64_t value)
{
    return (struct export_value){.kind = EXPORT_INTEGER, .known = true, .integer = value};
}

struct export_value export_real(double value)
{
    return (struct export_value){.kind = EXPORT_REAL, .known = isfinite(value), .real = value};
}

struct export_value export_text(const char *text)
{
    return (struct export_value){.kind = EXPORT_TEXT, .known = text, .text = text};
}

bool rows_wanted(const struct rows *rows, enum export_table table)
{
    return rows->wanted & 1u << table;
}

#define TELL_NS (2 * NS_PER_S)

void rows_tell(struct rows *rows)
{
    const struct survey *all = rows->survey;
    int64_t now_ns = clock_monotonic_ns();
    if (now_ns - rows->told_ns < TELL_NS)
        return;
    rows->told_ns = now_ns;
    if (!rows->kind)
        log_info("reading run %" PRId64 ": %" PRId64 " samples up to now", rows->number, all->samples);
    else if (rows->number > all->runs)
        log_info("writing run %" PRId64 ", which had no result when the export began", rows->number);
    else if (rows_wanted(rows, EXPORT_SAMPLES) && all->samples)
        log_info("writing run %" PRId64 " of %" PRId64 ": %.0f %% of %" PRId64 " samples", rows->number,
                 all->runs, fmin(100, 100 * (double)rows->samples / (double)all->samples), all->samples);
    else
        log_info("writing run %" PRId64 " of %" PRId64, rows->number, all->runs);
}

/* ---- values of JSON */

static const json_t *at_key(const json_t *object, const char *key)
{
    for (size_t length; object && *key; key += length + (key[length] == '.')) {
        length = strcspn(key, ".");
        object = json_object_getn(object, key, length);
    }
    return object;
}

/* Numbers as they are: a whole one of a column of numbers stays whole. */
static struct export_value value_of(const json_t *json, enum export_kind kind)
{
    bool number = kind != EXPORT_TEXT;
    if (json_is_integer(json) && number)
        return export_integer(json_integer_value(json));
    if (json_is_boolean(json) && kind == EXPORT_INTEGER)
        return export_integer(json_is_true(json));
    if (json_is_real(json) && kind != EXPORT_INTEGER && number)
        return export_real(json_real_value(json));
    if (json_is_string(json) && (kind == EXPORT_TEXT || kind == EXPORT_ANY))
        return export_text(json_string_value(json));
    return (struct export_value){0};
}

/* About, in either format. */
static int64_t bytes_of(const struct export_value *values, size_t count)
{
    int64_t bytes = 8;
    for (size_t i = 0; i < count; i++)
        bytes += !values[i].known                ? 1
                 : values[i].kind == EXPORT_TEXT ? (int64_t)strlen(values[i].text) + 1
                                                 : 9;
    return bytes;
}

int rows_add(struct rows *rows, enum export_table table, const struct export_value *given, size_t count,
             const json_t *object, struct error *e)
{
    struct export_value values[EXPORT_MOST_COLUMNS] = {0};
    const struct export_column *columns = export_tables[table].columns;
    if (!rows_wanted(rows, table))
        return 0;
    for (size_t i = 0, next = 0; columns[i].name; i++) {
        if (columns[i].key)
            values[i] = value_of(at_key(object, columns[i].key), columns[i].kind);
        else if (next < count)
            values[i] = given[next++];
    }
    if (rows->kind)
        return rows->kind->row(rows->sink, table, values, e);
    rows->survey->bytes += bytes_of(values, export_column_count(table));
    return 0;
}

/* ---- documents */

/* A value that is neither an object nor a list with objects or lists in it. */
static bool is_leaf(const json_t *value)
{
    size_t i;
    json_t *item;
    json_array_foreach(value, i, item)
    {
        if (json_is_object(item) || json_is_array(item))
            return false;
    }
    return !json_is_object(value) && !(json_is_array(value) && json_array_size(value) == 0);
}

struct leaves {
    struct rows *rows;
    enum export_table table;
    struct export_value values[6]; /* those that are given, the path and the value */
    size_t count;
    struct text path;
};

static int add_leaf(struct leaves *l, const json_t *value, struct error *e)
{
    struct export_value plain = value_of(value, EXPORT_ANY);
    char *shown = plain.known ? NULL : json_bare(value);
    l->values[l->count] = export_text(text_string(&l->path));
    l->values[l->count + 1] = plain.known ? plain : export_text(shown);
    int result = !plain.known && !shown ? error_set(e, "out of memory for %s", text_string(&l->path))
                                        : rows_add(l->rows, l->table, l->values, l->count + 2, NULL, e);
    free(shown);
    return result;
}

static int add_leaves(struct leaves *l, const json_t *value, struct error *e);

static int add_below(struct leaves *l, const char *key, const json_t *value, struct error *e)
{
    size_t length = l->path.length;
    text_add(&l->path, "%s%s", length ? "." : "", key);
    int result = l->path.failed ? error_set(e, "out of memory for %s", key) : add_leaves(l, value, e);
    if (l->path.data) {
        l->path.length = length;
        l->path.data[length] = '\0';
    }
    return result;
}

/* The depth of a document is limited where it is read. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static int add_leaves(struct leaves *l, const json_t *value, struct error *e)
{
    const char *key;
    json_t *member;
    size_t i;
    char number[24];
    if (is_leaf(value))
        return add_leaf(l, value, e);
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        if (add_below(l, key, member, e) != 0)
            return -1;
    }
    json_array_foreach(value, i, member)
    {
        snprintf(number, sizeof number, "%zu", i);
        if (add_below(l, number, member, e) != 0)
            return -1;
    }
    return 0;
}

int rows_add_leaves(struct rows *rows, enum export_table table, const struct export_value *given,
                    size_t count, const json_t *value, struct error *e)
{
    struct leaves l = {.rows = rows, .table = table, .count = count};
    if (!value || !rows_wanted(rows, table))
        return 0;
    memcpy(l.values, given, count * sizeof *given);
    int result = add_leaves(&l, value, e);
    text_free(&l.path);
    return result;
}
