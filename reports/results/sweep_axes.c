/* What a sweep goes over: its axes, and which of them are one direction. */
#include "reports/results/sweep_inside.h"

#include "lib/document/json_text.h"
#include "reports/results/choice.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_MEMORY "out of memory for the choices of the sweep"

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

/* The last `parts` parts of the path. */
static const char *end_of_path(const struct sweep_axis *axis, size_t parts)
{
    const char *path = axis->path ? axis->path : "";
    const char *at = path + strlen(path);
    while (at > path && (at[-1] != '.' || --parts > 0))
        at--;
    return at;
}

static bool is_alone(const struct sweep_table *t, size_t axis, size_t parts)
{
    const char *mine = end_of_path(&t->axes[axis], parts);
    for (size_t i = 0; i < t->axis_count; i++)
        if (i != axis && strcmp(end_of_path(&t->axes[i], parts), mine) == 0)
            return false;
    return true;
}

static bool name_axes(const json_t *paths, struct sweep_table *t)
{
    const char *path;
    json_t *number;
    bool named = true;
    json_object_foreach((json_t *)(uintptr_t)paths, path, number)
    {
        t->axes[json_integer_value(number)].path = strdup(path);
        named = named && t->axes[json_integer_value(number)].path;
    }
    for (size_t i = 0; named && i < t->axis_count; i++) {
        size_t parts = 1;
        while (parts < 8 && !is_alone(t, i, parts))
            parts++;
        t->axes[i].label = strdup(end_of_path(&t->axes[i], parts));
        named = t->axes[i].label;
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

/* The choice of one cell. `known` has the axis' values as JSON, with their numbers. */
static bool take_choice(struct sweep_axis *axis, json_t *known, const json_t *value, uint32_t *choice)
{
    char *dumped = json_shown(value), *bare = json_bare(value);
    json_t *number = dumped ? json_object_get(known, dumped) : NULL;
    bool taken = dumped && bare;
    if (taken && !number) {
        number = json_integer((json_int_t)axis->count);
        taken = json_object_set_new(known, dumped, number) == 0 && add_value(axis, value, bare);
    }
    if (taken)
        *choice = (uint32_t)json_integer_value(number);
    free(dumped);
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

/* How the values of two axes go together. `partner` has room for those of the first. Each value of both has a row: if there are equally
 * many, and each of the first has one partner, each of the second has one too. */
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

int sweep_axes_find(const json_t *cells, struct sweep_table *t, struct error *e)
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
    return found ? 0 : error_set(e, NO_MEMORY);
}

void sweep_axes_free(struct sweep_table *t)
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
