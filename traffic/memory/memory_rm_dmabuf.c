/*
 * Route rm-dmabuf: video memory that the resource manager allocates and exports as a dma-buf, registered with ibv_reg_dmabuf_mr. It
 * needs no CUDA, no nvidia-peermem, no MLNX_OFED and no patch; the kernel side has no brand check.
 */
#include "traffic/connection/explain.h"
#include "traffic/memory/memory_rm.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Start address of the registration for work requests and the peer: any aligned number; not 0, because 0 would look like a missing
 * value. */
#define IOVA (UINT64_C(1) << 30)

struct rm_dmabuf {
    struct rm_memory memory;
    int fd;
};

static void release(struct memory *memory)
{
    struct rm_dmabuf *d = memory->state;
    if (d->fd >= 0)
        close(d->fd);
    rm_memory_close(&d->memory);
    free(d);
}

static int allocate(struct memory *memory, const struct memory_request *request, struct error *e)
{
    struct rm_dmabuf *d = calloc(1, sizeof *d);
    if (!d)
        return error_set(e, "out of memory");
    if (rm_memory_open(&d->memory, memory, request, e) != 0) {
        free(d);
        return -1;
    }
    memory->state = d;
    d->fd = rm_export_dmabuf(&d->memory.rm, d->memory.object, d->memory.bytes, e);
    if (d->fd >= 0)
        return 0;
    release(memory);
    return -1;
}

static int enrol(struct memory *memory, struct ibv_pd *pd, int access, struct error *e)
{
    struct rm_dmabuf *d = memory->state;
    memory->mr = ibv_reg_dmabuf_mr(pd, 0, d->memory.bytes, IOVA, d->fd, access);
    memory->address = IOVA;
    return memory->mr ? 0 : explain_registration(e, errno, memory, "ibv_reg_dmabuf_mr");
}

const struct memory_back_end memory_rm_dmabuf = {
    .kind = MEMORY_RM_DMABUF,
    .name = "rm-dmabuf",
    .gpu = true,
    .allocate = allocate,
    .enrol = enrol,
    .put = rm_memory_put,
    .get = rm_memory_get,
    .release = release,
};
