#include "lib/output/visible.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- UTF-8 */

static size_t length_of(unsigned char first)
{
    return first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

size_t utf8_character(const char *bytes, size_t length, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *b = (const unsigned char *)bytes;
    size_t count = length ? length_of(*b) : 0;
    if (!count || count > length)
        return 0;
    uint32_t number = count == 1 ? *b : *b & (0x7fu >> count);
    for (size_t i = 1; i < count; i++) {
        if ((b[i] & 0xc0) != 0x80)
            return 0;
        number = number << 6 | (b[i] & 0x3f);
    }
    if (number < least[count] || number > 0x10ffff || (number >= 0xd800 && number <= 0xdfff))
        return 0;
    *character = number;
    return count;
}

size_t utf8_cut(const char *bytes, size_t length, size_t room)
{
    uint32_t character;
    if (length <= room)
        return length;
    for (size_t back = 0; back < 4 && back < room; back++) {
        size_t at = room - back, count = utf8_character(bytes + at, length - at, &character);
        if (count)
            return at; /* a character begins here: what is before it is whole */
    }
    return room; /* not UTF-8: no character is cut */
}

/* ---- what may be shown */

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

void visible_add_line(struct text *out, const char *format, va_list arguments)
{
    struct text raw = {0};
    text_add_list(&raw, format, arguments);
    visible_add(out, text_string(&raw), raw.length, VISIBLE_LINE);
    out->failed = out->failed || raw.failed;
    text_free(&raw);
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

void visible_add_markup(struct text *out, const char *words, enum visible kind, bool quotes)
{
    static const struct {
        char character;
        const char *name;
    } marks[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
    struct text shown = {0};
    visible_add(&shown, words ? words : "", words ? strlen(words) : 0, kind);
    for (const char *c = text_string(&shown); *c; c++) {
        size_t i = 0, count = sizeof marks / sizeof *marks - !quotes;
        while (i < count && marks[i].character != *c)
            i++;
        if (i < count)
            text_add(out, "%s", marks[i].name);
        else
            text_add_bytes(out, c, 1);
    }
    out->failed = out->failed || shown.failed;
    text_free(&shown);
}
