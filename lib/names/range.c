#include "lib/names/range.h"

#include "lib/document/json_text.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS      "0123456789"
#define DIGITS_MOST 6
#define WORD_MOST   4000 /* bytes: it is read again for each name */

/* "4" or "00-15" between brackets. */
struct piece {
    uint32_t first, last;
    int width; /* of its numbers with leading zeros; 0: they have none */
};

/* ---- reading */

static int no_range(const char *word, struct error *e)
{
    return error_set(
        e, "\"%.60s\" is not a range of names: expected one such as h[0-31], h[00-31] or h[0-1,16]", word);
}

/* What follows a number of at most six digits; NULL: there is none. */
static const char *take_number(const char *at, uint32_t *value)
{
    size_t digits = strspn(at, DIGITS);
    *value = 0;
    for (size_t i = 0; i < digits && i < DIGITS_MOST; i++)
        *value = *value * 10 + (uint32_t)(at[i] - '0');
    return digits > 0 && digits <= DIGITS_MOST ? at + digits : NULL;
}

/* What follows the piece; NULL: it is none. */
static const char *take_piece(const char *at, struct piece *piece)
{
    const char *first = at, *second = at;
    at = take_number(first, &piece->first);
    size_t length = at ? (size_t)(at - first) : 0, other = length;
    piece->last = piece->first;
    if (at && *at == '-') {
        second = at + 1;
        at = take_number(second, &piece->last);
        other = at ? (size_t)(at - second) : 0;
    }
    bool padded = (*first == '0' && length > 1) || (*second == '0' && other > 1);
    piece->width = padded ? (int)length : 0;
    return at && (!padded || length == other) ? at : NULL;
}

/* The numbers of a bracket, from behind its "[". Returns what follows "]"; NULL with a sentence. */
static const char *take_bracket(const char *word, const char *at, size_t *count, struct error *e)
{
    struct piece piece;
    *count = 0;
    for (;; at++) {
        at = take_piece(at, &piece);
        if (!at || (*at != ',' && *at != ']')) {
            no_range(word, e);
            return NULL;
        }
        if (piece.last < piece.first) {
            error_set(e, "\"%.60s\" runs backwards: expected %u-%u in place of %u-%u", word, piece.last,
                      piece.first, piece.first, piece.last);
            return NULL;
        }
        *count += piece.last - piece.first + 1;
        if (*at == ']')
            return at + 1;
    }
}

int range_parse(const char *word, struct range *range, struct error *e)
{
    const char *at = strchr(word, '[');
    *range = (struct range){.word = word, .count = 1};
    if (at && strlen(word) > WORD_MOST)
        return error_set(e, "\"%.60s...\" has more than %d characters: expected a shorter range of names",
                         word, WORD_MOST);
    for (; at; at = strchr(at, '[')) {
        if (range->bracket_count == RANGE_BRACKETS)
            return error_set(e, "\"%.60s\" has more than %d ranges", word, RANGE_BRACKETS);
        struct range_bracket *bracket = &range->brackets[range->bracket_count++];
        bracket->open = at;
        at = take_bracket(word, at + 1, &bracket->count, e);
        if (!at)
            return -1;
        if (bracket->count > RANGE_LIMIT / range->count)
            return error_set(e, "\"%.60s\" stands for more than %d names", word, RANGE_LIMIT);
        range->count *= bracket->count;
    }
    return 0;
}

/* ---- names */

/* Number i of a bracket, and the width that its piece has. */
static uint32_t number_of(const struct range_bracket *bracket, size_t i, int *width)
{
    struct piece piece = {0};
    for (const char *at = bracket->open + 1; (at = take_piece(at, &piece)); at++) {
        size_t count = piece.last - piece.first + 1;
        if (i < count)
            break;
        i -= count;
    }
    *width = piece.width;
    return piece.first + (uint32_t)i;
}

/* Number of bracket k in name i. */
static uint32_t number_at(const struct range *range, size_t i, size_t k, int *width)
{
    for (size_t behind = range->bracket_count - 1; behind > k; behind--)
        i /= range->brackets[behind].count;
    return number_of(&range->brackets[k], i % range->brackets[k].count, width);
}

static void add_number(const struct range *range, size_t i, size_t k, struct text *out)
{
    int width;
    uint32_t number = number_at(range, i, k, &width);
    text_add(out, "%0*u", width, number);
}

void range_name(const struct range *range, size_t i, struct text *out)
{
    const char *at = range->word;
    for (size_t k = 0; k < range->bracket_count; k++) {
        const char *open = range->brackets[k].open;
        text_add_bytes(out, at, (size_t)(open - at));
        add_number(range, i, k, out);
        at = strchr(open, ']') + 1;
    }
    text_add(out, "%s", at);
}

/* ---- values */

/* "{}", "{+1}", "{2}" or "{2+1}" at `at`. Returns what follows; NULL with a sentence. */
static const char *fill_number(const struct range *range, size_t i, const char *at, struct text *out,
                               struct error *e)
{
    uint32_t bracket = 1, added = 0;
    const char *end = at + 1;
    bool chosen = *end >= '0' && *end <= '9';
    end = chosen ? take_number(end, &bracket) : end;
    char sign = end && (*end == '+' || *end == '-') ? *end : 0;
    end = sign ? take_number(end + 1, &added) : end;
    if (!end || *end != '}') {
        error_set(e, "\"%.60s\": expected {}, {+1} or {2+1} for a number of \"%.60s\"", at, range->word);
        return NULL;
    }
    if (bracket < 1 || bracket > range->bracket_count || (!chosen && range->bracket_count > 1)) {
        error_set(e, "\"%.*s\": \"%.60s\" has %zu range%s: expected {1%s for the first one",
                  (int)(end - at + 1 < 60 ? end - at + 1 : 60), at, range->word, range->bracket_count,
                  range->bracket_count == 1 ? "" : "s", sign ? "+1}" : "}");
        return NULL;
    }
    int width;
    int64_t number = number_at(range, i, bracket - 1, &width);
    number += sign == '-' ? -(int64_t)added : (int64_t)added;
    if (number < 0) {
        error_set(e, "\"%.60s\": %lld is below 0 for a name of \"%.60s\"", at, (long long)number,
                  range->word);
        return NULL;
    }
    if (sign)
        text_add(out, "%lld", (long long)number);
    else
        add_number(range, i, bracket - 1, out);
    return end + 1;
}

static json_t *fill_string(const struct range *range, size_t i, json_t *value, struct error *e)
{
    const char *at = json_string_value(value), *brace;
    struct text out = {0};
    /* a string with a zero byte is refused where the document is parsed */
    if (!strchr(at, '{') || strlen(at) != json_string_length(value))
        return json_incref(value);
    while (at && (brace = strchr(at, '{'))) {
        text_add_bytes(&out, at, (size_t)(brace - at));
        at = fill_number(range, i, brace, &out, e);
    }
    if (at)
        text_add(&out, "%s", at);
    json_t *filled = at ? json_text(text_string(&out)) : NULL;
    if (at && (!filled || out.failed))
        error_set(e, "out of memory");
    text_free(&out);
    return filled;
}

static json_t *fill_object(const struct range *range, size_t i, json_t *value, struct error *e)
{
    json_t *filled = json_object(), *child;
    const char *key;
    json_object_foreach(value, key, child)
    {
        json_t *own = range_fill(range, i, child, e);
        if (!own) {
            error_prefix(e, "%.60s", key);
            json_decref(filled);
            return NULL;
        }
        json_object_set_new(filled, key, own);
    }
    return filled;
}

static json_t *fill_list(const struct range *range, size_t i, json_t *value, struct error *e)
{
    json_t *filled = json_array(), *child;
    size_t k;
    json_array_foreach(value, k, child)
    {
        json_t *own = range_fill(range, i, child, e);
        if (!own) {
            error_prefix(e, "[%zu]", k);
            json_decref(filled);
            return NULL;
        }
        json_array_append_new(filled, own);
    }
    return filled;
}

json_t *range_fill(const struct range *range, size_t i, const json_t *value, struct error *e)
{
    json_t *from = (json_t *)(uintptr_t)value;
    return json_is_object(value)   ? fill_object(range, i, from, e)
           : json_is_array(value)  ? fill_list(range, i, from, e)
           : json_is_string(value) ? fill_string(range, i, from, e)
                                   : json_incref(from);
}
