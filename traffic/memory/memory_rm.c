#include "traffic/memory/memory_rm.h"

#include <string.h>
#include <sys/mman.h>

int rm_memory_open(struct rm_memory *m, const struct memory *memory, const struct memory_request *request,
                   struct error *e)
{
    m->bytes = ((uint64_t)request->bytes + RM_P2P_ALIGN_BYTES - 1) / RM_P2P_ALIGN_BYTES * RM_P2P_ALIGN_BYTES;
    if (rm_open(&m->rm, memory->system->root, request->gpu, e) != 0)
        return -1;
    if (rm_allocate_memory(&m->rm, m->bytes, &m->object, e) == 0)
        return 0;
    rm_close(&m->rm);
    return -1;
}

/* The CPU accesses the memory object through BAR1. dma-bufs of this driver cannot be mapped (nv_dma_buf_mmap: ENOTSUPP). */
static int need_view(struct rm_memory *m, struct error *e)
{
    if (!m->view)
        m->view = rm_map(&m->rm, m->object, m->bytes, e);
    return m->view ? 0 : -1;
}

int rm_memory_put(struct memory *memory, int64_t offset, const void *from, size_t bytes, struct error *e)
{
    struct rm_memory *m = memory->state;
    if (need_view(m, e) != 0)
        return -1;
    memcpy(m->view + offset, from, bytes);
    __sync_synchronize(); /* write-combined stores leave the CPU before the NIC is told to read */
    return 0;
}

int rm_memory_get(struct memory *memory, int64_t offset, void *to, size_t bytes, struct error *e)
{
    struct rm_memory *m = memory->state;
    if (need_view(m, e) != 0)
        return -1;
    memcpy(to, m->view + offset, bytes);
    return 0;
}

void rm_memory_close(struct rm_memory *m)
{
    if (m->view)
        munmap(m->view, m->bytes);
    m->view = NULL;
    rm_close(&m->rm);
}
