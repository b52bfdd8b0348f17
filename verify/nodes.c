#include "verify/nodes.h"

#include <string.h>

/* Bytes of the node's name in "NODE:PORT", or all. */
static size_t node_length(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? (size_t)(colon - name) : strlen(name);
}

uint32_t nodes_of(const struct verify_context *c, uint32_t interface)
{
    const char *name = capture_read_interface(c->capture, interface)->name;
    size_t length = node_length(name);
    if (!length)
        return NODES_NONE;
    for (uint32_t i = 0; i < interface; i++) {
        const char *other = capture_read_interface(c->capture, i)->name;
        if (node_length(other) == length && memcmp(other, name, length) == 0)
            return i;
    }
    return interface;
}
