/* A plot as JSON for the interactive page: labels through one function that makes text of any bytes, and
 * numbers. */
#include "reports/drawing/plot.h"

#include "lib/document/json_text.h"
#include "lib/output/visible.h"
#include <stdlib.h>
#include <string.h>

/* How the page draws a series. */
static const char *style_name(enum plot_style style)
{
    static const char *const names[] = {
        [PLOT_LINES] = "lines",     [PLOT_STEPS] = "steps",         [PLOT_POINTS_LINES] = "lines",
        [PLOT_BARS] = "rows",       [PLOT_MARKS] = "points",        [PLOT_DOTS] = "points",
        [PLOT_SCATTER] = "points",  [PLOT_IMPULSES] = "impulses",   [PLOT_SEGMENTS] = "segments",
        [PLOT_INTERVALS] = "lines", [PLOT_INTERVALS_ROWS] = "rows",
    };
    return names[style];
}

static void add_words(struct text *out, const char *words)
{
    struct text shown = {0};
    visible_add(&shown, words ? words : "", words ? strlen(words) : 0, VISIBLE_LINE);
    json_t *value = shown.failed ? NULL : json_text(text_string(&shown));
    json_add_for_page(out, value);
    json_decref(value);
    text_free(&shown);
}

/* A member whose value is a text, with the comma before it. */
static void add_member(struct text *out, const char *name, const char *words)
{
    text_add(out, ",\"%s\":", name);
    add_words(out, words);
}

static void add_numbers(struct text *out, const char *name, const double *values, size_t count)
{
    text_add(out, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++)
        text_add(out, "%s%.9g", i ? "," : "", values[i]);
    text_add(out, "]");
}

/* The points of the picture, for a series that has no others. */
static void copy_points(struct plot_series *s)
{
    for (size_t i = 0; i < s->points; i++)
        plot_add_detail(s, s->rows[i].x, s->rows[i].y, s->rows[i].width);
}

static bool same_times(const struct plot_points *a, const struct plot_points *b)
{
    return a->count == b->count && memcmp(a->x, b->x, a->count * sizeof *a->x) == 0;
}

static void add_series(const struct plot_series *s, const struct plot_series *before, bool more,
                       struct text *out)
{
    const struct plot_points *p = &s->detail;
    text_add(out, "{\"style\":\"%s\"", style_name(s->style));
    add_member(out, "label", s->label);
    text_add(out, ",\"colour\":\"");
    plot_colour(s->colour, out);
    text_add(out, "\"%s", more ? ",\"more\":true" : "");
    if (!before || !p->count || !same_times(p, &before->detail)) /* else those of the series before */
        add_numbers(out, "x", p->x, p->count);
    add_numbers(out, "y", p->y, p->count);
    if (s->style == PLOT_SEGMENTS)
        add_numbers(out, "width", p->width, p->count);
    text_add(out, "}");
}

static void add_rows(char *const *names, size_t count, struct text *out)
{
    text_add(out, ",\"rows\":[");
    for (size_t i = 0; i < count; i++) {
        text_add(out, "%s", i ? "," : "");
        add_words(out, names[i]);
    }
    text_add(out, "]");
}

/* A line across the picture, at this x or y. */
static void add_line(const char *comma, const char *axis, double at, const char *label, struct text *out)
{
    text_add(out, "%s{\"%s\":%.9g", comma, axis, at);
    add_member(out, "label", label);
    text_add(out, "}");
}

static void add_levels(const struct plot_panel *panel, struct text *out)
{
    text_add(out, ",\"levels\":[");
    for (size_t i = 0; i < panel->level_count; i++)
        add_line(i ? "," : "", "y", panel->levels[i].y, panel->levels[i].label, out);
    text_add(out, "]");
}

static void add_panel(const struct plot_panel *panel, struct text *out)
{
    bool replaced = panel->detail_row_count; /* the bars by more of them */
    const struct plot_series *before = NULL;
    const char *comma = "";
    text_add(out, "{\"most\":%.9g", panel->y_max);
    add_member(out, "label", panel->y_label);
    struct text words = {0};
    text_add(&words, "%s%s%s", panel->kept ? panel->kept : "", panel->kept && panel->lacks.length ? ". " : "",
             text_string(&panel->lacks));
    if (words.length)
        add_member(out, "kept", text_string(&words));
    text_free(&words);
    if (panel->note && !panel->kept && !panel->more_count)
        add_member(out, "note", panel->note);
    if (replaced)
        add_rows(panel->detail_rows, panel->detail_row_count, out);
    else if (panel->rows)
        add_rows(panel->row_names, panel->rows, out);
    add_levels(panel, out);
    text_add(out, ",\"series\":[");
    for (size_t i = replaced ? panel->series_count : 0; i < panel->series_count + panel->more_count; i++) {
        bool more = i >= panel->series_count;
        struct plot_series *s = more ? &panel->more[i - panel->series_count] : &panel->series[i];
        if (!s->detail.count && !more)
            copy_points(s);
        text_add(out, "%s", comma);
        add_series(s, before, more && !replaced, out);
        before = s;
        comma = ",\n";
    }
    text_add(out, "]}");
}

void plot_data(const struct plot *plot, struct text *out)
{
    text_add(out, "{\"least\":%.9g,\"most\":%.9g,\"log\":%s", plot->x_min, plot->x_max,
             plot->log_x ? "true" : "false");
    add_member(out, "name", plot->name);
    add_member(out, "title", plot->title);
    add_member(out, "x", plot->x_label);
    add_member(out, "origin", plot->origin);
    text_add(out, ",\"marks\":[");
    for (size_t i = 0; i < plot->mark_count; i++)
        add_line(i ? "," : "", "x", plot->marks[i].x, plot->marks[i].label, out);
    text_add(out, "]");
    if (plot->left_out.length)
        add_member(out, "leftOut", text_string(&plot->left_out));
    text_add(out, ",\"panels\":[\n");
    for (size_t i = 0; i < plot->panel_count; i++) {
        text_add(out, "%s", i ? ",\n" : "");
        add_panel(&plot->panels[i], out);
    }
    text_add(out, "]}");
}
