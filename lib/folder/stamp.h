/* Results are in folders that are called by when they were begun: 20260301T120000Z, and in the same second
 * 20260301T120000Z-2. */
#ifndef LIB_STAMP_H
#define LIB_STAMP_H

#include <stdbool.h>

#define STAMP_LENGTH 16 /* of the time */

/* Does the text begin with a time? */
bool stamp_begins(const char *text);
/* Is it the whole name of such a folder? */
bool stamp_is_name(const char *name);

#endif
