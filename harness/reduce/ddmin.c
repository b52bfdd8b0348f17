#include "harness/reduce/ddmin.h"

#include "lib/xalloc.h"
#include <stdlib.h>
#include <string.h>

struct ddmin {
    bool *kept;
    size_t count;
    size_t *places; /* of what is kept */
    bool *room;     /* of the sets, one after another */
    const bool **sets;
    ddmin_first *first;
    void *context;
};

static size_t list_places(struct ddmin *d)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->count; i++)
        if (d->kept[i])
            d->places[kept++] = i;
    return kept;
}

/* Is one of `parts` parts of what is kept not needed? Asked from the part `from` on. Its number, or `parts`.
 */
static size_t part_to_spare(struct ddmin *d, size_t kept, size_t parts, size_t from)
{
    for (size_t k = 0; k < parts; k++) {
        size_t part = (from + k) % parts;
        bool *set = d->room + k * d->count;
        memcpy(set, d->kept, d->count * sizeof *set);
        for (size_t i = part * kept / parts; i < (part + 1) * kept / parts; i++)
            set[d->places[i]] = false;
        d->sets[k] = set;
    }
    size_t found = d->first(d->context, d->sets, parts);
    if (found >= parts)
        return found;
    memcpy(d->kept, d->sets[found], d->count * sizeof *d->kept);
    return (from + found) % parts;
}

static int run(struct ddmin *d)
{
    size_t kept = list_places(d), parts = 1, from = 0;
    while (kept > 0) {
        size_t spared = part_to_spare(d, kept, parts, from);
        if (spared == DDMIN_BROKEN_OFF)
            return -1;
        if (spared < parts) {
            kept = list_places(d);
            parts = parts > 2 ? parts - 1 : 2;
            from = spared;
        } else if (parts >= kept) {
            break;
        } else {
            parts *= 2;
            from = 0;
        }
        if (kept == 1) /* without anything it was not there */
            break;
        parts = parts < kept ? parts : kept;
    }
    return 0;
}

int ddmin(bool *kept, size_t count, ddmin_first *first, void *context)
{
    struct ddmin d = {.kept = kept,
                      .count = count,
                      .places = xcalloc(count + 1, sizeof *d.places),
                      .room = xcalloc(count * count + 1, sizeof *d.room),
                      .sets = xcalloc(count + 1, sizeof *d.sets),
                      .first = first,
                      .context = context};
    int result = run(&d);
    free(d.places);
    free(d.room);
    free(d.sets);
    return result;
}
