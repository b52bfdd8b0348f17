#include "traffic/connection/connection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_READS 16 /* reads in flight on a queue pair; the limit of mlx5 */

/* Each message may have a completion; one entry more for each queue pair's last, flushed request. */
static int64_t queue_length(const struct connection *c, int64_t depth)
{
    return c->plan->queue_pairs * (depth + 1);
}

static struct ibv_cq *make_queue(struct connection *c, int64_t entries, const char *what, struct error *e)
{
    if (entries > c->device->attributes.max_cqe) {
        error_set(e,
                  "%" PRId64 " queue pairs need a completion queue of %" PRId64
                  " entries; device %s takes %d: use a "
                  "smaller %s",
                  c->plan->queue_pairs, entries, c->device->name, c->device->attributes.max_cqe, what);
        return NULL;
    }
    struct ibv_cq *queue = ibv_create_cq(c->device->context, (int)entries, NULL, NULL, 0);
    if (!queue)
        error_set_errno(e, errno, "creating a completion queue of %" PRId64 " entries on %s", entries,
                        c->device->name);
    return queue;
}

static int check_limits(const struct connection *c, struct error *e)
{
    const struct ibv_device_attr *a = &c->device->attributes;
    int64_t deepest = c->plan->depth;
    if (plan_receives(c->plan, c->driver) && c->plan->receive_depth > deepest)
        deepest = c->plan->receive_depth;
    if (c->plan->queue_pairs > a->max_qp)
        return error_set(e, "%" PRId64 " queue pairs: device %s supports %d", c->plan->queue_pairs,
                         c->device->name, a->max_qp);
    if (deepest > a->max_qp_wr)
        return error_set(e, "a depth of %" PRId64 ": device %s supports %d work requests per queue", deepest,
                         c->device->name, a->max_qp_wr);
    return 0;
}

int connection_open(struct connection *c, struct endpoint *mine, struct error *e)
{
    char gid[GID_TEXT_MAX];
    c->manager = c->plan->connection == CONNECTION_RDMA ? &cm_rdma : &cm_tcp;
    c->pairs = calloc((size_t)c->plan->queue_pairs, sizeof(struct ibv_qp *));
    if (!c->pairs)
        return error_set(e, "out of memory");
    if (check_limits(c, e) != 0 ||
        !(c->send_cq = make_queue(c, queue_length(c, c->plan->depth), "--depth", e)) ||
        !(c->receive_cq = make_queue(c, queue_length(c, c->plan->receive_depth), "--receive-depth", e)))
        return -1;
    mine->gid = strdup(gid_text(&c->device->gid, gid, sizeof gid));
    mine->device = strdup(c->device->name);
    mine->lid = c->device->lid;
    mine->mtu_bytes = c->device->mtu_bytes;
    mine->responder_reads = connection_reads(c->device->attributes.max_qp_rd_atom);
    return c->manager->prepare(c, mine, e);
}

/* The agreed path MTU, or -1 when the sides cannot agree. */
static int connection_agree_mtu(const struct connection *c, int64_t peer_mtu_bytes, struct error *e)
{
    int mine = c->device->mtu_bytes, wanted = (int)c->plan->mtu_bytes;
    int smaller = peer_mtu_bytes < mine ? (int)peer_mtu_bytes : mine;
    if (wanted > smaller)
        return error_set(
            e,
            "path MTU mismatch: %d bytes are requested, but device %s on this host has %d active and the "
            "other side "
            "%" PRId64
            "; raise the MTU of the interfaces (%d takes an Ethernet MTU of %d or more) or ask for "
            "less",
            wanted, c->device->name, mine, peer_mtu_bytes, wanted, wanted + 104);
    return wanted ? wanted : smaller;
}
int connection_connect(struct connection *c, const struct endpoint *peer, struct error *e)
{
    c->mtu_bytes = connection_agree_mtu(c, peer->mtu_bytes, e);
    return c->mtu_bytes < 0 ? -1 : c->manager->connect(c, peer, e);
}

void connection_close(struct connection *c)
{
    if (c->manager && c->pairs)
        c->manager->close(c);
    if (c->send_cq)
        ibv_destroy_cq(c->send_cq);
    if (c->receive_cq)
        ibv_destroy_cq(c->receive_cq);
    free(c->pairs);
    *c = (struct connection){.stop_fd = -1};
}

struct ibv_qp_init_attr connection_pair_attributes(const struct connection *c)
{
    bool receives = plan_receives(c->plan, c->driver);
    return (struct ibv_qp_init_attr){
        .send_cq = c->send_cq,
        .recv_cq = c->receive_cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = (uint32_t)c->plan->depth + 1,
                .max_recv_wr = receives ? (uint32_t)c->plan->receive_depth : 1,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = (uint32_t)c->plan->inline_bytes},
    };
}

uint8_t connection_reads(int device_limit)
{
    return (uint8_t)(device_limit < MAX_READS ? device_limit : MAX_READS);
}
