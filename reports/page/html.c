#include "reports/page/html.h"

#include "lib/formats/verdicts.h"
#include "lib/output/visible.h"
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void html_escaped(struct text *out, const char *words)
{
    visible_add_markup(out, words, VISIBLE_TEXT, true);
}

void html_base64(struct text *out, const char *bytes, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i < 3 ? length - i : 3;
        uint32_t bits = 0;
        char four[] = "====";
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < left ? (unsigned char)bytes[i + k] : 0);
        for (size_t k = 0; k <= left; k++)
            four[k] = digits[bits >> (18 - 6 * k) & 63];
        text_add_bytes(out, four, 4);
    }
}

void html_address(struct text *out, const char *path)
{
    for (const unsigned char *c = (const unsigned char *)path; *c; c++)
        text_add(out, isalnum(*c) || strchr("/-_.~", *c) ? "%c" : "%%%02X", *c);
}

void html_cell(struct text *out, const char *words)
{
    text_add(out, "<td>");
    html_escaped(out, words);
    text_add(out, "</td>");
}

/* Significant digits only, with thousands separated. What is so small that it would be shown as 0.0000 has a
 * power of ten. */
void html_number(struct text *out, double value)
{
    char digits[64];
    double size = fabs(value);
    if (!isfinite(value)) {
        text_add(out, "&ndash;");
        return;
    }
    bool whole = value == floor(value) && size < 1e15;
    snprintf(digits, sizeof digits, whole || size >= 1e-3 ? "%.*f" : "%.*e",
             whole || size >= 1000 ? 0
             : size >= 100         ? 1
             : size >= 1           ? 2
             : size >= 1e-3        ? 4
                                   : 2,
             value);
    size_t length = strcspn(digits, "."), start = digits[0] == '-';
    for (size_t i = 0; digits[i]; i++) {
        if (i > start && i < length && (length - i) % 3 == 0)
            text_add(out, "&#8239;");
        text_add_bytes(out, &digits[i], 1);
    }
}

void html_number_cell(struct text *out, double value)
{
    text_add(out, "<td class=number>");
    html_number(out, value);
    text_add(out, "</td>");
}

double html_value(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

void html_verdict(struct text *out, const char *verdict)
{
    text_add(out, "<span class=\"pill %s\">", verdict_names[verdict_of(verdict)]);
    html_escaped(out, verdict ? verdict : "unknown");
    text_add(out, "</span>");
}
