#include "collectors/sources/nvml.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LIBRARY "libnvidia-ml.so.1"

/* nvmlPciInfo_t */
struct pci_info {
    char legacy_bus_id[16];
    unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};

/* nvmlViolationTime_t */
struct violation {
    unsigned long long reference_us, violated_ns;
};
#define POLICY_THERMAL 1 /* NVML_PERF_POLICY_THERMAL */
#define ECC_VOLATILE   0 /* NVML_VOLATILE_ECC */

struct nvml {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_string)(int);
    int (*get_count)(unsigned int *);
    int (*get_by_index)(unsigned int, nvml_device *);
    int (*get_pci_info)(nvml_device, struct pci_info *);
    int (*get_name)(nvml_device, char *, unsigned int);
    int (*get_throughput)(nvml_device, int, unsigned int *);
    int (*get_bar1)(nvml_device, struct nvml_bar1 *);
    int (*get_replays)(nvml_device, unsigned int *);
    int (*get_generation)(nvml_device, unsigned int *);
    int (*get_width)(nvml_device, unsigned int *);
    int (*get_ecc)(nvml_device, int, int, unsigned long long *);
    int (*get_violation)(nvml_device, int, struct violation *);
};

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
    {"nvmlInit_v2", offsetof(struct nvml, init)},
    {"nvmlShutdown", offsetof(struct nvml, shutdown)},
    {"nvmlErrorString", offsetof(struct nvml, error_string)},
    {"nvmlDeviceGetCount_v2", offsetof(struct nvml, get_count)},
    {"nvmlDeviceGetHandleByIndex_v2", offsetof(struct nvml, get_by_index)},
    {"nvmlDeviceGetPciInfo_v3", offsetof(struct nvml, get_pci_info)},
    {"nvmlDeviceGetName", offsetof(struct nvml, get_name)},
    {"nvmlDeviceGetPcieThroughput", offsetof(struct nvml, get_throughput)},
    {"nvmlDeviceGetBAR1MemoryInfo", offsetof(struct nvml, get_bar1)},
    {"nvmlDeviceGetPcieReplayCounter", offsetof(struct nvml, get_replays)},
    {"nvmlDeviceGetCurrPcieLinkGeneration", offsetof(struct nvml, get_generation)},
    {"nvmlDeviceGetCurrPcieLinkWidth", offsetof(struct nvml, get_width)},
    {"nvmlDeviceGetTotalEccErrors", offsetof(struct nvml, get_ecc)},
    {"nvmlDeviceGetViolationStatus", offsetof(struct nvml, get_violation)},
};

static int load_symbols(struct nvml *n, struct error *e)
{
    n->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!n->library)
        return error_set(e, "cannot open %s (a library of NVIDIA's driver): %s", LIBRARY, dlerror());
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *symbol = dlsym(n->library, symbols[i].name);
        if (!symbol)
            return error_set(e, "%s has no function %s: expected the library of driver 470 or newer", LIBRARY,
                             symbols[i].name);
        memcpy((char *)n + symbols[i].offset, &symbol, sizeof symbol);
    }
    return 0;
}

/* The status of a call as an error. */
static int nvml_status_error(const struct nvml *n, int code, const char *what, struct error *e)
{
    if (code == 0)
        return 0;
    const char *text = n->error_string ? n->error_string(code) : NULL;
    return error_set(e, "NVML, %s: %s (%d)", what, text ? text : "error", code);
}

struct nvml *nvml_open(struct error *e)
{
    struct nvml *n = calloc(1, sizeof *n);
    if (!n) {
        error_set(e, "out of memory for NVML");
        return NULL;
    }
    /* load has filled every call. NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
    if (load_symbols(n, e) == 0 && nvml_status_error(n, n->init(), "starting", e) == 0)
        return n;
    if (n->library)
        dlclose(n->library);
    free(n);
    return NULL;
}

void nvml_close(struct nvml *n)
{
    if (!n)
        return;
    n->shutdown();
    dlclose(n->library);
    free(n);
}

int nvml_device_count(const struct nvml *n, unsigned int *count, struct error *e)
{
    return nvml_status_error(n, n->get_count(count), "counting GPUs", e);
}

int nvml_device_by_index(const struct nvml *n, unsigned int index, nvml_device *device, struct error *e)
{
    char what[40];
    unsigned int count = 0;
    if (n->get_count(&count) == 0 && index >= count)
        return error_set(e, "there is no GPU %u: NVML reports %u GPUs, counted from 0", index, count);
    snprintf(what, sizeof what, "opening GPU %u", index);
    return nvml_status_error(n, n->get_by_index(index, device), what, e);
}

int nvml_pci_address(const struct nvml *n, nvml_device device, char *address, unsigned int size,
                     struct error *e)
{
    struct pci_info info = {0};
    if (nvml_status_error(n, n->get_pci_info(device, &info), "PCI address", e) == -1)
        return -1;
    /* Function 0 is the GPU; the library writes the domain with eight digits. */
    snprintf(address, size, "%04x:%02x:%02x.0", info.domain, info.bus & 0xff, info.device & 0x1f);
    return 0;
}

int nvml_name(const struct nvml *n, nvml_device device, char *name, unsigned int size, struct error *e)
{
    return nvml_status_error(n, n->get_name(device, name, size), "name", e);
}

int nvml_pcie_throughput(const struct nvml *n, nvml_device device, enum nvml_direction direction,
                         int64_t *bytes_per_second, struct error *e)
{
    unsigned int kilobytes = 0; /* KB/s; the manual does not say of how many bytes, nvidia-smi shows 1000 */
    if (nvml_status_error(n, n->get_throughput(device, (int)direction, &kilobytes), "PCIe throughput", e) ==
        -1)
        return -1;
    *bytes_per_second = (int64_t)kilobytes * 1000;
    return 0;
}

int nvml_bar1_memory(const struct nvml *n, nvml_device device, struct nvml_bar1 *bar1, struct error *e)
{
    return nvml_status_error(n, n->get_bar1(device, bar1), "BAR1 memory", e);
}

static int number(const struct nvml *n, int (*get)(nvml_device, unsigned int *), nvml_device device,
                  const char *what, int64_t *value, struct error *e)
{
    unsigned int got = 0;
    if (nvml_status_error(n, get(device, &got), what, e) == -1)
        return -1;
    *value = got;
    return 0;
}

int nvml_pcie_replays(const struct nvml *n, nvml_device device, int64_t *replays, struct error *e)
{
    return number(n, n->get_replays, device, "PCIe replays", replays, e);
}

int nvml_pcie_generation(const struct nvml *n, nvml_device device, int64_t *generation, struct error *e)
{
    return number(n, n->get_generation, device, "PCIe generation", generation, e);
}

int nvml_pcie_width(const struct nvml *n, nvml_device device, int64_t *lanes, struct error *e)
{
    return number(n, n->get_width, device, "PCIe width", lanes, e);
}

int nvml_ecc_errors(const struct nvml *n, nvml_device device, enum nvml_ecc kind, int64_t *errors,
                    struct error *e)
{
    unsigned long long got = 0;
    if (nvml_status_error(n, n->get_ecc(device, (int)kind, ECC_VOLATILE, &got), "ECC errors", e) == -1)
        return -1;
    *errors = (int64_t)(got & INT64_MAX);
    return 0;
}

int nvml_thermal_slowdown(const struct nvml *n, nvml_device device, int64_t *us, struct error *e)
{
    struct violation got = {0};
    if (nvml_status_error(n, n->get_violation(device, POLICY_THERMAL, &got), "slowdown by heat", e) == -1)
        return -1;
    *us = (int64_t)(got.violated_ns / 1000);
    return 0;
}
