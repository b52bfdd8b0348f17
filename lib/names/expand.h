/* Writes the ranges of names in a document out (range.h). Values that are of a wrong type are left, for the document's table to refuse. */
#ifndef LIB_NAMES_EXPAND_H
#define LIB_NAMES_EXPAND_H

#include "lib/error.h"
#include <jansson.h>
#include <stdbool.h>

/* Each sentence begins with the key, and with the item's number. */

/* A list of names. */
int expand_list(json_t *object, const char *key, struct error *e);
/* A map whose keys are names: the value of a range is filled in for each of its names. What a single name has besides is merged over
 * it, where null stays, for what is merged next. Two ranges may not have a name in common. */
int expand_keys(json_t *object, const char *key, struct error *e);
/* A map of names to names, pairwise; or all to a single one. */
int expand_map(json_t *object, const char *key, struct error *e);

/* The members of an item that are names. */
struct expand_ends {
    const char *one, *other; /* other NULL: there is only one */
    bool list;               /* `one` is a list of both */
};
/* A list of objects, each of which stands for many: pairwise, or all with a single one. An item's other values are filled in by the
 * first end that is a range. An item with a name needs the number in it. */
int expand_items(json_t *object, const char *key, const struct expand_ends *ends, struct error *e);

#endif
