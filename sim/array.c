#include "sim/array.h"
#include <stdlib.h>
#include <string.h>

void *array_grow(void *old, size_t old_bytes, size_t new_bytes)
{
    size_t whole = (new_bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    char *array = aligned_alloc(CACHE_LINE, whole ? whole : CACHE_LINE);
    if (!array)
        return NULL;
    if (old_bytes)
        memcpy(array, old, old_bytes);
    memset(array + old_bytes, 0, whole - old_bytes);
    free(old);
    return array;
}
