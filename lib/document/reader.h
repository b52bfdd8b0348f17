/* Reads the words of a text that comes from elsewhere, with the line of each for error sentences. */
#ifndef LIB_READER_H
#define LIB_READER_H

#include "lib/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lines of one file: more are 1.6 million lines of 40 characters. */
#define READER_MOST_BYTES (64u << 20)

struct reader {
    const char *path; /* for sentences; not owned */
    char *text;
    size_t length, at;
    unsigned line; /* of `at`, from 1 */
};

/* A word is everything up to a blank, a tab, a carriage return or a line feed. It points into the text. */
struct word {
    const char *at;
    size_t length;
    unsigned line;
};

int reader_open(struct reader *r, const char *path, struct error *e);
/* A reader of a text in memory, which is copied. */
int reader_open_text(struct reader *r, const char *name, const char *text, size_t length, struct error *e);
/* The same, which takes it over, also on error; a zero byte is behind its end. */
int reader_take(struct reader *r, const char *name, char *text, size_t length, struct error *e);
void reader_close(struct reader *r);

/* The next word of this line; false at its end. */
bool reader_word_in_line(struct reader *r, struct word *word);
/* To the beginning of the next line; false at the end. */
bool reader_next_line(struct reader *r);
/* Is there anything but white space from here on? */
bool reader_has_more(const struct reader *r);
/* The next word, or a sentence that says that `what` is missing. */
int reader_expect(struct reader *r, const char *what, struct word *word, struct error *e);

bool word_is(const struct word *word, const char *text);
/* How much of it a sentence shows, for "%.*s". */
int word_shown(const struct word *word);
/* "PATH:LINE: ..."; returns -1. */
int reader_error(const struct reader *r, unsigned line, struct error *e, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A decimal number without a sign, such as 2, 0.25 or 1e-6, times 10 to the power `exponent`, cut to a whole
 * number. *whole: nothing was cut off. -1: it is not a number, or it is above INT64_MAX / 16. */
int decimal_parse(const char *text, size_t length, int exponent, int64_t *value, bool *whole);

/* The value of a word, or a sentence with line, `what` and value. */
int word_integer(const struct reader *r, const struct word *word, const char *what, int64_t min, int64_t max,
                 int64_t *value, struct error *e);
/* The same in whole bits per second, of any size; -1: it is none. */
int word_bps(const struct word *word, int64_t *bps);
/* A data rate as ns-3 writes it: 100Gbps, 25000Mb/s, 12.5GB/s. */
int word_rate(const struct reader *r, const struct word *word, int64_t *bps, struct error *e);
/* A time as ns-3 writes it: 1000ns, 0.001ms, 1us; without a unit seconds. In picoseconds. */
int word_time(const struct reader *r, const struct word *word, int64_t *ps, struct error *e);

/* reader_expect, and then the value. */
int read_integer(struct reader *r, const char *what, int64_t min, int64_t max, int64_t *value,
                 struct error *e);

#endif
