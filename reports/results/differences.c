#include "reports/results/differences.h"

#include "lib/document/json_text.h"
#include "lib/text.h"
#include "lib/units.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- the choices of a cell */

static void describe_object(const json_t *value, struct text *out)
{
    const char *key;
    json_t *member;
    bool first = true;
    text_add(out, "(");
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        text_add(out, "%s%.40s", first ? "" : ", ", key);
        if (!json_is_object(member)) {
            text_add(out, " ");
            choice_describe(member, out);
        }
        first = false;
    }
    text_add(out, ")");
}

static bool holds_containers(const json_t *list)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        if (json_is_object(item) || json_is_array(item))
            return true;
    }
    return false;
}

void choice_describe(const json_t *value, struct text *out)
{
    bool list = json_is_array(value) && !holds_containers(value);
    if ((list && !json_array_size(value)) || (json_is_object(value) && !json_object_size(value))) {
        text_add(out, "none");
    } else if (json_is_object(value)) {
        describe_object(value, out);
    } else if (list) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            text_add(out, "%s", i ? " and " : "");
            choice_describe(json_array_get(value, i), out);
        }
    } else {
        char *shown = json_bare(value);
        text_add(out, "%.40s", shown ? shown : "?");
        free(shown);
    }
}

static bool begins_with_word(const char *end)
{
    size_t length = strcspn(end, ".");
    return length != strspn(end, "0123456789") && length != strspn(end, "*");
}

static bool is_end_of(const char *path, const char *end)
{
    size_t length = strlen(path), of = strlen(end);
    return length >= of && strcmp(path + length - of, end) == 0 &&
           (length == of || path[length - of - 1] == '.');
}

static bool ends_alone(const char *end, const char *path, const json_t *choices)
{
    const char *other;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)choices, other, value)
    {
        if (strcmp(other, path) != 0 && is_end_of(other, end))
            return false;
    }
    return true;
}

const char *choice_name(const char *path, const json_t *choices)
{
    const char *end = path + strlen(path);
    while (end > path) {
        while (end > path && (*end == '.' || end[-1] != '.'))
            end--;
        if (begins_with_word(end) && ends_alone(end, path, choices))
            break;
        end -= end > path;
    }
    return end;
}

void choice_add(const char *path, const json_t *value, const json_t *choices, struct text *out)
{
    text_add(out, "%s%s ", out->length ? ", " : "", choice_name(path, choices));
    choice_describe(value, out);
}

void choices_add(const json_t *choices, struct text *out)
{
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)choices, path, value)
    {
        choice_add(path, value, choices, out);
    }
}

bool choice_number(const json_t *value, double *number, bool *is_bytes)
{
    int64_t parsed;
    *is_bytes = false;
    if (json_is_number(value)) {
        *number = json_number_value(value);
        return true;
    }
    if (!json_is_string(value))
        return false;
    if (units_parse(UNIT_BYTES, json_string_value(value), &parsed, NULL) == 0) {
        *is_bytes = true;
        *number = (double)parsed;
        return true;
    }
    static const struct {
        enum unit unit;
        double scale;
    } others[] = {
        {UNIT_TIME_NS, 1e-3}, {UNIT_RATE_BPS, 1e-9}, {UNIT_LENGTH_MM, 1e-3}, {UNIT_PERCENT_MILLI, 1e-3}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (units_parse(others[i].unit, json_string_value(value), &parsed, NULL) == 0) {
            *number = (double)parsed * others[i].scale;
            return true;
        }
    }
    return false;
}

#define LABEL_PARTS 3
#define MAX_DEPTH   16 /* of documents that come from files */
#define MAX_SCALARS 20000

static json_t *scalar_text(const json_t *value)
{
    double number = json_number_value(value);
    if (json_is_real(value) && number == floor(number) && fabs(number) < 1e15) /* 20.0 is 20 */
        return json_textf("%.0f", number);
    char *words = json_is_string(value)
                      ? NULL
                      : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_t *text = json_text(words ? words : json_string_value(value));
    free(words);
    return text;
}

/* Descriptions and expectations in a document do not affect a run. */
static bool left_out(const char *key)
{
    static const char *const keys[] = {"title",   "expect", "published", "published_conditions",
                                       "sources", "name",   "schema"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

struct flat {
    json_t *values; /* path -> text */
    bool cut;       /* there are more */
};

static void flatten(const json_t *value, const char *path, int depth, struct flat *out);

static void flatten_member(const json_t *value, const char *path, const char *key, int depth,
                           struct flat *out)
{
    struct text longer = {0};
    text_add(&longer, "%s.%s", path, key);
    if (!longer.failed)
        flatten(value, text_string(&longer), depth + 1, out);
    text_free(&longer);
}

/* An item of a list by its name where it has one, else by its number. */
static void flatten_item(const json_t *item, const char *path, size_t index, int depth, struct flat *out)
{
    char number[24];
    const char *name = json_string_value(json_object_get(item, "name"));
    snprintf(number, sizeof number, "%zu", index);
    flatten_member(item, path, name ? name : number, depth, out);
}

/* "h0, h1, h2" */
static json_t *list_text(const json_t *list)
{
    struct text words = {0};
    const json_t *item;
    size_t i;
    json_array_foreach(list, i, item)
    {
        json_t *one = scalar_text(item);
        text_add(&words, "%s%s", i ? ", " : "", json_string_value(one));
        json_decref(one);
    }
    json_t *text = json_text(words.length ? text_string(&words) : "none");
    text_free(&words);
    return text;
}

/* Every scalar, and every list of scalars, below a value, under its path. */
static void flatten(const json_t *value, const char *path, int depth, struct flat *out)
{
    const char *key;
    json_t *member;
    size_t i;
    if (depth > MAX_DEPTH || json_object_size(out->values) >= MAX_SCALARS) {
        out->cut = true;
        return;
    }
    if (json_is_object(value)) {
        json_object_foreach((json_t *)(uintptr_t)value, key, member)
        {
            if (!left_out(key))
                flatten_member(member, path, key, depth, out);
        }
    } else if (json_is_array(value) && holds_containers(value)) {
        json_array_foreach(value, i, member)
        {
            flatten_item(member, path, i, depth, out);
        }
    } else if (value) {
        json_object_set_new(out->values, path, json_is_array(value) ? list_text(value) : scalar_text(value));
    }
}

static const char *name_of(const json_t *result, const char *document)
{
    const char *name = json_string_value(json_object_get(json_object_get(result, document), "name"));
    return name ? name : "";
}

/* All that was set in a result: its names are rows of their own where they differ. */
static json_t *settings_of(const json_t *result, bool *cut)
{
    static const char *const documents[] = {"scenario", "lab"}, *const plain[] = {"seed", "version", "build"};
    struct flat flat = {.values = json_object()};
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        json_object_set_new(flat.values, documents[i], json_text(name_of(result, documents[i])));
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (json_object_get(result, plain[i]))
            json_object_set_new(flat.values, plain[i], scalar_text(json_object_get(result, plain[i])));
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        if (json_is_object(json_object_get(result, documents[i])))
            flatten(json_object_get(result, documents[i]), documents[i], 0, &flat);
    *cut = *cut || flat.cut;
    return flat.values;
}

static bool is_in_lab(const char *path)
{
    return strncmp(path, "lab.", 4) == 0;
}

/* The row of one path, unless its value is the same everywhere. */
static void compare(json_t *const *settings, size_t count, const char *path, json_t *out)
{
    json_t *row = json_array();
    bool differs = false;
    for (size_t i = 0; i < count; i++) {
        json_t *value = json_object_get(settings[i], path);
        differs |= !value != !json_object_get(settings[0], path) ||
                   (value && !json_same(value, json_object_get(settings[0], path)));
        json_array_append(row, value ? value : json_null());
    }
    if (differs)
        json_object_set(out, path, row);
    json_decref(row);
}

/* The rows of all paths of the lab, or of all others. */
static void compare_part(json_t *const *settings, size_t count, bool in_lab, json_t *out)
{
    const char *path;
    json_t *value;
    for (size_t i = 0; i < count; i++)
        json_object_foreach(settings[i], path, value)
        {
            if (is_in_lab(path) == in_lab && !json_object_get(out, path))
                compare(settings, count, path, out);
        }
}

json_t *differences_between(const json_t *const *results, size_t count, bool *cut)
{
    json_t **settings = calloc(count + 1, sizeof *settings);
    json_t *out = json_object();
    bool is_cut = false;
    if (!settings || !out) {
        free(settings);
        json_decref(out);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        settings[i] = settings_of(results[i], &is_cut);
    compare_part(settings, count, false, out);
    compare_part(settings, count, true, out);
    for (size_t i = 0; i < count; i++)
        json_decref(settings[i]);
    free(settings);
    if (cut)
        *cut = is_cut;
    return out;
}

/* Does a name of the row's document stand for it? */
static bool is_named(const json_t *differences, const char *path)
{
    return json_object_get(differences, is_in_lab(path) ? "lab" : "scenario") && strchr(path, '.');
}

char *differences_label(const json_t *differences, size_t i)
{
    struct text out = {0};
    const char *path;
    json_t *row;
    size_t parts = 0;
    json_object_foreach((json_t *)(uintptr_t)differences, path, row)
    {
        const char *value = json_string_value(json_array_get(row, i));
        if (!is_named(differences, path) && parts++ < LABEL_PARTS)
            text_add(&out, "%s%s %.20s", out.length ? ", " : "", choice_name(path, differences),
                     value ? value : "unset");
    }
    if (parts > LABEL_PARTS)
        text_clear(&out);
    return text_take(&out);
}
