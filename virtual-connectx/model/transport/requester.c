// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The requester: packets of send requests, go-back-N, time-outs. */
#include "virtual-connectx/model/transport/transport.h"
#include "virtual-connectx/model/transport/work_queue.h"

#define MOST_EXTENSION 48u
#define LEAST_TIMEOUT_NS \
    2000000000u /* hosts under emulation are slow: a shorter time would end before their answer */
#define ACK_UNIT_NS        4096u
#define ACK_EVERY_PACKETS  16u
#define LAST_ACK_OF_WINDOW (VCX_PACKET_WINDOW - 1)
#define FETCHED_PACKETS    (1u << 21) /* of all requests: their sequence numbers can be told apart */

/* ---- time-outs */

/* 0: none, as ack_timeout 0 says. */
static uint64_t timeout_ns(const struct vcx_device *device, const struct vcx_qp *qp)
{
    uint64_t code = vcx_get(vcx_at(qp->context, qpc, primary_address_path), ads, ack_timeout);
    if (!code)
        return 0;
    return vcx_most(vcx_stretch_ns(device, (uint64_t)ACK_UNIT_NS << code), LEAST_TIMEOUT_NS);
}

void vcx_requester_await(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns)
{
    struct vcx_requester *r = &qp->requester;
    uint64_t timeout = timeout_ns(device, qp);
    r->deadline_ns = timeout && r->acked_psn != r->sent_psn ? now_ns + timeout : 0;
}

/* How many packets of a request are acknowledged. */
static uint32_t acked_packets(const struct vcx_qp *qp, const struct vcx_request *q)
{
    int32_t acked = vcx_psn_distance(qp->requester.acked_psn, q->first_psn);
    return acked <= 0 ? 0 : (uint32_t)vcx_least((uint64_t)acked, q->packets);
}

void vcx_requester_go_back(struct vcx_qp *qp)
{
    struct vcx_requester *r = &qp->requester;
    for (uint32_t i = r->tail; i != r->head; i++)
        vcx_request_at(qp, i)->sent = acked_packets(qp, vcx_request_at(qp, i));
    r->cursor = r->tail;
    r->went_back = true;
}

void vcx_requester_skip_acked(struct vcx_qp *qp)
{
    const struct vcx_requester *r = &qp->requester;
    for (uint32_t i = r->tail; i != r->head; i++) {
        struct vcx_request *q = vcx_request_at(qp, i);
        if (vcx_psn_distance(r->acked_psn, q->first_psn) <= 0)
            return;
        q->sent = (uint32_t)vcx_most(q->sent, acked_packets(qp, q));
    }
}

static void check_timeout(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns)
{
    struct vcx_requester *r = &qp->requester;
    if (!r->deadline_ns || now_ns < r->deadline_ns)
        return;
    vcx_qp_count(device, qp, local_ack_timeout_err);
    if (r->retries++ >= vcx_get(qp->context, qpc, retry_count)) {
        vcx_qp_count(device, qp, req_transport_retries_exceeded);
        vcx_qp_fail(device, qp, VCX_RETRIES_EXCEEDED);
        return;
    }
    vcx_requester_go_back(qp);
    vcx_requester_await(device, qp, now_ns);
}

/* ---- completion in order */

static bool is_done(const struct vcx_qp *qp, const struct vcx_request *q)
{
    if (q->syndrome || q->pending || q->sent < q->packets)
        return false;
    return !vcx_qp_is_reliable(qp) ||
           vcx_psn_distance(qp->requester.acked_psn, q->first_psn) >= (int32_t)q->packets;
}

void vcx_requester_retire(struct vcx_device *device, struct vcx_qp *qp)
{
    struct vcx_requester *r = &qp->requester;
    while (r->tail != r->head && is_done(qp, vcx_request_at(qp, r->tail)))
        vcx_request_complete(device, qp, 0);
    if ((int32_t)(r->cursor - r->tail) < 0)
        r->cursor = r->tail;
}

static void count_local_error(struct vcx_device *device, const struct vcx_qp *qp, uint8_t syndrome)
{
    if (syndrome == VCX_LOCAL_LENGTH)
        vcx_qp_count(device, qp, req_local_length_error);
    else if (syndrome == VCX_LOCAL_PROTECTION)
        vcx_qp_count(device, qp, req_local_protection);
    else
        vcx_qp_count(device, qp, local_operation_error);
}

/* A request that cannot be executed ends when all before it have ended. */
static void fail_bad(struct vcx_device *device, struct vcx_qp *qp)
{
    const struct vcx_requester *r = &qp->requester;
    uint8_t syndrome = r->tail != r->head ? vcx_request_at(qp, r->tail)->syndrome : 0;
    if (!syndrome)
        return;
    count_local_error(device, qp, syndrome);
    vcx_qp_fail(device, qp, (enum vcx_syndrome)syndrome);
}

/* ---- fetching */

static void add(struct vcx_qp *qp, struct vcx_request *fetched)
{
    struct vcx_requester *r = &qp->requester;
    bool sends = !fetched->syndrome && !fetched->row->local;
    fetched->packets = sends ? vcx_qp_packets(qp, fetched->length) : 0;
    fetched->pending = !fetched->syndrome && fetched->row->changes_key;
    fetched->first_psn = r->next_psn;
    r->next_psn = (r->next_psn + fetched->packets) & VCX_PSN_MASK;
    *vcx_request_at(qp, r->head++) = *fetched;
}

/* A further request may be fetched; none is executed after a bad one. */
static bool may_fetch(const struct vcx_qp *qp)
{
    const struct vcx_requester *r = &qp->requester;
    if (!r->ring || r->head == r->tail)
        return true;
    return r->head - r->tail < VCX_REQUESTS && !vcx_request_at(qp, r->head - 1)->syndrome &&
           ((r->next_psn - r->acked_psn) & VCX_PSN_MASK) < FETCHED_PACKETS;
}

static uint32_t fetch(struct vcx_device *device, struct vcx_qp *qp)
{
    struct vcx_requester *r = &qp->requester;
    struct vcx_request fetched;
    uint32_t count = 0;
    for (; may_fetch(qp) && vcx_send_fetch(device, qp, &fetched); count++) {
        if (!r->ring)
            r->ring = vcx_allocate(VCX_REQUESTS * sizeof *r->ring);
        if (!r->ring) {
            vcx_request_clear(&fetched);
            qp->sq.next = fetched.index; /* to be flushed */
            vcx_qp_error(device, qp);
            return count;
        }
        add(qp, &fetched);
    }
    return count;
}

/* ---- packets */

static uint8_t operation_of_request(const struct vcx_send_row *row, bool first, bool last)
{
    if (row->fetches)
        return row->first;
    if (last && row->invalidate)
        return first ? VCX_SEND_ONLY_INVALIDATE : VCX_SEND_LAST_INVALIDATE;
    uint8_t part = first ? (last ? VCX_SEND_ONLY : VCX_SEND_FIRST) : (last ? VCX_SEND_LAST : VCX_SEND_MIDDLE);
    return (uint8_t)(row->first + part + (last && row->immediate));
}

/* Extension headers in their order on the wire. */
static uint32_t write_request_extension(const struct vcx_qp *qp, const struct vcx_request *q,
                                        uint8_t operation, uint8_t *to)
{
    const struct vcx_operation_row *row = &vcx_operations[operation];
    uint8_t *at = to;
    uint32_t done = q->row->fetches ? q->answered * qp->mtu : 0; /* of a read: what came already */
    if (qp->type == VCX_QP_XRC) {
        vcx_put32(at, q->xrc_srq);
        at += 4;
    }
    if (q->row->remote && row->first) {
        vcx_put64(at, q->address + done);
        vcx_put32(at + 8, q->key);
        if (q->row->atomic) {
            vcx_put64(at + 12, q->swap_add);
            vcx_put64(at + 20, q->compare);
            at += 28;
        } else {
            vcx_put32(at + 12, q->length - done);
            at += 16;
        }
    }
    if (row->immediate || row->invalidate) {
        memcpy(at, q->immediate, 4);
        at += 4;
    }
    return (uint32_t)(at - to);
}

/* The next packet of a request. 0: not now, or the request turned out bad; else the bytes of its frame. */
static uint32_t send_packet(struct vcx_device *device, struct vcx_qp *qp, struct vcx_request *q)
{
    uint8_t extension[MOST_EXTENSION], *payload;
    bool first = q->sent == 0, last = q->row->fetches || q->sent + 1 == q->packets;
    uint32_t offset = q->sent * qp->mtu;
    uint32_t bytes = q->row->fetches ? 0 : (uint32_t)vcx_least(qp->mtu, q->length - offset);
    uint32_t psn = (q->first_psn + q->sent) & VCX_PSN_MASK;
    uint32_t flight = (psn - qp->requester.acked_psn) & VCX_PSN_MASK;
    uint8_t operation = operation_of_request(q->row, first, last);
    struct vcx_packet_header h = {
        .opcode = (uint8_t)((qp->type == VCX_QP_XRC ? VCX_SERVICE_XRC : (uint8_t)qp->type) << 5 | operation),
        .solicited = q->solicited && last && !q->row->fetches,
        .acknowledge =
            vcx_qp_is_reliable(qp) && (last || psn % ACK_EVERY_PACKETS == 0 || flight >= LAST_ACK_OF_WINDOW),
        .partition = 0xffff,
        .qpn = qp->remote_qpn,
        .psn = psn,
        .extension = extension,
        .extension_bytes = write_request_extension(qp, q, operation, extension)};
    struct vcx_route route;
    vcx_route_connection(device, qp, &route);
    vcx_congestion_capable(device, &route);
    if (!vcx_transport_room(device, &route, h.extension_bytes + bytes) ||
        (bytes && vcx_scatter_stalls(device, &q->memory, offset)))
        return 0;
    struct vcx_frame *frame = vcx_packet_open(&route.path, &h, bytes, &payload);
    if (!frame)
        return 0;
    if (bytes && !vcx_scatter_read(device, qp->rights, &q->memory, offset, payload, bytes)) {
        vcx_release(frame);
        q->syndrome = VCX_LOCAL_PROTECTION;
        return 0;
    }
    uint32_t length = frame->length;
    vcx_transport_send(device, &route, frame);
    return length;
}

static uint32_t fetching(const struct vcx_qp *qp)
{
    uint32_t count = 0;
    for (uint32_t i = qp->requester.tail; i != qp->requester.cursor; i++)
        count += vcx_request_at(qp, i)->row && vcx_request_at(qp, i)->row->fetches;
    return count;
}

/* A key that is in use changes when nothing before can be sent again. false: not now, or the request turned out bad. */
static bool change_idle_key(struct vcx_device *device, const struct vcx_qp *qp, struct vcx_request *q)
{
    bool first = qp->requester.cursor == qp->requester.tail;
    if (!first && (q->fenced || vcx_mkey_in_use(device, vcx_be32(q->immediate))))
        return false;
    q->syndrome = vcx_umr_execute(device, qp, q);
    q->pending = false;
    return !q->syndrome;
}

/* The request whose packet is the next to be sent now, or NULL. */
static struct vcx_request *next_request(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns)
{
    struct vcx_requester *r = &qp->requester;
    struct vcx_request *q = NULL;
    for (; r->cursor != r->head; r->cursor++) {
        q = vcx_request_at(qp, r->cursor);
        if (q->syndrome)
            return NULL;
        if (q->sent < q->packets)
            break;
        if (q->pending && !change_idle_key(device, qp, q))
            return NULL;
    }
    if (r->cursor == r->head || now_ns < r->resume_ns || !vcx_congestion_may_send(device, qp, now_ns))
        return NULL;
    if (!vcx_qp_is_reliable(qp))
        return q;
    uint32_t waiting = fetching(qp);
    if ((q->fenced && q->sent == 0 && waiting) ||
        (q->row->fetches && waiting >= 1u << vcx_get(qp->context, qpc, log_sra_max)))
        return NULL;
    return ((q->first_psn + q->sent - r->acked_psn) & VCX_PSN_MASK) < VCX_PACKET_WINDOW ? q : NULL;
}

static void note_sent(struct vcx_device *device, struct vcx_qp *qp, struct vcx_request *q, uint64_t now_ns)
{
    struct vcx_requester *r = &qp->requester;
    device->transport->data_sent = true;
    q->sent = q->row->fetches ? q->packets : q->sent + 1;
    uint32_t after = (q->first_psn + q->sent) & VCX_PSN_MASK;
    if (vcx_psn_distance(after, r->sent_psn) > 0)
        r->sent_psn = after;
    if (!vcx_qp_is_reliable(qp))
        r->acked_psn = r->sent_psn;
    if (!r->deadline_ns)
        vcx_requester_await(device, qp, now_ns);
}

static bool send_next(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns)
{
    struct vcx_request *q = next_request(device, qp, now_ns);
    if (!q)
        return false;
    if (vcx_qp_is_datagram(qp)) {
        if (!vcx_datagram_send(device, qp, q))
            return false;
    } else {
        uint32_t bytes = send_packet(device, qp, q);
        if (!bytes)
            return false;
        vcx_congestion_sent(device, qp, now_ns, bytes);
    }
    note_sent(device, qp, q, now_ns);
    return true;
}

uint32_t vcx_requester_poll(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns, uint32_t most)
{
    uint32_t work = fetch(device, qp), sent = 0;
    if (qp->requester.head == qp->requester.tail)
        return work;
    check_timeout(device, qp, now_ns);
    while (sent < most && qp->state == VCX_QP_RTS && send_next(device, qp, now_ns))
        sent++;
    if (qp->state != VCX_QP_RTS)
        return work + sent;
    vcx_requester_retire(device, qp);
    fail_bad(device, qp);
    return work + sent;
}
