/* The PFC thresholds that result from an interface's settings. */
#ifndef NIC_CONFIG_HEADROOM_H
#define NIC_CONFIG_HEADROOM_H

#include "nic-config/device/device.h"
#include "lib/formats/settings.h"
#include <jansson.h>

/*
 * A list of {"buffer","size_bytes","xoff_bytes","xon_bytes","headroom_bytes"} of the lossless buffers, by
 * mlx5's formula; NULL when buffers or PFC are unknown. On an mlx5 a buffer that the driver would refuse is
 * an error (*refused), elsewhere a warning. A new reference.
 */
json_t *headroom_thresholds(const struct device *d, const struct settings *settings, json_t *warnings,
                            bool *refused, struct error *e);

#endif
