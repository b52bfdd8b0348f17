/*
 * The part of the CUDA driver interface that GPU memory needs, opened at run time: no NVIDIA package is needed to build.
 * Types and numbers are those of the driver's stable binary interface (cuda.h of CUDA 11.7 on).
 */
#ifndef TRAFFIC_CUDA_H
#define TRAFFIC_CUDA_H

#include "lib/error.h"
#include <stddef.h>
#include <stdint.h>

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

/* Open the library and retain the primary context of GPU `gpu` ("0", a PCI address, NULL: the first). */
int cuda_open(struct cuda *cuda, const char *library, const char *gpu, struct error *e);
void cuda_close(struct cuda *cuda);
/* 0 on success, else -1 with "what: CUDA_ERROR_NAME (number, text)". */
int cuda_check(const struct cuda *cuda, cuda_result result, const char *what, struct error *e);
/* Copy between CPU and GPU; this sets the context of the calling thread. */
int cuda_put(struct cuda *cuda, cuda_address to, const void *from, size_t bytes, struct error *e);
int cuda_get(struct cuda *cuda, void *to, cuda_address from, size_t bytes, struct error *e);

#endif
