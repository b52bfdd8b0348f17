/* Errors are values with a sentence; functions return them to their callers. */
#ifndef LIB_ERROR_H
#define LIB_ERROR_H

struct error {
    char text[1024]; /* UTF-8 without control characters (lib/output/visible.h), cut between characters */
};

/* Fill e (NULL is allowed) with a sentence; returns -1 so that a caller can `return error_set(...)`. */
int error_set(struct error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As error_set, followed by ": " and the text of errno value `number`. */
int error_set_errno(struct error *e, int number, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "context: " before the sentence that is already in e; returns -1. */
int error_prefix(struct error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Make a line of the sentence that is in e: values in it may have line feeds. */
void error_one_line(struct error *e);

#endif
