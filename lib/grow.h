/* Lists that grow item by item, where memory may run out. */
#ifndef LIB_GROW_H
#define LIB_GROW_H

#include <stddef.h>
#include <stdlib.h>

/* Room for one more item behind `count`, in powers of two. NULL: out of memory, and `items` stays. */
static inline void *grow_by_one(void *items, size_t count, size_t item_bytes)
{
    return count & (count - 1) ? items : realloc(items, (count ? 2 * count : 1) * item_bytes);
}

#endif
