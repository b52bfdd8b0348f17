/* How much memory a program may take. */
#ifndef LIB_FREE_MEMORY_H
#define LIB_FREE_MEMORY_H

#include <stdint.h>

/* What this process and its children may take together, in bytes: what is free on the machine, in its control
 * group (version 2), and by the limit of its address space. UINT64_MAX: nothing tells. */
uint64_t free_memory_bytes(void);

#endif
