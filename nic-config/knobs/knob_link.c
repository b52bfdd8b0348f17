/* Settings of the interface itself over rtnetlink: whether it exists and is up, its MTU, its VLAN, and the
 * bridge that it is a port of. */
#include "lib/document/json_text.h"
#include "nic-config/device/vlan.h"
#include "nic-config/knobs/knob.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static bool here(const struct device *d, enum knob_answer *answer, struct error *e)
{
    *answer = d->index != 0 ? KNOB_READ : KNOB_MISSING;
    if (d->index == 0)
        error_set(e, "there is no interface %s", d->name);
    return d->index != 0;
}

static struct nlmsghdr *prepare(union netlink_request *r, uint16_t type, uint16_t flags, int index,
                                unsigned int set, unsigned int change)
{
    struct nlmsghdr *m = netlink_prepare(r, type, NLM_F_ACK | flags);
    struct ifinfomsg *link = mnl_nlmsg_put_extra_header(m, sizeof *link);
    link->ifi_family = AF_UNSPEC;
    link->ifi_index = index;
    link->ifi_flags = set;
    link->ifi_change = change;
    return m;
}

static int send_change(struct device *d, struct nlmsghdr *m, const char *what, struct error *e)
{
    struct netlink *n = host_route(d->host, e);
    return !n ? -1 : host_change(n, m, NULL, NULL, what, NULL, e);
}

/* ---- kind */

static const char *kind_of(const struct device *d)
{
    if (d->index == 0)
        return "absent";
    return strcmp(d->kind, "bridge") == 0 || strcmp(d->kind, "vlan") == 0 ? d->kind : "device";
}

static enum knob_answer read_kind(struct device *d, json_t *settings, struct text *place, struct error *e)
{
    const char *kind = kind_of(d);
    json_t *vlan = strcmp(kind, "vlan") == 0 ? vlan_read(d, e) : NULL;
    if (strcmp(kind, "vlan") == 0 && !vlan)
        return KNOB_FAILED;
    json_object_set_new(settings, "kind", json_text(kind));
    if (vlan)
        json_object_set_new(settings, "vlan", vlan);
    text_add(place, "rtnetlink");
    return KNOB_READ;
}

static bool same_kind(const struct settings *now, const struct settings *target)
{
    return now->kind == target->kind && (now->kind != KIND_VLAN || vlan_same(now->vlan, target->vlan));
}

static int check_vlan(const struct device *d, const struct settings *now, const struct settings *target,
                      struct error *e)
{
    if (target->kind != KIND_VLAN)
        return error_set(e, "%s: vlan is only for an interface of \"kind\": \"vlan\"", d->name);
    if (!target->vlan)
        return error_set(e, "%s: a VLAN interface needs \"vlan\": {\"of\": INTERFACE, \"id\": NUMBER}",
                         d->name);
    if (now->kind == KIND_VLAN && !vlan_same_place(now->vlan, target->vlan))
        return error_set(e, "%s: it is VLAN %lld of %s, which cannot become VLAN %lld of %s", d->name,
                         (long long)now->vlan->id, now->vlan->of, (long long)target->vlan->id,
                         target->vlan->of);
    if (!device_name_valid(target->vlan->of))
        return error_set(e, "%s: vlan.of: \"%.40s\" is not a valid interface name", d->name,
                         target->vlan->of);
    return 0;
}

static bool can_be_made(int kind)
{
    return kind == KIND_BRIDGE || kind == KIND_VLAN;
}

static const char *name_of_kind(int kind)
{
    return kind == KIND_VLAN ? "VLAN" : "bridge";
}

static int check_kind(struct device *d, const struct settings *now, const struct settings *target,
                      json_t *warnings, struct error *e)
{
    (void)warnings;
    bool given = target->kind == KIND_VLAN || (target->vlan && !now->vlan);
    if (given && check_vlan(d, now, target, e) != 0)
        return -1;
    if (target->kind == now->kind || (can_be_made(target->kind) && now->kind == KIND_ABSENT))
        return 0;
    if (target->kind == KIND_ABSENT && can_be_made(now->kind))
        return error_set(e, "%s: a %s that nic-config did not create is not removed", d->name,
                         name_of_kind(now->kind));
    return error_set(e, "%s: %s", d->name,
                     now->kind == KIND_ABSENT
                         ? "there is no such interface, and only a bridge or a VLAN can be created "
                           "(\"kind\": \"bridge\", \"vlan\")"
                         : "an interface with this name exists and is of another kind");
}

/* A bridge without spanning tree delay and without multicast snooping, so that it forwards all packets at
 * once. */
static int make_bridge(struct device *d, struct error *e)
{
    union netlink_request r;
    char what[64];
    struct nlmsghdr *m = prepare(&r, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, 0, 0, 0);
    mnl_attr_put_strz(m, IFLA_IFNAME, d->name);
    struct nlattr *info = mnl_attr_nest_start(m, IFLA_LINKINFO);
    mnl_attr_put_strz(m, IFLA_INFO_KIND, "bridge");
    struct nlattr *data = mnl_attr_nest_start(m, IFLA_INFO_DATA);
    mnl_attr_put_u32(m, IFLA_BR_STP_STATE, 0);
    mnl_attr_put_u32(m, IFLA_BR_FORWARD_DELAY, 0);
    mnl_attr_put_u8(m, IFLA_BR_MCAST_SNOOPING, 0);
    mnl_attr_nest_end(m, data);
    mnl_attr_nest_end(m, info);
    snprintf(what, sizeof what, "creating the bridge %s", d->name);
    return send_change(d, m, what, e);
}

static int write_kind(struct device *d, const struct settings *now, const struct settings *target,
                      struct error *e)
{
    union netlink_request r;
    char what[64];
    if (target->kind == KIND_BRIDGE && now->kind == KIND_ABSENT)
        return make_bridge(d, e);
    if (target->kind == KIND_VLAN && now->kind == KIND_ABSENT)
        return vlan_make(d, target->vlan, e);
    if (target->kind == KIND_VLAN && now->kind == KIND_VLAN)
        return vlan_map(d, now->vlan, target->vlan, e);
    if (target->kind != KIND_ABSENT || !can_be_made(now->kind))
        return error_set(e, "%s: only bridges and VLANs can be created and removed", d->name);
    snprintf(what, sizeof what, "removing the %s %s", name_of_kind(now->kind), d->name);
    return send_change(d, prepare(&r, RTM_DELLINK, 0, d->index, 0, 0), what, e);
}

/* ---- MTU, up, port of a bridge */

static enum knob_answer read_mtu(struct device *d, json_t *settings, struct text *place, struct error *e)
{
    enum knob_answer answer;
    if (here(d, &answer, e)) {
        json_object_set_new(settings, "mtu", json_integer(d->mtu));
        text_add(place, "rtnetlink");
    }
    return answer;
}

static int check_mtu(struct device *d, const struct settings *now, const struct settings *target,
                     json_t *warnings, struct error *e)
{
    (void)now;
    (void)warnings;
    if (d->max_mtu > 0 && (target->mtu < d->min_mtu || target->mtu > d->max_mtu))
        return error_set(e, "%s: mtu %lld: the device supports %u to %u", d->name, (long long)target->mtu,
                         d->min_mtu, d->max_mtu);
    return 0;
}

static int write_mtu(struct device *d, const struct settings *now, const struct settings *target,
                     struct error *e)
{
    union netlink_request r;
    char what[64];
    struct nlmsghdr *m = prepare(&r, RTM_NEWLINK, 0, d->index, 0, 0);
    (void)now;
    mnl_attr_put_u32(m, IFLA_MTU, (uint32_t)target->mtu);
    snprintf(what, sizeof what, "setting the MTU of %s to %lld", d->name, (long long)target->mtu);
    return send_change(d, m, what, e);
}

static enum knob_answer read_up(struct device *d, json_t *settings, struct text *place, struct error *e)
{
    enum knob_answer answer;
    if (here(d, &answer, e)) {
        json_object_set_new(settings, "up", json_boolean(d->up));
        text_add(place, "rtnetlink");
    }
    return answer;
}

static int write_up(struct device *d, const struct settings *now, const struct settings *target,
                    struct error *e)
{
    union netlink_request r;
    char what[64];
    (void)now;
    snprintf(what, sizeof what, "taking %s %s", d->name, target->up == 1 ? "up" : "down");
    return send_change(d, prepare(&r, RTM_NEWLINK, 0, d->index, target->up == 1 ? IFF_UP : 0, IFF_UP), what,
                       e);
}

static enum knob_answer read_bridge(struct device *d, json_t *settings, struct text *place, struct error *e)
{
    enum knob_answer answer;
    char name[IFNAMSIZ] = "";
    if (!here(d, &answer, e))
        return answer;
    if (d->bridge != 0 && device_name_of(d->host, d->bridge, name, e) != 0)
        return KNOB_FAILED;
    json_object_set_new(settings, "bridge", json_text(name));
    text_add(place, "rtnetlink, master");
    return KNOB_READ;
}

static int check_bridge(struct device *d, const struct settings *now, const struct settings *target,
                        json_t *warnings, struct error *e)
{
    (void)now;
    (void)warnings;
    if (target->bridge[0] != '\0' && !device_name_valid(target->bridge))
        return error_set(e, "%s: bridge \"%.40s\" is not a valid interface name", d->name, target->bridge);
    return 0;
}

static int write_bridge(struct device *d, const struct settings *now, const struct settings *target,
                        struct error *e)
{
    union netlink_request r;
    struct device bridge = {.host = d->host};
    char what[96];
    (void)now;
    if (target->bridge[0] != '\0') {
        snprintf(bridge.name, sizeof bridge.name, "%s", target->bridge);
        if (device_refresh(&bridge, e) != 0)
            return -1;
        if (bridge.index == 0)
            return error_set(e,
                             "%s: there is no bridge %s: name it under interfaces with \"kind\": \"bridge\"",
                             d->name, target->bridge);
    }
    struct nlmsghdr *m = prepare(&r, RTM_NEWLINK, 0, d->index, 0, 0);
    mnl_attr_put_u32(m, IFLA_MASTER, (uint32_t)bridge.index);
    snprintf(what, sizeof what, "making %s a port of %s", d->name, bridge.index ? bridge.name : "no bridge");
    return send_change(d, m, what, e);
}

static const char *const kind_keys[] = {"kind", "vlan", NULL}, *const mtu_keys[] = {"mtu", NULL},
                         *const up_keys[] = {"up", NULL}, *const bridge_keys[] = {"bridge", NULL};

const struct knob knob_kind = {.name = "kind",
                               .keys = kind_keys,
                               .read = read_kind,
                               .check = check_kind,
                               .write = write_kind,
                               .same = same_kind};
const struct knob knob_mtu = {.name = "mtu",
                              .keys = mtu_keys,
                              .flap_ns = FLAP_SOON_NS,
                              .read = read_mtu,
                              .check = check_mtu,
                              .write = write_mtu};
const struct knob knob_up = {.name = "up", .keys = up_keys, .read = read_up, .write = write_up};
const struct knob knob_bridge = {
    .name = "bridge", .keys = bridge_keys, .read = read_bridge, .check = check_bridge, .write = write_bridge};
