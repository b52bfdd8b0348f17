#include "lib/document/table_write.h"

#include "lib/document/json_text.h"
#include <math.h>

/* A new reference; NULL: unset, or of a kind that is not written. */
static json_t *value_of(const struct field *f, const void *slot)
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
        json_t *value = value_of(f, (const char *)object + f->offset);
        if (value && json_object_set_new(document, f->name, value) != 0) {
            json_decref(document);
            return NULL;
        }
    }
    return document;
}
