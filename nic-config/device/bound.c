#include "nic-config/device/bound.h"

#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the kernel's settings of IP */

/* The kernel's settings of IP on an interface, which begin anew when IPv6 or the interface was removed. */

/* Values that are not kept: the first is a secret, the second a state. */
static bool is_kept(const char *name)
{
    return name[0] != '.' && strcmp(name, "stable_secret") != 0 && strcmp(name, "mc_forwarding") != 0;
}

static void read_folder(const char *folder, json_t *values)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;
    while (entries && (entry = readdir(entries))) {
        char *path = is_kept(entry->d_name) ? files_join(folder, entry->d_name) : NULL;
        char *value = path && access(path, W_OK) == 0 ? files_read_line(path, NULL) : NULL;
        if (value)
            json_object_set_new(values, path, json_text(value));
        free(value);
        free(path);
    }
    if (entries)
        closedir(entries);
}

/* path -> value. A new reference. */
static json_t *read_sysctls(const struct device *d)
{
    static const char *const groups[] = {"ipv4/conf", "ipv4/neigh", "ipv6/conf", "ipv6/neigh"};
    json_t *values = json_object();
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        char folder[96];
        snprintf(folder, sizeof folder, "/proc/sys/net/%s/%s", groups[i], d->name);
        read_folder(folder, values);
    }
    return values;
}

/* IPv6's MTU follows a change of the interface's. */
static bool follows_mtu(const char *path)
{
    const char *name = strrchr(path, '/');
    return name && strcmp(name, "/mtu") == 0;
}

/* Write those that differ; as bound_put_back. */
static int put_back_sysctls(struct device *d, const json_t *sysctls, bool all, json_t *restored,
                            json_t *failed)
{
    const char *path;
    json_t *value, *now = read_sysctls(d);
    int wrote = 0;
    json_object_foreach((json_t *)(uintptr_t)sysctls, path, value)
    {
        struct error e = {""};
        /* one that cannot be read now is not this interface's, whatever the journal says */
        json_t *found = json_object_get(now, path);
        if (!found || !json_is_string(value) || json_equal(found, value) || (!all && follows_mtu(path)))
            continue;
        if (files_write(path, json_string_value(value), &e) == 0) {
            wrote++;
            json_array_append_new(restored, json_make("{s:s,s:s,s:O,s:O}", "interface", d->name, "setting",
                                                      path, "found", found, "put_back", value));
        } else {
            json_array_append_new(
                failed, json_make("{s:s,s:s,s:s}", "interface", d->name, "setting", path, "why", e.text));
        }
    }
    json_decref(now);
    return wrote;
}

/* ---- objects */

#define LOOK_EVERY_NS (20 * NS_PER_MS)
#define UNIQUE_NS     (5 * NS_PER_S) /* IPv6 looks for duplicates of an address for one to two seconds */

/* ---- reading */

struct reading {
    const struct bound_kind *kind;
    struct bound_owner owner;
    int family;
    json_t *objects;
    bool too_many, unkept;
};

static int keep_object(const struct nlmsghdr *message, void *data)
{
    struct reading *r = data;
    if (message->nlmsg_type != r->kind->new || mnl_nlmsg_get_payload_len(message) < r->kind->header ||
        (r->family != AF_UNSPEC && *(const unsigned char *)mnl_nlmsg_get_payload(message) != r->family) ||
        !bound_belongs(r->kind, message, &r->owner))
        return MNL_CB_OK;
    json_t *object = bound_object(r->kind, message, r->owner.index);
    r->unkept = r->unkept || !object;
    r->too_many = r->too_many || json_array_size(r->objects) >= BOUND_MOST;
    if (object && !r->too_many)
        json_array_append(r->objects, object);
    json_decref(object);
    return MNL_CB_OK;
}

static int dump(struct netlink *n, struct reading *r, int family, uint8_t flags, struct error *e)
{
    union netlink_request request;
    struct nlmsghdr *m = netlink_prepare(&request, r->kind->get, NLM_F_DUMP);
    unsigned char *header = mnl_nlmsg_put_extra_header(m, r->kind->header);
    header[0] = (unsigned char)family;
    if (r->kind->get == RTM_GETNEIGH)
        ((struct ndmsg *)(void *)header)->ndm_flags = flags;
    r->family = family;
    if (netlink_call(n, m, keep_object, r, e) == 0)
        return 0;
    /* a kernel without nexthops, IPv6 or policy rules has none that could be lost */
    int number = netlink_errno(n);
    if (number == EOPNOTSUPP || number == EAFNOSUPPORT || number == ENOENT)
        return 0;
    return error_prefix(e, "reading the %ss", r->kind->name);
}

static int dump_kind(struct netlink *n, struct reading *r, struct error *e)
{
    static const int families[] = {AF_INET, AF_INET6};
    if (r->kind->get == RTM_GETNEXTHOP) {
        /* a group may be listed before its members: the first time finds these */
        struct reading first = *r;
        first.objects = json_array();
        int result = dump(n, &first, AF_UNSPEC, 0, e);
        json_decref(first.objects);
        return result == 0 ? dump(n, r, AF_UNSPEC, 0, e) : -1;
    }
    for (size_t i = 0; i < 2; i++) {
        if (dump(n, r, families[i], 0, e) != 0)
            return -1;
        if (r->kind->get == RTM_GETNEIGH && dump(n, r, families[i], NTF_PROXY, e) != 0)
            return -1;
    }
    return 0;
}

/* The interface's objects; a new reference, NULL with a sentence. */
static json_t *read_objects(struct device *d, struct error *e)
{
    struct netlink *n = host_route(d->host, e);
    struct reading r = {.owner = {.index = d->index, .name = d->name, .nexthops = json_object()},
                        .objects = json_array()};
    int result = n ? 0 : -1;
    for (r.kind = bound_kinds; result == 0 && r.kind->name; r.kind++)
        result = dump_kind(n, &r, e);
    if (result == 0 && r.too_many)
        result = error_set(
            e, "it has more than %d addresses, routes and neighbours, which nic-config does not keep",
            BOUND_MOST);
    if (result == 0 && r.unkept)
        result =
            error_set(e, "an address, a route or a neighbour could not be kept: its message is too long");
    json_decref(r.owner.nexthops);
    if (result == 0)
        return r.objects;
    json_decref(r.objects);
    error_prefix(e, "%s", d->name);
    return NULL;
}

json_t *bound_read(struct device *d, struct error *e)
{
    json_t *objects = read_objects(d, e);
    return !objects ? NULL
                    : json_make("{s:I,s:o,s:o}", "time_ns", (json_int_t)clock_realtime_ns(), "objects",
                                objects, "sysctls", read_sysctls(d));
}

/* ---- what is missing */

static bool is_kind(const json_t *object, const char *name)
{
    const char *kind = json_string_value(json_object_get(object, "kind"));
    return kind && strcmp(kind, name) == 0;
}

/* Can it be there, in this state? Addresses of IPv4 and rules stay on an interface that is down. */
static bool can_be(const json_t *object, bool up, int64_t mtu)
{
    if (is_kind(object, "rule"))
        return true;
    int family = bound_family(object);
    if (family == AF_INET6 && mtu < BOUND_IPV6_MTU)
        return false;
    return up || (family == AF_INET && is_kind(object, "address"));
}

size_t bound_lost(const json_t *bound, bool up, int64_t mtu)
{
    size_t i, lost = 0;
    const json_t *object;
    json_array_foreach(json_object_get(bound, "objects"), i, object) lost += !can_be(object, up, mtu);
    return lost;
}

/* The keys of objects, as an object's. */
static json_t *keys_of(const json_t *objects)
{
    size_t i;
    const json_t *object;
    json_t *keys = json_object();
    json_array_foreach(objects, i, object)
    {
        char *key = bound_key(object);
        if (key)
            json_object_set_new(keys, key, json_true());
        free(key);
    }
    return keys;
}

static bool is_there(const json_t *keys, const json_t *object)
{
    char *key = bound_key(object);
    bool there = key && json_object_get(keys, key);
    free(key);
    return there;
}

/* ---- putting back */

static void note_put_back(const struct device *d, const json_t *object, json_t *restored)
{
    json_array_append_new(restored, json_make("{s:s,s:O,s:n,s:O}", "interface", d->name, "setting",
                                              json_object_get(object, "kind"), "found", "put_back",
                                              json_object_get(object, "text")));
}

static void note_failed(const struct device *d, const json_t *object, const struct error *e, json_t *failed)
{
    json_array_append_new(failed,
                          json_make("{s:s,s:s,s:s}", "interface", d->name, "setting",
                                    json_string_value(json_object_get(object, "kind")), "why", e->text));
}

static int add_object(struct device *d, struct nlmsghdr *m, const struct bound_kind *kind, const char *text,
                      struct error *e)
{
    struct netlink *n = host_route(d->host, e);
    char what[128];
    int number = 0;
    snprintf(what, sizeof what, "%s: putting back the %s %.60s", d->name, kind->name, text);
    m->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | kind->flags;
    if (!n)
        return -1;
    if (host_change(n, m, NULL, NULL, what, &number, e) == 0)
        return 0;
    if (number != EEXIST || kind->new == RTM_NEWRULE)
        return number == EEXIST ? 0 : -1;
    /* one with other values is in its place */
    m->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
    return host_change(n, m, NULL, NULL, what, NULL, e);
}

/* 1: written, 0: its lifetime has ended, -1. */
static int put_back_one(struct device *d, const json_t *object, int64_t passed_ns, struct error *e)
{
    const char *kind = json_string_value(json_object_get(object, "kind")),
               *text = json_string_value(json_object_get(object, "text"));
    struct nlmsghdr *m = bound_message(object, d->index);
    if (!m)
        return error_set(e, "%s: the journal's record of the %s %.60s is not one", d->name,
                         kind ? kind : "object", text ? text : "");
    int result = bound_age(m, passed_ns) ? 1 : 0;
    if (result == 1 && add_object(d, m, bound_kind_of(kind), text ? text : "", e) != 0)
        result = -1;
    free(m);
    return result;
}

static int see_tentative(const struct nlmsghdr *message, void *data)
{
    struct reading *r = data;
    const struct ifaddrmsg *address = mnl_nlmsg_get_payload(message);
    if (mnl_nlmsg_get_payload_len(message) >= sizeof *address && (int)address->ifa_index == r->owner.index &&
        address->ifa_scope != RT_SCOPE_LINK &&
        (address->ifa_flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED)) == IFA_F_TENTATIVE)
        r->too_many = true;
    return MNL_CB_OK;
}

/* A route may name an IPv6 address as its source only when that is known to be unique; none names a
 * link-local one. */
static void wait_for_unique(struct device *d)
{
    union netlink_request request;
    struct netlink *n = host_route(d->host, NULL);
    int64_t began = clock_monotonic_ns();
    bool tentative = n && d->up && d->carrier;
    while (tentative && clock_monotonic_ns() - began < UNIQUE_NS) {
        struct reading r = {.owner = {.index = d->index}};
        struct nlmsghdr *m = netlink_prepare(&request, RTM_GETADDR, NLM_F_DUMP);
        struct ifaddrmsg *address = mnl_nlmsg_put_extra_header(m, sizeof *address);
        address->ifa_family = AF_INET6;
        tentative = netlink_call(n, m, see_tentative, &r, NULL) == 0 && r.too_many;
        if (tentative)
            clock_sleep_until_ns(clock_monotonic_ns() + LOOK_EVERY_NS);
    }
}

/* One pass over those that are missing; those that were put back are removed from the list. Returns how
 * many. */
static int pass(struct device *d, json_t *missing, int64_t passed_ns, json_t *restored, json_t *failed)
{
    int wrote = 0;
    for (size_t i = 0; i < json_array_size(missing);) {
        const json_t *object = json_array_get(missing, i);
        struct error e = {""};
        int result = put_back_one(d, object, passed_ns, &e);
        if (result < 0) {
            note_failed(d, object, &e, failed);
            i++;
            continue;
        }
        if (result > 0)
            note_put_back(d, object, restored);
        wrote += result;
        json_array_remove(missing, i);
    }
    return wrote;
}

static bool names_source(const json_t *missing)
{
    size_t i;
    const json_t *object;
    bool named = false;
    json_array_foreach(missing, i, object) named =
        named || (is_kind(object, "route") && bound_family(object) == AF_INET6);
    return named;
}

/* A route may need another one, or an address, first: passes as long as one of them makes progress. */
static int put_back_missing(struct device *d, json_t *missing, int64_t passed_ns, json_t *restored,
                            json_t *failed)
{
    int wrote = 0, more;
    bool waited = false;
    while (json_array_size(missing) > 0) {
        json_t *refused = json_array();
        more = pass(d, missing, passed_ns, restored, refused);
        wrote += more;
        bool wait = more == 0 && !waited && names_source(missing);
        if (more == 0 && !wait)
            json_array_extend(failed, refused);
        json_decref(refused);
        if (more == 0 && !wait)
            break;
        if (wait) {
            wait_for_unique(d);
            waited = true;
        }
    }
    return wrote;
}

static bool names(const json_t *addresses, const json_t *object)
{
    size_t i;
    const json_t *address;
    bool named = false;
    json_array_foreach(addresses, i, address) named =
        named || (is_kind(object, "address") && json_equal(address, json_object_get(object, "text")));
    return named;
}

/* Those that are not among the objects of now. The kernel lists an interface's IPv6 addresses last to
 * first. */
static json_t *missing_of(const struct device *d, const json_t *bound, const json_t *except,
                          const json_t *now)
{
    size_t i;
    json_t *object, *missing = json_array(), *keys = keys_of(now);
    json_array_foreach(json_object_get(bound, "objects"), i, object)
    {
        if ((except && (!can_be(object, d->up, d->mtu) || names(except, object))) || is_there(keys, object))
            continue;
        bool first = is_kind(object, "address") && bound_family(object) == AF_INET6;
        json_array_insert(missing, first ? 0 : json_array_size(missing), object);
    }
    json_decref(keys);
    return missing;
}

/* ---- addresses */

bool bound_has_address(const json_t *bound, const char *address)
{
    size_t i;
    const json_t *object;
    json_array_foreach(json_object_get(bound, "objects"), i, object)
    {
        if (is_kind(object, "address") && json_string_value(json_object_get(object, "text")) &&
            strcmp(json_string_value(json_object_get(object, "text")), address) == 0)
            return true;
    }
    return false;
}

int bound_remove_address(struct device *d, const char *address, struct error *e)
{
    size_t i;
    const json_t *object;
    int result = 0;
    json_t *now = d->index == 0 ? NULL : read_objects(d, e);
    if (!now)
        return d->index == 0 ? 0 : -1;
    json_array_foreach(now, i, object)
    {
        const char *text = json_string_value(json_object_get(object, "text"));
        struct nlmsghdr *m = NULL;
        char what[128];
        if (result == 0 && text && is_kind(object, "address") && strcmp(text, address) == 0)
            m = bound_message(object, d->index);
        if (!m)
            continue;
        snprintf(what, sizeof what, "%s: removing the address %.60s", d->name, address);
        m->nlmsg_type = RTM_DELADDR;
        m->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
        result = host_change(d->host->route, m, NULL, NULL, what, NULL, e) == 0 ? 1 : -1;
        free(m);
    }
    json_decref(now);
    return result;
}

/* When IPv6 comes back to an interface, the kernel makes it a link-local address before it can be told that
 * it is not to (addr_gen_mode 1, linux include/uapi/linux/if_link.h: IN6_ADDR_GEN_MODE_NONE). */
static int remove_made(struct device *d, const json_t *bound, const json_t *now, json_t *restored,
                       json_t *failed)
{
    char path[96];
    size_t i;
    const json_t *object;
    int removed = 0;
    snprintf(path, sizeof path, "/proc/sys/net/ipv6/conf/%s/addr_gen_mode", d->name);
    const char *mode = json_string_value(json_object_get(json_object_get(bound, "sysctls"), path));
    if (!mode || strcmp(mode, "1") != 0)
        return 0;
    json_array_foreach(now, i, object)
    {
        struct error e = {""};
        json_t *text = json_object_get(object, "text");
        const char *address = json_string_value(text);
        if (!is_kind(object, "address") || !address || strncmp(address, "fe80:", 5) != 0 ||
            bound_has_address(bound, address))
            continue;
        if (bound_remove_address(d, address, &e) < 0) {
            note_failed(d, object, &e, failed);
            continue;
        }
        removed++;
        json_array_append_new(restored, json_make("{s:s,s:s,s:O,s:n}", "interface", d->name, "setting",
                                                  "address", "found", text, "put_back"));
    }
    return removed;
}

/* ---- all of it */

int bound_put_back(struct device *d, const json_t *bound, const json_t *except, json_t *restored,
                   json_t *failed, struct error *e)
{
    int wrote = 0;
    if (device_refresh(d, e) != 0)
        return -1;
    if (d->index == 0)
        return 0;
    if (!except || d->mtu >= BOUND_IPV6_MTU)
        wrote = put_back_sysctls(d, json_object_get(bound, "sysctls"), !except, restored, failed);
    json_t *now = read_objects(d, e);
    if (!now)
        return -1;
    json_t *missing = missing_of(d, bound, except, now);
    int64_t passed_ns = clock_realtime_ns() - json_integer_value(json_object_get(bound, "time_ns"));
    wrote += put_back_missing(d, missing, passed_ns, restored, failed);
    if (!except)
        wrote += remove_made(d, bound, now, restored, failed);
    json_decref(missing);
    json_decref(now);
    return wrote;
}
