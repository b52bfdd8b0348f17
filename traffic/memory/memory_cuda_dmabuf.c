/* Route cuda-dmabuf: CUDA's own allocation, exported by CUDA as a dma-buf. Data-centre GPUs with the open kernel modules. */
#include "traffic/connection/explain.h"
#include "traffic/memory/memory_cuda.h"

#include <errno.h>

static int allocate(struct memory *memory, const struct memory_request *request, struct error *e)
{
    int supported = 0;
    if (cuda_memory_allocate(memory, request, e) != 0)
        return -1;
    struct cuda_memory *m = memory->state;
    if (m->cuda.range_handle)
        m->cuda.device_get_attribute(&supported, CUDA_ATTRIBUTE_DMA_BUF, m->cuda.device);
    if (!m->cuda.range_handle)
        error_set(e, "CUDA %d.%d has no cuMemGetHandleForAddressRange: it needs CUDA 11.7",
                  m->cuda.driver_version / 1000, m->cuda.driver_version % 1000 / 10);
    else if (!supported)
        error_set(e,
                  "CUDA reports that this GPU does not export dma-bufs (attribute DMA_BUF_SUPPORTED is 0): "
                  "GeForce, or closed "
                  "kernel modules");
    else if (cuda_check(&m->cuda,
                        m->cuda.range_handle(&m->fd, m->address, m->bytes, CUDA_RANGE_DMA_BUF_FD, 0),
                        "exporting a dma-buf with cuMemGetHandleForAddressRange", e) == 0)
        return 0;
    cuda_memory_release(memory);
    return -1;
}

static int enrol(struct memory *memory, struct ibv_pd *pd, int access, struct error *e)
{
    struct cuda_memory *m = memory->state;
    memory->mr = ibv_reg_dmabuf_mr(pd, 0, m->bytes, m->address, m->fd, access);
    memory->address = m->address;
    return memory->mr ? 0 : explain_registration(e, errno, memory, "ibv_reg_dmabuf_mr");
}

const struct memory_back_end memory_cuda_dmabuf = {
    .kind = MEMORY_CUDA_DMABUF,
    .name = "cuda-dmabuf",
    .gpu = true,
    .allocate = allocate,
    .enrol = enrol,
    .put = cuda_memory_put,
    .get = cuda_memory_get,
    .release = cuda_memory_release,
};
