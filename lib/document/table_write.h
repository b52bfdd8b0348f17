/* From a table's struct back to a document. */
#ifndef LIB_TABLE_WRITE_H
#define LIB_TABLE_WRITE_H

#include "lib/document/table.h"

/* A document with the object's strings, numbers, flags, choices and embedded objects; table_parse reads them back. Unset fields,
 * lists, maps and optional objects are left out. A new reference, or NULL when out of memory. */
json_t *table_write(const struct table *table, const void *object);

#endif
