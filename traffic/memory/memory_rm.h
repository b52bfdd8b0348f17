/* Shared by the two routes over the resource manager's memory: rm-dmabuf and rm-peermem. */
#ifndef TRAFFIC_MEMORY_RM_H
#define TRAFFIC_MEMORY_RM_H

#include "traffic/memory/memory.h"
#include "traffic/memory/nvidia_rm.h"

/* The first member of a back end's state. */
struct rm_memory {
    struct rm rm;
    uint32_t object;
    uint64_t bytes; /* rounded up to the object's pages */
    char *view;     /* the CPU's mapping, created when first needed */
};

/* Video memory of whole 64 KiB pages. On failure nothing is left. */
int rm_memory_open(struct rm_memory *m, const struct memory *memory, const struct memory_request *request,
                   struct error *e);
int rm_memory_put(struct memory *memory, int64_t offset, const void *from, size_t bytes, struct error *e);
int rm_memory_get(struct memory *memory, int64_t offset, void *to, size_t bytes, struct error *e);
void rm_memory_close(struct rm_memory *m);

#endif
