/*
 * Route rm-peermem: the resource manager's memory, registered through nvidia-peermem without CUDA. peermem finds memory by the
 * process and by an address that was registered with a third-party P2P object. The kernel requires neither CUDA's client nor a GPU
 * mapping at that address. Therefore this process reserves the address: nothing else of the process can be there, and the NIC
 * driver's attempt to pin it fails, which is required before the NIC driver calls peermem.
 */
#include "traffic/connection/explain.h"
#include "traffic/memory/memory_rm.h"
#include "traffic/memory/third_party_p2p.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

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

static void release(struct memory *memory)
{
    struct rm_peermem *p = memory->state;
    p2p_release(&p->p2p);
    rm_memory_close(&p->memory);
    if (p->reserved)
        munmap(p->reserved, p->reserved_bytes);
    free(p);
}

static int reserve(struct rm_peermem *p, struct error *e)
{
    p->reserved_bytes = p->memory.bytes + RM_P2P_ALIGN_BYTES;
    void *at = mmap(NULL, p->reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return error_set_errno(e, errno, "reserving %zu bytes of addresses", p->reserved_bytes);
    p->reserved = at;
    return 0;
}

static int allocate(struct memory *memory, const struct memory_request *request, struct error *e)
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
    if (reserve(p, e) == 0 && rm_allocate_va_space(rm, &va_space, e) == 0 &&
        p2p_make(&p->p2p, va_space, e) == 0 &&
        p2p_register(&p->p2p, p->memory.object, address_of(p), p->memory.bytes, e) == 0)
        return 0;
    release(memory);
    return -1;
}

static int enrol(struct memory *memory, struct ibv_pd *pd, int access, struct error *e)
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
    .allocate = allocate,
    .enrol = enrol,
    .put = rm_memory_put,
    .get = rm_memory_get,
    .release = release,
};
