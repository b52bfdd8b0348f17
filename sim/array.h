/* Arrays that start at a cache line. */
#ifndef SIM_ARRAY_H
#define SIM_ARRAY_H

#include <stddef.h>

#define CACHE_LINE 64

/* new_bytes of memory that begin with the old_bytes of `old` (which may be NULL), the rest zero; `old` is freed. NULL when memory
 * ran out: `old` is still there. Free it with free. */
void *array_grow(void *old, size_t old_bytes, size_t new_bytes);

#endif
