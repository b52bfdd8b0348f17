/* Fields of comma-separated values: RFC 4180, UTF-8, lines that end with CR LF. */
#ifndef LIB_OUTPUT_CSV_H
#define LIB_OUTPUT_CSV_H

#include "lib/text.h"

#define CSV_LINE_END "\r\n"

/*
 * A text in one line (VISIBLE_LINE), quoted where the format wants it. Spreadsheets take a text that begins
 * with one of =+-@ (or their full-width forms) for a formula, and would execute it: an apostrophe before the
 * sign, also behind a semicolon and spaces, makes it a text for them.
 */
void csv_text(struct text *out, const char *words);
/* The fewest digits that give the same number again; nothing if it is not finite. */
void csv_number(struct text *out, double value);

#endif
