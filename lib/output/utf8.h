/* UTF-8: the characters of bytes that may be anything. */
#ifndef LIB_UTF8_H
#define LIB_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of the character at `bytes`, 1 to 4, and its number in *character; 0 if the bytes there are not valid UTF-8 (RFC 3629:
 * no overlong forms, no surrogates, at most U+10FFFF). */
size_t utf8_character(const char *bytes, size_t length, uint32_t *character);
/* How much of a string of `length` bytes fits into `room` bytes without cutting a character. */
size_t utf8_cut(const char *bytes, size_t length, size_t room);

#endif
