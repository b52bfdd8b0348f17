/* Rings, interrupt coalescing and global pause over ethtool netlink; PFC stall prevention by the ethtool
 * ioctl, which alone has tunables, or by MLNX_OFED's sysfs. */
#include "nic-config/knobs/knob.h"

#include "lib/document/json_text.h"
#include "lib/files.h"
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define LARGEST_ATTRIBUTE 64

/* Values that are read by one get command of ethtool netlink and written by one set command. */
#define VALUES 3
struct group {
    const char *what;
    uint8_t get, set;
    int count;
    uint16_t header, attribute[VALUES], most[VALUES]; /* most: attributes of the maxima, or 0 */
    const char *keys[VALUES];
    bool boolean;
};

static const struct group ring = {.what = "rings",
                                  .get = ETHTOOL_MSG_RINGS_GET,
                                  .set = ETHTOOL_MSG_RINGS_SET,
                                  .count = 2,
                                  .header = ETHTOOL_A_RINGS_HEADER,
                                  .attribute = {ETHTOOL_A_RINGS_RX, ETHTOOL_A_RINGS_TX},
                                  .most = {ETHTOOL_A_RINGS_RX_MAX, ETHTOOL_A_RINGS_TX_MAX},
                                  .keys = {"rx_ring", "tx_ring"}};
static const struct group coalesce = {
    .what = "coalescing",
    .get = ETHTOOL_MSG_COALESCE_GET,
    .set = ETHTOOL_MSG_COALESCE_SET,
    .count = 2,
    .header = ETHTOOL_A_COALESCE_HEADER,
    .attribute = {ETHTOOL_A_COALESCE_RX_USECS, ETHTOOL_A_COALESCE_RX_MAX_FRAMES},
    .keys = {"rx_coalesce_us", "rx_coalesce_frames"}};
static const struct group pause_group = {
    .what = "global pause",
    .get = ETHTOOL_MSG_PAUSE_GET,
    .set = ETHTOOL_MSG_PAUSE_SET,
    .count = 3,
    .header = ETHTOOL_A_PAUSE_HEADER,
    .attribute = {ETHTOOL_A_PAUSE_AUTONEG, ETHTOOL_A_PAUSE_RX, ETHTOOL_A_PAUSE_TX},
    .keys = {"pause_autoneg", "rx_pause", "tx_pause"},
    .boolean = true};

struct answer {
    bool has[LARGEST_ATTRIBUTE];
    uint64_t value[LARGEST_ATTRIBUTE];
};

static int keep_numbers(const struct nlmsghdr *message, void *data)
{
    struct answer *answer = data;
    const struct nlattr *table[LARGEST_ATTRIBUTE];
    netlink_parse(message, sizeof(struct genlmsghdr), table, LARGEST_ATTRIBUTE);
    for (int i = 0; i < LARGEST_ATTRIBUTE; i++)
        answer->has[i] = netlink_number(table[i], &answer->value[i]);
    return MNL_CB_OK;
}

static struct nlmsghdr *prepare(union netlink_request *r, uint16_t family, uint8_t command, uint16_t flags,
                                uint16_t header, const char *name)
{
    struct nlmsghdr *m = netlink_prepare_generic(r, family, command, flags);
    struct nlattr *nest = mnl_attr_nest_start(m, header);
    mnl_attr_put_strz(m, ETHTOOL_A_HEADER_DEV_NAME, name);
    mnl_attr_nest_end(m, nest);
    return m;
}

static enum knob_answer query_group(const struct device *d, const struct group *p, struct answer *answer,
                                    struct error *e)
{
    uint16_t family;
    union netlink_request r;
    struct netlink *n = host_family(d->host, "ethtool", &family, e);
    memset(answer, 0, sizeof *answer);
    if (!n)
        return KNOB_MISSING;
    if (netlink_call(n, prepare(&r, family, p->get, 0, p->header, d->name), keep_numbers, answer, e) == 0)
        return KNOB_READ;
    int number = netlink_errno(n);
    error_prefix(e, "reading the %s of %s", p->what, d->name);
    return knob_answer_of(number);
}

static enum knob_answer read_group(struct device *d, const struct group *p, json_t *settings,
                                   struct text *place, struct error *e)
{
    struct answer answer;
    int found = 0;
    enum knob_answer result = query_group(d, p, &answer, e);
    if (result != KNOB_READ)
        return result;
    for (int i = 0; i < p->count; i++) {
        if (!answer.has[p->attribute[i]])
            continue;
        uint64_t value = answer.value[p->attribute[i]];
        json_object_set_new(settings, p->keys[i],
                            p->boolean ? json_boolean(value != 0) : json_integer((json_int_t)value));
        found++;
    }
    text_add(place, "ethtool netlink");
    if (found == 0)
        error_set(e, "the driver of %s has no %s", d->name, p->what);
    return found > 0 ? KNOB_READ : KNOB_MISSING;
}

static int check_most(struct device *d, const struct group *p, const int64_t *values, struct error *e)
{
    struct answer answer;
    if (query_group(d, p, &answer, e) != KNOB_READ)
        return -1;
    for (int i = 0; i < p->count; i++)
        if (p->most[i] != 0 && values[i] != FIELD_UNSET && answer.has[p->most[i]] &&
            (uint64_t)values[i] > answer.value[p->most[i]])
            return error_set(e, "%s: %s %lld: the device supports at most %llu", d->name, p->keys[i],
                             (long long)values[i], (unsigned long long)answer.value[p->most[i]]);
    return 0;
}

static int write_group(struct device *d, const struct group *p, const int64_t *values, struct error *e)
{
    uint16_t family;
    union netlink_request r;
    char what[96];
    struct netlink *n = host_family(d->host, "ethtool", &family, e);
    if (!n)
        return -1;
    struct nlmsghdr *m = prepare(&r, family, p->set, NLM_F_ACK, p->header, d->name);
    for (int i = 0; i < p->count; i++) {
        if (values[i] == FIELD_UNSET)
            continue;
        if (p->boolean)
            mnl_attr_put_u8(m, p->attribute[i], values[i] == 1);
        else
            mnl_attr_put_u32(m, p->attribute[i], (uint32_t)values[i]);
    }
    snprintf(what, sizeof what, "setting the %s of %s", p->what, d->name);
    return host_change(n, m, NULL, NULL, what, NULL, e);
}

/* ---- rings, coalescing, pause */

static enum knob_answer read_ring(struct device *d, json_t *settings, struct text *place, struct error *e)
{
    return read_group(d, &ring, settings, place, e);
}

static int check_ring(struct device *d, const struct settings *now, const struct settings *target,
                      json_t *warnings, struct error *e)
{
    (void)now;
    (void)warnings;
    return check_most(d, &ring, (const int64_t[]){target->rx_ring, target->tx_ring}, e);
}

/* A value that does not change is not sent: some drivers refuse a size that they could not set now. */
static int64_t changed(int64_t now, int64_t target)
{
    return now == target ? FIELD_UNSET : target;
}

static int write_ring(struct device *d, const struct settings *now, const struct settings *target,
                      struct error *e)
{
    return write_group(
        d, &ring,
        (const int64_t[]){changed(now->rx_ring, target->rx_ring), changed(now->tx_ring, target->tx_ring)}, e);
}

static enum knob_answer read_coalesce(struct device *d, json_t *settings, struct text *place, struct error *e)
{
    return read_group(d, &coalesce, settings, place, e);
}

static int write_coalesce(struct device *d, const struct settings *now, const struct settings *target,
                          struct error *e)
{
    return write_group(d, &coalesce,
                       (const int64_t[]){changed(now->rx_coalesce_us, target->rx_coalesce_us),
                                         changed(now->rx_coalesce_frames, target->rx_coalesce_frames)},
                       e);
}

static enum knob_answer read_pause(struct device *d, json_t *settings, struct text *place, struct error *e)
{
    return read_group(d, &pause_group, settings, place, e);
}

/* Negotiated pause cannot be set: setting it switches negotiation off. */
static int complete_pause(struct device *d, const json_t *wanted, json_t *target, struct error *e)
{
    (void)d;
    (void)e;
    if (!json_object_get(wanted, "pause_autoneg"))
        json_object_set_new(target, "pause_autoneg", json_false());
    return 0;
}

/* IEEE 802.1Q has one or the other on a link. mlx5's write of PFC turns pause off; a write of pause leaves
 * both on, or turns PFC off, depending on the firmware. */
static int check_pause(struct device *d, const struct settings *now, const struct settings *target,
                       json_t *warnings, struct error *e)
{
    (void)now;
    if (target->pfc.count == 0 || (target->rx_pause != 1 && target->tx_pause != 1))
        return 0;
    if (device_is_mlx5(d))
        return error_set(e,
                         "%s: global pause and PFC cannot both be on: set rx_pause and tx_pause to false, or "
                         "pfc to []",
                         d->name);
    json_array_append_new(warnings,
                          json_textf("%s: 802.3x global pause and PFC are both on; drivers use only one of "
                                     "them: set rx_pause and tx_pause to false",
                                     d->name));
    return 0;
}

static int write_pause(struct device *d, const struct settings *now, const struct settings *target,
                       struct error *e)
{
    (void)now;
    return write_group(
        d, &pause_group,
        (const int64_t[]){target->pause_autoneg == 1, target->rx_pause == 1, target->tx_pause == 1}, e);
}

/* ---- PFC stall prevention */

/* MLNX_OFED's settings/pfc_stall_prevention accepts two words, for two critical times (en_sysfs.c of
 * mlnx-ofa_kernel). */
#define STALL_DEFAULT_MS 8000
#define STALL_AUTO_MS    100

/* struct ethtool_tunable with its value behind it. */
struct tunable {
    uint32_t command, id, type, length;
    uint16_t value;
};

static int open_tunable(const struct device *d, struct tunable *tunable, struct ifreq *request,
                        uint32_t command)
{
    memset(request, 0, sizeof *request);
    snprintf(request->ifr_name, sizeof request->ifr_name, "%s", d->name);
    *tunable = (struct tunable){.command = command,
                                .id = ETHTOOL_PFC_PREVENTION_TOUT,
                                .type = ETHTOOL_TUNABLE_U16,
                                .length = sizeof(uint16_t)};
    request->ifr_data = (char *)tunable;
    return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

/* 0, or the error number. */
static int read_tunable(const struct device *d, uint16_t *ms)
{
    struct tunable tunable;
    struct ifreq request;
    int fd = open_tunable(d, &tunable, &request, ETHTOOL_GTUNABLE);
    if (fd < 0)
        return errno;
    int number = ioctl(fd, SIOCETHTOOL, &request) == 0 ? 0 : errno;
    close(fd);
    *ms = tunable.value;
    return number;
}

static int write_tunable(struct device *d, uint16_t ms, struct error *e)
{
    struct tunable tunable;
    struct ifreq request;
    char what[96];
    int fd = open_tunable(d, &tunable, &request, ETHTOOL_STUNABLE);
    tunable.value = ms;
    snprintf(what, sizeof what, "setting PFC stall prevention of %s to %u ms", d->name, ms);
    if (fd < 0)
        return error_set_errno(e, errno, "%s", what);
    int number = ioctl(fd, SIOCETHTOOL, &request) == 0 ? 0 : errno;
    close(fd);
    return number == 0 ? 0 : error_set_errno(e, number, "%s", what);
}

static char *stall_path(const struct device *d)
{
    char *path = host_path(d->host, "/sys/class/net/%s/settings/pfc_stall_prevention", d->name);
    if (path && !files_exist(path)) {
        free(path);
        return NULL;
    }
    return path;
}

static enum knob_answer read_stall_file(const char *path, json_t *settings, struct text *place,
                                        struct error *e)
{
    char *line = files_read_line(path, e);
    bool automatic = line && strcmp(line, "auto") == 0,
         known = automatic || (line && strcmp(line, "default") == 0);
    if (known) {
        json_object_set_new(settings, "pfc_stall_ms",
                            json_integer(automatic ? STALL_AUTO_MS : STALL_DEFAULT_MS));
        text_add(place, "%s (MLNX_OFED)", path);
    } else if (line) {
        error_set(e, "%s: \"%.40s\" is neither \"default\" nor \"auto\"", path, line);
    }
    free(line);
    return known ? KNOB_READ : KNOB_FAILED;
}

static enum knob_answer read_stall(struct device *d, json_t *settings, struct text *place, struct error *e)
{
    uint16_t ms = 0;
    int number = read_tunable(d, &ms);
    if (number == 0) {
        json_object_set_new(settings, "pfc_stall_ms", json_integer(ms));
        text_add(place, "ethtool ioctl, ETHTOOL_PFC_PREVENTION_TOUT");
        return KNOB_READ;
    }
    char *path = stall_path(d);
    enum knob_answer answer = path ? read_stall_file(path, settings, place, e) : knob_answer_of(number);
    if (!path)
        error_set_errno(e, number, "reading PFC stall prevention of %s", d->name);
    free(path);
    return answer;
}

static int write_stall_file(struct device *d, const char *path, int64_t ms, struct error *e)
{
    if (ms != STALL_DEFAULT_MS && ms != STALL_AUTO_MS)
        return error_set(e, "%s: pfc_stall_ms %lld: %s supports only %d (default) and %d (auto)", d->name,
                         (long long)ms, path, STALL_DEFAULT_MS, STALL_AUTO_MS);
    return files_write(path, ms == STALL_AUTO_MS ? "auto" : "default", e);
}

/* Write to the same place as it is read from. */
static int write_stall(struct device *d, const struct settings *now, const struct settings *target,
                       struct error *e)
{
    uint16_t ms = 0;
    (void)now;
    if (read_tunable(d, &ms) == 0)
        return write_tunable(d, (uint16_t)target->pfc_stall_ms, e);
    char *path = stall_path(d);
    int result = path ? write_stall_file(d, path, target->pfc_stall_ms, e)
                      : error_set(e, "%s: PFC stall prevention is no longer available", d->name);
    free(path);
    return result;
}

static const char *const ring_keys[] = {"rx_ring", "tx_ring", NULL},
                         *const coalesce_keys[] = {"rx_coalesce_us", "rx_coalesce_frames", NULL},
                         *const pause_keys[] = {"pause_autoneg", "rx_pause", "tx_pause", NULL},
                         *const stall_keys[] = {"pfc_stall_ms", NULL};

const struct knob knob_ring = {.name = "ring",
                               .keys = ring_keys,
                               .flap_ns = FLAP_SOON_NS,
                               .read = read_ring,
                               .check = check_ring,
                               .write = write_ring};
const struct knob knob_coalesce = {
    .name = "coalesce", .keys = coalesce_keys, .read = read_coalesce, .write = write_coalesce};
const struct knob knob_pause = {.name = "pause",
                                .keys = pause_keys,
                                .flap_ns = FLAP_LATER_NS,
                                .read = read_pause,
                                .complete = complete_pause,
                                .check = check_pause,
                                .write = write_pause};
const struct knob knob_stall = {
    .name = "stall", .keys = stall_keys, .read = read_stall, .write = write_stall};
