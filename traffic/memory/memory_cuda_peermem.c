/* Route cuda-peermem: ibv_reg_mr on a CUDA pointer, which nvidia-peermem resolves in the kernel. Data-centre GPUs. */
#include "traffic/connection/explain.h"
#include "traffic/memory/memory_cuda.h"

#include <errno.h>

static int enrol(struct memory *memory, struct ibv_pd *pd, int access, struct error *e)
{
    struct cuda_memory *m = memory->state;
    memory->mr = ibv_reg_mr(pd, (void *)(uintptr_t)m->address, m->bytes, (unsigned)access);
    memory->address = m->address;
    return memory->mr ? 0 : explain_registration(e, errno, memory, "ibv_reg_mr");
}

const struct memory_back_end memory_cuda_peermem = {
    .kind = MEMORY_CUDA_PEERMEM,
    .name = "cuda-peermem",
    .gpu = true,
    .allocate = cuda_memory_allocate,
    .enrol = enrol,
    .put = cuda_memory_put,
    .get = cuda_memory_get,
    .release = cuda_memory_release,
};
