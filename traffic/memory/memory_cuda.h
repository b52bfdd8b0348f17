/* Shared by the two routes over cuMemAlloc: cuda-dmabuf and cuda-peermem. */
#ifndef TRAFFIC_MEMORY_CUDA_H
#define TRAFFIC_MEMORY_CUDA_H

#include "traffic/memory/cuda.h"
#include "traffic/memory/memory.h"

struct cuda_memory {
    struct cuda cuda;
    cuda_address address;
    size_t bytes;
    int fd; /* of the dma-buf, or -1 */
};

/* Memory of whole 2 MiB pages from cuMemAlloc, in memory->state. */
int cuda_memory_allocate(struct memory *memory, const struct memory_request *request, struct error *e);
int cuda_memory_put(struct memory *memory, int64_t offset, const void *from, size_t bytes, struct error *e);
int cuda_memory_get(struct memory *memory, int64_t offset, void *to, size_t bytes, struct error *e);
void cuda_memory_release(struct memory *memory);

#endif
