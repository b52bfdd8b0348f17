/* From a table's struct back to a document. */
#ifndef LIB_TABLE_WRITE_H
#define LIB_TABLE_WRITE_H

#include "lib/document/table.h"

/* A document from which table_parse makes the object again, as far as its strings, numbers, flags, choices and embedded objects go;
 * what is unset is left out, and so are lists, maps and optional objects. A new reference, or NULL when memory ran out. */
json_t *table_write(const struct table *table, const void *object);

#endif
