/* GPU memory beside host memory, other traffic tools beside roce-traffic and so on in a sweep: pairs of cells that differ in nothing else. */
#include "reports/page/page_parts.h"

#include "reports/page/html.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS_LISTED 200

static const char *const wanted[] = {"goodput of all flows", "latency p50", "latency p99"};
#define WANTED (sizeof wanted / sizeof *wanted)

/* The axis of the key of all flows; axis_count: there is none. */
static size_t axis_of(const struct page_comparison *c, const struct sweep_table *t)
{
    for (size_t i = 0; i < t->axis_count; i++) {
        const char *dot = strrchr(t->axes[i].path, '.');
        if (t->axes[i].varies && dot && strcmp(dot + 1, c->key) == 0)
            return i;
    }
    return t->axis_count;
}

/* The first figure of this name, or of this name and a flow. */
static size_t figure_named(const struct sweep_table *t, const char *name)
{
    for (size_t i = 0; i < t->figure_count; i++)
        if (!t->figures[i].check && strncmp(t->figures[i].name, name, strlen(name)) == 0)
            return i;
    return SIZE_MAX;
}

static size_t first_row(const struct sweep_table *t, size_t cell)
{
    return t->members[t->cells[cell].first];
}

static const char *value_of(const struct sweep_table *t, size_t cell, size_t axis)
{
    const struct sweep_value *value = sweep_choice(t, first_row(t, cell), axis);
    return value ? value->exact : "";
}

/* The cell's choices without the axis. */
static char *rest_of(const struct sweep_table *t, size_t cell, size_t axis)
{
    struct text key = {0};
    for (size_t i = 0; i < t->axis_count; i++)
        if (i != axis)
            text_add(&key, "%x,", t->choices[first_row(t, cell) * t->axis_count + i]);
    text_add(&key, ".");
    return text_take(&key);
}

/* {choices without the axis: the cell with the base value} */
static json_t *base_cells(const struct page_comparison *c, const struct sweep_table *t, size_t axis)
{
    json_t *cells = json_object();
    for (size_t cell = 0; cell < t->cell_count; cell++) {
        char *rest = strcmp(value_of(t, cell, axis), c->chosen) == 0 ? rest_of(t, cell, axis) : NULL;
        if (rest)
            json_object_set_new(cells, rest, json_integer((json_int_t)cell));
        free(rest);
    }
    return cells;
}

static void add_head(const struct page_comparison *c, const struct sweep_table *t, const size_t *figures,
                     struct text *out)
{
    text_add(out, "<h2>%s</h2>\n<div class=scroll><table><thead><tr><th><th>", c->title);
    for (size_t i = 0; i < WANTED; i++) {
        if (figures[i] == SIZE_MAX)
            continue;
        text_add(out, "<th colspan=3 class=number>");
        html_escaped(out, t->figures[figures[i]].name);
        text_add(out, ", %s", sweep_unit_of(&t->figures[figures[i]]).name);
    }
    text_add(out, "</tr>\n<tr><th>cell<th>%s", c->key);
    for (size_t i = 0; i < WANTED; i++)
        if (figures[i] != SIZE_MAX)
            text_add(out, "<th class=number>%s<th class=number>%s<th class=number>%s / %s", c->first,
                     c->other, c->other, c->first);
    text_add(out, "</tr></thead>\n");
}

static void add_pair(const struct sweep_table *t, size_t first, size_t other, size_t axis,
                     const size_t *figures, struct text *out)
{
    struct text choices = {0};
    for (size_t i = 0; i < t->axis_count; i++) {
        const struct sweep_value *value = sweep_choice(t, first_row(t, other), i);
        if (i != axis && t->axes[i].varies)
            text_add(&choices, "%s%s %s", choices.length ? ", " : "", t->axes[i].label,
                     value ? value->shown : "unset");
    }
    text_add(out, "<tr>");
    html_cell(out, text_string(&choices));
    html_cell(out, value_of(t, other, axis));
    for (size_t i = 0; i < WANTED; i++) {
        if (figures[i] == SIZE_MAX)
            continue;
        double factor = sweep_unit_of(&t->figures[figures[i]]).factor;
        double of_first = sweep_spread(t, figures[i], first).mean * factor,
               of_other = sweep_spread(t, figures[i], other).mean * factor;
        html_number_cell(out, of_first);
        html_number_cell(out, of_other);
        html_number_cell(out, of_first > 0 ? of_other / of_first : NAN);
    }
    text_add(out, "</tr>\n");
    text_free(&choices);
}

static void add_comparison(const struct page_comparison *c, const struct sweep_table *t, struct text *out)
{
    size_t axis = axis_of(c, t), pairs = 0, figures[WANTED];
    if (axis == t->axis_count)
        return;
    for (size_t i = 0; i < WANTED; i++)
        figures[i] = figure_named(t, wanted[i]);
    json_t *bases = base_cells(c, t, axis);
    for (size_t cell = 0; cell < t->cell_count; cell++) {
        char *rest = strcmp(value_of(t, cell, axis), c->chosen) != 0 ? rest_of(t, cell, axis) : NULL;
        const json_t *first = rest ? json_object_get(bases, rest) : NULL;
        free(rest);
        if (!first || pairs++ >= PAIRS_LISTED)
            continue;
        if (pairs == 1)
            add_head(c, t, figures, out);
        add_pair(t, (size_t)json_integer_value(first), cell, axis, figures, out);
    }
    json_decref(bases);
    if (pairs)
        text_add(out,
                 "</table></div>\n<p class=soft>%zu of %zu pairs of cells that differ only in the %s of "
                 "their flows. Latency is that "
                 "of the first flow that measures it.</p>\n",
                 pairs < PAIRS_LISTED ? pairs : (size_t)PAIRS_LISTED, pairs, c->key);
}

void page_add_cell_ratios(const struct sweep_table *t, struct text *out)
{
    for (size_t i = 0; i < PAGE_COMPARISONS; i++)
        add_comparison(&page_comparisons[i], t, out);
}
