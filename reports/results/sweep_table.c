#include "reports/results/sweep_table.h"

#include "lib/document/json_text.h"
#include "lib/folder/sweep_index.h"
#include "lib/output/csv.h"
#include "lib/output/verdicts.h"
#include "lib/output/visible.h"
#include "reports/results/differences.h"
#include "reports/results/run_figures.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures: what is taken of a run */

/* The figures of a run that a table of a sweep keeps. */

#define FAILURES_KEPT  2000
#define PUBLISHED_KEPT 200
#define WORDS_FIT      300 /* of names, rules and reasons: what a table keeps is bounded */
#define WARNING_FITS   1000

static size_t cut_length(const char *words)
{
    return utf8_cut(words, strlen(words), WORDS_FIT);
}

static char *copy_of(const char *words)
{
    return strndup(words, cut_length(words));
}

/* ---- columns */

static struct sweep_figure *new_figure(struct sweep_table *t, const char *name, const char *check,
                                       const char *unit)
{
    struct sweep_figure *figures = realloc(t->figures, (t->figure_count + 1) * sizeof *figures);
    if (!figures)
        return NULL;
    t->figures = figures;
    struct sweep_figure *f = &figures[t->figure_count++];
    *f = (struct sweep_figure){.name = copy_of(name),
                               .check = check ? copy_of(check) : NULL,
                               .unit = copy_of(unit),
                               .values = malloc((t->row_count + 1) * sizeof *f->values),
                               .verdicts = check ? calloc(t->row_count + 1, 1) : NULL};
    if (!f->name || !f->unit || !f->values || (check && (!f->check || !f->verdicts)))
        return NULL;
    for (size_t i = 0; i < t->row_count; i++)
        f->values[i] = NAN;
    return f;
}

/* The column of this name, or a new one. *full: there are as many as are kept. NULL otherwise: out of
 * memory. */
static struct sweep_figure *figure(struct sweep_table *t, const char *name, const char *check,
                                   const char *unit, bool *full)
{
    struct text key = {0};
    struct sweep_figure *found = NULL;
    *full = false;
    text_add(&key, "%.*s\n%.*s", (int)cut_length(check ? check : ""), check ? check : "",
             (int)cut_length(name), name);
    json_t *number = json_object_get(t->figure_numbers, text_string(&key));
    if (number) {
        found = json_is_integer(number) ? &t->figures[json_integer_value(number)] : NULL;
        *full = !found;
    } else if (t->figure_count >= SWEEP_MAX_FIGURES) {
        *full = json_object_set_new(t->figure_numbers, text_string(&key), json_null()) == 0;
        t->figures_left_out++;
    } else {
        number = json_integer((json_int_t)t->figure_count);
        bool kept = !key.failed && json_object_set_new(t->figure_numbers, text_string(&key), number) == 0;
        found = kept ? new_figure(t, name, check, unit) : NULL;
    }
    text_free(&key);
    return found;
}

static void set_value(struct sweep_figure *f, size_t row, double value)
{
    if (!isfinite(value))
        return;
    f->known += !isfinite(f->values[row]);
    f->values[row] = value;
}

struct place {
    struct sweep_table *table;
    size_t row;
};

static int keep_figure(void *context, const char *name, const char *unit, double value, bool counter)
{
    const struct place *place = context;
    bool full;
    struct sweep_figure *f = figure(place->table, name, NULL, unit, &full);
    if (f) {
        f->counter = counter;
        set_value(f, place->row, value);
    }
    return f || full ? 0 : -1;
}

static double number_of(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* ---- expectations, published figures, warnings */

static int keep_failure(struct sweep_table *t, size_t row, size_t figure_number, const char *reason)
{
    if (t->failure_count >= FAILURES_KEPT) {
        t->failures_left_out++;
        return 0;
    }
    struct sweep_failure *failures = realloc(t->failures, (t->failure_count + 1) * sizeof *failures);
    if (!failures)
        return -1;
    t->failures = failures;
    failures[t->failure_count] = (struct sweep_failure){row, figure_number, copy_of(reason)};
    return failures[t->failure_count++].reason ? 0 : -1;
}

/* `later`: what the sweep's end says of it, NULL: nothing. That is of the cell, and its first run has it. */
static int take_expectation(struct sweep_table *t, size_t row, const json_t *item, const json_t *later)
{
    const json_t *left = json_object_get(item, "left");
    bool full, own = !later || t->rows[row].repeat > 1;
    item = own ? item : later;
    enum verdict verdict = verdict_of(run_member(item, "verdict"));
    struct sweep_figure *f =
        figure(t, run_member(item, "name"), run_member(item, "check"), run_member(item, "unit"), &full);
    if (!f || !f->verdicts)
        return full ? 0 : -1;
    if (!*f->unit && *run_member(item, "unit")) { /* a run that skipped it had none */
        free(f->unit);
        f->unit = copy_of(run_member(item, "unit"));
    }
    f->later |= json_object_get(item, "over") != NULL;
    f->with[f->verdicts[row]] -= f->verdicts[row] != VERDICT_NONE;
    f->verdicts[row] = (unsigned char)verdict;
    f->with[verdict]++;
    f->mean |= !json_is_number(left) && json_integer_value(json_object_get(item, "count")) > 1;
    set_value(f, row, number_of(json_is_number(left) ? left : json_object_get(item, "left")));
    if (!f->unit)
        return -1;
    return own && verdict == VERDICT_FAILED
               ? keep_failure(t, row, (size_t)(f - t->figures), run_member(item, "reason"))
               : 0;
}

static int take_published(struct sweep_table *t, size_t row, const json_t *item)
{
    if (t->published_count >= PUBLISHED_KEPT) {
        t->published_left_out++;
        return 0;
    }
    struct sweep_published *published = realloc(t->published, (t->published_count + 1) * sizeof *published);
    if (!published)
        return -1;
    t->published = published;
    struct sweep_published *p = &published[t->published_count++];
    *p = (struct sweep_published){.row = row,
                                  .name = copy_of(run_member(item, "name")),
                                  .unit = copy_of(run_member(item, "unit")),
                                  .source = copy_of(run_member(item, "source")),
                                  .reason = copy_of(run_member(item, "reason")),
                                  .published = number_of(json_object_get(item, "published")),
                                  .value = number_of(json_object_get(item, "value")),
                                  .difference_percent =
                                      number_of(json_object_get(item, "difference_percent"))};
    return p->name && p->unit && p->source && p->reason ? 0 : -1;
}

/* `list`: words with the number of their runs, and the first and last one's row. */
static int take_words(json_t *list, size_t *left_out, size_t row, const char *words)
{
    char key[WARNING_FITS + 1];
    snprintf(key, sizeof key, "%.*s", (int)utf8_cut(words, strlen(words), WARNING_FITS), words);
    json_t *known = json_object_get(list, key), *last = json_array_get(known, 2);
    if (known && json_integer_value(last) == (json_int_t)row) /* of several checkers */
        return 0;
    if (known && json_integer_set(last, (json_int_t)row) == 0)
        return json_integer_set(json_array_get(known, 0), json_integer_value(json_array_get(known, 0)) + 1);
    if (json_object_size(list) >= SWEEP_MAX_FIGURES) {
        (*left_out)++;
        return 0;
    }
    return json_put(list, key, json_make("[i,I,I]", 1, (json_int_t)row, (json_int_t)row));
}

static int take_not_judged(struct sweep_table *t, size_t row, const json_t *item)
{
    json_t *notes = verdict_not_judged(item), *note;
    size_t i;
    int result = 0;
    json_array_foreach(notes, i, note)
    {
        if (result == 0)
            result = take_words(t->not_judged, &t->not_judged_left_out, row, json_string_value(note));
    }
    json_decref(notes);
    return result;
}

/* Those of the sweep itself are of no run. */
static void take_own_warnings(struct sweep_table *t, const char *list)
{
    const json_t *words;
    size_t i;
    json_array_foreach(json_object_get(t->index, list), i, words)
    {
        json_put(t->warnings, json_string_value(words), json_make("[i,i,i]", 0, 0, -1));
    }
}

static int take_lists(const struct run *run, size_t row, struct sweep_table *t)
{
    size_t i;
    json_t *item;
    int result = 0;
    if (json_is_false(run_get(run, "complete")))
        result = keep_failure(t, row, SIZE_MAX, run_text(run, "reason"));
    json_array_foreach(run_get(run, "expectations"), i, item)
    {
        result = result == 0 ? take_expectation(t, row, item, run_judged_later(run, "expectations", item))
                             : result;
    }
    json_array_foreach(run_get(run, "verify"), i, item)
    {
        result = result == 0 ? take_expectation(t, row, item, NULL) : result;
        result = result == 0 ? take_not_judged(t, row, item) : result;
    }
    json_array_foreach(run_get(run, "published"), i, item)
    {
        result = result == 0 ? take_published(t, row, item) : result;
    }
    json_array_foreach(run_get(run, "warnings"), i, item)
    {
        if (result == 0 && json_is_string(item))
            result = take_words(t->warnings, &t->warnings_left_out, row, json_string_value(item));
    }
    return result;
}

static int sweep_figures_take(const struct run *run, size_t row, struct sweep_table *t, struct error *e)
{
    struct place place = {t, row};
    struct run_figures_left left = {0};
    int result = take_lists(run, row, t);
    if (result == 0)
        result = run_each_figure(run, keep_figure, &place, &left);
    t->few += left.few;
    if (left.flows > t->flows_left_out)
        t->flows_left_out = left.flows;
    return result == 0 ? 0 : error_set(e, "out of memory for the figures of the sweep");
}

/* ---- the whole column */

static void free_figure(struct sweep_figure *f)
{
    free(f->name);
    free(f->check);
    free(f->unit);
    free(f->values);
    free(f->verdicts);
}

static void find_extremes(const struct sweep_table *t, struct sweep_figure *f)
{
    f->low = INFINITY;
    f->high = -INFINITY;
    for (size_t row = 0; row < t->row_count; row++) {
        f->low = fmin(f->low, f->values[row]);
        f->high = fmax(f->high, f->values[row]);
    }
    f->still = f->counter && f->low == 0 && f->high == 0;
}

static void sweep_figures_finish(struct sweep_table *t)
{
    for (size_t i = 0; i < t->figure_count; i++)
        find_extremes(t, &t->figures[i]);
}

static void sweep_figures_free(struct sweep_table *t)
{
    for (size_t i = 0; i < t->figure_count; i++)
        free_figure(&t->figures[i]);
    free(t->figures);
    json_decref(t->figure_numbers);
    for (size_t i = 0; i < t->failure_count; i++)
        free(t->failures[i].reason);
    free(t->failures);
    for (size_t i = 0; i < t->published_count; i++) {
        free(t->published[i].name);
        free(t->published[i].unit);
        free(t->published[i].source);
        free(t->published[i].reason);
    }
    free(t->published);
    json_decref(t->warnings);
    json_decref(t->not_judged);
}

struct sweep_unit sweep_unit_for(const char *unit, double low, double high)
{
    static const struct {
        const char *unit;
        double from, factor;
        const char *name;
    } units[] = {{"b/s", 1e8, 1e-9, "Gb/s"},
                 {"b/s", 0, 1e-6, "Mb/s"},
                 {"ns", 0, 1e-3, "us"},
                 {"1/s", 1e6, 1e-6, "M/s"},
                 {"bytes", 1e7, 1 / 1048576.0, "MiB"}};
    double most = fmax(fabs(low), fabs(high));
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].unit) == 0 && most >= units[i].from)
            return (struct sweep_unit){units[i].factor, units[i].name};
    return (struct sweep_unit){1, unit};
}

struct sweep_unit sweep_unit_near(const char *unit, double value)
{
    return strcmp(unit, "bytes") == 0 && fabs(value) >= 1e4 ? (struct sweep_unit){1e-3, "kB"}
                                                            : sweep_unit_for(unit, value, value);
}

struct sweep_unit sweep_unit_of(const struct sweep_figure *figure)
{
    return sweep_unit_for(figure->unit, figure->low, figure->high);
}

/* ---- axes: what varies between cells */

/* What a sweep goes over: its axes, and which of them are one direction. */

/* ---- paths */

/* The paths of all cells, in the order in which they are found: {path: number}. */
static json_t *find_paths(const json_t *cells)
{
    json_t *paths = json_object(), *entry, *value;
    const char *path;
    size_t i;
    json_array_foreach(cells, i, entry)
    {
        json_object_foreach(json_object_get(entry, "cell"), path, value)
        {
            size_t count = json_object_size(paths);
            if (count < SWEEP_MAX_AXES && !json_object_get(paths, path))
                json_object_set_new(paths, path, json_integer((json_int_t)count));
        }
    }
    return paths;
}

static bool name_axes(const json_t *paths, struct sweep_table *t)
{
    const char *path;
    json_t *number;
    bool named = true;
    json_object_foreach((json_t *)(uintptr_t)paths, path, number)
    {
        struct sweep_axis *axis = &t->axes[json_integer_value(number)];
        axis->path = strdup(path);
        axis->label = strdup(choice_name(path, paths));
        named = named && axis->path && axis->label;
    }
    return named;
}

/* ---- values */

/* Add a value that the axis did not have. */
static bool add_value(struct sweep_axis *axis, const json_t *value, const char *exact)
{
    struct text shown = {0};
    bool is_bytes;
    if ((axis->count & (axis->count - 1)) == 0) { /* the room doubles */
        size_t room = axis->count ? axis->count * 2 : 1;
        struct sweep_value *values = realloc(axis->values, room * sizeof *values);
        if (!values)
            return false;
        axis->values = values;
    }
    choice_describe(value, &shown);
    struct sweep_value *added = &axis->values[axis->count++];
    *added = (struct sweep_value){.exact = strdup(exact), .number = NAN, .is_number = json_is_number(value)};
    if (!choice_number(value, &added->number, &is_bytes))
        axis->words = true;
    added->shown = text_take(&shown);
    return added->exact && added->shown;
}

/* The choice of one cell. `known` has the axis' values as canonical text, with their numbers. */
static bool take_choice(struct sweep_axis *axis, json_t *known, const json_t *value, uint32_t *choice)
{
    struct text key = {0};
    json_add_canonical(value, &key);
    char *bare = json_bare(value);
    json_t *number = json_object_get(known, text_string(&key));
    bool taken = !key.failed && bare;
    if (taken && !number) {
        number = json_integer((json_int_t)axis->count);
        taken = json_object_set_new(known, text_string(&key), number) == 0 && add_value(axis, value, bare);
    }
    if (taken)
        *choice = (uint32_t)json_integer_value(number);
    text_free(&key);
    free(bare);
    return taken;
}

static bool take_choices(const json_t *cells, struct sweep_table *t, size_t axis)
{
    json_t *known = json_object(), *entry;
    size_t row;
    bool taken = known;
    json_array_foreach(cells, row, entry)
    {
        const json_t *value = json_object_get(json_object_get(entry, "cell"), t->axes[axis].path);
        uint32_t *choice = &t->choices[row * t->axis_count + axis];
        *choice = SWEEP_NO_VALUE;
        if (taken && value)
            taken = take_choice(&t->axes[axis], known, value, choice);
        if (!value)
            t->axes[axis].words = true;
    }
    json_decref(known);
    t->axes[axis].varies = t->axes[axis].count > 1;
    return taken;
}

struct sorted {
    double number;
    uint32_t was;
};

static int by_number(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->was > y->was) - (x->was < y->was);
}

static void reorder(struct sweep_table *t, size_t axis, const struct sorted *order,
                    struct sweep_value *values, uint32_t *now)
{
    struct sweep_axis *a = &t->axes[axis];
    for (size_t i = 0; i < a->count; i++) {
        values[i] = a->values[order[i].was];
        now[order[i].was] = (uint32_t)i;
    }
    memcpy(a->values, values, a->count * sizeof *values);
    for (size_t row = 0; row < t->row_count; row++) {
        uint32_t *choice = &t->choices[row * t->axis_count + axis];
        *choice = *choice == SWEEP_NO_VALUE ? SWEEP_NO_VALUE : now[*choice];
    }
}

static bool sort_values(struct sweep_table *t, size_t axis)
{
    struct sweep_axis *a = &t->axes[axis];
    if (a->words)
        return true;
    struct sorted *order = calloc(a->count + 1, sizeof *order);
    struct sweep_value *values = calloc(a->count + 1, sizeof *values);
    uint32_t *now = calloc(a->count + 1, sizeof *now);
    bool sorted = order && values && now;
    if (sorted) {
        for (size_t i = 0; i < a->count; i++)
            order[i] = (struct sorted){a->values[i].number, (uint32_t)i};
        qsort(order, a->count, sizeof *order, by_number);
        reorder(t, axis, order, values, now);
    }
    free(order);
    free(values);
    free(now);
    return sorted;
}

/* ---- dimensions */

enum together { APART, IN_ORDER, SAMPLED };

/* How the values of two axes go together. `partner` has room for those of the first. Each value of both has a
 * row: if there are equally many, and each of the first has one partner, each of the second has one too. */
static enum together go_together(const struct sweep_table *t, size_t one, size_t other, uint32_t *partner)
{
    const struct sweep_axis *a = &t->axes[one], *b = &t->axes[other];
    size_t rising = 0, falling = 0;
    if (a->count != b->count)
        return APART;
    for (size_t i = 0; i < a->count; i++)
        partner[i] = SWEEP_NO_VALUE;
    for (size_t row = 0; row < t->row_count; row++) {
        uint32_t x = t->choices[row * t->axis_count + one], y = t->choices[row * t->axis_count + other];
        if (x == SWEEP_NO_VALUE || y == SWEEP_NO_VALUE || (partner[x] != SWEEP_NO_VALUE && partner[x] != y))
            return APART;
        partner[x] = y;
    }
    for (size_t i = 1; i < a->count; i++) {
        rising += partner[i] > partner[i - 1];
        falling += partner[i] < partner[i - 1];
    }
    return a->words || b->words || !rising || !falling ? IN_ORDER : SAMPLED;
}

/* Put the axis into a dimension whose values its own go together with. */
static bool join(struct sweep_table *t, size_t axis, uint32_t *partner, bool *sampled)
{
    for (size_t i = 0; i < t->dimension_count; i++) {
        struct sweep_dimension *d = &t->dimensions[i];
        enum together how = go_together(t, d->axes[0], axis, partner);
        if (how == IN_ORDER && d->count < SWEEP_ZIPPED) {
            d->axes[d->count++] = axis;
            return true;
        }
        if (how == SAMPLED)
            *sampled = d->sampled = true;
    }
    return false;
}

static bool label_dimension(const struct sweep_table *t, struct sweep_dimension *d)
{
    struct text label = {0};
    for (size_t i = 0; i < d->count; i++)
        text_add(&label, "%s%s", i ? ", " : "", t->axes[d->axes[i]].label);
    d->label = text_take(&label);
    return d->label;
}

static bool find_dimensions(struct sweep_table *t)
{
    size_t most = 1;
    for (size_t i = 0; i < t->axis_count; i++)
        most = t->axes[i].count > most ? t->axes[i].count : most;
    uint32_t *partner = calloc(most, sizeof *partner);
    bool found = partner;
    for (size_t i = 0; found && i < t->axis_count; i++) {
        bool sampled = false;
        if (!t->axes[i].varies || join(t, i, partner, &sampled))
            continue;
        t->dimensions[t->dimension_count++] =
            (struct sweep_dimension){.axes = {i}, .count = 1, .words = t->axes[i].words, .sampled = sampled};
    }
    for (size_t i = 0; found && i < t->dimension_count; i++)
        found = label_dimension(t, &t->dimensions[i]);
    free(partner);
    return found;
}

static int sweep_axes_find(const json_t *cells, struct sweep_table *t, struct error *e)
{
    json_t *paths = find_paths(cells);
    t->axis_count = json_object_size(paths);
    t->axes = calloc(t->axis_count + 1, sizeof *t->axes);
    t->dimensions = calloc(t->axis_count + 1, sizeof *t->dimensions);
    t->choices = calloc(t->axis_count * t->row_count + 1, sizeof *t->choices);
    bool found = paths && t->axes && t->dimensions && t->choices && name_axes(paths, t);
    for (size_t i = 0; found && i < t->axis_count; i++)
        found = take_choices(cells, t, i) && sort_values(t, i);
    found = found && find_dimensions(t);
    json_decref(paths);
    return found ? 0 : error_set(e, "out of memory for the choices of the sweep");
}

static void sweep_axes_free(struct sweep_table *t)
{
    for (size_t i = 0; t->axes && i < t->axis_count; i++) {
        for (size_t j = 0; j < t->axes[i].count; j++) {
            free(t->axes[i].values[j].shown);
            free(t->axes[i].values[j].exact);
        }
        free(t->axes[i].values);
        free(t->axes[i].path);
        free(t->axes[i].label);
    }
    for (size_t i = 0; t->dimensions && i < t->dimension_count; i++)
        free(t->dimensions[i].label);
    free(t->axes);
    free(t->dimensions);
    free(t->choices);
}

/* ---- answers */

const struct sweep_value *sweep_choice(const struct sweep_table *t, size_t row, size_t axis)
{
    uint32_t choice = t->choices[row * t->axis_count + axis];
    return choice == SWEEP_NO_VALUE ? NULL : &t->axes[axis].values[choice];
}

void sweep_describe_row(const struct sweep_table *t, size_t row, struct text *out)
{
    for (size_t i = 0; i < t->axis_count; i++) {
        const struct sweep_value *value = sweep_choice(t, row, i);
        if (t->axes[i].varies)
            text_add(out, "%s%s %s", out->length ? ", " : "", t->axes[i].label,
                     value ? value->shown : "unset");
    }
    if (sweep_repeats(t) > 1)
        text_add(out, "%srepeat %lld", out->length ? ", " : "", t->rows[row].repeat);
    if (!out->length)
        text_add(out, "run %s", t->rows[row].folder);
}

uint32_t sweep_position(const struct sweep_table *t, size_t row, size_t dimension)
{
    return t->choices[row * t->axis_count + t->dimensions[dimension].axes[0]];
}

size_t sweep_positions(const struct sweep_table *t, size_t dimension)
{
    return t->axes[t->dimensions[dimension].axes[0]].count;
}

void sweep_name_position(const struct sweep_table *t, size_t dimension, size_t position, struct text *out)
{
    const struct sweep_dimension *d = &t->dimensions[dimension];
    size_t row = 0;
    if (d->count == 1) {
        text_add(out, "%s", t->axes[d->axes[0]].values[position].shown);
        return;
    }
    while (row < t->row_count && sweep_position(t, row, dimension) != position)
        row++;
    for (size_t i = 0; i < d->count && row < t->row_count; i++) {
        const struct sweep_value *value = sweep_choice(t, row, d->axes[i]);
        text_add(out, "%s%s", i ? ", " : "", value ? value->shown : "unset");
    }
}

/* ---- the index */

int sweep_table_wanted(const char *path, struct error *e)
{
    struct folder folder;
    bool opened = folder_open(&folder, path, e) == 0;
    int wanted = opened ? sweep_index_exists(&folder) : error_prefix(e, "%s is not a result", path);
    folder_close(&folder);
    return wanted;
}

static json_t *load_index(const char *path, struct error *e)
{
    struct folder folder;
    json_t *index = NULL;
    if (folder_open(&folder, path, e) == 0)
        index = sweep_index_load(&folder, e);
    folder_close(&folder);
    return index;
}

/* ---- cells */

/* A text that two rows share if they differ in nothing but the repetition. */
static void add_key(const struct sweep_table *t, size_t row, struct text *out)
{
    for (size_t i = 0; i < t->axis_count; i++)
        text_add(out, "%x,", t->choices[row * t->axis_count + i]);
}

static bool number_cells(struct sweep_table *t)
{
    json_t *known = json_object();
    bool numbered = known;
    for (size_t row = 0; numbered && row < t->row_count; row++) {
        struct text key = {0};
        add_key(t, row, &key);
        json_t *cell = json_object_get(known, text_string(&key));
        t->rows[row].cell = cell ? (size_t)json_integer_value(cell) : t->cell_count;
        if (!cell)
            numbered = !key.failed && json_object_set_new(known, text_string(&key),
                                                          json_integer((json_int_t)t->cell_count++)) == 0;
        text_free(&key);
    }
    json_decref(known);
    return numbered;
}

static bool group_rows(struct sweep_table *t)
{
    t->cells = calloc(t->cell_count + 1, sizeof *t->cells);
    t->members = calloc(t->row_count + 1, sizeof *t->members);
    if (!t->cells || !t->members)
        return false;
    for (size_t row = 0; row < t->row_count; row++)
        t->cells[t->rows[row].cell].count++;
    for (size_t cell = 0, first = 0; cell < t->cell_count; cell++) {
        t->cells[cell].first = first;
        first += t->cells[cell].count;
        t->cells[cell].count = 0;
    }
    for (size_t row = 0; row < t->row_count; row++) {
        struct sweep_cell *cell = &t->cells[t->rows[row].cell];
        t->members[cell->first + cell->count++] = row;
    }
    return true;
}

/* ---- runs */

static int name_rows(const char *folder, const json_t *cells, struct sweep_table *t, struct error *e)
{
    json_t *taken = json_object(), *entry;
    size_t i;
    int result = 0;
    json_array_foreach(cells, i, entry)
    {
        const char *name = run_cell_folder(entry, taken);
        if (!name)
            result = error_set(e, "%s: the index: cell %zu does not name a folder of its own", folder, i);
        else if (!(t->rows[i].folder = strdup(name)))
            result = error_set(e, "out of memory for the runs of %s", folder);
        t->rows[i].repeat = json_integer_value(json_object_get(entry, "repeat"));
        if (result != 0)
            break;
    }
    json_decref(taken);
    return result;
}

static int read_row(const char *folder, size_t row, struct sweep_table *t, struct error *e)
{
    struct run run = {0};
    int result = run_load(&run, folder, t->rows[row].folder, e);
    if (result == 0) {
        run_note_judged(&run, folder, json_object_get(t->index, "repeated"), t->rows[row].folder);
        t->rows[row].verdict = run_verdict(&run);
        t->with[t->rows[row].verdict]++;
        t->rows[row].reason = run_reason(&run);
        run_count_origin(&run, &t->origins);
        run_take_sources(&run, t->sources);
        damaged_add(&t->damaged, &run);
        result = sweep_figures_take(&run, row, t, e);
    }
    if (result == 0 && row == 0)
        t->first = run;
    else
        run_free(&run);
    return result;
}

static int lay_out(const char *folder, struct sweep_table *t, struct error *e)
{
    const json_t *cells = json_object_get(t->index, "cells");
    if (!json_is_array(cells))
        return error_set(e, "%s: the index has no list of cells", folder);
    t->row_count = json_array_size(cells);
    if (t->row_count == 0)
        return error_set(e, "there is no finished run in %s", folder);
    t->rows = calloc(t->row_count, sizeof *t->rows);
    t->figure_numbers = json_object();
    t->warnings = json_object();
    t->not_judged = json_object();
    t->sources = json_object();
    if (!t->rows || !t->figure_numbers || !t->warnings || !t->not_judged || !t->sources)
        return error_set(e, "out of memory for the runs of %s", folder);
    if (name_rows(folder, cells, t, e) != 0 || sweep_axes_find(cells, t, e) != 0)
        return -1;
    return number_cells(t) && group_rows(t) ? 0 : error_set(e, "out of memory for the runs of %s", folder);
}

int sweep_table_load(const char *folder, struct sweep_table *t, struct error *e)
{
    *t = (struct sweep_table){.index = load_index(folder, e)};
    if (!t->index || lay_out(folder, t, e) != 0)
        return -1;
    damaged_add_left_out(&t->damaged, t->index);
    take_own_warnings(t, SWEEP_WRONG);
    take_own_warnings(t, "warnings");
    json_object_del(t->index, "cells"); /* the largest part of it */
    for (size_t row = 0; row < t->row_count; row++)
        if (read_row(folder, row, t, e) != 0)
            return -1;
    sweep_figures_finish(t);
    return 0;
}

void sweep_table_free(struct sweep_table *t)
{
    sweep_axes_free(t);
    sweep_figures_free(t);
    for (size_t i = 0; t->rows && i < t->row_count; i++) {
        free(t->rows[i].folder);
        free(t->rows[i].reason);
    }
    free(t->rows);
    free(t->cells);
    free(t->members);
    run_free(&t->first);
    json_decref(t->index);
    json_decref(t->sources);
    damaged_free(&t->damaged);
    *t = (struct sweep_table){0};
}

/* ---- answers */

struct spread sweep_spread(const struct sweep_table *t, size_t figure, size_t cell)
{
    const struct sweep_cell *c = &t->cells[cell];
    double few[64] = {0}, *values = c->count <= 64 ? few : malloc(c->count * sizeof *values);
    size_t count = 0;
    for (size_t i = 0; values && i < c->count; i++) {
        double value = t->figures[figure].values[t->members[c->first + i]];
        if (isfinite(value))
            values[count++] = value;
    }
    struct spread spread = spread_of(values, count);
    if (values != few)
        free(values);
    return spread;
}

enum verdict sweep_verdict(const struct sweep_table *t, size_t cell)
{
    const struct sweep_cell *c = &t->cells[cell];
    enum verdict worst = VERDICT_UNJUDGED;
    for (size_t i = 0; i < c->count; i++) {
        enum verdict mine = t->rows[t->members[c->first + i]].verdict;
        worst = mine > worst ? mine : worst;
    }
    return worst;
}

bool sweep_failed(const struct sweep_table *t, size_t figure, size_t cell)
{
    const struct sweep_cell *c = &t->cells[cell];
    const unsigned char *verdicts = t->figures[figure].verdicts;
    for (size_t i = 0; verdicts && i < c->count; i++)
        if (verdicts[t->members[c->first + i]] == VERDICT_FAILED)
            return true;
    return false;
}

size_t sweep_repeats(const struct sweep_table *t)
{
    size_t most = 1;
    for (size_t i = 0; i < t->cell_count; i++)
        most = t->cells[i].count > most ? t->cells[i].count : most;
    return most;
}

/* ---- sweep.csv */

/* A table of a sweep as comma-separated values, RFC 4180. */

/* "goodput of all flows, b/s"; "left side of nothing is lost: delta(*.drops) == 0, packets" */
static void add_named(const char *before, const char *name, const char *check, const char *unit,
                      struct text *out)
{
    struct text words = {0};
    text_add(&words, "%s%s%s%s%s%s", before, name, check ? ": " : "", check ? check : "", *unit ? ", " : "",
             unit);
    text_add(out, ",");
    csv_text(out, text_string(&words));
    out->failed |= words.failed;
    text_free(&words);
}

static void add_head(const struct sweep_table *t, struct text *out)
{
    text_add(out, "folder");
    for (size_t i = 0; i < t->axis_count; i++)
        add_named("", t->axes[i].path, NULL, "", out);
    text_add(out, ",repeat,verdict,reason");
    for (size_t i = 0; i < t->figure_count; i++) {
        const struct sweep_figure *f = &t->figures[i];
        if (f->still)
            continue;
        if (f->check)
            add_named("verdict of ", f->name, f->check, "", out);
        add_named(f->mean    ? "mean over the repetitions of the left side of "
                  : f->check ? "left side of "
                             : "",
                  f->name, f->check, f->unit, out);
    }
    text_add(out, CSV_LINE_END);
}

static void add_row(const struct sweep_table *t, size_t row, struct text *out)
{
    csv_text(out, t->rows[row].folder);
    for (size_t i = 0; i < t->axis_count; i++) {
        const struct sweep_value *value = sweep_choice(t, row, i);
        text_add(out, ",");
        if (value && value->is_number)
            text_add(out, "%s", value->exact);
        else if (value)
            csv_text(out, value->exact);
    }
    text_add(out, ",%lld,%s,", t->rows[row].repeat, verdict_names[t->rows[row].verdict]);
    csv_text(out, t->rows[row].reason);
    for (size_t i = 0; i < t->figure_count; i++) {
        const struct sweep_figure *f = &t->figures[i];
        if (f->still)
            continue;
        if (f->check)
            text_add(out, ",%s", verdict_names[f->verdicts[row]]);
        text_add(out, ",");
        csv_number(out, f->values[row]);
    }
    text_add(out, CSV_LINE_END);
}

void sweep_table_csv(const struct sweep_table *t, struct text *out)
{
    add_head(t, out);
    for (size_t row = 0; row < t->row_count; row++)
        add_row(t, row, out);
}
