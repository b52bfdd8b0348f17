#include "reports/results/choice.h"

#include "lib/document/json_text.h"
#include "lib/units.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void describe_object(const json_t *value, struct text *out)
{
    const char *key;
    json_t *member;
    bool first = true;
    text_add(out, "(");
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        text_add(out, "%s%.40s", first ? "" : ", ", key);
        if (!json_is_object(member)) {
            text_add(out, " ");
            choice_describe(member, out);
        }
        first = false;
    }
    text_add(out, ")");
}

static bool holds_containers(const json_t *list)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        if (json_is_object(item) || json_is_array(item))
            return true;
    }
    return false;
}

void choice_describe(const json_t *value, struct text *out)
{
    bool list = json_is_array(value) && !holds_containers(value);
    if ((list && !json_array_size(value)) || (json_is_object(value) && !json_object_size(value))) {
        text_add(out, "none");
    } else if (json_is_object(value)) {
        describe_object(value, out);
    } else if (list) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            text_add(out, "%s", i ? " and " : "");
            choice_describe(json_array_get(value, i), out);
        }
    } else {
        char *shown = json_bare(value);
        text_add(out, "%.40s", shown ? shown : "?");
        free(shown);
    }
}

void choice_add(const char *path, const json_t *value, struct text *out)
{
    const char *dot = strrchr(path, '.');
    text_add(out, "%s%s ", out->length ? ", " : "", dot ? dot + 1 : path);
    choice_describe(value, out);
}

bool choice_number(const json_t *value, double *number, bool *is_bytes)
{
    int64_t parsed;
    *is_bytes = false;
    if (json_is_number(value)) {
        *number = json_number_value(value);
        return true;
    }
    if (!json_is_string(value))
        return false;
    if (units_parse(UNIT_BYTES, json_string_value(value), &parsed, NULL) == 0) {
        *is_bytes = true;
        *number = (double)parsed;
        return true;
    }
    static const struct {
        enum unit unit;
        double scale;
    } others[] = {
        {UNIT_TIME_NS, 1e-3}, {UNIT_RATE_BPS, 1e-9}, {UNIT_LENGTH_MM, 1e-3}, {UNIT_PERCENT_MILLI, 1e-3}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (units_parse(others[i].unit, json_string_value(value), &parsed, NULL) == 0) {
            *number = (double)parsed * others[i].scale;
            return true;
        }
    }
    return false;
}
