// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * When a requester sends again because no answer comes, and when it gives up: at the times that were measured
 * on ConnectX-5 and ConnectX-6 (lib/roce/retransmission.h), or of a ConnectX-4 Lx, of which nothing was
 * measured, at each local ACK timeout (InfiniBand Architecture Specification 9.7.6.1.3). And register
 * ROCE_ACCL, which switches parts of it.
 *
 * A card's times are too short for machines that are emulated and lines that are slow, so all of them last
 * longer by one factor: the configuration's, or that of the line.
 */
#include "virtual-connectx/model/capability.h"
#include "virtual-connectx/model/random.h"
#include "virtual-connectx/model/register/register.h"
#include "virtual-connectx/model/transport/transport.h"

#define ACK_UNIT_NS 4096u
#define RNR_UNIT_NS 10000u
/* After its program deregistered memory a ConnectX-6 is silent about it for 1.0 to 2.2 ms, and its peer has
 * the error after 2.2 ms (unionxic/rdma-fault-characterization, 2026, teardown_order). */
#define GIVEN_UP_SILENCE_NS 2000000u
#define LONGEST_NS          (1ull << 45) /* of a card's waits, 9.8 hours: the slowest line has room for it */
/* Machines under emulation are slow: shorter times would end before their answer. */
#define LEAST_SCALE      100u
#define LEAST_TIMEOUT_NS 2000000000u

/* NULL: by the specification. */
static const struct retransmission_times *measured_times(const struct vcx_device *device)
{
    int firmware = vcx_model(device)->retransmission;
    return firmware < 0 ? NULL : &retransmission_firmware[firmware];
}

/* ---- time: a card's waits as they last here */

static uint64_t scaled_ns(const struct vcx_device *device, uint64_t nominal_ns, uint64_t least_ns)
{
    uint64_t ns = vcx_least(nominal_ns, LONGEST_NS);
    uint32_t scale = device->configuration.timeout_scale;
    return scale ? ns * scale : vcx_most(vcx_stretch_ns(device, ns), least_ns);
}

uint64_t vcx_rnr_wait_ns(const struct vcx_device *device, uint8_t code)
{
    /* InfiniBand Architecture Specification, table "Encoding for RNR NAK Timer Field" */
    static const uint16_t units[32] = {65535, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
                                       48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
                                       2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
    const struct retransmission_times *times = measured_times(device);
    uint64_t more_us = times ? (uint64_t)times->rnr_more_us : 0;
    return scaled_ns(device, (uint64_t)units[code % VCX_COUNT(units)] * RNR_UNIT_NS + more_us * 1000, 0);
}

uint64_t vcx_refusal_from_ns(const struct vcx_device *device, uint32_t key)
{
    uint64_t since_ns = measured_times(device) ? vcx_mkey_given_up_ns(device, key) : 0;
    return since_ns ? since_ns + scaled_ns(device, GIVEN_UP_SILENCE_NS, 0) : 0;
}

/* ---- register ROCE_ACCL: bit n of its words is switch n, by the names of mlxreg */

#define ROCE_ACCL      0x402c
#define SELECTED       0 /* offset: in a query, the switches that there are; in a write, those that change */
#define ENABLED        4
#define REGISTER_BYTES 8

enum accl_switch { ADAPTIVE = 0, SLOW_RESTART = 2, NO_FLOOR = 4, OUT_OF_ORDER = 5, SELECTIVE = 6 };
static const char *const switch_names[] = {
    [ADAPTIVE] = "roce_adp_retrans_en",
    [1] = "roce_tx_window_en",
    [SLOW_RESTART] = "roce_slow_restart_en",
    [3] = "roce_slow_restart_idle_en",
    [NO_FLOOR] = "min_ack_timeout_limit_disabled",
    [OUT_OF_ORDER] = "adaptive_routing_forced_en",
    [SELECTIVE] = "selective_repeat_forced_en",
    [7] = "dc_half_handshake_en",
};

static bool is_switched_on(const struct vcx_device *device, enum accl_switch which)
{
    return device->transport->roce_accl >> which & 1;
}

/* The switches that are modelled. */
static uint32_t switches_of(const struct vcx_device *device)
{
    return measured_times(device)
               ? 1u << ADAPTIVE | 1u << SLOW_RESTART | 1u << NO_FLOOR | 1u << OUT_OF_ORDER | 1u << SELECTIVE
               : 0;
}

void vcx_retransmission_start(struct vcx_device *device)
{
    device->transport->roce_accl = switches_of(device) & (1u << ADAPTIVE | 1u << SLOW_RESTART);
    device->transport->random = device->configuration.seed;
}

/* false: a switch that is not there is named or set. */
static bool set_switches(struct vcx_device *device, uint32_t selected, uint32_t enabled)
{
    uint32_t *kept = &device->transport->roce_accl;
    if ((selected | enabled) & ~switches_of(device))
        return false;
    *kept = (*kept & ~selected) | (enabled & selected);
    return true;
}

static enum vcx_status access_roce_accl(struct vcx_register_call *call)
{
    struct vcx_device *device = call->device;
    if (call->write && !set_switches(device, vcx_be32(call->in + SELECTED), vcx_be32(call->in + ENABLED)))
        return VCX_BAD_PARAMETER;
    vcx_put32(call->out + SELECTED, switches_of(device));
    vcx_put32(call->out + ENABLED, device->transport->roce_accl);
    return VCX_OK;
}

const struct vcx_register vcx_registers_roce[] = {
    {ROCE_ACCL, REGISTER_BYTES, VCX_REGISTER_WRITABLE, access_roce_accl},
    {0},
};

void vcx_roce_accl_show(const struct vcx_device *device, void (*put)(void *context, const char *line),
                        void *context)
{
    char line[VCX_LINE_BYTES];
    for (unsigned i = 0; i < VCX_COUNT(switch_names); i++) {
        bool there = switches_of(device) >> i & 1;
        snprintf(line, sizeof line, "%s %s", switch_names[i],
                 !there                                        ? "not supported"
                 : is_switched_on(device, (enum accl_switch)i) ? "1"
                                                               : "0");
        put(context, line);
    }
}

bool vcx_roce_accl_request(struct vcx_device *device, const char *line, struct vcx_sentence *error)
{
    struct vcx_words words;
    uint64_t value;
    unsigned which = 0;
    if (!vcx_words_split(&words, line) || words.count != 2)
        return vcx_say(error, "expected a switch of ROCE_ACCL and 0 or 1");
    while (which < VCX_COUNT(switch_names) && !vcx_word_is(words.word[0], switch_names[which]))
        which++;
    if (which == VCX_COUNT(switch_names))
        return vcx_say(error, "%s: no such switch of ROCE_ACCL", words.word[0]);
    if (!vcx_word_number(words.word[1], 0, 1, &value))
        return vcx_say(error, "%s: expected 0 or 1, found %s", words.word[0], words.word[1]);
    return set_switches(device, 1u << which, (uint32_t)value << which) ||
           vcx_say(error, "%s: this device does not support it", words.word[0]);
}

/* ---- packets in any order */

void vcx_recovery_choose(const struct vcx_device *device, struct vcx_qp *qp)
{
    qp->selective = vcx_qp_is_reliable(qp) && is_switched_on(device, SELECTIVE);
    qp->out_of_order = vcx_qp_is_reliable(qp) && is_switched_on(device, OUT_OF_ORDER);
}

bool vcx_early_is_late(const struct vcx_device *device, const struct vcx_early *early, uint64_t now_ns)
{
    return early->gap_ns &&
           now_ns >= early->gap_ns + scaled_ns(device, EARLY_WAIT_NS, (uint64_t)EARLY_WAIT_NS * LEAST_SCALE);
}

/* ---- the wait for an answer */

/* 0: for ever, as code 0 says. */
static uint64_t local_timeout_ns(const struct vcx_qp *qp)
{
    uint64_t code = vcx_get(vcx_at(qp->context, qpc, primary_address_path), ads, ack_timeout);
    return code ? (uint64_t)ACK_UNIT_NS << code : 0;
}

/* What happens when the timer expires for the k-th time in this silence; its time is a card's. */
static struct retransmission step_of(const struct vcx_device *device, const struct vcx_qp *qp, unsigned k)
{
    const struct vcx_requester *r = &qp->requester;
    const struct retransmission_times *times = measured_times(device);
    const struct retransmission_case of = {.timeout_ns = (long long)local_timeout_ns(qp),
                                           .retries = (int)vcx_get(qp->context, qpc, retry_count),
                                           .floor_off = is_switched_on(device, NO_FLOOR),
                                           .adaptive_off = !is_switched_on(device, ADAPTIVE),
                                           .draw = r->draw};
    if (times)
        return retransmission_step(times, &of, k);
    bool ends = r->retries + k >= (unsigned)of.retries;
    return (struct retransmission){of.timeout_ns * (k + 1), 0, !ends, ends};
}

static uint64_t deadline_of(const struct vcx_device *device, const struct vcx_qp *qp)
{
    const struct vcx_requester *r = &qp->requester;
    uint64_t at_ns = (uint64_t)step_of(device, qp, r->timeouts).at_ns;
    return r->since_ns + scaled_ns(device, at_ns,
                                   measured_times(device) ? vcx_least(at_ns, LONGEST_NS) * LEAST_SCALE
                                                          : (uint64_t)LEAST_TIMEOUT_NS * (r->timeouts + 1));
}

void vcx_await_answer(struct vcx_device *device, struct vcx_qp *qp, uint64_t from_ns)
{
    struct vcx_requester *r = &qp->requester;
    r->timeouts = 0;
    r->since_ns = from_ns;
    r->draw = vcx_random_below(&device->transport->random, 1u << 16);
    r->deadline_ns = local_timeout_ns(qp) && r->acked_psn != r->sent_psn ? deadline_of(device, qp) : 0;
}

bool vcx_nak_ends(struct vcx_device *device, struct vcx_qp *qp)
{
    struct vcx_requester *r = &qp->requester;
    if (!measured_times(device))
        return r->timeouts + r->retries++ >= vcx_get(qp->context, qpc, retry_count);
    vcx_await_answer(device, qp, vcx_now_ns(device)); /* the peer is not silent */
    return false;
}

void vcx_check_timeout(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns)
{
    struct vcx_requester *r = &qp->requester;
    if (!r->deadline_ns || now_ns < r->deadline_ns)
        return;
    struct retransmission step = step_of(device, qp, r->timeouts++);
    if (step.adaptive)
        vcx_qp_count(device, qp, roce_adp_retrans);
    else
        vcx_qp_count(device, qp, local_ack_timeout_err);
    if (step.ends) {
        vcx_qp_fail(device, qp, VCX_RETRIES_EXCEEDED);
        return;
    }
    r->deadline_ns = deadline_of(device, qp);
    if (!step.resends)
        return;
    if (is_switched_on(device, SLOW_RESTART)) {
        vcx_qp_count(device, qp, roce_slow_restart_cnps);
        vcx_congestion_restart(device, qp);
    }
    vcx_requester_repeat(qp);
}
