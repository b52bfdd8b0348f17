/*
 * Bytes of unknown origin (file names, documents, answers of hosts and peers) as text for people. What a
 * terminal would execute, and what is not UTF-8, becomes words:
 *   a control character (also DEL) or a byte that is not UTF-8    \x1b \xff
 *   U+0080 to U+009F, and characters that turn the direction of text or end a line    \u009b \u202e
 * A backslash stays as it is, so paths stay readable; therefore the words cannot be turned back into bytes
 * with certainty.
 */
#ifndef LIB_VISIBLE_H
#define LIB_VISIBLE_H

#include "lib/text.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum visible {
    VISIBLE_TEXT, /* line feeds and tabs stay */
    VISIBLE_LINE, /* they become words, too */
    VISIBLE_UTF8, /* only bytes that are not UTF-8, and NUL, become words: for formats that escape the rest */
};

/* Add the bytes as text. */
void visible_add(struct text *out, const char *bytes, size_t length, enum visible kind);
/* Add a sentence as vprintf makes it, in one line. */
void visible_add_line(struct text *out, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
/* The same as visible_add into `room` bytes, terminated; what does not fit is left out at the end of a
 * character. */
void visible_copy(char *out, size_t room, const char *bytes, size_t length, enum visible kind);
/* The same in HTML or XML: between tags or, if `quotes` are escaped too, in an attribute. NULL is no text. */
void visible_add_markup(struct text *out, const char *words, enum visible kind, bool quotes);

/* ---- UTF-8: the characters of bytes that may be anything */

/* The bytes of the character at `bytes`, 1 to 4, and its number in *character; 0 if the bytes there are not
 * valid UTF-8 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF). */
size_t utf8_character(const char *bytes, size_t length, uint32_t *character);
/* How much of a string of `length` bytes fits into `room` bytes without cutting a character. */
size_t utf8_cut(const char *bytes, size_t length, size_t room);

#endif
