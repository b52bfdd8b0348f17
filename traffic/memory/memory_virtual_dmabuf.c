/*
 * Route virtual-dmabuf: memory that stands for a GPU's where the NIC is a virtual ConnectX (docs/virtual-connectx.md). Its module allocates
 * it by the interface of dma-heaps and exports it as a dma-buf, which is registered with ibv_reg_dmabuf_mr as a GPU's is. No other host has
 * the device file.
 */
#include "traffic/connection/explain.h"
#include "traffic/memory/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAP       "/dev/dma_heap/virtual-gpu"
#define PAGE_BYTES INT64_C(4096)

struct virtual_memory {
    int fd;
    size_t bytes;
    void *mapped;
};

static void release(struct memory *memory)
{
    struct virtual_memory *v = memory->state;
    if (v->mapped != MAP_FAILED)
        munmap(v->mapped, v->bytes);
    close(v->fd);
    free(v);
}

static int export(const char *root, size_t bytes, struct error *e)
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

static int allocate(struct memory *memory, const struct memory_request *request, struct error *e)
{
    size_t bytes = (size_t)((request->bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
    int fd = export(memory->system->root, bytes, e);
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
    release(memory);
    return -1;
}

static int enrol(struct memory *memory, struct ibv_pd *pd, int access, struct error *e)
{
    struct virtual_memory *v = memory->state;
    memory->mr = ibv_reg_dmabuf_mr(pd, 0, v->bytes, FLOW_VIRTUAL_GPU_ADDRESS, v->fd, access);
    memory->address = FLOW_VIRTUAL_GPU_ADDRESS;
    return memory->mr ? 0 : explain_registration(e, errno, memory, "ibv_reg_dmabuf_mr");
}

static int put(struct memory *memory, int64_t offset, const void *from, size_t bytes, struct error *e)
{
    struct virtual_memory *v = memory->state;
    (void)e;
    memcpy((char *)v->mapped + offset, from, bytes);
    return 0;
}

static int get(struct memory *memory, int64_t offset, void *to, size_t bytes, struct error *e)
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
    .allocate = allocate,
    .enrol = enrol,
    .put = put,
    .get = get,
    .release = release,
};
