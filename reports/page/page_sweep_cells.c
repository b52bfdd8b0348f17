/* The table of a sweep's cells. */
#include "reports/page/page_parts.h"

#include "reports/page/html.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

#define CELLS_LISTED   1000
#define COLUMNS_LISTED 14

/* Expectations and figures that differ between runs have columns. Returns how many there would be. */
static size_t choose_columns(const struct sweep_table *t, size_t columns[COLUMNS_LISTED], size_t *chosen)
{
    size_t all = 0;
    *chosen = 0;
    for (size_t i = 0; i < t->figure_count; i++) {
        const struct sweep_figure *f = &t->figures[i];
        if (f->still || !f->known || !(f->high > f->low))
            continue;
        if (*chosen < COLUMNS_LISTED)
            columns[(*chosen)++] = i;
        all++;
    }
    return all;
}

/* A name that may be broken after each underscore: rx_prio3_pause. */
static void add_name(const char *name, struct text *out)
{
    while (*name) {
        size_t length = strcspn(name, "_");
        struct text part = {0};
        length += name[length] == '_';
        text_add_bytes(&part, name, length);
        html_escaped(out, text_string(&part));
        text_add(out, "%s", part.data && name[length - 1] == '_' ? "<wbr>" : "");
        text_free(&part);
        name += length;
    }
}

static void add_head(const struct sweep_table *t, const size_t *columns, size_t chosen, struct text *out)
{
    text_add(out, "<div class=scroll><table class=sortable><thead><tr><th>folder");
    for (size_t i = 0; i < t->axis_count; i++) {
        if (!t->axes[i].varies)
            continue;
        text_add(out, t->axes[i].words ? "<th>" : "<th class=number>");
        html_escaped(out, t->axes[i].label);
    }
    text_add(out, "<th>verdict");
    for (size_t i = 0; i < chosen; i++) {
        struct sweep_unit unit = sweep_unit_of(&t->figures[columns[i]]);
        text_add(out, "<th class=number>");
        add_name(t->figures[columns[i]].name, out);
        text_add(out, "%s", *unit.name ? ", " : "");
        html_escaped(out, unit.name);
    }
    text_add(out, "</tr></thead>\n<tbody>\n");
}

static enum sweep_verdict worst(const struct sweep_table *t, const struct sweep_cell *cell)
{
    static const int rank[] = {[SWEEP_NONE] = 0,
                               [SWEEP_SKIPPED] = 1,
                               [SWEEP_PASSED] = 2,
                               [SWEEP_FAILED] = 3,
                               [SWEEP_INCOMPLETE] = 4};
    enum sweep_verdict found = SWEEP_NONE;
    for (size_t i = 0; i < cell->count; i++) {
        enum sweep_verdict mine = t->rows[t->members[cell->first + i]].verdict;
        found = rank[mine] > rank[found] ? mine : found;
    }
    return found;
}

static void add_choice_cells(const struct sweep_table *t, size_t row, struct text *out)
{
    for (size_t i = 0; i < t->axis_count; i++) {
        const struct sweep_value *value = sweep_choice(t, row, i);
        if (!t->axes[i].varies)
            continue;
        if (t->axes[i].words)
            text_add(out, "<td class=choice>");
        else
            text_add(out, "<td class=number data-v=\"%.15g\">", value ? value->number : 0.0);
        html_escaped(out, value ? value->shown : "unset");
        text_add(out, "</td>");
    }
}

static void add_value(const struct sweep_table *t, size_t figure, size_t cell, struct text *out)
{
    struct sweep_unit unit = sweep_unit_of(&t->figures[figure]);
    struct spread spread = sweep_spread(t, figure, cell);
    if (!isfinite(spread.mean)) {
        text_add(out, "<td class=number data-v=\"\">&ndash;</td>");
        return;
    }
    text_add(out, "<td class=number data-v=\"%.9g\">", spread.mean);
    html_number(out, spread.mean * unit.factor);
    if (isfinite(spread.ci95)) {
        text_add(out, " <span class=soft>&plusmn;&#8239;");
        html_number(out, spread.ci95 * unit.factor);
        text_add(out, "</span>");
    }
    if (sweep_failed(t, figure, cell))
        text_add(out, " <b class=failed title=\"the expectation failed\">&times;</b>");
    text_add(out, "</td>");
}

static void add_cell(const struct sweep_table *t, size_t cell, const size_t *columns, size_t chosen,
                     struct text *out)
{
    const struct sweep_cell *c = &t->cells[cell];
    size_t row = t->members[c->first];
    text_add(out, "<tr><td><code>");
    html_escaped(out, t->rows[row].folder);
    text_add(out, "</code>");
    if (c->count > 1) {
        text_add(out, " &hellip; <code>");
        html_escaped(out, t->rows[t->members[c->first + c->count - 1]].folder);
        text_add(out, "</code>");
    }
    text_add(out, "</td>");
    add_choice_cells(t, row, out);
    text_add(out, "<td>");
    html_verdict(out, sweep_verdict_names[worst(t, c)]);
    text_add(out, "</td>");
    for (size_t i = 0; i < chosen; i++)
        add_value(t, columns[i], cell, out);
    text_add(out, "</tr>\n");
}

void page_add_cells(const struct sweep_table *t, struct text *out)
{
    size_t columns[COLUMNS_LISTED], chosen, all = choose_columns(t, columns, &chosen);
    size_t listed = t->cell_count < CELLS_LISTED ? t->cell_count : CELLS_LISTED;
    text_add(out, "<h2 id=cells>All cells</h2>\n");
    if (listed < t->cell_count)
        text_add(out, "<p>The first %zu of %zu cells; all are in <a href=\"sweep.csv\">sweep.csv</a>.</p>\n",
                 listed, t->cell_count);
    if (sweep_repeats(t) > 1)
        text_add(
            out,
            "<p class=soft>Values are means of a cell's runs, with the 95 %% confidence interval of the mean "
            "(Student's t).</p>\n");
    add_head(t, columns, chosen, out);
    for (size_t cell = 0; cell < listed; cell++)
        add_cell(t, cell, columns, chosen, out);
    text_add(out, "</tbody></table></div>\n");
    if (chosen < all)
        text_add(out,
                 "<p class=soft>The first %zu of %zu figures that differ between runs; all are in <a "
                 "href=\"sweep.csv\">sweep.csv</a>.</p>\n",
                 chosen, all);
    if (t->figures_left_out)
        text_add(out,
                 "<p class=soft>The results have %zu more figures than are read; they are in result.json of "
                 "each run.</p>\n",
                 t->figures_left_out);
}
