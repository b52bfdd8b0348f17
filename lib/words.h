/* An argument vector that grows, and words quoted for a POSIX shell. */
#ifndef LIB_WORDS_H
#define LIB_WORDS_H

#include "lib/error.h"
#include "lib/text.h"
#include <stdbool.h>
#include <stddef.h>

struct words {
    char **items; /* ended by NULL; owned */
    size_t count;
    bool failed; /* out of memory: words are missing */
};

void words_add(struct words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Add each word of `more`, which is ended by NULL. */
void words_add_all(struct words *w, const char *const more[]);
/* 0 if no word is missing. */
int words_whole(const struct words *w, struct error *e);
void words_free(struct words *w);

/* Add `word` to a command line, quoted so that a POSIX shell reads exactly this word. The only place where
 * quoting is done. */
void shell_quote(struct text *line, const char *word);
/* The same alone, for a command in a sentence; the caller frees. */
char *shell_quoted(const char *word);
/* All of argv (ended by NULL), quoted, with spaces between. */
void shell_quote_all(struct text *line, const char *const argv[]);

#endif
