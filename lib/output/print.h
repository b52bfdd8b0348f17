/* Text for people on standard output and standard error: what bytes of files, hosts and peers could do to a
 * terminal is made visible (lib/output/visible.h). Programs print only through these; documents and data
 * files have their own writers. */
#ifndef LIB_PRINT_H
#define LIB_PRINT_H

#include <stdarg.h>
#include <stdio.h>

/* A line on stdout, whatever is in its values: their line breaks become words, too. */
void print_out_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* As printf. */
void print_out(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* As fprintf. */
void print_to(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As vfprintf. */
void print_list(FILE *file, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
/* Bytes that another program said. */
void print_bytes(FILE *file, const char *bytes, size_t length);

#endif
