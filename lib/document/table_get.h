/* The values at a path of a struct that a table filled, for shell scripts. */
#ifndef LIB_TABLE_GET_H
#define LIB_TABLE_GET_H

#include "lib/document/table.h"

/*
 * Add the values at a path such as "name", "hosts.*.pin.vcpus" or "links.0.rate" to `out`, one a line. A part is a key; in a map the
 * name of an item, in a list its index, or "*" for all items in order. Quantities and other numbers are whole numbers of their unit
 * ("memory": bytes), a map gives the names of its items, an object and a list of objects give nothing of their own. A value that is
 * not set is an empty line; with "*" it is left out. Fails when the path names a key or an item that there is not.
 */
int table_get(const struct table *table, const void *object, const char *path, struct text *out,
              struct error *e);

#endif
