/*
 * The permanent addresses of an interface that a document wants. Those that a change takes from it are put
 * back with all their attributes by device/bound.c, and those that set has given it are removed by restore.
 */
#include "nic-config/knobs/knob.h"

#include "lib/document/json_text.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct reading {
    int ifindex;
    json_t *list;
};

/* Addresses with a lifetime are renewed by another program; link-local ones are added by the kernel. */
static int keep_address(const struct nlmsghdr *message, void *data)
{
    const struct reading *reading = data;
    const struct nlattr *table[IFA_FLAGS + 1];
    struct ifaddrmsg address;
    char text[INET6_ADDRSTRLEN];
    if (mnl_nlmsg_get_payload_len(message) < sizeof address)
        return MNL_CB_OK;
    memcpy(&address, mnl_nlmsg_get_payload(message), sizeof address);
    bool known = address.ifa_family == AF_INET || address.ifa_family == AF_INET6;
    if (!known || (int)address.ifa_index != reading->ifindex || !(address.ifa_flags & IFA_F_PERMANENT) ||
        address.ifa_scope == RT_SCOPE_LINK)
        return MNL_CB_OK;
    netlink_parse(message, sizeof address, table, IFA_FLAGS + 1);
    /* on a point-to-point link IFA_ADDRESS is the other end */
    const struct nlattr *own = table[IFA_LOCAL] ? table[IFA_LOCAL] : table[IFA_ADDRESS];
    size_t size = address.ifa_family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);
    if (own && mnl_attr_get_payload_len(own) == size &&
        inet_ntop(address.ifa_family, mnl_attr_get_payload(own), text, sizeof text))
        json_array_append_new(reading->list, json_textf("%s/%u", text, address.ifa_prefixlen));
    return MNL_CB_OK;
}

static enum knob_answer read_addresses(struct device *d, json_t *settings, struct text *place,
                                       struct error *e)
{
    struct reading reading = {.ifindex = d->index, .list = json_array()};
    struct netlink *n = host_route(d->host, e);
    union netlink_request r;
    if (d->index == 0) {
        json_decref(reading.list);
        error_set(e, "there is no interface %s", d->name);
        return KNOB_MISSING;
    }
    struct nlmsghdr *m = netlink_prepare(&r, RTM_GETADDR, NLM_F_DUMP);
    struct ifaddrmsg *address = mnl_nlmsg_put_extra_header(m, sizeof *address);
    address->ifa_family = AF_UNSPEC;
    if (!n || netlink_call(n, m, keep_address, &reading, e) != 0) {
        json_decref(reading.list);
        return KNOB_FAILED;
    }
    json_object_set_new(settings, "addresses", reading.list);
    text_add(place, "rtnetlink");
    return KNOB_READ;
}

/* Parse "10.0.0.1/24": returns the family, or 0. */
static int parse_address(const char *text, uint8_t *bytes, uint8_t *prefix)
{
    char host[INET6_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    char *end;
    if (!slash || (size_t)(slash - text) >= sizeof host)
        return 0;
    snprintf(host, sizeof host, "%.*s", (int)(slash - text), text);
    int family = strchr(host, ':') ? AF_INET6 : AF_INET;
    unsigned long length = strtoul(slash + 1, &end, 10);
    if (end == slash + 1 || *end != '\0' || length > (family == AF_INET ? 32 : 128) ||
        inet_pton(family, host, bytes) != 1)
        return 0;
    *prefix = (uint8_t)length;
    return family;
}

static bool has_address(const struct list_of *list, const char *wanted)
{
    char *const *items = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(items[i], wanted) == 0)
            return true;
    return false;
}

static bool same_addresses(const struct settings *now, const struct settings *target)
{
    char *const *wanted = target->addresses.items;
    for (size_t i = 0; i < target->addresses.count; i++)
        if (!has_address(&now->addresses, wanted[i]))
            return false;
    return true;
}

static int check_addresses(struct device *d, const struct settings *now, const struct settings *target,
                           json_t *warnings, struct error *e)
{
    char *const *wanted = target->addresses.items;
    uint8_t bytes[16], prefix;
    (void)now;
    (void)warnings;
    for (size_t i = 0; i < target->addresses.count; i++)
        if (parse_address(wanted[i], bytes, &prefix) == 0)
            return error_set(
                e, "%s: addresses: \"%.60s\" is not an address with a prefix length, such as 10.0.0.1/24",
                d->name, wanted[i]);
    return 0;
}

static int add_address(struct device *d, const char *text, struct error *e)
{
    struct netlink *n = host_route(d->host, e);
    union netlink_request r;
    uint8_t bytes[16], prefix;
    char what[128];
    int family = parse_address(text, bytes, &prefix);
    if (!n || family == 0)
        return error_set(e, "%s: \"%.60s\" is not an address with a prefix length", d->name, text);
    struct nlmsghdr *m = netlink_prepare(&r, RTM_NEWADDR, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE);
    struct ifaddrmsg *address = mnl_nlmsg_put_extra_header(m, sizeof *address);
    size_t size = family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);
    *address = (struct ifaddrmsg){
        .ifa_family = (uint8_t)family, .ifa_prefixlen = prefix, .ifa_index = (uint32_t)d->index};
    mnl_attr_put(m, IFA_LOCAL, size, bytes);
    mnl_attr_put(m, IFA_ADDRESS, size, bytes);
    snprintf(what, sizeof what, "giving %s the address %.60s", d->name, text);
    return host_change(n, m, NULL, NULL, what, NULL, e);
}

static int write_addresses(struct device *d, const struct settings *now, const struct settings *target,
                           struct error *e)
{
    char *const *wanted = target->addresses.items;
    for (size_t i = 0; i < target->addresses.count; i++)
        if (!has_address(&now->addresses, wanted[i]) && add_address(d, wanted[i], e) != 0)
            return -1;
    return 0;
}

static const char *const keys[] = {"addresses", NULL};

const struct knob knob_address = {.name = "addresses",
                                  .keys = keys,
                                  .follows = true,
                                  .read = read_addresses,
                                  .check = check_addresses,
                                  .write = write_addresses,
                                  .adds = true,
                                  .same = same_addresses};
