#include "lib/document/table_fields.h"

static json_t *resolve_value(const struct field *field, const json_t *json);

static json_t *resolve_items(const struct field *field, const json_t *json)
{
    struct field item = field_item(field);
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
    if ((field->kind == FIELD_LIST || field->kind == FIELD_MAP) && !field->inherits)
        return resolve_items(field, json);
    return json_deep_copy(json);
}

json_t *table_resolve(const struct table *table, const json_t *json)
{
    json_t *resolved = json_object();
    for (const struct field *f = table->fields; f->name; f++) {
        const json_t *said = json_object_get(json, f->name);
        json_t *fallback = said ? NULL : field_fallback(f);
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
