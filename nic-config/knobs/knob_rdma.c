/*
 * The traffic class of RoCE: MLNX_OFED's /sys/class/infiniband/DEV/tc/PORT/traffic_class forces it on every
 * queue pair, upstream's configfs (rdma_cm) sets the default of queue pairs that rdma_cm creates. And RDMA
 * optional counters.
 */
#include "nic-config/knobs/knob.h"

#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/roce/mlx5.h"
#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_rdma(const struct device *d, struct error *e)
{
    if (d->rdma[0] == '\0')
        error_set(e, "%s has no RDMA device", d->name);
    return d->rdma[0] != '\0';
}

/* ---- traffic class */

static char *ofed_path(const struct device *d)
{
    char *path = host_path(d->host, "/sys/class/infiniband/%s/tc/%d/traffic_class", d->rdma, d->rdma_port);
    if (path && files_exist(path))
        return path;
    free(path);
    return NULL;
}

/*
 * configfs shows a device only after its folder was created; the values are in rdma_cm and stay when the
 * folder is removed (linux drivers/infiniband/core/cma_configfs.c). *made: this call created the folder, the
 * caller removes it.
 */
static char *open_configfs(const struct device *d, bool *made)
{
    char *folder = host_path(d->host, "/sys/kernel/config/rdma_cm/%s", d->rdma);
    char *path =
        host_path(d->host, "/sys/kernel/config/rdma_cm/%s/ports/%d/default_roce_tos", d->rdma, d->rdma_port);
    *made = folder && mkdir(folder, 0755) == 0;
    if (path && !files_exist(path)) {
        free(path);
        path = NULL;
    }
    if (!path && *made) {
        rmdir(folder);
        *made = false;
    }
    free(folder);
    return path;
}

static void close_configfs(const struct device *d, bool made, char *path)
{
    char *folder = made ? host_path(d->host, "/sys/kernel/config/rdma_cm/%s", d->rdma) : NULL;
    if (folder)
        rmdir(folder);
    free(folder);
    free(path);
}

static enum knob_answer read_configfs(const struct device *d, json_t *settings, struct text *place,
                                      struct error *e)
{
    bool made;
    char *path = open_configfs(d, &made);
    if (!path) {
        error_set(e,
                  "%s has neither /sys/class/infiniband/%s/tc (MLNX_OFED) nor a folder in configfs (rdma_cm "
                  "loaded and configfs "
                  "mounted?)",
                  d->name, d->rdma);
        return KNOB_MISSING;
    }
    char *line = files_read_line(path, e), *end = NULL;
    long value = line ? strtol(line, &end, 10) : -1;
    bool good = line && end != line && *end == '\0' && value >= 0 && value <= 255;
    if (line && !good)
        error_set(e, "%s: \"%.40s\" is not a traffic class", path, line);
    if (good) {
        json_object_set_new(settings, "traffic_class", json_integer(value));
        text_add(place, "%s (upstream; queue pairs of rdma_cm)", path);
    }
    free(line);
    close_configfs(d, made, path);
    return good ? KNOB_READ : KNOB_FAILED;
}

static enum knob_answer read_traffic_class(struct device *d, json_t *settings, struct text *place,
                                           struct error *e)
{
    if (!has_rdma(d, e))
        return KNOB_MISSING;
    char *path = ofed_path(d);
    if (!path)
        return read_configfs(d, settings, place, e);
    char *all = files_read(path, 65536, NULL, e);
    if (all) {
        json_object_set_new(settings, "traffic_class", json_integer(traffic_class_forced(all)));
        text_add(place, "%s (MLNX_OFED)", path);
    }
    enum knob_answer answer = all ? KNOB_READ : KNOB_FAILED;
    free(all);
    free(path);
    return answer;
}

static int write_traffic_class(struct device *d, const struct settings *now, const struct settings *target,
                               struct error *e)
{
    char *ofed = ofed_path(d), value[16];
    bool made = false;
    char *path = ofed ? ofed : open_configfs(d, &made);
    int result = -1;
    (void)now;
    snprintf(value, sizeof value, "%lld", (long long)target->traffic_class);
    if (!path)
        error_set(e, "%s: the file of the traffic class no longer exists", d->name);
    else if (!ofed && target->traffic_class < 0)
        error_set(e, "%s: traffic_class -1: %s accepts 0 to 255", d->name, path);
    else
        result = files_write(path, value, e);
    close_configfs(d, made, path);
    return result;
}

/* ---- optional counters */

#define MAX_COUNTERS 128

struct counter {
    char name[64];
    uint32_t index;
    bool on;
};

struct counters {
    const char *device; /* name of the device whose number is searched for */
    bool found;
    uint32_t device_index;
    struct counter items[MAX_COUNTERS];
    size_t count;
    bool more; /* than fit, in number or length */
};

static int keep_index(const struct nlmsghdr *message, void *data)
{
    struct counters *c = data;
    const struct nlattr *table[RDMA_NLDEV_ATTR_MAX];
    netlink_parse(message, 0, table, RDMA_NLDEV_ATTR_MAX);
    const char *name = netlink_string(table[RDMA_NLDEV_ATTR_DEV_NAME]);
    if (name && strcmp(name, c->device) == 0)
        c->found = netlink_u32(table[RDMA_NLDEV_ATTR_DEV_INDEX], &c->device_index);
    return MNL_CB_OK;
}

/* Only counters that can be switched have the DYNAMIC attribute: 1 on, 0 off. */
static void keep_counter(const struct nlattr *entry, struct counters *c)
{
    const struct nlattr *table[RDMA_NLDEV_ATTR_MAX];
    uint8_t on;
    netlink_parse_nested(entry, table, RDMA_NLDEV_ATTR_MAX);
    const char *name = netlink_string(table[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME]);
    struct counter item;
    if (!name || !netlink_u8(table[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC], &on) ||
        !netlink_u32(table[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX], &item.index))
        return;
    if (c->count == MAX_COUNTERS || strlen(name) >= sizeof item.name) {
        c->more = true;
        return;
    }
    snprintf(item.name, sizeof item.name, "%s", name);
    item.on = on != 0;
    c->items[c->count++] = item;
}

static int keep_status(const struct nlmsghdr *message, void *data)
{
    const struct nlattr *table[RDMA_NLDEV_ATTR_MAX], *entry;
    netlink_parse(message, 0, table, RDMA_NLDEV_ATTR_MAX);
    if (table[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS])
        mnl_attr_for_each_nested(entry, table[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS]) keep_counter(entry, data);
    return MNL_CB_OK;
}

static struct nlmsghdr *prepare(union netlink_request *r, uint16_t command, uint16_t flags)
{
    return netlink_prepare(r, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), flags);
}

static enum knob_answer ask_counters(const struct device *d, struct counters *c, struct error *e)
{
    union netlink_request r;
    if (!has_rdma(d, e))
        return KNOB_MISSING;
    struct netlink *n = host_rdma(d->host, e);
    if (!n)
        return KNOB_MISSING;
    memset(c, 0, sizeof *c);
    c->device = d->rdma;
    if (netlink_call(n, prepare(&r, RDMA_NLDEV_CMD_GET, NLM_F_DUMP), keep_index, c, e) != 0)
        return KNOB_FAILED;
    if (!c->found) {
        error_set(e, "RDMA netlink reports no device %s", d->rdma);
        return KNOB_MISSING;
    }
    struct nlmsghdr *m = prepare(&r, RDMA_NLDEV_CMD_STAT_GET_STATUS, 0);
    mnl_attr_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, c->device_index);
    mnl_attr_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, (uint32_t)d->rdma_port);
    if (netlink_call(n, m, keep_status, c, e) != 0) {
        error_prefix(e, "reading which counters of %s are on", d->rdma);
        /* EINVAL: a kernel or driver without optional counters */
        return netlink_errno(n) == EINVAL ? KNOB_MISSING : knob_answer_of(netlink_errno(n));
    }
    if (c->more) {
        error_set(e, "%s has more than %d optional counters, or a name of more than %zu characters", d->rdma,
                  MAX_COUNTERS, sizeof c->items->name - 1);
        return KNOB_FAILED;
    }
    if (c->count == 0)
        error_set(e, "%s has no optional counters", d->rdma);
    return c->count > 0 ? KNOB_READ : KNOB_MISSING;
}

static enum knob_answer read_counters(struct device *d, json_t *settings, struct text *place, struct error *e)
{
    struct counters c;
    enum knob_answer answer = ask_counters(d, &c, e);
    if (answer != KNOB_READ)
        return answer;
    json_t *list = json_array();
    for (size_t i = 0; i < c.count; i++)
        if (c.items[i].on)
            json_array_append_new(list, json_text(c.items[i].name));
    json_object_set_new(settings, "optional_counters", list);
    text_add(place, "RDMA netlink");
    return KNOB_READ;
}

static const struct counter *find_counter(const struct counters *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->items[i].name, name) == 0)
            return &c->items[i];
    return NULL;
}

static int check_counters(struct device *d, const struct settings *now, const struct settings *target,
                          json_t *warnings, struct error *e)
{
    struct counters c;
    char *const *names = target->optional_counters.items;
    (void)now;
    (void)warnings;
    if (ask_counters(d, &c, e) != KNOB_READ)
        return -1;
    for (size_t i = 0; i < target->optional_counters.count; i++)
        if (!find_counter(&c, names[i]))
            return error_set(e, "%s: %s has no optional counter %.60s (rdma statistic mode supported)",
                             d->name, d->rdma, names[i]);
    return 0;
}

/* In the kernel's order and without duplicates, so that the list equals the one that is read back. */
static int complete_counters(struct device *d, const json_t *wanted, json_t *target, struct error *e)
{
    struct counters c;
    json_t *asked = json_object_get(target, "optional_counters"), *ordered = json_array();
    size_t i;
    json_t *item;
    (void)wanted;
    if (ask_counters(d, &c, e) != KNOB_READ) {
        json_decref(ordered);
        return -1;
    }
    for (size_t k = 0; k < c.count; k++)
        json_array_foreach(asked, i, item)
        {
            if (strcmp(json_string_value(item), c.items[k].name) == 0) {
                json_array_append(ordered, item);
                break;
            }
        }
    json_array_foreach(asked, i, item) if (!find_counter(&c, json_string_value(item)))
        json_array_append(ordered, item);
    json_object_set_new(target, "optional_counters", ordered);
    return 0;
}

static int write_counters(struct device *d, const struct settings *now, const struct settings *target,
                          struct error *e)
{
    struct counters c;
    union netlink_request r;
    char *const *names = target->optional_counters.items, what[128];
    (void)now;
    if (ask_counters(d, &c, e) != KNOB_READ)
        return -1;
    struct nlmsghdr *m = prepare(&r, RDMA_NLDEV_CMD_STAT_SET, NLM_F_ACK);
    mnl_attr_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, c.device_index);
    mnl_attr_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, (uint32_t)d->rdma_port);
    struct nlattr *nest = mnl_attr_nest_start(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
    for (size_t i = 0; i < target->optional_counters.count; i++) {
        const struct counter *counter = find_counter(&c, names[i]);
        if (counter)
            mnl_attr_put_u32(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, counter->index);
    }
    mnl_attr_nest_end(m, nest);
    snprintf(what, sizeof what, "switching the optional counters of %s", d->rdma);
    return host_change(d->host->rdma, m, NULL, NULL, what, NULL, e);
}

static const char *const class_keys[] = {"traffic_class", NULL}, *const counter_keys[] = {"optional_counters",
                                                                                          NULL};

const struct knob knob_traffic_class = {
    .name = "traffic_class", .keys = class_keys, .read = read_traffic_class, .write = write_traffic_class};
const struct knob knob_counters = {.name = "optional_counters",
                                   .keys = counter_keys,
                                   .read = read_counters,
                                   .complete = complete_counters,
                                   .check = check_counters,
                                   .write = write_counters};
