/* Slowdown of flows by their size, as in papers on congestion control. */
#include "reports/drawing/figures.h"

#include "lib/formats/result_flows.h"
#include "lib/xalloc.h"
#include <stdio.h>
#include <stdlib.h>

#define MAX_CURVES 10

static const struct quantile {
    const char *key, *label;
} quantiles[] = {{"p50", "p50"}, {"p95", "p95"}, {"p99", "p99"}};
#define QUANTILES (sizeof quantiles / sizeof *quantiles)

/* One quantile of the slowdown over the tenths of a pattern's flows by size. Returns how many tenths have too
 * few flows for it. */
static size_t add_curve(const json_t *by_size, const char *label, const struct quantile *quantile,
                        bool dashed, struct plot_panel *panel)
{
    size_t i, few = 0;
    json_t *tenth;
    struct plot_series *curve = plot_add_series(panel, label, PLOT_POINTS_LINES);
    curve->dashed = dashed;
    json_array_foreach(by_size, i, tenth)
    {
        bool is_few;
        const json_t *slowdown = json_object_get(tenth, "slowdown");
        result_distribution_value(slowdown, quantile->key, &is_few);
        few += is_few;
        plot_add_point(curve, json_number_value(json_object_get(tenth, "up_to_bytes")),
                       json_number_value(json_object_get(slowdown, quantile->key)));
    }
    return few;
}

/* Several runs: of each the median and, dashed, the 99th percentile. One run: all quantiles. Returns how many
 * curves there would be without the limit. */
static size_t add_flow(const struct runs *runs, const struct run *run, const char *name,
                       const json_t *by_size, size_t *few, struct plot_panel *panel)
{
    bool many = runs->count > 1;
    for (size_t q = 0; q < QUANTILES && panel->series_count < MAX_CURVES; q++) {
        if (many && q == 1)
            continue;
        char *label =
            xasprintf("%s%s%s, %s", many ? run->label : "", many ? " " : "", name, quantiles[q].label);
        *few += add_curve(by_size, label, &quantiles[q], many && q > 0, panel);
        free(label);
    }
    return many ? QUANTILES - 1 : QUANTILES;
}

static void fill_slowdown(const struct runs *runs, struct plot *plot)
{
    size_t count = 0, few = 0;
    struct plot_panel *panel = plot_add_panel(plot, "slowdown");
    plot_relabel_x(plot, "flows up to this size");
    plot->bytes_x = true;
    panel->log_y = true;
    for (size_t i = 0; i < runs->count; i++) {
        const char *name;
        json_t *flow;
        json_object_foreach((json_t *)(uintptr_t)run_get(&runs->items[i], "flows"), name, flow)
        {
            const json_t *by_size = json_object_get(flow, "by_size");
            if (json_array_size(by_size))
                count += add_flow(runs, &runs->items[i], name, by_size, &few, panel);
        }
    }
    if (count > MAX_CURVES) {
        char note[64];
        snprintf(note, sizeof note, "the first %d of %zu curves", MAX_CURVES, count);
        plot_note(panel, note);
    }
    if (few)
        plot_lack(panel,
                  "%zu points are of too few flows for their quantile, which then is the largest value", few);
}

const struct figure figures_sweep_completion[] = {
    {"slowdown", "Slowdown of flows by size", "",
     "Completion time divided by the time that links and switches alone need on an empty network: that of "
     "NICs, PCI Express and programs counts as slowdown. Each point is a tenth of the flows, sorted by size.",
     .sweep = fill_slowdown},
    {0},
};
