#include "lib/document/json_text.h"

#include "lib/units.h"
#include "lib/output/visible.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- strings */

json_t *json_textn(const char *bytes, size_t length)
{
    struct text shown = {0};
    if (!bytes)
        return NULL;
    visible_add(&shown, bytes, length, VISIBLE_UTF8);
    json_t *value = shown.failed ? NULL : json_string_nocheck(text_string(&shown)); /* it is valid now */
    text_free(&shown);
    return value;
}

json_t *json_text(const char *bytes)
{
    json_t *value = bytes ? json_string(bytes) : NULL;
    return value || !bytes ? value : json_textn(bytes, strlen(bytes));
}

json_t *json_text_list(const char *format, va_list arguments)
{
    struct text raw = {0};
    text_add_list(&raw, format, arguments);
    json_t *value = raw.failed ? NULL : json_text(text_string(&raw));
    text_free(&raw);
    return value;
}

json_t *json_textf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    json_t *value = json_text_list(format, arguments);
    va_end(arguments);
    return value;
}

json_t *json_keys(const json_t *object)
{
    json_t *list = json_array(), *value;
    const char *key;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        json_array_append_new(list, json_text(key));
    }
    return list;
}

int json_put(json_t *object, const char *key, json_t *value)
{
    json_t *name = json_text(key);
    int result = name ? json_object_set(object, json_string_value(name), value) : -1;
    json_decref(name);
    json_decref(value);
    return result;
}

/* ---- from a format */

struct making {
    const char *at;
    va_list *arguments; /* va_list may be an array: a pointer to it can be passed on */
    bool failed;        /* out of memory, or the format is wrong */
};

static json_t *make_value(struct making *m);

static char next_format(struct making *m)
{
    m->at += strspn(m->at, " ,:");
    return *m->at;
}

static json_t *make_object(struct making *m)
{
    json_t *object = json_object();
    for (m->at++; next_format(m) != '}';) {
        if (*m->at != 's') {
            m->failed = true;
            break;
        }
        m->at++;
        const char *key = va_arg(*m->arguments, const char *);
        next_format(m);
        json_t *value = make_value(m);
        bool omitted = !value && m->at[-1] == '*';
        if (m->failed || (!omitted && json_put(object, key, value) != 0)) {
            m->failed = true;
            break;
        }
    }
    m->at += !m->failed;
    return object;
}

static json_t *make_array(struct making *m)
{
    json_t *array = json_array();
    for (m->at++; !m->failed && next_format(m) != ']';) {
        json_t *value = make_value(m);
        bool omitted = !value && m->at[-1] == '*';
        m->failed = m->failed || (!omitted && json_array_append_new(array, value) != 0);
    }
    m->at += !m->failed;
    return array;
}

static json_t *make_text(struct making *m)
{
    const char *bytes = va_arg(*m->arguments, const char *);
    bool counted = *m->at == '%';
    m->at += counted;
    json_t *value = counted ? json_textn(bytes, va_arg(*m->arguments, size_t)) : json_text(bytes);
    m->failed = m->failed || (bytes && !value);
    return value;
}

static json_t *make_scalar(struct making *m)
{
    switch (*m->at++) {
    case 's':
        return make_text(m);
    case 'i':
        return json_integer(va_arg(*m->arguments, int));
    case 'I':
        return json_integer(va_arg(*m->arguments, json_int_t));
    case 'b':
        return json_boolean(va_arg(*m->arguments, int));
    case 'f': {
        double number = va_arg(*m->arguments, double);
        return isfinite(number) ? json_real(number) : json_null();
    }
    case 'O':
        return json_incref(va_arg(*m->arguments, json_t *));
    case 'o':
        return va_arg(*m->arguments, json_t *);
    case 'n':
        return json_null();
    default:
        m->at--; /* it may be the end */
        m->failed = true;
        return NULL;
    }
}

/* NULL if the value is to be omitted: it is NULL, and its format ends in '*'. */
static json_t *make_value(struct making *m)
{
    json_t *value = *m->at == '{' ? make_object(m) : *m->at == '[' ? make_array(m) : make_scalar(m);
    bool omit = *m->at == '*';
    if (!m->failed)
        m->at += omit || *m->at == '?';
    return value || omit || m->failed ? value : json_null();
}

json_t *json_make(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct making m = {.at = format, .arguments = &arguments};
    json_t *value = make_value(&m);
    va_end(arguments);
    if (!m.failed)
        return value;
    json_decref(value);
    return NULL;
}

/* ---- documents */

void json_merge_deep(json_t *into, const json_t *over)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)over, key, value)
    {
        json_t *there = json_object_get(into, key);
        if (json_is_object(there) && json_is_object(value))
            json_merge_deep(there, value);
        else
            json_object_set_new(into, key, json_deep_copy(value));
    }
}

json_t *json_merged(const json_t *there, const json_t *over)
{
    const char *key;
    json_t *value;
    if (!json_is_object(over))
        return json_deep_copy(over);
    json_t *merged = json_is_object(there) ? json_copy((json_t *)(uintptr_t)there) : json_object();
    json_object_foreach((json_t *)(uintptr_t)over, key, value)
    {
        if (json_is_null(value))
            json_object_del(merged, key);
        else
            json_object_set_new(merged, key, json_merged(json_object_get(merged, key), value));
    }
    return merged;
}

char *json_shown(const json_t *value)
{
    return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
}

char *json_bare(const json_t *value)
{
    return json_is_string(value) ? strdup(json_string_value(value)) : json_shown(value);
}

void json_add_for_page(struct text *out, const json_t *value)
{
    char *words =
        json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
    out->failed = out->failed || !words;
    for (const char *c = words; c && *c; c++) /* outside of strings JSON has none of these */
        text_add(out, strchr("<>&\x7f", *c) ? "\\u%04x" : "%c", (unsigned char)*c);
    free(words);
}

int json_print(FILE *file, const json_t *document, int digits)
{
    size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(digits) | JSON_ENCODE_ANY;
    char *words = json_dumps(document, flags | (isatty(fileno(file)) ? JSON_ENSURE_ASCII : 0));
    if (!words)
        errno = ENOMEM;
    int result = words && fputs(words, file) != EOF && fputc('\n', file) != EOF ? 0 : -1;
    free(words);
    return result;
}

/* ---- what differs */

struct changes {
    struct text path, *words;
    size_t count, most;
};

#define LARGEST_WHOLE 9007199254740992.0 /* 2^53: beyond it a double skips integers */

void json_add_canonical(const json_t *value, struct text *out)
{
    double number = json_number_value(value);
    enum unit unit = UNIT_BYTES;
    int64_t quantity = json_integer_value(value);
    bool whole = json_is_integer(value);
    if (json_is_real(value) && fabs(number) < LARGEST_WHOLE && number == floor(number)) {
        quantity = (int64_t)number;
        whole = true;
    } else if (json_is_string(value)) {
        whole = units_find(json_string_value(value), &unit, &quantity);
    }
    if (whole && quantity == 0) {
        text_add(out, "0");
    } else if (whole) {
        text_add(out, "%d %" PRId64, (int)unit, quantity);
    } else {
        char *words = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
        text_add(out, "%s", words ? words : "");
        out->failed = out->failed || !words;
        free(words);
    }
}

static bool same_value(const json_t *was, const json_t *is)
{
    if (json_equal(was, is))
        return true;
    struct text before = {0}, now = {0};
    json_add_canonical(was, &before);
    json_add_canonical(is, &now);
    bool same = !before.failed && !now.failed && strcmp(text_string(&before), text_string(&now)) == 0;
    text_free(&before);
    text_free(&now);
    return same;
}

static void add_change(struct changes *c, const json_t *was, const json_t *is)
{
    char *before = was ? json_shown(was) : NULL, *now = is ? json_shown(is) : NULL;
    if (c->count++ < c->most) {
        text_add(c->words, "%s%s %s %.80s and is %.80s", c->words->length ? "; " : "", text_string(&c->path),
                 was ? "was" : "was not", was && before ? before : "there", now ? now : "not there");
    }
    free(before);
    free(now);
}

static void find_changes(struct changes *c, const json_t *was, const json_t *is);

static void find_changes_at(struct changes *c, const char *key, const json_t *was, const json_t *is)
{
    size_t length = c->path.length;
    text_add(&c->path, "%s%s", length ? "." : "", key);
    find_changes(c, was, is);
    if (c->path.data) {
        c->path.length = length;
        c->path.data[length] = '\0';
    }
}

static void find_changed_items(struct changes *c, const json_t *was, const json_t *is)
{
    for (size_t i = 0; i < json_array_size(was); i++) {
        char number[24];
        const char *name = json_string_value(json_object_get(json_array_get(was, i), "name"));
        snprintf(number, sizeof number, "%zu", i);
        find_changes_at(c, name ? name : number, json_array_get(was, i), json_array_get(is, i));
    }
}

/* The depth of a document is limited where it is read. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void find_changes(struct changes *c, const json_t *was, const json_t *is)
{
    const char *key;
    json_t *member;
    if (json_is_object(was) && json_is_object(is)) {
        json_object_foreach((json_t *)(uintptr_t)was, key, member)
        {
            find_changes_at(c, key, member, json_object_get(is, key));
        }
        json_object_foreach((json_t *)(uintptr_t)is, key, member)
        {
            if (!json_object_get(was, key))
                find_changes_at(c, key, NULL, member);
        }
    } else if (json_is_array(was) && json_is_array(is) && json_array_size(was) == json_array_size(is)) {
        find_changed_items(c, was, is);
    } else if (!was || !is || !same_value(was, is)) {
        add_change(c, was, is);
    }
}

size_t json_changes(const json_t *was, const json_t *is, size_t most, struct text *words)
{
    struct changes c = {.words = words, .most = most};
    find_changes(&c, was, is);
    text_free(&c.path);
    return c.count;
}

bool json_same(const json_t *one, const json_t *other)
{
    struct text none = {0};
    return json_changes(one, other, 0, &none) == 0;
}

bool json_list_has(const json_t *list, const json_t *value)
{
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item)
    {
        if (json_equal(item, value))
            return true;
    }
    return false;
}
