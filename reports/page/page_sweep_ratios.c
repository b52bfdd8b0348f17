/* GPU memory beside host memory in a sweep: pairs of cells that differ in nothing else. */
#include "reports/page/page_parts.h"

#include "reports/page/html.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS_LISTED 200

static const char *const wanted[] = {"goodput of all flows", "latency p50", "latency p99"};
#define WANTED (sizeof wanted / sizeof *wanted)

/* The axis of the memory of all flows; axis_count: there is none. */
static size_t memory_axis(const struct sweep_table *t)
{
    for (size_t i = 0; i < t->axis_count; i++) {
        const char *dot = strrchr(t->axes[i].path, '.');
        if (t->axes[i].varies && dot && strcmp(dot + 1, "memory") == 0)
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

static const char *memory_of(const struct sweep_table *t, size_t cell, size_t axis)
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

/* {choices without memory: the cell with memory "host"} */
static json_t *host_cells(const struct sweep_table *t, size_t axis)
{
    json_t *cells = json_object();
    for (size_t cell = 0; cell < t->cell_count; cell++) {
        char *rest = strcmp(memory_of(t, cell, axis), "host") == 0 ? rest_of(t, cell, axis) : NULL;
        if (rest)
            json_object_set_new(cells, rest, json_integer((json_int_t)cell));
        free(rest);
    }
    return cells;
}

static void add_head(const struct sweep_table *t, const size_t *figures, struct text *out)
{
    text_add(out, "<h2>GPU memory beside host memory</h2>\n<div class=scroll><table><thead><tr><th><th>");
    for (size_t i = 0; i < WANTED; i++) {
        if (figures[i] == SIZE_MAX)
            continue;
        text_add(out, "<th colspan=3 class=number>");
        html_escaped(out, t->figures[figures[i]].name);
        text_add(out, ", %s", sweep_unit_of(&t->figures[figures[i]]).name);
    }
    text_add(out, "</tr>\n<tr><th>cell<th>memory");
    for (size_t i = 0; i < WANTED; i++)
        if (figures[i] != SIZE_MAX)
            text_add(out, "<th class=number>host<th class=number>GPU<th class=number>GPU / host");
    text_add(out, "</tr></thead>\n");
}

static void add_pair(const struct sweep_table *t, size_t host, size_t gpu, size_t axis, const size_t *figures,
                     struct text *out)
{
    struct text choices = {0};
    for (size_t i = 0; i < t->axis_count; i++) {
        const struct sweep_value *value = sweep_choice(t, first_row(t, gpu), i);
        if (i != axis && t->axes[i].varies)
            text_add(&choices, "%s%s %s", choices.length ? ", " : "", t->axes[i].label,
                     value ? value->shown : "unset");
    }
    text_add(out, "<tr>");
    html_cell(out, text_string(&choices));
    html_cell(out, memory_of(t, gpu, axis));
    for (size_t i = 0; i < WANTED; i++) {
        if (figures[i] == SIZE_MAX)
            continue;
        double factor = sweep_unit_of(&t->figures[figures[i]]).factor;
        double of_host = sweep_spread(t, figures[i], host).mean * factor,
               of_gpu = sweep_spread(t, figures[i], gpu).mean * factor;
        html_number_cell(out, of_host);
        html_number_cell(out, of_gpu);
        html_number_cell(out, of_host > 0 ? of_gpu / of_host : NAN);
    }
    text_add(out, "</tr>\n");
    text_free(&choices);
}

void page_add_cell_ratios(const struct sweep_table *t, struct text *out)
{
    size_t axis = memory_axis(t), pairs = 0, figures[WANTED];
    if (axis == t->axis_count)
        return;
    for (size_t i = 0; i < WANTED; i++)
        figures[i] = figure_named(t, wanted[i]);
    json_t *hosts = host_cells(t, axis);
    for (size_t cell = 0; cell < t->cell_count; cell++) {
        char *rest = strcmp(memory_of(t, cell, axis), "host") != 0 ? rest_of(t, cell, axis) : NULL;
        const json_t *host = rest ? json_object_get(hosts, rest) : NULL;
        free(rest);
        if (!host || pairs++ >= PAIRS_LISTED)
            continue;
        if (pairs == 1)
            add_head(t, figures, out);
        add_pair(t, (size_t)json_integer_value(host), cell, axis, figures, out);
    }
    json_decref(hosts);
    if (pairs)
        text_add(out,
                 "</table></div>\n<p class=soft>%zu of %zu pairs of cells that differ only in the memory of "
                 "their flows. Latency is that "
                 "of the first flow that measures it.</p>\n",
                 pairs < PAIRS_LISTED ? pairs : (size_t)PAIRS_LISTED, pairs);
}
