/* Whether data that the NIC receives by RDMA reaches the GPU over PCIe. */
#ifndef COLLECTORS_TRAFFIC_PROBE_H
#define COLLECTORS_TRAFFIC_PROBE_H

#include <jansson.h>
#include <stdint.h>

/* {"rdma_rx_bytes_per_s", "gpu_rx_bytes_per_s"} measured over one second, or {"missing": "why"}. A new
 * reference. */
json_t *traffic_probe(const char *netdev, int gpu, int64_t duration_ns);

/* GDRCopy's own test on a GPU: {"write_bytes_per_s", "read_bytes_per_s"} of gdrcopy_copybw, or {"missing":
 * "why"}. A new reference. */
json_t *gdrcopy_probe(int gpu);
/* The same from what gdrcopy_copybw printed. */
json_t *gdrcopy_parse(const char *output);

#endif
