/* A growable string. */
#ifndef LIB_TEXT_H
#define LIB_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
/* The word behind a number of things: "1 run", "2 runs". */
#define THINGS(count, thing) ((count) == 1 ? thing : thing "s")
/* Some things by their names, of which a sentence says the first few: "flow a", "flows a, b, c and 2 others".
 */
#define TEXT_NAMED 3
struct text_names {
    const char *names[TEXT_NAMED]; /* not owned */
    size_t count;
};
void text_names_add(struct text_names *names, const char *one);
/* `what`: the word for one of them, or "". */
void text_add_names(struct text *t, const char *what, const struct text_names *names);
/* The string, never NULL. Owned by t. */
const char *text_string(const struct text *t);
/* Pass the string to the caller, who frees it; t is then empty. NULL when out of memory. */
char *text_take(struct text *t);
void text_clear(struct text *t);
void text_free(struct text *t);

/* FNV-1a (Fowler, Noll, Vo), 64 bits. */
uint64_t text_hash(const char *bytes, size_t length);

#endif
