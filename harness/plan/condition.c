#include "harness/plan/condition.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/text.h"
#include "lib/units.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LESS = 1, EQUAL = 2, MORE = 4 };
static const struct sign {
    const char *text;
    int holds; /* for which orders of left and right */
} signs[] = {{"<=", LESS | EQUAL}, {">=", MORE | EQUAL}, {"==", EQUAL},
             {"!=", LESS | MORE},  {"<", LESS},          {">", MORE}};
#define SIGNS (sizeof signs / sizeof *signs)

static const struct sign *sign_at(const char *text)
{
    for (size_t i = 0; i < SIGNS; i++)
        if (strncmp(text, signs[i].text, strlen(signs[i].text)) == 0)
            return &signs[i];
    return NULL;
}

bool condition_is_comparison(const json_t *wanted)
{
    return json_is_string(wanted) && sign_at(json_string_value(wanted));
}

/* ---- two values */

/* A quantity, or 0, which needs no unit. */
static const char *quantity_text(const json_t *value)
{
    bool zero = json_is_number(value) && json_number_value(value) == 0;
    return zero ? "0" : json_string_value(value);
}

static bool compare_quantities(const json_t *left, const json_t *right, int *order)
{
    const char *a = quantity_text(left), *b = quantity_text(right);
    int64_t x, y;
    for (int unit = 0; a && b && unit < UNIT_COUNT; unit++) {
        if (units_parse((enum unit)unit, a, &x, NULL) != 0 || units_parse((enum unit)unit, b, &y, NULL) != 0)
            continue;
        *order = x < y ? LESS : x > y ? MORE : EQUAL;
        return true;
    }
    return false;
}

static int compare_values(const json_t *left, const struct sign *sign, const json_t *right, struct error *e)
{
    int order = json_same(left, right) ? EQUAL : 0;
    if (json_is_number(left) && json_is_number(right)) {
        double x = json_number_value(left), y = json_number_value(right);
        order = x < y ? LESS : x > y ? MORE : EQUAL;
    } else if (!compare_quantities(left, right, &order) && sign->holds != EQUAL &&
               sign->holds != (LESS | MORE)) {
        char *a = json_shown(left), *b = json_shown(right);
        error_set(e, "%.60s and %.60s have no order: expected two numbers, or two quantities of one unit",
                  a ? a : "?", b ? b : "?");
        free(a);
        free(b);
        return -1;
    }
    return order ? (sign->holds & order) != 0 : sign->holds == (LESS | MORE);
}

/* ---- what stands behind a sign */

/* A path has a dot, and is not a number; a word with a dot is written in quotes. */
static bool is_path(const char *word)
{
    return strchr(word, '.') && !isdigit((unsigned char)*word) && *word != '-' && *word != '.';
}

/* The values that the text stands for: of a path, or the one that it is. */
static json_t *values_of_operand(const char *text, condition_values values_at, const void *context,
                                 struct error *e)
{
    json_t *value = json_file_parse(text, strlen(text), "value", DOCUMENT_LINE, NULL);
    if (value)
        return json_make("[o]", value);
    if (!is_path(text))
        return json_make("[s]", text);
    json_t *values = values_at(context, text);
    if (json_array_size(values))
        return values;
    json_decref(values);
    error_set(e, "nothing matches %.100s", text);
    return NULL;
}

/* Every value on the left with every one on the right. */
static int compare_all(const json_t *left, const struct sign *sign, const json_t *right, struct error *e)
{
    int holds = 1;
    for (size_t i = 0; i < json_array_size(left); i++)
        for (size_t k = 0; k < json_array_size(right); k++) {
            int one = compare_values(json_array_get(left, i), sign, json_array_get(right, k), e);
            if (one < 0)
                return -1;
            holds &= one;
        }
    return holds;
}

static char *trimmed(const char *from, size_t length)
{
    while (length && isspace((unsigned char)*from))
        from++, length--;
    while (length && isspace((unsigned char)from[length - 1]))
        length--;
    return strndup(from, length);
}

/* One comparison of those that " and " joins. */
static int compare_one(const json_t *left, const char *text, size_t length, condition_values values_at,
                       const void *context, struct error *e)
{
    char *word = trimmed(text, length);
    const struct sign *sign = word ? sign_at(word) : NULL;
    char *behind = sign ? trimmed(word + strlen(sign->text), strlen(word) - strlen(sign->text)) : NULL;
    json_t *right = NULL;
    int result = -1;
    if (!word || (sign && !behind))
        error_set(e, "out of memory");
    else if (!sign || !*behind)
        error_set(e, "\"%.60s\" is not a comparison: expected one such as \">= 64KiB\" or \"!= gpu\"", word);
    else if ((right = values_of_operand(behind, values_at, context, e)))
        result = compare_all(left, sign, right, e);
    json_decref(right);
    free(behind);
    free(word);
    return result;
}

static int compare_text(const json_t *left, const char *text, condition_values values_at, const void *context,
                        struct error *e)
{
    int holds = 1;
    for (const char *end; text; text = end ? end + strlen(" and ") : NULL) {
        end = strstr(text, " and ");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        int one = compare_one(left, text, length, values_at, context, e);
        if (one < 0)
            return -1;
        holds &= one;
    }
    return holds;
}

/* ---- a condition */

static int value_fits(const json_t *values, const json_t *wanted, condition_values values_at,
                      const void *context, struct error *e)
{
    int holds = json_array_size(values) > 0;
    if (condition_is_comparison(wanted)) {
        int one = compare_text(values, json_string_value(wanted), values_at, context, e);
        return one < 0 ? -1 : holds & one;
    }
    for (size_t i = 0; i < json_array_size(values); i++)
        holds &= json_same(json_array_get(values, i), wanted);
    return holds;
}

int condition_holds(const json_t *condition, condition_values values_at, const void *context, struct error *e)
{
    const char *path;
    json_t *wanted;
    int holds = 1;
    json_object_foreach((json_t *)(uintptr_t)condition, path, wanted)
    {
        json_t *values = values_at(context, path);
        int one = value_fits(values, wanted, values_at, context, e);
        json_decref(values);
        if (one < 0)
            return error_prefix(e, "%.100s: \"%.100s\"", path, json_string_value(wanted));
        holds &= one;
    }
    return holds;
}
