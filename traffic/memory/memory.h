/*
 * The memory that traffic leaves from and lands in: host memory, or a GPU's by one of several routes. Each back end is one
 * file (memory_*.c); the order in which "gpu" tries them is that of memory_back_ends[]: the cleanest first
 * (docs/gpudirect-routes.md).
 */
#ifndef TRAFFIC_MEMORY_H
#define TRAFFIC_MEMORY_H

#include "lib/error.h"
#include "traffic/flow_plan.h"
#include <infiniband/verbs.h>
#include <jansson.h>

/* Where the system's parts are found; tests put others in place. */
struct memory_system {
    const char *root;    /* "" : in front of /dev, /proc and /sys */
    const char *libcuda; /* "libcuda.so.1" */
};

extern const struct memory_system memory_system_default;

struct memory_request {
    int kind; /* enum memory_kind */
    int64_t bytes;
    int access;        /* ibv_access_flags */
    struct ibv_pd *pd; /* NULL: allocate and export only, register with no NIC */
    const char *gpu;   /* number or PCI address; NULL: 0 */
    int64_t numa_node; /* -1: any */
    bool huge_pages;
    const struct memory_system *system; /* NULL: the default */
};

struct memory {
    const struct memory_back_end *back_end;
    const struct memory_system *system;
    int64_t bytes;
    uint64_t address;  /* for scatter/gather elements and the peer */
    struct ibv_mr *mr; /* NULL when opened without a protection domain */
    void *state;       /* the back end's */
    json_t *tried;     /* [{"route","error"}]: what failed before this one worked */
};

struct memory_back_end {
    int kind;
    const char *name;
    bool gpu;
    /* Make memory->bytes or more ready to be registered; on failure nothing is left. */
    int (*allocate)(struct memory *memory, const struct memory_request *request, struct error *e);
    /* Set mr and address. */
    int (*enrol)(struct memory *memory, struct ibv_pd *pd, int access, struct error *e);
    /* Copy from and to the CPU, for patterns. */
    int (*put)(struct memory *memory, int64_t offset, const void *from, size_t bytes, struct error *e);
    int (*get)(struct memory *memory, int64_t offset, void *to, size_t bytes, struct error *e);
    void (*release)(struct memory *memory);
};

extern const struct memory_back_end memory_host, memory_rm_dmabuf, memory_cuda_dmabuf, memory_cuda_peermem,
    memory_rm_peermem, memory_cuda_nv503c;
extern const struct memory_back_end *const memory_back_ends[]; /* ended by NULL */

/* Allocate and register. With MEMORY_GPU the routes are tried in order; when all fail the sentence says why each did. */
int memory_open(struct memory *memory, const struct memory_request *request, struct error *e);
void memory_close(struct memory *memory);
/* {"kind":"gpu","route":"rm-dmabuf","tried":[...]}. A new reference. */
json_t *memory_json(const struct memory *memory);
/* The CPU's view of host memory; NULL for a GPU's. */
void *memory_pointer(const struct memory *memory);

/* What the kernel says about NVIDIA or RDMA from kernel_log_open on; -1 where /dev/kmsg cannot be read, which gives "".
 * The caller closes it. */
int kernel_log_open(void);
void kernel_log_read(int fd, char *text, size_t size);

#endif
