/*
 * Route cuda-nv503c: as cuda-peermem, for GPUs whose CUDA creates no third-party P2P object (class 0x503C) - GeForce. The program
 * creates that object under CUDA's client and registers CUDA's address space and memory with it; then nvidia-peermem finds them. If
 * CUDA has such an object (data-centre GPUs: cuInit creates it), the memory is registered with that one, because a subdevice can
 * have only one. Handles are seen through the ioctl hook (nvidia_hook.h).
 *
 * Memory comes from cuMemCreate, because its single allocation in the resource manager can be identified. The flag
 * gpuDirectRDMACapable stays unset (GeForce refuses it), and SYNC_MEMOPS is not set (it fails on mapped memory there).
 */
#include "lib/log.h"
#include "traffic/memory/cuda.h"
#include "traffic/connection/explain.h"
#include "traffic/memory/memory.h"
#include "traffic/memory/nvidia_hook.h"
#include "traffic/memory/third_party_p2p.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct nv503c {
    struct cuda cuda;
    cuda_allocation allocation;
    cuda_address address;
    size_t bytes;
    bool mapped;
    struct hook_object memory, subdevice, va_space;
    struct p2p p2p;
    bool registered;
};

/* ---- CUDA's objects */

/* The last object of a class with this client and parent. */
static bool find_object(const struct hook_object *objects, size_t count, uint32_t class, uint32_t client,
                        uint32_t parent, struct hook_object *found)
{
    for (size_t i = count; i-- > 0;) {
        if (objects[i].class == class && (!client || objects[i].client == client) &&
            (!parent || objects[i].parent == parent)) {
            *found = objects[i];
            return true;
        }
    }
    return false;
}

/* The first object of a class with this client and parent. CUDA creates two address spaces under a device. The first, which
 * nvidia-uvm manages, is the one that CUDA registers if it creates the P2P object (seen with driver 580.159.04 on an H200). */
static bool find_va_space(const struct hook_object *objects, size_t count, struct nv503c *n)
{
    for (size_t i = 0; i < count; i++)
        if (find_object(objects + i, 1, RM_CLASS_VASPACE, n->memory.client, n->memory.parent, &n->va_space))
            return true;
    return false;
}

/* The newest memory object is that of cuMemCreate; it identifies CUDA's client and device. */
static int find_handles(struct nv503c *n, const struct hook_object *objects, size_t before, size_t count,
                        struct error *e)
{
    struct hook_object cudas;
    if (before == 0)
        return error_set(
            e,
            "CUDA's calls to the driver were not intercepted: the program must export its ioctl (-rdynamic)");
    if (!find_object(objects + before, count - before, RM_CLASS_LOCAL_MEMORY, 0, 0, &n->memory))
        return error_set(e, "cuMemCreate created no object of class 0x%X (%zu others)", RM_CLASS_LOCAL_MEMORY,
                         count - before);
    if (!find_object(objects, count, RM_CLASS_SUBDEVICE, n->memory.client, n->memory.parent, &n->subdevice))
        return error_set(e, "no subdevice was found under the memory's device");
    if (!find_va_space(objects, count, n))
        return error_set(e, "no address space was found under the memory's device");
    n->p2p = (struct p2p){
        .fd = n->memory.fd, .client = n->memory.client, .subdevice = n->subdevice.object, .own = false};
    if (find_object(objects, count, RM_CLASS_THIRD_PARTY_P2P, n->memory.client, n->subdevice.object, &cudas))
        n->p2p.object = cudas.object;
    return 0;
}

/* ---- creating the memory */

static int map_memory(struct nv503c *n, struct error *e)
{
    struct cuda_access access = {CUDA_LOCATION_DEVICE, n->cuda.device, CUDA_ACCESS_READ_WRITE};
    if (cuda_check(&n->cuda, n->cuda.reserve(&n->address, n->bytes, RM_P2P_ALIGN_BYTES, 0, 0),
                   "reserving GPU addresses", e) != 0 ||
        cuda_check(&n->cuda, n->cuda.map(n->address, n->bytes, 0, n->allocation, 0), "mapping GPU memory",
                   e) != 0)
        return -1;
    n->mapped = true;
    return cuda_check(&n->cuda, n->cuda.set_access(n->address, n->bytes, &access, 1),
                      "setting access to GPU memory", e);
}

static int create_memory(struct nv503c *n, int64_t bytes, struct error *e)
{
    struct cuda_allocation_properties properties = {
        .type = CUDA_ALLOCATION_PINNED, .location_type = CUDA_LOCATION_DEVICE, .location = n->cuda.device};
    size_t page = 0;
    if (!n->cuda.create || !n->cuda.granularity || !n->cuda.reserve || !n->cuda.map || !n->cuda.set_access ||
        !n->cuda.unmap || !n->cuda.unreserve || !n->cuda.destroy)
        return error_set(e, "this CUDA driver has no cuMemCreate: it needs CUDA 10.2");
    if (cuda_check(&n->cuda, n->cuda.granularity(&page, &properties, CUDA_GRANULARITY_MINIMUM),
                   "reading the page size of GPU memory", e) != 0)
        return -1;
    if (page == 0 || page % RM_P2P_ALIGN_BYTES)
        return error_set(e, "GPU memory has pages of %zu bytes: expected a multiple of 64 KiB", page);
    n->bytes = ((size_t)bytes + page - 1) / page * page;
    return cuda_check(&n->cuda, n->cuda.create(&n->allocation, n->bytes, &properties, 0),
                      "allocating GPU memory with cuMemCreate", e);
}

static int join_p2p(struct nv503c *n, struct error *e)
{
    if (n->p2p.object)
        log_info(
            "CUDA has its own third-party P2P object on this GPU: the memory is registered with that one");
    else if (p2p_make(&n->p2p, n->va_space.object, e) != 0)
        return -1;
    n->registered = p2p_register(&n->p2p, n->memory.object, n->address, n->bytes, e) == 0;
    return n->registered ? 0 : -1;
}

/* ---- the back end */

static void release(struct memory *memory)
{
    struct nv503c *n = memory->state;
    if (n->registered)
        p2p_unregister(&n->p2p, n->memory.object);
    p2p_release(&n->p2p);
    if (n->cuda.context)
        n->cuda.context_set(n->cuda.context);
    if (n->mapped)
        n->cuda.unmap(n->address, n->bytes);
    if (n->address)
        n->cuda.unreserve(n->address, n->bytes);
    if (n->allocation)
        n->cuda.destroy(n->allocation);
    cuda_close(&n->cuda);
    free(n);
}

/* Everything up to the registered memory, with the hook armed. */
static int make(struct nv503c *n, const struct memory *memory, const struct memory_request *request,
                struct hook_object *objects, struct error *e)
{
    if (cuda_open(&n->cuda, memory->system->libcuda, request->gpu, e) != 0)
        return -1;
    size_t before = hook_objects(objects, HOOK_MAX_OBJECTS);
    if (create_memory(n, request->bytes, e) != 0 ||
        find_handles(n, objects, before, hook_objects(objects, HOOK_MAX_OBJECTS), e) != 0 ||
        map_memory(n, e) != 0)
        return -1;
    return join_p2p(n, e);
}

static int allocate(struct memory *memory, const struct memory_request *request, struct error *e)
{
    const struct rm_family *family;
    char version[32];
    /* The structures used here are the same in all known families; nevertheless an unknown driver is refused. */
    if (rm_identify(memory->system->root, version, sizeof version, &family, e) != 0)
        return -1;
    struct nv503c *n = calloc(1, sizeof *n);
    struct hook_object *objects = calloc(HOOK_MAX_OBJECTS, sizeof *objects);
    memory->state = n;
    int result = n && objects ? make(n, memory, request, objects, e) : error_set(e, "out of memory");
    free(objects);
    if (result != 0 && n)
        release(memory);
    return result;
}

static int enrol(struct memory *memory, struct ibv_pd *pd, int access, struct error *e)
{
    struct nv503c *n = memory->state;
    memory->mr = ibv_reg_mr(pd, (void *)(uintptr_t)n->address, n->bytes, (unsigned)access);
    memory->address = n->address;
    return memory->mr ? 0 : explain_registration(e, errno, memory, "ibv_reg_mr");
}

static int put(struct memory *memory, int64_t offset, const void *from, size_t bytes, struct error *e)
{
    struct nv503c *n = memory->state;
    return cuda_put(&n->cuda, n->address + (uint64_t)offset, from, bytes, e);
}

static int get(struct memory *memory, int64_t offset, void *to, size_t bytes, struct error *e)
{
    struct nv503c *n = memory->state;
    return cuda_get(&n->cuda, to, n->address + (uint64_t)offset, bytes, e);
}

const struct memory_back_end memory_cuda_nv503c = {
    .kind = MEMORY_CUDA_NV503C,
    .name = "cuda-nv503c",
    .gpu = true,
    .allocate = allocate,
    .enrol = enrol,
    .put = put,
    .get = get,
    .release = release,
};
