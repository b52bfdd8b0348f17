/* Drawings over all runs of a sweep. */
#include "reports/drawing/figures.h"

#include "lib/text.h"
#include "lib/xalloc.h"
#include "reports/results/differences.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576.0

static double total_goodput_gbps(const struct run *run)
{
    return run_sum_flows(run, "goodput_bps") / 1e9;
}

static double total_delivered_gbps(const struct run *run)
{
    return run_sum_flows(run, "delivered_bps") / 1e9;
}

static double total_messages_per_us(const struct run *run)
{
    return run_sum_flows(run, "messages_per_s") / 1e6;
}

/* ---- what the sweep goes over */

struct axis {
    const char *key, *name; /* the first path with three or more different numbers */
    bool is_bytes;
};

static size_t count_numbers(const struct runs *runs, const char *key, bool *is_bytes)
{
    double seen[256], number;
    size_t count = 0;
    for (size_t i = 0; i < runs->count && count < 256; i++) {
        const json_t *value = json_object_get(run_get(&runs->items[i], "cell"), key);
        bool known = false;
        if (!value || !choice_number(value, &number, is_bytes))
            return 0;
        for (size_t j = 0; j < count; j++)
            known |= seen[j] == number;
        if (!known)
            seen[count++] = number;
    }
    return count;
}

static bool find_axis(const struct runs *runs, struct axis *axis)
{
    const char *key;
    json_t *value;
    size_t most = 2;
    axis->key = NULL;
    json_object_foreach((json_t *)(uintptr_t)run_get(&runs->items[0], "cell"), key, value)
    {
        bool is_bytes;
        size_t count = count_numbers(runs, key, &is_bytes);
        if (count > most) {
            most = count;
            *axis = (struct axis){key, choice_name(key, run_get(&runs->items[0], "cell")), is_bytes};
        }
    }
    return axis->key;
}

/* The cell's choices without the axis: cells with the same ones form one curve. */
static void curve_label(const struct run *run, const struct axis *axis, struct text *out)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "cell"), key, value)
    {
        if (strcmp(key, axis->key) == 0)
            continue;
        choice_add(key, value, run_get(run, "cell"), out);
    }
    if (!out->length)
        text_add(out, "this run");
}

static struct plot_series *curve_named(struct plot_panel *panel, const char *label, enum plot_style style)
{
    for (size_t i = 0; i < panel->series_count; i++)
        if (strcmp(panel->series[i].label, label) == 0)
            return &panel->series[i];
    return plot_add_series(panel, label, style);
}

static void add_axis_label(struct plot *plot, const struct axis *axis)
{
    plot_relabel_x(plot, axis->name);
    plot->bytes_x = axis->is_bytes;
}

/* Curves over the axis, one for each combination of the other choices. */
static void add_curves(const struct runs *runs, const struct axis *axis, const char *suffix,
                       double (*measure)(const struct run *), struct plot_panel *panel)
{
    for (size_t i = 0; i < runs->count; i++) {
        struct text label = {0};
        double x;
        bool is_bytes;
        curve_label(&runs->items[i], axis, &label);
        text_add(&label, "%s", suffix);
        choice_number(json_object_get(run_get(&runs->items[i], "cell"), axis->key), &x, &is_bytes);
        plot_add_point(curve_named(panel, text_string(&label), PLOT_POINTS_LINES), x,
                       measure(&runs->items[i]));
        text_free(&label);
    }
}

/* The published bandwidths that this run is compared with, in Gb/s: at the axis' value, or in the run's
 * row. */
static void add_published(const struct runs *runs, const struct axis *axis, struct plot_panel *panel)
{
    struct plot_series *marks = NULL;
    for (size_t i = 0; i < runs->count; i++) {
        size_t j;
        json_t *item;
        json_array_foreach(run_get(&runs->items[i], "published"), j, item)
        {
            const char *unit = json_string_value(json_object_get(item, "unit"));
            double factor = !unit                        ? 0
                            : strcmp(unit, "MiB/s") == 0 ? 8 * MIB / 1e9
                            : strcmp(unit, "Gb/s") == 0  ? 1
                                                         : 0;
            double value = json_number_value(json_object_get(item, "published")) * factor, x;
            bool is_bytes;
            if (factor == 0 || !json_is_number(json_object_get(item, "value")))
                continue;
            if (!marks) {
                marks = plot_add_series(panel, "published", PLOT_MARKS);
                plot_say(panel, "Squares are the published figures that the runs are compared with");
            }
            if (axis &&
                choice_number(json_object_get(run_get(&runs->items[i], "cell"), axis->key), &x, &is_bytes))
                plot_add_point(marks, x, value);
            else
                plot_add_point(marks, value, (double)i);
        }
    }
}

/* Without an axis each run is a row. */
static void name_rows(const struct runs *runs, struct plot_panel *panel)
{
    for (size_t i = 0; i < runs->count; i++)
        plot_name_row(panel, run_label(&runs->items[i]));
}

static void fill_goodput(const struct runs *runs, struct plot *plot)
{
    struct axis axis;
    bool delivered = true;
    if (runs->count < 2 || !runs_have(runs, "flows"))
        return;
    for (size_t i = 0; i < runs->count; i++)
        delivered = delivered && (isfinite(total_delivered_gbps(&runs->items[i])) ||
                                  !isfinite(total_goodput_gbps(&runs->items[i])));
    if (delivered) {
        free(plot->title);
        plot->title = xstrdup("Delivered");
    } else {
        plot->caption = xstrdup("Payload of the messages of all flows that completed.");
    }
    double (*measure)(const struct run *) = delivered ? total_delivered_gbps : total_goodput_gbps;
    if (find_axis(runs, &axis)) {
        add_axis_label(plot, &axis);
        struct plot_panel *curves = plot_add_panel(plot, delivered ? "delivered, Gb/s" : "goodput, Gb/s");
        add_curves(runs, &axis, "", measure, curves);
        add_published(runs, &axis, curves);
        return;
    }
    plot_relabel_x(plot, delivered ? "delivered by all flows, Gb/s" : "goodput of all flows, Gb/s");
    struct plot_panel *panel = plot_add_panel(plot, "");
    struct plot_series *bars = plot_add_series(panel, "these runs", PLOT_BARS);
    name_rows(runs, panel);
    for (size_t i = 0; i < runs->count; i++) {
        double value = measure(&runs->items[i]);
        plot_add_point(bars, value, (double)i);
        plot->x_max = fmax(plot->x_max, value * 1.08);
    }
    add_published(runs, NULL, panel);
}

static void fill_messages(const struct runs *runs, struct plot *plot)
{
    struct axis axis;
    if (runs->count < 2 || !runs_have(runs, "flows") || !find_axis(runs, &axis) || !axis.is_bytes)
        return;
    add_axis_label(plot, &axis);
    struct plot_panel *panel = plot_add_panel(plot, "messages, M/s");
    panel->log_y = true;
    add_curves(runs, &axis, "", total_messages_per_us, panel);
}

static double p50(const struct run *run)
{
    return run_latency_us(run, "p50", NULL);
}
static double p99(const struct run *run)
{
    return run_latency_us(run, "p99", NULL);
}
static double p99_9(const struct run *run)
{
    return run_latency_us(run, "p99_9", NULL);
}

struct quantile {
    const char *label, *key;
    double (*measure)(const struct run *);
};
static const struct quantile quantiles[] = {
    {"latency p50", "p50", p50}, {"latency p99", "p99", p99}, {"latency p99.9", "p99_9", p99_9}};
#define QUANTILES (sizeof quantiles / sizeof *quantiles)

/* What of the runs' latencies is not drawn. */
static void note_latencies(const struct runs *runs, size_t step, struct plot_panel *panel)
{
    size_t flows = 0, most = 0;
    for (size_t q = 0; q < QUANTILES; q += step) {
        size_t few = 0;
        for (size_t i = 0; i < runs->count; i++) {
            bool is_few;
            run_latency_us(&runs->items[i], quantiles[q].key, &is_few);
            few += is_few;
        }
        if (few)
            plot_lack(panel, "%s of %zu of %zu runs is left out: they measured too few messages for it",
                      quantiles[q].label, few, runs->count);
    }
    for (size_t i = 0; i < runs->count; i++) {
        flows = run_latency_flows(&runs->items[i]);
        most = flows > most ? flows : most;
    }
    if (most > 1)
        plot_lack(panel, "Up to %zu flows of a run measured latency: the slowest is drawn, of each quantile",
                  most);
}

/* Without an axis: one row per run, one dot per quantile. */
static void add_latency_dots(const struct runs *runs, struct plot *plot)
{
    struct plot_panel *panel = plot_add_panel(plot, "");
    plot_relabel_x(plot, "latency, us");
    plot->log_x = true;
    name_rows(runs, panel);
    for (size_t q = 0; q < QUANTILES; q++) {
        struct plot_series *dots = plot_add_series(panel, quantiles[q].label, PLOT_DOTS);
        for (size_t i = 0; i < runs->count; i++)
            plot_add_point(dots, quantiles[q].measure(&runs->items[i]), (double)i);
    }
    note_latencies(runs, 1, panel);
}

static void fill_latency(const struct runs *runs, struct plot *plot)
{
    struct axis axis;
    bool any = false;
    for (size_t i = 0; i < runs->count; i++)
        any |= isfinite(p50(&runs->items[i]));
    if (!any)
        return;
    bool curves = find_axis(runs, &axis);
    if (!curves && runs->count < 2)
        return; /* the table of flows shows these three values */
    if (!curves) {
        add_latency_dots(runs, plot);
        return;
    }
    struct plot_panel *panel = plot_add_panel(plot, "latency, us");
    panel->log_y = true;
    add_axis_label(plot, &axis);
    for (size_t q = 0; q < QUANTILES; q += 2) { /* median and tail only: more curves would hide each other */
        char suffix[24];
        snprintf(suffix, sizeof suffix, ", %s", quantiles[q].label);
        add_curves(runs, &axis, suffix, quantiles[q].measure, panel);
    }
    note_latencies(runs, 2, panel);
}

const struct figure figures_sweep[] = {
    {"goodput", "Goodput", "", "Payload of all flows together that arrived in the measure phase.",
     .sweep = fill_goodput},
    {"messages", "Message rate", "", "Message rate of all flows together.", .sweep = fill_messages},
    {"latency", "Latency", "",
     "Latency of a flow: from posting to completion, or half a round trip in latency mode.",
     .sweep = fill_latency},
    {0},
};
