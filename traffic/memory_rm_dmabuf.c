/*
 * Route rm-dmabuf: video memory taken and exported as a dma-buf by the resource manager itself, registered with
 * ibv_reg_dmabuf_mr. Needs no CUDA, no nvidia-peermem, no MLNX_OFED and no patch; the kernel side has no brand check.
 */
#include "traffic/explain.h"
#include "traffic/memory.h"
#include "traffic/nvidia_rm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Where the registration begins for work requests and the peer: any aligned number but 0, which would look forgotten. */
#define IOVA (UINT64_C(1) << 30)

struct rm_dmabuf {
    struct rm rm;
    uint32_t object;
    uint64_t bytes; /* rounded up to the pages the object is made of */
    int fd;
    char *view; /* the CPU's, made when first needed */
};

static void release(struct memory *memory)
{
    struct rm_dmabuf *d = memory->state;
    if (d->view)
        munmap(d->view, d->bytes);
    if (d->fd >= 0)
        close(d->fd);
    rm_close(&d->rm);
    free(d);
}

static int allocate(struct memory *memory, const struct memory_request *request, struct error *e)
{
    struct rm_dmabuf *d = calloc(1, sizeof *d);
    if (!d)
        return error_set(e, "out of memory");
    d->fd = -1;
    d->bytes = ((uint64_t)request->bytes + RM_P2P_ALIGN_BYTES - 1) / RM_P2P_ALIGN_BYTES * RM_P2P_ALIGN_BYTES;
    if (rm_open(&d->rm, memory->system->root, request->gpu, e) != 0) {
        free(d);
        return -1;
    }
    memory->state = d;
    if (rm_allocate_memory(&d->rm, d->bytes, &d->object, e) == 0)
        d->fd = rm_export_dmabuf(&d->rm, d->object, d->bytes, e);
    if (d->fd >= 0)
        return 0;
    release(memory);
    return -1;
}

static int enrol(struct memory *memory, struct ibv_pd *pd, int access, struct error *e)
{
    struct rm_dmabuf *d = memory->state;
    memory->mr = ibv_reg_dmabuf_mr(pd, 0, d->bytes, IOVA, d->fd, access);
    memory->address = IOVA;
    return memory->mr ? 0 : explain_registration(e, errno, memory, "ibv_reg_dmabuf_mr");
}

/* dma-bufs of this driver cannot be mapped by the CPU (nv_dma_buf_mmap answers ENOTSUPP): the memory object can. */
static int need_view(struct rm_dmabuf *d, struct error *e)
{
    if (!d->view)
        d->view = rm_map(&d->rm, d->object, d->bytes, e);
    return d->view ? 0 : -1;
}

static int put(struct memory *memory, int64_t offset, const void *from, size_t bytes, struct error *e)
{
    struct rm_dmabuf *d = memory->state;
    if (need_view(d, e) != 0)
        return -1;
    memcpy(d->view + offset, from, bytes);
    __sync_synchronize(); /* write-combined stores leave the CPU before the NIC is told to read */
    return 0;
}

static int get(struct memory *memory, int64_t offset, void *to, size_t bytes, struct error *e)
{
    struct rm_dmabuf *d = memory->state;
    if (need_view(d, e) != 0)
        return -1;
    memcpy(to, d->view + offset, bytes);
    return 0;
}

const struct memory_back_end memory_rm_dmabuf = {
    .kind = MEMORY_RM_DMABUF,
    .name = "rm-dmabuf",
    .gpu = true,
    .allocate = allocate,
    .enrol = enrol,
    .put = put,
    .get = get,
    .release = release,
};
