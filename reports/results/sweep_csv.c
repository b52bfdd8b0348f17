/* A table of a sweep as comma-separated values, RFC 4180. */
#include "reports/results/sweep_inside.h"

#include "lib/output/visible.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A field: quoted where the format wants it. Spreadsheets take a text that begins with one of =+-@ for a formula, and would execute it:
 * an apostrophe before it makes it a text for them. */
static void add_text(const char *words, struct text *out)
{
    struct text shown = {0};
    visible_add(&shown, words, strlen(words), VISIBLE_LINE);
    const char *plain = text_string(&shown);
    bool quoted = strpbrk(plain, ",\"") || *plain == ' ' || (*plain && plain[strlen(plain) - 1] == ' ');
    text_add(out, "%s%s", quoted ? "\"" : "", *plain && strchr("=+-@", *plain) ? "'" : "");
    for (const char *c = plain; *c; c++)
        text_add(out, *c == '"' ? "\"\"" : "%c", *c);
    text_add(out, "%s", quoted ? "\"" : "");
    out->failed |= shown.failed;
    text_free(&shown);
}

/* The fewest digits that give the same number again. */
static void add_number(double value, struct text *out)
{
    char digits[40] = "";
    for (int precision = 15; isfinite(value) && precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    text_add(out, "%s", digits);
}

/* "goodput of all flows, b/s"; "left side of nothing is lost: delta(*.drops) == 0, packets" */
static void add_named(const char *before, const char *name, const char *check, const char *unit,
                      struct text *out)
{
    struct text words = {0};
    text_add(&words, "%s%s%s%s%s%s", before, name, check ? ": " : "", check ? check : "", *unit ? ", " : "",
             unit);
    text_add(out, ",");
    add_text(text_string(&words), out);
    out->failed |= words.failed;
    text_free(&words);
}

static void add_head(const struct sweep_table *t, struct text *out)
{
    text_add(out, "folder");
    for (size_t i = 0; i < t->axis_count; i++)
        add_named("", t->axes[i].path, NULL, "", out);
    text_add(out, ",repeat,verdict");
    for (size_t i = 0; i < t->figure_count; i++) {
        const struct sweep_figure *f = &t->figures[i];
        if (f->still)
            continue;
        if (f->check)
            add_named("verdict of ", f->name, f->check, "", out);
        add_named(f->check ? "left side of " : "", f->name, f->check, f->unit, out);
    }
    text_add(out, "\r\n");
}

static void add_row(const struct sweep_table *t, size_t row, struct text *out)
{
    add_text(t->rows[row].folder, out);
    for (size_t i = 0; i < t->axis_count; i++) {
        const struct sweep_value *value = sweep_choice(t, row, i);
        text_add(out, ",");
        if (value && value->is_number)
            text_add(out, "%s", value->exact);
        else if (value)
            add_text(value->exact, out);
    }
    text_add(out, ",%lld,%s", t->rows[row].repeat, sweep_verdict_names[t->rows[row].verdict]);
    for (size_t i = 0; i < t->figure_count; i++) {
        const struct sweep_figure *f = &t->figures[i];
        if (f->still)
            continue;
        if (f->check)
            text_add(out, ",%s", sweep_verdict_names[f->verdicts[row]]);
        text_add(out, ",");
        add_number(f->values[row], out);
    }
    text_add(out, "\r\n");
}

void sweep_table_csv(const struct sweep_table *t, struct text *out)
{
    add_head(t, out);
    for (size_t row = 0; row < t->row_count; row++)
        add_row(t, row, out);
}
