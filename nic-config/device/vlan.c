#include "nic-config/device/vlan.h"

#include "lib/document/json_text.h"
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static struct nlmsghdr *prepare(union netlink_request *r, uint16_t type, uint16_t flags, int index)
{
    struct nlmsghdr *m = netlink_prepare(r, type, flags);
    struct ifinfomsg *link = mnl_nlmsg_put_extra_header(m, sizeof *link);
    link->ifi_family = AF_UNSPEC;
    link->ifi_index = index;
    return m;
}

/* ---- reading */

static void parse_egress(const struct nlattr *nest, json_t *egress)
{
    const struct nlattr *a;
    mnl_attr_for_each_nested(a, nest)
    {
        struct ifla_vlan_qos_mapping mapping;
        char key[16];
        if (mnl_attr_get_type(a) != IFLA_VLAN_QOS_MAPPING || !netlink_struct(a, &mapping, sizeof mapping))
            continue;
        snprintf(key, sizeof key, "%u", mapping.from);
        json_object_set_new(egress, key, json_integer(mapping.to & 7));
    }
}

int vlan_parse(const struct nlmsghdr *message, void *data)
{
    struct vlan_answer *answer = data;
    const struct nlattr *link[IFLA_LINKINFO + 1], *info[IFLA_INFO_DATA + 1], *vlan[IFLA_VLAN_EGRESS_QOS + 1];
    uint32_t of = 0;
    netlink_parse(message, sizeof(struct ifinfomsg), link, IFLA_LINKINFO + 1);
    netlink_parse_nested(link[IFLA_LINKINFO], info, IFLA_INFO_DATA + 1);
    const char *kind = netlink_string(info[IFLA_INFO_KIND]);
    if (!kind || strcmp(kind, "vlan") != 0 || !info[IFLA_INFO_DATA])
        return MNL_CB_OK;
    netlink_parse_nested(info[IFLA_INFO_DATA], vlan, IFLA_VLAN_EGRESS_QOS + 1);
    if (!netlink_u32(link[IFLA_LINK], &of) || !netlink_u16(vlan[IFLA_VLAN_ID], &answer->id))
        return MNL_CB_OK;
    answer->of = (int)of;
    if (vlan[IFLA_VLAN_EGRESS_QOS])
        parse_egress(vlan[IFLA_VLAN_EGRESS_QOS], answer->egress);
    return MNL_CB_OK;
}

json_t *vlan_read(const struct device *d, struct error *e)
{
    struct vlan_answer answer = {.egress = json_object()};
    struct netlink *n = host_route(d->host, e);
    union netlink_request r;
    char of[IFNAMSIZ];
    if (n && netlink_call(n, prepare(&r, RTM_GETLINK, 0, d->index), vlan_parse, &answer, e) == 0 &&
        device_name_of(d->host, answer.of, of, e) == 0)
        return json_make("{s:s,s:i,s:o}", "of", of, "id", answer.id, "egress", answer.egress);
    json_decref(answer.egress);
    error_prefix(e, "reading the VLAN %s", d->name);
    return NULL;
}

/* ---- comparing */

static int64_t mapped(const struct list_of *egress, const char *priority)
{
    const struct named_integer *items = egress->items;
    for (size_t i = 0; i < egress->count; i++)
        if (strcmp(items[i].name, priority) == 0)
            return items[i].value;
    return 0;
}

/* Has `b` every entry of `a`? */
static bool covers(const struct list_of *b, const struct list_of *a)
{
    const struct named_integer *items = a->items;
    for (size_t i = 0; i < a->count; i++)
        if (mapped(b, items[i].name) != items[i].value)
            return false;
    return true;
}

bool vlan_same_place(const struct settings_vlan *a, const struct settings_vlan *b)
{
    return a && b && a->id == b->id && strcmp(a->of, b->of) == 0;
}

bool vlan_same(const struct settings_vlan *a, const struct settings_vlan *b)
{
    return vlan_same_place(a, b) && covers(&a->egress, &b->egress) && covers(&b->egress, &a->egress);
}

/* ---- writing */

static void put_mapping(struct nlmsghdr *m, const char *priority, int64_t tag)
{
    const struct ifla_vlan_qos_mapping mapping = {.from = (uint32_t)strtoul(priority, NULL, 10),
                                                  .to = (uint32_t)tag};
    mnl_attr_put(m, IFLA_VLAN_QOS_MAPPING, sizeof mapping, &mapping);
}

static void put_egress(struct nlmsghdr *m, const struct list_of *now, const struct list_of *egress)
{
    const struct named_integer *items = egress->items, *old = now ? now->items : NULL;
    struct nlattr *nest = mnl_attr_nest_start(m, IFLA_VLAN_EGRESS_QOS);
    for (size_t i = 0; i < egress->count; i++)
        if (!now || mapped(now, items[i].name) != items[i].value)
            put_mapping(m, items[i].name, items[i].value);
    /* the kernel keeps entries that are not named: 0 is the same as none */
    for (size_t i = 0; now && i < now->count; i++)
        if (mapped(egress, old[i].name) == 0)
            put_mapping(m, old[i].name, 0);
    mnl_attr_nest_end(m, nest);
}

void vlan_put(struct nlmsghdr *m, int64_t id, const struct list_of *now, const struct list_of *egress)
{
    struct nlattr *info = mnl_attr_nest_start(m, IFLA_LINKINFO);
    mnl_attr_put_strz(m, IFLA_INFO_KIND, "vlan");
    struct nlattr *data = mnl_attr_nest_start(m, IFLA_INFO_DATA);
    if (id)
        mnl_attr_put_u16(m, IFLA_VLAN_ID, (uint16_t)id);
    put_egress(m, now, egress);
    mnl_attr_nest_end(m, data);
    mnl_attr_nest_end(m, info);
}

static int change_link(struct device *d, struct nlmsghdr *m, const char *what, struct error *e)
{
    struct netlink *n = host_route(d->host, e);
    return n ? host_change(n, m, NULL, NULL, what, NULL, e) : -1;
}

int vlan_make(struct device *d, const struct settings_vlan *vlan, struct error *e)
{
    union netlink_request r;
    struct device below = {.host = d->host};
    char what[96];
    snprintf(what, sizeof what, "making %s, VLAN %lld of %.20s", d->name, (long long)vlan->id, vlan->of);
    snprintf(below.name, sizeof below.name, "%s", vlan->of);
    if (device_refresh(&below, e) != 0)
        return error_prefix(e, "%s", what);
    if (below.index == 0)
        return error_set(e, "%s: there is no interface %s", what, vlan->of);
    struct nlmsghdr *m = prepare(&r, RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, 0);
    mnl_attr_put_u32(m, IFLA_LINK, (uint32_t)below.index);
    mnl_attr_put_strz(m, IFLA_IFNAME, d->name);
    vlan_put(m, vlan->id, NULL, &vlan->egress);
    return change_link(d, m, what, e);
}

int vlan_map(struct device *d, const struct settings_vlan *now, const struct settings_vlan *target,
             struct error *e)
{
    union netlink_request r;
    char what[64];
    struct nlmsghdr *m = prepare(&r, RTM_NEWLINK, NLM_F_ACK, d->index);
    vlan_put(m, 0, &now->egress, &target->egress);
    snprintf(what, sizeof what, "changing the egress map of %s", d->name);
    return change_link(d, m, what, e);
}
