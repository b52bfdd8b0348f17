/* What the names of counters mean: unit, kind, group. */
#ifndef COLLECTORS_NAMES_H
#define COLLECTORS_NAMES_H

#include "lib/formats/lines.h"
#include <stdbool.h>

struct name_meaning {
    const char *unit;
    const char *group;
    enum column_kind kind;
    bool wraps32;
};

struct name_meaning names_meaning(const char *name);

/* The groups, in the order in which they are listed to people; ended by NULL. */
extern const char *const names_groups[];

#endif
