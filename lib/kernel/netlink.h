/*
 * Netlink through libmnl, for reading counters and applying settings.
 *
 *     union netlink_request r;
 *     struct nlmsghdr *m = netlink_prepare(&r, RTM_GETQDISC, NLM_F_DUMP);
 *     struct tcmsg *t = mnl_nlmsg_put_extra_header(m, sizeof *t);
 *     if (netlink_call(n, m, each, data, e) == -1)
 *         ... netlink_errno(n) == EOPNOTSUPP ...
 *
 * A request may be prepared once and sent many times; netlink_call only writes its sequence number.
 */
#ifndef LIB_NETLINK_H
#define LIB_NETLINK_H

#include "lib/error.h"
#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NETLINK_REQUEST_SIZE 8192

struct netlink;

union netlink_request {
    struct nlmsghdr header;
    char bytes[NETLINK_REQUEST_SIZE];
};

/* A socket of a family (NETLINK_ROUTE, NETLINK_GENERIC, NETLINK_RDMA), with extended ACK and strict checking
 * on. On error NULL; errno is kept (EPROTONOSUPPORT: the kernel lacks the family). */
struct netlink *netlink_open(int family, struct error *e);
void netlink_close(struct netlink *n);

/* Begin a request in r; NLM_F_REQUEST is added to flags. Extra headers and attributes follow with libmnl's
 * functions. */
struct nlmsghdr *netlink_prepare(union netlink_request *r, uint16_t type, uint16_t flags);
/* The same for a generic netlink family's command (version 1). */
struct nlmsghdr *netlink_prepare_generic(union netlink_request *r, uint16_t family, uint8_t command,
                                         uint16_t flags);

/* Look up a generic netlink family by name ("ethtool"). */
int netlink_family(struct netlink *n, const char *name, uint16_t *id, struct error *e);

/*
 * Send a request and pass every answer to `each` (may be NULL). It ends with the last part of a dump
 * (NLM_F_DUMP), with the acknowledgement (NLM_F_ACK), or with the single answer. If `each` returns less than
 * MNL_CB_STOP, the rest is read and discarded, and the error sentence is that of `each`. If the kernel
 * refuses, the sentence contains the text of its extended ACK, and netlink_errno returns the error number.
 *
 * The answers of a dump are passed on when it is whole. One that the kernel marks as interrupted, because
 * what it lists changed meanwhile (NLM_F_DUMP_INTR), may lack entries or have some twice: it is discarded and
 * repeated.
 */
int netlink_call(struct netlink *n, struct nlmsghdr *request, mnl_cb_t each, void *data, struct error *e);
/* The error number (positive) of the last netlink_call; 0 when it succeeded. */
int netlink_errno(const struct netlink *n);

/* Attributes by type: table[type] for type < count, NULL where absent; unknown types and incomplete
 * attributes are left out. `header` is the size of the family's own header before the attributes. */
void netlink_parse(const struct nlmsghdr *message, size_t header, const struct nlattr **table, size_t count);
void netlink_parse_nested(const struct nlattr *nest, const struct nlattr **table, size_t count);

/* Iterate over a message's attributes after a family's header of `header` bytes. libmnl's mnl_attr_for_each
 * reads up to three bytes beyond a message whose length is not a multiple of four. */
#define netlink_for_each(attribute, message, header)                                                     \
    for ((attribute) = mnl_nlmsg_get_payload_offset((message), (header));                                \
         mnl_attr_ok((attribute),                                                                        \
                     (int)((const char *)(message) + (message)->nlmsg_len - (const char *)(attribute))); \
         (attribute) = mnl_attr_next(attribute))

/* Is the message whole within `left` bytes? libmnl's mnl_nlmsg_ok treats lengths of 2 GiB and more as
 * negative. */
static inline bool netlink_whole(const struct nlmsghdr *message, int left)
{
    return left >= (int)sizeof *message && message->nlmsg_len <= (uint32_t)left &&
           mnl_nlmsg_ok(message, left);
}

/* Values of attributes: false (NULL) when the attribute is absent or has another length. */
bool netlink_u8(const struct nlattr *a, uint8_t *value);
bool netlink_u16(const struct nlattr *a, uint16_t *value);
bool netlink_u32(const struct nlattr *a, uint32_t *value);
bool netlink_u64(const struct nlattr *a, uint64_t *value);
/* An unsigned number of any width (1, 2, 4 or 8 bytes). */
bool netlink_number(const struct nlattr *a, uint64_t *value);
/* A string inside the attribute, terminated there; NULL otherwise. */
const char *netlink_string(const struct nlattr *a);
/* Copy a struct of `size` bytes; a longer struct of the kernel is truncated, a shorter one refused. */
bool netlink_struct(const struct nlattr *a, void *to, size_t size);

/* Processing of one datagram of answers: the part of netlink_call without the socket, so that it can be
 * fuzzed. */
enum netlink_outcome { NETLINK_MORE, NETLINK_END, NETLINK_REFUSED };
struct netlink_answer {
    uint32_t sequence;
    uint16_t flags; /* of the request */
    mnl_cb_t each;
    void *data;
    int number;       /* error number, when refused */
    bool abandoned;   /* `each` returned an error */
    bool interrupted; /* a dump whose entries changed meanwhile */
    char text[256];   /* of the extended ACK, or "" */
};
enum netlink_outcome netlink_deliver(struct netlink_answer *answer, const void *datagram, size_t length);

#endif
