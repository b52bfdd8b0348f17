#include "collectors/facts/traffic_probe.h"

#include "collectors/sampler/sampler.h"
#include "lib/clock.h"
#include <net/if.h>
#include <stdio.h>
#include <string.h>

/* mlx5 counts the RDMA traffic that this PCI function received; NVML reports what the GPU received over PCIe. */
#define RDMA_COLUMN "rx_vport_rdma_unicast_bytes"

static void no_event(void *context, const char *source, const char *what, const char *text)
{
    (void)context;
    (void)source;
    (void)what;
    (void)text;
}

static int64_t find(const struct sampler *sampler, const struct sample *sample, const char *name)
{
    size_t count;
    const struct column *columns = sampler_columns(sampler, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(columns[i].name, name) == 0)
            return sample->values[i];
    return LINES_NULL;
}

/* The GPU reports a momentary value: take the mean of ten readings per second. */
static json_t *measure(struct sampler *sampler, const char *gpu_column, int64_t duration_ns)
{
    struct sample sample;
    int64_t began_ns = clock_monotonic_ns(), first = LINES_NULL, last = LINES_NULL, readings = 0;
    double gpu = 0;
    for (int64_t at_ns = began_ns; at_ns <= began_ns + duration_ns; at_ns += 100 * NS_PER_MS) {
        (void)clock_sleep_until_ns(at_ns);
        (void)sampler_take(sampler, &sample);
        int64_t value = find(sampler, &sample, gpu_column);
        last = find(sampler, &sample, RDMA_COLUMN);
        first = first == LINES_NULL ? last : first;
        gpu += value != LINES_NULL ? (double)value : 0;
        readings += value != LINES_NULL;
    }
    double seconds = (double)(clock_monotonic_ns() - began_ns) / 1e9;
    if (first == LINES_NULL || last == LINES_NULL)
        return json_pack("{s:s}", "missing", "the NIC does not count RDMA bytes (" RDMA_COLUMN ", mlx5)");
    if (readings == 0)
        return json_pack("{s:s}", "missing", "the GPU does not report its PCIe throughput");
    return json_pack("{s:f,s:f}", "rdma_rx_bytes_per_s", (double)(last - first) / seconds,
                     "gpu_rx_bytes_per_s", gpu / (double)readings);
}

json_t *traffic_probe(const char *netdev, int gpu, int64_t duration_ns)
{
    struct target target = {.root = "", .gpu = gpu, .every_ns = 100 * NS_PER_MS, .rdma_port = 1};
    struct error e = {0};
    char column[32];
    snprintf(target.netdev, sizeof target.netdev, "%s", netdev);
    snprintf(column, sizeof column, "gpu%d_pcie_rx", gpu);
    target.ifindex = if_nametoindex(netdev);
    struct sampler *sampler = sampler_open(&target, UINT32_MAX, no_event, NULL, &e);
    if (!sampler)
        return json_pack("{s:s}", "missing", e.text);
    json_t *found = measure(sampler, column, duration_ns);
    sampler_close(sampler);
    return found;
}
