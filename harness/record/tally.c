#include "harness/record/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FINEST_BITS 10

/* The value with the largest magnitude that has the same first `bits` bits. */
static int64_t rounded(int64_t value, int bits)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (bits == 0 || magnitude >> bits == 0)
        return value;
    int shift = 63 - __builtin_clzll(magnitude) - bits;
    magnitude |= shift > 0 ? (UINT64_C(1) << shift) - 1 : 0;
    if (magnitude > INT64_MAX)
        return INT64_MIN;
    return value < 0 ? -(int64_t)magnitude : (int64_t)magnitude;
}

/* The place of the first entry that is not smaller. */
static size_t place_of(const struct tally *t, int64_t value)
{
    size_t low = 0, high = t->used;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (t->entries[middle].value < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Rounded values keep their order, so equal ones are neighbours. */
static void coarsen(struct tally *t)
{
    size_t kept = 0;
    t->bits = t->bits ? t->bits - 1 : FINEST_BITS;
    for (size_t i = 0; i < t->used; i++) {
        int64_t value = rounded(t->entries[i].value, t->bits);
        if (kept && t->entries[kept - 1].value == value)
            t->entries[kept - 1].count += t->entries[i].count;
        else
            t->entries[kept++] = (struct tallied){value, t->entries[i].count};
    }
    t->used = kept;
    t->last = 0;
}

static bool make_room(struct tally *t)
{
    if (t->used < t->capacity)
        return true;
    size_t capacity = t->capacity ? 2 * t->capacity : 4;
    struct tallied *grown = realloc(t->entries, capacity * sizeof *grown);
    if (!grown)
        return false;
    t->entries = grown;
    t->capacity = capacity;
    return true;
}

void tally_add(struct tally *t, int64_t value)
{
    t->min = t->count == 0 || value < t->min ? value : t->min;
    t->max = t->count == 0 || value > t->max ? value : t->max;
    t->count++;
    if (t->last < t->used && t->entries[t->last].value == value) { /* most gauges stand still */
        t->entries[t->last].count++;
        return;
    }
    int64_t kept = rounded(value, t->bits);
    size_t place = place_of(t, kept);
    while ((place == t->used || t->entries[place].value != kept) && t->used == TALLY_MOST) {
        coarsen(t);
        kept = rounded(value, t->bits);
        place = place_of(t, kept);
    }
    if (place == t->used || t->entries[place].value != kept) {
        if (!make_room(t)) {
            t->failed = true;
            return;
        }
        memmove(&t->entries[place + 1], &t->entries[place], (t->used - place) * sizeof *t->entries);
        t->entries[place] = (struct tallied){.value = kept};
        t->used++;
    }
    t->entries[place].count++;
    t->last = place;
}

void tally_free(struct tally *t)
{
    free(t->entries);
    *t = (struct tally){0};
}

bool tally_quantile(const struct tally *t, double q, int64_t *value)
{
    double rank = ceil(q * (double)t->count);
    uint64_t seen = 0;
    if (t->count == 0 || t->failed)
        return false;
    *value = t->max;
    for (size_t i = 0; i < t->used; i++) {
        seen += t->entries[i].count;
        if ((double)seen >= rank) {
            int64_t found = t->entries[i].value;
            *value = found > t->max ? t->max : found < t->min ? t->min : found;
            return true;
        }
    }
    return true;
}
