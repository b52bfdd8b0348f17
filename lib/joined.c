#include "lib/joined.h"

#include <stdlib.h>

uint32_t *joined_make(size_t nodes)
{
    uint32_t *joined = calloc(nodes + 1, sizeof *joined);
    for (size_t i = 0; joined && i < nodes; i++)
        joined[i] = (uint32_t)i;
    return joined;
}

static uint32_t root_of(uint32_t *joined, uint32_t node)
{
    while (joined[node] != node) {
        joined[node] = joined[joined[node]];
        node = joined[node];
    }
    return node;
}

bool joined_are(uint32_t *joined, uint32_t a, uint32_t b)
{
    return root_of(joined, a) == root_of(joined, b);
}

bool joined_link(uint32_t *joined, uint32_t a, uint32_t b)
{
    uint32_t from = root_of(joined, a), to = root_of(joined, b);
    joined[from] = to;
    return from != to;
}
