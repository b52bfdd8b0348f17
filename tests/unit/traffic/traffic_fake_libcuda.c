/*
 * A stand-in for libcuda.so.1, built by test_traffic_memory: it tests the order and the sentences of our own
 * code, and says nothing about CUDA. Environment variables determine its behaviour: FAKE_CUDA_INIT (cuInit's
 * result), FAKE_CUDA_DMABUF (attribute DMA_BUF_SUPPORTED), FAKE_CUDA_EXPORT (result of
 * cuMemGetHandleForAddressRange).
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int number_of(const char *name)
{
    const char *text = getenv(name);
    return text ? atoi(text) : 0;
}

int cuInit(unsigned flags)
{
    (void)flags;
    return number_of("FAKE_CUDA_INIT");
}

int cuDriverGetVersion(int *version)
{
    *version = 12080;
    return 0;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return ordinal == 0 ? 0 : 101;
}

int cuDeviceGetByPCIBusId(int *device, const char *address)
{
    *device = 0;
    return strcmp(address, "0000:06:00.0") == 0 ? 0 : 101;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    *value = attribute == 124 ? number_of("FAKE_CUDA_DMABUF") : 0;
    return 0;
}

int cuDeviceGetName(char *name, int size, int device)
{
    (void)device;
    strncpy(name, "no GPU", (size_t)size);
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    (void)device;
    *context = malloc(1);
    return 0;
}

static void *last_context;

int cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    free(last_context);
    last_context = NULL;
    return 0;
}

int cuCtxSetCurrent(void *context)
{
    last_context = context;
    return 0;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    *address = (uintptr_t)malloc(bytes);
    return 0;
}

int cuMemFree_v2(uint64_t address)
{
    free((void *)(uintptr_t)address);
    return 0;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}

int cuPointerSetAttribute(const void *value, int attribute, uint64_t address)
{
    (void)address;
    return attribute == 6 && *(const int *)value == 1 ? 0 : 1;
}

int cuGetErrorName(int error, const char **name)
{
    *name = error == 100   ? "CUDA_ERROR_NO_DEVICE"
            : error == 101 ? "CUDA_ERROR_INVALID_DEVICE"
                           : "CUDA_ERROR_NOT_SUPPORTED";
    return 0;
}

int cuGetErrorString(int error, const char **text)
{
    *text = error == 100 ? "no CUDA-capable device is detected" : "operation not supported";
    return 0;
}

int cuMemGetHandleForAddressRange(void *handle, uint64_t address, size_t bytes, int type,
                                  unsigned long long flags)
{
    (void)address;
    (void)flags;
    if (number_of("FAKE_CUDA_EXPORT"))
        return number_of("FAKE_CUDA_EXPORT");
    *(int *)handle = type == 1 && bytes % (2 << 20) == 0 ? memfd_create("dmabuf", 0) : -1;
    return 0;
}
