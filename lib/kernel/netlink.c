#include "lib/kernel/netlink.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

/* The kernel fills dumps in parts of at most 32 KiB (net/netlink/af_netlink.c, NLMSG_GOODSIZE and
 * max_recvmsg_len); single answers such as a link with many virtual functions may be longer. */
#define RECEIVE_BYTES (128 * 1024)
/* Requests are answered within the system call that sends them; the time limit only prevents waiting for
 * ever. */
#define TIMEOUT_S 30
/* How often a dump is repeated that was interrupted; routes of the whole Internet in one dump are some 100
 * MB. */
#define DUMP_TRIES      20
#define DUMP_BYTES_MOST ((size_t)512 << 20)

struct netlink {
    struct mnl_socket *socket;
    uint32_t sequence;
    int error_number;
    /* the answers of a dump, until it is whole */
    char *dump;
    size_t dump_length, dump_size;
    char buffer[RECEIVE_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
};

static const char *family_name(int family)
{
    switch (family) {
    case NETLINK_ROUTE:
        return "route";
    case NETLINK_GENERIC:
        return "generic";
    case NETLINK_RDMA:
        return "RDMA";
    default:
        return "this";
    }
}

struct netlink *netlink_open(int family, struct error *e)
{
    struct netlink *n = malloc(sizeof *n);
    if (!n) {
        error_set(e, "out of memory for a netlink socket");
        errno = ENOMEM;
        return NULL;
    }
    n->sequence = 0;
    n->error_number = 0;
    n->dump = NULL;
    n->dump_length = n->dump_size = 0;
    n->socket = mnl_socket_open2(family, SOCK_CLOEXEC);
    if (!n->socket || mnl_socket_bind(n->socket, 0, MNL_SOCKET_AUTOPID) == -1) {
        int number = errno;
        error_set_errno(e, number, "cannot open a netlink socket of the %s family%s", family_name(family),
                        number == EPROTONOSUPPORT ? " (the kernel lacks it, or its module is not loaded)"
                                                  : "");
        netlink_close(n);
        errno = number;
        return NULL;
    }
    /* Older kernels lack some of these options; the socket works without them. */
    int on = 1;
    (void)mnl_socket_setsockopt(n->socket, NETLINK_EXT_ACK, &on, sizeof on);
    (void)mnl_socket_setsockopt(n->socket, NETLINK_CAP_ACK, &on, sizeof on);
    (void)mnl_socket_setsockopt(n->socket, NETLINK_GET_STRICT_CHK, &on, sizeof on);
    const struct timeval timeout = {.tv_sec = TIMEOUT_S};
    (void)setsockopt(mnl_socket_get_fd(n->socket), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    return n;
}

void netlink_close(struct netlink *n)
{
    if (!n)
        return;
    if (n->socket)
        mnl_socket_close(n->socket);
    free(n->dump);
    free(n);
}

struct nlmsghdr *netlink_prepare(union netlink_request *r, uint16_t type, uint16_t flags)
{
    memset(r, 0, sizeof *r);
    struct nlmsghdr *message = mnl_nlmsg_put_header(r->bytes);
    message->nlmsg_type = type;
    message->nlmsg_flags = NLM_F_REQUEST | flags;
    return message;
}

struct nlmsghdr *netlink_prepare_generic(union netlink_request *r, uint16_t family, uint8_t command,
                                         uint16_t flags)
{
    struct nlmsghdr *message = netlink_prepare(r, family, flags);
    struct genlmsghdr *generic = mnl_nlmsg_put_extra_header(message, sizeof *generic);
    generic->cmd = command;
    generic->version = 1;
    return message;
}

int netlink_errno(const struct netlink *n)
{
    return n->error_number;
}

/* ---- answers */

/* Keep the printable characters of the kernel's text. */
static void keep_text(struct netlink_answer *answer, const struct nlattr *attribute)
{
    const char *text = netlink_string(attribute);
    if (!text)
        return;
    size_t i = 0;
    for (; i < sizeof answer->text - 1 && text[i] != '\0'; i++)
        answer->text[i] = (char)(text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?');
    answer->text[i] = '\0';
}

/* Extended ACK attributes begin after `offset` bytes of the message's payload. */
static void read_extended_ack(struct netlink_answer *answer, const struct nlmsghdr *message, size_t offset)
{
    if (!(message->nlmsg_flags & NLM_F_ACK_TLVS))
        return;
    const struct nlattr *table[NLMSGERR_ATTR_MAX + 1];
    netlink_parse(message, offset, table, NLMSGERR_ATTR_MAX + 1);
    keep_text(answer, table[NLMSGERR_ATTR_MSG]);
}

static enum netlink_outcome deliver_error(struct netlink_answer *answer, const struct nlmsghdr *message)
{
    if (mnl_nlmsg_get_payload_len(message) < sizeof(struct nlmsgerr)) {
        answer->number = EBADMSG;
        return NETLINK_REFUSED;
    }
    const struct nlmsgerr *error = mnl_nlmsg_get_payload(message);
    /* Without NLM_F_CAPPED the whole request is between the error and the attributes. */
    size_t offset = sizeof *error;
    if (!(message->nlmsg_flags & NLM_F_CAPPED) && error->msg.nlmsg_len > sizeof(struct nlmsghdr))
        offset += MNL_ALIGN(error->msg.nlmsg_len - sizeof(struct nlmsghdr));
    if (offset <= mnl_nlmsg_get_payload_len(message))
        read_extended_ack(answer, message, offset);
    if (error->error == 0)
        return NETLINK_END;
    answer->number = error->error < 0 && error->error > -4096 ? -error->error : EBADMSG;
    return NETLINK_REFUSED;
}

/* The end of a dump contains an int: 0, or the error that ended it early. */
static enum netlink_outcome deliver_done(struct netlink_answer *answer, const struct nlmsghdr *message)
{
    int number = 0;
    if (mnl_nlmsg_get_payload_len(message) >= sizeof number)
        memcpy(&number, mnl_nlmsg_get_payload(message), sizeof number);
    if (number >= 0)
        return NETLINK_END;
    read_extended_ack(answer, message, sizeof number);
    answer->number = number > -4096 ? -number : EBADMSG;
    return NETLINK_REFUSED;
}

static enum netlink_outcome deliver_one(struct netlink_answer *answer, const struct nlmsghdr *message)
{
    if (message->nlmsg_type == NLMSG_ERROR)
        return deliver_error(answer, message);
    answer->interrupted = answer->interrupted || (message->nlmsg_flags & NLM_F_DUMP_INTR);
    if (message->nlmsg_type == NLMSG_DONE)
        return deliver_done(answer, message);
    if (message->nlmsg_type < NLMSG_MIN_TYPE)
        return NETLINK_MORE;
    if (answer->each && !answer->abandoned && answer->each(message, answer->data) < MNL_CB_STOP)
        answer->abandoned = true;
    bool dump = (answer->flags & NLM_F_DUMP) == NLM_F_DUMP || (message->nlmsg_flags & NLM_F_MULTI);
    return dump || (answer->flags & NLM_F_ACK) ? NETLINK_MORE : NETLINK_END;
}

enum netlink_outcome netlink_deliver(struct netlink_answer *answer, const void *datagram, size_t length)
{
    const struct nlmsghdr *message = datagram;
    int left = length > INT32_MAX ? 0 : (int)length;
    for (; netlink_whole(message, left); message = mnl_nlmsg_next(message, &left)) {
        /* An answer to an earlier call. */
        if (message->nlmsg_seq != answer->sequence)
            continue;
        enum netlink_outcome outcome = deliver_one(answer, message);
        if (outcome != NETLINK_MORE)
            return outcome;
    }
    return NETLINK_MORE;
}

/* One datagram into the buffer; its length, or -1 with errno. */
static ssize_t receive_datagram(struct netlink *n)
{
    struct iovec part = {.iov_base = n->buffer, .iov_len = sizeof n->buffer};
    struct sockaddr_nl from;
    struct msghdr header = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &part, .msg_iovlen = 1};
    for (;;) {
        ssize_t length = recvmsg(mnl_socket_get_fd(n->socket), &header, 0);
        if (length == -1 && errno == EINTR)
            continue;
        if (length >= 0 && (header.msg_flags & MSG_TRUNC)) {
            errno = EMSGSIZE;
            return -1;
        }
        /* Any process may send to this socket; only the kernel has port 0. */
        if (length >= 0 && (header.msg_namelen < sizeof from || from.nl_pid != 0)) {
            header.msg_namelen = sizeof from;
            continue;
        }
        return length;
    }
}

/* Keep a datagram of a dump after those before it; messages begin at multiples of NLMSG_ALIGNTO. */
static int keep_datagram(struct netlink *n, size_t length)
{
    size_t wanted = n->dump_length + MNL_ALIGN(length);
    if (wanted > DUMP_BYTES_MOST) {
        errno = EMSGSIZE;
        return -1;
    }
    if (wanted > n->dump_size) {
        char *larger = realloc(n->dump, 2 * wanted);
        if (!larger)
            return -1;
        n->dump = larger;
        n->dump_size = 2 * wanted;
    }
    memset(n->dump + wanted - (MNL_ALIGN(length) - length), 0, MNL_ALIGN(length) - length);
    memcpy(n->dump + n->dump_length, n->buffer, length);
    n->dump_length = wanted;
    return 0;
}

/* Send the request and process its answers up to the last; with `keep` they are kept too. -1: nothing more
 * can be received. */
static int exchange_messages(struct netlink *n, struct nlmsghdr *request, struct netlink_answer *answer,
                             bool keep, enum netlink_outcome *outcome, struct error *e)
{
    request->nlmsg_seq = answer->sequence = ++n->sequence;
    answer->flags = request->nlmsg_flags;
    if (mnl_socket_sendto(n->socket, request, request->nlmsg_len) == -1) {
        n->error_number = errno;
        return error_set_errno(e, n->error_number, "cannot send to the kernel over netlink");
    }
    for (*outcome = NETLINK_MORE; *outcome == NETLINK_MORE;) {
        ssize_t length = receive_datagram(n);
        if (length == -1 || (keep && keep_datagram(n, (size_t)length) != 0)) {
            n->error_number = errno == EAGAIN ? ETIMEDOUT : errno;
            return error_set_errno(e, n->error_number, "cannot read the kernel's answer over netlink");
        }
        *outcome = netlink_deliver(answer, n->buffer, (size_t)length);
    }
    return 0;
}

/* Receive a dump until it is whole, and only then pass it on. */
static int exchange_dump(struct netlink *n, struct nlmsghdr *request, struct netlink_answer *answer,
                         enum netlink_outcome *outcome, struct error *e)
{
    for (int tries = 0; tries < DUMP_TRIES; tries++) {
        struct netlink_answer look = {0};
        n->dump_length = 0;
        if (exchange_messages(n, request, &look, true, outcome, e) != 0)
            return -1;
        if (look.interrupted)
            continue;
        answer->sequence = look.sequence;
        answer->flags = look.flags;
        *outcome = netlink_deliver(answer, n->dump, n->dump_length);
        return 0;
    }
    n->error_number = EINTR;
    return error_set(e, "what the kernel lists changed during each of %d readings", DUMP_TRIES);
}

int netlink_call(struct netlink *n, struct nlmsghdr *request, mnl_cb_t each, void *data, struct error *e)
{
    struct netlink_answer answer = {.each = each, .data = data};
    enum netlink_outcome outcome = NETLINK_MORE;
    bool dump = (request->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
    n->error_number = 0;
    if ((dump ? exchange_dump(n, request, &answer, &outcome, e)
              : exchange_messages(n, request, &answer, false, &outcome, e)) != 0)
        return -1;
    if (outcome == NETLINK_REFUSED) {
        n->error_number = answer.number;
        return answer.text[0]
                   ? error_set(e, "the kernel refused: %s (%s)", answer.text, strerror(answer.number))
                   : error_set(e, "the kernel refused: %s", strerror(answer.number));
    }
    if (answer.abandoned) {
        n->error_number = EBADMSG;
        return -1;
    }
    return 0;
}

static int keep_family(const struct nlmsghdr *message, void *data)
{
    uint16_t *id = data;
    const struct nlattr *table[CTRL_ATTR_FAMILY_ID + 1];
    netlink_parse(message, sizeof(struct genlmsghdr), table, CTRL_ATTR_FAMILY_ID + 1);
    (void)netlink_u16(table[CTRL_ATTR_FAMILY_ID], id);
    return MNL_CB_OK;
}

int netlink_family(struct netlink *n, const char *name, uint16_t *id, struct error *e)
{
    union netlink_request r;
    struct nlmsghdr *m = netlink_prepare_generic(&r, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
    *id = 0;
    mnl_attr_put_strz(m, CTRL_ATTR_FAMILY_NAME, name);
    if (netlink_call(n, m, keep_family, id, e) == -1)
        return error_prefix(e, "looking up the generic netlink family \"%s\"", name);
    if (*id < NLMSG_MIN_TYPE) {
        n->error_number = EBADMSG;
        return error_set(e, "the kernel gave no number for the generic netlink family \"%s\"", name);
    }
    return 0;
}

/* ---- attributes */

static void table_set_attribute(const struct nlattr *attribute, const struct nlattr **table, size_t count)
{
    uint16_t type = mnl_attr_get_type(attribute);
    if (type < count)
        table[type] = attribute;
}

void netlink_parse(const struct nlmsghdr *message, size_t header, const struct nlattr **table, size_t count)
{
    memset(table, 0, count * sizeof table[0]);
    if (mnl_nlmsg_get_payload_len(message) < header)
        return;
    const struct nlattr *attribute;
    netlink_for_each(attribute, message, header)
    {
        table_set_attribute(attribute, table, count);
    }
}

void netlink_parse_nested(const struct nlattr *nest, const struct nlattr **table, size_t count)
{
    memset(table, 0, count * sizeof table[0]);
    if (!nest)
        return;
    const struct nlattr *attribute;
    mnl_attr_for_each_nested(attribute, nest)
    {
        table_set_attribute(attribute, table, count);
    }
}

bool netlink_struct(const struct nlattr *a, void *to, size_t size)
{
    if (!a || mnl_attr_get_payload_len(a) < size)
        return false;
    memcpy(to, mnl_attr_get_payload(a), size);
    return true;
}

static bool copy_exact(const struct nlattr *a, void *to, size_t size)
{
    return a && mnl_attr_get_payload_len(a) == size && netlink_struct(a, to, size);
}

bool netlink_u8(const struct nlattr *a, uint8_t *value)
{
    return copy_exact(a, value, sizeof *value);
}

bool netlink_u16(const struct nlattr *a, uint16_t *value)
{
    return copy_exact(a, value, sizeof *value);
}

bool netlink_u32(const struct nlattr *a, uint32_t *value)
{
    return copy_exact(a, value, sizeof *value);
}

bool netlink_u64(const struct nlattr *a, uint64_t *value)
{
    return copy_exact(a, value, sizeof *value);
}

bool netlink_number(const struct nlattr *a, uint64_t *value)
{
    uint8_t byte;
    uint16_t half;
    uint32_t word;
    if (netlink_u64(a, value))
        return true;
    if (netlink_u32(a, &word))
        *value = word;
    else if (netlink_u16(a, &half))
        *value = half;
    else if (netlink_u8(a, &byte))
        *value = byte;
    else
        return false;
    return true;
}

const char *netlink_string(const struct nlattr *a)
{
    if (!a)
        return NULL;
    size_t length = mnl_attr_get_payload_len(a);
    const char *text = mnl_attr_get_payload(a);
    return length > 0 && memchr(text, '\0', length) ? text : NULL;
}
