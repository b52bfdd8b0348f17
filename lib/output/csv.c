#include "lib/output/csv.h"

#include "lib/output/visible.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void csv_text(struct text *out, const char *words)
{
    struct text shown = {0};
    visible_add(&shown, words, strlen(words), VISIBLE_LINE);
    const char *plain = text_string(&shown);
    bool quoted = strpbrk(plain, ",\"") || *plain == ' ' || (*plain && plain[strlen(plain) - 1] == ' ');
    text_add(out, "%s%s", quoted ? "\"" : "", *plain && strchr("=+-@", *plain) ? "'" : "");
    for (size_t length; *plain; plain += length) {
        length = strcspn(plain, "\"");
        text_add_bytes(out, plain, length);
        if (plain[length] == '"') {
            text_add(out, "\"\"");
            length++;
        }
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
