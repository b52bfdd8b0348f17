#include "reports/drawing/over_sweep.h"

#include "lib/text.h"
#include "lib/xalloc.h"
#include "reports/drawing/heat.h"
#include "reports/drawing/plot.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CURVES 6   /* words that become curves; more become rows of a heat map */
#define MOST_TICS   40  /* of numbers without units; more are those of the scale */
#define MOST_POINTS 150 /* of a curve; one with more is a line */
#define MOST_PANELS 12
#define MOST_ROWS   60
#define MOST_PLACES 40000
#define EVEN        1.5 /* the largest space between two values by the smallest */
#define GROUPS      4   /* of a choice with more numbers than become curves */
#define NONE        SIZE_MAX
#define MARGIN      0.03 /* of the range, beside the first and the last point */

/* ---- which choice is what */

enum form { FORM_NONE, FORM_ROWS, FORM_CURVES, FORM_HEAT, FORM_POINTS };

/* The dimensions of a drawing; NONE: it has none. */
struct roles {
    enum form form;
    size_t x, y, panels; /* y: of curves, a curve each */
};

static bool is_curves(const struct sweep_table *t, size_t dimension)
{
    return t->dimensions[dimension].words && sweep_positions(t, dimension) <= MOST_CURVES;
}

/* The dimension with the fewest values becomes panels, words before numbers. */
static size_t choose_panels(const struct sweep_table *t)
{
    size_t best = 0;
    for (size_t i = 1; i < t->dimension_count; i++) {
        size_t mine = sweep_positions(t, i), least = sweep_positions(t, best);
        bool words = t->dimensions[i].words && !t->dimensions[best].words;
        if (mine < least || (mine == least && words))
            best = i;
    }
    return best;
}

/* Most of a grid of the choices would be empty, or there is no room for all of it. */
static bool is_sparse(const struct sweep_table *t)
{
    double places = 1;
    for (size_t i = 0; i < t->dimension_count; i++)
        places *= (double)sweep_positions(t, i);
    return places > 64 + 8 * (double)t->cell_count || places > MOST_PLACES;
}

static bool is_sampled(const struct sweep_table *t)
{
    for (size_t i = 0; i < t->dimension_count; i++)
        if (t->dimensions[i].sampled)
            return true;
    return false;
}

static struct roles choose_roles(const struct sweep_table *t)
{
    struct roles r = {.x = NONE, .y = NONE, .panels = NONE};
    if (t->dimension_count == 0)
        return r;
    if (t->dimension_count > 3 || is_sampled(t) || is_sparse(t)) {
        r.form = FORM_POINTS;
        return r;
    }
    if (t->dimension_count == 3)
        r.panels = choose_panels(t);
    for (size_t i = 0; i < t->dimension_count; i++) {
        if (i == r.panels)
            continue;
        if (r.x == NONE)
            r.x = i;
        else
            r.y = i;
    }
    bool swap = r.y != NONE && (t->dimensions[r.x].words != t->dimensions[r.y].words
                                    ? t->dimensions[r.x].words
                                    : sweep_positions(t, r.y) > sweep_positions(t, r.x));
    if (swap) {
        size_t x = r.x;
        r.x = r.y;
        r.y = x;
    }
    if (r.y == NONE)
        r.form = t->dimensions[r.x].words ? FORM_ROWS : FORM_CURVES;
    else
        r.form = !t->dimensions[r.x].words && is_curves(t, r.y) ? FORM_CURVES : FORM_HEAT;
    return r;
}

/* The dimension of drawing `which` of points: numbers that have no row each, in their order. NONE: there are
 * no more. */
static size_t nth_numbers(const struct sweep_table *t, size_t which)
{
    for (size_t i = 0; i < t->dimension_count; i++)
        if (!t->dimensions[i].words && sweep_positions(t, i) > MOST_CURVES && which-- == 0)
            return i;
    return NONE;
}

const char *over_sweep_how(const struct sweep_table *t)
{
    static const char *const words[] = {
        [FORM_ROWS] = "A bar for each value.",
        [FORM_POINTS] =
            "Each row is a value of a choice. Other choices differ too: the table of cells has them.",
        [FORM_CURVES] = "Each point is a cell, a combination of choices.",
        [FORM_HEAT] = "Each field is a cell, a combination of choices. Its colour follows the scale above.",
    };
    if (choose_roles(t).form == FORM_POINTS && nth_numbers(t, 0) != NONE)
        return "Each row is a value of a choice or, of many, some that follow one another; below, each point "
               "is a "
               "cell over one of its choices. Other choices differ too: the table of cells has them.";
    return words[choose_roles(t).form];
}

size_t over_sweep_count(const struct sweep_table *t)
{
    size_t count = 0;
    enum form form = choose_roles(t).form;
    if (form != FORM_POINTS)
        return form != FORM_NONE;
    while (nth_numbers(t, count) != NONE)
        count++;
    return count + 1; /* the first is of all choices */
}

const char *over_sweep_choice(const struct sweep_table *t, size_t which)
{
    size_t dimension = choose_roles(t).form == FORM_POINTS && which ? nth_numbers(t, which - 1) : NONE;
    return dimension == NONE ? NULL : t->dimensions[dimension].label;
}

bool over_sweep_wants(const struct sweep_table *t, size_t figure)
{
    const struct sweep_figure *f = &t->figures[figure];
    return !f->still && f->known > 1 && f->high > f->low;
}

/* ---- values */

static double shown_value(const struct sweep_unit *unit, double value)
{
    return value * unit->factor;
}

/* The position of a cell along a dimension, 0 along none. */
static size_t position(const struct sweep_table *t, size_t cell, size_t dimension)
{
    if (dimension == NONE)
        return 0;
    uint32_t at = sweep_position(t, t->members[t->cells[cell].first], dimension);
    return at == SWEEP_NO_VALUE ? NONE : at;
}

static size_t positions(const struct sweep_table *t, size_t dimension)
{
    return dimension == NONE ? 1 : sweep_positions(t, dimension);
}

static char *position_name(const struct sweep_table *t, size_t dimension, size_t at)
{
    struct text name = {0};
    if (dimension != NONE)
        sweep_name_position(t, dimension, at, &name);
    char *taken = text_take(&name);
    return taken ? taken : strdup("");
}

static double x_value(const struct sweep_table *t, size_t dimension, size_t at)
{
    return t->axes[t->dimensions[dimension].axes[0]].values[at].number;
}

/* How many of a choice's values are drawn. */
static void note_positions(const struct sweep_table *t, size_t dimension, size_t most, struct text *note)
{
    size_t all = positions(t, dimension);
    if (all > most)
        text_add(note, "%sThe first %zu of %zu values of %s are drawn.", note->length ? " " : "", most, all,
                 t->dimensions[dimension].label);
}

/* Cells that have no place in the drawing, or, if it has no mark for that, no value; and means of some of a
 * cell's runs. */
static void note_cells(const struct sweep_table *t, const struct roles *r, size_t figure, struct text *note)
{
    size_t unset = 0, unknown = 0, some = 0;
    for (size_t cell = 0; cell < t->cell_count; cell++) {
        size_t with_value = sweep_spread(t, figure, cell).count;
        if (position(t, cell, r->x) == NONE || position(t, cell, r->y) == NONE ||
            position(t, cell, r->panels) == NONE)
            unset++;
        else if (with_value)
            some += with_value < t->cells[cell].count;
        else
            unknown += r->form != FORM_HEAT;
    }
    if (unset)
        text_add(note, "%s%zu of %zu cells are not drawn: they lack one of the choices.",
                 note->length ? " " : "", unset, t->cell_count);
    if (unknown)
        text_add(note, "%s%zu of %zu cells are not drawn: they have no value.", note->length ? " " : "",
                 unknown, t->cell_count);
    if (some)
        text_add(note, "%s%zu of %zu cells %s some of %s runs: the others have no value.",
                 note->length ? " " : "", some, t->cell_count, some == 1 ? "is the mean of" : "are means of",
                 some == 1 ? "its" : "their");
}

/* ---- heat maps */

static bool name_axis(const struct sweep_table *t, size_t dimension, struct heat_axis *axis)
{
    size_t count = positions(t, dimension);
    bool named = true;
    axis->label = strdup(dimension == NONE ? "" : t->dimensions[dimension].label);
    axis->names = calloc(count + 1, sizeof *axis->names);
    if (!axis->label || !axis->names)
        return false;
    for (size_t i = 0; i < count; i++) {
        axis->names[i] = position_name(t, dimension, i);
        named = named && axis->names[i];
    }
    axis->count = count;
    return named;
}

static void fill_heat(const struct sweep_table *t, const struct roles *r, size_t figure, struct heat *heat)
{
    struct sweep_unit unit = sweep_unit_of(&t->figures[figure]);
    for (size_t cell = 0; cell < t->cell_count; cell++) {
        size_t x = position(t, cell, r->x), y = position(t, cell, r->y), panel = position(t, cell, r->panels);
        if (x == NONE || y == NONE || panel == NONE || panel >= heat->panels.count)
            continue;
        struct spread spread = sweep_spread(t, figure, cell);
        *heat_cell(heat, panel, heat->y.count - 1 - y, x) = (struct heat_cell){
            .present = true,
            .failed = sweep_failed(t, figure, cell),
            .value = shown_value(&unit, spread.mean),
            .ci95 = shown_value(&unit, spread.ci95),
        };
    }
}

/* Small numbers are below, as on an axis. */
static void turn(struct heat_axis *axis)
{
    for (size_t i = 0, j = axis->count; i + 1 < j--; i++) {
        char *name = axis->names[i];
        axis->names[i] = axis->names[j];
        axis->names[j] = name;
    }
}

static int draw_heat(const struct sweep_table *t, const struct roles *r, size_t figure, struct heat *heat,
                     const struct folder *folder, bool *drawn, struct text *note, struct error *e)
{
    bool made = name_axis(t, r->x, &heat->x) && name_axis(t, r->y, &heat->y) &&
                name_axis(t, r->panels, &heat->panels);
    turn(&heat->y);
    note_positions(t, r->panels, MOST_PANELS, note);
    while (heat->panels.count > MOST_PANELS)
        free(heat->panels.names[--heat->panels.count]);
    if (!made || !heat_make_cells(heat)) {
        heat_free(heat);
        return error_set(e, "out of memory for the drawing %s", heat->name);
    }
    fill_heat(t, r, figure, heat);
    int result = heat_write(heat, folder, drawn, note, e);
    heat_free(heat);
    return result;
}

/* ---- curves */

static double spacing(const struct sweep_table *t, size_t dimension, double (*scale)(double))
{
    double least = INFINITY, most = 0;
    for (size_t i = 1; i < sweep_positions(t, dimension); i++) {
        double gap = scale(x_value(t, dimension, i)) - scale(x_value(t, dimension, i - 1));
        least = fmin(least, gap);
        most = fmax(most, gap);
    }
    return least > 0 ? most / least : INFINITY;
}

static double itself(double value)
{
    return value;
}

/* Are the ratios of the values about the same, as of 1, 2, 5 and 10, and more so than their differences? */
static bool is_logarithmic(const struct sweep_table *t, size_t dimension)
{
    if (sweep_positions(t, dimension) < 3 || !(x_value(t, dimension, 0) > 0))
        return false;
    double ratios = spacing(t, dimension, log);
    return ratios < EVEN && ratios < spacing(t, dimension, itself);
}

/* Numbers without units, which an axis can name without the user's words. */
static bool plain_numbers(const struct sweep_table *t, size_t dimension)
{
    const struct sweep_axis *axis = &t->axes[t->dimensions[dimension].axes[0]];
    bool plain = t->dimensions[dimension].count == 1;
    for (size_t i = 0; i < axis->count; i++)
        plain = plain && axis->values[i].is_number;
    return plain;
}

static void set_x_axis(const struct sweep_table *t, size_t dimension, struct plot *plot)
{
    size_t count = sweep_positions(t, dimension);
    double first = x_value(t, dimension, 0), last = x_value(t, dimension, count - 1);
    plot->log_x = is_logarithmic(t, dimension);
    double room = plot->log_x ? pow(last / first, MARGIN) : (last - first) * MARGIN;
    plot->x_min = plot->log_x ? first / room : first - room;
    plot->x_max = plot->log_x ? last * room : last + room;
    for (size_t i = 0; i < count && (count <= MOST_TICS || !plain_numbers(t, dimension)); i++) {
        char *name = position_name(t, dimension, i);
        if (name)
            plot_add_tic(plot, x_value(t, dimension, i), name);
        free(name);
    }
}

/* The points of one curve, by rising x. */
static void fill_curve(const struct sweep_table *t, const struct roles *r, size_t figure, size_t y,
                       size_t panel, const size_t *cell_at, struct plot_series *curve,
                       struct plot_series *failed)
{
    struct sweep_unit unit = sweep_unit_of(&t->figures[figure]);
    size_t columns = positions(t, r->x), rows = positions(t, r->y);
    for (size_t x = 0; x < columns; x++) {
        size_t cell = cell_at[(panel * rows + y) * columns + x];
        if (cell-- == 0)
            continue;
        struct spread spread = sweep_spread(t, figure, cell);
        double value = shown_value(&unit, spread.mean), at = x_value(t, r->x, x);
        if (curve->style == PLOT_INTERVALS)
            plot_add_interval(curve, at, value, shown_value(&unit, spread.ci95));
        else
            plot_add_point(curve, at, value);
        if (failed && sweep_failed(t, figure, cell))
            plot_add_point(failed, at, value);
    }
}

/* The number of the cell at each place of the grid, from 1; 0: there is no such run. */
static size_t *place_cells(const struct sweep_table *t, const struct roles *r)
{
    size_t columns = positions(t, r->x), rows = positions(t, r->y), panels = positions(t, r->panels);
    size_t *cell_at = calloc(columns * rows * panels + 1, sizeof *cell_at);
    for (size_t cell = 0; cell_at && cell < t->cell_count; cell++) {
        size_t x = position(t, cell, r->x), y = position(t, cell, r->y), panel = position(t, cell, r->panels);
        if (x != NONE && y != NONE && panel != NONE)
            cell_at[(panel * rows + y) * columns + x] = cell + 1;
    }
    return cell_at;
}

static void add_curves(const struct sweep_table *t, const struct roles *r, size_t figure, size_t panel,
                       const size_t *cell_at, struct plot_panel *into)
{
    struct plot_series failed = {0};
    for (size_t y = 0; y < positions(t, r->y); y++) {
        struct text label = {0};
        char *name = position_name(t, r->y, y);
        if (r->y != NONE)
            text_add(&label, "%s %s", t->dimensions[r->y].label, name ? name : "");
        bool many = positions(t, r->x) > MOST_POINTS && sweep_repeats(t) == 1;
        struct plot_series *curve =
            plot_add_series(into, text_string(&label), many ? PLOT_LINES : PLOT_INTERVALS);
        curve->shaped = !many;
        curve->dashed = many && y % 2;
        fill_curve(t, r, figure, y, panel, cell_at, curve, t->figures[figure].check ? &failed : NULL);
        free(name);
        text_free(&label);
    }
    if (!failed.points) {
        free(failed.rows);
        return;
    }
    struct plot_series *marks = plot_add_series(into, "the expectation failed", PLOT_MARKS);
    size_t colour = marks->colour;
    char *label = marks->label;
    *marks = failed;
    marks->label = label;
    marks->colour = colour;
    marks->style = PLOT_MARKS;
}

static void set_y_axis(const struct sweep_figure *f, const struct sweep_unit *unit, double most,
                       struct plot_panel *panel)
{
    panel->log_y = f->low > 0 && f->high >= 100 * f->low;
    panel->y_max = panel->log_y || f->low < 0 ? 0 : most * unit->factor;
}

/* The top of what is drawn: all panels have the same scale. */
static double highest(const struct sweep_table *t, size_t figure)
{
    double most = t->figures[figure].high;
    for (size_t cell = 0; cell < t->cell_count; cell++) {
        struct spread spread = sweep_spread(t, figure, cell);
        if (isfinite(spread.ci95))
            most = fmax(most, spread.mean + spread.ci95);
    }
    return most * 1.08;
}

static void fill_plot(const struct sweep_table *t, const struct roles *r, size_t figure,
                      const size_t *cell_at, struct plot *plot)
{
    struct sweep_unit unit = sweep_unit_of(&t->figures[figure]);
    double most = highest(t, figure);
    set_x_axis(t, r->x, plot);
    for (size_t p = 0; p < positions(t, r->panels) && p < MOST_PANELS; p++) {
        struct text note = {0};
        char *name = position_name(t, r->panels, p);
        struct plot_panel *panel = plot_add_panel(plot, *unit.name ? unit.name : " ");
        set_y_axis(&t->figures[figure], &unit, most, panel);
        if (r->panels != NONE) {
            text_add(&note, "%s %s", t->dimensions[r->panels].label, name ? name : "");
            plot_note(panel, text_string(&note));
        }
        add_curves(t, r, figure, p, cell_at, panel);
        free(name);
        text_free(&note);
    }
}

/* ---- points */

static void fill_points(const struct sweep_table *t, size_t dimension, size_t figure, struct plot *plot)
{
    struct sweep_unit unit = sweep_unit_of(&t->figures[figure]);
    struct plot_panel *panel = plot_add_panel(plot, *unit.name ? unit.name : " ");
    set_x_axis(t, dimension, plot);
    set_y_axis(&t->figures[figure], &unit, t->figures[figure].high * 1.08, panel);
    plot_add_series(panel, "", PLOT_SCATTER);
    if (t->figures[figure].with[VERDICT_FAILED])
        plot_add_series(panel, "the expectation failed", PLOT_MARKS);
    for (size_t cell = 0; cell < t->cell_count; cell++) {
        size_t at = position(t, cell, dimension);
        if (at == NONE)
            continue;
        double x = x_value(t, dimension, at), y = shown_value(&unit, sweep_spread(t, figure, cell).mean);
        plot_add_point(&panel->series[0], x, y);
        if (sweep_failed(t, figure, cell))
            plot_add_point(&panel->series[1], x, y);
    }
}

/* ---- all choices: what each does to a figure */

/* Values of a choice that stand in one row. */
struct group {
    size_t dimension, first, last;
    double sum, least, most;
    size_t count; /* cells with a value */
};

/* A choice: its groups with the least and the greatest mean, and how far those are apart. */
struct effect {
    size_t dimension;
    struct group least, most;
    double size;
};

static int by_size(const void *left, const void *right)
{
    const struct effect *a = left, *b = right;
    int order = (a->size < b->size) - (a->size > b->size);
    return order ? order : (a->dimension > b->dimension) - (a->dimension < b->dimension);
}

/* The row of positions along a dimension: one for each, or, of many, for as many that follow one another. */
static struct group take_group(const struct sweep_table *t, size_t figure, size_t dimension, size_t first,
                               size_t last)
{
    struct group g = {
        .dimension = dimension, .first = first, .last = last, .least = INFINITY, .most = -INFINITY};
    for (size_t cell = 0; cell < t->cell_count; cell++) {
        size_t at = position(t, cell, dimension);
        double value = sweep_spread(t, figure, cell).mean;
        if (at == NONE || at < first || at > last || !isfinite(value))
            continue;
        g.sum += value;
        g.count++;
        g.least = fmin(g.least, value);
        g.most = fmax(g.most, value);
    }
    return g;
}

static size_t group_count(const struct sweep_table *t, size_t dimension)
{
    size_t all = positions(t, dimension);
    return all <= MOST_CURVES ? all : t->dimensions[dimension].words ? MOST_CURVES : GROUPS;
}

static struct group nth_group(const struct sweep_table *t, size_t figure, size_t dimension, size_t n)
{
    size_t all = positions(t, dimension), groups = group_count(t, dimension);
    bool each = all <= MOST_CURVES || t->dimensions[dimension].words;
    return each ? take_group(t, figure, dimension, n, n)
                : take_group(t, figure, dimension, n * all / groups, (n + 1) * all / groups - 1);
}

static double mean_of(const struct group *g)
{
    return g->count ? g->sum / (double)g->count : NAN;
}

static struct effect effect_of(const struct sweep_table *t, size_t figure, size_t dimension)
{
    struct effect e = {.dimension = dimension};
    for (size_t n = 0; n < group_count(t, dimension); n++) {
        struct group g = nth_group(t, figure, dimension, n);
        if (!g.count)
            continue;
        e.least = !e.least.count || mean_of(&g) < mean_of(&e.least) ? g : e.least;
        e.most = !e.most.count || mean_of(&g) > mean_of(&e.most) ? g : e.most;
    }
    double size = mean_of(&e.most) - mean_of(&e.least);
    e.size = size > 0 ? size : 0;
    return e;
}

/* "message 64KiB", "rpg_ai_rate 5 to 12" */
static char *group_name(const struct sweep_table *t, const struct group *g)
{
    char *first = position_name(t, g->dimension, g->first), *last = position_name(t, g->dimension, g->last);
    char *name = xasprintf("%s %s%s%s", t->dimensions[g->dimension].label, first ? first : "",
                           g->last > g->first ? " to " : "", g->last > g->first && last ? last : "");
    free(first);
    free(last);
    return name;
}

void over_sweep_say(const struct sweep_table *t, size_t figure, struct text *out)
{
    struct sweep_unit unit = sweep_unit_of(&t->figures[figure]);
    struct effect most = {0};
    for (size_t i = 0; i < t->dimension_count; i++) {
        struct effect mine = effect_of(t, figure, i);
        most = mine.size > most.size ? mine : most;
    }
    if (t->dimension_count < 2 || !(most.size > 0))
        return;
    text_add(out, "The largest effect on \"%s\" has %s: on average", t->figures[figure].name,
             t->dimensions[most.dimension].label);
    const struct group *const ends[] = {&most.least, &most.most};
    for (size_t i = 0; i < 2; i++) {
        char *name = group_name(t, ends[i]);
        text_add(out, "%s %.4g%s%s with %s", i ? ", and" : "", shown_value(&unit, mean_of(ends[i])),
                 *unit.name ? " " : "", unit.name, name);
        free(name);
    }
    text_add(out, ".");
}

static void fill_effects(const struct sweep_table *t, size_t figure, struct plot *plot, struct text *note)
{
    struct sweep_unit unit = sweep_unit_of(&t->figures[figure]);
    struct effect *effects = xcalloc(t->dimension_count, sizeof *effects);
    struct plot_panel *panel = plot_add_panel(plot, "");
    size_t row = 0, left_out = 0;
    for (size_t i = 0; i < t->dimension_count; i++)
        effects[i] = effect_of(t, figure, i);
    qsort(effects, t->dimension_count, sizeof *effects, by_size);
    for (size_t i = 0; i < t->dimension_count; i++) {
        size_t dimension = effects[i].dimension, groups = group_count(t, dimension);
        if (row + groups > MOST_ROWS) {
            left_out++;
            continue;
        }
        note_positions(t, dimension, t->dimensions[dimension].words ? MOST_CURVES : NONE, note);
        struct plot_series *s = plot_add_series(panel, "", PLOT_INTERVALS_ROWS);
        for (size_t n = 0; n < groups; n++) {
            struct group g = nth_group(t, figure, dimension, n);
            char *name = group_name(t, &g);
            plot_name_row(panel, name);
            free(name);
            plot_add_range(s, shown_value(&unit, mean_of(&g)), (double)row++, shown_value(&unit, g.least),
                           shown_value(&unit, g.most));
        }
    }
    if (left_out)
        text_add(note, "%s%zu %s with less effect %s left out.", note->length ? " " : "", left_out,
                 THINGS(left_out, "choice"), left_out == 1 ? "is" : "are");
    plot_relabel_x(plot, *unit.name ? unit.name : "value");
    text_add(note,
             "%sA point is the mean of the cells with that value, its line from the least to the greatest of "
             "them; the choice with the largest effect stands first.",
             note->length ? " " : "");
    free(effects);
}

/* ---- words alone: a bar for each */

static void fill_rows(const struct sweep_table *t, const struct roles *r, size_t figure, struct plot *plot)
{
    struct sweep_unit unit = sweep_unit_of(&t->figures[figure]);
    struct text label = {0};
    struct plot_panel *panel = plot_add_panel(plot, "");
    plot_add_series(panel, "", PLOT_BARS);
    if (sweep_repeats(t) > 1)
        plot_add_series(panel, "", PLOT_INTERVALS_ROWS)->colour = 6;
    for (size_t at = 0; at < positions(t, r->x) && at < MOST_ROWS; at++) {
        struct text row = {0};
        char *name = position_name(t, r->x, at);
        text_add(&row, "%s %s", t->dimensions[r->x].label, name ? name : "");
        plot_name_row(panel, text_string(&row));
        text_free(&row);
        free(name);
    }
    for (size_t cell = 0; cell < t->cell_count; cell++) {
        size_t at = position(t, cell, r->x);
        struct spread spread = sweep_spread(t, figure, cell);
        if (at >= MOST_ROWS)
            continue;
        plot_add_point(&panel->series[0], shown_value(&unit, spread.mean), (double)at);
        if (panel->series_count > 1)
            plot_add_interval(&panel->series[1], shown_value(&unit, spread.mean), (double)at,
                              shown_value(&unit, spread.ci95));
    }
    plot->x_min = fmin(0, t->figures[figure].low * unit.factor * 1.08);
    plot->x_max = highest(t, figure) * unit.factor;
    text_add(&label, "%s", *unit.name ? unit.name : "value");
    plot_relabel_x(plot, text_string(&label));
    text_free(&label);
}

static int draw_plot(const struct sweep_table *t, const struct roles *r, size_t figure, struct plot *plot,
                     const struct folder *folder, bool *drawn, struct text *note, struct error *e)
{
    size_t *cell_at = r->form == FORM_CURVES ? place_cells(t, r) : NULL;
    if (r->form == FORM_CURVES && !cell_at)
        return error_set(e, "out of memory for the drawing %s", plot->name);
    if (r->form == FORM_POINTS && r->x == NONE)
        fill_effects(t, figure, plot, note);
    else if (r->form == FORM_POINTS)
        fill_points(t, r->x, figure, plot);
    else if (r->form == FORM_CURVES)
        fill_plot(t, r, figure, cell_at, plot);
    else
        fill_rows(t, r, figure, plot);
    free(cell_at);
    *drawn = plot_prune(plot);
    char *said = *drawn ? plot_said(plot) : NULL;
    if (said)
        text_add(note, "%s%s", note->length ? " " : "", said);
    free(said);
    return *drawn ? plot_write(plot, folder, e) : 0;
}

int over_sweep_draw(const struct sweep_table *t, size_t figure, size_t which, const char *name,
                    const char *title, const struct folder *folder, bool *drawn, struct text *note,
                    struct error *e)
{
    struct roles r = choose_roles(t);
    const char *origin = run_origin(&t->first);
    *drawn = false;
    if (r.form == FORM_POINTS && which)
        r.x = nth_numbers(t, which - 1);
    if (r.form == FORM_NONE || (r.x == NONE && which))
        return 0;
    note_cells(t, &r, figure, note);
    if (r.form == FORM_HEAT) {
        struct heat heat = {
            .name = name, .title = title, .unit = sweep_unit_of(&t->figures[figure]).name, .origin = origin};
        return draw_heat(t, &r, figure, &heat, folder, drawn, note, e);
    }
    if (r.form == FORM_ROWS)
        note_positions(t, r.x, MOST_ROWS, note);
    else
        note_positions(t, r.panels, MOST_PANELS, note);
    struct plot plot;
    plot_init(&plot, name, title, r.x == NONE ? "" : t->dimensions[r.x].label);
    plot.origin = origin;
    int result = draw_plot(t, &r, figure, &plot, folder, drawn, note, e);
    plot_free(&plot);
    return result;
}
