#include "harness/verify/go_back_n/messages.h"

#include "harness/verify/psn.h"

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
    if (!m->based) {
        m->based = true;
        m->first_msn = msn;
        m->base_least = -(int32_t)m->count;
        m->base_most = behind - (int32_t)m->count;
        return true;
    }
    int32_t of = psn_after(msn, m->first_msn), count = (int32_t)m->count;
    int32_t least_base = of - count, most_base = of - count + behind;
    if (least_base > m->base_most || most_base < m->base_least) {
        *least = (m->first_msn + (uint32_t)(m->base_least + count - behind)) & FRAME_PSN_MASK;
        *most = (m->first_msn + (uint32_t)(m->base_most + count)) & FRAME_PSN_MASK;
        m->based = false;
        return false;
    }
    m->base_least = least_base > m->base_least ? least_base : m->base_least;
    m->base_most = most_base < m->base_most ? most_base : m->base_most;
    return true;
}
