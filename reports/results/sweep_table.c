#include "reports/results/sweep_inside.h"

#include "lib/folder/fresh.h"
#include "lib/folder/sweep_index.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_MEMORY "out of memory for the runs of %s"

const char *const sweep_verdict_names[] = {"", "passed", "failed", "skipped", "incomplete", NULL};

enum sweep_verdict sweep_verdict_of(const char *word)
{
    for (int i = SWEEP_PASSED; i <= SWEEP_INCOMPLETE; i++)
        if (strcmp(sweep_verdict_names[i], word) == 0)
            return (enum sweep_verdict)i;
    return SWEEP_NONE;
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
    if (folder_open(&folder, path, e) == 0) {
        fresh_clear(&folder);
        index = sweep_index_load(&folder, e);
    }
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
            result = error_set(e, NO_MEMORY, folder);
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
        t->rows[row].verdict = sweep_verdict_of(run_text(&run, "verdict"));
        t->with[t->rows[row].verdict]++;
        run_count_origin(&run, &t->origins);
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
    if (!t->rows || !t->figure_numbers || !t->warnings)
        return error_set(e, NO_MEMORY, folder);
    if (name_rows(folder, cells, t, e) != 0 || sweep_axes_find(cells, t, e) != 0)
        return -1;
    return number_cells(t) && group_rows(t) ? 0 : error_set(e, NO_MEMORY, folder);
}

int sweep_table_load(const char *folder, struct sweep_table *t, struct error *e)
{
    *t = (struct sweep_table){.index = load_index(folder, e)};
    if (!t->index || lay_out(folder, t, e) != 0)
        return -1;
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
    for (size_t i = 0; t->rows && i < t->row_count; i++)
        free(t->rows[i].folder);
    free(t->rows);
    free(t->cells);
    free(t->members);
    run_free(&t->first);
    json_decref(t->index);
    text_free(&t->damaged.first);
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

bool sweep_failed(const struct sweep_table *t, size_t figure, size_t cell)
{
    const struct sweep_cell *c = &t->cells[cell];
    const unsigned char *verdicts = t->figures[figure].verdicts;
    for (size_t i = 0; verdicts && i < c->count; i++)
        if (verdicts[t->members[c->first + i]] == SWEEP_FAILED)
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
