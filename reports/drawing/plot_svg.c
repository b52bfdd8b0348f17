/* A plot as files: its data, and the drawing. */
#include "reports/drawing/plot.h"

#include "lib/output/visible.h"
#include "lib/xalloc.h"
#include "reports/drawing/svg.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pixels. Widths of text are those of a common sans-serif font, of which half a size a character is the
 * mean. */
#define LEFT         88 /* of the label and the numbers of the y axis */
#define RIGHT        34 /* half of the last number of the x axis */
#define TITLE_LINE   24
#define TITLE_SIZE   17
#define TITLE_FITS   76 /* characters of a line */
#define LEGEND_LINE  20
#define LEGEND_SIZE  13
#define LEGEND_CHAR  7.2
#define LEGEND_MARK  22 /* the sample of a curve */
#define LEGEND_SPACE 24 /* around the words of an entry */
#define HEIGHT_ONE   300
#define HEIGHT_PANEL 190
#define NAME_FITS    46 /* characters of a line of a row's name */
#define NAME_SIZE    12
#define NAME_CHAR    7.0
#define NAME_LINE    14
#define ROW          15 /* the least height of a row */
#define ROW_OF_BARS  30
#define X_AXIS       56
#define GAP          26
#define MARK_LINE    16 /* of the words of marks, above the first panel */
#define MAX_LINES    8
#define MAX_LINE     160
#define X_SIZES      13 /* as many sizes fit side by side */
#define TIC_SIZE     12
#define TIC_CHAR     7.4
#define TIC_SPACE    10
#define MAX_TICS     80
#define FEW_POINTS   200 /* of a scatter plot: they are drawn larger */

#define BORDER "#777777"
#define GRID   "#e3e3e3"
#define INK    "#333333"
#define SOFT   "#666666"

/* ---- data */

static bool has_interval(const struct plot_series *s)
{
    return s->style == PLOT_INTERVALS || s->style == PLOT_INTERVALS_ROWS;
}

static void add_row(const struct plot_panel *panel, const struct plot_series *s, const struct plot_row *row,
                    struct text *out)
{
    if (has_interval(s))
        text_add(out, "%.15g\t%.15g\t%.15g\t%.15g", row->x, row->y, row->low, row->high);
    else if (s->style == PLOT_SEGMENTS)
        text_add(out, "%.9g\t%.9g\t%.9g", row->x, row->y, row->width);
    else
        text_add(out, "%.9g\t%.9g", row->x, row->y);
    if (panel->rows && row->y >= 0 && row->y < (double)panel->rows) {
        text_add(out, "\t");
        svg_data_column(out, panel->row_names[(size_t)row->y]);
    }
    text_add(out, "\n");
}

/* "# time, ms\trow\tlength, ms\tname of the row" */
static void add_columns(const struct plot *plot, const struct plot_panel *panel, const struct plot_series *s,
                        struct text *out)
{
    const char *unit = strchr(plot->x_label, ',');
    text_add(out, "# ");
    svg_data_column(out, plot->x_label);
    text_add(out, "\t");
    svg_data_column(out, panel->rows ? "row" : panel->y_label);
    if (has_interval(s))
        text_add(out, "\tlow\thigh");
    if (s->style == PLOT_SEGMENTS) {
        text_add(out, "\tlength");
        svg_data_column(out, unit ? unit : "");
    }
    text_add(out, "%s\n", panel->rows ? "\tname of the row" : "");
}

/* One block per series, with two empty lines between them: gnuplot's "index". */
static void add_data(const struct plot *plot, struct text *out)
{
    for (size_t i = 0; i < plot->panel_count; i++) {
        const struct plot_panel *panel = &plot->panels[i];
        for (size_t j = 0; j < panel->series_count; j++) {
            const struct plot_series *s = &panel->series[j];
            text_add(out, "# ");
            svg_data_column(out, *panel->y_label ? panel->y_label : plot->title);
            text_add(out, "%s", *s->label ? ": " : "");
            svg_data_column(out, s->label);
            text_add(out, "\n");
            add_columns(plot, panel, s, out);
            for (size_t k = 0; k < s->points; k++)
                add_row(panel, s, &s->rows[k], out);
            if (!s->points)
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

static void place_legend(const struct plot_panel *panel, const struct layout *at, struct place *place)
{
    size_t entries = 0, longest = 0;
    for (size_t i = 0; i < panel->series_count; i++) {
        size_t length = strlen(panel->series[i].label);
        entries += *panel->series[i].label != '\0';
        longest = length > longest ? length : longest;
    }
    place->column = (int)((double)longest * LEGEND_CHAR) + LEGEND_MARK + LEGEND_SPACE;
    int fit = (SVG_WIDTH - at->left) / place->column;
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
    return panel->rows ? (int)panel->rows * row_height(panel) + 10 : usual;
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
    int names = (int)((double)name * NAME_CHAR) + 34, levels = (int)((double)level * NAME_CHAR) + 20;
    at->left = name && names > LEFT ? names : LEFT;
    at->right = level && levels > RIGHT ? levels : RIGHT;
}

static void place_all(const struct plot *plot, struct layout *at)
{
    int y = 14;
    at->panels = xcalloc(plot->panel_count + 1, sizeof *at->panels);
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
        y += i == 0 && plot->mark_count ? MARK_LINE : 0;
        place->top = y;
        place->bottom = y += panel_height(plot, panel);
    }
    at->height = y + X_AXIS;
}

/* ---- scales */

struct scale {
    double low, high; /* values at `from` and at `to` */
    bool logarithmic;
    double from, to; /* pixels */
};

static double pixel_of(const struct scale *s, double value)
{
    if (s->logarithmic)
        value = value > 0 ? log(value / s->low) / log(s->high / s->low) : -1;
    else
        value = (value - s->low) / (s->high - s->low);
    return s->from + (s->to - s->from) * value;
}

/* 1, 2 or 5 times a power of ten: a span has about `parts` of them. */
static double round_step(double span, double parts)
{
    double step = span / parts, power = pow(10, floor(log10(step)));
    return power * (step / power < 1.5 ? 1 : step / power < 3.5 ? 2 : step / power < 7.5 ? 5 : 10);
}

/* Widened to whole steps. */
static void round_linear(struct scale *s, double parts)
{
    if (!(s->high > s->low))
        s->high = s->low + (s->low != 0 ? fabs(s->low) : 1);
    double step = round_step(s->high - s->low, parts);
    s->low = floor(s->low / step + 1e-9) * step;
    s->high = ceil(s->high / step - 1e-9) * step;
}

static void round_logarithmic(struct scale *s, double base)
{
    s->low = pow(base, floor(log(s->low) / log(base) + 1e-9));
    s->high = pow(base, ceil(log(s->high) / log(base) - 1e-9));
    if (!(s->high > s->low))
        s->high = s->low * base;
}

/* The least and the greatest value that the scale can show; false: none. */
static bool find_range(const struct plot_panel *panel, bool along_x, bool positive, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < panel->series_count; i++)
        for (size_t k = 0; k < panel->series[i].points; k++) {
            const struct plot_row *row = &panel->series[i].rows[k];
            bool spread =
                along_x == (panel->series[i].style == PLOT_INTERVALS_ROWS) &&
                (panel->series[i].style == PLOT_INTERVALS_ROWS || panel->series[i].style == PLOT_INTERVALS);
            double least = spread ? row->low : along_x ? row->x : row->y, most = spread ? row->high : least;
            if (along_x && panel->series[i].style == PLOT_SEGMENTS)
                most = row->x + row->width;
            if (!positive || least > 0)
                *low = fmin(*low, least);
            if (!positive || most > 0)
                *high = fmax(*high, most);
        }
    return *low <= *high;
}

static struct scale x_scale(const struct plot *plot, const struct layout *at)
{
    struct scale s = {.low = INFINITY,
                      .high = -INFINITY,
                      .logarithmic = plot->log_x || plot->bytes_x,
                      .from = at->left,
                      .to = SVG_WIDTH - at->right};
    if (plot->x_max > plot->x_min) {
        s.low = plot->x_min;
        s.high = plot->x_max;
        return s;
    }
    bool bars = false;
    for (size_t i = 0; i < plot->panel_count; i++) {
        double low, high;
        if (find_range(&plot->panels[i], true, s.logarithmic, &low, &high)) {
            s.low = fmin(s.low, low);
            s.high = fmax(s.high, high);
        }
        for (size_t j = 0; j < plot->panels[i].series_count; j++)
            bars |= plot->panels[i].series[j].style == PLOT_BARS;
    }
    if (!(s.low <= s.high))
        s.low = s.logarithmic ? 1 : 0, s.high = 10;
    if (bars && !s.logarithmic)
        s.low = fmin(s.low, 0);
    if (s.logarithmic)
        round_logarithmic(&s, plot->bytes_x ? 2 : 10);
    else
        round_linear(&s, 9);
    return s;
}

static struct scale y_scale(const struct plot_panel *panel, const struct place *place)
{
    struct scale s = {.from = place->bottom, .to = place->top};
    if (panel->rows) { /* row 0 is at the top */
        s.low = (double)panel->rows - 0.3;
        s.high = -0.7;
        return s;
    }
    double low, high;
    bool any = find_range(panel, false, panel->log_y, &low, &high);
    s.logarithmic = panel->log_y && any;
    if (s.logarithmic) {
        s.low = low;
        s.high = high;
        round_logarithmic(&s, 10);
        return s;
    }
    s.low = any ? fmin(low, 0) : 0;
    s.high = any ? fmax(high, 0) : 1;
    if (panel->y_max > 0 && s.low >= 0) {
        s.high = panel->y_max;
        return s;
    }
    s.high += 0.05 * (s.high - s.low);
    round_linear(&s, (place->bottom - place->top) / 42.0);
    return s;
}

/* ---- tics */

struct tics {
    struct tic {
        double value;
        char label[48];
    } items[MAX_TICS];
    size_t count;
};

static void add_tic(struct tics *tics, double value, const char *label)
{
    if (tics->count == MAX_TICS)
        return;
    tics->items[tics->count].value = value;
    snprintf(tics->items[tics->count++].label, sizeof tics->items->label, "%s", label);
}

/* Large numbers as 1.5 M, which is easier to read than 1.5e+06. */
static void add_number_tic(struct tics *tics, double value, double highest)
{
    static const char *const prefixes[] = {"", " k", " M", " G", " T", " P", " E"};
    char label[48];
    size_t prefix = 0;
    double shown = value;
    for (; highest >= 1e5 && fabs(shown) >= 999.5 && prefix < 6; prefix++)
        shown /= 1000;
    snprintf(label, sizeof label, "%.6g%s", fabs(shown) < 1e-12 * highest ? 0 : shown, prefixes[prefix]);
    add_tic(tics, value, label);
}

static void linear_tics(const struct scale *s, double parts, struct tics *tics)
{
    double low = fmin(s->low, s->high), high = fmax(s->low, s->high), step = round_step(high - low, parts);
    for (double i = ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++)
        add_number_tic(tics, i * step, high);
}

static void decade_tics(const struct scale *s, struct tics *tics)
{
    int first = (int)ceil(log10(s->low) - 1e-9), last = (int)floor(log10(s->high) + 1e-9),
        step = (last - first) / 8 + 1;
    for (int power = first; power <= last; power += step)
        add_number_tic(tics, pow(10, power), s->high);
    if (tics->count < 2) /* less than two powers: numbers between them too */
        linear_tics(s, 5, tics);
}

/* Powers of two, as many as have room for their names side by side. */
static void size_tics(const struct scale *s, struct tics *tics)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int first = (int)ceil(log2(s->low) - 1e-9), last = (int)floor(log2(s->high) + 1e-9),
        step = (last - first) / X_SIZES + 1;
    for (int power = first; power <= last; power += step) {
        double bytes = exp2(power);
        size_t unit = 0;
        char label[32];
        for (; bytes >= 1024 && unit < 4; unit++)
            bytes /= 1024;
        snprintf(label, sizeof label, "%g %s", bytes, units[unit]);
        add_tic(tics, exp2(power), label);
    }
}

/* Numbers as the user wrote them, those that have room beside those before them. The last one is the range's
 * end, and goes before its neighbours. */
static void written_tics(const struct plot *plot, const struct scale *s, struct tics *tics)
{
    double free_from = -INFINITY, free_to = INFINITY;
    for (size_t i = 0; i < plot->tic_count; i++) {
        const struct plot_tic *tic = &plot->tics[i == 0 ? plot->tic_count - 1 : i - 1];
        double half = ((double)strlen(tic->label) * TIC_CHAR + TIC_SPACE) / 2, x = pixel_of(s, tic->x);
        bool last = i == 0;
        if (!isfinite(x) || (!last && (x - half < free_from || x + half > free_to)))
            continue;
        free_to = last ? x - half : free_to;
        free_from = last ? free_from : x + half;
        add_tic(tics, tic->x, tic->label);
    }
}

static void draw_x_axis(const struct plot *plot, const struct scale *x, const struct place *place, bool last,
                        struct text *out)
{
    struct tics tics = {.count = 0};
    if (plot->tic_count)
        written_tics(plot, x, &tics);
    else if (plot->bytes_x)
        size_tics(x, &tics);
    else if (x->logarithmic)
        decade_tics(x, &tics);
    else
        linear_tics(x, 9, &tics);
    for (size_t i = 0; i < tics.count; i++) {
        double at = pixel_of(x, tics.items[i].value);
        svg_line(out, at, place->top, at, place->bottom, GRID, 1, NULL);
        svg_line(out, at, place->bottom, at, place->bottom + 4, BORDER, 1, NULL);
        if (last)
            svg_words(out, at, place->bottom + 14, (struct svg_font){TIC_SIZE, INK, SVG_MIDDLE, false, false},
                      tics.items[i].label);
    }
    /* of a run, "time, ms": since when is for people, and not in the data */
    char *time = strncmp(plot->x_label, "time, ", 6) == 0
                     ? xasprintf("time since the measure phase began, %s", plot->x_label + 6)
                     : NULL;
    const char *x_words = time ? time : plot->x_label;
    if (last)
        svg_words(out, (x->from + x->to) / 2, place->bottom + 38,
                  (struct svg_font){13, INK, SVG_MIDDLE, false, false}, x_words);
    free(time);
}

/* Named rows: lines of a name above one another, in the middle of the row. */
static void draw_row_names(const struct plot_panel *panel, const struct scale *y, double left,
                           struct text *out)
{
    for (size_t i = 0; i < panel->rows; i++) {
        struct lines name;
        break_lines(panel->row_names[i], NAME_FITS, &name);
        for (size_t j = 0; j < name.count; j++)
            svg_words(out, left - 8,
                      pixel_of(y, (double)i) + ((double)j - ((double)name.count - 1) / 2) * NAME_LINE,
                      (struct svg_font){NAME_SIZE, INK, SVG_RIGHT, false, false}, name.line[j]);
    }
}

static void draw_y_axis(const struct plot_panel *panel, const struct scale *x, const struct scale *y,
                        struct text *out)
{
    struct tics tics = {.count = 0};
    if (panel->rows)
        draw_row_names(panel, y, x->from, out);
    else if (y->logarithmic)
        decade_tics(y, &tics);
    else
        linear_tics(y, fabs(y->to - y->from) / 42.0, &tics);
    for (size_t i = 0; i < tics.count; i++) {
        double at = pixel_of(y, tics.items[i].value);
        svg_line(out, x->from, at, x->to, at, GRID, 1, NULL);
        svg_line(out, x->from - 4, at, x->from, at, BORDER, 1, NULL);
        svg_words(out, x->from - 8, at, (struct svg_font){TIC_SIZE, INK, SVG_RIGHT, false, false},
                  tics.items[i].label);
    }
    svg_words(out, 16, (y->from + y->to) / 2, (struct svg_font){13, INK, SVG_MIDDLE, true, false},
              panel->y_label);
}

static void draw_levels(const struct plot_panel *panel, const struct scale *x, const struct scale *y,
                        struct text *out)
{
    for (size_t i = 0; i < panel->level_count; i++) {
        double at = pixel_of(y, panel->levels[i].y);
        if (at < fmin(y->from, y->to) - 1 || at > fmax(y->from, y->to) + 1)
            continue;
        svg_line(out, x->from, at, x->to, at, "#999999", 1.4, "2 4");
        bool free = true; /* of the words of those before it */
        for (size_t k = 0; k < i; k++)
            free &= fabs(pixel_of(y, panel->levels[k].y) - at) >= NAME_LINE;
        if (free)
            svg_words(out, x->to + 8, at, (struct svg_font){NAME_SIZE, SOFT, SVG_LEFT, false, false},
                      panel->levels[i].label);
    }
}

/* A line for each, and above the first panel the words for which there is room; the caption has all. */
static void draw_marks(const struct plot *plot, const struct scale *x, const struct place *place, bool words,
                       struct text *out)
{
    double free_from = -INFINITY;
    for (size_t i = 0; i < plot->mark_count; i++) {
        const struct plot_mark *mark = &plot->marks[i];
        double at = pixel_of(x, mark->x), width = (double)strlen(mark->label) * NAME_CHAR;
        if (at < x->from - 0.5 || at > x->to + 0.5)
            continue;
        svg_line(out, at, place->top - (words ? 4 : 0), at, place->bottom, "#8a4fa0", 1.2, "5 3");
        double left = fmin(at + 2, x->to - width);
        if (!words || left < free_from || left < x->from)
            continue;
        svg_words(out, left, place->top - MARK_LINE / 2.0 - 2,
                  (struct svg_font){NAME_SIZE, "#6d3a80", SVG_LEFT, false, false}, mark->label);
        free_from = left + width + TIC_SPACE;
    }
}

/* ---- curves */

static const char *dashes_of(const struct plot_series *s)
{
    return s->dashed ? "7 4" : NULL;
}

static double line_width(enum plot_style style)
{
    return style == PLOT_POINTS_LINES ? 1.8 : style == PLOT_INTERVALS ? 1.4 : 1.6;
}

/* Neighbours that fall on the same tenth of a pixel are drawn once. */
static void draw_line(const struct plot_series *s, const struct scale *x, const struct scale *y,
                      const char *colour, struct text *out)
{
    char command = 'M', before[48] = "";
    double last_y = 0;
    text_add(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\" stroke-linejoin=\"round\"", colour,
             line_width(s->style));
    if (s->dashed)
        text_add(out, " stroke-dasharray=\"%s\"", dashes_of(s));
    text_add(out, " d=\"");
    for (size_t i = 0; i < s->points; i++) {
        char point[48];
        double px = pixel_of(x, s->rows[i].x), py = pixel_of(y, s->rows[i].y);
        if ((x->logarithmic && !(s->rows[i].x > 0)) || (y->logarithmic && !(s->rows[i].y > 0))) {
            command = 'M';
            continue;
        }
        snprintf(point, sizeof point, "%.1f %.1f", px, py);
        if (command == 'L' && strcmp(point, before) == 0)
            continue;
        if (command == 'L' && s->style == PLOT_STEPS && py != last_y)
            text_add(out, "H%.1fV%.1f", px, py);
        else
            text_add(out, "%c%s", command, point);
        memcpy(before, point, sizeof before);
        last_y = py;
        command = 'L';
    }
    text_add(out, "\"/>\n");
}

static void draw_interval(const struct scale *x, const struct scale *y, const struct plot_row *row,
                          bool along_x, const char *colour, struct text *out)
{
    double px = pixel_of(x, row->x), py = pixel_of(y, row->y);
    if (!(row->high > row->low))
        return;
    double from = pixel_of(along_x ? x : y, row->low), to = pixel_of(along_x ? x : y, row->high);
    for (int end = 0; end < 2; end++) {
        double at = end ? to : from;
        if (along_x)
            svg_line(out, at, py - 4, at, py + 4, colour, 1.4, NULL);
        else
            svg_line(out, px - 4, at, px + 4, at, colour, 1.4, NULL);
    }
    if (along_x)
        svg_line(out, from, py, to, py, colour, 1.4, NULL);
    else
        svg_line(out, px, from, px, to, colour, 1.4, NULL);
}

/* What a series has at each of its points. */
static void draw_points(const struct plot_series *s, const struct scale *x, const struct scale *y,
                        const char *colour, struct text *out)
{
    for (size_t i = 0; i < s->points; i++) {
        const struct plot_row *row = &s->rows[i];
        double px = pixel_of(x, row->x), py = pixel_of(y, row->y), top;
        if ((x->logarithmic && !(row->x > 0)) || (y->logarithmic && !(row->y > 0)))
            continue;
        switch (s->style) {
        case PLOT_BARS:
            top = pixel_of(y, row->y - 0.3);
            svg_rectangle(out, fmin(pixel_of(x, x->logarithmic ? x->low : 0), px), top,
                          fabs(px - pixel_of(x, x->logarithmic ? x->low : 0)),
                          pixel_of(y, row->y + 0.3) - top, colour, NULL);
            break;
        case PLOT_MARKS:
            svg_rectangle(out, px - 4, py - 4, 8, 8, "none", colour);
            break;
        case PLOT_DOTS: /* smaller ones are drawn over larger ones at the same place */
            svg_marker(out, 0, px, py, 3 * fmax(1.8 - 0.45 * (double)s->colour, 0.6), colour);
            break;
        case PLOT_SCATTER:
            svg_marker(out, 0, px, py, s->points > FEW_POINTS ? 1.8 : 3, colour);
            break;
        case PLOT_IMPULSES:
            svg_line(out, px, pixel_of(y, y->logarithmic ? y->low : 0), px, py, colour, 1, NULL);
            break;
        case PLOT_SEGMENTS: /* at least a hair's width */
            svg_rectangle(out, px, py - 2.5, fmax(pixel_of(x, row->x + row->width) - px, 0.4), 5, colour,
                          NULL);
            break;
        case PLOT_POINTS_LINES:
            svg_marker(out, s->shaped ? s->colour : 0, px, py, s->shaped ? 3.4 : 2.2, colour);
            break;
        case PLOT_INTERVALS:
        case PLOT_INTERVALS_ROWS:
            draw_interval(x, y, row, s->style == PLOT_INTERVALS_ROWS, colour, out);
            svg_marker(out, s->shaped ? s->colour : 0, px, py, s->shaped ? 3.4 : 2.4, colour);
            break;
        case PLOT_LINES:
        case PLOT_STEPS:
            if (s->shaped)
                svg_marker(out, s->colour, px, py, 3.4, colour);
            break;
        }
    }
}

static bool is_line(enum plot_style style)
{
    return style == PLOT_LINES || style == PLOT_STEPS || style == PLOT_POINTS_LINES ||
           style == PLOT_INTERVALS;
}

static void draw_curve(const struct plot_series *s, const struct scale *x, const struct scale *y,
                       struct text *out)
{
    struct text colour = {0};
    plot_colour(s->colour, &colour);
    text_add(out, "<g class=\"series\" data-colour=\"%s\">\n", text_string(&colour));
    if (is_line(s->style))
        draw_line(s, x, y, text_string(&colour), out);
    draw_points(s, x, y, text_string(&colour), out);
    text_add(out, "</g>\n");
    text_free(&colour);
}

/* ---- legend */

/* As the curve is drawn: a line, a point, or a bar. */
static void draw_sample(const struct plot_series *s, double x, double y, struct text *out)
{
    struct text text = {0};
    plot_colour(s->colour, &text);
    const char *colour = text_string(&text);
    double middle = x + LEGEND_MARK / 2.0;
    if (s->style == PLOT_MARKS)
        svg_rectangle(out, middle - 4, y - 4, 8, 8, "none", colour);
    else if (s->style == PLOT_DOTS || s->style == PLOT_SCATTER)
        svg_marker(out, 0, middle, y, 3.4, colour);
    else
        svg_line(out, x, y, x + LEGEND_MARK, y, colour, s->style == PLOT_BARS ? 9 : 2, dashes_of(s));
    if (s->shaped)
        svg_marker(out, s->colour, middle, y, 3.8, colour);
    text_free(&text);
}

/* Columns of samples and words, above the panel. */
static void draw_legend(const struct plot_panel *panel, const struct layout *at, const struct place *place,
                        struct text *out)
{
    size_t entry = 0;
    if (panel->note)
        svg_words(out, at->left, place->legend_top - LEGEND_LINE / 2.0,
                  (struct svg_font){LEGEND_SIZE, SOFT, SVG_LEFT, false, false}, panel->note);
    for (size_t i = 0; i < panel->series_count; i++) {
        const struct plot_series *s = &panel->series[i];
        if (!*s->label)
            continue;
        int x = at->left + (int)(entry / place->lines) * place->column;
        int y = place->legend_top + (int)(entry++ % place->lines) * LEGEND_LINE + LEGEND_LINE / 2;
        draw_sample(s, x, y, out);
        svg_words(out, x + LEGEND_MARK + 6, y,
                  (struct svg_font){LEGEND_SIZE, "#222222", SVG_LEFT, false, false}, s->label);
    }
}

/* ---- the whole */

static void draw_panel(const struct plot *plot, const struct layout *at, const struct scale *x, size_t number,
                       struct text *out)
{
    const struct plot_panel *panel = &plot->panels[number];
    const struct place *place = &at->panels[number];
    struct scale y = y_scale(panel, place);
    text_add(out, "<g class=\"panel\" data-x=\"%s\" data-y=\"%s\">\n",
             x->logarithmic ? "logarithmic" : "linear",
             panel->rows     ? "rows"
             : y.logarithmic ? "logarithmic"
                             : "linear");
    draw_x_axis(plot, x, place, number + 1 == plot->panel_count, out);
    draw_y_axis(panel, x, &y, out);
    svg_line(out, x->from, place->top, x->from, place->bottom, BORDER, 1, NULL);
    svg_line(out, x->from, place->bottom, x->to, place->bottom, BORDER, 1, NULL);
    draw_levels(panel, x, &y, out);
    draw_marks(plot, x, place, number == 0, out);
    svg_begin_clip(out, x->from - 6, place->top - 6, x->to - x->from + 12, place->bottom - place->top + 12);
    for (size_t i = 0; i < panel->series_count; i++)
        draw_curve(&panel->series[i], x, &y, out);
    svg_end_clip(out);
    draw_legend(panel, at, place, out);
    text_add(out, "</g>\n");
}

static void draw_plot(const struct plot *plot, struct text *out)
{
    struct layout at = {0};
    place_all(plot, &at);
    struct scale x = x_scale(plot, &at);
    svg_begin(out, at.height);
    for (size_t i = 0; i < at.title.count; i++)
        svg_words(out, 18, 18 + (double)i * TITLE_LINE,
                  (struct svg_font){TITLE_SIZE, "#111111", SVG_LEFT, false, false}, at.title.line[i]);
    if (plot->origin)
        svg_words(out, SVG_WIDTH - RIGHT, 18, (struct svg_font){13, "#b35900", SVG_RIGHT, false, false},
                  plot->origin);
    for (size_t number = 0; number < plot->panel_count; number++)
        draw_panel(plot, &at, &x, number, out);
    svg_end(out);
    free(at.panels);
}

int plot_write(const struct plot *plot, const struct folder *folder, struct error *e)
{
    struct text data = {0}, drawing = {0};
    add_data(plot, &data);
    draw_plot(plot, &drawing);
    int result = svg_write(folder, plot->name, &data, &drawing, e);
    text_free(&data);
    text_free(&drawing);
    return result;
}
