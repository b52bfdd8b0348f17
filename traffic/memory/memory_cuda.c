#include "traffic/memory/memory_cuda.h"

#include <stdlib.h>
#include <unistd.h>

/* cuMemAlloc puts allocations of whole pages into separate pages; thus no other data is exported with them. */
#define CUDA_PAGE_BYTES ((size_t)2 << 20)

int cuda_memory_allocate(struct memory *memory, const struct memory_request *request, struct error *e)
{
    struct cuda_memory *m = calloc(1, sizeof *m);
    if (!m)
        return error_set(e, "out of memory");
    m->fd = -1;
    m->bytes = ((size_t)request->bytes + CUDA_PAGE_BYTES - 1) / CUDA_PAGE_BYTES * CUDA_PAGE_BYTES;
    if (cuda_open(&m->cuda, memory->system->libcuda, request->gpu, e) != 0) {
        free(m);
        return -1;
    }
    memory->state = m;
    int sync = 1; /* the NIC's accesses and cuMemcpy must be ordered: GPUDirect RDMA guide, synchronization */
    if (cuda_check(&m->cuda, m->cuda.memory_allocate(&m->address, m->bytes),
                   "allocating GPU memory with cuMemAlloc", e) == 0 &&
        cuda_check(&m->cuda, m->cuda.pointer_set_attribute(&sync, CUDA_POINTER_SYNC_MEMOPS, m->address),
                   "setting SYNC_MEMOPS", e) == 0)
        return 0;
    cuda_memory_release(memory);
    return -1;
}

int cuda_memory_put(struct memory *memory, int64_t offset, const void *from, size_t bytes, struct error *e)
{
    struct cuda_memory *m = memory->state;
    return cuda_put(&m->cuda, m->address + (uint64_t)offset, from, bytes, e);
}

int cuda_memory_get(struct memory *memory, int64_t offset, void *to, size_t bytes, struct error *e)
{
    struct cuda_memory *m = memory->state;
    return cuda_get(&m->cuda, to, m->address + (uint64_t)offset, bytes, e);
}

void cuda_memory_release(struct memory *memory)
{
    struct cuda_memory *m = memory->state;
    if (m->fd >= 0)
        close(m->fd);
    m->cuda.context_set(m->cuda.context);
    if (m->address)
        m->cuda.memory_free(m->address);
    cuda_close(&m->cuda);
    free(m);
}
