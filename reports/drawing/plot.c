#include "reports/drawing/plot.h"

#include "reports/drawing/gnuplot.h"
#include <math.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HEIGHT_ONE   420
#define HEIGHT_PANEL 270
#define LABEL_FITS   26 /* length of a legend, in characters, that fits at the usual font size */

/* Okabe and Ito's colours, which colour-blind readers can distinguish, darkest first. */
static const char *const palette[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#56b4e9", "#e69f00", "#555555", "#8a6d00"};
#define PALETTE_SIZE (sizeof palette / sizeof *palette)

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
    text_free(&panel->row_names);
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
    free(plot->panels);
    free(plot->name);
    free(plot->title);
    free(plot->caption);
    free(plot->x_label);
    text_free(&plot->x_names);
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

struct plot_series *plot_add_series(struct plot_panel *panel, const char *label, enum plot_style style,
                                    int colour)
{
    panel->series = grow(panel->series, &panel->series_count, sizeof *panel->series);
    struct plot_series *series = &panel->series[panel->series_count - 1];
    series->label = strdup(label);
    series->style = style;
    series->colour = colour;
    return series;
}

void plot_add_point(struct plot_series *series, double x, double y)
{
    if (!isfinite(x) || !isfinite(y))
        return;
    text_add(&series->data, "%.9g\t%.9g\n", x, y);
    series->highest = fmax(series->highest, y);
    series->points++;
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

static bool has_points(const struct plot_panel *panel)
{
    for (size_t i = 0; i < panel->series_count; i++)
        if (panel->series[i].points)
            return true;
    return false;
}

/* gnuplot takes a panel without points for an error. */
bool plot_prune(struct plot *plot)
{
    size_t kept = 0;
    for (size_t i = 0; i < plot->panel_count; i++) {
        if (has_points(&plot->panels[i]))
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

void plot_name_x(struct plot *plot, double x, const char *name)
{
    if (plot->x_names.length)
        text_add(&plot->x_names, ", ");
    gnuplot_quoted(&plot->x_names, name);
    text_add(&plot->x_names, " %g", x);
}

void plot_name_row(struct plot_panel *panel, int row, const char *name)
{
    if (panel->row_names.length)
        text_add(&panel->row_names, ", ");
    gnuplot_quoted(&panel->row_names, name);
    text_add(&panel->row_names, " %d", row);
}

/* ---- data */

/* One block per series, with two empty lines between them: gnuplot's "index". */
static void add_data(const struct plot *plot, struct text *out)
{
    for (size_t i = 0; i < plot->panel_count; i++) {
        const struct plot_panel *panel = &plot->panels[i];
        for (size_t j = 0; j < panel->series_count; j++) {
            const struct plot_series *s = &panel->series[j];
            text_add(out, "# %s: %s\n# %s\t%s\n", panel->y_label, s->label, plot->x_label, panel->y_label);
            if (s->points)
                text_add_bytes(out, s->data.data, s->data.length);
            else
                text_add(out, "nan\tnan\n");
            text_add(out, "\n\n");
        }
    }
}

/* ---- script */

static size_t longest_label(const struct plot *plot)
{
    size_t longest = 0;
    for (size_t i = 0; i < plot->panel_count; i++)
        for (size_t j = 0; j < plot->panels[i].series_count; j++)
            if (strlen(plot->panels[i].series[j].label) > longest)
                longest = strlen(plot->panels[i].series[j].label);
    return longest;
}

/* Large numbers as 1.5 M, which is easier to read than 1.5e+06. */
static const char *y_format(const struct plot_panel *panel)
{
    double highest = 0;
    for (size_t i = 0; i < panel->series_count; i++)
        highest = fmax(highest, panel->series[i].highest);
    return highest >= 1e5 ? "%.1s %c" : "% h";
}

static void add_head(const struct plot *plot, struct text *out)
{
    text_add(out,
             "set encoding utf8\n"
             "set datafile separator tab\n"
             "set border 3 lc rgb '#777777'\n"
             "set tics nomirror textcolor rgb '#333333'\n"
             "set grid back lc rgb '#e3e3e3' lt 1 lw 1\n"
             "set style fill solid 0.85 noborder\n"
             "set key at graph 1.015, graph 1.02 left top vertical Left reverse samplen 1.2 spacing "
             "1.15 font ',%d' "
             "textcolor rgb '#222222'\n",
             longest_label(plot) > LABEL_FITS ? 9 : 11);
    if (plot->bytes_x)
        text_add(out, "set logscale x 2\n"
                      "set xtics (\"2 B\" 2, \"8 B\" 8, \"32 B\" 32, \"128 B\" 128, \"512 B\" 512, \"2 KiB\" "
                      "2048, \"8 KiB\" 8192, "
                      "\"32 KiB\" 32768, \"128 KiB\" 131072, \"512 KiB\" 524288, \"2 MiB\" 2097152, \"8 "
                      "MiB\" 8388608)\n");
    else if (plot->log_x)
        text_add(out, "set logscale x\n");
    if (plot->x_names.length)
        text_add(out, "set xtics (%s)\n", text_string(&plot->x_names));
    if (plot->bar_width > 0)
        text_add(out, "set boxwidth %g\n", plot->bar_width);
    if (plot->x_max > plot->x_min)
        text_add(out, "set xrange [%.9g:%.9g]\n", plot->x_min, plot->x_max);
}

static const char *style_words(enum plot_style style)
{
    static const char *const words[] = {
        [PLOT_LINES] = "lines lw 1.6",
        [PLOT_STEPS] = "steps lw 1.6",
        [PLOT_POINTS_LINES] = "linespoints lw 1.8 pt 7 ps 0.55",
        [PLOT_BARS] = "boxes",
        [PLOT_MARKS] = "points pt 4 ps 1.3 lw 1.8",
        [PLOT_DOTS] = "points pt 7 ps 1.2",
        [PLOT_IMPULSES] = "impulses lw 1",
        [PLOT_SEGMENTS] = "vectors nohead lw 5",
    };
    return words[style];
}

static void add_curve(const struct plot *plot, const struct plot_series *s, size_t index, struct text *out)
{
    text_add(out, "'%s.tsv' index %zu using %s with %s lc rgb '%s'%s ", plot->name, index,
             s->style == PLOT_SEGMENTS ? "1:2:3:(0)" : "1:2", style_words(s->style),
             palette[(size_t)s->colour % PALETTE_SIZE], s->dashed ? " dt 2" : "");
    if (*s->label) {
        text_add(out, "title ");
        gnuplot_quoted(out, s->label);
    } else {
        text_add(out, "notitle");
    }
}

static void add_levels(const struct plot_panel *panel, struct text *out)
{
    for (size_t i = 0; i < panel->level_count; i++) {
        text_add(out,
                 "set arrow %zu from graph 0, first %.9g to graph 1, first %.9g nohead lc rgb '#999999' dt 3 "
                 "lw 1.4\n",
                 i + 1, panel->levels[i].y, panel->levels[i].y);
        text_add(out, "set label %zu ", i + 1);
        gnuplot_quoted(out, panel->levels[i].label);
        text_add(out, " at graph 1.015, first %.9g left textcolor rgb '#666666' font ',10'\n",
                 panel->levels[i].y);
    }
}

static void add_panel(const struct plot *plot, size_t number, size_t *index, struct text *out)
{
    const struct plot_panel *panel = &plot->panels[number];
    bool first = number == 0, last = number + 1 == plot->panel_count;
    text_add(out, "unset arrow\nunset label\nset ylabel ");
    gnuplot_quoted(out, panel->y_label);
    text_add(out, " textcolor rgb '#333333'\nset format y '%s'\n", y_format(panel));
    if (first) {
        text_add(out, "set label 91 ");
        gnuplot_quoted(out, plot->title);
        text_add(out, " at graph 0, graph 1 left offset 0,1.4 font ',14' textcolor rgb '#111111'\n");
    }
    if (first && plot->simulated)
        text_add(out, "set label 90 'simulated' at graph 1, graph 1 right offset 0,1.4 textcolor rgb "
                      "'#b35900' font ',11'\n");
    if (last)
        text_add(out, "set format x\nset xlabel ");
    else
        text_add(out, "set format x ''\nunset xlabel\n");
    if (last) {
        gnuplot_quoted(out, plot->x_label);
        text_add(out, " textcolor rgb '#333333'\n");
    }
    if (panel->rows)
        text_add(out, "set ytics (%s) font ',9'\nset yrange [-0.7:%.1f]\n", text_string(&panel->row_names),
                 (double)panel->rows - 0.3);
    else if (panel->log_y)
        text_add(out, "set logscale y\nset yrange [*:*]\n");
    else if (panel->y_max > 0)
        text_add(out, "unset logscale y\nset yrange [0:%.9g]\n", panel->y_max);
    else
        text_add(out, "unset logscale y\nset yrange [0:*]\nset offsets 0, 0, graph 0.08, 0\n");
    add_levels(panel, out);
    text_add(out, "plot ");
    for (size_t i = 0; i < panel->series_count; i++) {
        text_add(out, "%s", i ? ", \\\n     " : "");
        add_curve(plot, &panel->series[i], (*index)++, out);
    }
    text_add(out, "\n");
}

static void add_script(const struct plot *plot, struct text *out)
{
    size_t panels = plot->panel_count;
    int rows = panels ? (int)plot->panels[0].rows : 0;
    int height = rows > 24     ? HEIGHT_ONE + (rows - 24) * 14
                 : panels == 1 ? HEIGHT_ONE
                               : (int)panels * HEIGHT_PANEL;
    gnuplot_begin(out, plot->name);
    for (size_t i = 0; i < GNUPLOT_OUTPUTS; i++) {
        size_t index = 0;
        gnuplot_output(out, i, plot->name, height);
        add_head(plot, out);
        if (panels > 1)
            text_add(out, "set multiplot layout %zu,1 margins 0.085,0.765,%.3f,%.3f spacing 0.07\n", panels,
                     64.0 / height, 1 - 62.0 / height);
        else
            text_add(out, "set margins screen 0.085, screen 0.765, screen 0.15, screen 0.87\n");
        for (size_t number = 0; number < panels; number++)
            add_panel(plot, number, &index, out);
        text_add(out, "%sset output\n", panels > 1 ? "unset multiplot\n" : "");
    }
}

int plot_write(const struct plot *plot, const char *folder, struct error *e)
{
    struct text data = {0}, script = {0};
    add_data(plot, &data);
    add_script(plot, &script);
    int result = gnuplot_write(folder, plot->name, &data, &script, e);
    text_free(&data);
    text_free(&script);
    return result;
}
