/* Objects that are bound to an interface, as netlink messages: which belong to it, what of them is kept and
 * compared. */
#include "lib/document/json_text.h"
#include "nic-config/device/bound.h"

#include "lib/clock.h"
#include <arpa/inet.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define BIT(type)  ((uint64_t)1 << (type))
#define TYPES      64
#define BYTES_MOST 16384 /* of one message */
#define OWN_FLAGS                                                                                      \
    (IFA_F_NODAD | IFA_F_OPTIMISTIC | IFA_F_HOMEADDRESS | IFA_F_MANAGETEMPADDR | IFA_F_NOPREFIXROUTE | \
     IFA_F_MCAUTOJOIN | IFA_F_PERMANENT) /* flags of an address that do not change by themselves */

#define ADDRESS_PROTO 11 /* IFA_PROTO of linux 5.18 */
#define ADDRESS                                                                                 \
    (BIT(IFA_LOCAL) | BIT(IFA_ADDRESS) | BIT(IFA_BROADCAST) | BIT(IFA_LABEL) | BIT(IFA_FLAGS) | \
     BIT(IFA_RT_PRIORITY))
#define NEXTHOP                                                                               \
    (BIT(NHA_ID) | BIT(NHA_GROUP) | BIT(NHA_GROUP_TYPE) | BIT(NHA_BLACKHOLE) | BIT(NHA_OIF) | \
     BIT(NHA_GATEWAY) | BIT(NHA_ENCAP_TYPE) | BIT(NHA_ENCAP) | BIT(NHA_FDB))
#define ROUTE_VIA                                                                                \
    (BIT(RTA_OIF) | BIT(RTA_GATEWAY) | BIT(RTA_VIA) | BIT(RTA_MULTIPATH) | BIT(RTA_ENCAP_TYPE) | \
     BIT(RTA_ENCAP) | BIT(RTA_FLOW))
#define ROUTE                                                                                            \
    (ROUTE_VIA | BIT(RTA_DST) | BIT(RTA_SRC) | BIT(RTA_PRIORITY) | BIT(RTA_PREFSRC) | BIT(RTA_METRICS) | \
     BIT(RTA_TABLE) | BIT(RTA_PREF) | BIT(RTA_TTL_PROPAGATE) | BIT(RTA_NH_ID))
#define NEIGHBOUR (BIT(NDA_DST) | BIT(NDA_LLADDR) | BIT(NDA_PROTOCOL))
/* of a rule all; FRA_PAD is not a value */
#define RULE (~(BIT(FRA_UNSPEC) | BIT(FRA_PAD)))

const struct bound_kind bound_kinds[] = {
    {"address", RTM_GETADDR, RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, sizeof(struct ifaddrmsg),
     ADDRESS | BIT(IFA_CACHEINFO) | BIT(ADDRESS_PROTO), ADDRESS},
    {"nexthop", RTM_GETNEXTHOP, RTM_NEWNEXTHOP, NLM_F_CREATE | NLM_F_REPLACE, sizeof(struct nhmsg), NEXTHOP,
     NEXTHOP},
    {"route", RTM_GETROUTE, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_APPEND, sizeof(struct rtmsg), ROUTE, ROUTE},
    {"rule", RTM_GETRULE, RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, sizeof(struct fib_rule_hdr), RULE, RULE},
    {"neighbour", RTM_GETNEIGH, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, sizeof(struct ndmsg), NEIGHBOUR,
     NEIGHBOUR},
    {0},
};

const struct bound_kind *bound_kind_of(const char *name)
{
    for (const struct bound_kind *kind = bound_kinds; name && kind->name; kind++)
        if (strcmp(kind->name, name) == 0)
            return kind;
    return NULL;
}

/* The header in front of the attributes, as it lies in the message. */
static void *header_of(const struct nlmsghdr *message)
{
    return mnl_nlmsg_get_payload(message);
}

static uint32_t number_of(const struct nlattr *a)
{
    uint32_t number = 0;
    (void)netlink_u32(a, &number);
    return number;
}

/* ---- which belong to the interface */

static bool hop_is_over(const struct nlattr *multipath, int index)
{
    const char *at = mnl_attr_get_payload(multipath);
    size_t left = mnl_attr_get_payload_len(multipath);
    struct rtnexthop hop;
    while (left >= sizeof hop) {
        memcpy(&hop, at, sizeof hop);
        if (hop.rtnh_len < sizeof hop || hop.rtnh_len > left)
            return false;
        if (hop.rtnh_ifindex == index)
            return true;
        size_t step = RTNH_ALIGN(hop.rtnh_len);
        if (step > left)
            return false;
        at += step;
        left -= step;
    }
    return false;
}

static bool knows(const struct bound_owner *owner, uint32_t nexthop)
{
    char key[16];
    snprintf(key, sizeof key, "%u", nexthop);
    return json_object_get(owner->nexthops, key);
}

/* A route with a lifetime is renewed by who gave it. The kernel makes the table "local" by itself. */
static bool route_belongs(const struct nlmsghdr *message, const struct nlattr **table,
                          const struct bound_owner *owner)
{
    const struct rtmsg *route = header_of(message);
    struct rta_cacheinfo cache = {0};
    uint32_t number = table[RTA_TABLE] ? number_of(table[RTA_TABLE]) : route->rtm_table;
    if ((route->rtm_flags & RTM_F_CLONED) || route->rtm_protocol == RTPROT_REDIRECT ||
        (number == RT_TABLE_LOCAL && route->rtm_protocol == RTPROT_KERNEL) ||
        (netlink_struct(table[RTA_CACHEINFO], &cache, sizeof cache) && cache.rta_expires != 0))
        return false;
    return (int)number_of(table[RTA_OIF]) == owner->index ||
           (table[RTA_MULTIPATH] && hop_is_over(table[RTA_MULTIPATH], owner->index)) ||
           (table[RTA_NH_ID] && knows(owner, number_of(table[RTA_NH_ID])));
}

static bool group_belongs(const struct nlattr *group, const struct bound_owner *owner)
{
    const char *at = mnl_attr_get_payload(group);
    struct nexthop_grp member;
    for (size_t i = 0; i + sizeof member <= mnl_attr_get_payload_len(group); i += sizeof member) {
        memcpy(&member, at + i, sizeof member);
        if (knows(owner, member.id))
            return true;
    }
    return false;
}

static bool nexthop_belongs(const struct nlattr **table, const struct bound_owner *owner)
{
    char key[16];
    if ((int)number_of(table[NHA_OIF]) != owner->index &&
        !(table[NHA_GROUP] && group_belongs(table[NHA_GROUP], owner)))
        return false;
    snprintf(key, sizeof key, "%u", number_of(table[NHA_ID]));
    json_object_set_new(owner->nexthops, key, json_true());
    return true;
}

static bool is_name(const struct nlattr *a, const char *name)
{
    const char *text = netlink_string(a);
    return text && strcmp(text, name) == 0;
}

bool bound_belongs(const struct bound_kind *kind, const struct nlmsghdr *message,
                   const struct bound_owner *owner)
{
    const struct nlattr *table[TYPES];
    if (mnl_nlmsg_get_payload_len(message) < kind->header)
        return false;
    netlink_parse(message, kind->header, table, TYPES);
    const struct ifaddrmsg *address = header_of(message);
    const struct ndmsg *neighbour = header_of(message);
    switch (kind->new) {
    case RTM_NEWADDR: /* temporary ones are made by the kernel */
        return (int)address->ifa_index == owner->index &&
               !(address->ifa_family == AF_INET6 && (address->ifa_flags & IFA_F_TEMPORARY));
    case RTM_NEWNEXTHOP:
        return nexthop_belongs(table, owner);
    case RTM_NEWROUTE:
        return route_belongs(message, table, owner);
    case RTM_NEWRULE:
        return is_name(table[FRA_IIFNAME], owner->name) || is_name(table[FRA_OIFNAME], owner->name);
    default:
        return neighbour->ndm_ifindex == owner->index &&
               ((neighbour->ndm_state & NUD_PERMANENT) || (neighbour->ndm_flags & NTF_PROXY));
    }
}

/* ---- the form that is kept */

static struct nlmsghdr *filter(const struct nlmsghdr *message, const struct bound_kind *kind, uint64_t mask)
{
    const struct nlattr *a;
    struct nlmsghdr *copy = calloc(1, MNL_ALIGN(message->nlmsg_len) + MNL_ALIGNTO);
    if (!copy)
        return NULL;
    mnl_nlmsg_put_header(copy);
    copy->nlmsg_type = kind->new;
    memcpy(mnl_nlmsg_put_extra_header(copy, kind->header), header_of(message), kind->header);
    netlink_for_each(a, message, kind->header)
    {
        if (mnl_attr_get_type(a) < TYPES && (mask & BIT(mnl_attr_get_type(a))))
            mnl_attr_put(copy, a->nla_type, mnl_attr_get_payload_len(a), mnl_attr_get_payload(a));
    }
    return copy;
}

/* Values of the header that are the kernel's reports, not what was asked of it. */
static void clear_reports(struct nlmsghdr *message, const struct bound_kind *kind)
{
    struct ifaddrmsg *address = header_of(message);
    struct rtmsg *route = header_of(message);
    struct nhmsg *nexthop = header_of(message);
    struct fib_rule_hdr *rule = header_of(message);
    struct ndmsg *neighbour = header_of(message);
    switch (kind->new) {
    case RTM_NEWADDR:
        address->ifa_flags = 0;
        break;
    case RTM_NEWROUTE:
        route->rtm_flags &= RTNH_F_ONLINK;
        break;
    case RTM_NEWNEXTHOP:
        nexthop->nh_flags &= RTNH_F_ONLINK;
        nexthop->nh_scope = 0;
        break;
    case RTM_NEWRULE:
        rule->flags &= FIB_RULE_INVERT;
        break;
    default:
        neighbour->ndm_type = 0;
        neighbour->ndm_flags &= NTF_PROXY | NTF_ROUTER;
        break;
    }
}

static void exchange_number(struct nlattr *a, int from, int to)
{
    if (mnl_attr_get_payload_len(a) == sizeof to && (int)number_of(a) == from)
        memcpy(mnl_attr_get_payload(a), &to, sizeof to);
}

static void exchange_hops(const struct nlattr *multipath, int from, int to)
{
    char *at = mnl_attr_get_payload(multipath);
    size_t left = mnl_attr_get_payload_len(multipath);
    struct rtnexthop hop;
    while (left >= sizeof hop) {
        memcpy(&hop, at, sizeof hop);
        size_t step = RTNH_ALIGN(hop.rtnh_len);
        hop.rtnh_flags &= RTNH_F_ONLINK;
        hop.rtnh_ifindex = hop.rtnh_ifindex == from ? to : hop.rtnh_ifindex;
        memcpy(at, &hop, sizeof hop);
        if (hop.rtnh_len < sizeof hop || step > left)
            return;
        at += step;
        left -= step;
    }
}

/* Exchange one index of an interface for another, everywhere in the message. */
static void exchange_index(struct nlmsghdr *message, const struct bound_kind *kind, int from, int to)
{
    struct ifaddrmsg *address = header_of(message);
    struct ndmsg *neighbour = header_of(message);
    struct nlattr *a;
    if (kind->new == RTM_NEWADDR && (int)address->ifa_index == from)
        address->ifa_index = (uint32_t)to;
    if (kind->new == RTM_NEWNEIGH && neighbour->ndm_ifindex == from)
        neighbour->ndm_ifindex = to;
    netlink_for_each(a, message, kind->header)
    {
        int type = mnl_attr_get_type(a);
        if ((kind->new == RTM_NEWROUTE &&type == RTA_OIF) || (kind->new == RTM_NEWNEXTHOP &&type == NHA_OIF))
            exchange_number(a, from, to);
        if (kind->new == RTM_NEWROUTE && type == RTA_MULTIPATH)
            exchange_hops(a, from, to);
    }
}

/* Keep the flags of an address that do not change by themselves. */
static void clear_address_flags(struct nlmsghdr *message)
{
    struct nlattr *a;
    netlink_for_each(a, message, sizeof(struct ifaddrmsg))
    {
        uint32_t flags = number_of(a) & OWN_FLAGS;
        if (mnl_attr_get_type(a) == IFA_FLAGS && mnl_attr_get_payload_len(a) == sizeof flags)
            memcpy(mnl_attr_get_payload(a), &flags, sizeof flags);
    }
}

/* ---- text */

static char *hex_of(const void *data, size_t length)
{
    const unsigned char *bytes = data;
    char *text = malloc(2 * length + 1);
    for (size_t i = 0; text && i < length; i++)
        sprintf(text + 2 * i, "%02x", bytes[i]);
    if (text)
        text[2 * length] = '\0';
    return text;
}

static int digit_of(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static const char *ip_of(int family, const struct nlattr *a, char *text, size_t size)
{
    size_t length = family == AF_INET6 ? sizeof(struct in6_addr) : sizeof(struct in_addr);
    if (!a || mnl_attr_get_payload_len(a) < length ||
        !inet_ntop(family, mnl_attr_get_payload(a), text, (socklen_t)size))
        snprintf(text, size, "?");
    return text;
}

static json_t *route_text(const struct nlmsghdr *message, const struct nlattr **table)
{
    const struct rtmsg *route = header_of(message);
    char to[INET6_ADDRSTRLEN], via[INET6_ADDRSTRLEN], metric[24] = "";
    if (table[RTA_PRIORITY])
        snprintf(metric, sizeof metric, " metric %u", number_of(table[RTA_PRIORITY]));
    if (!table[RTA_DST])
        snprintf(to, sizeof to, "%s", route->rtm_family == AF_INET6 ? "::" : "0.0.0.0");
    else
        ip_of(route->rtm_family, table[RTA_DST], to, sizeof to);
    return json_textf("%s/%u%s%s table %u%s", to, route->rtm_dst_len, table[RTA_GATEWAY] ? " via " : "",
                      table[RTA_GATEWAY] ? ip_of(route->rtm_family, table[RTA_GATEWAY], via, sizeof via) : "",
                      table[RTA_TABLE] ? number_of(table[RTA_TABLE]) : route->rtm_table, metric);
}

/* The object in words; addresses also as "10.0.0.1/24", as in documents. */
static json_t *text_of(const struct bound_kind *kind, const struct nlmsghdr *message)
{
    const struct nlattr *table[TYPES];
    const struct ifaddrmsg *address = header_of(message);
    const struct fib_rule_hdr *rule = header_of(message);
    const struct ndmsg *neighbour = header_of(message);
    char ip[INET6_ADDRSTRLEN];
    netlink_parse(message, kind->header, table, TYPES);
    switch (kind->new) {
    case RTM_NEWADDR: /* on a point-to-point link IFA_ADDRESS is the other end */
        return json_textf("%s/%u",
                          ip_of(address->ifa_family, table[IFA_LOCAL] ? table[IFA_LOCAL] : table[IFA_ADDRESS],
                                ip, sizeof ip),
                          address->ifa_prefixlen);
    case RTM_NEWNEXTHOP:
        return json_textf("nexthop %u", number_of(table[NHA_ID]));
    case RTM_NEWROUTE:
        return route_text(message, table);
    case RTM_NEWRULE:
        return json_textf("rule %u table %u", number_of(table[FRA_PRIORITY]),
                          table[FRA_TABLE] ? number_of(table[FRA_TABLE]) : rule->table);
    default:
        return json_textf("%s", ip_of(neighbour->ndm_family, table[NDA_DST], ip, sizeof ip));
    }
}

/* ---- objects */

/* A route by a nexthop's number is not given the nexthop's values too, though the kernel lists them. */
static uint64_t kept_of(const struct bound_kind *kind, const struct nlmsghdr *message)
{
    const struct nlattr *table[TYPES];
    netlink_parse(message, kind->header, table, TYPES);
    return kind->new == RTM_NEWROUTE &&table[RTA_NH_ID] ? kind->kept & ~ROUTE_VIA : kind->kept;
}

json_t *bound_object(const struct bound_kind *kind, const struct nlmsghdr *message, int index)
{
    if (mnl_nlmsg_get_payload_len(message) < kind->header || message->nlmsg_len > BYTES_MOST)
        return NULL;
    struct nlmsghdr *kept = filter(message, kind, kept_of(kind, message));
    if (!kept)
        return NULL;
    clear_reports(kept, kind);
    exchange_index(kept, kind, index, 0);
    if (kind->new == RTM_NEWADDR)
        clear_address_flags(kept);
    char *hex = hex_of(header_of(kept), mnl_nlmsg_get_payload_len(kept));
    json_t *object = json_make("{s:s,s:o*,s:s}", "kind", kind->name, "text", text_of(kind, kept), "message",
                               hex ? hex : "");
    free(hex);
    free(kept);
    return object;
}

struct nlmsghdr *bound_message(const json_t *object, int index)
{
    const struct bound_kind *kind = bound_kind_of(json_string_value(json_object_get(object, "kind")));
    const char *hex = json_string_value(json_object_get(object, "message"));
    size_t length = hex ? strlen(hex) / 2 : 0;
    if (!kind || !hex || length < kind->header || length > BYTES_MOST || strlen(hex) % 2 != 0)
        return NULL;
    struct nlmsghdr *message = calloc(1, MNL_NLMSG_HDRLEN + MNL_ALIGN(length));
    if (!message)
        return NULL;
    mnl_nlmsg_put_header(message);
    message->nlmsg_type = kind->new;
    unsigned char *bytes = mnl_nlmsg_put_extra_header(message, length);
    for (size_t i = 0; i < length; i++) {
        int high = digit_of(hex[2 * i]), low = digit_of(hex[2 * i + 1]);
        if (high < 0 || low < 0) {
            free(message);
            return NULL;
        }
        bytes[i] = (unsigned char)(high << 4 | low);
    }
    exchange_index(message, kind, 0, index);
    return message;
}

char *bound_key(const json_t *object)
{
    const struct bound_kind *kind = bound_kind_of(json_string_value(json_object_get(object, "kind")));
    struct nlmsghdr *message = bound_message(object, 0),
                    *compared = message ? filter(message, kind, kind->compared) : NULL;
    char *hex = compared ? hex_of(header_of(compared), mnl_nlmsg_get_payload_len(compared)) : NULL,
         *key = NULL;
    if (hex && asprintf(&key, "%s %s", kind->name, hex) < 0)
        key = NULL;
    free(hex);
    free(compared);
    free(message);
    return key;
}

int bound_family(const json_t *object)
{
    struct nlmsghdr *message = bound_message(object, 0);
    int family =
        message ? *(const unsigned char *)header_of(message) : AF_UNSPEC; /* the first byte of each header */
    free(message);
    return family;
}

bool bound_age(struct nlmsghdr *message, int64_t passed_ns)
{
    struct nlattr *a;
    struct ifa_cacheinfo cache;
    uint32_t passed_s = passed_ns <= 0 ? 0 : (uint32_t)(passed_ns / NS_PER_S);
    if (message->nlmsg_type != RTM_NEWADDR)
        return true;
    netlink_for_each(a, message, sizeof(struct ifaddrmsg))
    {
        if (mnl_attr_get_type(a) != IFA_CACHEINFO || !netlink_struct(a, &cache, sizeof cache))
            continue;
        uint32_t *lives[] = {&cache.ifa_valid, &cache.ifa_prefered};
        for (size_t i = 0; i < 2; i++)
            if (*lives[i] != UINT32_MAX)
                *lives[i] = *lives[i] > passed_s ? *lives[i] - passed_s : 0;
        memcpy(mnl_attr_get_payload(a), &cache, sizeof cache);
        return cache.ifa_valid != 0;
    }
    return true;
}
