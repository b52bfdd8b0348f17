#include "lib/names/expand.h"

#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/names/range.h"
#include <stdint.h>
#include <string.h>

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
static int finish(json_t *object, const char *key, json_t *expanded, int result, struct error *e)
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
    return finish(object, key, expanded, result, e);
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

/* The names of a range with their values. */
static int add_keys(json_t *names, const char *word, const json_t *value, size_t *memory, struct error *e)
{
    struct range range;
    if (range_parse(word, &range, e) != 0 || check_count(json_object_size(names) + range.count, e) != 0 ||
        check_room(value, range.count, memory, word, e) != 0)
        return -1;
    for (size_t i = 0; i < range.count; i++) {
        json_t *name = name_at(&range, i), *filled = range_fill(&range, i, value, e);
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

static json_t *both(const json_t *ranged, const json_t *own)
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
            json_object_set_new(expanded, key, both(own, value));
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

int expand_keys(json_t *object, const char *key, struct error *e)
{
    json_t *map = json_object_get(object, key), *named, *value;
    const char *word;
    size_t memory = 0;
    int result = 0;
    if (!json_is_object(map) || !has_range(map))
        return 0;
    named = json_object();
    json_object_foreach(map, word, value)
    {
        if (result == 0 && is_range(word))
            result = add_keys(named, word, value, &memory, e);
    }
    json_t *expanded = result == 0 ? in_order(map, named) : NULL;
    json_decref(named);
    return finish(object, key, expanded, result, e);
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
    return finish(object, key, expanded, result, e);
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

static int check_name(const json_t *item, size_t count, struct error *e)
{
    const char *name = json_string_value(json_object_get(item, "name"));
    if (!name || count == 1 || strchr(name, '{'))
        return 0;
    return error_set(e,
                     "name: \"%.60s\" would be the name of %zu: expected {} for the number, such as "
                     "\"%.60s-{}\"",
                     name, count, name);
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
    if (parse_pair(one, other, &a, &b, &count, e) != 0 || check_name(item, count, e) != 0 ||
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
    return finish(object, key, expanded, result, e);
}
