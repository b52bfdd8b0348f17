#include "collectors/facts/traffic_probe.h"

#include "collectors/sampler/sampler.h"
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/process.h"
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* mlx5 counts the RDMA traffic that this PCI function received; NVML reports what the GPU received over
 * PCIe. */
#define RDMA_COLUMN "rx_vport_rdma_unicast_bytes"

static void no_event(void *context, const char *source, const char *what, const char *text)
{
    (void)context;
    (void)source;
    (void)what;
    (void)text;
}

static int64_t column_value(const struct sampler *sampler, const struct sample *sample, const char *name)
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
        int64_t value = column_value(sampler, &sample, gpu_column);
        last = column_value(sampler, &sample, RDMA_COLUMN);
        first = first == LINES_NULL ? last : first;
        gpu += value != LINES_NULL ? (double)value : 0;
        readings += value != LINES_NULL;
    }
    double seconds = (double)(clock_monotonic_ns() - began_ns) / 1e9;
    if (first == LINES_NULL || last == LINES_NULL)
        return json_make("{s:s}", "missing", "the NIC does not count RDMA bytes (" RDMA_COLUMN ", mlx5)");
    if (readings == 0)
        return json_make("{s:s}", "missing", "the GPU does not report its PCIe throughput");
    return json_make("{s:f,s:f}", "rdma_rx_bytes_per_s", (double)(last - first) / seconds,
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
        return json_make("{s:s}", "missing", e.text);
    json_t *found = measure(sampler, column, duration_ns);
    sampler_close(sampler);
    return found;
}

/* ---- GDRCopy */

#define COPYBW_TIMEOUT_NS (60 * NS_PER_S)

/* "write BW: 9638.54MB/s" (NVIDIA's gdrcopy, tests/copybw.cpp); -1: no such line. */
static double copy_rate(const char *output, const char *label)
{
    const char *at = strstr(output, label);
    char *end;
    double megabytes = at ? strtod(at + strlen(label), &end) : -1;
    return at && strncmp(end, "MB/s", 4) == 0 && megabytes > 0 && megabytes < 1e9 ? megabytes * 1e6 : -1;
}

json_t *gdrcopy_parse(const char *output)
{
    double written = copy_rate(output, "write BW: "), read = copy_rate(output, "read BW: ");
    if (written < 0 || read < 0)
        return json_make("{s:s}", "missing", "gdrcopy_copybw printed no bandwidth");
    return json_make("{s:f,s:f}", "write_bytes_per_s", written, "read_bytes_per_s", read);
}

json_t *gdrcopy_probe(int gpu)
{
    char number[16];
    const char *const argv[] = {"gdrcopy_copybw", "-d", number, NULL};
    struct text out = {0}, err = {0};
    struct error e = {0};
    snprintf(number, sizeof number, "%d", gpu);
    int status = process_run(argv, NULL, &out, &err, COPYBW_TIMEOUT_NS, &e);
    json_t *found = NULL;
    if (status != 0) {
        struct text why = {0};
        if (status > 0)
            text_add(&why, "gdrcopy_copybw exited with %d: %.*s", status,
                     (int)strcspn(text_string(&err), "\n"), text_string(&err));
        found = json_make("{s:s}", "missing", status > 0 ? text_string(&why) : e.text);
        text_free(&why);
    } else {
        found = gdrcopy_parse(text_string(&out));
    }
    text_free(&out);
    text_free(&err);
    return found;
}
