/*
 * Stands in for libnvidia-ml.so.1 where there is no GPU: the calls that collectors/sources/nvml.c makes, as
 * the NVML API reference declares them, with fixed figures. It tests the way of calling, not a GPU. When the
 * file named by NVML_STANDIN_LOST exists, the GPU has fallen off the bus.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, GPU_IS_LOST = 15 };

typedef struct {
    char busIdLegacy[16];
    unsigned int domain, bus, device, pciDeviceId, pciSubSystemId;
    char busId[32];
} nvmlPciInfo_t;
typedef struct {
    unsigned long long bar1Total, bar1Free, bar1Used;
} nvmlBAR1Memory_t;
typedef struct {
    unsigned long long referenceTime, violationTime; /* us, ns */
} nvmlViolationTime_t;
typedef struct gpu *nvmlDevice_t;

static int lost(void)
{
    const char *file = getenv("NVML_STANDIN_LOST");
    return file && access(file, F_OK) == 0 ? GPU_IS_LOST : SUCCESS;
}
int nvmlInit_v2(void)
{
    return lost();
}
int nvmlShutdown(void)
{
    return SUCCESS;
}
const char *nvmlErrorString(int code)
{
    return code == GPU_IS_LOST ? "GPU is lost" : "Invalid Argument";
}
int nvmlDeviceGetCount_v2(unsigned int *count)
{
    *count = 1;
    return SUCCESS;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device)
{
    *device = (nvmlDevice_t)(void *)"gpu";
    return index == 0 ? lost() : INVALID_ARGUMENT;
}
int nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *info)
{
    (void)device;
    memset(info, 0, sizeof *info);
    info->bus = 7;
    strcpy(info->busId, "00000000:07:00.0");
    return SUCCESS;
}
int nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length)
{
    (void)device;
    snprintf(name, length, "Stand-in");
    return SUCCESS;
}
int nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
    snprintf(version, length, "0.0");
    return SUCCESS;
}
int nvmlDeviceGetPcieThroughput(nvmlDevice_t device, int counter, unsigned int *value)
{
    (void)device;
    usleep(20000);
    *value = counter == 0 ? 1234 : 2893000; /* KB/s: transmitted, received */
    return lost();
}
int nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t *memory)
{
    (void)device;
    *memory = (nvmlBAR1Memory_t){.bar1Total = 268435456, .bar1Free = 201326592, .bar1Used = 67108864};
    return lost();
}
int nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned int *value)
{
    (void)device;
    *value = 3;
    return lost();
}
int nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned int *value)
{
    (void)device;
    *value = 4;
    return lost();
}
int nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned int *value)
{
    (void)device;
    *value = 16;
    return lost();
}
int nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, int type, int counter, unsigned long long *count)
{
    (void)device;
    *count = counter == 0 ? (type == 0 ? 5 : 2) : 999; /* volatile: corrected, uncorrected */
    return lost();
}
int nvmlDeviceGetViolationStatus(nvmlDevice_t device, int policy, nvmlViolationTime_t *time)
{
    (void)device;
    *time = (nvmlViolationTime_t){.referenceTime = 1, .violationTime = policy == 1 ? 3000000 : 1};
    return lost();
}
