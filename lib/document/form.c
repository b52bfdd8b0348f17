#include "lib/document/form.h"

#include <stddef.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

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

/* A word is neither empty nor long, and is not an option of a command, a hidden file, or "..". */
static bool is_word(const struct form *form, const char *text)
{
    size_t length = 0;
    while (text[length] && (strchr(LETTERS, text[length]) || strchr(form->characters, text[length])))
        length++;
    return length > 0 && length <= form->most && text[length] == '\0' && *text != '.' && *text != '-';
}

bool form_fits(const struct form *form, const char *text)
{
    return form->fits ? form->fits(text) : is_word(form, text);
}

/* "[0-9A-Za-z_-]" of the characters that `none_of` has not. */
static void add_class(const char *characters, const char *none_of, struct text *out)
{
    text_add(out, "[0-9A-Za-z");
    for (const char *c = characters; *c; c++)
        if (*c != '-' && !strchr(none_of, *c))
            text_add(out, "%c", *c);
    text_add(out, strchr(characters, '-') && !strchr(none_of, '-') ? "-]" : "]");
}

/* A number, or the numbers of a range, in a word that stands for several. */
#define NUMBER_OF_NAME "\\{[0-9+-]*\\}|\\[[0-9,-]+\\]"

bool form_pattern(const struct form *form, bool single, struct text *out)
{
    if (form->pattern) {
        text_add(out, "^(%s)$", form->pattern);
    } else if (form->characters) {
        text_add(out, "^(");
        add_class(form->characters, ".-", out);
        add_class(form->characters, "", out);
        text_add(out, "{0,%zu}", form->most - 1);
        if (!single) {
            text_add(out, "|(");
            add_class(form->characters, ".-", out);
            add_class(form->characters, "", out);
            text_add(out, "*)?(" NUMBER_OF_NAME ")(");
            add_class(form->characters, "", out);
            text_add(out, "|" NUMBER_OF_NAME ")*");
            if (form->also)
                text_add(out, "|%s", form->also);
        }
        text_add(out, ")$");
    }
    return form->pattern || form->characters;
}

static bool is_dscp(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return text[digits] == '\0' &&
           (digits == 1 || (digits == 2 && *text != '0' && (text[0] - '0') * 10 + text[1] - '0' < 64));
}

static bool is_priority(const char *text)
{
    return *text >= '0' && *text <= '7' && text[1] == '\0';
}

static bool is_destination(const char *text)
{
    static const struct form word = {.characters = "._-+:@%[]", .most = 255};
    const char *at = strrchr(text, '@');
    return is_word(&word, text) && (!at || (at[1] != '\0' && at[1] != '-'));
}

static bool is_nic_of(const char *text)
{
    static const struct form word = {.characters = "._-", .most = FORM_ROLE_MOST};
    const char *dot = strchr(text, '.');
    return is_word(&word, text) && (!dot || (dot[1] != '\0' && dot[1] != '-' && !strchr(dot + 1, '.')));
}

const struct form form_line = {.is = "text of one line",
                               .expected = "text without line breaks and other control characters",
                               .fits = is_line,
                               .pattern = "[^\\u0000-\\u001f\\u007f-\\u009f]*"};
const struct form form_any = {"text", "any text", .fits = is_any, .pattern = ".*"};
const struct form form_name = {
    "a valid name", "at most 64 letters, digits, '.', '_', '-', of which neither '.' nor '-' is the first",
    .characters = "._-", .most = 64};
const struct form form_role = {"a valid name",
                               "at most 100 letters, digits, '_', '-', of which '-' is not the first",
                               .characters = "_-", .most = FORM_ROLE_MOST};
#define NIC_OF                                                                                               \
    "a valid name",                                                                                          \
        "at most 100 letters, digits, '_', '-', of which '-' is not the first, and one '.' before the name " \
        "of a NIC",                                                                                          \
        .fits = is_nic_of, .characters = "._-", .most = FORM_ROLE_MOST
const struct form form_nic_of = {NIC_OF};
const struct form form_roles = {NIC_OF, .also = "[*][0-9]*([.][0-9A-Za-z_][0-9A-Za-z_-]*)?"};
const struct form form_word = {
    "a valid name",
    "at most 120 letters, digits and . _ - + : @ = , of which neither '.' nor '-' is the first",
    .characters = "._-+:@=,", .most = 120};
const struct form form_priority = {"a priority", "a number from 0 to 7", .fits = is_priority,
                                   .pattern = "[0-7]"};
const struct form form_dscp = {"a DSCP", "a number from 0 to 63", .fits = is_dscp,
                               .pattern = "[0-9]|[1-5][0-9]|6[0-3]"};
const struct form form_destination = {
    "a destination of ssh", "user@host, or a host name from your ssh configuration", .fits = is_destination};
