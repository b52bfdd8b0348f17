#include "nic-config/device/headroom.h"

#include "lib/document/json_text.h"
#include "nic-config/knobs/knob.h"
#include "lib/files.h"
#include "lib/roce/thresholds.h"
#include <stdio.h>
#include <stdlib.h>
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

/* The priorities with PFC that are mapped to the buffer. */
static json_t *lossless_priorities(const struct settings *settings, size_t buffer)
{
    uint8_t pfc = knob_mask(&settings->pfc);
    for (int priority = 0; priority < 8; priority++)
        if (knob_map_value(&settings->prio_to_buffer, priority, 0) != (int64_t)buffer)
            pfc &= (uint8_t) ~(1u << priority);
    return knob_mask_list(pfc);
}

/* The buffers to which a priority is mapped at all. */
static uint8_t used_buffers(const struct settings *settings)
{
    uint8_t buffers = 0;
    for (int priority = 0; priority < 8; priority++)
        buffers |= (uint8_t)(1u << (knob_map_value(&settings->prio_to_buffer, priority, 0) & 7));
    return buffers;
}

/* The interface of another driver is treated like a ConnectX-4 Lx, whose maximum MTU is used instead of its
 * own. */
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
    bool mlx5 = device_is_mlx5(d);
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
            json_array_append_new(list,
                                  json_make("{s:i,s:I,s:I,s:I,s:I,s:o,s:s}", "buffer", (int)i, "size_bytes",
                                            bytes[i], "xoff_bytes", t.xoff_bytes, "xon_bytes", t.xon_bytes,
                                            "headroom_bytes", t.headroom_bytes, "priorities",
                                            lossless_priorities(settings, i), "source", "formula"));
        } else if (mlx5) {
            *refused = true;
            error_set(e, "%s: buffer %zu: %s", d->name, i, why.text);
        } else {
            json_array_append_new(warnings, json_textf("%s: buffer %zu: an mlx5 driver would refuse it: %s",
                                                       d->name, i, why.text));
        }
    }
    return list;
}

static int64_t size_of(const struct settings *settings, size_t buffer)
{
    const int64_t *bytes = settings->buffer_bytes.items;
    return buffer < settings->buffer_bytes.count ? bytes[buffer] : 0;
}

/* Is one of the buffers too small to be lossless? The sentence names it. */
static bool too_small(const struct thresholds_port *port, const struct settings *sizes, uint8_t buffers,
                      const char *which, struct text *why)
{
    struct thresholds t;
    struct error e;
    for (size_t i = 0; i < 8; i++)
        if ((buffers & (1u << i)) && thresholds_mlx5(port, size_of(sizes, i), &t, &e) != 0) {
            text_add(why,
                     "buffer %zu: global pause is on, for which mlx5 takes every buffer with a priority as "
                     "lossless; its %s size: %s; set rx_pause and tx_pause to false",
                     i, which, e.text);
            return true;
        }
    return false;
}

int headroom_check_pause(const struct device *d, const struct settings *now, const struct settings *target,
                         json_t *warnings, struct error *e)
{
    uint8_t used = used_buffers(target);
    struct text why = {0};
    int result = 0;
    if (!device_is_mlx5(d) || (target->rx_pause != 1 && target->tx_pause != 1) || target->mtu == FIELD_UNSET)
        return 0;
    struct thresholds_port port = port_of(d, target, true);
    bool refused = too_small(&port, now, used, "old", &why) || too_small(&port, target, used, "new", &why);
    if (refused && (used & ~used_buffers(now)))
        result = error_set(e, "%s: %s", d->name, text_string(&why));
    else if (refused)
        json_array_append_new(warnings,
                              json_textf("%s: the driver may refuse: %s", d->name, text_string(&why)));
    text_free(&why);
    return result;
}

/* ---- what the driver shows */

/* The line of a buffer in MLNX_OFED's qos/buffer_size: "index size xoff xon", in bytes. */
static bool driver_thresholds(const char *text, int64_t buffer, int64_t *xoff, int64_t *xon)
{
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        long long index, size, off, on;
        if (sscanf(line, "%lld %lld %lld %lld", &index, &size, &off, &on) != 4 || index != buffer)
            continue;
        *xoff = off;
        *xon = on;
        return true;
    }
    return false;
}

static void take_driver(const struct device *d, json_t *entry, int64_t xoff, int64_t xon, json_t *warnings)
{
    int64_t our_xoff = json_integer_value(json_object_get(entry, "xoff_bytes")),
            our_xon = json_integer_value(json_object_get(entry, "xon_bytes"));
    json_object_set_new(entry, "source", json_text("driver"));
    if (xoff == our_xoff && xon == our_xon)
        return;
    json_object_set_new(entry, "xoff_bytes", json_integer(xoff));
    json_object_set_new(entry, "xon_bytes", json_integer(xon));
    json_object_set_new(
        entry, "formula",
        json_make("{s:I,s:I}", "xoff_bytes", (json_int_t)our_xoff, "xon_bytes", (json_int_t)our_xon));
    json_array_append_new(
        warnings,
        json_textf(
            "%s: buffer %lld: the driver uses xoff %lld and xon %lld, the formula gives %lld and %lld%s",
            d->name, (long long)json_integer_value(json_object_get(entry, "buffer")), (long long)xoff,
            (long long)xon, (long long)our_xoff, (long long)our_xon,
            xoff == 0 ? ": the buffer is not lossless" : ""));
}

void headroom_read_back(const struct device *d, json_t *list, json_t *warnings)
{
    char *path = host_path(d->host, "/sys/class/net/%s/qos/buffer_size", d->name);
    char *text = path ? files_read(path, 65536, NULL, NULL) : NULL;
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry)
    {
        int64_t xoff, xon;
        if (text &&
            driver_thresholds(text, json_integer_value(json_object_get(entry, "buffer")), &xoff, &xon))
            take_driver(d, entry, xoff, xon, warnings);
    }
    free(text);
    free(path);
}
