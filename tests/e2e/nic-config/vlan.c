/*
 * Preloaded into nic-config where the kernel makes no VLAN interfaces: a macvlan stands in for each. Requests
 * that make or change a VLAN interface become requests for a macvlan; in answers a macvlan becomes a VLAN
 * interface again. Identifier and egress map are kept in $VLANS/NAME.
 */
#include <dlfcn.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct vlan {
    uint16_t id;
    uint8_t map[16];
};

static FILE *open_vlan(const char *name, const char *mode)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", getenv("VLANS"), name);
    return fopen(path, mode);
}

static struct vlan load(const char *name)
{
    struct vlan vlan = {0};
    FILE *file = open_vlan(name, "r");
    if (file && fread(&vlan, sizeof vlan, 1, file) != 1)
        abort();
    if (file)
        fclose(file);
    return vlan;
}

static void save(const char *name, const struct vlan *vlan)
{
    FILE *file = open_vlan(name, "w");
    if (!file || fwrite(vlan, sizeof *vlan, 1, file) != 1)
        abort();
    fclose(file);
}

static const struct nlattr *find(const struct nlmsghdr *m, uint16_t type)
{
    const struct nlattr *a;
    mnl_attr_for_each(a, m, sizeof(struct ifinfomsg)) if (mnl_attr_get_type(a) == type) return a;
    return NULL;
}

static const struct nlattr *find_nested(const struct nlattr *nest, uint16_t type)
{
    const struct nlattr *a;
    if (nest)
        mnl_attr_for_each_nested(a, nest) if (mnl_attr_get_type(a) == type) return a;
    return NULL;
}

static bool is_kind(const struct nlmsghdr *m, const char *kind)
{
    const struct nlattr *is =
        m->nlmsg_type == RTM_NEWLINK ? find_nested(find(m, IFLA_LINKINFO), IFLA_INFO_KIND) : NULL;
    return is && strcmp(mnl_attr_get_str(is), kind) == 0;
}

static void take(struct vlan *vlan, const struct nlattr *data)
{
    const struct nlattr *id = find_nested(data, IFLA_VLAN_ID), *a;
    const struct nlattr *egress = find_nested(data, IFLA_VLAN_EGRESS_QOS);
    if (id)
        vlan->id = mnl_attr_get_u16(id);
    if (egress)
        mnl_attr_for_each_nested(a, egress)
        {
            const struct ifla_vlan_qos_mapping *mapping = mnl_attr_get_payload(a);
            vlan->map[mapping->from & 15] = mapping->to & 7;
        }
}

/* A copy of the message without its IFLA_LINKINFO. */
static struct nlmsghdr *begin_copy(char *buffer, const struct nlmsghdr *m)
{
    struct nlmsghdr *copy = mnl_nlmsg_put_header(buffer);
    const struct nlattr *a;
    uint32_t length = copy->nlmsg_len;
    *copy = *m;
    copy->nlmsg_len = length;
    struct ifinfomsg *link = mnl_nlmsg_put_extra_header(copy, sizeof *link);
    *link = *(const struct ifinfomsg *)mnl_nlmsg_get_payload(m);
    mnl_attr_for_each(a, m, sizeof *link) if (mnl_attr_get_type(a) != IFLA_LINKINFO)
        mnl_attr_put(copy, a->nla_type, mnl_attr_get_payload_len(a), mnl_attr_get_payload(a));
    return copy;
}

static struct nlmsghdr *to_macvlan(char *buffer, const struct nlmsghdr *m)
{
    struct nlmsghdr *copy = begin_copy(buffer, m);
    const struct nlattr *name = find(m, IFLA_IFNAME),
                        *data = find_nested(find(m, IFLA_LINKINFO), IFLA_INFO_DATA);
    char known[IF_NAMESIZE];
    struct vlan vlan = {0};
    if (!(m->nlmsg_flags & NLM_F_CREATE)) {
        vlan = load(
            if_indextoname((unsigned)((const struct ifinfomsg *)mnl_nlmsg_get_payload(m))->ifi_index, known));
        take(&vlan, data);
        save(known, &vlan);
        return copy;
    }
    take(&vlan, data);
    save(mnl_attr_get_str(name), &vlan);
    struct nlattr *info = mnl_attr_nest_start(copy, IFLA_LINKINFO);
    mnl_attr_put_strz(copy, IFLA_INFO_KIND, "macvlan");
    mnl_attr_nest_end(copy, info);
    return copy;
}

static struct nlmsghdr *to_vlan(char *buffer, const struct nlmsghdr *m)
{
    struct vlan vlan = load(mnl_attr_get_str(find(m, IFLA_IFNAME)));
    struct nlmsghdr *copy = begin_copy(buffer, m);
    struct nlattr *info = mnl_attr_nest_start(copy, IFLA_LINKINFO);
    mnl_attr_put_strz(copy, IFLA_INFO_KIND, "vlan");
    struct nlattr *data = mnl_attr_nest_start(copy, IFLA_INFO_DATA);
    mnl_attr_put_u16(copy, IFLA_VLAN_ID, vlan.id);
    struct nlattr *egress = mnl_attr_nest_start(copy, IFLA_VLAN_EGRESS_QOS);
    for (uint32_t i = 0; i < 16; i++)
        if (vlan.map[i])
            mnl_attr_put(copy, IFLA_VLAN_QOS_MAPPING, sizeof(struct ifla_vlan_qos_mapping),
                         &(struct ifla_vlan_qos_mapping){i, vlan.map[i]});
    mnl_attr_nest_end(copy, egress);
    mnl_attr_nest_end(copy, data);
    mnl_attr_nest_end(copy, info);
    return copy;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's are reserved */
ssize_t sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t to_size)
{
    static ssize_t (*next)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
    static char buffer[65536];
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "sendto");
    if (!to || to->sa_family != AF_NETLINK || size < sizeof(struct nlmsghdr) || !is_kind(data, "vlan"))
        return next(fd, data, size, flags, to, to_size);
    const struct nlmsghdr *m = to_macvlan(buffer, data);
    return next(fd, m, m->nlmsg_len, flags, to, to_size) < 0 ? -1 : (ssize_t)size;
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    static ssize_t (*next)(int, struct msghdr *, int);
    static char buffer[262144];
    size_t filled = 0;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "recvmsg");
    int length = (int)next(fd, message, flags);
    if (length < 0 || !message->msg_name || ((struct sockaddr *)message->msg_name)->sa_family != AF_NETLINK)
        return length;
    for (const struct nlmsghdr *m = message->msg_iov[0].iov_base; mnl_nlmsg_ok(m, length);
         m = mnl_nlmsg_next(m, &length)) {
        if (is_kind(m, "macvlan"))
            (void)to_vlan(buffer + filled, m);
        else
            memcpy(buffer + filled, m, m->nlmsg_len);
        filled += NLMSG_ALIGN(((struct nlmsghdr *)(void *)(buffer + filled))->nlmsg_len);
    }
    if (filled > message->msg_iov[0].iov_len)
        abort();
    memcpy(message->msg_iov[0].iov_base, buffer, filled);
    return (ssize_t)filled;
}
