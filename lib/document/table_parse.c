#include "lib/document/table_fields.h"

#include "lib/document/arguments.h"
#include "lib/document/nearest.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LIST_LIMIT 100000 /* items in one list or map of a document */

static const char *type_name(const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_NULL:
        return "null";
    }
    return "nothing";
}

/* What a table is filled from. */
enum source {
    FROM_DOCUMENT,
    FROM_OPTIONS, /* sentences name options; a missing flag is 0 */
    FROM_NOTHING, /* only defaults: required fields are unset, nothing is checked */
};

/* The place in the document, for sentences: "flows[1].message", or "--message". */
struct place {
    enum source source;
    struct text path;
    struct error *e;
};

static int parse_object(const struct table *table, const json_t *json, void *object, struct place *at);
static int parse_value(const struct field *field, const json_t *json, void *slot, struct place *at);

static const char *here(const struct place *at)
{
    const char *whole = at->source == FROM_OPTIONS ? "command line" : "document";
    return at->path.length ? text_string(&at->path) : whole;
}

static size_t enter_key(struct place *at, const char *key)
{
    size_t before = at->path.length;
    text_add_bytes(&at->path, ".", before ? 1 : 0);
    text_add_bytes(&at->path, key, strlen(key)); /* of every value: no format is read */
    return before;
}

/* On a command line the fields of an object are options with their own names. */
static size_t enter_field(struct place *at, const struct field *field)
{
    size_t before = at->path.length;
    if (at->source != FROM_OPTIONS)
        return enter_key(at, field->name);
    if (field->kind == FIELD_OBJECT)
        return before;
    text_add(&at->path, "--");
    for (const char *p = field->name; *p; p++)
        text_add(&at->path, "%c", *p == '_' ? '-' : *p);
    return before;
}

static size_t enter_index(struct place *at, size_t index)
{
    size_t before = at->path.length;
    if (at->source != FROM_OPTIONS)
        text_add(&at->path, "[%zu]", index);
    return before;
}

static void leave(struct place *at, size_t before)
{
    at->path.length = before;
    if (at->path.data)
        at->path.data[before] = '\0';
}

static int wrong_type(const struct place *at, const json_t *json, const char *expected)
{
    char *shown = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT);
    error_set(at->e, "%s: %.60s is %s: expected %s", here(at), shown ? shown : "?", type_name(json),
              expected);
    free(shown);
    return -1;
}

/* Control characters are shown escaped, as JSON writes them. */
static int check_form(const struct form *form, const json_t *text, const struct place *at)
{
    if (form->fits(json_string_value(text)))
        return 0;
    char *shown = json_dumps(text, JSON_ENCODE_ANY);
    error_set(at->e, "%s: %.100s is not %s: expected %s", here(at), shown ? shown : "the string", form->is,
              form->expected);
    free(shown);
    return -1;
}

static int parse_string(const struct field *field, const json_t *json, char **slot, struct place *at)
{
    const struct form *usual = at->source == FROM_OPTIONS ? &form_any : &form_line;
    if (!json_is_string(json))
        return wrong_type(at, json, "a string");
    if (strlen(json_string_value(json)) != json_string_length(json))
        return error_set(at->e, "%s: the string contains a zero byte", here(at));
    if (check_form(field->form ? field->form : usual, json, at) != 0)
        return -1;
    *slot = strdup(json_string_value(json));
    return *slot ? 0 : error_set(at->e, "%s: out of memory", here(at));
}

static int wrong_integer(const struct field *field, const json_t *json, struct place *at)
{
    struct text words = {0};
    char expected[80];
    snprintf(expected, sizeof expected, "a %s", field_words(field, &words));
    text_free(&words);
    return json_is_integer(json)
               ? error_set(at->e, "%s: %" JSON_INTEGER_FORMAT " is out of range: expected %s", here(at),
                           json_integer_value(json), expected)
               : wrong_type(at, json, expected);
}

static int parse_integer(const struct field *field, const json_t *json, int64_t *slot, struct place *at)
{
    *slot = json_integer_value(json);
    bool within = field->max <= field->min || (*slot >= field->min && *slot <= field->max);
    return json_is_integer(json) && within ? 0 : wrong_integer(field, json, at);
}

static int parse_number(const struct field *field, const json_t *json, double *slot, struct place *at)
{
    if (!json_is_number(json))
        return wrong_type(at, json, "a number");
    *slot = json_number_value(json);
    if (field->max_number > field->min_number && (*slot < field->min_number || *slot > field->max_number))
        return error_set(at->e, "%s: %g is out of range: expected %g to %g", here(at), *slot,
                         field->min_number, field->max_number);
    return 0;
}

static int parse_quantity(const struct field *field, const json_t *json, int64_t *slot, struct place *at)
{
    if (!json_is_string(json))
        return wrong_type(at, json, units_describe(field->unit));
    struct error inner;
    if (units_parse(field->unit, json_string_value(json), slot, &inner) != 0)
        return error_set(at->e, "%s: %s", here(at), inner.text);
    if (field->max > field->min && (*slot < field->min || *slot > field->max)) {
        char low[40], high[40];
        return error_set(at->e, "%s: \"%.40s\" is out of range: expected %s to %s", here(at),
                         json_string_value(json), units_format(field->unit, field->min, low, sizeof low),
                         units_format(field->unit, field->max, high, sizeof high));
    }
    return 0;
}

static int parse_choice(const struct field *field, const json_t *json, int *slot, struct place *at)
{
    struct text allowed = {0};
    for (int i = 0; field->choices[i]; i++) {
        if (json_is_string(json) && strcmp(json_string_value(json), field->choices[i]) == 0) {
            *slot = i;
            text_free(&allowed);
            return 0;
        }
        text_add(&allowed, "%s\"%s\"", i ? ", " : "one of ", field->choices[i]);
    }
    const char *near = json_is_string(json) ? nearest_word(json_string_value(json), field->choices) : NULL;
    if (json_is_string(json))
        error_set(at->e, "%s: \"%.60s\" is unknown: expected %s%s%s%s", here(at), json_string_value(json),
                  text_string(&allowed), near ? "; did you mean \"" : "", near ? near : "",
                  near ? "\"?" : "");
    else
        wrong_type(at, json, text_string(&allowed));
    text_free(&allowed);
    return -1;
}

/* Room for `count` zeroed items; the count grows as items are parsed, so that the list can be freed at any time. */
static int make_room(const struct field *field, size_t count, struct list_of *list, struct place *at)
{
    bool ranged = field->max > field->min && !field_has_item_range(field);
    if (count > LIST_LIMIT || (ranged && ((int64_t)count < field->min || (int64_t)count > field->max)))
        return error_set(at->e, "%s: %zu items: expected %" PRId64 " to %" PRId64, here(at), count,
                         ranged ? field->min : 0, ranged ? field->max : LIST_LIMIT);
    list->items = calloc(count + 1, field_item_size(field));
    list->count = 0;
    return list->items ? 0 : error_set(at->e, "%s: out of memory", here(at));
}

static int parse_list(const struct field *field, const json_t *json, struct list_of *list, struct place *at)
{
    if (!json_is_array(json))
        return wrong_type(at, json, "a list");
    size_t count = json_array_size(json), step = field_item_size(field);
    struct field item = field_item(field);
    if (make_room(field, count, list, at) != 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        size_t before = enter_index(at, i);
        list->count = i + 1;
        if (parse_value(&item, json_array_get(json, i), (char *)list->items + i * step, at) != 0)
            return -1;
        leave(at, before);
    }
    return 0;
}

static int check_key(const struct field *field, const char *key, const struct place *at)
{
    json_t *text = json_string(key);
    int result = text ? check_form(field->names ? field->names : &form_line, text, at)
                      : error_set(at->e, "%s: out of memory", here(at));
    json_decref(text);
    return result;
}

static int parse_map(const struct field *field, const json_t *json, struct list_of *list, struct place *at)
{
    if (!json_is_object(json))
        return wrong_type(at, json, "an object");
    size_t step = field_item_size(field), i = 0;
    struct field item = field_item(field);
    const char *key;
    json_t *value;
    if (make_room(field, json_object_size(json), list, at) != 0)
        return -1;
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        char *slot = (char *)list->items + i * step;
        if (check_key(field, key, at) != 0)
            return -1;
        size_t before = enter_key(at, key);
        list->count = ++i;
        if (parse_value(&item, value, field_map_value(slot, item.kind), at) != 0)
            return -1;
        /* set the name after the object's fields were reset */
        if (!(*(char **)(void *)slot = strdup(key)))
            return error_set(at->e, "%s: out of memory", here(at));
        leave(at, before);
    }
    return 0;
}

static int parse_value(const struct field *field, const json_t *json, void *slot, struct place *at)
{
    switch (field->kind) {
    case FIELD_STRING:
        return parse_string(field, json, slot, at);
    case FIELD_BOOL:
        *(int *)slot = json_is_true(json);
        return json_is_boolean(json) ? 0 : wrong_type(at, json, "true or false");
    case FIELD_INTEGER:
        return parse_integer(field, json, slot, at);
    case FIELD_NUMBER:
        return parse_number(field, json, slot, at);
    case FIELD_QUANTITY:
        return parse_quantity(field, json, slot, at);
    case FIELD_CHOICE:
        return parse_choice(field, json, slot, at);
    case FIELD_OBJECT:
        return parse_object(field->sub, json, slot, at);
    case FIELD_OPTIONAL:
        *(void **)slot = calloc(1, field->sub->size);
        if (!*(void **)slot)
            return error_set(at->e, "%s: out of memory", here(at));
        return parse_object(field->sub, json, *(void **)slot, at);
    case FIELD_LIST:
        return parse_list(field, json, slot, at);
    case FIELD_MAP:
        return parse_map(field, json, slot, at);
    case FIELD_JSON:
        *(json_t **)slot = json_deep_copy(json);
        return *(json_t **)slot ? 0 : error_set(at->e, "%s: out of memory", here(at));
    }
    return -1;
}

static void set_unset(const struct field *field, enum source source, void *slot)
{
    if (source == FROM_OPTIONS && field->kind == FIELD_BOOL)
        *(int *)slot = 0;
    else if (field->kind == FIELD_INTEGER || field->kind == FIELD_QUANTITY)
        *(int64_t *)slot = FIELD_UNSET;
    else if (field->kind == FIELD_NUMBER)
        *(double *)slot = NAN;
    else if (field->kind == FIELD_BOOL || field->kind == FIELD_CHOICE)
        *(int *)slot = -1;
    else
        memset(slot, 0, field_size(field));
}

static int unknown_key(const struct table *table, const char *key, struct place *at)
{
    size_t n = 0;
    struct text known = {0};
    while (table->fields[n].name)
        n++;
    const char **names = calloc(n + 1, sizeof *names);
    for (size_t i = 0; names && i < n; i++) {
        names[i] = table->fields[i].name;
        text_add(&known, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = names ? nearest_word(key, names) : NULL;
    if (near)
        error_set(at->e, "%s: unknown key \"%.60s\"; did you mean \"%s\"?", here(at), key, near);
    else
        error_set(at->e, "%s: unknown key \"%.60s\": expected one of %s", here(at), key, text_string(&known));
    free(names);
    text_free(&known);
    return -1;
}

/* One field, from the document or from its default. */
static int fill_field(const struct field *field, const json_t *said, void *slot, struct place *at)
{
    if (said)
        return parse_value(field, said, slot, at);
    if (field->required && at->source == FROM_NOTHING)
        return 0;
    if (field->required)
        return error_set(at->e, "%s is missing: %s", here(at), field->help ? field->help : "it is required");
    json_t *fallback = field_fallback(field);
    int result = 0;
    if (fallback) {
        result = parse_value(field, fallback, slot, at);
    } else if (field->kind == FIELD_OBJECT) {
        json_t *empty = json_object();
        result = empty ? parse_object(field->sub, empty, slot, at)
                       : error_set(at->e, "%s: out of memory", here(at));
        json_decref(empty);
    }
    json_decref(fallback);
    return result;
}

static int parse_object(const struct table *table, const json_t *json, void *object, struct place *at)
{
    const char *key;
    json_t *value;
    memset(object, 0, table->size);
    for (const struct field *f = table->fields; f->name; f++)
        set_unset(f, at->source, field_slot(object, f));
    if (!json_is_object(json))
        return wrong_type(at, json, "an object");
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        if (!table_find(table, key))
            return unknown_key(table, key, at);
    }
    for (const struct field *f = table->fields; f->name; f++) {
        size_t before = enter_field(at, f);
        if (fill_field(f, json_object_get(json, f->name), field_slot(object, f), at) != 0)
            return -1;
        leave(at, before);
    }
    return table->check && at->source != FROM_NOTHING ? table->check(object, text_string(&at->path), at->e)
                                                      : 0;
}

static int parse_from(enum source source, const struct table *table, const json_t *json, void *object,
                      struct error *e)
{
    struct place at = {.source = source, .e = e};
    int result = parse_object(table, json, object, &at);
    if (result != 0)
        table_free(table, object);
    text_free(&at.path);
    return result;
}

int table_parse(const struct table *table, const json_t *json, void *object, struct error *e)
{
    return parse_from(FROM_DOCUMENT, table, json, object, e);
}

int arguments_fill(const struct table *table, const json_t *json, void *object, struct error *e)
{
    return parse_from(FROM_OPTIONS, table, json, object, e);
}

int table_defaults(const struct table *table, void *object)
{
    json_t *empty = json_object();
    int result = parse_from(FROM_NOTHING, table, empty, object, NULL);
    json_decref(empty);
    return result;
}
