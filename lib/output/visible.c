#include "lib/output/visible.h"

#include "lib/output/utf8.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PIECE 8 /* the longest: "\u202e" */

/* Unicode's controls of direction (UAX 9) and its separators of lines. */
static bool acts_on_terminal(uint32_t c)
{
    return (c >= 0x80 && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static bool stays_as_is(uint32_t c, enum visible kind)
{
    if (kind == VISIBLE_UTF8)
        return c != 0;
    if (c == '\n' || c == '\t')
        return kind == VISIBLE_TEXT;
    return c >= ' ' && c != 0x7f && !acts_on_terminal(c);
}

/* The next character as it is shown; returns the bytes that it takes of the input. */
static size_t show_next(const char *bytes, size_t length, enum visible kind, char piece[PIECE])
{
    uint32_t character;
    size_t count = utf8_character(bytes, length, &character);
    if (count && stays_as_is(character, kind)) {
        memcpy(piece, bytes, count);
        piece[count] = '\0';
    } else if (count > 1) {
        snprintf(piece, PIECE, "\\u%04x", character & 0xffff);
    } else {
        snprintf(piece, PIECE, "\\x%02x", (unsigned char)*bytes);
        count = 1;
    }
    return count;
}

void visible_add(struct text *out, const char *bytes, size_t length, enum visible kind)
{
    char piece[PIECE];
    for (size_t at = 0; at < length;) {
        at += show_next(bytes + at, length - at, kind, piece);
        text_add_bytes(out, piece, strlen(piece));
    }
}

void visible_copy(char *out, size_t room, const char *bytes, size_t length, enum visible kind)
{
    char piece[PIECE];
    size_t used = 0;
    for (size_t at = 0; at < length;) {
        at += show_next(bytes + at, length - at, kind, piece);
        size_t more = strlen(piece);
        if (used + more >= room)
            break;
        memcpy(out + used, piece, more);
        used += more;
    }
    out[used] = '\0';
}
