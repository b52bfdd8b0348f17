#include "lib/output/csv.h"

#include "lib/output/visible.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where spreadsheets take semicolons for separators, a text has a cell behind each of them. Spaces before a
 * sign, which some leave out, and its full-width form do not make it harmless. */
static bool begins_formula(const char *plain, const char *at)
{
    static const char *const signs[] = {"=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"};
    size_t i = 0, count = sizeof signs / sizeof *signs;
    while (i < count && strncmp(at, signs[i], strlen(signs[i])) != 0)
        i++;
    while (at > plain && at[-1] == ' ')
        at--;
    return i < count && (at == plain || at[-1] == ';');
}

void csv_text(struct text *out, const char *words)
{
    struct text shown = {0};
    visible_add(&shown, words, strlen(words), VISIBLE_LINE);
    const char *plain = text_string(&shown);
    bool quoted = strpbrk(plain, ",;\"") || *plain == ' ' || (*plain && plain[strlen(plain) - 1] == ' ');
    text_add(out, "%s", quoted ? "\"" : "");
    for (const char *at = plain; *at; at++) {
        if (begins_formula(plain, at))
            text_add_bytes(out, "'", 1);
        if (*at == '"')
            text_add_bytes(out, "\"", 1);
        text_add_bytes(out, at, 1);
    }
    text_add(out, "%s", quoted ? "\"" : "");
    out->failed |= shown.failed;
    text_free(&shown);
}

void csv_number(struct text *out, double value)
{
    char digits[40] = "";
    for (int precision = 15; isfinite(value) && precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    text_add(out, "%s", digits);
}
