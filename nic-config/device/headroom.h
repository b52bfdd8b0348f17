/* The PFC thresholds that result from an interface's settings. */
#ifndef NIC_CONFIG_HEADROOM_H
#define NIC_CONFIG_HEADROOM_H

#include "nic-config/device/device.h"
#include "lib/formats/settings.h"
#include <jansson.h>

/*
 * A list of {"buffer","size_bytes","xoff_bytes","xon_bytes","headroom_bytes","priorities","source":"formula"}
 * of the lossless buffers, by mlx5's formula; NULL when buffers or PFC are unknown. On an mlx5 a buffer that
 * the driver would refuse is an error (*refused), elsewhere a warning. A new reference.
 */
json_t *headroom_thresholds(const struct device *d, const struct settings *settings, json_t *warnings,
                            bool *refused, struct error *e);

/* Replace the thresholds of a list of buffers in force by those that the driver shows: MLNX_OFED's
 * qos/buffer_size alone does
 * ("source": "driver"). A difference is a warning, and the entry has the formula's values as "formula"
 * too. */
void headroom_read_back(const struct device *d, json_t *list, json_t *warnings);

/*
 * What mlx5 refuses of new buffers while global pause is on (linux
 * drivers/net/ethernet/mellanox/mlx5/core/en/port_buffer.c, fill_pfc_en): every buffer with a priority is
 * lossless then, and a new map is held against the old sizes before the new ones are. An error where a buffer
 * becomes lossless that was not used; where none does, the driver may have looked already, and it is a
 * warning.
 */
int headroom_check_pause(const struct device *d, const struct settings *now, const struct settings *target,
                         json_t *warnings, struct error *e);

#endif
