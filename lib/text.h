/* A growable string. */
#ifndef LIB_TEXT_H
#define LIB_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct text {
    char *data; /* NULL until something is added, then always terminated */
    size_t length;
    size_t capacity;
    bool failed; /* out of memory: later additions are missing */
};

void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_list(struct text *t, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
void text_add_bytes(struct text *t, const char *bytes, size_t length);
/* The string, never NULL. Owned by t. */
const char *text_string(const struct text *t);
/* Pass the string to the caller, who frees it; t is then empty. NULL when out of memory. */
char *text_take(struct text *t);
void text_clear(struct text *t);
void text_free(struct text *t);

#endif
