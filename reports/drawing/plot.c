#include "reports/drawing/plot.h"

#include "lib/xalloc.h"
#include "lib/text.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- building */

void plot_init(struct plot *plot, const char *name, const char *title, const char *x_label)
{
    *plot = (struct plot){.name = xstrdup(name), .title = xstrdup(title), .x_label = xstrdup(x_label)};
}

static void free_members(struct plot_series *series)
{
    free(series->label);
    free(series->rows);
    free(series->detail.x);
    free(series->detail.y);
    free(series->detail.width);
}

static void free_series(struct plot_series *series, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free_members(&series[i]);
    free(series);
}

static void free_panel(struct plot_panel *panel)
{
    free_series(panel->series, panel->series_count);
    free_series(panel->more, panel->more_count);
    for (size_t i = 0; i < panel->level_count; i++)
        free(panel->levels[i].label);
    free(panel->levels);
    free(panel->y_label);
    for (size_t i = 0; i < panel->rows; i++)
        free(panel->row_names[i]);
    free(panel->row_names);
    for (size_t i = 0; i < panel->detail_row_count; i++)
        free(panel->detail_rows[i]);
    free(panel->detail_rows);
    free(panel->kept);
    free(panel->note);
    text_free(&panel->said);
    text_free(&panel->lacks);
}

void plot_relabel_x(struct plot *plot, const char *label)
{
    free(plot->x_label);
    plot->x_label = xstrdup(label);
}

void plot_free(struct plot *plot)
{
    for (size_t i = 0; i < plot->panel_count; i++)
        free_panel(&plot->panels[i]);
    for (size_t i = 0; i < plot->tic_count; i++)
        free(plot->tics[i].label);
    free(plot->tics);
    for (size_t i = 0; i < plot->mark_count; i++)
        free(plot->marks[i].label);
    free(plot->marks);
    text_free(&plot->left_out);
    free(plot->panels);
    free(plot->name);
    free(plot->title);
    free(plot->caption);
    free(plot->x_label);
    *plot = (struct plot){0};
}

/* Append a zeroed item to an array. */
static void *grow(void *items, size_t *count, size_t size)
{
    char *larger = xreallocarray(items, *count + 1, size);
    memset(larger + *count * size, 0, size);
    ++*count;
    return larger;
}

struct plot_panel *plot_add_panel(struct plot *plot, const char *y_label)
{
    plot->panels = grow(plot->panels, &plot->panel_count, sizeof *plot->panels);
    struct plot_panel *panel = &plot->panels[plot->panel_count - 1];
    panel->y_label = xstrdup(y_label);
    panel->detail = plot->detail;
    return panel;
}

struct plot_series *plot_add_series(struct plot_panel *panel, const char *label, enum plot_style style)
{
    panel->series = grow(panel->series, &panel->series_count, sizeof *panel->series);
    struct plot_series *series = &panel->series[panel->series_count - 1];
    series->label = xstrdup(label);
    series->style = style;
    series->colour = panel->series_count - 1;
    return series;
}

struct plot_series *plot_add_more(struct plot_panel *panel, const char *label, enum plot_style style)
{
    panel->more = grow(panel->more, &panel->more_count, sizeof *panel->more);
    struct plot_series *series = &panel->more[panel->more_count - 1];
    series->label = xstrdup(label);
    series->style = style;
    series->colour = panel->series_count + panel->more_count - 1;
    return series;
}

void plot_add_detail(struct plot_series *series, double x, double y, double width)
{
    struct plot_points *p = &series->detail;
    if (!isfinite(x) || !isfinite(y))
        return;
    if (p->count == p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 64;
        p->x = xreallocarray(p->x, p->capacity, sizeof *p->x);
        p->y = xreallocarray(p->y, p->capacity, sizeof *p->y);
        p->width = xreallocarray(p->width, p->capacity, sizeof *p->width);
    }
    p->x[p->count] = x;
    p->y[p->count] = y;
    p->width[p->count++] = width;
}

static void keep_row(struct plot_series *series, struct plot_row row)
{
    if (series->points == series->capacity) {
        series->capacity = series->capacity ? 2 * series->capacity : 64;
        series->rows = xreallocarray(series->rows, series->capacity, sizeof *series->rows);
    }
    series->rows[series->points++] = row;
}

static void count_point(struct plot_series *series, struct plot_row row)
{
    double x = row.x, y = row.y;
    series->highest = fmax(series->highest, y);
    series->lowest = fmin(series->lowest, y);
    series->x_least = series->points ? fmin(series->x_least, x) : x;
    series->x_most = series->points ? fmax(series->x_most, x) : x;
    series->x_positive += x > 0;
    series->y_positive += y > 0;
    keep_row(series, row);
}

void plot_add_point(struct plot_series *series, double x, double y)
{
    if (!isfinite(x) || !isfinite(y))
        return;
    count_point(series, (struct plot_row){.x = x, .y = y});
}

void plot_add_interval(struct plot_series *series, double x, double y, double half)
{
    bool along_x = series->style == PLOT_INTERVALS_ROWS;
    double middle = along_x ? x : y, reach = isfinite(half) ? half : 0;
    if (!isfinite(x) || !isfinite(y))
        return;
    series->highest = fmax(series->highest, along_x ? y : y + reach);
    count_point(series, (struct plot_row){.x = x, .y = y, .low = middle - reach, .high = middle + reach});
}

void plot_add_range(struct plot_series *series, double x, double row, double low, double high)
{
    if (!isfinite(x))
        return;
    series->highest = fmax(series->highest, row);
    count_point(series, (struct plot_row){.x = x, .y = row, .low = low, .high = high});
}

void plot_add_tic(struct plot *plot, double x, const char *label)
{
    plot->tics = grow(plot->tics, &plot->tic_count, sizeof *plot->tics);
    plot->tics[plot->tic_count - 1] = (struct plot_tic){.label = xstrdup(label), .x = x};
}

void plot_add_mark(struct plot *plot, double x, const char *label)
{
    struct plot_mark *last = plot->mark_count ? &plot->marks[plot->mark_count - 1] : NULL;
    if (last && last->x == x) {
        char *both = xasprintf("%s, %s", last->label, label);
        free(last->label);
        last->label = both;
        return;
    }
    plot->marks = grow(plot->marks, &plot->mark_count, sizeof *plot->marks);
    plot->marks[plot->mark_count - 1] = (struct plot_mark){.label = xstrdup(label), .x = x};
}

void plot_add_segment(struct plot_series *series, double x, double y, double width)
{
    keep_row(series, (struct plot_row){.x = x, .y = y, .width = width});
}

void plot_add_level(struct plot_panel *panel, double y, const char *label)
{
    panel->levels = grow(panel->levels, &panel->level_count, sizeof *panel->levels);
    panel->levels[panel->level_count - 1] = (struct plot_level){.label = xstrdup(label), .y = y};
}

static void add_sentence(struct text *to, const char *format, va_list arguments)
{
    text_add(to, "%s", to->length ? ". " : "");
    text_add_list(to, format, arguments);
}

void plot_say(struct plot_panel *panel, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_sentence(&panel->said, format, arguments);
    va_end(arguments);
}

void plot_lack(struct plot_panel *panel, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_sentence(&panel->lacks, format, arguments);
    va_end(arguments);
}

/* Points that are not above 0 have no place on a logarithmic scale. */
static void say_not_above_0(const struct plot *plot, struct plot_panel *panel)
{
    size_t points = 0;
    for (size_t i = 0; i < panel->series_count; i++) {
        const struct plot_series *s = &panel->series[i];
        points += panel->log_y ? s->points - s->y_positive : 0;
        points += plot->log_x || plot->bytes_x ? s->points - s->x_positive : 0;
    }
    if (points)
        plot_lack(panel, "%zu %s not above 0 %s left out: the scale is logarithmic", points,
                  THINGS(points, "point"), points == 1 ? "is" : "are");
}

static bool has_points(const struct plot *plot, const struct plot_panel *panel, const struct plot_series *s)
{
    return s->detail.count ||
           (s->points && (!plot->log_x || s->x_positive) && (!panel->log_y || s->y_positive));
}

/* A series without points is not in the legend. */
static void prune_series(const struct plot *plot, struct plot_panel *panel)
{
    size_t kept = 0;
    for (size_t i = 0; i < panel->series_count; i++) {
        struct plot_series *s = &panel->series[i];
        if (has_points(plot, panel, s))
            panel->series[kept++] = *s;
        else
            free_members(s);
    }
    panel->series_count = kept;
}

bool plot_prune(struct plot *plot)
{
    size_t kept = 0;
    for (size_t i = 0; i < plot->panel_count; i++) {
        say_not_above_0(plot, &plot->panels[i]);
        prune_series(plot, &plot->panels[i]);
        if (plot->panels[i].series_count)
            plot->panels[kept++] = plot->panels[i];
        else
            free_panel(&plot->panels[i]);
    }
    plot->panel_count = kept;
    return kept > 0;
}

void plot_drop_panel(struct plot *plot)
{
    free_panel(&plot->panels[--plot->panel_count]);
}

void plot_leave_out(struct plot *plot)
{
    const char *label = plot->panels[plot->panel_count - 1].y_label;
    text_add(&plot->left_out, "%sNot drawn, as it never changes: %.*s", plot->left_out.length ? ". " : "",
             (int)strcspn(label, ","), label);
    plot_drop_panel(plot);
}

void plot_name_row(struct plot_panel *panel, const char *name)
{
    panel->row_names = grow(panel->row_names, &panel->rows, sizeof *panel->row_names);
    panel->row_names[panel->rows - 1] = xstrdup(name);
}

void plot_name_detail_row(struct plot_panel *panel, const char *name)
{
    panel->detail_rows = grow(panel->detail_rows, &panel->detail_row_count, sizeof *panel->detail_rows);
    panel->detail_rows[panel->detail_row_count - 1] = xstrdup(name);
}

void plot_note(struct plot_panel *panel, const char *note)
{
    free(panel->note);
    panel->note = xstrdup(note);
}

char *plot_said(const struct plot *plot)
{
    struct text all = {0}, first = {0};
    for (size_t i = 0; i < plot->panel_count; i++) {
        struct plot_panel *panel = &plot->panels[i];
        struct text words = {0};
        text_add(&words, "%s%s%s", text_string(&panel->said),
                 panel->said.length && panel->lacks.length ? ". " : "", text_string(&panel->lacks));
        bool again = i && strcmp(text_string(&words), text_string(&first)) == 0;
        if (words.length && !again)
            text_add(&all, "%s%s%s%s.", all.length ? " " : "", i ? panel->y_label : "", i ? ": " : "",
                     text_string(&words));
        if (i == 0)
            first = words;
        else
            text_free(&words);
    }
    text_free(&first);
    if (plot->left_out.length)
        text_add(&all, "%s%s.", all.length ? " " : "", text_string(&plot->left_out));
    for (size_t i = 0; i < plot->panel_count; i++)
        for (size_t k = 0; k < plot->panels[i].level_count; k++)
            text_add(&all, "%s%s%s",
                     k            ? "; "
                     : all.length ? " Lines along: "
                                  : "Lines along: ",
                     plot->panels[i].levels[k].label, k + 1 == plot->panels[i].level_count ? "." : "");
    for (size_t i = 0; i < plot->mark_count; i++) {
        text_add(&all, i ? "; " : all.length ? " Lines across: " : "Lines across: ");
        text_add(&all, "%s at %.4g%s", plot->marks[i].label, plot->marks[i].x,
                 i + 1 == plot->mark_count ? "." : "");
    }
    return all.length ? text_take(&all) : NULL;
}

/* ---- colours */

/* Okabe and Ito's colours, which colour-blind readers can distinguish, then others that differ from them. */
static const char *const palette[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00",
                                      "#555555", "#8a6d00", "#6a3d9a", "#b2182b", "#7fbc41", "#01665e"};
#define PALETTE_SIZE (sizeof palette / sizeof *palette)

/* After the palette, hues at the golden angle, in three shades: no two of the first thousands are the
 * same. */
void plot_colour(size_t colour, struct text *out)
{
    if (colour < PALETTE_SIZE) {
        text_add(out, "%s", palette[colour]);
        return;
    }
    double hue = fmod((double)colour * 137.508, 360) / 60, most = 205 - 45 * (double)(colour % 3);
    double least = most * 0.2, middle = least + (most - least) * (1 - fabs(fmod(hue, 2) - 1));
    static const unsigned char order[6][3] = {{2, 1, 0}, {1, 2, 0}, {0, 2, 1},
                                              {0, 1, 2}, {1, 0, 2}, {2, 0, 1}};
    const double parts[] = {least, middle, most};
    const unsigned char *rgb = order[(size_t)hue % 6];
    text_add(out, "#%02x%02x%02x", (unsigned)parts[rgb[0]], (unsigned)parts[rgb[1]], (unsigned)parts[rgb[2]]);
}

/* The words before the first space are what a curve is about: a host. */
static bool same_subject(const char *a, const char *b)
{
    size_t length = strcspn(a, " ");
    return length == strcspn(b, " ") && strncmp(a, b, length) == 0;
}

static bool has_colour(const struct plot_series *series, size_t count, size_t colour)
{
    for (size_t i = 0; i < count; i++)
        if (series[i].colour == colour)
            return true;
    return false;
}

void plot_match_colours(struct plot_panel *panel, const struct plot_panel *like)
{
    for (size_t i = 0; i < panel->series_count; i++) {
        struct plot_series *s = &panel->series[i];
        s->colour = like->series_count;
        for (size_t j = 0; j < like->series_count; j++)
            if (same_subject(like->series[j].label, s->label) &&
                !has_colour(panel->series, i, like->series[j].colour))
                s->colour = like->series[j].colour;
        while (has_colour(panel->series, i, s->colour))
            s->colour++;
    }
    for (size_t i = 0; i < panel->more_count; i++) {
        for (size_t j = 0; j < like->series_count; j++)
            if (same_subject(like->series[j].label, panel->more[i].label))
                panel->more[i].colour = like->series[j].colour;
        for (size_t j = 0; j < like->more_count; j++)
            if (same_subject(like->more[j].label, panel->more[i].label))
                panel->more[i].colour = like->more[j].colour;
    }
}
