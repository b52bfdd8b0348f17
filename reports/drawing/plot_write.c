/* A drawing as files: its data, and the gnuplot script. */
#include "reports/drawing/plot.h"

#include "lib/output/visible.h"
#include "reports/drawing/gnuplot.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Pixels. All places are computed here: gnuplot leaves entries out of a legend that is too large for it, and makes no room for long
 * names of rows, or for the label of an axis beside wide numbers. Widths of text are those of its wider output, PNG.
 */
#define LEFT         96 /* of the label and the numbers of the y axis */
#define RIGHT        34 /* half of the last number of the x axis */
#define TITLE_LINE   24
#define TITLE_FITS   76 /* characters of a line */
#define LEGEND_LINE  20
#define LEGEND_CHAR  7.2 /* at its font size */
#define LEGEND_MARK  22  /* the sample of a curve */
#define LEGEND_SPACE 24  /* around the words of an entry */
#define HEIGHT_ONE   300
#define HEIGHT_PANEL 190
#define NAME_FITS    46 /* characters of a line of a row's name */
#define NAME_CHAR    7.0
#define NAME_LINE    14
#define ROW          15 /* the least height of a row */
#define ROW_OF_BARS  30
#define X_AXIS       56
#define GAP          26
#define MAX_LINES    8
#define MAX_LINE     160
#define X_TICS       13  /* as many sizes fit side by side */
#define TIC_CHAR     8.6 /* at the size of the numbers of an axis */
#define TIC_SPACE    10
#define SHAPES       6

/* ---- data */

/* One block per series, with two empty lines between them: gnuplot's "index". */
static void add_data(const struct plot *plot, struct text *out)
{
    for (size_t i = 0; i < plot->panel_count; i++) {
        const struct plot_panel *panel = &plot->panels[i];
        for (size_t j = 0; j < panel->series_count; j++) {
            const struct plot_series *s = &panel->series[j];
            text_add(out, "# ");
            gnuplot_column(out, panel->y_label);
            text_add(out, ": ");
            gnuplot_column(out, s->label);
            text_add(out, "\n# ");
            gnuplot_column(out, plot->x_label);
            text_add(out, "\t");
            gnuplot_column(out, panel->y_label);
            text_add(out, "\n");
            if (s->points)
                text_add_bytes(out, s->data.data, s->data.length);
            else
                text_add(out, "nan\tnan\n");
            text_add(out, "\n\n");
        }
    }
}

/* ---- text in lines */

struct lines {
    char line[MAX_LINES][MAX_LINE];
    size_t count, longest;
};

/* How much of the words goes on a line: up to a comma, else up to a space, else all that fits. */
static size_t line_length(const char *words, size_t fits)
{
    size_t comma = 0, space = 0;
    if (strlen(words) <= fits)
        return strlen(words);
    fits = utf8_cut(words, strlen(words), fits);
    for (size_t i = 1; i <= fits; i++) {
        if (words[i] != ' ')
            continue;
        space = i;
        comma = words[i - 1] == ',' ? i : comma;
    }
    return comma ? comma : space ? space : fits;
}

/* The last line takes what is left, and ends with "..." if that is too long. */
static void break_lines(const char *words, size_t fits, struct lines *out)
{
    out->count = out->longest = 0;
    do {
        size_t length = line_length(words, fits);
        bool last = out->count == MAX_LINES - 1 && words[length];
        snprintf(out->line[out->count++], MAX_LINE, "%.*s%s", (int)length, words, last ? "..." : "");
        out->longest = length > out->longest ? length : out->longest;
        words += length + (words[length] == ' ');
    } while (*words && out->count < MAX_LINES);
}

/* ---- layout */

struct place {
    int legend_top, top, bottom; /* from the upper edge */
    int column;                  /* width of a column of the legend */
    size_t lines;                /* of the legend */
};

struct layout {
    int left, right, height;
    struct lines title;
    struct place *panels;
};

static double across(int x)
{
    return (double)x / GNUPLOT_WIDTH;
}

/* gnuplot counts from the lower edge. */
static double up(const struct layout *at, int y)
{
    return 1 - (double)y / at->height;
}

static void place_legend(const struct plot_panel *panel, const struct layout *at, struct place *place)
{
    size_t entries = 0, longest = 0;
    for (size_t i = 0; i < panel->series_count; i++) {
        size_t length = strlen(panel->series[i].label);
        entries += *panel->series[i].label != '\0';
        longest = length > longest ? length : longest;
    }
    place->column = (int)((double)longest * LEGEND_CHAR) + LEGEND_MARK + LEGEND_SPACE;
    int fit = (GNUPLOT_WIDTH - at->left) / place->column;
    place->lines = (entries + (size_t)(fit ? fit : 1) - 1) / (size_t)(fit ? fit : 1);
}

static int row_height(const struct plot_panel *panel)
{
    struct lines name;
    size_t most = 1;
    for (size_t i = 0; i < panel->rows; i++) {
        break_lines(panel->row_names[i], NAME_FITS, &name);
        most = name.count > most ? name.count : most;
    }
    bool bars = panel->series_count && panel->series[0].style != PLOT_SEGMENTS;
    int least = bars ? ROW_OF_BARS : ROW, words = (int)most * NAME_LINE + (bars ? 10 : 2);
    return words > least ? words : least;
}

static int panel_height(const struct plot *plot, const struct plot_panel *panel)
{
    int usual = plot->panel_count == 1 ? HEIGHT_ONE : HEIGHT_PANEL;
    int rows = (int)panel->rows * row_height(panel) + 10;
    return panel->rows ? rows : usual;
}

static void place_sides(const struct plot *plot, struct layout *at)
{
    size_t name = 0, level = 0;
    for (size_t i = 0; i < plot->panel_count; i++) {
        const struct plot_panel *panel = &plot->panels[i];
        struct lines lines;
        for (size_t j = 0; j < panel->rows; j++) {
            break_lines(panel->row_names[j], NAME_FITS, &lines);
            name = lines.longest > name ? lines.longest : name;
        }
        for (size_t j = 0; j < panel->level_count; j++)
            level = strlen(panel->levels[j].label) > level ? strlen(panel->levels[j].label) : level;
    }
    int names = (int)((double)name * NAME_CHAR) + 20, levels = (int)((double)level * NAME_CHAR) + 20;
    at->left = names > LEFT ? names : LEFT;
    at->right = level && levels > RIGHT ? levels : RIGHT;
}

static int place_all(const struct plot *plot, struct layout *at)
{
    int y = 14;
    at->panels = calloc(plot->panel_count + 1, sizeof *at->panels);
    if (!at->panels)
        return -1;
    place_sides(plot, at);
    break_lines(plot->title, TITLE_FITS, &at->title);
    y += (int)at->title.count * TITLE_LINE;
    for (size_t i = 0; i < plot->panel_count; i++) {
        const struct plot_panel *panel = &plot->panels[i];
        struct place *place = &at->panels[i];
        place_legend(panel, at, place);
        y += i ? GAP : 0;
        place->legend_top = y + (panel->note ? LEGEND_LINE : 0);
        y = place->legend_top + (int)place->lines * LEGEND_LINE + 10;
        place->top = y;
        place->bottom = y += panel_height(plot, panel);
    }
    at->height = y + X_AXIS;
    return 0;
}

/* ---- axes */

/* Large numbers as 1.5 M, which is easier to read than 1.5e+06. */
static const char *y_format(const struct plot_panel *panel)
{
    double highest = 0;
    for (size_t i = 0; i < panel->series_count; i++)
        highest = fmax(highest, panel->series[i].highest);
    double first = highest >= 1e5 ? highest / pow(1000, floor(log10(highest) / 3)) : 0;
    return highest < 1e5 ? "% h" : first < 10 ? "%.1s %c" : "%.0s %c";
}

/* "512 B", "2 KiB" */
static void add_size(double bytes, struct text *out)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; bytes >= 1024 && unit < 4; unit++)
        bytes /= 1024;
    text_add(out, "'%g %s'", bytes, units[unit]);
}

/* Powers of two: so many of them that their names fit side by side. */
static void add_size_tics(const struct plot *plot, struct text *out)
{
    double least = INFINITY, most = 1;
    for (size_t i = 0; i < plot->panel_count; i++)
        for (size_t j = 0; j < plot->panels[i].series_count; j++) {
            const struct plot_series *s = &plot->panels[i].series[j];
            least = s->points ? fmin(least, s->x_least) : least;
            most = s->points ? fmax(most, s->x_most) : most;
        }
    int first = isfinite(least) && least >= 1 ? (int)floor(log2(least)) : 0, last = (int)ceil(log2(most));
    int step = (last - first) / X_TICS + 1;
    text_add(out, "set logscale x 2\nset xtics (");
    for (int power = first; power <= last; power += step) {
        text_add(out, "%s", power > first ? ", " : "");
        add_size(exp2(power), out);
        text_add(out, " %.0f", exp2(power));
    }
    text_add(out, ")\n");
}

/* Where a value of the x axis is, in pixels. */
static double pixel_of(const struct plot *plot, const struct layout *at, double x)
{
    double width = GNUPLOT_WIDTH - at->left - at->right;
    if (plot->log_x)
        return width * log(x / plot->x_min) / log(plot->x_max / plot->x_min);
    return width * (x - plot->x_min) / (plot->x_max - plot->x_min);
}

/* Tics that have room beside those before them. The last one is the range's end, and goes before its neighbours. */
static void add_tics(const struct plot *plot, const struct layout *at, bool named, struct text *out)
{
    double free_from = -INFINITY, free_to = INFINITY;
    const char *comma = "";
    text_add(out, "set xtics (");
    for (size_t i = 0; i < plot->tic_count; i++) {
        size_t which = i == 0 ? plot->tic_count - 1 : i - 1;
        const struct plot_tic *tic = &plot->tics[which];
        double half = ((double)strlen(tic->label) * TIC_CHAR + TIC_SPACE) / 2, x = pixel_of(plot, at, tic->x);
        bool last = i == 0;
        if (!isfinite(x) || (!last && (x - half < free_from || x + half > free_to)))
            continue;
        free_to = last ? x - half : free_to;
        free_from = last ? free_from : x + half;
        text_add(out, "%s", comma);
        gnuplot_quoted(out, named ? tic->label : "");
        text_add(out, " %.15g", tic->x);
        comma = ", ";
    }
    text_add(out, ")\n");
}

static void add_head(const struct plot *plot, struct text *out)
{
    text_add(out, "set encoding utf8\n"
                  "set datafile separator tab\n"
                  "set border 3 lc rgb '#777777'\n"
                  "set tics nomirror textcolor rgb '#333333'\n"
                  "set grid back lc rgb '#e3e3e3' lt 1 lw 1\n"
                  "set style fill solid 0.85 noborder\nunset key\n");
    if (plot->bytes_x)
        add_size_tics(plot, out);
    else if (plot->log_x)
        text_add(out, "set logscale x\n");
    if (plot->x_max > plot->x_min)
        text_add(out, "set xrange [%.9g:%.9g]\n", plot->x_min, plot->x_max);
}

static void add_x_axis(const struct plot *plot, const struct layout *at, bool last, struct text *out)
{
    if (plot->tic_count)
        add_tics(plot, at, last, out);
    if (!last) {
        text_add(out, "set format x ''\nunset xlabel\n");
        return;
    }
    text_add(out, "set format x\nset xlabel ");
    gnuplot_quoted(out, plot->x_label);
    text_add(out, " textcolor rgb '#333333'\n");
}

static double lowest_of(const struct plot_panel *panel)
{
    double lowest = 0;
    for (size_t i = 0; i < panel->series_count; i++)
        lowest = fmin(lowest, panel->series[i].lowest);
    return lowest;
}

static void add_y_axis(const struct plot *plot, const struct plot_panel *panel, struct text *out)
{
    if (!panel->rows && plot->panels[0].rows) /* which took the tics away */
        text_add(out, "set ytics\n");
    text_add(out, "set format y '%s'\n", y_format(panel));
    if (panel->rows)
        text_add(out, "unset ytics\nset yrange [%.1f:-0.7]\n", (double)panel->rows - 0.3);
    else if (lowest_of(panel) < 0)
        text_add(out, "unset logscale y\nset yrange [*:*]\n");
    else if (panel->log_y)
        text_add(out, "set logscale y\nset yrange [*:*]\n");
    else if (panel->y_max > 0)
        text_add(out, "unset logscale y\nset yrange [0:%.9g]\n", panel->y_max);
    else
        text_add(out, "unset logscale y\nset yrange [0:*]\nset offsets 0, 0, graph 0.08, 0\n");
}

/* ---- words */

/* Named rows: lines of a name above one another, at the row's height. */
static void add_row_names(const struct plot_panel *panel, struct text *out)
{
    size_t number = 1000;
    for (size_t i = 0; i < panel->rows; i++) {
        struct lines name;
        break_lines(panel->row_names[i], NAME_FITS, &name);
        for (size_t j = 0; j < name.count; j++) {
            text_add(out, "set label %zu ", number++);
            gnuplot_quoted(out, name.line[j]);
            text_add(out, " at graph 0, first %zu right offset -0.8,%.2f font ',9' textcolor rgb '#333333'\n",
                     i, ((double)name.count - 1) / 2 * 0.8 - (double)j * 0.8);
        }
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
        text_add(out, " at graph 1.01, first %.9g left textcolor rgb '#666666' font ',9'\n",
                 panel->levels[i].y);
    }
}

static void add_title(const struct plot *plot, const struct layout *at, struct text *out)
{
    for (size_t i = 0; i < at->title.count; i++) {
        text_add(out, "set label %zu ", 80 + i);
        gnuplot_quoted(out, at->title.line[i]);
        text_add(out, " at screen %.4f, screen %.4f left font ',14' textcolor rgb '#111111'\n", across(18),
                 up(at, 18 + (int)i * TITLE_LINE));
    }
    if (plot->origin)
        text_add(out,
                 "set label 90 '%s' at screen %.4f, screen %.4f right textcolor rgb '#b35900' font "
                 "',11'\n",
                 plot->origin, across(GNUPLOT_WIDTH - RIGHT), up(at, 18));
}

/* gnuplot's numbers of filled and empty points that differ in both its outputs. */
static int shape_of(const struct plot_series *s)
{
    static const int shapes[SHAPES] = {7, 5, 9, 6, 13, 8};
    return shapes[s->colour % SHAPES];
}

/* As the curve is drawn: a line, a point, or a bar. */
static void add_sample(const struct plot_series *s, const struct layout *at, int x, int y, size_t number,
                       struct text *out)
{
    bool line = s->style != PLOT_MARKS && s->style != PLOT_DOTS && s->style != PLOT_SCATTER;
    if (line)
        text_add(out,
                 "set arrow %zu from screen %.4f, screen %.4f to screen %.4f, screen %.4f nohead lw %s%s",
                 number, across(x), up(at, y), across(x + LEGEND_MARK), up(at, y),
                 s->style == PLOT_BARS ? "9" : "2", s->dashed ? " dt 2" : "");
    else
        text_add(out, "set label %zu '' at screen %.4f, screen %.4f point pt %s ps 1.1", number,
                 across(x + LEGEND_MARK / 2), up(at, y), s->style == PLOT_MARKS ? "4" : "7");
    text_add(out, " lc rgb '");
    plot_colour(s->colour, out);
    text_add(out, "'\n");
    if (!s->shaped)
        return;
    text_add(out, "set label %zu '' at screen %.4f, screen %.4f point pt %d ps 0.9 lc rgb '", number + 4000,
             across(x + LEGEND_MARK / 2), up(at, y), shape_of(s));
    plot_colour(s->colour, out);
    text_add(out, "'\n");
}

/* Columns of samples and words, above the panel. */
static void add_legend(const struct plot_panel *panel, const struct layout *at, const struct place *place,
                       struct text *out)
{
    size_t entry = 0;
    for (size_t i = 0; i < panel->series_count; i++) {
        const struct plot_series *s = &panel->series[i];
        if (!*s->label)
            continue;
        int x = at->left + (int)(entry / place->lines) * place->column;
        int y = place->legend_top + (int)(entry % place->lines) * LEGEND_LINE + LEGEND_LINE / 2;
        add_sample(s, at, x, y, 500 + entry, out);
        text_add(out, "set label %zu ", 2000 + entry++);
        gnuplot_quoted(out, s->label);
        text_add(out, " at screen %.4f, screen %.4f left font ',10' textcolor rgb '#222222'\n",
                 across(x + LEGEND_MARK + 6), up(at, y));
    }
    if (!panel->note)
        return;
    text_add(out, "set label 93 ");
    gnuplot_quoted(out, panel->note);
    text_add(out, " at screen %.4f, screen %.4f left font ',10' textcolor rgb '#666666'\n", across(at->left),
             up(at, place->legend_top - LEGEND_LINE / 2));
}

/* ---- curves */

static const char *style_words(enum plot_style style)
{
    static const char *const words[] = {
        [PLOT_LINES] = "lines lw 1.6",
        [PLOT_STEPS] = "steps lw 1.6",
        [PLOT_POINTS_LINES] = "linespoints lw 1.8 pt 7 ps 0.55",
        [PLOT_BARS] = "boxxyerror",
        [PLOT_MARKS] = "points pt 4 ps 1.3 lw 1.8",
        [PLOT_DOTS] = "points pt 7",
        [PLOT_SCATTER] = "points pt 7 ps 0.6",
        [PLOT_IMPULSES] = "impulses lw 1",
        [PLOT_SEGMENTS] = "vectors nohead lw 5",
        [PLOT_INTERVALS] = "yerrorlines lw 1.4",
        [PLOT_INTERVALS_ROWS] = "xerrorbars lw 1.6 pt 7 ps 0.5",
    };
    return words[style];
}

static const char *style_columns(enum plot_style style)
{
    if (style == PLOT_INTERVALS || style == PLOT_INTERVALS_ROWS)
        return "1:2:3:4";
    if (style == PLOT_SEGMENTS)
        return "1:2:3:(0)";
    return style == PLOT_BARS ? "1:2:(0):1:($2-0.3):($2+0.3)" : "1:2";
}

static void add_curve(const struct plot *plot, const struct plot_series *s, size_t index, struct text *out)
{
    text_add(out, "'%s.tsv' index %zu using %s with %s lc rgb '", plot->name, index, style_columns(s->style),
             style_words(s->style));
    plot_colour(s->colour, out);
    text_add(out, "'%s", s->dashed ? " dt 2" : "");
    if (s->shaped)
        text_add(out, " pt %d ps 0.8", shape_of(s));
    if (s->style == PLOT_DOTS) /* smaller ones are drawn over larger ones at the same place */
        text_add(out, " ps %.1f", fmax(1.8 - 0.45 * (double)s->colour, 0.6));
    text_add(out, " notitle");
}

static void add_panel(const struct plot *plot, const struct layout *at, size_t number, size_t *index,
                      struct text *out)
{
    const struct plot_panel *panel = &plot->panels[number];
    const struct place *place = &at->panels[number];
    text_add(out,
             "unset arrow\nunset label\nset margins screen %.4f, screen %.4f, screen %.4f, screen %.4f\n",
             across(at->left), across(GNUPLOT_WIDTH - at->right), up(at, place->bottom), up(at, place->top));
    if (number == 0)
        add_title(plot, at, out);
    text_add(out, "set label 92 ");
    gnuplot_quoted(out, panel->y_label);
    text_add(out, " at screen %.4f, screen %.4f center rotate by 90 textcolor rgb '#333333'\n", across(16),
             up(at, (place->top + place->bottom) / 2));
    add_x_axis(plot, at, number + 1 == plot->panel_count, out);
    add_y_axis(plot, panel, out);
    add_row_names(panel, out);
    add_levels(panel, out);
    add_legend(panel, at, place, out);
    text_add(out, "plot ");
    for (size_t i = 0; i < panel->series_count; i++) {
        text_add(out, "%s", i ? ", \\\n     " : "");
        add_curve(plot, &panel->series[i], (*index)++, out);
    }
    text_add(out, "\n");
}

static void add_script(const struct plot *plot, struct text *out)
{
    struct layout at = {0};
    if (place_all(plot, &at) != 0) {
        out->failed = true;
        return;
    }
    gnuplot_begin(out, plot->name);
    for (size_t i = 0; i < GNUPLOT_OUTPUTS; i++) {
        size_t index = 0;
        gnuplot_output(out, i, plot->name, at.height);
        add_head(plot, out);
        text_add(out, "set multiplot\n");
        for (size_t number = 0; number < plot->panel_count; number++)
            add_panel(plot, &at, number, &index, out);
        text_add(out, "unset multiplot\nset output\n");
    }
    free(at.panels);
}

int plot_write(const struct plot *plot, const struct folder *folder, struct error *e)
{
    struct text data = {0}, script = {0};
    add_data(plot, &data);
    add_script(plot, &script);
    int result = gnuplot_write(folder, plot->name, &data, &script, e);
    text_free(&data);
    text_free(&script);
    return result;
}
