#include "lib/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Make room for `more` bytes and the terminator. */
static bool reserve_bytes(struct text *t, size_t more)
{
    size_t needed = t->length + more + 1;
    if (t->failed || needed < more)
        return false;
    if (needed <= t->capacity)
        return true;
    size_t capacity = t->capacity ? t->capacity : 64;
    while (capacity < needed)
        capacity *= 2;
    char *data = realloc(t->data, capacity);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->capacity = capacity;
    return true;
}

void text_add_list(struct text *t, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0) {
        t->failed = true;
    } else if (reserve_bytes(t, (size_t)length)) {
        vsnprintf(t->data + t->length, (size_t)length + 1, format, again);
        t->length += (size_t)length;
    }
    va_end(again);
}

void text_add(struct text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_add_list(t, format, arguments);
    va_end(arguments);
}

void text_add_bytes(struct text *t, const char *bytes, size_t length)
{
    if (!reserve_bytes(t, length))
        return;
    if (length)
        memcpy(t->data + t->length, bytes, length);
    t->length += length;
    t->data[t->length] = '\0';
}

const char *text_string(const struct text *t)
{
    return t->data ? t->data : "";
}

char *text_take(struct text *t)
{
    char *data = t->failed ? NULL : t->data ? t->data : strdup("");
    if (data != t->data)
        free(t->data);
    *t = (struct text){0};
    return data;
}

void text_clear(struct text *t)
{
    t->length = 0;
    t->failed = false;
    if (t->data)
        t->data[0] = '\0';
}

void text_free(struct text *t)
{
    free(t->data);
    *t = (struct text){0};
}

void text_names_add(struct text_names *names, const char *one)
{
    if (names->count < TEXT_NAMED)
        names->names[names->count] = one;
    names->count++;
}

void text_add_names(struct text *t, const char *what, const struct text_names *names)
{
    text_add(t, "%s%s", what, !*what ? "" : names->count == 1 ? " " : "s ");
    for (size_t i = 0; i < names->count && i < TEXT_NAMED; i++)
        text_add(t, "%s%s", i == 0 ? "" : i + 1 == names->count ? " and " : ", ", names->names[i]);
    if (names->count > TEXT_NAMED)
        text_add(t, " and %zu %s", names->count - TEXT_NAMED, THINGS(names->count - TEXT_NAMED, "other"));
}

uint64_t text_hash(const char *bytes, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}
