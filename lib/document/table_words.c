/* What a table says of itself: its fields in words, as JSON Schema, and as lists of a man page. */
#include "lib/document/table.h"

#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include <inttypes.h>
#include <string.h>

#define NO_LIMIT (INT64_MAX / 10000) /* ranges with a larger end only prevent overflows */

/* ", from 1us to 1s" */
static void add_quantity_range(const struct field *field, struct text *out)
{
    char low[40], high[40];
    units_limit(field->unit, field->min, low, sizeof low);
    units_limit(field->unit, field->max, high, sizeof high);
    if (field->max > NO_LIMIT && field->min > 0)
        text_add(out, ", at least %s", low);
    if (field->max <= NO_LIMIT && field_has_range(field))
        text_add(out, ", from %s to %s", low, high);
}

const char *field_words(const struct field *field, struct text *buffer)
{
    struct field item;
    struct text inner = {0};
    switch (field->kind) {
    case FIELD_STRING:
        if (!field->form)
            return "string";
        text_add(buffer, "string: %s", field->form->expected);
        return text_string(buffer);
    case FIELD_BOOL:
        return "true or false";
    case FIELD_INTEGER:
        if (!field_has_range(field))
            return "whole number";
        if (field->max == field->min)
            text_add(buffer, "%" PRId64, field->min);
        else if (field->max == INT64_MAX)
            text_add(buffer, "whole number of at least %" PRId64, field->min);
        else
            text_add(buffer, "whole number from %" PRId64 " to %" PRId64, field->min, field->max);
        return text_string(buffer);
    case FIELD_NUMBER:
        if (field->max_number <= field->min_number)
            return "number";
        text_add(buffer, "number from %g to %g", field->min_number, field->max_number);
        return text_string(buffer);
    case FIELD_QUANTITY:
        text_add(buffer, "%s", units_describe(field->unit));
        add_quantity_range(field, buffer);
        return text_string(buffer);
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
        item = field_item(field);
        text_add(buffer, "%s of: %s", field->kind == FIELD_LIST ? "list" : "object with names of your choice",
                 field_words(&item, &inner));
        text_free(&inner);
        return text_string(buffer);
    case FIELD_JSON:
        return "any value";
    }
    return "";
}

void roff_line(struct text *out, const char *words)
{
    if (*words == '.' || *words == '\'')
        text_add(out, "\\&");
    for (; *words; words++)
        text_add(out, *words == '\\' ? "\\e" : "%c", *words);
    text_add(out, "\n");
}

void roff_sentences(struct text *out, const char *words)
{
    const char *end;
    while ((end = strstr(words, ". "))) {
        struct text sentence = {0};
        text_add(&sentence, "%.*s", (int)(end + 1 - words), words);
        roff_line(out, text_string(&sentence));
        text_free(&sentence);
        words = end + 2;
    }
    roff_line(out, words);
}

/* ---- JSON Schema */

static json_t *schema_of(const struct field *field);

static json_t *schema_choices(const char *const *choices)
{
    json_t *names = json_array();
    for (; *choices; choices++)
        json_array_append_new(names, json_text(*choices));
    return json_make("{s:o}", "enum", names);
}

/* What no pattern has is said in words, by the description. */
static json_t *schema_text(const struct form *form, bool single)
{
    struct text pattern = {0};
    if (!form || !form_pattern(form, single, &pattern))
        form_pattern(&form_line, single, &pattern);
    json_t *schema = json_make("{s:s,s:s}", "type", "string", "pattern", text_string(&pattern));
    text_free(&pattern);
    return schema;
}

/* The units of its kind. No pattern has its range, which the description states. */
static json_t *schema_quantity(const struct field *field)
{
    struct text pattern = {0};
    text_add(&pattern, "^(0+(\\.0+)? ?|[0-9]+(\\.[0-9]+)? ?(");
    units_names(field->unit, "|", &pattern);
    text_add(&pattern, "))$");
    json_t *schema = json_make("{s:s,s:s}", "type", "string", "pattern", text_string(&pattern));
    text_free(&pattern);
    return schema;
}

static json_t *comment_key(void)
{
    return json_make("{s:s}", "pattern", "^" JSON_COMMENT);
}

static json_t *schema_items(const struct field *field)
{
    struct field item = field_item(field);
    item.help = NULL;
    bool list = field->kind == FIELD_LIST, counted = field_has_range(field) && !field_has_item_range(field);
    json_t *schema = json_make("{s:s,s:o}", "type", list ? "array" : "object",
                               list ? "items" : "additionalProperties", schema_of(&item));
    if (counted)
        json_object_set_new(schema, list ? "minItems" : "minProperties", json_integer(field->min));
    json_object_set_new(schema, list ? "maxItems" : "maxProperties",
                        json_integer(counted ? field->max : FIELD_ITEMS_MOST));
    if (!list)
        json_object_set_new(
            schema, "propertyNames",
            json_make("{s:[o,o]}", "anyOf", schema_text(field->names, field->single), comment_key()));
    if (!list)
        json_object_set_new(schema, "patternProperties", json_make("{s:{}}", "^" JSON_COMMENT));
    return schema;
}

static json_t *schema_object(const struct table *table)
{
    json_t *properties = json_object(), *required = json_array();
    for (const struct field *f = table->fields; f->name; f++) {
        json_object_set_new(properties, f->name, schema_of(f));
        if (f->required)
            json_array_append_new(required, json_text(f->name));
    }
    json_t *schema = json_make("{s:s,s:b,s:o,s:{s:{}}}", "type", "object", "additionalProperties", 0,
                               "properties", properties, "patternProperties", "^" JSON_COMMENT);
    if (json_array_size(required))
        json_object_set(schema, "required", required);
    json_decref(required);
    return schema;
}

static json_t *schema_integer(const struct field *field)
{
    json_t *schema = json_make("{s:s}", "type", "integer");
    json_object_set_new(schema, "minimum", json_integer(field_has_range(field) ? field->min : INT64_MIN));
    json_object_set_new(schema, "maximum", json_integer(field_has_range(field) ? field->max : INT64_MAX));
    return schema;
}

static json_t *schema_number(const struct field *field)
{
    json_t *schema = json_make("{s:s}", "type", "number");
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
        return schema_text(field->form, field->single);
    case FIELD_BOOL:
        return json_make("{s:s}", "type", "boolean");
    case FIELD_INTEGER:
        return schema_integer(field);
    case FIELD_NUMBER:
        return schema_number(field);
    case FIELD_QUANTITY:
        return schema_quantity(field);
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
    struct text words = {0}, unit = {0};
    if (field->kind == FIELD_QUANTITY)
        field_words(field, &unit);
    else if (field->form && (field->kind == FIELD_STRING || field->item == FIELD_STRING))
        text_add(&unit, "%s", field->form->expected);
    if (field->help)
        text_add(&words, "%s", field->help);
    if (unit.length)
        text_add(&words, "%s%s", words.length ? " " : "", text_string(&unit));
    text_free(&unit);
    if (words.length)
        json_object_set_new(schema, "description", json_text(text_string(&words)));
    text_free(&words);
}

static json_t *schema_of(const struct field *field)
{
    json_t *schema = schema_of_kind(field);
    add_description(schema, field);
    json_t *fallback = field_fallback(field);
    if (fallback)
        json_object_set_new(schema, "default", fallback);
    return schema;
}

json_t *table_schema(const struct table *table)
{
    json_t *schema = schema_object(table);
    json_object_set_new(schema, "$schema", json_text("https://json-schema.org/draft/2020-12/schema"));
    json_object_set_new(schema, "title", json_text(table->name));
    if (table->help)
        json_object_set_new(schema, "description", json_text(table->help));
    return schema;
}

/* ---- man page */

static void manual_field(const struct field *field, struct text *out)
{
    struct text words = {0}, line = {0};
    text_add(&line, "%s", field_words(field, &words));
    if (field->required)
        text_add(&line, "; required");
    if (field->fallback)
        text_add(&line, "; default %s", field->fallback);
    text_add(out, ".It Cm %s\n", field->name);
    if (field->help)
        roff_sentences(out, field->help);
    text_add(out, ".Pq ");
    roff_line(out, text_string(&line));
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
        roff_sentences(out, table->help);
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
