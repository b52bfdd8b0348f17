#include "lib/document/table.h"

#include "lib/document/options.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LIST_LIMIT 100000 /* items in one list or map of a document */

/* ---- small things */

static void *slot_of(void *object, const struct field *field)
{
    return (char *)object + field->offset;
}

static bool is_scalar(enum field_kind kind)
{
    return kind == FIELD_STRING || kind == FIELD_BOOL || kind == FIELD_INTEGER || kind == FIELD_NUMBER ||
           kind == FIELD_QUANTITY || kind == FIELD_CHOICE;
}

/* The field that describes one item of a list or map. */
static struct field item_field(const struct field *field)
{
    struct field item = *field;
    item.kind = field->item;
    item.offset = 0;
    item.fallback = NULL;
    return item;
}

static bool has_item_range(const struct field *field)
{
    return field->item == FIELD_INTEGER || field->item == FIELD_QUANTITY;
}

static size_t size_of(const struct field *field)
{
    switch (field->kind) {
    case FIELD_STRING:
        return sizeof(char *);
    case FIELD_BOOL:
    case FIELD_CHOICE:
        return sizeof(int);
    case FIELD_INTEGER:
    case FIELD_QUANTITY:
        return sizeof(int64_t);
    case FIELD_NUMBER:
        return sizeof(double);
    case FIELD_OBJECT:
        return field->sub->size;
    case FIELD_OPTIONAL:
        return sizeof(void *);
    case FIELD_LIST:
    case FIELD_MAP:
        return sizeof(struct list_of);
    case FIELD_JSON:
        return sizeof(json_t *);
    }
    return 0;
}

/* How far apart items lie: scalar map items carry their name in front. */
static size_t item_size(const struct field *field)
{
    struct field item = item_field(field);
    size_t size = size_of(&item);
    return field->kind == FIELD_MAP && is_scalar(item.kind) ? sizeof(char *) + sizeof(int64_t) : size;
}

/* Where a map item's value lies: objects begin with their name and are parsed as a whole. */
static void *map_value(void *item, enum field_kind kind)
{
    return is_scalar(kind) ? (char *)item + sizeof(char *) : item;
}

static json_t *fallback_json(const struct field *field)
{
    return field->fallback ? json_loads(field->fallback, JSON_DECODE_ANY, NULL) : NULL;
}

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

/* ---- freeing */

static void free_value(const struct field *field, void *slot);

static void free_list(const struct field *field, struct list_of *list)
{
    struct field item = item_field(field);
    size_t step = item_size(field);
    for (size_t i = 0; i < list->count; i++) {
        char *at = (char *)list->items + i * step;
        free_value(&item, field->kind == FIELD_MAP ? map_value(at, item.kind) : at);
        if (field->kind == FIELD_MAP)
            free(*(char **)(void *)at);
    }
    free(list->items);
    *list = (struct list_of){0};
}

static void free_fields(const struct table *table, void *object)
{
    for (const struct field *f = table->fields; f->name; f++)
        free_value(f, slot_of(object, f));
}

static void free_value(const struct field *field, void *slot)
{
    switch (field->kind) {
    case FIELD_STRING:
        free(*(char **)slot);
        *(char **)slot = NULL;
        break;
    case FIELD_OBJECT:
        free_fields(field->sub, slot);
        break;
    case FIELD_OPTIONAL:
        if (*(void **)slot)
            free_fields(field->sub, *(void **)slot);
        free(*(void **)slot);
        *(void **)slot = NULL;
        break;
    case FIELD_LIST:
    case FIELD_MAP:
        free_list(field, slot);
        break;
    case FIELD_JSON:
        json_decref(*(json_t **)slot);
        *(json_t **)slot = NULL;
        break;
    default:
        break;
    }
}

void table_free(const struct table *table, void *object)
{
    free_fields(table, object);
    memset(object, 0, table->size);
}

/* ---- parsing */

/* The place in the document, for sentences: "flows[1].message". */
struct place {
    struct text path;
    struct error *e;
};

static int parse_object(const struct table *table, const json_t *json, void *object, struct place *at);
static int parse_value(const struct field *field, const json_t *json, void *slot, struct place *at);

static const char *here(const struct place *at)
{
    return at->path.length ? text_string(&at->path) : "document";
}

static size_t enter_key(struct place *at, const char *key)
{
    size_t before = at->path.length;
    text_add(&at->path, "%s%s", before ? "." : "", key);
    return before;
}

static size_t enter_index(struct place *at, size_t index)
{
    size_t before = at->path.length;
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

static int parse_string(const json_t *json, char **slot, struct place *at)
{
    if (!json_is_string(json))
        return wrong_type(at, json, "a string");
    if (strlen(json_string_value(json)) != json_string_length(json))
        return error_set(at->e, "%s: the string holds a zero byte", here(at));
    *slot = strdup(json_string_value(json));
    return *slot ? 0 : error_set(at->e, "%s: out of memory", here(at));
}

static int parse_integer(const struct field *field, const json_t *json, int64_t *slot, struct place *at)
{
    char expected[80];
    bool ranged = field->max > field->min;
    if (ranged)
        snprintf(expected, sizeof expected, "a whole number from %" PRId64 " to %" PRId64, field->min,
                 field->max);
    else
        snprintf(expected, sizeof expected, "a whole number");
    if (!json_is_integer(json))
        return wrong_type(at, json, expected);
    *slot = json_integer_value(json);
    if (ranged && (*slot < field->min || *slot > field->max))
        return error_set(at->e, "%s: %" PRId64 " is out of range: expected %s", here(at), *slot, expected);
    return 0;
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
    if (json_is_string(json))
        error_set(at->e, "%s: \"%.60s\" is unknown: expected %s", here(at), json_string_value(json),
                  text_string(&allowed));
    else
        wrong_type(at, json, text_string(&allowed));
    text_free(&allowed);
    return -1;
}

/* Room for `count` zeroed items; the count grows as items are parsed so that freeing fits at any moment. */
static int make_room(const struct field *field, size_t count, struct list_of *list, struct place *at)
{
    bool ranged = field->max > field->min && !has_item_range(field);
    if (count > LIST_LIMIT || (ranged && ((int64_t)count < field->min || (int64_t)count > field->max)))
        return error_set(at->e, "%s: %zu items: expected %" PRId64 " to %" PRId64, here(at), count,
                         ranged ? field->min : 0, ranged ? field->max : LIST_LIMIT);
    list->items = calloc(count + 1, item_size(field));
    list->count = 0;
    return list->items ? 0 : error_set(at->e, "%s: out of memory", here(at));
}

static int parse_list(const struct field *field, const json_t *json, struct list_of *list, struct place *at)
{
    if (!json_is_array(json))
        return wrong_type(at, json, "a list");
    size_t count = json_array_size(json), step = item_size(field);
    struct field item = item_field(field);
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

static int parse_map(const struct field *field, const json_t *json, struct list_of *list, struct place *at)
{
    if (!json_is_object(json))
        return wrong_type(at, json, "an object");
    size_t step = item_size(field), i = 0;
    struct field item = item_field(field);
    const char *key;
    json_t *value;
    if (make_room(field, json_object_size(json), list, at) != 0)
        return -1;
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        char *slot = (char *)list->items + i * step;
        size_t before = enter_key(at, key);
        list->count = ++i;
        if (parse_value(&item, value, map_value(slot, item.kind), at) != 0)
            return -1;
        /* an object's name comes after its fields were reset */
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
        return parse_string(json, slot, at);
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

static void set_unset(const struct field *field, void *slot)
{
    if (field->kind == FIELD_INTEGER || field->kind == FIELD_QUANTITY)
        *(int64_t *)slot = FIELD_UNSET;
    else if (field->kind == FIELD_NUMBER)
        *(double *)slot = NAN;
    else if (field->kind == FIELD_BOOL || field->kind == FIELD_CHOICE)
        *(int *)slot = -1;
    else
        memset(slot, 0, size_of(field));
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
    const char *near = names ? options_nearest(key, names) : NULL;
    if (near)
        error_set(at->e, "%s: unknown key \"%.60s\"; did you mean \"%s\"?", here(at), key, near);
    else
        error_set(at->e, "%s: unknown key \"%.60s\": expected one of %s", here(at), key, text_string(&known));
    free(names);
    text_free(&known);
    return -1;
}

static const struct field *find_field(const struct table *table, const char *key)
{
    for (const struct field *f = table->fields; f->name; f++)
        if (strcmp(f->name, key) == 0)
            return f;
    return NULL;
}

/* One field, from the document or from its default. */
static int fill_field(const struct field *field, const json_t *said, void *slot, struct place *at)
{
    if (said)
        return parse_value(field, said, slot, at);
    if (field->required)
        return error_set(at->e, "%s is missing: %s", here(at), field->help ? field->help : "it is required");
    json_t *fallback = fallback_json(field);
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
        set_unset(f, slot_of(object, f));
    if (!json_is_object(json))
        return wrong_type(at, json, "an object");
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        if (!find_field(table, key))
            return unknown_key(table, key, at);
    }
    for (const struct field *f = table->fields; f->name; f++) {
        size_t before = enter_key(at, f->name);
        if (fill_field(f, json_object_get(json, f->name), slot_of(object, f), at) != 0)
            return -1;
        leave(at, before);
    }
    return table->check ? table->check(object, text_string(&at->path), at->e) : 0;
}

int table_parse(const struct table *table, const json_t *json, void *object, struct error *e)
{
    struct place at = {.e = e};
    int result = parse_object(table, json, object, &at);
    if (result != 0)
        table_free(table, object);
    text_free(&at.path);
    return result;
}

/* ---- writing defaults out */

static json_t *resolve_value(const struct field *field, const json_t *json);

static json_t *resolve_items(const struct field *field, const json_t *json)
{
    struct field item = item_field(field);
    if (json_is_array(json)) {
        json_t *array = json_array();
        for (size_t i = 0; i < json_array_size(json); i++)
            json_array_append_new(array, resolve_value(&item, json_array_get(json, i)));
        return array;
    }
    json_t *object = json_object();
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        json_object_set_new(object, key, resolve_value(&item, value));
    }
    return object;
}

static json_t *resolve_value(const struct field *field, const json_t *json)
{
    if (field->kind == FIELD_OBJECT || field->kind == FIELD_OPTIONAL)
        return table_resolve(field->sub, json);
    if (field->kind == FIELD_LIST || field->kind == FIELD_MAP)
        return resolve_items(field, json);
    return json_deep_copy(json);
}

json_t *table_resolve(const struct table *table, const json_t *json)
{
    json_t *resolved = json_object();
    for (const struct field *f = table->fields; f->name; f++) {
        const json_t *said = json_object_get(json, f->name);
        json_t *fallback = said ? NULL : fallback_json(f);
        if (said || fallback) {
            json_object_set_new(resolved, f->name, resolve_value(f, said ? said : fallback));
        } else if (f->kind == FIELD_OBJECT) {
            json_t *filled = table_resolve(f->sub, NULL);
            if (json_object_size(filled))
                json_object_set(resolved, f->name, filled);
            json_decref(filled);
        }
        json_decref(fallback);
    }
    return resolved;
}

/* ---- JSON Schema */

static json_t *schema_of(const struct field *field);

static json_t *schema_choices(const char *const *choices)
{
    json_t *names = json_array();
    for (; *choices; choices++)
        json_array_append_new(names, json_string(*choices));
    return json_pack("{s:o}", "enum", names);
}

static json_t *schema_items(const struct field *field)
{
    struct field item = item_field(field);
    item.help = NULL;
    bool list = field->kind == FIELD_LIST, counted = field->max > field->min && !has_item_range(field);
    json_t *schema = json_pack("{s:s,s:o}", "type", list ? "array" : "object",
                               list ? "items" : "additionalProperties", schema_of(&item));
    if (counted) {
        json_object_set_new(schema, list ? "minItems" : "minProperties", json_integer(field->min));
        json_object_set_new(schema, list ? "maxItems" : "maxProperties", json_integer(field->max));
    }
    return schema;
}

static json_t *schema_object(const struct table *table)
{
    json_t *properties = json_object(), *required = json_array();
    for (const struct field *f = table->fields; f->name; f++) {
        json_object_set_new(properties, f->name, schema_of(f));
        if (f->required)
            json_array_append_new(required, json_string(f->name));
    }
    json_t *schema =
        json_pack("{s:s,s:b,s:o}", "type", "object", "additionalProperties", 0, "properties", properties);
    if (json_array_size(required))
        json_object_set(schema, "required", required);
    json_decref(required);
    return schema;
}

static json_t *schema_integer(const struct field *field)
{
    json_t *schema = json_pack("{s:s}", "type", "integer");
    if (field->max > field->min) {
        json_object_set_new(schema, "minimum", json_integer(field->min));
        json_object_set_new(schema, "maximum", json_integer(field->max));
    }
    return schema;
}

static json_t *schema_number(const struct field *field)
{
    json_t *schema = json_pack("{s:s}", "type", "number");
    if (field->max_number > field->min_number) {
        json_object_set_new(schema, "minimum", json_real(field->min_number));
        json_object_set_new(schema, "maximum", json_real(field->max_number));
    }
    return schema;
}

static json_t *schema_of_kind(const struct field *field)
{
    switch (field->kind) {
    case FIELD_STRING:
        return json_pack("{s:s}", "type", "string");
    case FIELD_BOOL:
        return json_pack("{s:s}", "type", "boolean");
    case FIELD_INTEGER:
        return schema_integer(field);
    case FIELD_NUMBER:
        return schema_number(field);
    case FIELD_QUANTITY:
        return json_pack("{s:s,s:s}", "type", "string", "pattern", "^(0|[0-9]+(\\.[0-9]+)? ?[A-Za-z%/]+)$");
    case FIELD_CHOICE:
        return schema_choices(field->choices);
    case FIELD_OBJECT:
    case FIELD_OPTIONAL:
        return schema_object(field->sub);
    case FIELD_LIST:
    case FIELD_MAP:
        return schema_items(field);
    case FIELD_JSON:
        return json_object();
    }
    return NULL;
}

static void add_description(json_t *schema, const struct field *field)
{
    const char *unit = field->kind == FIELD_QUANTITY ? units_describe(field->unit) : NULL;
    struct text words = {0};
    if (field->help)
        text_add(&words, "%s", field->help);
    if (unit)
        text_add(&words, "%s%s", words.length ? ": " : "", unit);
    if (words.length)
        json_object_set_new(schema, "description", json_string(text_string(&words)));
    text_free(&words);
}

static json_t *schema_of(const struct field *field)
{
    json_t *schema = schema_of_kind(field);
    add_description(schema, field);
    json_t *fallback = fallback_json(field);
    if (fallback)
        json_object_set_new(schema, "default", fallback);
    return schema;
}

json_t *table_schema(const struct table *table)
{
    json_t *schema = schema_object(table);
    json_object_set_new(schema, "$schema", json_string("https://json-schema.org/draft/2020-12/schema"));
    json_object_set_new(schema, "title", json_string(table->name));
    if (table->help)
        json_object_set_new(schema, "description", json_string(table->help));
    return schema;
}

/* ---- man page */

static const char *kind_words(const struct field *field, struct text *buffer)
{
    struct field item;
    struct text inner = {0};
    switch (field->kind) {
    case FIELD_STRING:
        return "string";
    case FIELD_BOOL:
        return "true or false";
    case FIELD_INTEGER:
        if (field->max <= field->min)
            return "whole number";
        text_add(buffer, "whole number from %" PRId64 " to %" PRId64, field->min, field->max);
        return text_string(buffer);
    case FIELD_NUMBER:
        if (field->max_number <= field->min_number)
            return "number";
        text_add(buffer, "number from %g to %g", field->min_number, field->max_number);
        return text_string(buffer);
    case FIELD_QUANTITY:
        return units_describe(field->unit);
    case FIELD_CHOICE:
        for (int i = 0; field->choices[i]; i++)
            text_add(buffer, "%s%s", i ? ", " : "one of ", field->choices[i]);
        return text_string(buffer);
    case FIELD_OBJECT:
    case FIELD_OPTIONAL:
        text_add(buffer, "object, see %s", field->sub->name);
        return text_string(buffer);
    case FIELD_LIST:
    case FIELD_MAP:
        item = item_field(field);
        text_add(buffer, "%s of: %s", field->kind == FIELD_LIST ? "list" : "object with names of your choice",
                 kind_words(&item, &inner));
        text_free(&inner);
        return text_string(buffer);
    case FIELD_JSON:
        return "any value";
    }
    return "";
}

/* A line of roff must not begin with a control character, and backslashes are written as \e. */
static void add_roff(struct text *out, const char *words)
{
    if (*words == '.' || *words == '\'')
        text_add(out, "\\&");
    for (; *words; words++)
        text_add(out, *words == '\\' ? "\\e" : "%c", *words);
    text_add(out, "\n");
}

static void manual_field(const struct field *field, struct text *out)
{
    struct text words = {0}, line = {0};
    text_add(&line, "%s", kind_words(field, &words));
    if (field->required)
        text_add(&line, "; required");
    if (field->fallback)
        text_add(&line, "; default %s", field->fallback);
    text_add(out, ".It Cm %s\n", field->name);
    if (field->help)
        add_roff(out, field->help);
    text_add(out, ".Pq ");
    add_roff(out, text_string(&line));
    text_free(&words);
    text_free(&line);
}

static void manual_table(const struct table *table, struct text *out, const struct table **seen,
                         size_t *count, size_t limit)
{
    for (size_t i = 0; i < *count; i++)
        if (seen[i] == table)
            return;
    if (*count == limit)
        return;
    seen[(*count)++] = table;
    text_add(out, ".Ss %s\n", table->name);
    if (table->help)
        add_roff(out, table->help);
    text_add(out, ".Bl -tag -width Ds\n");
    for (const struct field *f = table->fields; f->name; f++)
        manual_field(f, out);
    text_add(out, ".El\n");
    for (const struct field *f = table->fields; f->name; f++)
        if (f->sub)
            manual_table(f->sub, out, seen, count, limit);
}

void table_manual(const struct table *table, struct text *out)
{
    const struct table *seen[128] = {0};
    size_t count = 0;
    manual_table(table, out, seen, &count, sizeof seen / sizeof *seen);
}
