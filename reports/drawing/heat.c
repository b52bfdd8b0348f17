#include "reports/drawing/heat.h"

#include "lib/output/visible.h"
#include "lib/xalloc.h"
#include "reports/drawing/svg.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pixels: the drawing's coordinates, from the upper left corner. */
#define MARGIN       18
#define TITLE_LINE   24
#define TITLE_FITS   88 /* characters */
#define SCALE_WIDTH  200
#define SCALE_HEIGHT 12
#define SCALE_STEPS  20
#define PANEL_GAP    26
#define PANEL_TITLE  24
#define NAME_CHAR    6.6
#define NAME_FITS    34 /* characters of a position's name */
#define NUMBER_CHAR  6.4
#define NAME_HEIGHT  16
#define AXIS_LABEL   22
#define CELL_WIDEST  110
#define CELL_HIGH    26
#define CELL_ALL     460 /* height of all rows when they are many */
#define MOST_ACROSS  4

bool heat_make_cells(struct heat *heat)
{
    heat->cells = calloc(heat->x.count * heat->y.count * heat->panels.count + 1, sizeof *heat->cells);
    for (size_t i = 0; heat->cells && i < heat->x.count * heat->y.count * heat->panels.count; i++)
        heat->cells[i].value = heat->cells[i].ci95 = NAN;
    return heat->cells;
}

struct heat_cell *heat_cell(const struct heat *heat, size_t panel, size_t y, size_t x)
{
    return &heat->cells[(panel * heat->y.count + y) * heat->x.count + x];
}

static void free_axis(struct heat_axis *axis)
{
    for (size_t i = 0; axis->names && i < axis->count; i++)
        free(axis->names[i]);
    free(axis->names);
    free(axis->label);
}

void heat_free(struct heat *heat)
{
    free_axis(&heat->x);
    free_axis(&heat->y);
    free_axis(&heat->panels);
    free(heat->cells);
}

/* ---- values */

/* Characters of text whose bytes are made valid when it is drawn: all but those that continue a character. */
static size_t count_characters(const char *words)
{
    size_t count = 0;
    for (; *words; words++)
        count += ((unsigned char)*words & 0xc0) != 0x80;
    return count;
}

struct range {
    double low, high;
    bool flat; /* all numbers read the same: then they have one colour */
    bool logarithmic;
    bool intervals; /* one of the values has one */
    size_t longest; /* characters of a number */
};

/* Three digits: 0.0123, 93.4, 460k; four of 1230. */
static void short_number(double value, char *out, size_t size)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    size_t prefix = 0;
    for (bool large = fabs(value) >= 9999.5; large && fabs(value) >= 999.5 && prefix < 5; prefix++)
        value /= 1000;
    int decimals = fabs(value) >= 99.95 || value == floor(value) ? 0 : fabs(value) >= 9.995 ? 1 : 2;
    if (value != 0 && fabs(value) < 0.995)
        snprintf(out, size, "%.3g", value);
    else
        snprintf(out, size, "%.*f%s", decimals, value, prefixes[prefix]);
}

static void cell_number(const struct heat_cell *cell, char *out, size_t size)
{
    char number[32] = "\xe2\x80\x93"; /* a dash */
    if (isfinite(cell->value))
        short_number(cell->value, number, sizeof number);
    snprintf(out, size, "%s%s", cell->failed ? "\xc3\x97 " : "", number); /* a cross */
}

static struct range range_of(const struct heat *heat)
{
    struct range range = {.low = INFINITY, .high = -INFINITY};
    char number[40];
    for (size_t i = 0; i < heat->x.count * heat->y.count * heat->panels.count; i++) {
        const struct heat_cell *cell = &heat->cells[i];
        if (!isfinite(cell->value))
            continue;
        range.low = fmin(range.low, cell->value);
        range.high = fmax(range.high, cell->value);
        range.intervals |= isfinite(cell->ci95);
        cell_number(cell, number, sizeof number);
        size_t length = count_characters(number);
        range.longest = length > range.longest ? length : range.longest;
    }
    char low[32], high[32];
    short_number(range.low, low, sizeof low);
    short_number(range.high, high, sizeof high);
    range.flat = !(range.high > range.low) || strcmp(low, high) == 0;
    range.logarithmic = range.low > 0 && range.high >= 100 * range.low;
    return range;
}

#define FLAT_SHARE 0.3

/* From 0 to 1. */
static double share_of(const struct range *range, double value)
{
    if (range->flat)
        return FLAT_SHARE;
    if (range->logarithmic)
        return log(value / range->low) / log(range->high / range->low);
    return (value - range->low) / (range->high - range->low);
}

/* From light to dark in one hue: the order is seen without colours, and in print. */
static unsigned colour_of(double part)
{
    static const double steps[][3] = {
        {214, 230, 245}, {165, 200, 232}, {86, 152, 204}, {20, 92, 160}, {8, 40, 95}};
    double at = fmin(fmax(part, 0), 1) * 4;
    size_t i = at >= 4 ? 3 : (size_t)at;
    unsigned rgb = 0;
    for (int c = 0; c < 3; c++)
        rgb = rgb << 8 | (unsigned)(steps[i][c] + (steps[i + 1][c] - steps[i][c]) * (at - (double)i));
    return rgb;
}

/* ---- layout */

struct layout {
    int left, top, across; /* of the first panel; panels in a row */
    int panel_title;       /* above a panel, for its choice */
    int names;             /* below a panel, for the names of x */
    double width, height;  /* of a cell */
    bool numbers, turned;  /* cells have numbers; names of x stand upright */
    size_t step_x, step_y; /* every how many names are written */
    int all;               /* height of the drawing */
};

static size_t name_length(const char *name)
{
    size_t length = count_characters(name);
    return length < NAME_FITS ? length : NAME_FITS;
}

static int longest_name(const struct heat_axis *axis)
{
    size_t longest = 1;
    for (size_t i = 0; i < axis->count; i++)
        longest = name_length(axis->names[i]) > longest ? name_length(axis->names[i]) : longest;
    return (int)((double)longest * NAME_CHAR);
}

static double cell_width(const struct heat *heat, const struct layout *at, int across)
{
    double room = SVG_WIDTH - at->left - MARGIN - (across - 1) * PANEL_GAP;
    return fmin(CELL_WIDEST, room / across / (double)heat->x.count);
}

static double panel_height(const struct heat *heat, const struct layout *at)
{
    return at->height * (double)heat->y.count + at->panel_title + at->names + AXIS_LABEL;
}

static struct layout lay_out(const struct heat *heat, const struct range *range)
{
    struct layout at = {.left = MARGIN + AXIS_LABEL + longest_name(&heat->y) + 8,
                        .top = MARGIN + TITLE_LINE + 44};
    at.panel_title = *heat->panels.label ? PANEL_TITLE : 0;
    double wanted = (double)(range->longest > 5 ? range->longest : 5) * NUMBER_CHAR + 8;
    int most = heat->panels.count < MOST_ACROSS ? (int)heat->panels.count : MOST_ACROSS;
    for (at.across = most; at.across > 1 && cell_width(heat, &at, at.across) < wanted;)
        at.across--;
    at.numbers = cell_width(heat, &at, at.across) >= wanted;
    if (!at.numbers)
        at.across = most;
    at.width = cell_width(heat, &at, at.across);
    double least = at.numbers ? (range->intervals ? CELL_HIGH + 10 : CELL_HIGH) : 2;
    at.height = fmax(fmin(CELL_HIGH, CELL_ALL / (double)heat->y.count), least);
    at.turned = longest_name(&heat->x) + 6 > at.width;
    at.names = at.turned ? longest_name(&heat->x) + 8 : NAME_HEIGHT + 4;
    at.step_x = at.turned && at.width < NAME_HEIGHT ? (size_t)ceil(NAME_HEIGHT / at.width) : 1;
    at.step_y = at.height < NAME_HEIGHT ? (size_t)ceil(NAME_HEIGHT / at.height) : 1;
    size_t down = (heat->panels.count + (size_t)at.across - 1) / (size_t)at.across;
    at.all = (int)(at.top + (double)down * panel_height(heat, &at)) + 6;
    return at;
}

static double panel_x(const struct heat *heat, const struct layout *at, size_t panel)
{
    return at->left + (double)(panel % (size_t)at->across) * (at->width * (double)heat->x.count + PANEL_GAP);
}

static double panel_y(const struct heat *heat, const struct layout *at, size_t panel)
{
    size_t down = panel / (size_t)at->across;
    return at->top + at->panel_title + (double)down * panel_height(heat, at);
}

/* ---- data */

static void add_cell(const struct heat *heat, size_t panel, size_t y, size_t x, struct text *out)
{
    const struct heat_cell *cell = heat_cell(heat, panel, y, x);
    if (!cell->present)
        return;
    text_add(out, isfinite(cell->value) ? "%.15g\t" : "nan\t", cell->value);
    text_add(out, isfinite(cell->ci95) ? "%.15g" : "nan", cell->ci95);
    text_add(out, "\t%d", cell->failed);
    const char *const names[] = {heat->x.names[x], heat->y.names[y], heat->panels.names[panel]};
    for (size_t i = 0; i < 3; i++) {
        text_add(out, "\t");
        svg_data_column(out, names[i]);
    }
    text_add(out, "\n");
}

static void add_data(const struct heat *heat, struct text *out)
{
    text_add(out, "# value in ");
    svg_data_column(out, *heat->unit ? heat->unit : "1");
    text_add(out, "\tci95\tfailed");
    const char *const labels[] = {heat->x.label, heat->y.label, heat->panels.label};
    for (size_t i = 0; i < 3; i++) {
        text_add(out, "\t");
        svg_data_column(out, labels[i]);
    }
    text_add(out, "\n");
    for (size_t panel = 0; panel < heat->panels.count; panel++)
        for (size_t y = 0; y < heat->y.count; y++)
            for (size_t x = 0; x < heat->x.count; x++)
                add_cell(heat, panel, y, x, out);
}

/* ---- drawing */

static void draw_label(struct text *out, const char *words, double x, double y, enum svg_anchor anchor,
                       bool turned, int size)
{
    size_t fits = utf8_cut(words, strlen(words), TITLE_FITS);
    char *cut = xasprintf("%.*s%s", (int)fits, words, words[fits] ? "..." : "");
    svg_words(out, x, y, (struct svg_font){size, "#222222", anchor, turned, false}, cut);
    free(cut);
}

static void draw_name(struct text *out, const char *name, double x, double y, enum svg_anchor anchor,
                      bool turned)
{
    char cut[4 * NAME_FITS + 8];
    bool whole = count_characters(name) <= NAME_FITS;
    size_t length = whole ? strlen(name) : utf8_cut(name, strlen(name), NAME_FITS - 3);
    snprintf(cut, sizeof cut, "%.*s%s", (int)length, name, whole ? "" : "...");
    draw_label(out, cut, x, y, anchor, turned, 11);
}

static void draw_cell(const struct heat *heat, const struct layout *at, const struct range *range,
                      size_t panel, size_t y, size_t x, struct text *out)
{
    const struct heat_cell *cell = heat_cell(heat, panel, y, x);
    bool known = isfinite(cell->value);
    double part = known ? share_of(range, cell->value) : 0;
    double left = panel_x(heat, at, panel) + (double)x * at->width,
           top = panel_y(heat, at, panel) + (double)y * at->height;
    const char *ink = part > 0.5 ? "#ffffff" : "#111111";
    char fill[8], number[40];
    if (!cell->present)
        return;
    snprintf(fill, sizeof fill, "#%06x", known ? colour_of(part) : 0xeeeeeeu);
    svg_rectangle(out, left, top, at->width, at->height, fill,
                  at->width >= 8 && at->height >= 8 ? "#ffffff" : NULL);
    if (cell->failed)
        svg_rectangle(out, left + 1, top + 1, at->width - 2, at->height - 2, "none", "#b2182b");
    if (!at->numbers)
        return;
    cell_number(cell, number, sizeof number);
    svg_words(out, left + at->width / 2, top + at->height / 2 - (range->intervals ? 7 : 0),
              (struct svg_font){12, ink, SVG_MIDDLE, false, false}, number);
    if (cell->ci95 > 0) { /* else the runs are the same in this */
        char half[32], interval[40];
        short_number(cell->ci95, half, sizeof half);
        snprintf(interval, sizeof interval, "\xc2\xb1%s", half); /* plus-minus */
        svg_words(out, left + at->width / 2, top + at->height / 2 + 8,
                  (struct svg_font){10, ink, SVG_MIDDLE, false, false}, interval);
    }
}

static void draw_panel(const struct heat *heat, const struct layout *at, const struct range *range,
                       size_t panel, struct text *out)
{
    double left = panel_x(heat, at, panel), top = panel_y(heat, at, panel);
    double bottom = top + at->height * (double)heat->y.count,
           right = left + at->width * (double)heat->x.count;
    for (size_t y = 0; y < heat->y.count; y++)
        for (size_t x = 0; x < heat->x.count; x++)
            draw_cell(heat, at, range, panel, y, x, out);
    if (*heat->panels.label) {
        char *title = xasprintf("%s %s", heat->panels.label, heat->panels.names[panel]);
        draw_label(out, title, left, top - 11, SVG_LEFT, false, 12);
        free(title);
    }
    for (size_t x = 0; x < heat->x.count; x += at->step_x)
        draw_name(out, heat->x.names[x], left + ((double)x + 0.5) * at->width, bottom + (at->turned ? 5 : 11),
                  at->turned ? SVG_RIGHT : SVG_MIDDLE, at->turned);
    draw_label(out, heat->x.label, (left + right) / 2, bottom + at->names + 9, SVG_MIDDLE, false, 12);
    if (panel % (size_t)at->across)
        return;
    for (size_t y = (heat->y.count - 1) % at->step_y; y < heat->y.count; y += at->step_y)
        draw_name(out, heat->y.names[y], left - 6, top + ((double)y + 0.5) * at->height, SVG_RIGHT, false);
    draw_label(out, heat->y.label, MARGIN, (top + bottom) / 2, SVG_MIDDLE, true, 12);
}

static void draw_colours(const struct heat *heat, const struct layout *at, const struct range *range,
                         struct text *out)
{
    char low[32], high[32];
    double top = MARGIN + TITLE_LINE + 8, middle = top + SCALE_HEIGHT / 2.0,
           step = (double)SCALE_WIDTH / SCALE_STEPS;
    for (int i = 0; i < SCALE_STEPS; i++) {
        char fill[8];
        snprintf(fill, sizeof fill, "#%06x", colour_of(range->flat ? FLAT_SHARE : (i + 0.5) / SCALE_STEPS));
        svg_rectangle(out, at->left + i * step, top, step + 0.3, SCALE_HEIGHT, fill, NULL);
    }
    short_number(range->low, low, sizeof low);
    short_number(range->high, high, sizeof high);
    char *most = xasprintf("%s%s%s%s", high, *heat->unit ? " " : "", heat->unit,
                           range->logarithmic ? ", logarithmic" : "");
    if (!range->flat)
        draw_label(out, low, at->left - 6, middle, SVG_RIGHT, false, 12);
    draw_label(out, most, at->left + SCALE_WIDTH + 6, middle, SVG_LEFT, false, 12);
    free(most);
    if (heat->origin)
        svg_words(out, SVG_WIDTH - MARGIN, middle, (struct svg_font){13, "#b35900", SVG_RIGHT, false, false},
                  heat->origin);
}

static void note_fields(struct text *note, size_t count, const char *one, const char *several)
{
    if (count)
        text_add(note, "%s%zu %s.", note->length ? " " : "", count, count == 1 ? one : several);
}

static void note_names(struct text *note, const struct heat_axis *axis, size_t step)
{
    if (step > 1)
        text_add(note, "%sOf each %zu values of %s, one has its name.", note->length ? " " : "", step,
                 axis->label);
}

static void add_note(const struct heat *heat, const struct layout *at, struct text *note)
{
    size_t fields = heat->x.count * heat->y.count * heat->panels.count, failed = 0, grey = 0, empty = 0;
    for (size_t i = 0; i < fields; i++) {
        failed += heat->cells[i].present && heat->cells[i].failed;
        grey += heat->cells[i].present && !isfinite(heat->cells[i].value);
        empty += !heat->cells[i].present;
    }
    note_fields(note, failed, "field has a frame: the expectation failed",
                "fields have a frame: the expectation failed");
    note_fields(note, grey, "field is grey: the run has no value",
                "fields are grey: their runs have no value");
    note_fields(note, empty, "place is empty: there is no such run",
                "places are empty: there are no such runs");
    note_names(note, &heat->x, at->step_x);
    note_names(note, &heat->y, at->step_y);
}

int heat_write(const struct heat *heat, const struct folder *folder, bool *drawn, struct text *note,
               struct error *e)
{
    struct text data = {0}, drawing = {0};
    struct range range = range_of(heat);
    *drawn = isfinite(range.low);
    if (!*drawn)
        return 0;
    struct layout at = lay_out(heat, &range);
    add_note(heat, &at, note);
    add_data(heat, &data);
    svg_begin(&drawing, at.all);
    draw_label(&drawing, heat->title, MARGIN, MARGIN, SVG_LEFT, false, 17);
    draw_colours(heat, &at, &range, &drawing);
    for (size_t panel = 0; panel < heat->panels.count; panel++)
        draw_panel(heat, &at, &range, panel, &drawing);
    svg_end(&drawing);
    int result = svg_write(folder, heat->name, &data, &drawing, e);
    text_free(&data);
    text_free(&drawing);
    return result;
}
