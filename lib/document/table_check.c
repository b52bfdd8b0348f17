/* Checks the ranges of a table in a struct that was not filled from a document. */
#include "lib/document/table.h"
#include <inttypes.h>
#include <math.h>

static int check_integer(const struct field *field, int64_t value, const char *path, struct error *e)
{
    char low[40], high[40], is[40];
    if (field->max <= field->min || (value >= field->min && value <= field->max) ||
        (value == FIELD_UNSET && !field->fallback))
        return 0;
    if (field->kind == FIELD_QUANTITY && value != FIELD_UNSET)
        return error_set(e, "%s.%s: %s is out of range: expected %s to %s", path, field->name,
                         units_format(field->unit, value, is, sizeof is),
                         units_format(field->unit, field->min, low, sizeof low),
                         units_format(field->unit, field->max, high, sizeof high));
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
    if (!value || !field->form || field->form->fits(value))
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
