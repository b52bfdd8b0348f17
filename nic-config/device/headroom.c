#include "nic-config/device/headroom.h"

#include "nic-config/knobs/knob.h"
#include "lib/roce/thresholds.h"
#include <string.h>

/* The buffers to which a priority with PFC is mapped. */
static uint8_t lossless_buffers(const struct settings *settings)
{
    uint8_t pfc = knob_mask(&settings->pfc), buffers = 0;
    for (int priority = 0; priority < 8; priority++)
        if (pfc & (1u << priority))
            buffers |= (uint8_t)(1u << (knob_map_value(&settings->prio_to_buffer, priority, 0) & 7));
    return buffers;
}

/* The interface of another driver is treated like a ConnectX-4 Lx, whose maximum MTU is used instead of its own. */
static struct thresholds_port port_of(const struct device *d, const struct settings *settings, bool mlx5)
{
    return (struct thresholds_port){.cable_m =
                                        settings->cable_mm == FIELD_UNSET ? 0 : settings->cable_mm / 1000,
                                    .speed_Mbps = device_speed_Mbps(d),
                                    .mtu = settings->mtu,
                                    .max_mtu = mlx5 && d->max_mtu > 0 ? d->max_mtu : THRESHOLDS_MLX5_MAX_MTU,
                                    .cell_bytes = THRESHOLDS_MLX5_CELL};
}

json_t *headroom_thresholds(const struct device *d, const struct settings *settings, json_t *warnings,
                            bool *refused, struct error *e)
{
    bool mlx5 = strcmp(d->driver, "mlx5_core") == 0;
    const int64_t *bytes = settings->buffer_bytes.items;
    *refused = false;
    if (!settings->pfc.items || settings->buffer_bytes.count == 0 || settings->mtu == FIELD_UNSET)
        return NULL;
    struct thresholds_port port = port_of(d, settings, mlx5);
    uint8_t lossless = lossless_buffers(settings);
    json_t *list = json_array();
    for (size_t i = 0; i < settings->buffer_bytes.count && i < 8; i++) {
        struct thresholds t;
        struct error why;
        if (!(lossless & (1u << i)))
            continue;
        if (thresholds_mlx5(&port, bytes[i], &t, &why) == 0) {
            json_array_append_new(list, json_pack("{s:i,s:I,s:I,s:I,s:I}", "buffer", (int)i, "size_bytes",
                                                  bytes[i], "xoff_bytes", t.xoff_bytes, "xon_bytes",
                                                  t.xon_bytes, "headroom_bytes", t.headroom_bytes));
        } else if (mlx5) {
            *refused = true;
            error_set(e, "%s: buffer %zu: %s", d->name, i, why.text);
        } else {
            json_array_append_new(warnings, json_sprintf("%s: buffer %zu: an mlx5 driver would refuse it: %s",
                                                         d->name, i, why.text));
        }
    }
    return list;
}
