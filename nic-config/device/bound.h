/*
 * What the kernel ties to an interface and removes together with it, when it goes down, or when its MTU falls
 * below IPv6's least: addresses, nexthops, routes of all tables, policy rules, permanent neighbours. Each is
 * kept as the kernel's own message, so that all its attributes come back; the kernel's settings of IP on the
 * interface (/proc/sys/net) are kept as values. `ip ... save` keeps messages too, but has no neighbours and
 * nexthops, and its restore stops at what fails and cannot leave out an object, wait for the link, shorten
 * lifetimes, or find an interface that has a new index.
 */
#ifndef NIC_CONFIG_BOUND_H
#define NIC_CONFIG_BOUND_H

#include "nic-config/device/device.h"

/* IPv6 is removed from an interface with a smaller MTU (RFC 8200, section 5; linux net/ipv6/addrconf.c,
 * addrconf_notify). */
#define BOUND_IPV6_MTU 1280
/* More objects of one interface are not kept: a journal holds them all. */
#define BOUND_MOST 20000

/*
 * Read them: {"time_ns", "objects": [{"kind", "text", "message"}...], "sysctls": {path: value}}; message is
 * the netlink message's payload in hexadecimal, with 0 for the interface's own index. A new reference; NULL
 * with a sentence.
 */
json_t *bound_read(struct device *d, struct error *e);

/*
 * Put back what is missing: adds {"interface", "setting", "found", "put_back"} to `restored`, and
 * {"interface", "setting", "why"} to `failed`. `except` is NULL: all that is missing; else a list of
 * addresses, which are left out, and so is what cannot be there now: routes of an interface that is down,
 * IPv6 below its least MTU. Returns how many writes were made; -1 when the machine could not be read.
 */
int bound_put_back(struct device *d, const json_t *bound, const json_t *except, json_t *restored,
                   json_t *failed, struct error *e);
/* How many of its objects cannot be there in the state `up` and with this MTU. */
size_t bound_lost(const json_t *bound, bool up, int64_t mtu);

/* Whether it has this address ("10.0.0.1/24"). */
bool bound_has_address(const json_t *bound, const char *address);
/* Remove an address. 1: removed, 0: it was not there, -1 with a sentence. */
int bound_remove_address(struct device *d, const char *address, struct error *e);

/* ---- messages, bound_message.c; also for tests */

struct bound_kind {
    const char *name;
    uint16_t get, new; /* types of messages */
    uint16_t flags;    /* of the request that adds one */
    size_t header;     /* bytes before the attributes */
    uint64_t kept,
        compared; /* attributes, a bit for each type; the others follow from these, or change by themselves */
};
/* In the order in which they are put back; ended by a NULL name. */
extern const struct bound_kind bound_kinds[];
const struct bound_kind *bound_kind_of(const char *name);

/* What decides whether an object belongs to an interface. */
struct bound_owner {
    int index;
    const char *name;
    json_t *nexthops; /* their numbers, as keys */
};
/* Does the message, of this kind and family, belong to the interface, and is it not the kernel's own?
 * Nexthops that do are added to the owner's. */
bool bound_belongs(const struct bound_kind *kind, const struct nlmsghdr *message,
                   const struct bound_owner *owner);
/* The object of a message; NULL: too long or incomplete. */
json_t *bound_object(const struct bound_kind *kind, const struct nlmsghdr *message, int index);
/* The message that adds an object, for the interface with this index. The caller frees; NULL: it is not
 * one. */
struct nlmsghdr *bound_message(const json_t *object, int index);
/* Two objects with the same key are the same. The caller frees; NULL: it is not one. */
char *bound_key(const json_t *object);
/* AF_INET, AF_INET6, or AF_UNSPEC. */
int bound_family(const json_t *object);
/* An address's lifetimes, shorter by what has passed since it was read; false: it has ended. */
bool bound_age(struct nlmsghdr *message, int64_t passed_ns);

#endif
