#include "lib/document/table_fields.h"

#include <stdlib.h>
#include <string.h>

/* ---- fields */

void *field_slot(void *object, const struct field *field)
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

bool field_has_item_range(const struct field *field)
{
    return field->item == FIELD_INTEGER || field->item == FIELD_QUANTITY;
}

size_t field_size(const struct field *field)
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

const struct field *table_find(const struct table *table, const char *key)
{
    for (const struct field *f = table->fields; f->name; f++)
        if (strcmp(f->name, key) == 0)
            return f;
    return NULL;
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
