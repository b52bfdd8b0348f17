#include "traffic/memory/cuda.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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
        if (!symbol && !symbols[i].optional)
            return error_set(e, "%s has no %s: is it the CUDA driver's library?", library, symbols[i].name);
        memcpy((char *)cuda + symbols[i].offset, &symbol, sizeof symbol);
    }
    return 0;
}

int cuda_check(const struct cuda *cuda, cuda_result result, const char *what, struct error *e)
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

int cuda_open(struct cuda *cuda, const char *library, const char *gpu, struct error *e)
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

void cuda_close(struct cuda *cuda)
{
    if (cuda->context)
        cuda->context_release(cuda->device);
    if (cuda->handle)
        dlclose(cuda->handle);
    *cuda = (struct cuda){0};
}

int cuda_put(struct cuda *cuda, cuda_address to, const void *from, size_t bytes, struct error *e)
{
    cuda->context_set(cuda->context);
    return cuda_check(cuda, cuda->copy_to_device(to, from, bytes), "copying to the GPU", e);
}

int cuda_get(struct cuda *cuda, void *to, cuda_address from, size_t bytes, struct error *e)
{
    cuda->context_set(cuda->context);
    return cuda_check(cuda, cuda->copy_to_host(to, from, bytes), "copying from the GPU", e);
}
