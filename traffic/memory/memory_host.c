/* Memory of this host: its own, and what stands for a GPU's where the NIC is virtual. */
#include "traffic/connection/explain.h"
#include "traffic/memory/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/dma-heap.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- host memory: ordinary or huge pages, optionally from one NUMA node */

#define HUGE_PAGE_BYTES (INT64_C(2) << 20)
#define PAGE_BYTES      INT64_C(4096)

/* The mapping's length: munmap of huge pages needs the full length. */
static int64_t mapped_bytes(const struct memory *memory)
{
    int64_t page = memory->state ? HUGE_PAGE_BYTES : PAGE_BYTES;
    return (memory->bytes + page - 1) / page * page;
}

/* Bind before the first touch. The system call is used directly: libnuma is not needed for one call. */
static int bind_to_node(void *address, int64_t bytes, int64_t node, struct error *e)
{
    unsigned long mask[1024 / (8 * sizeof(long))] = {0};
    mask[node / (int64_t)(8 * sizeof(long))] = 1UL << (node % (int64_t)(8 * sizeof(long)));
    if (syscall(SYS_mbind, address, bytes, MPOL_BIND, mask, 1025UL, 0U) == 0)
        return 0;
    return error_set_errno(e, errno, "allocating memory on NUMA node %" PRId64, node);
}

static void host_release(struct memory *memory)
{
    munmap((void *)(uintptr_t)memory->address, (size_t)mapped_bytes(memory));
}

static int host_allocate(struct memory *memory, const struct memory_request *request, struct error *e)
{
    memory->state = request->huge_pages ? memory : NULL; /* used as a flag */
    int64_t bytes = mapped_bytes(memory);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (request->huge_pages ? MAP_HUGETLB : 0);
    void *address = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (address == MAP_FAILED && request->huge_pages)
        return error_set_errno(e, errno,
                               "allocating %" PRId64
                               " bytes of huge pages; reserve them: sysctl vm.nr_hugepages=%" PRId64,
                               bytes, bytes / HUGE_PAGE_BYTES);
    if (address == MAP_FAILED)
        return error_set_errno(e, errno, "allocating %" PRId64 " bytes of memory", bytes);
    memory->address = (uintptr_t)address;
    if (request->numa_node >= 0 && bind_to_node(address, bytes, request->numa_node, e) != 0) {
        host_release(memory);
        return -1;
    }
    memset(address, 0, (size_t)bytes); /* touch every page now, on the chosen node */
    return 0;
}

static int host_enrol(struct memory *memory, struct ibv_pd *pd, int access, struct error *e)
{
    memory->mr = ibv_reg_mr(pd, (void *)(uintptr_t)memory->address, (size_t)memory->bytes, (unsigned)access);
    return memory->mr ? 0 : explain_registration(e, errno, memory, "ibv_reg_mr");
}

static int host_put(struct memory *memory, int64_t offset, const void *from, size_t bytes, struct error *e)
{
    (void)e;
    memcpy((char *)(uintptr_t)memory->address + offset, from, bytes);
    return 0;
}

static int host_get(struct memory *memory, int64_t offset, void *to, size_t bytes, struct error *e)
{
    (void)e;
    memcpy(to, (const char *)(uintptr_t)memory->address + offset, bytes);
    return 0;
}

const struct memory_back_end memory_host = {
    .kind = MEMORY_HOST,
    .name = "host",
    .allocate = host_allocate,
    .enrol = host_enrol,
    .put = host_put,
    .get = host_get,
    .release = host_release,
};

/* ---- route virtual-dmabuf */

/*
 * Memory that stands for a GPU's where the NIC is a virtual ConnectX (docs/virtual-connectx.md). Its module
 * allocates it by the interface of dma-heaps and exports it as a dma-buf, which is registered with
 * ibv_reg_dmabuf_mr as a GPU's is. No other host has the device file.
 */
#define HEAP "/dev/dma_heap/virtual-gpu"

struct virtual_memory {
    int fd;
    size_t bytes;
    void *mapped;
};

static void virtual_release(struct memory *memory)
{
    struct virtual_memory *v = memory->state;
    if (v->mapped != MAP_FAILED)
        munmap(v->mapped, v->bytes);
    close(v->fd);
    free(v);
}

static int virtual_export(const char *root, size_t bytes, struct error *e)
{
    char path[256];
    snprintf(path, sizeof path, "%s" HEAP, root);
    int heap = open(path, O_RDWR | O_CLOEXEC);
    if (heap < 0)
        return error_set_errno(e, errno,
                               "%s: it stands for a GPU's memory where the NIC is virtual; opening it", path);
    struct dma_heap_allocation_data data = {.len = bytes, .fd_flags = O_RDWR | O_CLOEXEC};
    int result = ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &data) == 0
                     ? (int)data.fd
                     : error_set_errno(e, errno, "%s: allocating %zu bytes", path, bytes);
    close(heap);
    return result;
}

static int virtual_allocate(struct memory *memory, const struct memory_request *request, struct error *e)
{
    size_t bytes = (size_t)((request->bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
    int fd = virtual_export(memory->system->root, bytes, e);
    if (fd < 0)
        return -1;
    struct virtual_memory *v = calloc(1, sizeof *v);
    if (!v) {
        close(fd);
        return error_set(e, "out of memory");
    }
    *v = (struct virtual_memory){fd, bytes, mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)};
    memory->state = v;
    if (v->mapped != MAP_FAILED)
        return 0;
    error_set_errno(e, errno, "mapping a dma-buf of %zu bytes", bytes);
    virtual_release(memory);
    return -1;
}

static int virtual_enrol(struct memory *memory, struct ibv_pd *pd, int access, struct error *e)
{
    struct virtual_memory *v = memory->state;
    memory->mr = ibv_reg_dmabuf_mr(pd, 0, v->bytes, FLOW_VIRTUAL_GPU_ADDRESS, v->fd, access);
    memory->address = FLOW_VIRTUAL_GPU_ADDRESS;
    return memory->mr ? 0 : explain_registration(e, errno, memory, "ibv_reg_dmabuf_mr");
}

static int virtual_put(struct memory *memory, int64_t offset, const void *from, size_t bytes, struct error *e)
{
    struct virtual_memory *v = memory->state;
    (void)e;
    memcpy((char *)v->mapped + offset, from, bytes);
    return 0;
}

static int virtual_get(struct memory *memory, int64_t offset, void *to, size_t bytes, struct error *e)
{
    struct virtual_memory *v = memory->state;
    (void)e;
    memcpy(to, (const char *)v->mapped + offset, bytes);
    return 0;
}

const struct memory_back_end memory_virtual_dmabuf = {
    .kind = MEMORY_VIRTUAL_DMABUF,
    .name = "virtual-dmabuf",
    .gpu = true,
    .allocate = virtual_allocate,
    .enrol = virtual_enrol,
    .put = virtual_put,
    .get = virtual_get,
    .release = virtual_release,
};
