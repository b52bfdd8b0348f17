#include "harness/plan/sweep_values.h"
#include "lib/document/json_text.h"
#include "lib/document/table.h"
#include "lib/units.h"
#include <stddef.h>
#include <stdint.h>

struct range {
    json_t *from, *to;
    int64_t times;
};

#define AT(member) .offset = offsetof(struct range, member)
static const struct field range_fields[] = {
    {"from", FIELD_JSON, AT(from), .required = true, .help = "First value: a size, or a whole number."},
    {"to", FIELD_JSON, AT(to), .required = true, .help = "Largest value."},
    {"times", FIELD_INTEGER, AT(times), .min = 2, .max = 1000000, .fallback = "2",
     .help = "Each value is this many times the one before."},
    {0},
};
#undef AT
static const struct table range_table = {"sweep", "Values that grow by a factor.", sizeof(struct range),
                                         range_fields, NULL};

/* A size ("2B") or a whole number, above 0. */
static int take(const json_t *value, const char *key, int64_t *number, struct error *e)
{
    if (json_is_string(value)) {
        if (units_parse(UNIT_BYTES, json_string_value(value), number, e) != 0)
            return error_prefix(e, "%s", key);
    } else if (json_is_integer(value)) {
        *number = json_integer_value(value);
    } else {
        return error_set(e, "%s: expected a size such as \"2B\", or a whole number", key);
    }
    return *number > 0 ? 0 : error_set(e, "%s: expected a value above 0", key);
}

static json_t *value_of(int64_t number, bool size)
{
    char text[40];
    return size ? json_text(units_format(UNIT_BYTES, number, text, sizeof text)) : json_integer(number);
}

static json_t *values_of(const struct range *range, struct error *e)
{
    int64_t from = 0, to = 0;
    bool size = json_is_string(range->from);
    if (take(range->from, "from", &from, e) != 0 || take(range->to, "to", &to, e) != 0)
        return NULL;
    if (size != json_is_string(range->to) || from > to) {
        error_set(e, "to: expected a %s that is not below from", size ? "size" : "whole number");
        return NULL;
    }
    json_t *values = json_array();
    for (int64_t at = from;; at *= range->times) {
        json_array_append_new(values, value_of(at, size));
        if (at > to / range->times)
            return values;
    }
}

json_t *sweep_values(const json_t *value, const char *path, struct error *e)
{
    struct range range;
    json_t *values = NULL;
    if (json_is_array(value) && json_array_size(value))
        return json_incref((json_t *)(uintptr_t)value);
    if (!json_is_object(value)) {
        error_set(e, "sweep.%s: expected a list of values, or {\"from\": VALUE, \"to\": VALUE, \"times\": N}",
                  path);
        return NULL;
    }
    if (table_parse(&range_table, value, &range, e) == 0) {
        values = values_of(&range, e);
        table_free(&range_table, &range);
    }
    if (!values)
        error_prefix(e, "sweep.%s", path);
    return values;
}
