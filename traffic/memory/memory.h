/*
 * Memory for sent and received data: host memory, or GPU memory by one of several routes. A file for each
 * source of memory (memory_*.c) has its back ends. "gpu" tries them in the order of memory_back_ends[]: the
 * preferred one first (docs/gpudirect-routes.md).
 */
#ifndef TRAFFIC_MEMORY_H
#define TRAFFIC_MEMORY_H

#include "lib/error.h"
#include "traffic/flow_plan.h"
#include <infiniband/verbs.h>
#include <jansson.h>

/* Paths of the system's parts; tests replace them. */
struct memory_system {
    const char *root;    /* prefix of /dev, /proc and /sys; "" for the host's own */
    const char *libcuda; /* "libcuda.so.1" */
};

struct memory_request {
    int kind; /* enum memory_kind */
    int64_t bytes;
    int access;        /* ibv_access_flags */
    struct ibv_pd *pd; /* NULL: only allocate and export, without registration */
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
    int64_t numa_node; /* of host memory; negative: any */
    bool relaxed_ordering;
    void *state;   /* the back end's */
    json_t *tried; /* [{"route","error"}]: what failed before this one worked */
};

struct memory_back_end {
    int kind;
    const char *name;
    bool gpu;
    /* Allocate at least memory->bytes for registration; on failure nothing is left allocated. */
    int (*allocate)(struct memory *memory, const struct memory_request *request, struct error *e);
    /* Set mr and address. */
    int (*enrol)(struct memory *memory, struct ibv_pd *pd, int access, struct error *e);
    /* Copy from and to the CPU, for patterns. */
    int (*put)(struct memory *memory, int64_t offset, const void *from, size_t bytes, struct error *e);
    int (*get)(struct memory *memory, int64_t offset, void *to, size_t bytes, struct error *e);
    void (*release)(struct memory *memory);
};

extern const struct memory_back_end memory_host, memory_rm_dmabuf, memory_cuda_dmabuf, memory_cuda_peermem,
    memory_rm_peermem, memory_cuda_nv503c, memory_virtual_dmabuf;
extern const struct memory_back_end *const memory_back_ends[]; /* ended by NULL */

/* Allocate and register. With MEMORY_GPU the routes are tried in order; if all fail, the sentence contains
 * the reason of each. */
int memory_open(struct memory *memory, const struct memory_request *request, struct error *e);
void memory_close(struct memory *memory);
/* {"kind":"gpu","route":"rm-dmabuf","tried":[...]}, with "numa_node" and "relaxed_ordering" where they were
 * asked for. A new reference. */
json_t *memory_json(const struct memory *memory);
/* The CPU's view of host memory; NULL for a GPU's. */
void *memory_pointer(const struct memory *memory);

#endif
