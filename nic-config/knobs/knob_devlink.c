/*
 * Whether a NIC processes RoCE packets itself: devlink's enable_roce, which takes effect at the next reload.
 * The reload removes the interface and creates it again with the driver's defaults; therefore this knob comes
 * before most others.
 */
#include "nic-config/knobs/knob.h"

#include "lib/document/json_text.h"
#include <errno.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <string.h>

#define PARAMETER "enable_roce"
/* DEVLINK_PARAM_TYPE_BOOL is netlink's NLA_FLAG (linux include/net/devlink.h). */
#define TYPE_BOOL 6
#define TOP       (DEVLINK_ATTR_PARAM_VALUE_CMODE + 1)

struct instance {
    int ifindex; /* index of the interface whose port is searched for */
    bool found;
    char bus[32], name[64];
    bool has_value, value;
};

static int keep_port(const struct nlmsghdr *message, void *data)
{
    struct instance *instance = data;
    const struct nlattr *table[TOP];
    uint32_t ifindex;
    netlink_parse(message, sizeof(struct genlmsghdr), table, TOP);
    const char *bus = netlink_string(table[DEVLINK_ATTR_BUS_NAME]),
               *name = netlink_string(table[DEVLINK_ATTR_DEV_NAME]);
    if (!bus || !name || !netlink_u32(table[DEVLINK_ATTR_PORT_NETDEV_IFINDEX], &ifindex) ||
        (int)ifindex != instance->ifindex)
        return MNL_CB_OK;
    snprintf(instance->bus, sizeof instance->bus, "%s", bus);
    snprintf(instance->name, sizeof instance->name, "%s", name);
    instance->found = true;
    return MNL_CB_OK;
}

/* A flag is true when the attribute is present. */
static int keep_value(const struct nlmsghdr *message, void *data)
{
    struct instance *instance = data;
    const struct nlattr *table[TOP], *parameter[TOP], *entry;
    netlink_parse(message, sizeof(struct genlmsghdr), table, TOP);
    netlink_parse_nested(table[DEVLINK_ATTR_PARAM], parameter, TOP);
    if (!parameter[DEVLINK_ATTR_PARAM_VALUES_LIST])
        return MNL_CB_OK;
    mnl_attr_for_each_nested(entry, parameter[DEVLINK_ATTR_PARAM_VALUES_LIST])
    {
        const struct nlattr *value[TOP];
        uint8_t mode;
        netlink_parse_nested(entry, value, TOP);
        if (!netlink_u8(value[DEVLINK_ATTR_PARAM_VALUE_CMODE], &mode) ||
            mode != DEVLINK_PARAM_CMODE_DRIVERINIT)
            continue;
        instance->has_value = true;
        instance->value = value[DEVLINK_ATTR_PARAM_VALUE_DATA];
    }
    return MNL_CB_OK;
}

static struct nlmsghdr *prepare(union netlink_request *r, uint16_t family, uint8_t command, uint16_t flags,
                                const struct instance *instance)
{
    struct nlmsghdr *m = netlink_prepare_generic(r, family, command, flags);
    mnl_attr_put_strz(m, DEVLINK_ATTR_BUS_NAME, instance->bus);
    mnl_attr_put_strz(m, DEVLINK_ATTR_DEV_NAME, instance->name);
    return m;
}

/* The devlink instance of the interface: by its port, else the PCI device of the same name. */
static int find_instance(const struct device *d, struct netlink *n, uint16_t family,
                         struct instance *instance, struct error *e)
{
    union netlink_request r;
    memset(instance, 0, sizeof *instance);
    instance->ifindex = d->index;
    if (d->index != 0 &&
        netlink_call(n, netlink_prepare_generic(&r, family, DEVLINK_CMD_PORT_GET, NLM_F_DUMP), keep_port,
                     instance, e) != 0)
        return -1;
    if (!instance->found && d->pci[0] != '\0') {
        snprintf(instance->bus, sizeof instance->bus, "pci");
        snprintf(instance->name, sizeof instance->name, "%s", d->pci);
        instance->found = true;
    }
    return 0;
}

static enum knob_answer query_devlink(const struct device *d, struct instance *instance, struct error *e)
{
    uint16_t family;
    union netlink_request r;
    struct netlink *n = host_family(d->host, "devlink", &family, e);
    if (!n)
        return KNOB_MISSING;
    if (find_instance(d, n, family, instance, e) != 0)
        return knob_answer_of(netlink_errno(n));
    if (!instance->found) {
        error_set(e, "%s has no devlink device", d->name);
        return KNOB_MISSING;
    }
    struct nlmsghdr *m = prepare(&r, family, DEVLINK_CMD_PARAM_GET, 0, instance);
    mnl_attr_put_strz(m, DEVLINK_ATTR_PARAM_NAME, PARAMETER);
    if (netlink_call(n, m, keep_value, instance, e) != 0) {
        int number = netlink_errno(n);
        error_prefix(e, "reading %s of devlink %s/%s", PARAMETER, instance->bus, instance->name);
        return number == EINVAL ? KNOB_MISSING : knob_answer_of(number);
    }
    if (!instance->has_value)
        error_set(e, "devlink %s/%s has no %s", instance->bus, instance->name, PARAMETER);
    return instance->has_value ? KNOB_READ : KNOB_MISSING;
}

static enum knob_answer read_roce(struct device *d, json_t *settings, struct text *place, struct error *e)
{
    struct instance instance;
    enum knob_answer answer = query_devlink(d, &instance, e);
    if (answer != KNOB_READ)
        return answer;
    json_object_set_new(settings, "roce", json_boolean(instance.value));
    text_add(place, "devlink %s/%s, %s", instance.bus, instance.name, PARAMETER);
    return KNOB_READ;
}

static int check_roce(struct device *d, const struct settings *now, const struct settings *target,
                      json_t *warnings, struct error *e)
{
    (void)e;
    if (now->roce != target->roce)
        json_array_append_new(warnings, json_textf("%s: changing roce reloads the driver: the interface "
                                                   "disappears for some seconds, and routes over it are lost",
                                                   d->name));
    return 0;
}

static int set_parameter(struct device *d, struct netlink *n, uint16_t family,
                         const struct instance *instance, bool on, struct error *e)
{
    union netlink_request r;
    char what[96];
    struct nlmsghdr *m = prepare(&r, family, DEVLINK_CMD_PARAM_SET, NLM_F_ACK, instance);
    mnl_attr_put_strz(m, DEVLINK_ATTR_PARAM_NAME, PARAMETER);
    mnl_attr_put_u8(m, DEVLINK_ATTR_PARAM_TYPE, TYPE_BOOL);
    mnl_attr_put_u8(m, DEVLINK_ATTR_PARAM_VALUE_CMODE, DEVLINK_PARAM_CMODE_DRIVERINIT);
    if (on)
        mnl_attr_put(m, DEVLINK_ATTR_PARAM_VALUE_DATA, 0, NULL);
    snprintf(what, sizeof what, "setting %s of %s to %s", PARAMETER, d->name, on ? "true" : "false");
    return host_change(n, m, NULL, NULL, what, NULL, e);
}

static int write_roce(struct device *d, const struct settings *now, const struct settings *target,
                      struct error *e)
{
    struct instance instance;
    union netlink_request r;
    uint16_t family;
    char what[64];
    (void)now;
    if (query_devlink(d, &instance, e) != KNOB_READ)
        return -1;
    struct netlink *n = host_family(d->host, "devlink", &family, e);
    if (!n || set_parameter(d, n, family, &instance, target->roce == 1, e) != 0)
        return -1;
    snprintf(what, sizeof what, "reloading the driver of %s", d->name);
    if (host_change(n, prepare(&r, family, DEVLINK_CMD_RELOAD, NLM_F_ACK, &instance), NULL, NULL, what, NULL,
                    e) != 0)
        return -1;
    return device_wait_back(d, target->roce == 1 && device_is_mlx5(d), e);
}

static const char *const keys[] = {"roce", NULL};

const struct knob knob_roce = {.name = "roce",
                               .keys = keys,
                               .deferred = true,
                               .read = read_roce,
                               .check = check_roce,
                               .write = write_roce};
