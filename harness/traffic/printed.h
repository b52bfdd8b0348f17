/* Lines, words and numbers of what a program has printed, which may be anything. */
#ifndef HARNESS_TRAFFIC_PRINTED_H
#define HARNESS_TRAFFIC_PRINTED_H

#include "lib/error.h"
#include "lib/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PRINTED_WORDS 32
#define PRINTED_WORD  32

struct printed_line {
    const char *at;
    size_t length;
};

struct printed_words {
    char items[PRINTED_WORDS][PRINTED_WORD];
    size_t count; /* PRINTED_WORDS + 1: too many, or one is too long */
};

/* The next line, without its line feed. false: there is none. An incomplete one is none. */
bool printed_next(const char **at, const char *end, struct printed_line *line);
void printed_split(const struct printed_line *line, struct printed_words *out);
/* Are these the words? `expected` is ended by NULL; an alternative is behind '|'. */
bool printed_words_are(const struct printed_words *words, const char *const expected[]);
/* A decimal number without a sign, as %lu, %.2lf and %.1e print it. */
bool printed_number(const char *word, double *value);
/* A whole number up to 10^15. */
bool printed_count(const char *word, int64_t *value);
/* "its output has the line "...": expected ..." Always -1. */
int printed_refuse(const struct printed_line *line, const char *expected, struct error *e);
/* The last few lines that say something, joined by " | ": not empty ones, lines of dashes, and NCCL's
 * messages below a warning. */
void printed_tail(const char *printed, size_t length, struct text *out);
/* Does a program's help have this option as a word? "--qp=8" is known if it has "--qp". */
bool printed_help_knows(const char *help, const char *option);

#endif
