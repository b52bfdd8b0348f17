#include "reports/drawing/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- building */

void plot_init(struct plot *plot, const char *name, const char *title, const char *x_label)
{
    *plot = (struct plot){.name = strdup(name), .title = strdup(title), .x_label = strdup(x_label)};
}

static void free_panel(struct plot_panel *panel)
{
    for (size_t i = 0; i < panel->series_count; i++) {
        free(panel->series[i].label);
        text_free(&panel->series[i].data);
    }
    for (size_t i = 0; i < panel->level_count; i++)
        free(panel->levels[i].label);
    free(panel->series);
    free(panel->levels);
    free(panel->y_label);
    for (size_t i = 0; i < panel->rows; i++)
        free(panel->row_names[i]);
    free(panel->row_names);
    free(panel->note);
}

void plot_relabel_x(struct plot *plot, const char *label)
{
    free(plot->x_label);
    plot->x_label = strdup(label);
}

void plot_free(struct plot *plot)
{
    for (size_t i = 0; i < plot->panel_count; i++)
        free_panel(&plot->panels[i]);
    for (size_t i = 0; i < plot->tic_count; i++)
        free(plot->tics[i].label);
    free(plot->tics);
    free(plot->panels);
    free(plot->name);
    free(plot->title);
    free(plot->caption);
    free(plot->x_label);
    *plot = (struct plot){0};
}

/* Append a zeroed item to an array; out of memory ends the program. */
static void *grow(void *items, size_t *count, size_t size)
{
    char *larger = realloc(items, (*count + 1) * size);
    if (!larger)
        abort();
    memset(larger + *count * size, 0, size);
    ++*count;
    return larger;
}

struct plot_panel *plot_add_panel(struct plot *plot, const char *y_label)
{
    plot->panels = grow(plot->panels, &plot->panel_count, sizeof *plot->panels);
    struct plot_panel *panel = &plot->panels[plot->panel_count - 1];
    panel->y_label = strdup(y_label);
    return panel;
}

struct plot_series *plot_add_series(struct plot_panel *panel, const char *label, enum plot_style style)
{
    panel->series = grow(panel->series, &panel->series_count, sizeof *panel->series);
    struct plot_series *series = &panel->series[panel->series_count - 1];
    series->label = strdup(label);
    series->style = style;
    series->colour = panel->series_count - 1;
    return series;
}

static void count_point(struct plot_series *series, double x, double y)
{
    series->highest = fmax(series->highest, y);
    series->lowest = fmin(series->lowest, y);
    series->x_least = series->points ? fmin(series->x_least, x) : x;
    series->x_most = series->points ? fmax(series->x_most, x) : x;
    series->points++;
    series->x_positive += x > 0;
    series->y_positive += y > 0;
}

void plot_add_point(struct plot_series *series, double x, double y)
{
    if (!isfinite(x) || !isfinite(y))
        return;
    text_add(&series->data, "%.9g\t%.9g\n", x, y);
    count_point(series, x, y);
}

void plot_add_interval(struct plot_series *series, double x, double y, double half)
{
    bool along_x = series->style == PLOT_INTERVALS_ROWS;
    double middle = along_x ? x : y, reach = isfinite(half) ? half : 0;
    if (!isfinite(x) || !isfinite(y))
        return;
    text_add(&series->data, "%.15g\t%.15g\t%.15g\t%.15g\n", x, y, middle - reach, middle + reach);
    series->highest = fmax(series->highest, along_x ? y : y + reach);
    count_point(series, x, y);
}

void plot_add_tic(struct plot *plot, double x, const char *label)
{
    plot->tics = grow(plot->tics, &plot->tic_count, sizeof *plot->tics);
    plot->tics[plot->tic_count - 1] = (struct plot_tic){.label = strdup(label), .x = x};
}

void plot_add_segment(struct plot_series *series, double x, double y, double width)
{
    text_add(&series->data, "%.9g\t%.9g\t%.9g\n", x, y, width);
    series->points++;
}

void plot_add_level(struct plot_panel *panel, double y, const char *label)
{
    panel->levels = grow(panel->levels, &panel->level_count, sizeof *panel->levels);
    panel->levels[panel->level_count - 1] = (struct plot_level){.label = strdup(label), .y = y};
}

static bool has_points(const struct plot *plot, const struct plot_panel *panel)
{
    for (size_t i = 0; i < panel->series_count; i++) {
        const struct plot_series *s = &panel->series[i];
        if (s->points && (!plot->log_x || s->x_positive) && (!panel->log_y || s->y_positive))
            return true;
    }
    return false;
}

/* gnuplot takes a panel without points that its scales can show for an error. */
bool plot_prune(struct plot *plot)
{
    size_t kept = 0;
    for (size_t i = 0; i < plot->panel_count; i++) {
        if (has_points(plot, &plot->panels[i]))
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

void plot_name_row(struct plot_panel *panel, const char *name)
{
    panel->row_names = grow(panel->row_names, &panel->rows, sizeof *panel->row_names);
    panel->row_names[panel->rows - 1] = strdup(name);
}

void plot_note(struct plot_panel *panel, const char *note)
{
    free(panel->note);
    panel->note = strdup(note);
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
}
