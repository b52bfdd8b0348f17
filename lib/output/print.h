/* Text for people on standard output and standard error: what bytes of files, hosts and peers could do to a
 * terminal is made visible (lib/output/visible.h). Programs print only through these; documents and data
 * files have their own writers. Where standard output is a terminal, lines that are wider are broken at
 * spaces; elsewhere they stay whole. */
#ifndef LIB_PRINT_H
#define LIB_PRINT_H

#include "lib/text.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

/* A line on stdout, whatever is in its values: their line breaks become words, too. */
void print_out_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A document or a script on stdout, whose lines stay as they are. */
void print_document(const char *text);
/* As printf. */
void print_out(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* As fprintf. */
void print_to(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As vfprintf. */
void print_list(FILE *file, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
/* Bytes that another program said. */
void print_bytes(FILE *file, const char *bytes, size_t length);

/* The columns of the terminal that the file is; 0: it is none, and lines may have any length. */
size_t columns_of_terminal(FILE *file);
/* Add text, with its lines broken at spaces where they are wider than `width` (0: never). The first one is
 * already at column `at`; what is broken off begins in column `indent`, or with PRINT_HANGING a little
 * behind the beginning of its line. */
#define PRINT_HANGING SIZE_MAX
void print_fold(struct text *out, const char *text, size_t at, size_t indent, size_t width);

#endif
