/* GPU memory of NVIDIA's resource manager, without CUDA: routes rm-dmabuf and rm-peermem. */
#include "traffic/connection/explain.h"
#include "traffic/memory/memory.h"
#include "traffic/memory/nvidia_rm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- memory that both routes register */

/* The first member of a back end's state. */
struct rm_memory {
    struct rm rm;
    uint32_t object;
    uint64_t bytes; /* rounded up to the object's pages */
    char *view;     /* the CPU's mapping, created when first needed */
};

/* Video memory of whole 64 KiB pages. On failure nothing is left. */
static int rm_memory_open(struct rm_memory *m, const struct memory *memory,
                          const struct memory_request *request, struct error *e)
{
    m->bytes = ((uint64_t)request->bytes + RM_P2P_ALIGN_BYTES - 1) / RM_P2P_ALIGN_BYTES * RM_P2P_ALIGN_BYTES;
    if (rm_open(&m->rm, memory->system->root, request->gpu, e) != 0)
        return -1;
    if (rm_allocate_memory(&m->rm, m->bytes, &m->object, e) == 0)
        return 0;
    rm_close(&m->rm);
    return -1;
}

/* The CPU accesses the memory object through BAR1. dma-bufs of this driver cannot be mapped (nv_dma_buf_mmap:
 * ENOTSUPP). */
static int need_view(struct rm_memory *m, struct error *e)
{
    if (!m->view)
        m->view = rm_map(&m->rm, m->object, m->bytes, e);
    return m->view ? 0 : -1;
}

static int rm_memory_put(struct memory *memory, int64_t offset, const void *from, size_t bytes,
                         struct error *e)
{
    struct rm_memory *m = memory->state;
    if (need_view(m, e) != 0)
        return -1;
    memcpy(m->view + offset, from, bytes);
    __sync_synchronize(); /* write-combined stores leave the CPU before the NIC is told to read */
    return 0;
}

static int rm_memory_get(struct memory *memory, int64_t offset, void *to, size_t bytes, struct error *e)
{
    struct rm_memory *m = memory->state;
    if (need_view(m, e) != 0)
        return -1;
    memcpy(to, m->view + offset, bytes);
    return 0;
}

static void rm_memory_close(struct rm_memory *m)
{
    if (m->view)
        munmap(m->view, m->bytes);
    m->view = NULL;
    rm_close(&m->rm);
}

/* ---- route rm-dmabuf */

/*
 * Route rm-dmabuf: video memory that the resource manager allocates and exports as a dma-buf, registered with
 * ibv_reg_dmabuf_mr. It needs no CUDA, no nvidia-peermem, no MLNX_OFED and no patch; the kernel side has no
 * brand check.
 */
/* Start address of the registration for work requests and the peer: any aligned number; not 0, because 0
 * would look like a missing value. */
#define IOVA (UINT64_C(1) << 30)

struct rm_dmabuf {
    struct rm_memory memory;
    int fd;
};

static void rm_dmabuf_release(struct memory *memory)
{
    struct rm_dmabuf *d = memory->state;
    if (d->fd >= 0)
        close(d->fd);
    rm_memory_close(&d->memory);
    free(d);
}

static int rm_dmabuf_allocate(struct memory *memory, const struct memory_request *request, struct error *e)
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
    rm_dmabuf_release(memory);
    return -1;
}

static int rm_dmabuf_enrol(struct memory *memory, struct ibv_pd *pd, int access, struct error *e)
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
    .allocate = rm_dmabuf_allocate,
    .enrol = rm_dmabuf_enrol,
    .put = rm_memory_put,
    .get = rm_memory_get,
    .release = rm_dmabuf_release,
};

/* ---- route rm-peermem */

/*
 * Route rm-peermem: the resource manager's memory, registered through nvidia-peermem without CUDA. peermem
 * finds memory by the process and by an address that was registered with a third-party P2P object. The kernel
 * requires neither CUDA's client nor a GPU mapping at that address. Therefore this process reserves the
 * address: nothing else of the process can be there, and the NIC driver's attempt to pin it fails, which is
 * required before the NIC driver calls peermem.
 */
struct rm_peermem {
    struct rm_memory memory;
    struct p2p p2p;
    char *reserved; /* of reserved_bytes; contains an aligned range of the memory's size */
    size_t reserved_bytes;
};

static uint64_t address_of(const struct rm_peermem *p)
{
    return ((uint64_t)(uintptr_t)p->reserved + RM_P2P_ALIGN_BYTES - 1) / RM_P2P_ALIGN_BYTES *
           RM_P2P_ALIGN_BYTES;
}

static void rm_peermem_release(struct memory *memory)
{
    struct rm_peermem *p = memory->state;
    p2p_release(&p->p2p);
    rm_memory_close(&p->memory);
    if (p->reserved)
        munmap(p->reserved, p->reserved_bytes);
    free(p);
}

static int rm_peermem_reserve(struct rm_peermem *p, struct error *e)
{
    p->reserved_bytes = p->memory.bytes + RM_P2P_ALIGN_BYTES;
    void *at = mmap(NULL, p->reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return error_set_errno(e, errno, "reserving %zu bytes of addresses", p->reserved_bytes);
    p->reserved = at;
    return 0;
}

static int rm_peermem_allocate(struct memory *memory, const struct memory_request *request, struct error *e)
{
    struct rm_peermem *p = calloc(1, sizeof *p);
    uint32_t va_space;
    if (!p)
        return error_set(e, "out of memory");
    if (rm_memory_open(&p->memory, memory, request, e) != 0) {
        free(p);
        return -1;
    }
    const struct rm *rm = &p->memory.rm;
    p->p2p = (struct p2p){.fd = rm->control_fd, .client = rm->client, .subdevice = rm->subdevice};
    memory->state = p;
    if (rm_peermem_reserve(p, e) == 0 && rm_allocate_va_space(rm, &va_space, e) == 0 &&
        p2p_make(&p->p2p, va_space, e) == 0 &&
        p2p_register(&p->p2p, p->memory.object, address_of(p), p->memory.bytes, e) == 0)
        return 0;
    rm_peermem_release(memory);
    return -1;
}

static int rm_peermem_enrol(struct memory *memory, struct ibv_pd *pd, int access, struct error *e)
{
    struct rm_peermem *p = memory->state;
    memory->address = address_of(p);
    memory->mr = ibv_reg_mr(pd, (void *)(uintptr_t)memory->address, p->memory.bytes, (unsigned)access);
    return memory->mr ? 0 : explain_registration(e, errno, memory, "ibv_reg_mr");
}

const struct memory_back_end memory_rm_peermem = {
    .kind = MEMORY_RM_PEERMEM,
    .name = "rm-peermem",
    .gpu = true,
    .allocate = rm_peermem_allocate,
    .enrol = rm_peermem_enrol,
    .put = rm_memory_put,
    .get = rm_memory_get,
    .release = rm_peermem_release,
};
