#include "verify/sequence.h"

#include "lib/packets/opcode.h"
#include <stdlib.h>

/* ---- messages */

void messages_end(struct messages *m, uint32_t psn)
{
    m->ends[m->count++ % MESSAGES_KEPT] = psn;
}

void messages_forget(struct messages *m)
{
    m->count = 0;
    m->based = false;
}

int messages_ended_behind(const struct messages *m, uint32_t psn)
{
    int behind = 0, kept = m->count < MESSAGES_KEPT ? (int)m->count : MESSAGES_KEPT;
    for (int i = 0; i < kept; i++)
        behind += psn_after(m->ends[i], psn) > 0;
    return behind == kept ? -1 : behind;
}

bool messages_fit(struct messages *m, uint32_t psn, uint32_t msn, uint32_t *least, uint32_t *most)
{
    int behind = messages_ended_behind(m, psn);
    if (behind < 0)
        return true;
    uint32_t base = (msn - m->count) & FRAME_PSN_MASK;
    if (!m->based) {
        m->based = true;
        m->base = base;
        m->base_most = behind;
        return true;
    }
    int32_t least_base = psn_after(base, m->base), most_base = least_base + behind;
    if (least_base > m->base_most || most_base < 0) {
        *least = psn_add(m->base, m->count - (uint32_t)behind);
        *most = psn_add(m->base, m->count + (uint32_t)m->base_most);
        m->based = false;
        return false;
    }
    m->base_most = most_base < m->base_most ? most_base : m->base_most;
    if (least_base > 0) {
        m->base = base;
        m->base_most -= least_base;
    }
    return true;
}

/* ---- PSNs that requests take */

#define MOST_PSNS 0x400000

static uint32_t packets_of(uint32_t length, uint32_t mtu)
{
    uint32_t count = length ? (length - 1) / mtu + 1 : 1;
    return count < MOST_PSNS ? count : MOST_PSNS;
}

bool span_learn(struct span *s, const struct frame_roce *roce)
{
    const struct opcode_row *row = &opcode_rows[OPCODE_OPERATION(roce->bth.opcode)];
    if (s->mtu || !row->payload || !roce->payload_bytes)
        return false;
    s->most = roce->payload_bytes > s->most ? roce->payload_bytes : s->most;
    if (!row->last)
        s->mtu = roce->payload_bytes;
    else if (s->length <= s->most)
        s->length = 0;
    return s->mtu;
}

uint32_t span_kept(const struct span *s)
{
    return packets_of(s->length, s->mtu);
}

uint32_t span_of_answer(const struct span *s, uint32_t length)
{
    return s->mtu ? packets_of(length, s->mtu) : length <= s->most;
}

uint32_t span_count(const struct span *s, const struct frame_roce *roce, uint32_t *loose)
{
    bool read = OPCODE_OPERATION(roce->bth.opcode) == OPCODE_READ_REQUEST;
    uint32_t known = !read || roce->reth.length <= 1 ? 1 : span_of_answer(s, roce->reth.length);
    *loose = 0;
    if (read && roce->cut)
        *loose = MOST_PSNS;
    else if (!known)
        *loose = packets_of(roce->reth.length, s->most ? s->most : 1) - 1;
    return known ? known : 1;
}

uint32_t span_of(struct span *s, const struct frame_roce *roce, uint32_t *loose)
{
    enum opcode_operation operation = OPCODE_OPERATION(roce->bth.opcode);
    bool read = operation == OPCODE_READ_REQUEST;
    bool answered = read || operation == OPCODE_COMPARE_SWAP || operation == OPCODE_FETCH_ADD ||
                    operation == OPCODE_FLUSH || operation == OPCODE_ATOMIC_WRITE;
    uint32_t taken = span_count(s, roce, loose);
    s->reads = s->reads || answered;
    s->others = s->others || !answered;
    s->cut = s->cut || (read && roce->cut);
    s->length = *loose && !roce->cut ? roce->reth.length : 0;
    s->psn = roce->bth.psn;
    return taken;
}

bool span_answers(const struct span *s)
{
    return s->reads && !s->others && !s->cut && (s->mtu || !s->length);
}

/* ---- packets that come before an earlier one */

#define HELD_MASK (HELD_PSNS - 1)

void held_add(struct held *h, uint32_t psn, int32_t ahead, bool ends)
{
    if (ahead >= HELD_PSNS)
        return;
    if (!h->here && !(h->here = calloc(2 * HELD_PSNS / 64, sizeof *h->here)))
        return;
    h->ends = h->here + HELD_PSNS / 64;
    h->count += !early_has(h->here, HELD_MASK, psn);
    early_add(h->here, HELD_MASK, psn);
    if (ends)
        early_add(h->ends, HELD_MASK, psn);
}

bool held_has(const struct held *h, uint32_t psn)
{
    return h->count && early_has(h->here, HELD_MASK, psn);
}

bool held_take(struct held *h, uint32_t psn, bool *ends)
{
    bool here = held_has(h, psn);
    *ends = here && early_has(h->ends, HELD_MASK, psn);
    if (here) {
        early_remove(h->here, HELD_MASK, psn);
        early_remove(h->ends, HELD_MASK, psn);
        h->count--;
    }
    return here;
}

void held_forget(struct held *h, uint32_t from, uint32_t count)
{
    bool ends;
    for (uint32_t i = 0; h->count && i < count && i < HELD_PSNS; i++)
        held_take(h, psn_add(from, i), &ends);
}

/* ---- a queue pair number that is used again */

bool renewal_may_begin(const struct span *s, uint32_t psn, bool behind, uint32_t first)
{
    return !s->reads || !behind || psn_after(psn, first) < 0;
}

void renewal_take(struct renewal *n, const struct frame_roce *roce, uint32_t taken, uint32_t loose)
{
    int32_t ahead = psn_after(roce->bth.psn, n->next);
    if (ahead > 0 && (uint32_t)ahead > n->loose)
        n->ahead = true;
    if (ahead < 0 || n->ahead)
        return;
    n->next = psn_add(roce->bth.psn, taken);
    n->loose = loose;
    if (opcode_rows[OPCODE_OPERATION(roce->bth.opcode)].last)
        messages_end(&n->messages, psn_add(n->next, FRAME_PSN_MASK));
}

/* Its MSN is that of the new connection, if it is less than one of the connection before could be: that
 * counts on, and what comes again has been counted. */
enum renewed renewal_decide(const struct renewal *n, const struct frame_roce *answer, int32_t msn)
{
    const struct opcode_row *row = &opcode_rows[OPCODE_OPERATION(answer->bth.opcode)];
    enum aeth_kind kind = row->aeth ? AETH_KIND(answer->aeth.syndrome) : AETH_ACK;
    bool asks =
        kind == AETH_RNR_NAK || (kind == AETH_NAK && AETH_VALUE(answer->aeth.syndrome) == AETH_NAK_SEQUENCE);
    uint32_t psn = answer->bth.psn, beyond = psn_add(n->next, n->loose + asks);
    if (psn_after(psn, n->first) < 0 || psn_after(psn, beyond) >= 0)
        return asks ? RENEWED_NO : RENEWED_UNKNOWN;
    if (n->far && n->behind)
        return RENEWED_YES; /* both ends are where nobody goes back to */
    if (!row->aeth || answer->cut || n->messages.count > MESSAGES_KEPT)
        return RENEWED_UNKNOWN;
    uint32_t most = n->messages.count, now = answer->aeth.msn, least = 0;
    for (uint32_t i = 0; i < most; i++)
        least += psn_after(n->messages.ends[i], psn) <= (asks ? -1 : 0);
    if (now < least || now > most)
        return RENEWED_NO;
    if (msn < 0)
        return n->far ? RENEWED_YES : RENEWED_UNKNOWN;
    return psn_after(now, psn_add((uint32_t)msn, n->behind ? 0 : least)) < 0 ? RENEWED_YES : RENEWED_UNKNOWN;
}
