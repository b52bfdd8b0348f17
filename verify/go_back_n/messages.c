#include "verify/go_back_n/messages.h"

#include "verify/psn.h"

void messages_end(struct messages *m, uint32_t psn)
{
    m->ends[m->count++ % MESSAGES_KEPT] = psn;
}

void messages_forget(struct messages *m)
{
    m->count = 0;
    m->based = false;
}

/* Messages that ended behind this PSN; -1: all that are kept, so there may be more, or the PSN is from before the capture. */
static int ended_behind(const struct messages *m, uint32_t psn)
{
    int behind = 0, kept = m->count < MESSAGES_KEPT ? (int)m->count : MESSAGES_KEPT;
    for (int i = 0; i < kept; i++)
        behind += psn_after(m->ends[i], psn) > 0;
    return behind == kept ? -1 : behind;
}

bool messages_fit(struct messages *m, uint32_t psn, uint32_t msn, uint32_t *least, uint32_t *most)
{
    int behind = ended_behind(m, psn);
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
