#include "lib/names/range.h"

#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <fnmatch.h>
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

/* What follows a number of at most six digits; NULL: there is none. */
static const char *read_number(const char *at, uint32_t *value)
{
    size_t digits = strspn(at, DIGITS);
    *value = 0;
    for (size_t i = 0; i < digits && i < DIGITS_MOST; i++)
        *value = *value * 10 + (uint32_t)(at[i] - '0');
    return digits > 0 && digits <= DIGITS_MOST ? at + digits : NULL;
}

/* What follows the piece; NULL: there is none. */
static const char *read_piece(const char *at, struct piece *piece)
{
    const char *first = at, *second = at;
    at = read_number(first, &piece->first);
    size_t length = at ? (size_t)(at - first) : 0, other = length;
    piece->last = piece->first;
    if (at && *at == '-') {
        second = at + 1;
        at = read_number(second, &piece->last);
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
        at = read_piece(at, &piece);
        if (!at || (*at != ',' && *at != ']')) {
            error_set(
                e, "\"%.60s\" is not a range of names: expected one such as h[0-31], h[00-31] or h[0-1,16]",
                word);
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

/* ---- in globs */

/* What follows a bracket of numbers, of which one has several digits; NULL: it is a class of characters, as
 * [01] is, or the same as one, as [0-7] is. */
static const char *behind_range(const char *open)
{
    struct piece piece;
    bool several = false, list = false;
    for (const char *at = open + 1, *end; (end = read_piece(at, &piece)); at = end + 1) {
        list = list || *end == ',' || memchr(at, '-', (size_t)(end - at));
        several = several || piece.last > 9 || piece.width;
        if (piece.last < piece.first || (*end != ',' && *end != ']'))
            break;
        if (*end == ']')
            return several && list ? end + 1 : NULL;
    }
    return NULL;
}

static bool is_in_range(const char *open, const char *digits, size_t length)
{
    uint32_t number = 0;
    struct piece piece;
    for (size_t i = 0; i < length; i++)
        number = number * 10 + (uint32_t)(digits[i] - '0');
    for (const char *at = open + 1; (at = read_piece(at, &piece)); at++) {
        bool written = piece.width ? length == (size_t)piece.width : length == 1 || *digits != '0';
        if (written && number >= piece.first && number <= piece.last)
            return true;
        if (*at == ']')
            break;
    }
    return false;
}

static bool matches(const char *glob, const char *name, int ranges)
{
    const char *open = strchr(glob, '['), *behind = NULL;
    while (open && ranges < RANGE_BRACKETS && !(behind = behind_range(open)))
        open = strchr(open + 1, '[');
    if (!open || !behind)
        return fnmatch(glob, name, 0) == 0;
    char *before = xstrndup(glob, (size_t)(open - glob));
    bool found = false;
    for (size_t i = strcspn(name, DIGITS); !found && name[i]; i += 1 + strcspn(name + i + 1, DIGITS)) {
        char *head = xstrndup(name, i);
        size_t most = fnmatch(before, head, 0) == 0 ? strspn(name + i, DIGITS) : 0;
        for (size_t length = 1; !found && length <= most && length <= DIGITS_MOST; length++)
            found = is_in_range(open, name + i, length) && matches(behind, name + i + length, ranges + 1);
        free(head);
    }
    free(before);
    return found;
}

bool glob_matches(const char *glob, const char *name)
{
    return matches(glob, name, 0);
}

bool name_matches(const char *glob, const char *name)
{
    const char *dot = strrchr(name, '.');
    char above[160];
    if (glob_matches(glob, name))
        return true;
    if (!dot || strchr(dot, '/') || (size_t)(dot - name) >= sizeof above)
        return false;
    snprintf(above, sizeof above, "%.*s", (int)(dot - name), name);
    return glob_matches(glob, above);
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
    for (const char *at = bracket->open + 1; (at = read_piece(at, &piece)); at++) {
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
    end = chosen ? read_number(end, &bracket) : end;
    char sign = end && (*end == '+' || *end == '-') ? *end : 0;
    end = sign ? read_number(end + 1, &added) : end;
    if (!end || *end != '}') {
        error_set(e, "\"%.60s\": expected {}, {+1} or {2+1} for a number of \"%.60s\"", at, range->word);
        return NULL;
    }
    size_t own = range->bracket_count - range->outer, near = own ? own : range->outer;
    if (!chosen && own)
        bracket = (uint32_t)range->outer + 1;
    if (bracket < 1 || bracket > range->bracket_count || (!chosen && near > 1)) {
        error_set(e, "\"%.*s\": \"%.60s\" has %zu %s: expected {1%s for the first one",
                  (int)(end - at + 1 < 60 ? end - at + 1 : 60), at, range->word, range->bracket_count,
                  THINGS(range->bracket_count, "range"), sign ? "+1}" : "}");
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

/* ---- documents */

#define MEMORY_LIMIT_BYTES ((size_t)512 << 20)

static json_t *name_at(const struct range *range, size_t i)
{
    struct text name = {0};
    range_name(range, i, &name);
    json_t *text = name.failed ? NULL : json_text(text_string(&name));
    text_free(&name);
    return text;
}

/* What the values of all names may take. */
static int check_room(const json_t *value, size_t count, size_t *memory, const char *word, struct error *e)
{
    *memory += json_file_memory_of(value) * count;
    return *memory <= MEMORY_LIMIT_BYTES
               ? 0
               : error_set(e, "\"%.60s\": its value, copied for each name, would take more than %zu MiB",
                           word, MEMORY_LIMIT_BYTES >> 20);
}

static int check_count(size_t count, struct error *e)
{
    return count <= RANGE_LIMIT ? 0 : error_set(e, "the ranges stand for more than %d names", RANGE_LIMIT);
}

/* Put the expansion into the place of the value, or drop it. */
static int put_expanded(json_t *object, const char *key, json_t *expanded, int result, struct error *e)
{
    if (result != 0) {
        json_decref(expanded);
        return error_prefix(e, "%s", key);
    }
    return json_object_set_new(object, key, expanded) == 0 ? 0 : error_set(e, "%s: out of memory", key);
}

/* ---- lists of names */

static int add_names(json_t *list, const json_t *word, struct error *e)
{
    struct range range;
    if (!json_is_string(word))
        return json_array_append(list, (json_t *)(uintptr_t)word);
    if (range_parse(json_string_value(word), &range, e) != 0 ||
        check_count(json_array_size(list) + range.count, e) != 0)
        return -1;
    if (range.bracket_count == 0)
        return json_array_append(list, (json_t *)(uintptr_t)word);
    for (size_t i = 0; i < range.count; i++)
        json_array_append_new(list, name_at(&range, i));
    return 0;
}

int expand_list(json_t *object, const char *key, struct error *e)
{
    json_t *list = json_object_get(object, key), *expanded, *word;
    size_t i;
    int result = 0;
    if (!json_is_array(list))
        return 0;
    expanded = json_array();
    json_array_foreach(list, i, word)
    {
        if (result == 0)
            result = add_names(expanded, word, e);
    }
    return put_expanded(object, key, expanded, result, e);
}

/* ---- maps */

static bool is_range(const char *word)
{
    return strchr(word, '[');
}

static bool has_range(const json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        if (is_range(key))
            return true;
    }
    return false;
}

/* The value for name i of a range, whose maps below it are left for fill_below. */
static json_t *fill_above(const struct range *range, size_t i, const json_t *value, const char *const *below,
                          struct error *e)
{
    json_t *rest = json_is_object(value) && below ? json_copy((json_t *)(uintptr_t)value)
                                                  : json_incref((json_t *)(uintptr_t)value);
    for (size_t k = 0; below && below[k]; k++)
        json_object_del(rest, below[k]);
    json_t *filled = range_fill(range, i, rest, e);
    json_decref(rest);
    return filled;
}

/* One entry of a map below name i of `outer`: the names that it stands for, with their values. */
static int add_below(json_t *named, const struct range *outer, size_t i, const char *word,
                     const json_t *value, size_t *memory, struct error *e)
{
    struct text whole = {0};
    struct range own, both;
    int result = range_parse(word, &own, e);
    text_add(&whole, "%s.%s", outer->word, word);
    if (result == 0 && (result = range_parse(text_string(&whole), &both, e)) == 0) {
        both.outer = outer->bracket_count;
        result = check_count(json_object_size(named) + own.count, e) != 0
                     ? -1
                     : check_room(value, own.count, memory, word, e);
    }
    for (size_t k = 0; result == 0 && k < own.count; k++) {
        json_t *name = name_at(&own, k), *filled = both.bracket_count
                                                       ? range_fill(&both, i * own.count + k, value, e)
                                                       : json_incref((json_t *)(uintptr_t)value);
        if (filled && own.bracket_count && json_object_get(named, json_string_value(name)))
            result =
                error_set(e, "\"%.60s\" of \"%.60s\" is in another range too", json_string_value(name), word);
        else if (filled)
            json_object_set(named, json_string_value(name), filled);
        else
            result = error_prefix(e, "%.80s", word);
        json_decref(name);
        json_decref(filled);
    }
    text_free(&whole);
    return result;
}

static json_t *in_order(const json_t *map, json_t *named);

/* A map below name i: its ranges are written out, and what a name has by itself is merged over them. */
static json_t *fill_map(const struct range *outer, size_t i, const json_t *map, size_t *memory,
                        struct error *e)
{
    json_t *named = json_object(), *own = json_object(), *value;
    const char *word;
    int result = 0;
    json_object_foreach((json_t *)(uintptr_t)map, word, value)
    {
        if (result == 0)
            result = add_below(is_range(word) ? named : own, outer, i, word, value, memory, e);
        if (is_range(word))
            json_object_set_new(own, word, json_null()); /* its place */
    }
    json_t *filled = result == 0 ? in_order(own, named) : NULL;
    json_decref(named);
    json_decref(own);
    return filled;
}

/* Put the maps below the value of name i into `filled`. */
static int fill_below(const struct range *outer, size_t i, const json_t *value, const char *const *below,
                      json_t *filled, size_t *memory, struct error *e)
{
    for (size_t k = 0; below && below[k]; k++) {
        json_t *map = json_object_get(value, below[k]), *own;
        if (!map)
            continue;
        own = json_is_object(map) ? fill_map(outer, i, map, memory, e) : json_incref(map);
        if (!own)
            return error_prefix(e, "%s", below[k]);
        json_object_set_new(filled, below[k], own);
    }
    return 0;
}

/* The names of a range with their values. */
static int add_keys(json_t *names, const char *word, const json_t *value, const char *const *below,
                    size_t *memory, struct error *e)
{
    struct range range;
    if (range_parse(word, &range, e) != 0 || check_count(json_object_size(names) + range.count, e) != 0 ||
        check_room(value, range.count, memory, word, e) != 0)
        return -1;
    for (size_t i = 0; i < range.count; i++) {
        json_t *name = name_at(&range, i), *filled = fill_above(&range, i, value, below, e);
        if (filled && fill_below(&range, i, value, below, filled, memory, e) != 0) {
            json_decref(filled);
            filled = NULL;
        }
        bool again = json_object_get(names, json_string_value(name));
        if (again)
            error_set(e,
                      "\"%.60s\" of \"%.60s\" is in another range too: expected ranges without a name in "
                      "common, or the name by itself",
                      json_string_value(name), word);
        else if (filled)
            json_object_set(names, json_string_value(name), filled);
        json_decref(name);
        json_decref(filled);
        if (again || !filled)
            return again ? -1 : error_prefix(e, "%.80s", word);
    }
    return 0;
}

static json_t *common_names(const json_t *ranged, const json_t *own)
{
    if (!json_is_object(ranged) || !json_is_object(own))
        return json_deep_copy(own);
    json_t *merged = json_deep_copy(ranged);
    json_merge_deep(merged, own);
    return merged;
}

/* In the order of the document. `named`: of the ranges. */
static json_t *in_order(const json_t *map, json_t *named)
{
    json_t *expanded = json_object(), *value, *own;
    const char *key;
    struct range range;
    json_object_foreach((json_t *)(uintptr_t)map, key, value)
    {
        struct error ignored; /* it was parsed before */
        if (!is_range(key)) {
            own = json_object_get(named, key);
            json_object_set_new(expanded, key, common_names(own, value));
        } else if (range_parse(key, &range, &ignored) == 0) {
            for (size_t i = 0; i < range.count; i++) {
                json_t *name = name_at(&range, i);
                const char *word = json_string_value(name);
                if (!json_object_get(map, word))
                    json_object_set(expanded, word, json_object_get(named, word));
                else if (!json_object_get(expanded, word))
                    json_object_set_new(expanded, word, json_null()); /* its place */
                json_decref(name);
            }
        }
    }
    return expanded;
}

/* A copy of the map in which the maps below its single names are written out; the map itself if there are
 * none. */
static json_t *singles_filled(json_t *map, const char *const *below, size_t *memory, struct error *e)
{
    json_t *copy = NULL, *value;
    const char *word;
    json_object_foreach(map, word, value)
    {
        bool has = false;
        for (size_t k = 0; below && below[k]; k++)
            has = has || json_is_object(json_object_get(value, below[k]));
        if (!has || is_range(word))
            continue;
        struct range single = {.word = word, .count = 1};
        json_t *filled = json_copy(value);
        if (fill_below(&single, 0, value, below, filled, memory, e) != 0) {
            error_prefix(e, "%.80s", word);
            json_decref(filled);
            json_decref(copy);
            return NULL;
        }
        copy = copy ? copy : json_copy(map);
        json_object_set_new(copy, word, filled);
    }
    return copy ? copy : json_incref(map);
}

int expand_nested_keys(json_t *object, const char *key, const char *const *below, struct error *e)
{
    json_t *written = json_object_get(object, key), *map, *named, *value;
    const char *word;
    size_t memory = 0;
    if (!json_is_object(written))
        return 0;
    map = singles_filled(written, below, &memory, e);
    if (!map)
        return error_prefix(e, "%s", key);
    int result = map == written ? 0 : json_object_set(object, key, map);
    if (!has_range(map)) {
        json_decref(map);
        return result;
    }
    named = json_object();
    json_object_foreach(map, word, value)
    {
        if (result == 0 && is_range(word))
            result = add_keys(named, word, value, below, &memory, e);
    }
    json_t *expanded = result == 0 ? in_order(map, named) : NULL;
    json_decref(named);
    json_decref(map);
    return put_expanded(object, key, expanded, result, e);
}

int expand_keys(json_t *object, const char *key, struct error *e)
{
    return expand_nested_keys(object, key, NULL, e);
}

/* ---- pairs */

static int parse_pair(const char *one, const char *other, struct range *a, struct range *b, size_t *count,
                      struct error *e)
{
    if (range_parse(one, a, e) != 0 || range_parse(other, b, e) != 0)
        return -1;
    *count = a->count > b->count ? a->count : b->count;
    if (a->count == b->count || a->count == 1 || b->count == 1)
        return 0;
    return error_set(e,
                     "\"%.60s\" has %zu names and \"%.60s\" has %zu: expected equally many, or a single name",
                     one, a->count, other, b->count);
}

static json_t *end_at(const struct range *range, size_t i)
{
    return name_at(range, range->count == 1 ? 0 : i);
}

static int add_entries(json_t *map, const char *key, const char *value, struct error *e)
{
    struct range a, b;
    size_t count;
    if (parse_pair(key, value, &a, &b, &count, e) != 0 || check_count(json_object_size(map) + count, e) != 0)
        return -1;
    if (a.count != count)
        return error_set(e, "\"%.60s\" is one name: \"%.60s\" stands for %zu", key, value, b.count);
    for (size_t i = 0; i < count; i++) {
        json_t *name = end_at(&a, i);
        bool again = json_object_get(map, json_string_value(name));
        if (again)
            error_set(e, "\"%.60s\" occurs twice", json_string_value(name));
        else
            json_object_set_new(map, json_string_value(name), end_at(&b, i));
        json_decref(name);
        if (again)
            return -1;
    }
    return 0;
}

int expand_map(json_t *object, const char *key, struct error *e)
{
    json_t *map = json_object_get(object, key), *expanded, *value;
    const char *name;
    int result = 0;
    if (!json_is_object(map))
        return 0;
    expanded = json_object();
    json_object_foreach(map, name, value)
    {
        if (result == 0)
            result = json_is_string(value) ? add_entries(expanded, name, json_string_value(value), e)
                                           : json_object_set(expanded, name, value);
    }
    return put_expanded(object, key, expanded, result, e);
}

/* ---- items with ends */

static const char *end_of(const json_t *item, const struct expand_ends *ends, size_t k)
{
    const json_t *end = ends->list ? json_array_get(json_object_get(item, ends->one), k)
                                   : json_object_get(item, k == 0 ? ends->one : ends->other);
    return json_string_value(end);
}

static void set_ends(json_t *item, const struct expand_ends *ends, const struct range *a,
                     const struct range *b, size_t i)
{
    if (ends->list) {
        json_object_set_new(item, ends->one, json_make("[o,o]", end_at(a, i), end_at(b, i)));
        return;
    }
    json_object_set_new(item, ends->one, end_at(a, i));
    if (ends->other)
        json_object_set_new(item, ends->other, end_at(b, i));
}

/* `one`: an end with a range, which may be of the NICs of a host. */
static int check_name(const json_t *item, size_t count, const char *one, struct error *e)
{
    const char *name = json_string_value(json_object_get(item, "name")), *bracket = strchr(one, '[');
    bool nics = bracket && memchr(one, '.', (size_t)(bracket - one));
    char glob[80];
    if (!name || count == 1 || strchr(name, '{'))
        return 0;
    snprintf(glob, sizeof glob, "%.*s*", bracket ? (int)(bracket - one < 60 ? bracket - one : 60) : 0, one);
    return error_set(e,
                     "name: \"%.60s\" would be the name of %zu: expected {} for the number, such as "
                     "\"%.60s-{}\"%s%s%s",
                     name, count, name, nics ? ", or a glob of NICs in place of the range, such as \"" : "",
                     nics ? glob : "", nics ? "\"" : "");
}

/* The item without its ends. */
static json_t *without_ends(const json_t *item, const struct expand_ends *ends)
{
    json_t *rest = json_copy((json_t *)(uintptr_t)item);
    json_object_del(rest, ends->one);
    if (ends->other)
        json_object_del(rest, ends->other);
    return rest;
}

static int add_filled(json_t *list, const json_t *item, const struct expand_ends *ends, size_t *memory,
                      struct error *e)
{
    const char *one = end_of(item, ends, 0), *other = ends->list || ends->other ? end_of(item, ends, 1) : one;
    struct range a, b;
    size_t count;
    const struct range *by = &b;
    if (parse_pair(one, other, &a, &b, &count, e) != 0 ||
        check_name(item, count, a.count > 1 ? one : other, e) != 0 ||
        check_count(json_array_size(list) + count, e) != 0 || check_room(item, count, memory, one, e) != 0)
        return -1;
    if (a.count == count && a.bracket_count > 0)
        by = &a;
    json_t *rest = without_ends(item, ends);
    int result = 0;
    for (size_t i = 0; result == 0 && i < count; i++) {
        json_t *filled = range_fill(by, i, rest, e);
        result = filled ? 0 : -1;
        if (filled)
            set_ends(filled, ends, &a, &b, i);
        if (filled)
            json_array_append_new(list, filled);
    }
    json_decref(rest);
    return result;
}

/* Has the item names at both ends, and a range among them? */
static bool needs_filling(const json_t *item, const struct expand_ends *ends)
{
    const char *one = end_of(item, ends, 0), *other = ends->list || ends->other ? end_of(item, ends, 1) : one;
    bool two = !ends->list || json_array_size(json_object_get(item, ends->one)) == 2;
    return one && other && two && (is_range(one) || is_range(other));
}

int expand_items(json_t *object, const char *key, const struct expand_ends *ends, struct error *e)
{
    json_t *list = json_object_get(object, key), *expanded, *item;
    size_t i, memory = 0;
    int result = 0;
    if (!json_is_array(list))
        return 0;
    expanded = json_array();
    json_array_foreach(list, i, item)
    {
        if (result != 0)
            break;
        result = needs_filling(item, ends) ? add_filled(expanded, item, ends, &memory, e)
                                           : json_array_append(expanded, item);
        if (result != 0) {
            json_decref(expanded);
            return error_prefix(e, "%s[%zu]", key, i);
        }
    }
    return put_expanded(object, key, expanded, result, e);
}
