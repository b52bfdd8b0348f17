/* A table of a sweep as comma-separated values, RFC 4180. */
#include "reports/results/sweep_inside.h"

#include "lib/output/csv.h"

/* "goodput of all flows, b/s"; "left side of nothing is lost: delta(*.drops) == 0, packets" */
static void add_named(const char *before, const char *name, const char *check, const char *unit,
                      struct text *out)
{
    struct text words = {0};
    text_add(&words, "%s%s%s%s%s%s", before, name, check ? ": " : "", check ? check : "", *unit ? ", " : "",
             unit);
    text_add(out, ",");
    csv_text(out, text_string(&words));
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
    text_add(out, CSV_LINE_END);
}

static void add_row(const struct sweep_table *t, size_t row, struct text *out)
{
    csv_text(out, t->rows[row].folder);
    for (size_t i = 0; i < t->axis_count; i++) {
        const struct sweep_value *value = sweep_choice(t, row, i);
        text_add(out, ",");
        if (value && value->is_number)
            text_add(out, "%s", value->exact);
        else if (value)
            csv_text(out, value->exact);
    }
    text_add(out, ",%lld,%s", t->rows[row].repeat, sweep_verdict_names[t->rows[row].verdict]);
    for (size_t i = 0; i < t->figure_count; i++) {
        const struct sweep_figure *f = &t->figures[i];
        if (f->still)
            continue;
        if (f->check)
            text_add(out, ",%s", sweep_verdict_names[f->verdicts[row]]);
        text_add(out, ",");
        csv_number(out, f->values[row]);
    }
    text_add(out, CSV_LINE_END);
}

void sweep_table_csv(const struct sweep_table *t, struct text *out)
{
    add_head(t, out);
    for (size_t row = 0; row < t->row_count; row++)
        add_row(t, row, out);
}
