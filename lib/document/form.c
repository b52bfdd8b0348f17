#include "lib/document/form.h"

#include <stddef.h>
#include <string.h>

#define LETTERS   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define NAME_MOST 64
#define WORD_MOST 120

/* The documents are UTF-8: U+0080 to U+009F, which terminals also take as controls, are the byte 0xc2 and one
 * below 0xa0. */
static bool is_line(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0))
            return false;
    return true;
}

static bool is_any(const char *text)
{
    return text;
}

/* Only these characters, and neither empty nor long; no word is an option of a command, a hidden file, or
 * "..". */
static bool is_word_of(const char *text, const char *characters, size_t most)
{
    size_t length = strspn(text, characters);
    return length > 0 && length <= most && text[length] == '\0' && *text != '.' && *text != '-';
}

static bool is_name(const char *text)
{
    return is_word_of(text, LETTERS "._-", NAME_MOST);
}

static bool is_role(const char *text)
{
    return is_word_of(text, LETTERS "_-", FORM_ROLE_MOST);
}

static bool is_word(const char *text)
{
    return is_word_of(text, LETTERS "._-+:@=,", WORD_MOST);
}

static bool is_destination(const char *text)
{
    const char *at = strrchr(text, '@');
    return is_word_of(text, LETTERS "._-+:@%[]", 255) && (!at || (at[1] != '\0' && at[1] != '-'));
}

const struct form form_line = {"text of one line", "text without line breaks and other control characters",
                               is_line};
const struct form form_any = {"text", "any text", is_any};
const struct form form_name = {
    "a valid name", "at most 64 letters, digits, '.', '_', '-', of which neither '.' nor '-' is the first",
    is_name};
const struct form form_role = {
    "a valid name", "at most 100 letters, digits, '_', '-', of which '-' is not the first", is_role};
const struct form form_word = {
    "a valid name",
    "at most 120 letters, digits and . _ - + : @ = , of which neither '.' nor '-' is the first", is_word};
const struct form form_destination = {
    "a destination of ssh", "user@host, or a host name from your ssh configuration", is_destination};
