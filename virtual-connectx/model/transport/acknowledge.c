// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What a requester gets: acknowledgements, and the answers of reads and atomic operations. */
#include "virtual-connectx/model/transport/transport.h"
#include "virtual-connectx/model/transport/work_queue.h"

#define AETH_CLASS     0x60
#define CLASS_ACK      0x00
#define CLASS_RNR      0x20
#define CLASS_NAK      0x60
#define AETH_TIMER     0x1f
#define RNR_UNIT_NS    10000u
#define NEVER_GIVES_UP 7 /* rnr_retry */

/* The receiver's timer in units of 10 us (InfiniBand Architecture Specification, table "Encoding for RNR NAK Timer Field"). */
static const uint16_t rnr_timers[32] = {65535, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
                                        48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
                                        2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

/* ---- what is acknowledged */

/* An answer with data is missing: the packets from it on are requested again, once. */
static void implied_nak(struct vcx_device *device, struct vcx_qp *qp)
{
    if (qp->requester.went_back)
        return;
    vcx_qp_count(device, qp, implied_nak_seq_err);
    vcx_requester_go_back(qp);
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

static void advance(struct vcx_device *device, struct vcx_qp *qp, uint32_t acked_psn)
{
    struct vcx_requester *r = &qp->requester;
    if (vcx_psn_distance(acked_psn, r->acked_psn) <= 0)
        return;
    r->acked_psn = acked_psn;
    vcx_requester_skip_acked(qp);
    r->retries = r->rnr_retries = 0;
    r->went_back = false;
    vcx_requester_await(device, qp, vcx_now_ns(device));
}

/* Everything up to psn has arrived at the responder, unless an answer before is missing: false. */
static bool acknowledged(struct vcx_device *device, struct vcx_qp *qp, uint32_t psn)
{
    uint32_t missing;
    bool lacks = missing_answer(qp, psn, &missing);
    advance(device, qp, lacks ? missing : (psn + 1) & VCX_PSN_MASK);
    vcx_requester_retire(device, qp);
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
    if (!acknowledged(device, qp, (psn - 1) & VCX_PSN_MASK))
        return;
    if (retry != NEVER_GIVES_UP && r->rnr_retries++ >= retry) {
        vcx_qp_fail(device, qp, VCX_RNR_RETRIES_EXCEEDED);
        return;
    }
    vcx_qp_count(device, qp, rnr_nak_retry_err);
    uint64_t wait = vcx_stretch_ns(device, (uint64_t)rnr_timers[timer] * RNR_UNIT_NS);
    r->resume_ns = vcx_now_ns(device) + wait;
    vcx_requester_go_back(qp);
    vcx_requester_await(device, qp, r->resume_ns);
}

static void take_sequence_error(struct vcx_device *device, struct vcx_qp *qp, uint32_t psn)
{
    vcx_qp_count(device, qp, packet_seq_err);
    if (!acknowledged(device, qp, (psn - 1) & VCX_PSN_MASK))
        return;
    if (qp->requester.retries++ >= vcx_get(qp->context, qpc, retry_count)) {
        vcx_qp_count(device, qp, req_transport_retries_exceeded);
        vcx_qp_fail(device, qp, VCX_RETRIES_EXCEEDED);
        return;
    }
    vcx_requester_go_back(qp);
}

static void take_fatal(struct vcx_device *device, struct vcx_qp *qp, uint32_t psn, uint8_t aeth)
{
    static const uint8_t syndromes[] = {[VCX_AETH_INVALID - VCX_AETH_SEQUENCE] = VCX_REMOTE_INVALID,
                                        [VCX_AETH_ACCESS - VCX_AETH_SEQUENCE] = VCX_REMOTE_ACCESS,
                                        [VCX_AETH_OPERATION - VCX_AETH_SEQUENCE] = VCX_REMOTE_OPERATION};
    uint32_t code = (uint32_t)aeth - VCX_AETH_SEQUENCE;
    if (code >= VCX_COUNT(syndromes) || !acknowledged(device, qp, (psn - 1) & VCX_PSN_MASK))
        return;
    if (aeth == VCX_AETH_ACCESS)
        vcx_qp_count(device, qp, req_remote_access_errors);
    else if (aeth == VCX_AETH_INVALID)
        vcx_qp_count(device, qp, req_remote_invalid_request);
    else
        vcx_qp_count(device, qp, req_remote_operation_errors);
    vcx_qp_fail(device, qp, (enum vcx_syndrome)syndromes[code]);
}

static void take_acknowledge(struct vcx_device *device, struct vcx_qp *qp, uint32_t psn, uint8_t aeth)
{
    bool nothing_asked = qp->requester.tail == qp->requester.head;
    if ((aeth & AETH_CLASS) == CLASS_ACK) {
        acknowledged(device, qp, psn);
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
    if (vcx_psn_distance(psn, r->acked_psn) < 0 ||
        (psn != r->acked_psn && !acknowledged(device, qp, (psn - 1) & VCX_PSN_MASK)))
        return NULL;
    if (qp->state != VCX_QP_RTS || r->tail == r->head)
        return NULL;
    struct vcx_request *q = vcx_request_at(qp, r->tail);
    bool fits = q->row && q->row->fetches && q->row->atomic == atomic && !q->syndrome &&
                q->answered < q->packets && ((q->first_psn + q->answered) & VCX_PSN_MASK) == psn;
    return fits ? q : NULL;
}

static void take_data(struct vcx_device *device, struct vcx_qp *qp, struct vcx_request *q, uint32_t offset,
                      const uint8_t *data, uint32_t bytes)
{
    if (bytes && !vcx_scatter_write(device, qp->rights, &q->memory, offset, data, bytes)) {
        vcx_qp_count(device, qp, req_local_protection);
        vcx_qp_fail(device, qp, VCX_LOCAL_PROTECTION);
        return;
    }
    uint32_t psn = (q->first_psn + q->answered) & VCX_PSN_MASK;
    q->answered++;
    q->sent = (uint32_t)vcx_most(q->sent, q->answered);
    advance(device, qp, (psn + 1) & VCX_PSN_MASK);
    vcx_requester_retire(device, qp);
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
        vcx_qp_count(device, qp, req_bad_response);
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
    else
        take_read_response(device, qp, packet, row);
}
