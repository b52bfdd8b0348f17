/* Queue pairs that are connected without rdma_cm: the two sides exchange numbers, packet sequence numbers and
 * GIDs over the control connection. */
#include "traffic/connection/connection.h"
#include "traffic/connection/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

static struct ibv_qp *make_pair(struct connection *c, struct error *e)
{
    struct ibv_qp_init_attr attributes = connection_pair_attributes(c);
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
                               .port_num = c->device->port,
                               .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
    struct ibv_qp *pair = ibv_create_qp(c->pd, &attributes);
    if (!pair) {
        error_set_errno(e, errno, "creating a queue pair of depth %u with %u inline bytes on %s",
                        attributes.cap.max_send_wr, attributes.cap.max_inline_data, c->device->name);
        return NULL;
    }
    c->inline_bytes = attributes.cap.max_inline_data;
    int number =
        ibv_modify_qp(pair, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    if (number == 0)
        return pair;
    error_set_errno(e, number, "moving a queue pair to INIT on %s port %d", c->device->name, c->device->port);
    ibv_destroy_qp(pair);
    return NULL;
}

static int prepare(struct connection *c, struct endpoint *mine, struct error *e)
{
    size_t count = (size_t)c->plan->queue_pairs;
    mine->queue_pairs = (struct list_of){calloc(count, sizeof(int64_t)), count};
    mine->packet_start = (struct list_of){calloc(count, sizeof(int64_t)), count};
    int64_t *numbers = mine->queue_pairs.items, *starts = mine->packet_start.items;
    c->packet_start = calloc(count, sizeof *c->packet_start);
    if (!numbers || !starts || !c->packet_start)
        return error_set(e, "out of memory");
    if (getrandom(c->packet_start, count * sizeof *c->packet_start, 0) < 0)
        return error_set_errno(e, errno, "choosing packet sequence numbers");
    for (size_t i = 0; i < count; i++) {
        if (!(c->pairs[i] = make_pair(c, e)))
            return -1;
        c->packet_start[i] &= 0xffffff;
        numbers[i] = c->pairs[i]->qp_num;
        starts[i] = c->packet_start[i];
    }
    return 0;
}

static int to_ready_to_receive(struct connection *c, size_t i, const struct endpoint *peer,
                               const union ibv_gid *gid, struct error *e)
{
    struct ibv_qp_attr a = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = mtu_code(c->mtu_bytes),
        .dest_qp_num = (uint32_t)((const int64_t *)peer->queue_pairs.items)[i],
        .rq_psn = (uint32_t)((const int64_t *)peer->packet_start.items)[i],
        .max_dest_rd_atomic = connection_reads(c->device->attributes.max_qp_rd_atom),
        .min_rnr_timer = (uint8_t)c->plan->rnr_timer,
        .ah_attr = {.is_global = c->device->ethernet,
                    .grh = {.dgid = *gid,
                            .sgid_index = (uint8_t)c->device->gid_index,
                            .hop_limit = 64,
                            .traffic_class = (uint8_t)c->plan->traffic_class},
                    .dlid = (uint16_t)peer->lid,
                    .sl = (uint8_t)c->plan->service_level,
                    .port_num = c->device->port},
    };
    int number = ibv_modify_qp(c->pairs[i], &a,
                               IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
    return number == 0 ? 0 : explain_modify(e, number, "ready to receive", peer->gid);
}

static int to_ready_to_send(struct connection *c, size_t i, const struct endpoint *peer, struct error *e)
{
    uint8_t mine = connection_reads(c->device->attributes.max_qp_init_rd_atom);
    struct ibv_qp_attr a = {
        .qp_state = IBV_QPS_RTS,
        .timeout = (uint8_t)c->plan->ack_timeout,
        .retry_cnt = (uint8_t)c->plan->retries,
        .rnr_retry = (uint8_t)c->plan->rnr_retries,
        .sq_psn = c->packet_start[i],
        .max_rd_atomic = mine < peer->responder_reads ? mine : (uint8_t)peer->responder_reads,
    };
    int number = ibv_modify_qp(c->pairs[i], &a,
                               IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                   IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
    return number == 0 ? 0 : explain_modify(e, number, "ready to send", peer->gid);
}

static int connect_pairs(struct connection *c, const struct endpoint *peer, struct error *e)
{
    union ibv_gid gid;
    if ((int64_t)peer->queue_pairs.count != c->plan->queue_pairs)
        return error_set(e, "the other side created %zu queue pairs: expected %lld", peer->queue_pairs.count,
                         (long long)c->plan->queue_pairs);
    if (gid_parse(peer->gid, &gid, e) != 0)
        return -1;
    for (size_t i = 0; i < peer->queue_pairs.count; i++)
        if (to_ready_to_receive(c, i, peer, &gid, e) != 0 || to_ready_to_send(c, i, peer, e) != 0)
            return -1;
    return 0;
}

static void close_pairs(struct connection *c)
{
    for (int64_t i = 0; i < c->plan->queue_pairs; i++)
        if (c->pairs[i])
            ibv_destroy_qp(c->pairs[i]);
    free(c->packet_start);
}

const struct connection_manager cm_tcp = {
    .name = "tcp",
    .prepare = prepare,
    .connect = connect_pairs,
    .close = close_pairs,
};
