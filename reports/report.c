#include "reports/reports.h"

#include "lib/files.h"
#include "reports/drawing/figures.h"
#include "reports/drawing/gnuplot.h"
#include "reports/drawing/map.h"
#include "reports/page/page.h"
#include "reports/drawing/plot.h"
#include "reports/results/run.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sweep with more runs than this is drawn as curves over the sweep; single runs can be drawn by naming
 * their folders. */
#define RUNS_DRAWN_OVER_TIME 4

struct drawings {
    struct drawing *items;
    size_t count;
};

static int keep(struct drawings *drawings, const char *name, const char *title, const char *caption,
                size_t run)
{
    struct drawing *items = realloc(drawings->items, (drawings->count + 1) * sizeof *items);
    if (!items)
        return -1;
    drawings->items = items;
    items[drawings->count++] = (struct drawing){strdup(name), strdup(title), caption, run};
    return 0;
}

static void free_drawings(struct drawings *drawings)
{
    for (size_t i = 0; i < drawings->count; i++) {
        free(drawings->items[i].name);
        free(drawings->items[i].title);
    }
    free(drawings->items);
}

/* Write the plot if it has anything to show. */
static int finish_plot(struct plot *plot, const char *folder, const char *caption, size_t run,
                       struct drawings *made, struct error *e)
{
    int result = 0;
    if (plot_prune(plot)) {
        result = plot_write(plot, folder, e);
        if (result == 0 && keep(made, plot->name, plot->title, caption, run) != 0)
            result = error_set(e, "out of memory for the drawings");
    }
    plot_free(plot);
    return result;
}

static int draw_over_sweep(const struct figure *f, const struct runs *runs, const char *folder,
                           struct drawings *made, struct error *e)
{
    struct plot plot;
    char name[64];
    snprintf(name, sizeof name, "sweep-%s", f->name);
    plot_init(&plot, name, f->title, f->x_label);
    plot.simulated = run_is_simulated(&runs->items[0]);
    f->sweep(runs, &plot);
    return finish_plot(&plot, folder, f->caption, SIZE_MAX, made, e);
}

static int draw_over_time(const struct figure *f, const struct runs *runs, size_t index, const char *folder,
                          struct drawings *made, struct error *e)
{
    const struct run *run = &runs->items[index];
    struct plot plot;
    struct text title = {0};
    char name[64];
    snprintf(name, sizeof name, "%02zu-%s", index + 1, f->name);
    text_add(&title, "%s%s%s", f->title, *run->label ? ": " : "", run->label);
    plot_init(&plot, name, text_string(&title), f->x_label);
    plot.simulated = run_is_simulated(run);
    f->run(run, &plot);
    text_free(&title);
    return finish_plot(&plot, folder, f->caption, index, made, e);
}

static int draw_sweep(const struct runs *runs, const char *folder, struct drawings *made, struct error *e)
{
    for (const struct figure *const *file = figures; *file; file++)
        for (const struct figure *f = *file; f->name; f++)
            if (f->sweep && draw_over_sweep(f, runs, folder, made, e) != 0)
                return -1;
    return 0;
}

static int draw_map(const struct run *run, size_t index, const char *folder, struct drawings *made,
                    struct error *e)
{
    struct text title = {0};
    char name[64];
    bool drawn;
    snprintf(name, sizeof name, "%02zu-map", index + 1);
    text_add(&title, "Pauses in the network%s%s", *run->label ? ": " : "", run->label);
    int result = map_write(run, name, text_string(&title), folder, &drawn, e);
    if (result == 0 && drawn &&
        keep(made, name, text_string(&title),
             "The half of a link next to a node is coloured by how long that node was paused on "
             "it; an arrow shows the direction that was paused. In the lower map, the colour is the start of "
             "the pause that its title names: it shows how a storm spreads.",
             index) != 0)
        result = error_set(e, "out of memory for the drawings");
    text_free(&title);
    return result;
}

static int draw_run(struct runs *runs, size_t index, const char *folder, struct drawings *made,
                    struct error *e)
{
    struct run *run = &runs->items[index];
    if (run_load_samples(run, e) != 0)
        return -1;
    int result = 0;
    for (const struct figure *const *file = figures; result == 0 && *file; file++)
        for (const struct figure *f = *file; result == 0 && f->name; f++)
            result = f->run ? draw_over_time(f, runs, index, folder, made, e) : 0;
    if (result == 0)
        result = draw_map(run, index, folder, made, e);
    run_free_samples(run);
    return result;
}

static int draw_all(struct runs *runs, const char *folder, struct drawings *made, struct error *e)
{
    if (draw_sweep(runs, folder, made, e) != 0)
        return -1;
    for (size_t i = 0; i < runs->count && runs->count <= RUNS_DRAWN_OVER_TIME; i++)
        if (draw_run(runs, i, folder, made, e) != 0)
            return -1;
    char **names = calloc(made->count + 1, sizeof *names);
    if (!names)
        return error_set(e, "out of memory for the drawings");
    for (size_t i = 0; i < made->count; i++)
        names[i] = made->items[i].name;
    int result = gnuplot_draw(folder, names, made->count, e);
    free(names);
    return result;
}

static int make_page(struct runs *runs, const char *folder, struct text *path, struct error *e)
{
    struct drawings made = {0};
    struct text page = {0};
    int result = files_make_folders(folder, e);
    if (result == 0)
        result = draw_all(runs, folder, &made, e);
    if (result == 0) {
        page_write(runs, made.items, made.count, &page);
        text_add(path, "%s/index.html", folder);
        result = page.failed ? error_set(e, "out of memory for the page")
                             : files_write_atomic(text_string(path), page.data, page.length, e);
    }
    text_free(&page);
    free_drawings(&made);
    return result;
}

int report_make(const char *const *results, size_t count, const struct report_options *options,
                struct text *page, struct error *e)
{
    struct runs runs;
    char *resolved = NULL, *folder = NULL;
    if (runs_load(results, count, &runs, e) != 0)
        return -1;
    if (options && options->folder) {
        folder = strdup(options->folder);
    } else {
        resolved = realpath(results[0], NULL); /* "latest" is a link that changes with the next run */
        folder = resolved ? files_join(resolved, "report") : NULL;
    }
    int result =
        folder ? make_page(&runs, folder, page, e) : error_set_errno(e, errno, "finding %s", results[0]);
    free(resolved);
    free(folder);
    runs_free(&runs);
    return result;
}
