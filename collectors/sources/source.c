#include "collectors/sources/source.h"

#include <stdlib.h>
#include <string.h>

const struct source_kind *const source_kinds[] = {
#define READER(name, interface, columns, freshness) &source_##name,
#include "lib/roce/counters.def"
    NULL,
};

const struct source_kind *source_kind_named(const char *name)
{
    for (const struct source_kind *const *kind = source_kinds; *kind; kind++)
        if (strcmp((*kind)->name, name) == 0)
            return *kind;
    return NULL;
}

int column_set_add(struct column_set *set, const char *name, struct error *e)
{
    if (set->count == SOURCE_MAX_COLUMNS)
        return error_set(e, "it has more than %d counters", SOURCE_MAX_COLUMNS);
    /* The array grows by doubling: its capacity is the next power of two. */
    if ((set->count & (set->count - 1)) == 0) {
        size_t capacity = set->count == 0 ? 1 : 2 * set->count;
        struct source_column *larger = realloc(set->items, capacity * sizeof *larger);
        if (!larger)
            return error_set(e, "out of memory for its columns");
        set->items = larger;
    }
    const struct counter *row = counters_find(name);
    struct source_column *column = &set->items[set->count];
    *column = (struct source_column){.name = strdup(name), .counter = row ? row : &counter_unlisted};
    if (!column->name)
        return error_set(e, "out of memory for its columns");
    set->count++;
    return 0;
}

void column_set_free(struct column_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->items[i].name);
    free(set->items);
    *set = (struct column_set){0};
}
