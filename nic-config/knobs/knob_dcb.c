/* PFC, receive buffers, cable length and ETS, over DCB netlink; buffers over MLNX_OFED's sysfs if DCB does
 * not have them. */
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "nic-config/device/dcb.h"
#include "nic-config/device/headroom.h"
#include "nic-config/knobs/knob.h"

#include "lib/files.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRIORITIES 8
/* linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c: longer cables, and 0, are ignored without an
 * error. */
#define MLX5_MAX_CABLE_M 1000

/* DCB is available, and the driver supports this part of it. */
static enum knob_answer read_dcb(const struct device *d, struct dcb *dcb, size_t part, const char *what,
                                 struct error *e)
{
    int number;
    if (dcb_read(d, dcb, &number, e) != 0)
        return knob_answer_of(number);
    if (*(const bool *)((const char *)dcb + part))
        return KNOB_READ;
    error_set(e, "the driver of %s has no %s in its DCB settings", d->name, what);
    return KNOB_MISSING;
}

/* ---- PFC and cable: one struct ieee_pfc */

static enum knob_answer read_pfc(struct device *d, json_t *settings, struct text *place, struct error *e)
{
    struct dcb dcb;
    enum knob_answer answer = read_dcb(d, &dcb, offsetof(struct dcb, has_pfc), "PFC", e);
    if (answer != KNOB_READ)
        return answer;
    json_object_set_new(settings, "pfc", knob_mask_list(dcb.pfc.pfc_en));
    text_add(place, "DCB netlink, ieee_pfc");
    return KNOB_READ;
}

static int complete_pfc(struct device *d, const json_t *wanted, json_t *target, struct error *e)
{
    uint8_t mask = 0;
    size_t i;
    const json_t *item;
    (void)d;
    (void)wanted;
    (void)e;
    json_array_foreach(json_object_get(target, "pfc"), i, item) mask |=
        (uint8_t)(1u << (json_integer_value(item) & 7));
    json_object_set_new(target, "pfc", knob_mask_list(mask));
    return 0;
}

static int check_pfc(struct device *d, const struct settings *now, const struct settings *target,
                     json_t *warnings, struct error *e)
{
    struct dcb dcb;
    int number, wanted = __builtin_popcount(knob_mask(&target->pfc));
    (void)now;
    (void)warnings;
    if (dcb_read(d, &dcb, &number, e) != 0)
        return -1;
    if (dcb.pfc.pfc_cap > 0 && wanted > dcb.pfc.pfc_cap)
        return error_set(e, "%s: pfc on %d priorities: the device supports %d at the same time", d->name,
                         wanted, dcb.pfc.pfc_cap);
    return 0;
}

static int write_mask(struct device *d, uint8_t mask, struct error *e)
{
    struct dcb dcb;
    int number;
    char what[96];
    if (dcb_read(d, &dcb, &number, e) != 0)
        return -1;
    snprintf(what, sizeof what, "setting PFC of %s to mask 0x%02x", d->name, mask);
    dcb.pfc.pfc_en = mask;
    return dcb_write(d, DCB_ATTR_IEEE_PFC, &dcb.pfc, sizeof dcb.pfc, what, e);
}

static int write_pfc(struct device *d, const struct settings *now, const struct settings *target,
                     struct error *e)
{
    (void)now;
    return write_mask(d, knob_mask(&target->pfc), e);
}

static enum knob_answer read_cable(struct device *d, json_t *settings, struct text *place, struct error *e)
{
    struct dcb dcb;
    char length[32];
    enum knob_answer answer = read_dcb(d, &dcb, offsetof(struct dcb, has_pfc), "PFC", e);
    if (answer != KNOB_READ)
        return answer;
    units_format(UNIT_LENGTH_MM, dcb.pfc.delay * 1000LL, length, sizeof length);
    json_object_set_new(settings, "cable", json_text(length));
    text_add(place, "DCB netlink, ieee_pfc delay");
    return KNOB_READ;
}

static int check_cable(struct device *d, const struct settings *now, const struct settings *target,
                       json_t *warnings, struct error *e)
{
    int64_t metres = target->cable_mm / 1000;
    (void)now;
    (void)warnings;
    if (target->cable_mm % 1000 != 0)
        return error_set(e, "%s: cable of %lld mm: drivers accept whole metres only; round up", d->name,
                         (long long)target->cable_mm);
    if (metres > UINT16_MAX || (device_is_mlx5(d) && (metres < 1 || metres >= MLX5_MAX_CABLE_M)))
        return error_set(e, "%s: cable of %lld m: expected 1 to %d m (mlx5 ignores other lengths)", d->name,
                         (long long)metres, device_is_mlx5(d) ? MLX5_MAX_CABLE_M - 1 : UINT16_MAX);
    return 0;
}

static int write_cable(struct device *d, const struct settings *now, const struct settings *target,
                       struct error *e)
{
    struct dcb dcb;
    int number;
    char what[96];
    (void)now;
    if (dcb_read(d, &dcb, &number, e) != 0)
        return -1;
    dcb.pfc.delay = (uint16_t)(target->cable_mm / 1000);
    snprintf(what, sizeof what, "setting the cable length of %s to %u m", d->name, dcb.pfc.delay);
    return dcb_write(d, DCB_ATTR_IEEE_PFC, &dcb.pfc, sizeof dcb.pfc, what, e);
}

/* ---- buffers */

struct buffers {
    uint8_t of_priority[PRIORITIES];
    uint32_t bytes[DCBX_MAX_BUFFERS];
    uint32_t total_bytes; /* 0: unknown */
    bool sysfs;
};

/* MLNX_OFED's qos/prio2buffer ("priority buffer" a line) and qos/buffer_size ("buffer size xoff xon" a line):
 * lines of numbers after a heading. Reads the index and the first value of each line. */
static int read_table(const struct device *d, const char *file, uint32_t *values, struct error *e)
{
    char *path = host_path(d->host, "/sys/class/net/%s/qos/%s", d->name, file);
    char *all = path ? files_read(path, 65536, NULL, e) : NULL;
    char *rest = all, *line;
    unsigned int found = 0; /* a bit for each index */
    while (rest && (line = strsep(&rest, "\n"))) {
        unsigned int index, value;
        if (sscanf(line, "%u %u", &index, &value) == 2 && index < PRIORITIES) {
            values[index] = value;
            found |= 1U << index;
        }
    }
    bool whole = found == (1U << PRIORITIES) - 1;
    if (all && !whole)
        error_set(e, "%s: found lines of two numbers for %d of %d indexes", path, __builtin_popcount(found),
                  PRIORITIES);
    free(all);
    free(path);
    return whole ? 0 : -1;
}

/* "Port buffer size = N", the first line. */
static uint32_t read_total(const struct device *d)
{
    char *path = host_path(d->host, "/sys/class/net/%s/qos/buffer_size", d->name);
    char *all = path ? files_read(path, 65536, NULL, NULL) : NULL;
    unsigned int total = 0;
    if (all && sscanf(all, "Port buffer size = %u", &total) != 1)
        total = 0;
    free(all);
    free(path);
    return total;
}

static bool has_sysfs_buffers(const struct device *d)
{
    char *path = host_path(d->host, "/sys/class/net/%s/qos/buffer_size", d->name);
    bool there = path && files_exist(path);
    free(path);
    return there;
}

static int read_sysfs_buffers(const struct device *d, struct buffers *b, struct error *e)
{
    uint32_t of_priority[PRIORITIES];
    if (read_table(d, "prio2buffer", of_priority, e) != 0 || read_table(d, "buffer_size", b->bytes, e) != 0)
        return -1;
    for (int i = 0; i < PRIORITIES; i++) {
        if (of_priority[i] >= DCBX_MAX_BUFFERS)
            return error_set(e, "%s: qos/prio2buffer maps priority %d to buffer %u of %d", d->name, i,
                             of_priority[i], DCBX_MAX_BUFFERS);
        b->of_priority[i] = (uint8_t)of_priority[i];
    }
    b->total_bytes = read_total(d);
    b->sysfs = true;
    return 0;
}

static enum knob_answer read_both(const struct device *d, struct buffers *b, struct error *e)
{
    struct dcb dcb;
    enum knob_answer answer = read_dcb(d, &dcb, offsetof(struct dcb, has_buffer), "receive buffers", e);
    memset(b, 0, sizeof *b);
    if (answer == KNOB_MISSING && has_sysfs_buffers(d))
        return read_sysfs_buffers(d, b, e) == 0 ? KNOB_READ : KNOB_FAILED;
    if (answer != KNOB_READ)
        return answer;
    memcpy(b->of_priority, dcb.buffer.prio2buffer, sizeof b->of_priority);
    memcpy(b->bytes, dcb.buffer.buffer_size, sizeof b->bytes);
    b->total_bytes = dcb.buffer.total_size;
    return KNOB_READ;
}

static enum knob_answer read_buffers(struct device *d, json_t *settings, struct text *place, struct error *e)
{
    struct buffers b;
    enum knob_answer answer = read_both(d, &b, e);
    if (answer != KNOB_READ)
        return answer;
    json_t *map = json_object(), *list = json_array();
    for (int i = 0; i < PRIORITIES; i++) {
        char key[4];
        snprintf(key, sizeof key, "%d", i);
        json_object_set_new(map, key, json_integer(b.of_priority[i]));
        json_array_append_new(list, json_integer(b.bytes[i]));
    }
    json_object_set_new(settings, "prio_to_buffer", map);
    json_object_set_new(settings, "buffer_bytes", list);
    if (b.sysfs)
        text_add(place, "/sys/class/net/%s/qos/prio2buffer and buffer_size (MLNX_OFED)", d->name);
    else
        text_add(place, "DCB netlink, dcbnl_buffer");
    return KNOB_READ;
}

/* Buffers that are not in the list have size 0. */
static int complete_buffers(struct device *d, const json_t *wanted, json_t *target, struct error *e)
{
    json_t *list = json_object_get(target, "buffer_bytes");
    (void)wanted;
    if (json_array_size(list) > DCBX_MAX_BUFFERS)
        return error_set(e, "%s: buffer_bytes has %zu entries, but there are %d buffers", d->name,
                         json_array_size(list), DCBX_MAX_BUFFERS);
    while (json_array_size(list) < DCBX_MAX_BUFFERS)
        json_array_append_new(list, json_integer(0));
    return 0;
}

/* Frames of a priority whose buffer has size 0 are lost, or use shared memory of the device: warn about
 * it. */
static void warn_empty_buffers(const struct device *d, const struct settings *target, json_t *warnings)
{
    const int64_t *bytes = target->buffer_bytes.items;
    struct text priorities = {0};
    for (int i = 0; i < PRIORITIES; i++) {
        int64_t buffer = knob_map_value(&target->prio_to_buffer, i, 0);
        if (buffer < (int64_t)target->buffer_bytes.count && bytes[buffer] == 0)
            text_add(&priorities, "%s%d", priorities.length ? ", " : "", i);
    }
    if (priorities.length)
        json_array_append_new(warnings,
                              json_textf("%s: priorities %s are mapped to a receive buffer of 0 bytes",
                                         d->name, text_string(&priorities)));
    text_free(&priorities);
}

static int check_buffers(struct device *d, const struct settings *now, const struct settings *target,
                         json_t *warnings, struct error *e)
{
    struct buffers b;
    int64_t sum = 0;
    const int64_t *bytes = target->buffer_bytes.items;
    if (read_both(d, &b, e) != KNOB_READ)
        return -1;
    for (size_t i = 0; i < target->buffer_bytes.count; i++)
        sum += bytes[i];
    if (b.total_bytes > 0 && sum > b.total_bytes)
        return error_set(e, "%s: the sum of buffer_bytes is %lld, but the port has %u", d->name,
                         (long long)sum, b.total_bytes);
    warn_empty_buffers(d, target, warnings);
    return headroom_check_pause(d, now, target, warnings, e);
}

static int write_sysfs_buffers(struct device *d, const struct settings *target, struct error *e)
{
    struct text map = {0}, sizes = {0};
    const int64_t *bytes = target->buffer_bytes.items;
    for (int i = 0; i < PRIORITIES; i++) {
        text_add(&map, "%s%lld", i ? "," : "", (long long)knob_map_value(&target->prio_to_buffer, i, 0));
        text_add(&sizes, "%s%lld", i ? "," : "", (long long)bytes[i]);
    }
    char *map_path = host_path(d->host, "/sys/class/net/%s/qos/prio2buffer", d->name);
    char *sizes_path = host_path(d->host, "/sys/class/net/%s/qos/buffer_size", d->name);
    int result = map_path && sizes_path && files_write(sizes_path, text_string(&sizes), e) == 0
                     ? files_write(map_path, text_string(&map), e)
                     : -1;
    free(map_path);
    free(sizes_path);
    text_free(&map);
    text_free(&sizes);
    return result;
}

/* Priorities whose buffer changes or shrinks. */
static uint8_t unsettled(const struct buffers *b, const struct settings *target)
{
    const int64_t *bytes = target->buffer_bytes.items;
    uint8_t mask = 0;
    for (int i = 0; i < PRIORITIES; i++) {
        uint8_t old = b->of_priority[i];
        bool moves = knob_map_value(&target->prio_to_buffer, i, old) != old;
        if (moves || (old < target->buffer_bytes.count && bytes[old] < b->bytes[old]))
            mask |= (uint8_t)(1u << i);
    }
    return mask;
}

/* mlx5 checks a new priority map against the old sizes, and refuses it if it would make a small buffer
 * lossless; and it refuses to make a lossless buffer too small. So PFC of such priorities is switched off
 * first, and on again when PFC is written. */
static int park_pfc(struct device *d, const struct buffers *b, const struct settings *target, struct error *e)
{
    struct dcb dcb;
    int number;
    uint8_t parked = unsettled(b, target);
    if (dcb_read(d, &dcb, &number, e) != 0)
        return knob_answer_of(number) == KNOB_MISSING ? 0 : -1;
    if (!dcb.has_pfc || !(dcb.pfc.pfc_en & parked))
        return 0;
    struct device before = *d;
    int gids = device_gid_count(d);
    return write_mask(d, (uint8_t)(dcb.pfc.pfc_en & ~parked), e) == 0
               ? device_settle(d, &before, gids, clock_monotonic_ns(), FLAP_LATER_NS, e)
               : -1;
}

static int write_buffers(struct device *d, const struct settings *now, const struct settings *target,
                         struct error *e)
{
    struct buffers b;
    struct dcbnl_buffer buffer = {0};
    const int64_t *bytes = target->buffer_bytes.items;
    char what[96];
    (void)now;
    if (read_both(d, &b, e) != KNOB_READ || park_pfc(d, &b, target, e) != 0)
        return -1;
    if (b.sysfs)
        return write_sysfs_buffers(d, target, e);
    for (int i = 0; i < PRIORITIES; i++) {
        buffer.prio2buffer[i] = (uint8_t)knob_map_value(&target->prio_to_buffer, i, b.of_priority[i]);
        buffer.buffer_size[i] = (uint32_t)bytes[i];
    }
    buffer.total_size = b.total_bytes;
    snprintf(what, sizeof what, "setting the receive buffers of %s", d->name);
    return dcb_write(d, DCB_ATTR_DCB_BUFFER, &buffer, sizeof buffer, what, e);
}

/* ---- ETS */

static const char *const selection_names[] = {"strict", "credit", "ets", "vendor"};
static const uint8_t selection_codes[] = {IEEE_8021QAZ_TSA_STRICT, IEEE_8021QAZ_TSA_CB_SHAPER,
                                          IEEE_8021QAZ_TSA_ETS, IEEE_8021QAZ_TSA_VENDOR};

static const char *selection_name(uint8_t code)
{
    for (size_t i = 0; i < sizeof selection_codes; i++)
        if (selection_codes[i] == code)
            return selection_names[i];
    return "vendor";
}

static enum knob_answer read_ets(struct device *d, json_t *settings, struct text *place, struct error *e)
{
    struct dcb dcb;
    enum knob_answer answer = read_dcb(d, &dcb, offsetof(struct dcb, has_ets), "ETS", e);
    if (answer != KNOB_READ)
        return answer;
    json_t *map = json_object(), *weights = json_array(), *selection = json_array();
    for (int i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
        char key[4];
        bool shares = dcb.ets.tc_tsa[i] == IEEE_8021QAZ_TSA_ETS;
        snprintf(key, sizeof key, "%d", i);
        json_object_set_new(map, key, json_integer(dcb.ets.prio_tc[i] & 7));
        json_array_append_new(weights, json_integer(shares ? dcb.ets.tc_tx_bw[i] : 0));
        json_array_append_new(selection, json_text(selection_name(dcb.ets.tc_tsa[i])));
    }
    json_object_set_new(
        settings, "ets",
        json_make("{s:o,s:o,s:o}", "prio_to_tc", map, "weights", weights, "selection", selection));
    text_add(place, "DCB netlink, ieee_ets");
    return KNOB_READ;
}

/* Eight traffic classes; a weight without a selection algorithm means ets. */
static int complete_ets(struct device *d, const json_t *wanted, json_t *target, struct error *e)
{
    json_t *ets = json_object_get(target, "ets"), *weights = json_object_get(ets, "weights");
    json_t *selection = json_object_get(ets, "selection");
    const json_t *asked = json_object_get(wanted, "ets");
    if (json_array_size(weights) > IEEE_8021QAZ_MAX_TCS || json_array_size(selection) > IEEE_8021QAZ_MAX_TCS)
        return error_set(e, "%s: ets lists more than %d traffic classes", d->name, IEEE_8021QAZ_MAX_TCS);
    while (json_array_size(weights) < IEEE_8021QAZ_MAX_TCS)
        json_array_append_new(weights, json_integer(0));
    if (json_object_get(asked, "weights") && !json_object_get(asked, "selection"))
        json_array_clear(selection);
    for (size_t i = json_array_size(selection); i < IEEE_8021QAZ_MAX_TCS; i++)
        json_array_append_new(
            selection, json_text(json_integer_value(json_array_get(weights, i)) > 0 ? "ets" : "strict"));
    return 0;
}

static int write_ets(struct device *d, const struct settings *now, const struct settings *target,
                     struct error *e)
{
    struct dcb dcb;
    int number;
    char what[96];
    const int64_t *weights = target->ets->weights.items;
    const int *selection = target->ets->selection.items;
    (void)now;
    if (dcb_read(d, &dcb, &number, e) != 0)
        return -1;
    for (int i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
        dcb.ets.prio_tc[i] = (uint8_t)knob_map_value(&target->ets->prio_to_tc, i, dcb.ets.prio_tc[i]);
        dcb.ets.tc_tsa[i] = selection_codes[selection[i]];
        dcb.ets.tc_tx_bw[i] = (uint8_t)weights[i];
    }
    snprintf(what, sizeof what, "setting ETS of %s", d->name);
    return dcb_write(d, DCB_ATTR_IEEE_ETS, &dcb.ets, sizeof dcb.ets, what, e);
}

static const char *const pfc_keys[] = {"pfc", NULL}, *const cable_keys[] = {"cable", NULL},
                         *const buffers_keys[] = {"prio_to_buffer", "buffer_bytes", NULL},
                         *const ets_keys[] = {"ets", NULL};

const struct knob knob_pfc = {.name = "pfc",
                              .keys = pfc_keys,
                              .flap_ns = FLAP_LATER_NS,
                              .read = read_pfc,
                              .complete = complete_pfc,
                              .check = check_pfc,
                              .write = write_pfc};
const struct knob knob_cable = {
    .name = "cable", .keys = cable_keys, .read = read_cable, .check = check_cable, .write = write_cable};
const struct knob knob_buffers = {.name = "buffers",
                                  .keys = buffers_keys,
                                  .follows = true,
                                  .read = read_buffers,
                                  .complete = complete_buffers,
                                  .check = check_buffers,
                                  .write = write_buffers};
const struct knob knob_ets = {
    .name = "ets", .keys = ets_keys, .read = read_ets, .complete = complete_ets, .write = write_ets};
