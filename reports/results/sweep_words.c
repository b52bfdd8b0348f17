#include "reports/results/sweep_words.h"

#include "lib/output/columns.h"
#include "lib/output/print.h"
#include "lib/words.h"
#include "lib/xalloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_OF_GROUP 4
#define GROUPS_NAMED    8
#define CELLS_SHOWN     20
#define CHECKS_SHOWN    8 /* expectations with a column */
#define MOST_AXES       12

/* ---- which runs failed, by their choices */

/* Rows in which an expectation was judged. */
struct judged_rows {
    const struct sweep_table *t;
    const struct sweep_figure *figure;
    size_t *rows, count, failed; /* the caller frees the rows */
};

static bool row_failed(const struct judged_rows *j, size_t row)
{
    return j->figure->verdicts[row] == VERDICT_FAILED;
}

/* One position of a dimension. */
struct place {
    size_t dimension;
    uint32_t at;
};

/* `place` NULL: anywhere. */
static struct judged_rows find_judged(const struct sweep_table *t, const struct sweep_figure *f,
                                      const struct place *place)
{
    struct judged_rows j = {.t = t, .figure = f, .rows = xcalloc(t->row_count + 1, sizeof *j.rows)};
    for (size_t row = 0; row < t->row_count; row++) {
        bool failed = row_failed(&j, row),
             there = !place || sweep_position(t, row, place->dimension) == place->at;
        if (there && (failed || f->verdicts[row] == VERDICT_PASSED)) {
            j.rows[j.count++] = row;
            j.failed += failed;
        }
    }
    return j;
}

/* Positions along a dimension where a row failed or, if `all`, where each did. *count: how many; the caller
 * frees them. */
static bool *positions_failed(const struct judged_rows *j, size_t dimension, bool all, size_t *count)
{
    size_t positions = sweep_positions(j->t, dimension);
    bool *failed = xcalloc(positions + 1, sizeof *failed), *passed = xcalloc(positions + 1, sizeof *passed);
    *count = 0;
    for (size_t i = 0; i < j->count; i++) {
        uint32_t at = sweep_position(j->t, j->rows[i], dimension);
        if (at < positions)
            *(row_failed(j, j->rows[i]) ? &failed[at] : &passed[at]) = true;
    }
    for (size_t at = 0; at < positions; at++) {
        failed[at] = failed[at] && !(all && passed[at]);
        *count += failed[at];
    }
    free(passed);
    return failed;
}

/* "rpg_ai_rate >= 40", "kmin 10KB to 80KB", "memory gpu or near" */
static void add_condition(const struct sweep_table *t, size_t dimension, const bool *at, struct text *out)
{
    const struct sweep_dimension *d = &t->dimensions[dimension];
    size_t positions = sweep_positions(t, dimension), first = 0, last = positions - 1, count = 0;
    struct text from = {0}, to = {0};
    while (first < last && !at[first])
        first++;
    while (last > first && !at[last])
        last--;
    for (size_t i = 0; i < positions; i++)
        count += at[i];
    text_add(out, "%s", d->label);
    sweep_name_position(t, dimension, first, &from);
    sweep_name_position(t, dimension, last, &to);
    if (!d->words && count == last - first + 1 && count > 1) {
        bool open = last == positions - 1;
        text_add(out, open ? " >= " : first == 0 ? " <= " : " ");
        text_add(out, "%s", text_string(open || first > 0 ? &from : &to));
        if (!open && first > 0) {
            text_add(out, " to ");
            text_add(out, "%s", text_string(&to));
        }
    } else {
        size_t named = 0;
        for (size_t i = first; i <= last; i++) {
            struct text name = {0};
            if (!at[i])
                continue;
            sweep_name_position(t, dimension, i, &name);
            if (named++ < VALUES_OF_GROUP) {
                text_add(out, named == 1 ? " " : " or ");
                text_add(out, "%s", text_string(&name));
            }
            text_free(&name);
        }
        if (named > VALUES_OF_GROUP)
            text_add(out, " or %zu other values", named - VALUES_OF_GROUP);
    }
    text_free(&from);
    text_free(&to);
}

/* Rows that failed and are at one of these positions: how many are new in `explained`, which they are added
 * to if `take`. */
static size_t explain_rows(const struct judged_rows *j, size_t dimension, const bool *at, bool *explained,
                           bool take)
{
    size_t rows = 0;
    for (size_t i = 0; i < j->count; i++) {
        size_t row = j->rows[i];
        uint32_t place = sweep_position(j->t, row, dimension);
        if (explained[row] || !row_failed(j, row) || place >= sweep_positions(j->t, dimension) || !at[place])
            continue;
        explained[row] = take;
        rows++;
    }
    return rows;
}

/* A position and positions of another dimension that are enough to fail together, and how many rows that
 * explains. */
struct pair {
    struct place one;
    size_t other, rows;
};

/* `there`: the rows at the place. Take another dimension with it if that explains more than `best`. */
static void find_other(const struct judged_rows *there, const struct place *place, bool *explained,
                       struct pair *best)
{
    for (size_t d = 0; d < there->t->dimension_count && there->failed > best->rows; d++) {
        size_t count;
        bool *at = d == place->dimension ? NULL : positions_failed(there, d, true, &count);
        size_t rows = at ? explain_rows(there, d, at, explained, false) : 0;
        free(at);
        if (rows > best->rows)
            *best = (struct pair){*place, d, rows};
    }
}

/* The pair that explains most. */
static size_t explain_by_pair(const struct judged_rows *j, bool *explained, struct text *words)
{
    struct pair best = {0};
    for (struct place p = {0}; p.dimension < j->t->dimension_count; p.dimension++)
        for (p.at = 0; p.at < sweep_positions(j->t, p.dimension); p.at++) {
            struct judged_rows there = find_judged(j->t, j->figure, &p);
            find_other(&there, &p, explained, &best);
            free(there.rows);
        }
    if (best.rows) {
        size_t count;
        struct judged_rows there = find_judged(j->t, j->figure, &best.one);
        bool *at = positions_failed(&there, best.other, true, &count);
        bool *one = xcalloc(sweep_positions(j->t, best.one.dimension) + 1, sizeof *one);
        one[best.one.at] = true;
        explain_rows(&there, best.other, at, explained, true);
        text_add(words, "%s", words->length ? " or " : ": all with ");
        add_condition(j->t, best.one.dimension, one, words);
        if (count < sweep_positions(j->t, best.other)) {
            text_add(words, " and ");
            add_condition(j->t, best.other, at, words);
        }
        free(one);
        free(at);
        free(there.rows);
    }
    return best.rows;
}

#define PAIRS_NAMED 2

/* Choices that are enough to fail, alone or two together. Returns whether there are such that all that failed
 * have them. */
static bool add_enough(const struct judged_rows *j, struct text *out)
{
    const struct sweep_table *t = j->t;
    bool *explained = xcalloc(t->row_count + 1, sizeof *explained);
    struct text words = {0};
    size_t rows = 0, more;
    for (size_t d = 0; d < t->dimension_count && rows < j->failed; d++) {
        size_t count;
        bool *at = positions_failed(j, d, true, &count);
        more = count ? explain_rows(j, d, at, explained, true) : 0;
        if (more) {
            text_add(&words, "%s", words.length ? " or " : ": all with ");
            add_condition(t, d, at, &words);
        }
        rows += more;
        free(at);
    }
    struct text pairs = {0};
    size_t in_pairs = 0;
    text_add(&pairs, "%s", text_string(&words));
    for (size_t i = 0; i < PAIRS_NAMED && rows + in_pairs < j->failed; i++)
        in_pairs += explain_by_pair(j, explained, &pairs);
    bool all = rows + in_pairs == j->failed && pairs.length;
    if (all)
        text_add(out, "%s, and no others", text_string(&pairs));
    else if (words.length)
        text_add(out, "%s, and %zu others", text_string(&words), j->failed - rows);
    text_free(&pairs);
    text_free(&words);
    free(explained);
    return all;
}

/* Choices that all that failed have, and not all runs: others have them too. */
static void add_common(const struct judged_rows *j, struct text *out)
{
    bool any = false;
    for (size_t d = 0; d < j->t->dimension_count; d++) {
        size_t count;
        bool *at = positions_failed(j, d, false, &count);
        if (count && count < sweep_positions(j->t, d)) {
            text_add(out, any ? " and " : ", only with ");
            add_condition(j->t, d, at, out);
            any = true;
        }
        free(at);
    }
}

struct sweep_failed sweep_failed_where(const struct sweep_table *t, const struct sweep_figure *f,
                                       struct text *where)
{
    struct judged_rows j = find_judged(t, f, NULL);
    if (j.failed && j.failed < j.count && !add_enough(&j, where))
        add_common(&j, where);
    free(j.rows);
    return (struct sweep_failed){j.failed, j.count};
}

/* ---- a table of cells, for people */

static void print_groups(FILE *file, const struct sweep_table *t, size_t width)
{
    size_t groups = 0;
    for (size_t i = 0; i < t->figure_count; i++) {
        const struct sweep_figure *f = &t->figures[i];
        struct text line = {0};
        if (!f->verdicts || !f->with[VERDICT_FAILED] || groups++ >= GROUPS_NAMED)
            continue;
        struct text where = {0};
        struct sweep_failed count = sweep_failed_where(t, f, &where);
        text_add(&line, "%s failed in %zu of %zu%s", f->name, count.failed, count.judged,
                 text_string(&where));
        columns_wrap(file, text_string(&line), 0, 2, width);
        text_free(&where);
        text_free(&line);
    }
    if (groups > GROUPS_NAMED)
        print_to(file, "... and %zu more expectations failed\n", groups - GROUPS_NAMED);
}

/* What stands in a column behind the cell's folder, its choices and its verdict. */
struct shown_figure {
    size_t figure;
    struct sweep_unit unit;
    char title[80];
};

static bool is_goodput(const struct sweep_figure *f)
{
    return strcmp(f->name, "goodput of all flows") == 0;
}

/* Goodput, then expectations: those that failed first. */
static size_t choose_figures(const struct sweep_table *t, struct shown_figure shown[CHECKS_SHOWN + 1])
{
    size_t count = 0;
    for (int turn = 0; turn < 3; turn++)
        for (size_t i = 0; i < t->figure_count && count < CHECKS_SHOWN + 1; i++) {
            const struct sweep_figure *f = &t->figures[i];
            bool failed = f->verdicts && f->with[VERDICT_FAILED];
            if (!f->known || (turn == 0 ? !is_goodput(f) : !f->check || failed != (turn == 1)))
                continue;
            struct shown_figure *s = &shown[count++];
            *s = (struct shown_figure){.figure = i, .unit = sweep_unit_of(f)};
            snprintf(s->title, sizeof s->title, "%s%s%s", turn == 0 ? "goodput" : f->name,
                     *s->unit.name ? ", " : "", s->unit.name);
        }
    return count;
}

/* Five digits, or all of a large count. */
static void add_number(double value, struct text *out)
{
    bool count = fabs(value) >= 1e5 && fabs(value) < 1e12;
    text_add(out, count ? "%.0f" : "%.5g", value);
}

/* "23.12 +- 0.02", with "!" where the expectation failed. */
static void add_figure(const struct sweep_table *t, const struct shown_figure *s, size_t cell,
                       struct words *cells)
{
    const struct sweep_figure *f = &t->figures[s->figure];
    struct spread spread = sweep_spread(t, s->figure, cell);
    struct text shown = {0};
    if (spread.count)
        add_number(spread.mean * s->unit.factor, &shown);
    if (spread.count && isfinite(spread.ci95) && spread.ci95 > 0)
        text_add(&shown, " +- %g", spread_two_digits(spread.ci95 * s->unit.factor));
    words_add(cells, "%s%s", shown.length ? text_string(&shown) : "-",
              f->verdicts && sweep_failed(t, s->figure, cell) ? " !" : "");
    text_free(&shown);
}

static void add_cell_row(const struct sweep_table *t, size_t cell, const struct shown_figure *figures,
                         size_t count, struct words *cells)
{
    size_t row = t->members[t->cells[cell].first], axes = 0;
    words_add(cells, "%s", t->rows[row].folder);
    for (size_t i = 0; i < t->axis_count && axes < MOST_AXES; i++) {
        const struct sweep_value *value = sweep_choice(t, row, i);
        if (!t->axes[i].varies)
            continue;
        words_add(cells, "%s", value ? value->shown : "unset");
        axes++;
    }
    words_add(cells, "%s", verdict_names[sweep_verdict(t, cell)]);
    for (size_t i = 0; i < count; i++)
        add_figure(t, &figures[i], cell, cells);
}

/* Where there is no room, figures are left out from the last one on; then names are cut. */
static size_t make_styles(const struct sweep_table *t, const struct shown_figure *figures, size_t count,
                          struct columns_style *styles)
{
    size_t made = 0, axes = 0;
    styles[made++] = (struct columns_style){.title = "run"};
    for (size_t i = 0; i < t->axis_count && axes < MOST_AXES; i++)
        if (t->axes[i].varies) {
            styles[made++] = (struct columns_style){
                .title = t->axes[i].label, .right = !t->axes[i].words, .least = 4, .keep = 10};
            axes++;
        }
    styles[made++] = (struct columns_style){.title = "verdict"};
    for (size_t i = 0; i < count; i++)
        styles[made++] = (struct columns_style){
            .title = figures[i].title, .right = true, .least = 8, .keep = 16, .leave = (int)i + 1};
    return made;
}

void sweep_print_cells(FILE *file, const struct sweep_table *t, size_t width)
{
    struct shown_figure figures[CHECKS_SHOWN + 1];
    struct columns_style styles[MOST_AXES + CHECKS_SHOWN + 4];
    struct words cells = {0};
    size_t count = choose_figures(t, figures), columns = make_styles(t, figures, count, styles), shown = 0;
    print_groups(file, t, width);
    for (int failed = 1; failed >= 0; failed--)
        for (size_t cell = 0; cell < t->cell_count && shown < CELLS_SHOWN; cell++)
            if ((sweep_verdict(t, cell) > VERDICT_PASSED) == failed) {
                add_cell_row(t, cell, figures, count, &cells);
                shown++;
            }
    if (!cells.failed)
        columns_print(file, styles, columns, (const char *const *)cells.items, shown, width);
    words_free(&cells);
    print_to(file, "%zu of %zu cells%s\n", shown, t->cell_count,
             t->with[VERDICT_FAILED] ? ", those that failed first; !: an expectation that failed" : "");
}
