/*
 * NVIDIA's management library, loaded at run time, so the build needs no NVIDIA files. Declarations follow
 * the NVML API reference manual; only calls whose parameters have not changed since driver 470 are used.
 */
#ifndef COLLECTORS_NVML_H
#define COLLECTORS_NVML_H

#include "lib/error.h"
#include <stdint.h>

struct nvml;
typedef struct nvml_device_opaque *nvml_device;

struct nvml_bar1 {
    unsigned long long total_bytes, free_bytes, used_bytes;
};

/* NULL with an error when the library is missing or finds no such GPU. */
struct nvml *nvml_open(struct error *e);
void nvml_close(struct nvml *n);

int nvml_device_count(const struct nvml *n, unsigned int *count, struct error *e);
int nvml_device_by_index(const struct nvml *n, unsigned int index, nvml_device *device, struct error *e);
/* "0000:06:00.0" as sysfs writes it. */
int nvml_pci_address(const struct nvml *n, nvml_device device, char *address, unsigned int size,
                     struct error *e);
int nvml_name(const struct nvml *n, nvml_device device, char *name, unsigned int size, struct error *e);

/* Bytes per second, averaged by the library over 20 ms; the call takes that long. */
enum nvml_direction { NVML_TRANSMITTED = 0, NVML_RECEIVED = 1 };
int nvml_pcie_throughput(const struct nvml *n, nvml_device device, enum nvml_direction direction,
                         int64_t *bytes_per_second, struct error *e);
int nvml_bar1_memory(const struct nvml *n, nvml_device device, struct nvml_bar1 *bar1, struct error *e);
int nvml_pcie_replays(const struct nvml *n, nvml_device device, int64_t *replays, struct error *e);
int nvml_pcie_generation(const struct nvml *n, nvml_device device, int64_t *generation, struct error *e);
int nvml_pcie_width(const struct nvml *n, nvml_device device, int64_t *lanes, struct error *e);
/* Errors of its memory since the driver was loaded, which ECC corrected or could not. */
enum nvml_ecc { NVML_CORRECTED = 0, NVML_UNCORRECTED = 1 };
int nvml_ecc_errors(const struct nvml *n, nvml_device device, enum nvml_ecc kind, int64_t *errors,
                    struct error *e);
/* Time in which heat kept its clocks down. */
int nvml_thermal_slowdown(const struct nvml *n, nvml_device device, int64_t *us, struct error *e);

#endif
