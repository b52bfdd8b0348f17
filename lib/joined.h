/* Which of a number of nodes links have joined: disjoint sets (Galler and Fischer, 1964). */
#ifndef LIB_JOINED_H
#define LIB_JOINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `nodes` nodes, none joined to another. NULL: out of memory. The caller frees. */
uint32_t *joined_make(size_t nodes);
/* Is there a path between the two? */
bool joined_are(uint32_t *joined, uint32_t a, uint32_t b);
/* A link between the two. false: there was a path already. */
bool joined_link(uint32_t *joined, uint32_t a, uint32_t b);

#endif
