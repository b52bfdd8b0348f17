#include "lib/document/table_fields.h"

#include "lib/document/json_text.h"

static json_t *schema_of(const struct field *field);

static json_t *schema_choices(const char *const *choices)
{
    json_t *names = json_array();
    for (; *choices; choices++)
        json_array_append_new(names, json_text(*choices));
    return json_make("{s:o}", "enum", names);
}

static json_t *schema_items(const struct field *field)
{
    struct field item = field_item(field);
    item.help = NULL;
    bool list = field->kind == FIELD_LIST, counted = field->max > field->min && !field_has_item_range(field);
    json_t *schema = json_make("{s:s,s:o}", "type", list ? "array" : "object",
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
            json_array_append_new(required, json_text(f->name));
    }
    json_t *schema =
        json_make("{s:s,s:b,s:o}", "type", "object", "additionalProperties", 0, "properties", properties);
    if (json_array_size(required))
        json_object_set(schema, "required", required);
    json_decref(required);
    return schema;
}

static json_t *schema_integer(const struct field *field)
{
    json_t *schema = json_make("{s:s}", "type", "integer");
    if (field->max > field->min) {
        json_object_set_new(schema, "minimum", json_integer(field->min));
        json_object_set_new(schema, "maximum", json_integer(field->max));
    }
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
        return json_make("{s:s}", "type", "string");
    case FIELD_BOOL:
        return json_make("{s:s}", "type", "boolean");
    case FIELD_INTEGER:
        return schema_integer(field);
    case FIELD_NUMBER:
        return schema_number(field);
    case FIELD_QUANTITY:
        return json_make("{s:s,s:s}", "type", "string", "pattern", "^(0|[0-9]+(\\.[0-9]+)? ?[A-Za-z%/]+)$");
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
