#include "reports/report_search.h"

#include "lib/files.h"
#include "lib/folder/folder.h"
#include "lib/units.h"
#include "lib/xalloc.h"
#include "reports/drawing/plot.h"
#include "reports/drawings.h"
#include "reports/page/page_search.h"
#include "reports/results/sweep_table.h"
#include "reports/results/run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PARAMETERS_DRAWN 16

/* An objective as it is drawn. */
struct scale {
    const char *name;
    struct sweep_unit unit;
    struct text label; /* "goodput (Gb/s)" */
};

static double mean_of(const json_t *entry, const char *objective)
{
    const json_t *mean =
        json_object_get(json_object_get(json_object_get(entry, "objectives"), objective), "mean");
    return json_is_number(mean) ? json_number_value(mean) : NAN;
}

static struct scale scale_of(const json_t *document, size_t number)
{
    const json_t *objective = json_array_get(json_object_get(document, "objectives"), number), *entry;
    struct scale s = {.name = run_member(objective, "name")};
    double most = 0;
    size_t i;
    json_array_foreach(json_object_get(document, "known"), i, entry)
    {
        most = fmax(most, fabs(mean_of(entry, s.name)));
    }
    json_array_foreach(json_object_get(document, "tried"), i, entry)
    {
        most = fmax(most, fabs(mean_of(entry, s.name)));
    }
    s.unit = sweep_unit_near(run_member(objective, "unit"), most);
    text_add(&s.label, "%s%s%s%s", s.name, *s.unit.name ? " (" : "", s.unit.name, *s.unit.name ? ")" : "");
    return s;
}

static double value_in(const json_t *entry, const struct scale *s)
{
    return mean_of(entry, s->name) * s->unit.factor;
}

static void add_points(struct plot_panel *panel, const char *label, enum plot_style style, const json_t *list,
                       bool feasible, const struct scale *x, const struct scale *y)
{
    struct plot_series *series = plot_add_series(panel, label, style);
    const json_t *entry;
    size_t i;
    json_array_foreach((json_t *)(uintptr_t)list, i, entry)
    {
        double at = value_in(entry, x), is = value_in(entry, y);
        if (json_object_get(entry, "feasible") == json_boolean(feasible) && isfinite(at) && isfinite(is))
            plot_add_point(series, at, is);
    }
}

static int finish(struct plot *plot, const struct folder *folder, const char *caption, struct drawings *made,
                  struct error *e)
{
    int result = 0;
    if (plot_prune(plot)) {
        result = plot_write(plot, folder, e);
        drawings_keep(made, plot->name, plot->title, caption, SIZE_MAX);
        drawings_last(made)->note = plot_said(plot);
    }
    plot_free(plot);
    return result;
}

static const char *origin_of(const json_t *document)
{
    return json_is_true(json_object_get(document, "simulated")) ? "simulated" : NULL;
}

/* One objective over another: what was tried, what is best, and what is known. */
static int draw_front(const json_t *document, const struct scale *x, const struct scale *y, const char *name,
                      const struct folder *folder, struct drawings *made, struct error *e)
{
    struct plot plot;
    struct text title = {0};
    const json_t *entry;
    size_t i;
    text_add(&title, "%s and %s", y->name, x->name);
    plot_init(&plot, name, text_string(&title), text_string((struct text *)(uintptr_t)&x->label));
    plot.origin = origin_of(document);
    struct plot_panel *panel = plot_add_panel(&plot, text_string((struct text *)(uintptr_t)&y->label));
    add_points(panel, "tried", PLOT_SCATTER, json_object_get(document, "tried"), true, x, y);
    add_points(panel, "not allowed", PLOT_SCATTER, json_object_get(document, "tried"), false, x, y);
    add_points(panel, "best", PLOT_POINTS_LINES, json_object_get(document, "front"), true, x, y);
    json_array_foreach(json_object_get(document, "known"), i, entry)
    {
        double at = value_in(entry, x), is = value_in(entry, y);
        if (isfinite(at) && isfinite(is))
            plot_add_point(plot_add_series(panel, run_member(entry, "known"), PLOT_MARKS), at, is);
    }
    text_free(&title);
    return finish(&plot, folder,
                  "Each point is a setting, with the means of its runs. Of those on the line none is better "
                  "than another in all objectives.",
                  made, e);
}

/* How the best value came: by candidates. */
static int draw_course(const json_t *document, const struct scale *y, const char *name,
                       const struct folder *folder, struct drawings *made, struct error *e)
{
    struct plot plot;
    struct text title = {0};
    const json_t *entry, *objective = json_array_get(json_object_get(document, "objectives"), 0);
    bool max = strcmp(run_member(objective, "goal"), "max") == 0;
    double best = NAN;
    size_t i;
    text_add(&title, "%s by candidate", y->name);
    plot_init(&plot, name, text_string(&title), "candidate");
    plot.origin = origin_of(document);
    struct plot_panel *panel = plot_add_panel(&plot, text_string((struct text *)(uintptr_t)&y->label));
    struct plot_series *tried = plot_add_series(panel, "tried", PLOT_SCATTER);
    json_array_foreach(json_object_get(document, "tried"), i, entry)
    {
        if (json_is_true(json_object_get(entry, "feasible")) && isfinite(value_in(entry, y)))
            plot_add_point(tried, (double)(i + 1), value_in(entry, y));
    }
    struct plot_series *course = plot_add_series(panel, "best so far", PLOT_STEPS);
    json_array_foreach(json_object_get(document, "tried"), i, entry)
    {
        double is = value_in(entry, y);
        if (json_is_true(json_object_get(entry, "feasible")) && isfinite(is))
            best = isnan(best) ? is : max ? fmax(best, is) : fmin(best, is);
        if (isfinite(best))
            plot_add_point(course, (double)(i + 1), best);
    }
    json_array_foreach(json_object_get(document, "known"), i, entry)
    {
        if (isfinite(value_in(entry, y)))
            plot_add_level(panel, value_in(entry, y), run_member(entry, "known"));
    }
    text_free(&title);
    return finish(&plot, folder, "Settings that do not meet the constraints are left out.", made, e);
}

/* ---- parameters */

/* A value as a number in its unit: a quantity, or a number; of words the place in the list. */
static double number_of(const json_t *value, const json_t *over, const char **unit)
{
    enum unit kind;
    int64_t number;
    if (json_is_string(value) && units_find(json_string_value(value), &kind, &number)) {
        static const char *const names[] = {
            [UNIT_TIME_NS] = "ns",     [UNIT_TIME_PS] = "ps",   [UNIT_BYTES] = "bytes",
            [UNIT_RATE_BPS] = "b/s",   [UNIT_LENGTH_MM] = "mm", [UNIT_PER_SECOND] = "/s",
            [UNIT_PERCENT_MILLI] = "%"};
        *unit = names[kind];
        return kind == UNIT_PERCENT_MILLI ? (double)number / 1e3 : (double)number;
    }
    if (json_is_number(value))
        return json_number_value(value);
    for (size_t i = 0; i < json_array_size(over); i++)
        if (json_equal(json_array_get(over, i), value))
            return (double)i + 1;
    return NAN;
}

static int draw_parameter(const json_t *document, const json_t *parameter, size_t number,
                          const struct scale *scales, size_t objectives, const struct folder *folder,
                          struct drawings *made, struct error *e)
{
    const char *path = run_member(parameter, "path"), *unit = "";
    const json_t *over = json_object_get(parameter, "over"), *entry;
    struct plot plot;
    struct text label = {0};
    char name[40];
    size_t i;
    double most = 0;
    json_array_foreach(json_object_get(document, "tried"), i, entry)
    {
        most =
            fmax(most, fabs(number_of(json_object_get(json_object_get(entry, "values"), path), over, &unit)));
    }
    struct sweep_unit shown = sweep_unit_near(unit, most);
    text_add(&label, "%s%s%s%s", path, *shown.name ? " (" : "", shown.name, *shown.name ? ")" : "");
    snprintf(name, sizeof name, "parameter-%02zu", number + 1);
    plot_init(&plot, name, path, text_string(&label));
    plot.origin = origin_of(document);
    plot.log_x = strcmp(run_member(over, "scale"), "log") == 0;
    for (size_t k = 0; k < objectives; k++) {
        struct plot_panel *panel =
            plot_add_panel(&plot, text_string((struct text *)(uintptr_t)&scales[k].label));
        static const char *const lists[] = {"tried", "front"};
        for (size_t l = 0; l < 2; l++) {
            struct plot_series *series =
                plot_add_series(panel, l ? "best" : "tried", l ? PLOT_DOTS : PLOT_SCATTER);
            json_array_foreach(json_object_get(document, lists[l]), i, entry)
            {
                double at = number_of(json_object_get(json_object_get(entry, "values"), path), over, &unit) *
                            shown.factor,
                       is = value_in(entry, &scales[k]);
                if (isfinite(at) && isfinite(is) && json_is_true(json_object_get(entry, "feasible")))
                    plot_add_point(series, at, is);
            }
        }
    }
    text_free(&label);
    return finish(&plot, folder, json_is_array(over) ? "Words stand by their place in the list." : "", made,
                  e);
}

/* ---- the page */

static int draw_all(const json_t *document, const struct folder *folder, struct drawings *made,
                    struct error *e)
{
    const json_t *parameters = json_object_get(document, "parameters"), *parameter;
    size_t objectives = json_array_size(json_object_get(document, "objectives")), i;
    struct scale *scales = xcalloc(objectives + 1, sizeof *scales);
    int result = 0;
    for (i = 0; result == 0 && i < objectives; i++)
        scales[i] = scale_of(document, i);
    if (result == 0 && objectives == 1)
        result = draw_course(document, &scales[0], "course", folder, made, e);
    for (i = 1; result == 0 && i < objectives; i++) {
        char name[40];
        snprintf(name, sizeof name, "front-%zu", i);
        result = draw_front(document, &scales[i], &scales[0], name, folder, made, e);
    }
    json_array_foreach((json_t *)(uintptr_t)parameters, i, parameter)
    {
        if (result == 0 && i < PARAMETERS_DRAWN)
            result = draw_parameter(document, parameter, i, scales, objectives, folder, made, e);
    }
    for (i = 0; i < objectives; i++)
        text_free(&scales[i].label);
    free(scales);
    return result;
}

int report_search(const json_t *document, const char *path, struct error *e)
{
    static const char *const drawn[] = {"course.*", "front-*.*", "parameter-*.*", NULL};
    struct drawings made = {0};
    struct folder folder = {.fd = -1};
    struct text page = {0};
    char *name = files_join(path, "index.html");
    int result = name ? folder_open(&folder, path, e) : error_set(e, "out of memory");
    if (result == 0)
        files_remove_matching(path, drawn);
    if (result == 0)
        result = draw_all(document, &folder, &made, e);
    if (result == 0)
        result = drawings_load(&made, &folder, e);
    if (result == 0) {
        page_search_write(document, made.items, made.count, &page);
        result = page.failed ? error_set(e, "out of memory for the page")
                             : files_write_atomic(name, page.data, page.length, e);
    }
    drawings_free(&made);
    folder_close(&folder);
    text_free(&page);
    free(name);
    return result;
}
