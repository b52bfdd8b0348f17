// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/port/credit.h"

#include "virtual-connectx/model/port/port.h"

#define VERSION       3
#define LEAST_CHARGE  256u                 /* bytes that a frame counts for at least */
#define MOST_WINDOW   (960 * LEAST_CHARGE) /* a tap device queues 1000 frames */
#define FIRST_WINDOW  16384u               /* until the other end has told its own */
#define ASK_AFTER_NS  200000000u
#define TELL_EVERY_NS 200000000u  /* that the port is closed */
#define ASK_CLOSED_NS 1000000000u /* whether the other end still is */
#define GIVE_UP_NS    5000000000u /* nobody is there: a real cable carries on */

/* ---- the header */
#define AT_VERSION    0
#define AT_KIND       1 /* and whether the port is closed */
#define CLOSED        0x80
#define AT_QUESTION   2 /* its number, or that of the question which is answered */
#define AT_EPOCH      4
#define AT_SENT       8
#define AT_PEER_EPOCH 12
#define AT_TAKEN      16
#define AT_WINDOW     20

/* ---- the window */

static uint32_t charge_of(uint32_t bytes)
{
    return bytes ? (uint32_t)vcx_most(bytes, LEAST_CHARGE) : 0;
}

/* A memory that the owner shares among ports fills from elsewhere too: only the headroom is the port's
 * own. */
static uint64_t room_of(const struct vcx_port *port, uint8_t priority)
{
    uint64_t most = port->settings.mtu ? port->settings.mtu : VCX_MOST_MTU;
    struct vcx_fill fill;
    vcx_ingress_fill(port, priority, &fill);
    uint64_t used = port->ops->fill ? vcx_most(fill.xoff, fill.held) : fill.held;
    if (fill.lossy || !fill.size)
        return MOST_WINDOW;
    if (fill.size > used + most)
        return fill.size - used - most;
    return fill.held == 0; /* a memory smaller than a frame takes one at a time */
}

static bool is_lossless(const struct vcx_port *port, uint8_t priority)
{
    return (vcx_port_tells(port, priority) && !port->xoff[priority].on) ||
           (vcx_port_tells(port, VCX_PAUSE_ALL) && !port->xoff[VCX_PAUSE_ALL].on);
}

uint32_t vcx_credit_window(const struct vcx_port *port)
{
    uint64_t least = MOST_WINDOW;
    for (uint8_t i = 0; i < VCX_PRIORITIES; i++)
        if (is_lossless(port, i))
            least = vcx_least(least, room_of(port, i));
    return (uint32_t)least;
}

/* ---- sending */

void vcx_credit_start(struct vcx_credit *credit, uint32_t epoch)
{
    *credit = (struct vcx_credit){.epoch = epoch ? epoch : 1, .coupled = true, .window = FIRST_WINDOW};
}

static bool is_closed(const struct vcx_credit *credit)
{
    return credit->coupled && (credit->doubt || credit->sent - credit->acknowledged >= credit->window);
}

bool vcx_credit_open(struct vcx_credit *credit, const struct vcx_port *port, uint64_t now_ns)
{
    if (credit->expired != port->expired && credit->coupled) {
        credit->doubt = true;
        credit->question++;
    }
    credit->expired = port->expired;
    if (!is_closed(credit)) {
        credit->stuck_ns = 0;
        return true;
    }
    if (!credit->stuck_ns)
        credit->asked_ns = credit->doubt ? 0 : now_ns;
    if (!credit->stuck_ns || credit->heard)
        credit->stuck_ns = now_ns;
    credit->heard = false;
    credit->coupled = now_ns - credit->stuck_ns < GIVE_UP_NS;
    return !credit->coupled;
}

/* The other end may wait for this: it can be at the end of its window, or knows of much less room than
 * there is. */
static bool credit_is_owed(const struct vcx_credit *credit, uint32_t window)
{
    uint32_t ahead = credit->taken - credit->told;
    return credit->peer_epoch && ((ahead && ahead >= vcx_least(window, credit->told_window) / 2) ||
                                  window / 2 > credit->told_window);
}

enum vcx_credit_kind vcx_credit_due(struct vcx_credit *credit, uint32_t window, uint64_t now_ns)
{
    if (credit->answers)
        return VCX_CREDIT_ANSWER;
    if (credit->closed != credit->told_closed ||
        (credit->closed && now_ns - credit->told_closed_ns >= TELL_EVERY_NS)) {
        credit->told_closed_ns = now_ns;
        return VCX_CREDIT_STATE;
    }
    if (credit->peer_closed && now_ns - credit->asked_ns >= ASK_CLOSED_NS) {
        credit->asked_ns = now_ns;
        return VCX_CREDIT_QUESTION;
    }
    if (credit->stuck_ns && now_ns - credit->asked_ns >= ASK_AFTER_NS) {
        credit->asked_ns = now_ns;
        return VCX_CREDIT_QUESTION;
    }
    return credit_is_owed(credit, window) ? VCX_CREDIT_STATE : VCX_CREDIT_BAD;
}

void vcx_credit_write(struct vcx_credit *credit, enum vcx_credit_kind kind, uint32_t bytes, uint32_t window,
                      uint8_t *header)
{
    memset(header, 0, VCX_CREDIT_BYTES);
    credit->sent += charge_of(bytes);
    credit->told = credit->taken;
    credit->told_window = window;
    credit->answers &= kind != VCX_CREDIT_ANSWER;
    header[AT_VERSION] = VERSION;
    header[AT_KIND] = (uint8_t)(kind | (credit->closed ? CLOSED : 0));
    credit->told_closed = credit->closed;
    vcx_put16(header + AT_QUESTION, kind == VCX_CREDIT_ANSWER ? credit->answer : credit->question);
    vcx_put32(header + AT_EPOCH, credit->epoch);
    vcx_put32(header + AT_SENT, credit->sent);
    vcx_put32(header + AT_PEER_EPOCH, credit->peer_epoch);
    vcx_put32(header + AT_TAKEN, credit->taken);
    vcx_put32(header + AT_WINDOW, window);
}

/* ---- receiving */

/* Only of what was sent since the start, and never back. */
static void credit_acknowledge(struct vcx_credit *credit, const uint8_t *header)
{
    uint32_t taken = vcx_be32(header + AT_TAKEN);
    if (vcx_be32(header + AT_PEER_EPOCH) != credit->epoch ||
        credit->sent - taken > credit->sent - credit->acknowledged)
        return;
    credit->acknowledged = taken;
    credit->window = vcx_be32(header + AT_WINDOW);
    credit->coupled = credit->heard = true;
    if ((header[AT_KIND] & ~CLOSED) == VCX_CREDIT_ANSWER &&
        vcx_be16(header + AT_QUESTION) == credit->question)
        credit->doubt = false;
}

static void credit_advance(struct vcx_credit *credit, const uint8_t *header, uint32_t bytes)
{
    uint32_t epoch = vcx_be32(header + AT_EPOCH), sent = vcx_be32(header + AT_SENT);
    if (epoch == credit->peer_epoch) {
        credit->missing += sent - bytes != credit->taken;
    } else {
        credit->told = sent - bytes;
        credit->told_window = 0;
    }
    credit->peer_epoch = epoch;
    credit->taken = sent;
}

enum vcx_credit_kind vcx_credit_take(struct vcx_credit *credit, const uint8_t *header, uint32_t bytes)
{
    uint8_t kind = header[AT_KIND] & (uint8_t)~CLOSED;
    if (header[AT_VERSION] != VERSION || kind >= VCX_CREDIT_BAD || !vcx_be32(header + AT_EPOCH))
        return VCX_CREDIT_BAD;
    credit_advance(credit, header, kind == VCX_CREDIT_FRAME ? charge_of(bytes) : 0);
    credit_acknowledge(credit, header);
    credit->peer_closed = header[AT_KIND] & CLOSED;
    if (kind == VCX_CREDIT_QUESTION) {
        credit->answers = true;
        credit->answer = vcx_be16(header + AT_QUESTION);
    }
    return (enum vcx_credit_kind)kind;
}
