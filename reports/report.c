#include "reports/reports.h"

#include "lib/files.h"
#include "lib/folder/fresh.h"
#include "lib/folder/output.h"
#include "lib/interrupt.h"
#include "reports/drawing/figures.h"
#include "reports/drawing/map.h"
#include "reports/page/page.h"
#include "reports/drawing/plot.h"
#include "reports/drawings.h"
#include "reports/explain/explain.h"
#include "reports/report_sweep.h"
#include "reports/results/sweep_words.h"
#include "reports/results/run.h"
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PAGE "index.html"

#define PAUSES_MATTER 5 /* % of the measure phase, at some end of a link */

/* Points on an interactive page, about: each takes up to 22 bytes, and the page is to stay below 10 MB. */
#define PAGE_POINTS 280000

/* Write the plot if it has anything to show. */
static int finish_plot(struct plot *plot, const struct folder *folder, const char *caption, size_t run,
                       struct drawings *made, struct error *e)
{
    int result = interrupt_check(e);
    if (result == 0 && plot_prune(plot)) {
        result = plot_write(plot, folder, e);
        drawings_keep(made, plot->name, plot->title, plot->caption ? plot->caption : caption, run);
        if (plot->detail)
            plot_data(plot, &drawings_last(made)->data);
        drawings_last(made)->note = plot_said(plot);
    }
    plot_free(plot);
    return result;
}

static int draw_over_sweep(const struct figure *f, const struct runs *runs, const struct folder *folder,
                           struct drawings *made, struct error *e)
{
    struct plot plot;
    char name[64];
    snprintf(name, sizeof name, "sweep-%s", f->name);
    plot_init(&plot, name, f->title, f->x_label);
    plot.origin = run_origin(&runs->items[0]);
    f->sweep(runs, &plot);
    return finish_plot(&plot, folder, f->caption, SIZE_MAX, made, e);
}

static int draw_over_time(const struct figure *f, const struct runs *runs, size_t index, size_t detail,
                          const struct folder *folder, struct drawings *made, struct error *e)
{
    const struct run *run = &runs->items[index];
    struct plot plot;
    struct text title = {0};
    char name[64];
    snprintf(name, sizeof name, "%02zu-%s", index + 1, f->name);
    text_add(&title, "%s%s%s", f->title, *run->label ? ": " : "", run->label);
    plot_init(&plot, name, text_string(&title), f->x_label);
    plot.origin = run_origin(run);
    plot.detail = detail;
    f->run(run, &plot);
    text_free(&title);
    return finish_plot(&plot, folder, f->caption, index, made, e);
}

static int draw_sweep(const struct runs *runs, const struct folder *folder, struct drawings *made,
                      struct error *e)
{
    for (const struct figure *const *file = figures; *file; file++)
        for (const struct figure *f = *file; f->name; f++)
            if (f->sweep && draw_over_sweep(f, runs, folder, made, e) != 0)
                return -1;
    return 0;
}

static int draw_map(const struct run *run, size_t index, const struct folder *folder, struct drawings *made,
                    struct error *e)
{
    struct text title = {0}, note = {0};
    char name[64];
    double most;
    snprintf(name, sizeof name, "%02zu-map", index + 1);
    text_add(&title, "Pauses in the network%s%s", *run->label ? ": " : "", run->label);
    int result = map_write(run, name, text_string(&title), folder, &most, &note, e);
    if (result == 0 && isfinite(most)) {
        drawings_keep(
            made, name, text_string(&title),
            "The half of a link next to a node is coloured by how long that node was paused on "
            "it; an arrow shows the direction that was paused. In the lower map, the colour is the start of "
            "the pause that its title names: it shows how a storm spreads.",
            index);
        drawings_last(made)->minor = most < PAUSES_MATTER;
        drawings_last(made)->note = note.length ? text_take(&note) : NULL;
    }
    text_free(&note);
    text_free(&title);
    return result;
}

static int draw_run(struct runs *runs, size_t index, size_t detail, const struct folder *folder,
                    struct drawings *made, struct error *e)
{
    struct run *run = &runs->items[index];
    if (run_load_samples(run, e) != 0)
        return -1;
    run->explanation = explain_run(run, false);
    int result = 0;
    for (const struct figure *const *file = figures; result == 0 && *file; file++)
        for (const struct figure *f = *file; result == 0 && f->name; f++)
            result = f->run ? draw_over_time(f, runs, index, detail, folder, made, e) : 0;
    if (result == 0)
        result = draw_map(run, index, folder, made, e);
    run_free_samples(run);
    return result;
}

/* Points of each panel on the interactive page: a figure of a run has two panels at most times. */
static size_t detail_of(const struct runs *runs)
{
    size_t panels = 0;
    for (const struct figure *const *file = figures; *file; file++)
        for (const struct figure *f = *file; f->name; f++)
            panels += f->run ? 2 : 0;
    return panels && runs->count ? PAGE_POINTS / (panels * runs->count) : 0;
}

static int draw_all(struct runs *runs, bool interactive, const struct folder *folder, struct drawings *made,
                    struct error *e)
{
    size_t detail = interactive ? detail_of(runs) : 0;
    if (draw_sweep(runs, folder, made, e) != 0)
        return -1;
    for (size_t i = 0; i < runs->count && runs->count <= runs_drawn(runs); i++)
        if (draw_run(runs, i, detail, folder, made, e) != 0)
            return -1;
    return drawings_load(made, folder, e);
}

/* What a page is about: runs, the table of a sweep, or of a sweep of few runs both. */
struct subject {
    struct runs *runs;
    const struct sweep_table *table;
    bool png;   /* of each drawing */
    bool named; /* the user named the folder */
};

/* All files of the page, in the fresh folder. */
static int make_files(const struct subject *about, const struct folder *fresh, struct drawings *made,
                      struct error *e)
{
    struct text page = {0};
    int result = about->table ? report_sweep_csv(about->table, fresh, e) : 0;
    if (result == 0 && about->runs) {
        struct page_library library = {0};
        page_library_read(&library);
        result = draw_all(about->runs, library.script, fresh, made, e);
        if (result == 0)
            page_write(about->runs, made->items, made->count, about->table, &library, &page);
        page_library_free(&library);
    } else if (result == 0) {
        result = report_sweep_draw(about->table, fresh, made, &page, e);
    }
    if (result == 0)
        result = page.failed ? error_set(e, "out of memory for the page")
                             : folder_create(fresh, PAGE, page.data, page.length, e);
    text_free(&page);
    return result;
}

/* The page last, because it names the others. */
static int publish_page(const struct subject *about, const struct drawings *made, const struct fresh *fresh,
                        const struct folder *folder, struct error *e)
{
    int result = folder_sync_files(&(struct folder){fresh->fd, folder->path}, e);
    if (result == 0 && about->table && !made->ours)
        result = output_check(
            folder, SWEEP_CSV,
            &(struct output){.what = "the table of a sweep", .begins = "folder,", .length = 7}, e);
    if (result == 0)
        result = drawings_publish(made, fresh, folder, e);
    if (result == 0 && about->table)
        result = fresh_move(fresh, folder, SWEEP_CSV, e);
    if (result == 0)
        result = fresh_move(fresh, folder, PAGE, e);
    return result == 0 ? folder_sync(folder, ".", e) : result;
}

/* What the folder holds may come from elsewhere, such as a link 01-buffer.svg to any file: nothing in it is
 * opened. */
static int make_page(const struct subject *about, const struct folder *folder, struct text *path,
                     struct error *e)
{
    struct drawings made = {.png = about->png};
    struct fresh fresh = {.fd = -1};
    const struct output output = {.what = "a page of a report",
                                  .begins = PAGE_BEGINS,
                                  .length = sizeof PAGE_BEGINS - 1,
                                  .takes_links = !about->named};
    if (output_check(folder, PAGE, &output, e) != 0)
        return -1;
    made.ours = !about->named || folder_has(folder, PAGE);
    fresh_clear(folder);
    int result = fresh_folder(&fresh, folder, "drawing", e);
    if (result == 0)
        result = make_files(about, &(struct folder){fresh.fd, folder->path}, &made, e);
    if (result == 0)
        result = publish_page(about, &made, &fresh, folder, e);
    fresh_remove(&fresh, folder);
    text_add(path, "%s/" PAGE, folder->path);
    drawings_free(&made);
    return result;
}

/* ---- where */

#define FOLDER_FITS 200 /* of the 255 bytes of a file name */

/* A result by the last two folders of its path: "incast-pfc-20260301T120000Z". */
static void add_result_name(const char *path, struct text *out)
{
    const char *last = strrchr(path, '/'), *before = last;
    while (before && before > path && before[-1] != '/')
        before--;
    for (const char *c = before && before > path ? before : last ? last + 1 : path; *c; c++)
        text_add(out, "%c", *c == '/' ? '-' : *c);
}

/* "report-with-B" for a page about A and B; a long list ends with a number that depends on all of it. */
static void add_folder_name(char *const *results, size_t count, struct text *out)
{
    struct text names = {0};
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 1; i < count; i++) {
        text_add(&names, "%s", i > 1 ? "+" : "");
        add_result_name(results[i], &names);
    }
    for (const char *c = text_string(&names); *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    text_add(out, "report%s%.*s", count > 1 ? "-with-" : "", FOLDER_FITS, text_string(&names));
    if (names.length > FOLDER_FITS)
        text_add(out, "-%08x", hash);
    text_free(&names);
}

/* The page's folder in the first result: a comparison does not replace the page of the result alone. */
static int open_chosen(struct folder *folder, const char *const *results, size_t count, struct error *e)
{
    char **resolved = calloc(count + 1, sizeof *resolved);
    struct folder first = {.fd = -1};
    int result = -1;
    struct text name = {0};
    size_t found = 0;
    while (resolved && found < count) { /* "latest" is a link that changes with the next run */
        resolved[found] = realpath(results[found], NULL);
        if (!resolved[found])
            break;
        found++;
    }
    if (!resolved)
        error_set(e, "out of memory");
    else if (found < count)
        error_set_errno(e, errno, "finding %s", results[found]);
    else {
        add_folder_name(resolved, count, &name);
        result = folder_open(&first, resolved[0], e);
        if (result == 0)
            result = folder_open_in(folder, &first, text_string(&name), true, e);
    }
    for (size_t i = 0; i < found; i++)
        free(resolved[i]);
    free(resolved);
    text_free(&name);
    folder_close(&first);
    return result;
}

static int open_named(struct folder *folder, const char *path, struct error *e)
{
    return files_make_folders(path, e) == 0 ? folder_open(folder, path, e) : -1;
}

static int make_at(const struct subject *about, const char *const *results, size_t count,
                   const struct report_options *options, struct text *page, struct error *e)
{
    struct folder folder = {.fd = -1};
    int result =
        options->folder ? open_named(&folder, options->folder, e) : open_chosen(&folder, results, count, e);
    if (result == 0)
        result = make_page(about, &folder, page, e);
    folder_close(&folder);
    return result;
}

/* `table` is NULL, or that of the sweep that is the only result. */
static int report_runs(const char *const *results, size_t count, const struct sweep_table *table,
                       const struct report_options *options, struct text *page, struct error *e)
{
    struct runs runs;
    if (runs_load(results, count, &runs, e) != 0)
        return -1;
    for (size_t i = 0; i < json_array_size(runs.indices); i++)
        damaged_add_left_out(options->damaged, json_array_get(runs.indices, i));
    int result = make_at(&(struct subject){&runs, table, options->png, options->folder != NULL}, results,
                         count, options, page, e);
    for (size_t i = 0; i < runs.count; i++)
        damaged_add(options->damaged, &runs.items[i]);
    if (result == 0 && options->why && runs.count == 1 && runs.items[0].explanation)
        explain_add_words(runs.items[0].explanation, true, options->why);
    runs_free(&runs);
    return result;
}

static int report_distinct(const char *const *results, size_t count, const struct report_options *options,
                           struct text *page, struct error *e)
{
    int sweep = count == 1 ? sweep_table_wanted(results[0], e) : 0;
    if (sweep <= 0)
        return sweep < 0 ? -1 : report_runs(results, count, NULL, options, page, e);
    struct sweep_table table;
    int result = sweep_table_load(results[0], &table, e);
    if (result == 0 && options->cells)
        sweep_print_cells(options->cells, &table, options->width);
    if (result == 0 && table.row_count > RUNS_DRAWN) {
        if (options->damaged) {
            *options->damaged = table.damaged;
            table.damaged = (struct damaged){0};
        }
        result = make_at(&(struct subject){NULL, &table, options->png, options->folder != NULL}, results,
                         count, options, page, e);
    } else if (result == 0) {
        result = report_runs(results, count, &table, options, page, e);
    }
    sweep_table_free(&table);
    return result;
}

/* The folders without those that were named before, perhaps through the link "latest". Returns how many. */
static size_t take_distinct(const char *const *results, size_t count, const char **distinct,
                            struct stat *folders)
{
    size_t taken = 0;
    for (size_t i = 0; i < count; i++) {
        struct stat *mine = &folders[taken];
        bool before = false;
        if (stat(results[i], mine) != 0)
            *mine = (struct stat){0}; /* said when it is read */
        for (size_t k = 0; mine->st_ino && !before && k < taken; k++)
            before = folders[k].st_ino == mine->st_ino && folders[k].st_dev == mine->st_dev;
        if (!before)
            distinct[taken++] = results[i];
    }
    return taken;
}

int report_make(const char *const *results, size_t count, const struct report_options *options,
                struct text *page, struct error *e)
{
    const struct report_options none = {0};
    const char **distinct = calloc(count + 1, sizeof *distinct);
    struct stat *folders = calloc(count + 1, sizeof *folders);
    int result = distinct && folders
                     ? report_distinct(distinct, take_distinct(results, count, distinct, folders),
                                       options ? options : &none, page, e)
                     : error_set(e, "out of memory for %zu results", count);
    free(distinct);
    free(folders);
    return result;
}

int report_cells(const char *result, FILE *file, size_t width, struct error *e)
{
    struct sweep_table table;
    int loaded = sweep_table_load(result, &table, e);
    if (loaded == 0)
        sweep_print_cells(file, &table, width);
    sweep_table_free(&table);
    return loaded;
}
