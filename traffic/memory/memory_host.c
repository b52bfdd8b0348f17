/* Host memory: ordinary or huge pages, optionally from one NUMA node. */
#include "traffic/connection/explain.h"
#include "traffic/memory/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/mempolicy.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

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

static void release(struct memory *memory)
{
    munmap((void *)(uintptr_t)memory->address, (size_t)mapped_bytes(memory));
}

static int allocate(struct memory *memory, const struct memory_request *request, struct error *e)
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
        release(memory);
        return -1;
    }
    memset(address, 0, (size_t)bytes); /* touch every page now, on the chosen node */
    return 0;
}

static int enrol(struct memory *memory, struct ibv_pd *pd, int access, struct error *e)
{
    memory->mr = ibv_reg_mr(pd, (void *)(uintptr_t)memory->address, (size_t)memory->bytes, (unsigned)access);
    return memory->mr ? 0 : explain_registration(e, errno, memory, "ibv_reg_mr");
}

static int put(struct memory *memory, int64_t offset, const void *from, size_t bytes, struct error *e)
{
    (void)e;
    memcpy((char *)(uintptr_t)memory->address + offset, from, bytes);
    return 0;
}

static int get(struct memory *memory, int64_t offset, void *to, size_t bytes, struct error *e)
{
    (void)e;
    memcpy(to, (const char *)(uintptr_t)memory->address + offset, bytes);
    return 0;
}

const struct memory_back_end memory_host = {
    .kind = MEMORY_HOST,
    .name = "host",
    .allocate = allocate,
    .enrol = enrol,
    .put = put,
    .get = get,
    .release = release,
};
