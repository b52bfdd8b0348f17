/* GPU memory of CUDA: the part of its driver interface that this needs, and routes cuda-dmabuf, cuda-peermem
 * and cuda-nv503c. */
#include "lib/error.h"
#include "lib/log.h"
#include "traffic/connection/explain.h"
#include "traffic/memory/memory.h"
#include "traffic/memory/nvidia_hook.h"
#include "traffic/memory/nvidia_rm.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the driver interface */

/*
 * The part of the CUDA driver interface that GPU memory needs, opened at run time: no NVIDIA package is
 * needed to build. Types and numbers are those of the driver's stable binary interface (cuda.h of CUDA 11.7
 * on).
 */
typedef int cuda_result;
typedef int cuda_device;
typedef uint64_t cuda_address;
typedef uint64_t cuda_allocation;

enum {
    CUDA_ATTRIBUTE_GPU_DIRECT_RDMA = 116,
    CUDA_ATTRIBUTE_DMA_BUF = 124,
    CUDA_POINTER_SYNC_MEMOPS = 6,
    CUDA_RANGE_DMA_BUF_FD = 1,
    CUDA_ALLOCATION_PINNED = 1,
    CUDA_LOCATION_DEVICE = 1,
    CUDA_ACCESS_READ_WRITE = 3,
    CUDA_GRANULARITY_MINIMUM = 0,
};

struct cuda_allocation_properties { /* CUmemAllocationProp */
    int type, handle_types, location_type, location;
    void *win32;
    uint8_t compression, gpu_direct_rdma_capable;
    uint16_t usage;
    uint8_t reserved[4];
};

struct cuda_access { /* CUmemAccessDesc */
    int location_type, location, flags;
};

struct cuda {
    void *handle;
    void *context;
    cuda_device device;
    int driver_version; /* 12080: CUDA 12.8 */
    cuda_result (*init)(unsigned);
    cuda_result (*driver_get_version)(int *);
    cuda_result (*device_get)(cuda_device *, int);
    cuda_result (*device_get_by_pci)(cuda_device *, const char *);
    cuda_result (*device_get_attribute)(int *, int, cuda_device);
    cuda_result (*device_get_name)(char *, int, cuda_device);
    cuda_result (*context_retain)(void **, cuda_device);
    cuda_result (*context_release)(cuda_device);
    cuda_result (*context_set)(void *);
    cuda_result (*memory_allocate)(cuda_address *, size_t);
    cuda_result (*memory_free)(cuda_address);
    cuda_result (*copy_to_device)(cuda_address, const void *, size_t);
    cuda_result (*copy_to_host)(void *, cuda_address, size_t);
    cuda_result (*pointer_set_attribute)(const void *, int, cuda_address);
    cuda_result (*get_error_name)(cuda_result, const char **);
    cuda_result (*get_error_text)(cuda_result, const char **);
    /* newer functions: NULL if the driver lacks them */
    cuda_result (*range_handle)(void *, cuda_address, size_t, int, unsigned long long);
    cuda_result (*granularity)(size_t *, const struct cuda_allocation_properties *, int);
    cuda_result (*create)(cuda_allocation *, size_t, const struct cuda_allocation_properties *,
                          unsigned long long);
    cuda_result (*destroy)(cuda_allocation);
    cuda_result (*reserve)(cuda_address *, size_t, size_t, cuda_address, unsigned long long);
    cuda_result (*unreserve)(cuda_address, size_t);
    cuda_result (*map)(cuda_address, size_t, size_t, cuda_allocation, unsigned long long);
    cuda_result (*unmap)(cuda_address, size_t);
    cuda_result (*set_access)(cuda_address, size_t, const struct cuda_access *, size_t);
};

_Static_assert(sizeof(struct cuda_allocation_properties) == 32, "CUmemAllocationProp");
_Static_assert(offsetof(struct cuda_allocation_properties, win32) == 16,
               "CUmemAllocationProp.win32HandleMetaData");
_Static_assert(offsetof(struct cuda_allocation_properties, gpu_direct_rdma_capable) == 25,
               "CUmemAllocationProp.allocFlags.gpuDirectRDMACapable");
_Static_assert(sizeof(struct cuda_access) == 12, "CUmemAccessDesc");

static const struct {
    const char *name;
    size_t offset;
    bool optional;
} symbols[] = {
    {"cuInit", offsetof(struct cuda, init), false},
    {"cuDriverGetVersion", offsetof(struct cuda, driver_get_version), false},
    {"cuDeviceGet", offsetof(struct cuda, device_get), false},
    {"cuDeviceGetByPCIBusId", offsetof(struct cuda, device_get_by_pci), false},
    {"cuDeviceGetAttribute", offsetof(struct cuda, device_get_attribute), false},
    {"cuDeviceGetName", offsetof(struct cuda, device_get_name), false},
    {"cuDevicePrimaryCtxRetain", offsetof(struct cuda, context_retain), false},
    {"cuDevicePrimaryCtxRelease_v2", offsetof(struct cuda, context_release), false},
    {"cuCtxSetCurrent", offsetof(struct cuda, context_set), false},
    {"cuMemAlloc_v2", offsetof(struct cuda, memory_allocate), false},
    {"cuMemFree_v2", offsetof(struct cuda, memory_free), false},
    {"cuMemcpyHtoD_v2", offsetof(struct cuda, copy_to_device), false},
    {"cuMemcpyDtoH_v2", offsetof(struct cuda, copy_to_host), false},
    {"cuPointerSetAttribute", offsetof(struct cuda, pointer_set_attribute), false},
    {"cuGetErrorName", offsetof(struct cuda, get_error_name), false},
    {"cuGetErrorString", offsetof(struct cuda, get_error_text), false},
    {"cuMemGetHandleForAddressRange", offsetof(struct cuda, range_handle), true},
    {"cuMemGetAllocationGranularity", offsetof(struct cuda, granularity), true},
    {"cuMemCreate", offsetof(struct cuda, create), true},
    {"cuMemRelease", offsetof(struct cuda, destroy), true},
    {"cuMemAddressReserve", offsetof(struct cuda, reserve), true},
    {"cuMemAddressFree", offsetof(struct cuda, unreserve), true},
    {"cuMemMap", offsetof(struct cuda, map), true},
    {"cuMemUnmap", offsetof(struct cuda, unmap), true},
    {"cuMemSetAccess", offsetof(struct cuda, set_access), true},
};

static int load_symbols(struct cuda *cuda, const char *library, struct error *e)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(cuda->handle, symbols[i].name);
        if (!symbol && !symbols[i].optional) {
            error_set(e, "%s has no %s: is it the CUDA driver's library?", library, symbols[i].name);
            return -1;
        }
        memcpy((char *)cuda + symbols[i].offset, &symbol, sizeof symbol);
    }
    return 0;
}

/* 0 on success, else -1 with "what: CUDA_ERROR_NAME (number, text)". */
static int cuda_check(const struct cuda *cuda, cuda_result result, const char *what, struct error *e)
{
    const char *name = NULL, *text = NULL;
    if (result == 0)
        return 0;
    cuda->get_error_name(result, &name);
    cuda->get_error_text(result, &text);
    return error_set(e, "%s: %s (%d, %s)", what, name ? name : "unknown error", result,
                     text ? text : "no text");
}

static int find_device(struct cuda *cuda, const char *gpu, struct error *e)
{
    bool number = !gpu || strspn(gpu, "0123456789") == strlen(gpu);
    cuda_result result = number ? cuda->device_get(&cuda->device, gpu ? atoi(gpu) : 0)
                                : cuda->device_get_by_pci(&cuda->device, gpu);
    return cuda_check(cuda, result, "finding the GPU with CUDA", e);
}

static void cuda_close(struct cuda *cuda)
{
    if (cuda->context)
        cuda->context_release(cuda->device);
    if (cuda->handle)
        dlclose(cuda->handle);
    *cuda = (struct cuda){0};
}

/* Open the library and retain the primary context of GPU `gpu` ("0", a PCI address, NULL: the first). */
static int cuda_open(struct cuda *cuda, const char *library, const char *gpu, struct error *e)
{
    setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID",
           0); /* GPU 1 must be the same GPU for CUDA, NVML and /dev/nvidia1 */
    *cuda = (struct cuda){.handle = dlopen(library, RTLD_NOW | RTLD_LOCAL)};
    if (!cuda->handle)
        return error_set(e, "no CUDA driver: %s", dlerror());
    if (load_symbols(cuda, library, e) != 0 || cuda_check(cuda, cuda->init(0), "starting CUDA", e) != 0 ||
        cuda_check(cuda, cuda->driver_get_version(&cuda->driver_version), "reading CUDA's version", e) != 0 ||
        find_device(cuda, gpu, e) != 0 ||
        cuda_check(cuda, cuda->context_retain(&cuda->context, cuda->device), "creating a CUDA context", e) !=
            0 ||
        cuda_check(cuda, cuda->context_set(cuda->context), "selecting the CUDA context", e) != 0) {
        cuda_close(cuda);
        return -1;
    }
    return 0;
}

/* Copy between CPU and GPU; this sets the context of the calling thread. */
static int cuda_put(struct cuda *cuda, cuda_address to, const void *from, size_t bytes, struct error *e)
{
    cuda->context_set(cuda->context);
    return cuda_check(cuda, cuda->copy_to_device(to, from, bytes), "copying to the GPU", e);
}

static int cuda_get(struct cuda *cuda, void *to, cuda_address from, size_t bytes, struct error *e)
{
    cuda->context_set(cuda->context);
    return cuda_check(cuda, cuda->copy_to_host(to, from, bytes), "copying from the GPU", e);
}

/* ---- memory from cuMemAlloc, for routes cuda-dmabuf and cuda-peermem */

struct cuda_memory {
    struct cuda cuda;
    cuda_address address;
    size_t bytes;
    int fd; /* of the dma-buf, or -1 */
};

/* cuMemAlloc puts allocations of whole pages into separate pages; thus no other data is exported with
 * them. */
#define CUDA_PAGE_BYTES ((size_t)2 << 20)

static void cuda_memory_release(struct memory *memory)
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

/* Memory of whole 2 MiB pages from cuMemAlloc, in memory->state. */
static int cuda_memory_allocate(struct memory *memory, const struct memory_request *request, struct error *e)
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
    /* load_symbols has filled every call. NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
    if (cuda_check(&m->cuda, m->cuda.memory_allocate(&m->address, m->bytes),
                   "allocating GPU memory with cuMemAlloc", e) == 0 &&
        cuda_check(&m->cuda, m->cuda.pointer_set_attribute(&sync, CUDA_POINTER_SYNC_MEMOPS, m->address),
                   "setting SYNC_MEMOPS", e) == 0)
        return 0;
    cuda_memory_release(memory);
    return -1;
}

static int cuda_memory_put(struct memory *memory, int64_t offset, const void *from, size_t bytes,
                           struct error *e)
{
    struct cuda_memory *m = memory->state;
    return cuda_put(&m->cuda, m->address + (uint64_t)offset, from, bytes, e);
}

static int cuda_memory_get(struct memory *memory, int64_t offset, void *to, size_t bytes, struct error *e)
{
    struct cuda_memory *m = memory->state;
    return cuda_get(&m->cuda, to, m->address + (uint64_t)offset, bytes, e);
}

/* ---- route cuda-dmabuf */

/* Route cuda-dmabuf: CUDA's own allocation, exported by CUDA as a dma-buf. Data-centre GPUs with the open
 * kernel modules. */
static int cuda_dmabuf_allocate(struct memory *memory, const struct memory_request *request, struct error *e)
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

static int cuda_dmabuf_enrol(struct memory *memory, struct ibv_pd *pd, int access, struct error *e)
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
    .allocate = cuda_dmabuf_allocate,
    .enrol = cuda_dmabuf_enrol,
    .put = cuda_memory_put,
    .get = cuda_memory_get,
    .release = cuda_memory_release,
};

/* ---- route cuda-peermem */

/* Route cuda-peermem: ibv_reg_mr on a CUDA pointer, which nvidia-peermem resolves in the kernel. Data-centre
 * GPUs. */
static int cuda_peermem_enrol(struct memory *memory, struct ibv_pd *pd, int access, struct error *e)
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
    .enrol = cuda_peermem_enrol,
    .put = cuda_memory_put,
    .get = cuda_memory_get,
    .release = cuda_memory_release,
};

/* ---- route cuda-nv503c */

/*
 * Route cuda-nv503c: as cuda-peermem, for GPUs whose CUDA creates no third-party P2P object (class 0x503C) -
 * GeForce. The program creates that object under CUDA's client and registers CUDA's address space and memory
 * with it; then nvidia-peermem finds them. If CUDA has such an object (data-centre GPUs: cuInit creates it),
 * the memory is registered with that one, because a subdevice can have only one. Handles are seen through the
 * ioctl hook (nvidia_hook.h).
 *
 * Memory comes from cuMemCreate, because its single allocation in the resource manager can be identified. The
 * flag gpuDirectRDMACapable stays unset (GeForce refuses it), and SYNC_MEMOPS is not set (it fails on mapped
 * memory there).
 */
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

/* The first object of a class with this client and parent. CUDA creates two address spaces under a device.
 * The first, which nvidia-uvm manages, is the one that CUDA registers if it creates the P2P object (seen with
 * driver 580.159.04 on an H200). */
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

static int map_memory(struct nv503c *n, struct error *e)
{
    struct cuda_access access = {CUDA_LOCATION_DEVICE, n->cuda.device, CUDA_ACCESS_READ_WRITE};
    /* load_symbols has filled every call. NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
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

static void nv503c_release(struct memory *memory)
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
static int nv503c_make(struct nv503c *n, const struct memory *memory, const struct memory_request *request,
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

static int nv503c_allocate(struct memory *memory, const struct memory_request *request, struct error *e)
{
    const struct rm_family *family;
    char version[32];
    /* The structures used here are the same in all known families; nevertheless an unknown driver is
     * refused. */
    if (rm_identify(memory->system->root, version, sizeof version, &family, e) != 0)
        return -1;
    struct nv503c *n = calloc(1, sizeof *n);
    struct hook_object *objects = calloc(HOOK_MAX_OBJECTS, sizeof *objects);
    memory->state = n;
    int result = n && objects ? nv503c_make(n, memory, request, objects, e) : error_set(e, "out of memory");
    free(objects);
    if (result != 0 && n)
        nv503c_release(memory);
    return result;
}

static int nv503c_enrol(struct memory *memory, struct ibv_pd *pd, int access, struct error *e)
{
    struct nv503c *n = memory->state;
    memory->mr = ibv_reg_mr(pd, (void *)(uintptr_t)n->address, n->bytes, (unsigned)access);
    memory->address = n->address;
    return memory->mr ? 0 : explain_registration(e, errno, memory, "ibv_reg_mr");
}

static int nv503c_put(struct memory *memory, int64_t offset, const void *from, size_t bytes, struct error *e)
{
    struct nv503c *n = memory->state;
    return cuda_put(&n->cuda, n->address + (uint64_t)offset, from, bytes, e);
}

static int nv503c_get(struct memory *memory, int64_t offset, void *to, size_t bytes, struct error *e)
{
    struct nv503c *n = memory->state;
    return cuda_get(&n->cuda, to, n->address + (uint64_t)offset, bytes, e);
}

const struct memory_back_end memory_cuda_nv503c = {
    .kind = MEMORY_CUDA_NV503C,
    .name = "cuda-nv503c",
    .gpu = true,
    .allocate = nv503c_allocate,
    .enrol = nv503c_enrol,
    .put = nv503c_put,
    .get = nv503c_get,
    .release = nv503c_release,
};
