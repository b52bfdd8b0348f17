#include "lib/document/parts/json_parts.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct scan {
    const char *at, *end;
    const char *const *paths;
    struct text *out;
};

/* ---- over what is not looked into */

static void skip_space(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\r' || *s->at == '\t'))
        s->at++;
}

/* From the opening quote to behind the closing one. */
static bool skip_string(struct scan *s)
{
    for (s->at++; s->at < s->end; s->at++) {
        if (*s->at == '\\')
            s->at++;
        else if (*s->at == '"') {
            s->at++;
            return true;
        }
    }
    s->at = s->end;
    return false;
}

/* An object or a list, whose brackets are counted. */
static bool skip_container(struct scan *s)
{
    size_t depth = 0;
    while (s->at < s->end) {
        char c = *s->at;
        if (c == '"') {
            if (!skip_string(s))
                return false;
            continue;
        }
        s->at++;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        if (!depth)
            return true;
    }
    return false;
}

static bool skip_value(struct scan *s)
{
    const char *begin = s->at;
    if (s->at < s->end && *s->at == '"')
        return skip_string(s);
    if (s->at < s->end && (*s->at == '{' || *s->at == '['))
        return skip_container(s);
    while (s->at < s->end && !strchr(",}]: \n\r\t", *s->at))
        s->at++;
    return s->at > begin;
}

/* ---- paths */

/* Is the key what the path has at this depth? *last: the path ends there. */
static bool leads_to(const char *path, size_t depth, const char *key, size_t length, bool *last)
{
    for (; depth; depth--) {
        path += strcspn(path, ".");
        if (!*path++)
            return false;
    }
    size_t wanted = strcspn(path, "."), i = 0;
    *last = path[wanted] == '\0';
    if (wanted == 1 && *path == '*')
        return true;
    for (size_t k = 0; k < wanted; k++) {
        size_t before = i;
        if (path[k] != '#') {
            i += i < length && key[i] == path[k];
        } else {
            while (i < length && key[i] >= '0' && key[i] <= '9')
                i++;
        }
        if (i == before)
            return false;
    }
    return i == length;
}

/* Of the paths in `mask` those that lead to the key or beyond. *whole: one ends there. */
static uint32_t narrow(const struct scan *s, uint32_t mask, size_t depth, const char *key, size_t length,
                       bool *whole)
{
    uint32_t left = 0;
    bool last = false;
    *whole = false;
    for (size_t i = 0; i < JSON_PARTS_MOST && s->paths[i]; i++) {
        if (!(mask & UINT32_C(1) << i) || !leads_to(s->paths[i], depth, key, length, &last))
            continue;
        left |= UINT32_C(1) << i;
        *whole |= last;
    }
    return left;
}

/* ---- objects */

static bool copy_object(struct scan *s, uint32_t mask, size_t depth);

static bool copy_value(struct scan *s, uint32_t mask, size_t depth, bool whole)
{
    if (!whole && s->at < s->end && *s->at == '{')
        return copy_object(s, mask, depth);
    const char *begin = s->at;
    bool skipped = skip_value(s);
    text_add_bytes(s->out, begin, (size_t)(s->at - begin));
    return skipped;
}

/* From the key to behind the value; *count is how many members are copied. */
static bool copy_member(struct scan *s, uint32_t mask, size_t depth, size_t *count)
{
    bool whole;
    const char *key = s->at;
    if (s->at == s->end || *s->at != '"' || !skip_string(s))
        return false;
    size_t length = (size_t)(s->at - key);
    skip_space(s);
    if (s->at == s->end || *s->at++ != ':')
        return false;
    skip_space(s);
    uint32_t below = narrow(s, mask, depth, key + 1, length - 2, &whole);
    if (!below)
        return skip_value(s);
    if ((*count)++)
        text_add_bytes(s->out, ",", 1);
    text_add_bytes(s->out, key, length);
    text_add_bytes(s->out, ":", 1);
    return copy_value(s, below, depth + 1, whole);
}

/* At most as deep as the longest path. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool copy_object(struct scan *s, uint32_t mask, size_t depth)
{
    size_t count = 0;
    text_add_bytes(s->out, "{", 1);
    s->at++;
    skip_space(s);
    bool empty = s->at < s->end && *s->at == '}';
    while (!empty) {
        skip_space(s);
        if (!copy_member(s, mask, depth, &count))
            return false;
        skip_space(s);
        if (s->at == s->end || *s->at != ',')
            break;
        s->at++;
    }
    if (s->at == s->end || *s->at != '}')
        return false;
    s->at++;
    text_add_bytes(s->out, "}", 1);
    return true;
}

int json_parts(const char *text, size_t length, const char *const *paths, struct text *out, struct error *e)
{
    struct scan s = {.at = text, .end = text + length, .paths = paths, .out = out};
    skip_space(&s);
    if (s.at == s.end || *s.at != '{')
        return error_set(e, "expected an object");
    bool whole = copy_object(&s, UINT32_MAX, 0);
    skip_space(&s);
    if (!whole || s.at < s.end)
        return error_set(e, "it is damaged at byte %zu of %zu: expected a whole object",
                         (size_t)(s.at - text), length);
    return out->failed ? error_set(e, "out of memory") : 0;
}
