// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The requester of a queue pair: its send requests become packets, are sent again where they were lost
 * (go-back-N, selective repeat, time-outs), and end when they are acknowledged or answered. */
#include "virtual-connectx/model/transport/transport.h"

#define MOST_EXTENSION     48u
#define ACK_EVERY_PACKETS  16u
#define LAST_ACK_OF_WINDOW (VCX_PACKET_WINDOW - 1)
#define FETCHED_PACKETS    (1u << 21) /* of all requests: their sequence numbers can be told apart */

/* ---- what is sent again */

/* How many packets of a request are acknowledged. */
static uint32_t acked_packets(const struct vcx_qp *qp, const struct vcx_request *q)
{
    int32_t acked = vcx_psn_distance(qp->requester.acked_psn, q->first_psn);
    return acked <= 0 ? 0 : (uint32_t)vcx_least((uint64_t)acked, q->packets);
}

static void go_back(struct vcx_qp *qp)
{
    struct vcx_requester *r = &qp->requester;
    for (uint32_t i = r->tail; i != r->head; i++)
        vcx_request_at(qp, i)->sent = acked_packets(qp, vcx_request_at(qp, i));
    r->cursor = r->tail;
    r->went_back = true;
    r->again_count = 0;
}

/* The request that has the packet, and its place there; NULL: it has ended. */
static struct vcx_request *request_of_psn(const struct vcx_qp *qp, uint32_t psn, uint32_t *place)
{
    const struct vcx_requester *r = &qp->requester;
    for (uint32_t i = r->tail; i != r->head; i++) {
        struct vcx_request *q = vcx_request_at(qp, i);
        *place = (psn - q->first_psn) & VCX_PSN_MASK;
        if (*place < q->packets)
            return q;
    }
    return NULL;
}

/* Each packet of it is a write of its own, with its address, so that the peer may take them in any order. */
static bool is_sent_apart(const struct vcx_qp *qp, const struct vcx_request *q)
{
    return vcx_qp_takes_any_order(qp) && q->row && q->row->first == VCX_WRITE_FIRST && !q->row->immediate;
}

/* Packets from a place on that did not come: of a read's answer, of which others are there. */
static uint32_t missing_packets(const struct vcx_qp *qp, const struct vcx_request *q, uint32_t place)
{
    uint32_t count = 1;
    while (q->row->fetches && place + count < q->packets && count < VCX_PACKET_WINDOW &&
           !vcx_early_has(&qp->requester.early, q->first_psn + place + count))
        count++;
    return count == VCX_PACKET_WINDOW ? q->packets - place : count;
}

bool vcx_requester_repeat(struct vcx_qp *qp)
{
    struct vcx_requester *r = &qp->requester;
    uint32_t place, last_psn = (r->sent_psn - 1) & VCX_PSN_MASK;
    const struct vcx_request *q = request_of_psn(qp, r->acked_psn, &place);
    if (!qp->selective || !q || !q->row || (!is_sent_apart(qp, q) && (!q->row->fetches || q->row->atomic))) {
        go_back(qp);
        return false;
    }
    r->again[0].psn = r->acked_psn;
    r->again[0].packets = missing_packets(qp, q, place);
    r->again_count = 1;
    const struct vcx_request *last = request_of_psn(qp, last_psn, &place);
    if (last_psn != r->acked_psn && last && last->row && !last->row->fetches) {
        r->again[1].psn = last_psn;
        r->again[1].packets = 1;
        r->again_count = 2;
    }
    return true;
}

/* What is acknowledged since is not sent again. */
static void requester_skip_acked(struct vcx_qp *qp)
{
    const struct vcx_requester *r = &qp->requester;
    for (uint32_t i = r->tail; i != r->head; i++) {
        struct vcx_request *q = vcx_request_at(qp, i);
        if (vcx_psn_distance(r->acked_psn, q->first_psn) <= 0)
            return;
        q->sent = (uint32_t)vcx_most(q->sent, acked_packets(qp, q));
    }
}

/* ---- completion in order */

static bool is_done(const struct vcx_qp *qp, const struct vcx_request *q)
{
    if (q->ending || q->pending || q->sent < q->packets)
        return false;
    return !vcx_qp_is_reliable(qp) ||
           vcx_psn_distance(qp->requester.acked_psn, q->first_psn) >= (int32_t)q->packets;
}

/* Everything before requester.acked_psn is done: completes it. */
static void requester_retire(struct vcx_device *device, struct vcx_qp *qp)
{
    struct vcx_requester *r = &qp->requester;
    while (r->tail != r->head && is_done(qp, vcx_request_at(qp, r->tail)))
        vcx_request_complete(device, qp, 0);
    if ((int32_t)(r->cursor - r->tail) < 0)
        r->cursor = r->tail;
}

/* A request that cannot be executed ends when all before it have ended. */
static void fail_bad(struct vcx_device *device, struct vcx_qp *qp)
{
    const struct vcx_requester *r = &qp->requester;
    uint8_t ending = r->tail != r->head ? vcx_request_at(qp, r->tail)->ending : 0;
    if (ending)
        vcx_qp_fail(device, qp, (enum vcx_ending)ending);
}

/* ---- fetching */

static void requester_add(struct vcx_qp *qp, struct vcx_request *fetched)
{
    struct vcx_requester *r = &qp->requester;
    bool sends = !fetched->ending && !fetched->row->local;
    fetched->packets = sends ? vcx_qp_packets(qp, fetched->length) : 0;
    fetched->pending = !fetched->ending && fetched->row->changes_key;
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
    return r->head - r->tail < VCX_REQUESTS && !vcx_request_at(qp, r->head - 1)->ending &&
           ((r->next_psn - r->acked_psn) & VCX_PSN_MASK) < FETCHED_PACKETS;
}

static uint32_t requester_fetch(struct vcx_device *device, struct vcx_qp *qp)
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
        requester_add(qp, &fetched);
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
                                        uint8_t operation, uint32_t offset, uint32_t bytes, uint8_t *to)
{
    const struct vcx_operation_row *row = &vcx_operations[operation];
    uint8_t *at = to;
    if (qp->type == VCX_QP_XRC) {
        vcx_put32(at, q->xrc_srq);
        at += 4;
    }
    if (q->row->remote && row->first) {
        vcx_put64(at, q->address + offset);
        vcx_put32(at + 8, q->key);
        if (q->row->atomic) {
            vcx_put64(at + 12, q->swap_add);
            vcx_put64(at + 20, q->compare);
            at += 28;
        } else {
            vcx_put32(at + 12, bytes);
            at += 16;
        }
    }
    if (row->immediate || row->invalidate) {
        memcpy(at, q->immediate, 4);
        at += 4;
    }
    return (uint32_t)(at - to);
}

/* A packet of a request; of a read it asks for `packets`. 0: not now, or the request turned out bad; else the
 * bytes of its frame. */
static uint32_t send_packet(struct vcx_device *device, struct vcx_qp *qp, struct vcx_request *q,
                            uint32_t place, uint32_t packets)
{
    uint8_t extension[MOST_EXTENSION], *payload;
    bool last = q->row->fetches || place + 1 == q->packets, apart = is_sent_apart(qp, q);
    uint32_t offset = place * qp->mtu;
    uint32_t part = (uint32_t)vcx_least((uint64_t)packets * qp->mtu, q->length - offset);
    uint32_t bytes = q->row->fetches ? 0 : part;
    uint32_t psn = (q->first_psn + place) & VCX_PSN_MASK;
    uint32_t flight = (psn - qp->requester.acked_psn) & VCX_PSN_MASK;
    uint8_t operation = operation_of_request(q->row, place == 0 || apart, last || apart);
    uint32_t named = q->row->fetches || apart ? part : q->length;
    struct vcx_packet_header h = {
        .opcode = (uint8_t)((qp->type == VCX_QP_XRC ? VCX_SERVICE_XRC : (uint8_t)qp->type) << 5 | operation),
        .solicited = q->solicited && last && !q->row->fetches,
        .acknowledge =
            vcx_qp_is_reliable(qp) && (last || psn % ACK_EVERY_PACKETS == 0 || flight >= LAST_ACK_OF_WINDOW),
        .partition = 0xffff,
        .qpn = qp->remote_qpn,
        .psn = psn,
        .extension = extension,
        .extension_bytes = write_request_extension(qp, q, operation, offset, named, extension)};
    struct vcx_route route;
    vcx_route_connection(device, qp, &route);
    vcx_congestion_capable(device, &route);
    if (!vcx_transport_room(device, &route, h.extension_bytes + bytes) ||
        (bytes && vcx_scatter_stalls(device, &q->memory, offset)))
        return 0;
    struct vcx_frame *frame = vcx_packet_open(&route.path, &h, bytes, &payload);
    if (!frame)
        return 0;
    if (bytes)
        q->ending = vcx_scatter_read(device, qp->rights, &q->memory, offset, payload, bytes);
    if (q->ending) {
        vcx_release(frame);
        return 0;
    }
    uint32_t length = frame->length;
    vcx_transport_send(device, &route, frame);
    return length;
}

/* A key that is in use changes when nothing before can be sent again. false: not now, or the request
 * turned out bad. */
static bool change_idle_key(struct vcx_device *device, const struct vcx_qp *qp, struct vcx_request *q)
{
    bool first = qp->requester.cursor == qp->requester.tail;
    if (!first && (q->fenced || vcx_mkey_in_use(device, vcx_be32(q->immediate))))
        return false;
    q->ending = vcx_umr_execute(device, qp, q);
    q->pending = false;
    return !q->ending;
}

/* The request whose packet is the next to be sent now, or NULL. */
static struct vcx_request *next_request(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns)
{
    struct vcx_requester *r = &qp->requester;
    struct vcx_request *q = NULL;
    for (; r->cursor != r->head; r->cursor++) {
        q = vcx_request_at(qp, r->cursor);
        if (q->ending)
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
    uint32_t waiting = 0;
    bool overtakes = false; /* writes that may be on other ways, while this one has to be taken in order */
    for (uint32_t i = qp->requester.tail; i != qp->requester.cursor; i++) {
        waiting += vcx_request_at(qp, i)->row && vcx_request_at(qp, i)->row->fetches;
        overtakes |= qp->out_of_order && is_sent_apart(qp, vcx_request_at(qp, i));
    }
    if ((overtakes && q->sent == 0 && !is_sent_apart(qp, q)) || (q->fenced && q->sent == 0 && waiting) ||
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
        vcx_await_answer(device, qp, now_ns);
}

/* What of an answer is missing is requested again. */
static void ask_for_answer(struct vcx_device *device, struct vcx_qp *qp)
{
    struct vcx_requester *r = &qp->requester;
    r->early.gap_ns = 0;
    vcx_qp_count(device, qp, implied_nak_seq_err);
    if (vcx_requester_repeat(qp))
        r->asked_psn = (r->again[0].psn + r->again[0].packets) & VCX_PSN_MASK;
}

static bool send_again(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns)
{
    struct vcx_requester *r = &qp->requester;
    uint32_t place;
    if (now_ns < r->resume_ns || !vcx_congestion_may_send(device, qp, now_ns))
        return false;
    struct vcx_request *q = request_of_psn(qp, r->again[0].psn, &place);
    if (q && !q->ending && vcx_psn_distance(r->again[0].psn, r->acked_psn) >= 0) {
        uint32_t bytes = send_packet(device, qp, q, place, r->again[0].packets);
        if (!bytes)
            return false;
        vcx_congestion_sent(device, qp, now_ns, bytes);
        device->transport->data_sent = true;
    }
    r->again[0] = r->again[1];
    r->again_count--;
    return true;
}

static bool send_next(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns)
{
    if (qp->requester.again_count)
        return send_again(device, qp, now_ns);
    struct vcx_request *q = next_request(device, qp, now_ns);
    if (!q)
        return false;
    if (vcx_qp_is_datagram(qp)) {
        if (!vcx_datagram_send(device, qp, q))
            return false;
    } else {
        uint32_t bytes = send_packet(device, qp, q, q->sent, q->row->fetches ? q->packets - q->sent : 1);
        if (!bytes)
            return false;
        vcx_congestion_sent(device, qp, now_ns, bytes);
    }
    note_sent(device, qp, q, now_ns);
    return true;
}

uint32_t vcx_requester_poll(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns, uint32_t most)
{
    uint32_t work = requester_fetch(device, qp), sent = 0;
    if (qp->requester.head == qp->requester.tail)
        return work;
    vcx_check_timeout(device, qp, now_ns);
    if (qp->out_of_order && vcx_early_is_late(device, &qp->requester.early, now_ns))
        ask_for_answer(device, qp);
    while (sent < most && qp->state == VCX_QP_RTS && send_next(device, qp, now_ns))
        sent++;
    if (qp->state != VCX_QP_RTS)
        return work + sent;
    requester_retire(device, qp);
    fail_bad(device, qp);
    return work + sent;
}

/* ---- what a requester gets: acknowledgements, and the answers of reads and atomic operations */

#define AETH_CLASS     0x60
#define CLASS_ACK      0x00
#define CLASS_RNR      0x20
#define CLASS_NAK      0x60
#define AETH_TIMER     0x1f
#define NEVER_GIVES_UP 7 /* rnr_retry */

/* ---- what is acknowledged */

/* An answer with data is missing: it is requested again, once; with out-of-order placement after a while. */
static void implied_nak(struct vcx_device *device, struct vcx_qp *qp)
{
    struct vcx_requester *r = &qp->requester;
    if (r->went_back || vcx_psn_distance(r->acked_psn, r->asked_psn) < 0)
        return;
    if (!qp->out_of_order)
        ask_for_answer(device, qp);
    else if (!r->early.gap_ns)
        r->early.gap_ns = vcx_now_ns(device);
}

/* The first packet up to `psn` of an answer with data that has not come; false: none is missing. */
static bool missing_answer(const struct vcx_qp *qp, uint32_t psn, uint32_t *missing)
{
    const struct vcx_requester *r = &qp->requester;
    for (uint32_t i = r->tail; i != r->head; i++) {
        const struct vcx_request *q = vcx_request_at(qp, i);
        *missing = (q->first_psn + q->answered) & VCX_PSN_MASK;
        if (!q->row || vcx_psn_distance(psn, *missing) < 0)
            return false;
        if (q->row->fetches && q->answered < q->packets)
            return true;
    }
    return false;
}

static void requester_advance(struct vcx_device *device, struct vcx_qp *qp, uint32_t acked_psn)
{
    struct vcx_requester *r = &qp->requester;
    if (vcx_psn_distance(acked_psn, r->acked_psn) <= 0)
        return;
    r->acked_psn = acked_psn;
    requester_skip_acked(qp);
    if (vcx_psn_distance(r->early.next_psn, acked_psn) < 0)
        r->early.next_psn = acked_psn;
    if (vcx_psn_distance(r->asked_psn, acked_psn) < 0)
        r->asked_psn = acked_psn;
    r->early.gap_ns = 0;
    r->retries = r->rnr_retries = 0;
    r->went_back = false;
    vcx_await_answer(device, qp, vcx_now_ns(device));
}

/* An answer that is expected is there already. */
static bool take_early_answer(struct vcx_qp *qp, uint32_t psn)
{
    uint32_t place;
    struct vcx_request *q = request_of_psn(qp, psn, &place);
    if (!q || !vcx_early_has(&qp->requester.early, psn))
        return false;
    early_remove(qp->requester.early.came, VCX_PACKET_WINDOW - 1, psn);
    q->answered++;
    q->sent = (uint32_t)vcx_most(q->sent, q->answered);
    return true;
}

/* Everything up to psn has arrived at the responder, unless an answer before is missing: false. If packets
 * are taken in any order, everything up to the newest that was heard of. */
static bool requester_take_psn(struct vcx_device *device, struct vcx_qp *qp, uint32_t psn)
{
    struct vcx_early *early = &qp->requester.early;
    uint32_t missing;
    if (vcx_psn_distance(psn, early->next_psn) >= 0)
        early->next_psn = (psn + 1) & VCX_PSN_MASK;
    if (vcx_qp_takes_any_order(qp))
        psn = (early->next_psn - 1) & VCX_PSN_MASK;
    bool lacks;
    do
        lacks = missing_answer(qp, psn, &missing);
    while (lacks && take_early_answer(qp, missing));
    requester_advance(device, qp, lacks ? missing : (psn + 1) & VCX_PSN_MASK);
    requester_retire(device, qp);
    if (lacks)
        implied_nak(device, qp);
    return !lacks;
}

/* The number is one of a packet that was sent, or, of an acknowledgement, of the one before the oldest. */
static bool in_window(const struct vcx_qp *qp, uint32_t psn)
{
    const struct vcx_requester *r = &qp->requester;
    return vcx_psn_distance(psn, r->acked_psn) >= -1 && vcx_psn_distance(psn, r->sent_psn) < 0;
}

/* ---- acknowledgements */

static void take_rnr(struct vcx_device *device, struct vcx_qp *qp, uint32_t psn, uint8_t timer)
{
    struct vcx_requester *r = &qp->requester;
    uint64_t retry = vcx_get(qp->context, qpc, rnr_retry);
    if (!requester_take_psn(device, qp, (psn - 1) & VCX_PSN_MASK))
        return;
    vcx_qp_count(device, qp, rnr_nak_retry_err);
    if (retry != NEVER_GIVES_UP && r->rnr_retries++ >= retry) {
        vcx_qp_fail(device, qp, VCX_RNR_RETRIES_EXCEEDED);
        return;
    }
    r->resume_ns = vcx_now_ns(device) + vcx_rnr_wait_ns(device, timer);
    go_back(qp);
    vcx_await_answer(device, qp, r->resume_ns);
}

static void take_sequence_error(struct vcx_device *device, struct vcx_qp *qp, uint32_t psn)
{
    bool answered = requester_take_psn(device, qp, (psn - 1) & VCX_PSN_MASK);
    bool ends = answered && vcx_nak_ends(device, qp);
    bool repeats = answered && !ends && vcx_requester_repeat(qp);
    if (!repeats) /* a card with selective repeat counts none */
        vcx_qp_count(device, qp, packet_seq_err);
    if (ends)
        vcx_qp_fail(device, qp, VCX_RETRIES_EXCEEDED);
}

static void take_fatal(struct vcx_device *device, struct vcx_qp *qp, uint32_t psn, uint8_t aeth)
{
    static const uint8_t causes[] = {[VCX_AETH_INVALID - VCX_AETH_SEQUENCE] = VCX_REMOTE_INVALID,
                                     [VCX_AETH_ACCESS - VCX_AETH_SEQUENCE] = VCX_REMOTE_ACCESS,
                                     [VCX_AETH_OPERATION - VCX_AETH_SEQUENCE] = VCX_REMOTE_OPERATION};
    uint32_t code = (uint32_t)aeth - VCX_AETH_SEQUENCE;
    if (code >= VCX_COUNT(causes) || !requester_take_psn(device, qp, (psn - 1) & VCX_PSN_MASK))
        return;
    qp->requester.sent_psn = qp->requester.acked_psn; /* QUERY_QP: what the responder took */
    vcx_qp_fail(device, qp, (enum vcx_ending)causes[code]);
}

static void take_acknowledge(struct vcx_device *device, struct vcx_qp *qp, uint32_t psn, uint8_t aeth)
{
    bool nothing_asked = qp->requester.tail == qp->requester.head;
    if ((aeth & AETH_CLASS) == CLASS_ACK) {
        requester_take_psn(device, qp, psn);
        return;
    }
    if (nothing_asked || vcx_psn_distance(psn, qp->requester.acked_psn) < 0)
        return; /* of what was acknowledged since */
    if ((aeth & AETH_CLASS) == CLASS_RNR)
        take_rnr(device, qp, psn, aeth & AETH_TIMER);
    else if (aeth == VCX_AETH_SEQUENCE)
        take_sequence_error(device, qp, psn);
    else if ((aeth & AETH_CLASS) == CLASS_NAK)
        take_fatal(device, qp, psn, aeth);
}

/* ---- answers with data */

/* The request whose answer's next packet it is, or NULL. */
static struct vcx_request *answered_request(struct vcx_device *device, struct vcx_qp *qp, uint32_t psn,
                                            bool atomic)
{
    struct vcx_requester *r = &qp->requester;
    if (vcx_psn_distance(psn, r->acked_psn) < 0)
        return NULL;
    if (psn != r->acked_psn)
        requester_take_psn(device, qp, (psn - 1) & VCX_PSN_MASK);
    if (qp->state != VCX_QP_RTS || r->tail == r->head)
        return NULL;
    struct vcx_request *q = vcx_request_at(qp, r->tail);
    bool fits = q->row && q->row->fetches && q->row->atomic == atomic && !q->ending &&
                q->answered < q->packets && ((q->first_psn + q->answered) & VCX_PSN_MASK) == psn;
    return fits ? q : NULL;
}

static void take_data(struct vcx_device *device, struct vcx_qp *qp, struct vcx_request *q, uint32_t offset,
                      const uint8_t *data, uint32_t bytes)
{
    uint8_t ending = bytes ? vcx_scatter_write(device, qp->rights, &q->memory, offset, data, bytes) : 0;
    if (ending) {
        vcx_qp_fail(device, qp, (enum vcx_ending)ending);
        return;
    }
    uint32_t psn = (q->first_psn + q->answered) & VCX_PSN_MASK;
    q->answered++;
    q->sent = (uint32_t)vcx_most(q->sent, q->answered);
    requester_advance(device, qp, (psn + 1) & VCX_PSN_MASK);
    requester_retire(device, qp);
}

/* A packet of an answer of which others, or other answers, may be missing before it. */
static void take_early_response(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_packet *packet,
                                const struct vcx_operation_row *row)
{
    struct vcx_requester *r = &qp->requester;
    uint32_t place, bytes = packet->bytes - row->header_bytes;
    const struct vcx_request *q = request_of_psn(qp, packet->psn, &place);
    if (vcx_psn_distance(packet->psn, r->acked_psn) < 0 || !q || !q->row || !q->row->fetches ||
        q->row->atomic || q->ending)
        return;
    if (((packet->psn - r->acked_psn) & VCX_PSN_MASK) >= VCX_PACKET_WINDOW) {
        requester_take_psn(device, qp, (packet->psn - 1) & VCX_PSN_MASK);
        return;
    }
    uint32_t offset = place * qp->mtu;
    uint8_t ending = VCX_BAD_RESPONSE;
    if (bytes == vcx_least(qp->mtu, q->length - offset))
        ending = bytes ? vcx_scatter_write(device, qp->rights, &q->memory, offset,
                                           packet->header + row->header_bytes, bytes)
                       : 0;
    if (ending) {
        vcx_qp_fail(device, qp, (enum vcx_ending)ending);
        return;
    }
    if (packet->psn == ((r->asked_psn - 1) & VCX_PSN_MASK))
        r->asked_psn = r->acked_psn; /* what else of that part is missing was lost again */
    early_add(r->early.came, VCX_PACKET_WINDOW - 1, packet->psn);
    requester_take_psn(device, qp, packet->psn);
}

static void take_read_response(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_packet *packet,
                               const struct vcx_operation_row *row)
{
    struct vcx_request *q = answered_request(device, qp, packet->psn, false);
    if (!q)
        return;
    uint32_t offset = q->answered * qp->mtu, bytes = packet->bytes - row->header_bytes;
    bool last = q->answered + 1 == q->packets;
    if (bytes != vcx_least(qp->mtu, q->length - offset) || row->last != last) {
        vcx_qp_fail(device, qp, VCX_BAD_RESPONSE);
        return;
    }
    take_data(device, qp, q, offset, packet->header + row->header_bytes, bytes);
}

static void take_atomic_response(struct vcx_device *device, struct vcx_qp *qp,
                                 const struct vcx_packet *packet)
{
    struct vcx_request *q = answered_request(device, qp, packet->psn, true);
    uint64_t old = vcx_be64(packet->header + 4);
    if (q)
        take_data(device, qp, q, 0, (const uint8_t *)&old, sizeof old);
}

void vcx_acknowledge_receive(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_packet *packet)
{
    uint8_t operation = packet->opcode & 0x1f;
    const struct vcx_operation_row *row = &vcx_operations[operation];
    if (qp->state != VCX_QP_RTS || packet->bytes < row->header_bytes || !in_window(qp, packet->psn))
        return;
    if (operation == VCX_ACKNOWLEDGE)
        take_acknowledge(device, qp, packet->psn, packet->header[0]);
    else if (operation == VCX_ATOMIC_ACKNOWLEDGE)
        take_atomic_response(device, qp, packet);
    else if (vcx_qp_takes_any_order(qp))
        take_early_response(device, qp, packet, row);
    else
        take_read_response(device, qp, packet, row);
}
