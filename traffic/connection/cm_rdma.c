/*
 * Connections by rdma_cm. The server listens on a separate port for each session. Each connection request
 * contains the session's token and the queue pair's index as private data; a request without them is
 * rejected.
 */
#include "traffic/connection/connection.h"

#include "lib/clock.h"
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define STEP_NS         (10LL * NS_PER_S) /* for one step of one connection */
#define RESOLVE_MS      5000
#define PRIVATE_VERSION 1

struct private_data {
    uint8_t version, padding[3];
    uint32_t index; /* big endian, as the token */
    uint64_t token;
};

/* ---- events */

/* Wait for the channel's next event; NULL with a sentence after the time limit. */
static struct rdma_cm_event *wait_event(struct connection *c, int64_t deadline_ns, struct error *e)
{
    struct rdma_cm_event *event = NULL;
    while (!event) {
        struct pollfd fds[2] = {{.fd = c->channel->fd, .events = POLLIN},
                                {.fd = c->stop_fd, .events = POLLIN}};
        int64_t left_ns = deadline_ns - clock_monotonic_ns();
        if (left_ns <= 0) {
            error_set(e, "rdma_cm: the other side does not answer");
            return NULL;
        }
        if (poll(fds, 2, (int)(left_ns / NS_PER_MS) + 1) > 0 && fds[1].revents) {
            error_set(e, "stopped on request");
            return NULL;
        }
        if (rdma_get_cm_event(c->channel, &event) != 0 && errno != EAGAIN && errno != EINTR) {
            error_set_errno(e, errno, "rdma_cm");
            return NULL;
        }
    }
    return event;
}

static const char *event_cause(enum rdma_cm_event_type type)
{
    switch (type) {
    case RDMA_CM_EVENT_ADDR_ERROR:
        return "the address cannot be resolved: is it on a network of an RDMA device, does it answer ping?";
    case RDMA_CM_EVENT_ROUTE_ERROR:
        return "there is no route to the address";
    case RDMA_CM_EVENT_UNREACHABLE:
        return "it does not answer: a firewall for UDP port 4791, a link that is down, or the wrong GID type "
               "on one side";
    case RDMA_CM_EVENT_REJECTED:
        return "the other side refuses the connection";
    default:
        return "unexpected";
    }
}

/* The next event of this id must be of this type. */
static int expect_event(struct connection *c, enum rdma_cm_event_type type, struct error *e)
{
    struct rdma_cm_event *event = wait_event(c, clock_monotonic_ns() + STEP_NS, e);
    if (!event)
        return -1;
    enum rdma_cm_event_type got = event->event;
    int status = event->status;
    rdma_ack_cm_event(event);
    if (got == type)
        return 0;
    return error_set(e, "rdma_cm: %s (status %d), expected %s: %s", rdma_event_str(got), status,
                     rdma_event_str(type), event_cause(got));
}

static int open_channel(struct connection *c, struct error *e)
{
    c->ids = calloc((size_t)c->plan->queue_pairs, sizeof(struct rdma_cm_id *));
    c->channel = rdma_create_event_channel();
    if (!c->ids || !c->channel)
        return error_set_errno(e, errno,
                               "opening rdma_cm (is rdma_ucm loaded, /dev/infiniband/rdma_cm readable?)");
    fcntl(c->channel->fd, F_SETFL, fcntl(c->channel->fd, F_GETFL) | O_NONBLOCK);
    return 0;
}

/* ---- addresses */

static int to_sockaddr(const char *text, int64_t port, struct sockaddr_storage *address, struct error *e)
{
    union ibv_gid gid;
    memset(address, 0, sizeof *address);
    if (gid_parse(text, &gid, e) != 0)
        return -1;
    if (IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)(const void *)gid.raw))
        return error_set(e,
                         "rdma_cm needs an IP address, but GID %s has none: give the RDMA interface an IP "
                         "address, or use --address",
                         text);
    if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)gid.raw)) {
        struct sockaddr_in *in = (struct sockaddr_in *)address;
        in->sin_family = AF_INET;
        in->sin_port = htons((uint16_t)port);
        memcpy(&in->sin_addr, gid.raw + 12, 4);
    } else {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)address;
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons((uint16_t)port);
        memcpy(&in6->sin6_addr, gid.raw, sizeof gid.raw);
    }
    return 0;
}

/* ---- one connection */

static int make_pair(struct connection *c, struct rdma_cm_id *id, size_t i, struct error *e)
{
    struct ibv_qp_init_attr attributes = connection_pair_attributes(c);
    if (rdma_create_qp(id, c->pd, &attributes) != 0)
        return error_set_errno(e, errno, "creating a queue pair of depth %u on %s",
                               attributes.cap.max_send_wr, c->device->name);
    c->inline_bytes = attributes.cap.max_inline_data;
    c->pairs[i] = id->qp;
    return 0;
}

static struct rdma_conn_param parameters(const struct connection *c)
{
    const struct ibv_device_attr *a = &c->device->attributes;
    return (struct rdma_conn_param){
        .responder_resources = connection_reads(a->max_qp_rd_atom),
        .initiator_depth = connection_reads(a->max_qp_init_rd_atom),
        .retry_count = (uint8_t)c->plan->retries,
        .rnr_retry_count = (uint8_t)c->plan->rnr_retries,
    };
}

/* The traffic class is the id's type of service. It must be set before addresses are resolved. */
static int set_options(const struct connection *c, struct rdma_cm_id *id, struct error *e)
{
    uint8_t tos = (uint8_t)c->plan->traffic_class, timeout = (uint8_t)c->plan->ack_timeout;
    if (rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof tos) != 0)
        return error_set_errno(e, errno, "rdma_cm: setting the traffic class %u", tos);
    if (rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout) != 0)
        return error_set_errno(e, errno, "rdma_cm: setting the ACK timeout %u", timeout);
    return 0;
}

static int connect_one(struct connection *c, size_t i, struct sockaddr *from, struct sockaddr *to,
                       int64_t token, struct error *e)
{
    struct private_data data = {
        .version = PRIVATE_VERSION, .index = htobe32((uint32_t)i), .token = htobe64((uint64_t)token)};
    struct rdma_conn_param how = parameters(c);
    how.private_data = &data;
    how.private_data_len = sizeof data;
    if (rdma_create_id(c->channel, &c->ids[i], NULL, RDMA_PS_TCP) != 0)
        return error_set_errno(e, errno, "rdma_cm");
    struct rdma_cm_id *id = c->ids[i];
    if (set_options(c, id, e) != 0)
        return -1;
    if (rdma_resolve_addr(id, from, to, RESOLVE_MS) != 0)
        return error_set_errno(e, errno, "rdma_cm: resolving the address");
    if (expect_event(c, RDMA_CM_EVENT_ADDR_RESOLVED, e) != 0)
        return -1;
    if (id->verbs != c->device->context)
        return error_set(
            e, "rdma_cm reaches the other side through device %s, not %s: give --address of the latter",
            ibv_get_device_name(id->verbs->device), c->device->name);
    if (rdma_resolve_route(id, RESOLVE_MS) != 0)
        return error_set_errno(e, errno, "rdma_cm: finding a route");
    if (expect_event(c, RDMA_CM_EVENT_ROUTE_RESOLVED, e) != 0 || make_pair(c, id, i, e) != 0)
        return -1;
    if (rdma_connect(id, &how) != 0)
        return error_set_errno(e, errno, "rdma_cm: connecting");
    return expect_event(c, RDMA_CM_EVENT_ESTABLISHED, e);
}

/* The index of the queue pair that a request is for, or -1 if it is not from this session. */
static int64_t index_of(const struct connection *c, const struct rdma_cm_event *event)
{
    struct private_data data;
    if (event->param.conn.private_data_len < sizeof data || !event->param.conn.private_data)
        return -1;
    memcpy(&data, event->param.conn.private_data, sizeof data);
    int64_t i = be32toh(data.index);
    bool ours = data.version == PRIVATE_VERSION && be64toh(data.token) == (uint64_t)c->token &&
                i < c->plan->queue_pairs && !c->ids[i];
    return ours ? i : -1;
}

static int accept_one(struct connection *c, struct rdma_cm_event *event, struct error *e)
{
    struct rdma_conn_param how = parameters(c);
    struct rdma_cm_id *id = event->id;
    int64_t i = index_of(c, event);
    uint8_t timeout = (uint8_t)c->plan->ack_timeout;
    rdma_ack_cm_event(event);
    if (i < 0) {
        rdma_reject(id, NULL, 0);
        rdma_destroy_id(id);
        return 0;
    }
    c->ids[i] = id;
    rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout);
    if (make_pair(c, id, (size_t)i, e) != 0)
        return -1;
    return rdma_accept(id, &how) == 0 ? 0 : error_set_errno(e, errno, "rdma_cm: accepting");
}

/* The server's part: requests and established events arrive in any order. */
static int accept_all(struct connection *c, struct error *e)
{
    int64_t established = 0;
    while (established < c->plan->queue_pairs) {
        struct rdma_cm_event *event = wait_event(c, clock_monotonic_ns() + STEP_NS, e);
        if (!event)
            return -1;
        if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
            if (accept_one(c, event, e) != 0)
                return -1;
            continue;
        }
        enum rdma_cm_event_type got = event->event;
        rdma_ack_cm_event(event);
        if (got != RDMA_CM_EVENT_ESTABLISHED)
            return error_set(e, "rdma_cm: %s while connections are accepted: %s", rdma_event_str(got),
                             event_cause(got));
        established++;
    }
    return 0;
}

/* ---- the manager */

static int listen_here(struct connection *c, struct endpoint *mine, struct error *e)
{
    struct sockaddr_storage address;
    if (to_sockaddr(mine->gid, 0, &address, e) != 0)
        return -1;
    if (rdma_create_id(c->channel, &c->listener, NULL, RDMA_PS_TCP) != 0 ||
        rdma_bind_addr(c->listener, (struct sockaddr *)&address) != 0 ||
        rdma_listen(c->listener, (int)c->plan->queue_pairs) != 0)
        return error_set_errno(e, errno, "rdma_cm: listening on %s", mine->gid);
    mine->rdma_port = ntohs(rdma_get_src_port(c->listener));
    return 0;
}

static int prepare(struct connection *c, struct endpoint *mine, struct error *e)
{
    free(mine->address);
    mine->address = strdup(mine->gid);
    if (open_channel(c, e) != 0)
        return -1;
    if (c->driver)
        return 0;
    if (getrandom(&c->token, sizeof c->token, 0) < 0)
        return error_set_errno(e, errno, "choosing a token");
    c->token &= INT64_MAX;
    mine->token = c->token;
    return listen_here(c, mine, e);
}

static int connect_all(struct connection *c, const struct endpoint *peer, struct error *e)
{
    struct sockaddr_storage from, to;
    char gid[GID_TEXT_MAX];
    if (!c->driver)
        return accept_all(c, e);
    if (to_sockaddr(gid_text(&c->device->gid, gid, sizeof gid), 0, &from, e) != 0 ||
        to_sockaddr(peer->address, peer->rdma_port, &to, e) != 0)
        return -1;
    for (int64_t i = 0; i < c->plan->queue_pairs; i++)
        if (connect_one(c, (size_t)i, (struct sockaddr *)&from, (struct sockaddr *)&to, peer->token, e) != 0)
            return error_prefix(e, "queue pair %" PRId64 " to %s", i, peer->address);
    return 0;
}

static void close_all(struct connection *c)
{
    for (int64_t i = 0; c->ids && i < c->plan->queue_pairs; i++) {
        if (!c->ids[i])
            continue;
        if (c->ids[i]->qp) {
            rdma_disconnect(c->ids[i]);
            rdma_destroy_qp(c->ids[i]);
        }
        rdma_destroy_id(c->ids[i]);
    }
    if (c->listener)
        rdma_destroy_id(c->listener);
    if (c->channel)
        rdma_destroy_event_channel(c->channel);
    free(c->ids);
}

const struct connection_manager cm_rdma = {
    .name = "rdma",
    .prepare = prepare,
    .connect = connect_all,
    .close = close_all,
};
