/*
 * Structs from documents and back: how a table's fields lie in the struct, filling it with every check and
 * sentence, its defaults, freeing it, checking one that no document filled, and writing the document again.
 */
#include "lib/document/table.h"

#include "lib/document/json_text.h"
#include "lib/document/nearest.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- fields */

static void *field_slot(void *object, const struct field *field)
{
    return (char *)object + field->offset;
}

bool field_is_scalar(enum field_kind kind)
{
    return kind == FIELD_STRING || kind == FIELD_BOOL || kind == FIELD_INTEGER || kind == FIELD_NUMBER ||
           kind == FIELD_QUANTITY || kind == FIELD_CHOICE;
}

struct field field_item(const struct field *field)
{
    struct field item = *field;
    item.kind = field->item;
    item.offset = 0;
    item.fallback = NULL;
    return item;
}

bool field_has_range(const struct field *field)
{
    return field->max > field->min || (field->max == field->min && field->min != 0);
}

bool field_has_item_range(const struct field *field)
{
    return field->item == FIELD_INTEGER || field->item == FIELD_QUANTITY;
}

static size_t field_size(const struct field *field)
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

size_t field_item_size(const struct field *field)
{
    struct field item = field_item(field);
    size_t size = field_size(&item);
    return field->kind == FIELD_MAP && field_is_scalar(item.kind) ? sizeof(char *) + sizeof(int64_t) : size;
}

void *field_map_value(void *item, enum field_kind kind)
{
    return field_is_scalar(kind) ? (char *)item + sizeof(char *) : item;
}

json_t *field_fallback(const struct field *field)
{
    return field->fallback ? json_loads(field->fallback, JSON_DECODE_ANY, NULL) : NULL;
}

static const struct field *table_find(const struct table *table, const char *key)
{
    for (const struct field *f = table->fields; f->name; f++)
        if (strcmp(f->name, key) == 0)
            return f;
    return NULL;
}

const char *table_nearest_key(const struct table *table, const char *word)
{
    size_t count = 0;
    while (table->fields[count].name)
        count++;
    const char **names = calloc(count + 1, sizeof *names);
    for (size_t i = 0; names && i < count; i++)
        names[i] = table->fields[i].name;
    const char *near = names ? nearest_word(word, names) : NULL;
    free(names);
    return near;
}

/* ---- freeing */

static void free_value(const struct field *field, void *slot);

static void free_list(const struct field *field, struct list_of *list)
{
    struct field item = field_item(field);
    size_t step = field_item_size(field);
    for (size_t i = 0; i < list->count; i++) {
        char *at = (char *)list->items + i * step;
        free_value(&item, field->kind == FIELD_MAP ? field_map_value(at, item.kind) : at);
        if (field->kind == FIELD_MAP)
            free(*(char **)(void *)at);
    }
    free(list->items);
    *list = (struct list_of){0};
}

static void free_fields(const struct table *table, void *object)
{
    for (const struct field *f = table->fields; f->name; f++)
        free_value(f, field_slot(object, f));
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

/* ---- from a document or a command line */

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
    struct text
        *all; /* sentences, a line each: parsing goes on after an error. NULL: it ends with the first */
    size_t errors;
};

static int parse_object(const struct table *table, const json_t *json, void *object, struct place *at);
static int parse_value(const struct field *field, const json_t *json, void *slot, struct place *at);

static const char *place_name(const struct place *at)
{
    const char *whole = at->source == FROM_OPTIONS ? "command line" : "document";
    return at->path.length ? text_string(&at->path) : whole;
}

static size_t enter_key(struct place *at, const char *key)
{
    size_t before = at->path.length;
    text_add_bytes(&at->path, ".", before ? 1 : 0);
    text_add_bytes(&at->path, key, strlen(key)); /* called for every value: no format is parsed */
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

static void leave_place(struct place *at, size_t before)
{
    at->path.length = before;
    if (at->path.data)
        at->path.data[before] = '\0';
}

static int wrong_type(const struct place *at, const json_t *json, const char *expected)
{
    char *shown = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT);
    error_set(at->e, "%s: %.60s is %s: expected %s", place_name(at), shown ? shown : "?", type_name(json),
              expected);
    free(shown);
    return -1;
}

/* Control characters are shown escaped, as JSON writes them. */
static int check_form(const struct form *form, const json_t *text, const struct place *at)
{
    if (form_fits(form, json_string_value(text)))
        return 0;
    char *shown = json_dumps(text, JSON_ENCODE_ANY);
    error_set(at->e, "%s: %.100s is not %s: expected %s", place_name(at), shown ? shown : "the string",
              form->is, form->expected);
    free(shown);
    return -1;
}

static int parse_string(const struct field *field, const json_t *json, char **slot, struct place *at)
{
    const struct form *usual = at->source == FROM_OPTIONS ? &form_any : &form_line;
    if (!json_is_string(json))
        return wrong_type(at, json, "a string");
    if (strlen(json_string_value(json)) != json_string_length(json))
        return error_set(at->e, "%s: the string contains a zero byte", place_name(at));
    if (check_form(field->form ? field->form : usual, json, at) != 0)
        return -1;
    *slot = strdup(json_string_value(json));
    return *slot ? 0 : error_set(at->e, "%s: out of memory", place_name(at));
}

#define EXACT_WHOLE 9007199254740992.0 /* 2 to the power of 53 */

/* 16 and 16.0 are the same number, as in JSON Schema. */
static bool is_whole(const json_t *json, int64_t *value)
{
    double number = json_number_value(json);
    bool whole = json_is_integer(json) ||
                 (json_is_real(json) && number == floor(number) && fabs(number) <= EXACT_WHOLE);
    *value = json_is_integer(json) ? json_integer_value(json) : whole ? (int64_t)number : 0;
    return whole;
}

static int wrong_integer(const struct field *field, const json_t *json, struct place *at)
{
    struct text words = {0};
    char expected[80];
    snprintf(expected, sizeof expected, "%s%s", field->max == field->min && field->max ? "" : "a ",
             field_words(field, &words));
    text_free(&words);
    return json_is_integer(json)
               ? error_set(at->e, "%s: %" JSON_INTEGER_FORMAT " is out of range: expected %s", place_name(at),
                           json_integer_value(json), expected)
               : wrong_type(at, json, expected);
}

static int parse_integer(const struct field *field, const json_t *json, int64_t *slot, struct place *at)
{
    bool whole = is_whole(json, slot);
    bool within = !field_has_range(field) || (*slot >= field->min && *slot <= field->max);
    return whole && within ? 0 : wrong_integer(field, json, at);
}

static int parse_number(const struct field *field, const json_t *json, double *slot, struct place *at)
{
    if (!json_is_number(json))
        return wrong_type(at, json, "a number");
    *slot = json_number_value(json);
    if (field->max_number > field->min_number && (*slot < field->min_number || *slot > field->max_number))
        return error_set(at->e, "%s: %g is out of range: expected %g to %g", place_name(at), *slot,
                         field->min_number, field->max_number);
    return 0;
}

static int parse_quantity(const struct field *field, const json_t *json, int64_t *slot, struct place *at)
{
    if (!json_is_string(json))
        return wrong_type(at, json, units_describe(field->unit));
    struct error inner;
    if (units_parse(field->unit, json_string_value(json), slot, &inner) != 0)
        return error_set(at->e, "%s: %s", place_name(at), inner.text);
    if (field_has_range(field) && (*slot < field->min || *slot > field->max)) {
        char low[40], high[40];
        return error_set(at->e, "%s: \"%.40s\" is out of range: expected %s to %s", place_name(at),
                         json_string_value(json), units_limit(field->unit, field->min, low, sizeof low),
                         units_limit(field->unit, field->max, high, sizeof high));
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
        error_set(at->e, "%s: \"%.60s\" is unknown: expected %s%s%s%s", place_name(at),
                  json_string_value(json), text_string(&allowed), near ? "; did you mean \"" : "",
                  near ? near : "", near ? "\"?" : "");
    else
        wrong_type(at, json, text_string(&allowed));
    text_free(&allowed);
    return -1;
}

/* Room for `count` zeroed items; the count grows as items are parsed, so that the list can be freed at any
 * time. */
static int make_room(const struct field *field, size_t count, struct list_of *list, struct place *at)
{
    bool ranged = field_has_range(field) && !field_has_item_range(field);
    if (count > FIELD_ITEMS_MOST || (ranged && ((int64_t)count < field->min || (int64_t)count > field->max)))
        return error_set(at->e, "%s: %zu items: expected %" PRId64 " to %" PRId64, place_name(at), count,
                         ranged ? field->min : 0, ranged ? field->max : FIELD_ITEMS_MOST);
    list->items = calloc(count + 1, field_item_size(field));
    list->count = 0;
    return list->items ? 0 : error_set(at->e, "%s: out of memory", place_name(at));
}

/* The sentence is kept, and parsing goes on with what follows the place that was entered at `before`. */
static bool goes_on(struct place *at, size_t before)
{
    if (!at->all)
        return false;
    text_add(at->all, "%s\n", at->e->text);
    at->errors++;
    leave_place(at, before);
    return true;
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
        if (parse_value(&item, json_array_get(json, i), (char *)list->items + i * step, at) != 0) {
            if (!goes_on(at, before))
                return -1;
            continue;
        }
        leave_place(at, before);
    }
    return 0;
}

static int check_key(const struct field *field, const char *key, const struct place *at)
{
    json_t *text = json_string(key);
    int result = text ? check_form(field->names ? field->names : &form_line, text, at)
                      : error_set(at->e, "%s: out of memory", place_name(at));
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
        if (check_key(field, key, at) != 0) {
            if (!goes_on(at, at->path.length))
                return -1;
            continue;
        }
        size_t before = enter_key(at, key);
        list->count = ++i;
        if (parse_value(&item, value, field_map_value(slot, item.kind), at) != 0) {
            if (!goes_on(at, before))
                return -1;
            continue;
        }
        /* set the name after the object's fields were reset */
        if (!(*(char **)(void *)slot = strdup(key)))
            return error_set(at->e, "%s: out of memory", place_name(at));
        leave_place(at, before);
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
            return error_set(at->e, "%s: out of memory", place_name(at));
        return parse_object(field->sub, json, *(void **)slot, at);
    case FIELD_LIST:
        return parse_list(field, json, slot, at);
    case FIELD_MAP:
        return parse_map(field, json, slot, at);
    case FIELD_JSON:
        *(json_t **)slot = json_deep_copy(json);
        return *(json_t **)slot ? 0 : error_set(at->e, "%s: out of memory", place_name(at));
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
    const char *near = table_nearest_key(table, key);
    if (near)
        return error_set(at->e, "%s: unknown key \"%.60s\"; did you mean \"%s\"?", place_name(at), key, near);
    struct text known = {0};
    for (const struct field *f = table->fields; f->name; f++)
        text_add(&known, "%s%s", known.length ? ", " : "", f->name);
    error_set(at->e, "%s: unknown key \"%.60s\": expected one of %s", place_name(at), key,
              text_string(&known));
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
        return error_set(at->e, "%s is missing: %s", place_name(at),
                         field->help ? field->help : "it is required");
    json_t *fallback = field_fallback(field);
    int result = 0;
    if (fallback) {
        result = parse_value(field, fallback, slot, at);
    } else if (field->kind == FIELD_OBJECT) {
        json_t *empty = json_object();
        result = empty ? parse_object(field->sub, empty, slot, at)
                       : error_set(at->e, "%s: out of memory", place_name(at));
        json_decref(empty);
    }
    json_decref(fallback);
    return result;
}

static int parse_object(const struct table *table, const json_t *json, void *object, struct place *at)
{
    const char *key;
    json_t *value;
    size_t errors = at->errors;
    memset(object, 0, table->size);
    for (const struct field *f = table->fields; f->name; f++)
        set_unset(f, at->source, field_slot(object, f));
    if (!json_is_object(json))
        return wrong_type(at, json, "an object");
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        if (!table_find(table, key) && unknown_key(table, key, at) != 0 && !goes_on(at, at->path.length))
            return -1;
    }
    for (const struct field *f = table->fields; f->name; f++) {
        size_t before = enter_field(at, f);
        if (fill_field(f, json_object_get(json, f->name), field_slot(object, f), at) == 0)
            leave_place(at, before);
        else if (!goes_on(at, before))
            return -1;
    }
    if (!table->check || at->source == FROM_NOTHING || at->errors > errors)
        return 0;
    return table->check(object, text_string(&at->path), at->e);
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

size_t table_errors(const struct table *table, const json_t *json, struct text *errors)
{
    struct error e;
    struct place at = {.source = FROM_DOCUMENT, .e = &e, .all = errors};
    void *object = calloc(1, table->size);
    if (object && parse_object(table, json, object, &at) != 0)
        goes_on(&at, 0);
    if (object)
        table_free(table, object);
    free(object);
    text_free(&at.path);
    return at.errors;
}

int table_parse_options(const struct table *table, const json_t *json, void *object, struct error *e)
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

/* ---- the ranges of a struct that was not filled from a document */

static int check_integer(const struct field *field, int64_t value, const char *path, struct error *e)
{
    char low[40], high[40], is[40];
    if (!field_has_range(field) || (value >= field->min && value <= field->max) ||
        (value == FIELD_UNSET && !field->fallback))
        return 0;
    if (field->kind == FIELD_QUANTITY && value != FIELD_UNSET)
        return error_set(e, "%s.%s: %s is out of range: expected %s to %s", path, field->name,
                         units_format(field->unit, value, is, sizeof is),
                         units_limit(field->unit, field->min, low, sizeof low),
                         units_limit(field->unit, field->max, high, sizeof high));
    return error_set(e, "%s.%s: %" PRId64 " is out of range: expected %" PRId64 " to %" PRId64, path,
                     field->name, value, field->min, field->max);
}

static int check_number(const struct field *field, double value, const char *path, struct error *e)
{
    if (field->max_number <= field->min_number ||
        (value >= field->min_number && value <= field->max_number) || (isnan(value) && !field->fallback))
        return 0;
    return error_set(e, "%s.%s: %g is out of range: expected %g to %g", path, field->name, value,
                     field->min_number, field->max_number);
}

static int check_choice(const struct field *field, int value, const char *path, struct error *e)
{
    int count = 0;
    while (field->choices[count])
        count++;
    if (value >= (field->fallback ? 0 : -1) && value < count)
        return 0;
    return error_set(e, "%s.%s: choice %d is out of range: expected 0 to %d", path, field->name, value,
                     count - 1);
}

static int check_string(const struct field *field, const char *value, const char *path, struct error *e)
{
    if (!value || !field->form || form_fits(field->form, value))
        return 0;
    return error_set(e, "%s.%s: \"%.60s\" is not %s: expected %s", path, field->name, value, field->form->is,
                     field->form->expected);
}

static int check_part(const struct field *field, const void *object, const char *path, struct error *e)
{
    struct text inner = {0};
    text_add(&inner, "%s.%s", path, field->name);
    int result = table_check(field->sub, object, text_string(&inner), e);
    text_free(&inner);
    return result;
}

static int check_field(const struct field *field, const void *slot, const char *path, struct error *e)
{
    switch (field->kind) {
    case FIELD_STRING:
        return check_string(field, *(char *const *)slot, path, e);
    case FIELD_INTEGER:
    case FIELD_QUANTITY:
        return check_integer(field, *(const int64_t *)slot, path, e);
    case FIELD_NUMBER:
        return check_number(field, *(const double *)slot, path, e);
    case FIELD_CHOICE:
        return check_choice(field, *(const int *)slot, path, e);
    case FIELD_OBJECT:
        return check_part(field, slot, path, e);
    case FIELD_OPTIONAL:
        return *(void *const *)slot ? check_part(field, *(void *const *)slot, path, e) : 0;
    default:
        return 0;
    }
}

int table_check(const struct table *table, const void *object, const char *of, struct error *e)
{
    for (const struct field *f = table->fields; f->name; f++)
        if (check_field(f, (const char *)object + f->offset, of, e) != 0)
            return -1;
    return table->check ? table->check(object, of, e) : 0;
}

/* ---- back to a document */

/* `plain`: as table_plain. */
static json_t *resolve_table(const struct table *table, const json_t *json, bool plain);
static json_t *resolve_value(const struct field *field, const json_t *json, bool plain);

static int by_words(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Each item once, in one order. A new reference; NULL when out of memory. */
static json_t *sorted_items(const json_t *array)
{
    size_t count = json_array_size(array), made = 0;
    char **words = calloc(count + 1, sizeof *words);
    json_t *sorted = words ? json_array() : NULL;
    while (sorted && made < count && (words[made] = json_dumps(json_array_get(array, made), JSON_ENCODE_ANY)))
        made++;
    if (made)
        qsort(words, made, sizeof *words, by_words);
    for (size_t i = 0; i < made; i++)
        if (i == 0 || strcmp(words[i], words[i - 1]) != 0)
            json_array_append_new(sorted, json_text(words[i]));
    for (size_t i = 0; i < made; i++)
        free(words[i]);
    free(words);
    return sorted;
}

static json_t *resolve_items(const struct field *field, const json_t *json, bool plain)
{
    struct field item = field_item(field);
    if (json_is_array(json)) {
        json_t *array = json_array();
        for (size_t i = 0; i < json_array_size(json); i++)
            json_array_append_new(array, resolve_value(&item, json_array_get(json, i), plain));
        json_t *sorted = plain && field->any_order ? sorted_items(array) : json_incref(array);
        json_decref(array);
        return sorted;
    }
    json_t *object = json_object();
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        json_object_set_new(object, key, resolve_value(&item, value, plain));
    }
    return object;
}

/* `plain`: as table_plain. */
static json_t *resolve_scalar(const struct field *field, const json_t *json, bool plain)
{
    int64_t quantity, number;
    if (plain && field->kind == FIELD_QUANTITY && json_is_string(json) &&
        units_parse(field->unit, json_string_value(json), &quantity, NULL) == 0)
        return json_integer(quantity);
    if ((plain || field->kind == FIELD_INTEGER) && is_whole(json, &number))
        return json_integer(number);
    return json_deep_copy(json);
}

static json_t *resolve_value(const struct field *field, const json_t *json, bool plain)
{
    if (field->kind == FIELD_OBJECT || field->kind == FIELD_OPTIONAL)
        return resolve_table(field->sub, json, plain);
    if ((field->kind == FIELD_LIST || field->kind == FIELD_MAP) && (plain || !field->inherits))
        return resolve_items(field, json, plain);
    return resolve_scalar(field, json, plain);
}

static json_t *resolve_table(const struct table *table, const json_t *json, bool plain)
{
    json_t *resolved = json_object();
    for (const struct field *f = table->fields; f->name; f++) {
        const json_t *said = json_object_get(json, f->name);
        said = plain && json_is_null(said) ? NULL : said;
        json_t *fallback = said ? NULL : field_fallback(f);
        if (said || fallback) {
            json_object_set_new(resolved, f->name, resolve_value(f, said ? said : fallback, plain));
        } else if (f->kind == FIELD_OBJECT) {
            json_t *filled = resolve_table(f->sub, NULL, plain);
            if (json_object_size(filled))
                json_object_set(resolved, f->name, filled);
            json_decref(filled);
        }
        json_decref(fallback);
    }
    return resolved;
}

json_t *table_resolve(const struct table *table, const json_t *json)
{
    return resolve_table(table, json, false);
}

json_t *table_plain(const struct table *table, const json_t *json)
{
    return resolve_table(table, json, true);
}

/* A new reference; NULL: unset, or of a kind that is not written. */
static json_t *written_value(const struct field *f, const void *slot)
{
    char text[64];
    switch (f->kind) {
    case FIELD_STRING:
        return *(char *const *)slot ? json_text(*(char *const *)slot) : NULL;
    case FIELD_BOOL:
        return *(const int *)slot >= 0 ? json_boolean(*(const int *)slot) : NULL;
    case FIELD_CHOICE:
        return *(const int *)slot >= 0 ? json_text(f->choices[*(const int *)slot]) : NULL;
    case FIELD_INTEGER:
        return *(const int64_t *)slot != FIELD_UNSET ? json_integer(*(const int64_t *)slot) : NULL;
    case FIELD_NUMBER:
        return isnan(*(const double *)slot) ? NULL : json_real(*(const double *)slot);
    case FIELD_QUANTITY:
        if (*(const int64_t *)slot == FIELD_UNSET)
            return NULL;
        return json_text(units_format(f->unit, *(const int64_t *)slot, text, sizeof text));
    case FIELD_OBJECT:
        return table_write(f->sub, slot);
    default:
        return NULL;
    }
}

json_t *table_write(const struct table *table, const void *object)
{
    json_t *document = json_object();
    for (const struct field *f = table->fields; document && f->name; f++) {
        json_t *value = written_value(f, (const char *)object + f->offset);
        if (value && json_object_set_new(document, f->name, value) != 0) {
            json_decref(document);
            return NULL;
        }
    }
    return document;
}
