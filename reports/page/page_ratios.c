/* GPU memory beside host memory, other traffic tools beside roce-traffic and so on: pairs of runs that differ
 * only in that of their flows. */
#include "lib/document/json_text.h"
#include "reports/page/html.h"
#include "reports/page/page_parts.h"
#include "reports/results/differences.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What pairs of runs and of cells are held against each other by: the value of a key of their flows. */
struct page_comparison {
    const char *key;
    const char *base, *chosen; /* the value of the first of a pair, in results and in scenarios */
    const char *title;         /* of the table */
    const char *first, *other; /* its columns */
};
static const struct page_comparison page_comparisons[] = {
    {"memory", "host", "host", "GPU memory beside host memory", "host", "GPU"},
    {"tool", "roce-traffic", "roce", "Other traffic tools beside roce-traffic", "roce-traffic", "other"},
    {"numa", "near", "near", "The farthest NUMA node beside the NIC's", "near", "far"},
    {"relaxed_ordering", "false", "false", "Relaxed ordering of PCIe writes beside strict ordering", "strict",
     "relaxed"},
};

/* Does a path name this key of flows: "flows.*.memory", "scenario.flows.a-to-b.memory"? */
static bool names_key(const struct page_comparison *c, const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot + 1, c->key) == 0;
}

/* The value that all flows of a run have; "" if they differ. */
static const char *value_of(const struct page_comparison *c, const struct run *run)
{
    const char *name, *value = NULL;
    json_t *flow;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "flows"), name, flow)
    {
        const json_t *found = json_object_get(flow, c->key);
        const char *mine =
            json_is_boolean(found) ? json_is_true(found) ? "true" : "false" : run_member(flow, c->key);
        if (!*mine)
            continue;
        if (value && strcmp(value, mine) != 0)
            return "";
        value = mine;
    }
    return value ? value : "";
}

/* The choices of a sweep without those of the key, and which repetition it is. */
static json_t *rest_of_cell(const struct page_comparison *c, const struct run *run)
{
    const char *path;
    json_t *value, *rest = json_object();
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "cell"), path, value)
    {
        if (!names_key(c, path))
            json_object_set(rest, path, value);
    }
    json_object_set(rest, "repeat", (json_t *)(uintptr_t)run_get(run, "repeat"));
    return rest;
}

/* Do the runs differ in the key of their flows, and in nothing else that was set? */
static bool only_key_differs(const struct page_comparison *c, const struct run *one, const struct run *other)
{
    const json_t *results[] = {one->result, other->result};
    json_t *a = rest_of_cell(c, one), *b = rest_of_cell(c, other);
    json_t *differences = json_same(a, b) ? differences_between(results, 2, NULL) : NULL, *row;
    const char *path;
    bool only = differences;
    json_object_foreach(differences, path, row)
    {
        only &= names_key(c, path) || strcmp(path, "seed") == 0;
    }
    json_decref(a);
    json_decref(b);
    json_decref(differences);
    return only;
}

/* "message 64KiB": what distinguishes the pair from other pairs; where choices do not, both runs. */
static void add_choices(const struct page_comparison *c, const struct runs *runs, const struct run *first,
                        const struct run *run, struct text *out)
{
    struct text words = {0};
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "cell"), path, value)
    {
        if (!names_key(c, path))
            choice_add(path, value, run_get(run, "cell"), &words);
    }
    json_int_t repeat = json_integer_value(run_get(run, "repeat"));
    if (repeat > 1)
        text_add(&words, "%srun %lld", words.length ? ", " : "", (long long)repeat);
    if (!words.length || runs->results > 1) {
        text_clear(&words);
        text_add(&words, "%s, beside %s", run_label(run), run_label(first));
    }
    html_cell(out, text_string(&words));
    text_free(&words);
}

static double goodput_gbps(const struct run *run)
{
    return run_sum_flows(run, "goodput_bps") / 1e9;
}
static double delivered_gbps(const struct run *run)
{
    return run_sum_flows(run, "delivered_bps") / 1e9;
}
static double p50(const struct run *run)
{
    return run_latency_us(run, "p50", NULL);
}
static double p99(const struct run *run)
{
    return run_latency_us(run, "p99", NULL);
}

static const struct {
    const char *words;
    double (*measure)(const struct run *run);
} run_figures[] = {{"goodput, Gb/s", goodput_gbps},
                   {"delivered, Gb/s", delivered_gbps},
                   {"latency p50, us", p50},
                   {"latency p99, us", p99}};
#define FIGURES (sizeof run_figures / sizeof *run_figures)

/* What was delivered is counted of simulated flows alone. */
static bool has_figure(const struct runs *runs, size_t i)
{
    return run_figures[i].measure != delivered_gbps || runs_have_delivered(runs);
}

static void add_head(const struct page_comparison *c, const struct runs *runs, struct text *out)
{
    text_add(out, "<h2>%s</h2>\n<div class=scroll><table><tr><th><th>", c->title);
    for (size_t i = 0; i < FIGURES; i++)
        if (has_figure(runs, i))
            text_add(out, "<th colspan=3 class=number>%s", run_figures[i].words);
    text_add(out, "</tr>\n<tr><th>run<th>%s", c->key);
    for (size_t i = 0; i < FIGURES; i++)
        if (has_figure(runs, i))
            text_add(out, "<th class=number>%s<th class=number>%s<th class=number>%s / %s", c->first,
                     c->other, c->other, c->first);
    text_add(out, "</tr>\n");
}

static void add_pair(const struct page_comparison *c, const struct runs *runs, const struct run *first,
                     const struct run *other, struct text *out)
{
    text_add(out, "<tr>");
    add_choices(c, runs, first, other, out);
    html_cell(out, value_of(c, other));
    for (size_t i = 0; i < FIGURES; i++) {
        if (!has_figure(runs, i))
            continue;
        double of_first = run_figures[i].measure(first), of_other = run_figures[i].measure(other);
        html_number_cell(out, of_first);
        html_number_cell(out, of_other);
        html_number_cell(out, of_first > 0 ? of_other / of_first : NAN);
    }
    text_add(out, "</tr>\n");
}

static void add_comparison(const struct page_comparison *c, const struct runs *runs, struct text *out)
{
    bool any = false;
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *first = &runs->items[i];
        for (size_t j = 0; j < runs->count && strcmp(value_of(c, first), c->base) == 0; j++) {
            const struct run *other = &runs->items[j];
            if (!*value_of(c, other) || strcmp(value_of(c, other), c->base) == 0 ||
                !only_key_differs(c, first, other))
                continue;
            if (!any)
                add_head(c, runs, out);
            any = true;
            add_pair(c, runs, first, other, out);
        }
    }
    if (any)
        text_add(out,
                 "</table></div>\n<p class=soft>Runs that differ only in the %s of their flows. Goodput is "
                 "that of all flows together, latency that of the slowest flow. A p99 of less than "
                 "100 messages is left out.</p>\n",
                 c->key);
}

void page_add_ratios(const struct runs *runs, struct text *out)
{
    for (size_t i = 0; i < sizeof page_comparisons / sizeof *page_comparisons; i++)
        add_comparison(&page_comparisons[i], runs, out);
}

/* ---- cells of a sweep */

/* GPU memory beside host memory, other traffic tools beside roce-traffic and so on in a sweep: pairs of cells
 * that differ in nothing else. */

#define PAIRS_LISTED 200

static const char *const wanted[] = {"goodput of all flows", "delivered by all flows", "latency p50",
                                     "latency p99"};
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

static const char *cell_value_of(const struct sweep_table *t, size_t cell, size_t axis)
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
        char *rest = strcmp(cell_value_of(t, cell, axis), c->chosen) == 0 ? rest_of(t, cell, axis) : NULL;
        if (rest)
            json_object_set_new(cells, rest, json_integer((json_int_t)cell));
        free(rest);
    }
    return cells;
}

static void add_cell_head(const struct page_comparison *c, const struct sweep_table *t, const size_t *figures,
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

static void add_cell_pair(const struct sweep_table *t, size_t first, size_t other, size_t axis,
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
    html_cell(out, cell_value_of(t, other, axis));
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

static void add_cell_comparison(const struct page_comparison *c, const struct sweep_table *t,
                                struct text *out)
{
    size_t axis = axis_of(c, t), pairs = 0, figures[WANTED];
    if (axis == t->axis_count)
        return;
    for (size_t i = 0; i < WANTED; i++)
        figures[i] = figure_named(t, wanted[i]);
    json_t *bases = base_cells(c, t, axis);
    for (size_t cell = 0; cell < t->cell_count; cell++) {
        char *rest = strcmp(cell_value_of(t, cell, axis), c->chosen) != 0 ? rest_of(t, cell, axis) : NULL;
        const json_t *first = rest ? json_object_get(bases, rest) : NULL;
        free(rest);
        if (!first || pairs++ >= PAIRS_LISTED)
            continue;
        if (pairs == 1)
            add_cell_head(c, t, figures, out);
        add_cell_pair(t, (size_t)json_integer_value(first), cell, axis, figures, out);
    }
    json_decref(bases);
    if (pairs)
        text_add(out,
                 "</table></div>\n<p class=soft>%zu of %zu pairs of cells that differ only in the %s of "
                 "their flows. Latency is that "
                 "of the slowest flow.</p>\n",
                 pairs < PAIRS_LISTED ? pairs : (size_t)PAIRS_LISTED, pairs, c->key);
}

void page_add_cell_ratios(const struct sweep_table *t, struct text *out)
{
    for (size_t i = 0; i < sizeof page_comparisons / sizeof *page_comparisons; i++)
        add_cell_comparison(&page_comparisons[i], t, out);
}
