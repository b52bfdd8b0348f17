/* Bus bandwidth of collectives over their sizes, as in papers on collectives. */
#include "reports/drawing/figures.h"

#include "lib/xalloc.h"
#include <stdio.h>
#include <stdlib.h>

#define MAX_CURVES 10

static const struct half {
    const char *key, *label;
} halves[] = {{"out_of_place", "out of place"}, {"in_place", "in place"}};
#define HALVES (sizeof halves / sizeof *halves)

static void add_curve(const json_t *sizes, const char *label, const char *half, bool dashed,
                      struct plot_panel *panel)
{
    size_t i;
    json_t *size;
    struct plot_series *curve = plot_add_series(panel, label, PLOT_POINTS_LINES);
    curve->dashed = dashed;
    json_array_foreach(sizes, i, size)
    {
        const json_t *busbw = json_object_get(json_object_get(size, half), "busbw_GBps");
        if (json_is_number(busbw))
            plot_add_point(curve, json_number_value(json_object_get(size, "bytes")),
                           json_number_value(busbw));
    }
}

/* One run: both halves of its tables, the second dashed. Several runs: of each the first. */
static void add_collective(const struct run *run, const char *name, const json_t *sizes, bool many,
                           struct plot_panel *panel)
{
    for (size_t h = 0; h < (many ? 1 : HALVES) && panel->series_count < MAX_CURVES; h++) {
        char *label = xasprintf("%s%s%s%s%s", many ? run->label : "", many ? " " : "", name, many ? "" : ", ",
                                many ? "" : halves[h].label);
        add_curve(sizes, label, halves[h].key, h > 0, panel);
        free(label);
    }
}

static void fill_busbw(const struct runs *runs, struct plot *plot)
{
    bool many = runs->count > 1;
    size_t count = 0;
    struct plot_panel *panel = plot_add_panel(plot, "bus bandwidth, GB/s");
    plot_relabel_x(plot, "size");
    plot->bytes_x = true;
    panel->log_y = true;
    for (size_t i = 0; i < runs->count; i++) {
        const char *name;
        json_t *collective;
        json_object_foreach((json_t *)(uintptr_t)run_get(&runs->items[i], "collectives"), name, collective)
        {
            add_collective(&runs->items[i], name, json_object_get(collective, "sizes"), many, panel);
            count += many ? 1 : HALVES;
        }
    }
    if (count > MAX_CURVES) {
        char note[64];
        snprintf(note, sizeof note, "the first %d of %zu curves", MAX_CURVES, count);
        plot_note(panel, note);
    }
}

const struct figure figures_collectives[] = {
    {"busbw", "Bus bandwidth of collectives by size", "",
     "As nccl-tests prints it; with several runs, that of separate send and receive buffers (out of place).",
     .sweep = fill_busbw},
    {0},
};
