/*
 * Software rate limit: a token bucket in its virtual-scheduling form (ITU-T I.371, generic cell rate algorithm): one number,
 * the theoretical time of the next message. Times are picoseconds since the start, so that small messages at high rates add
 * up exactly enough.
 */
#ifndef TRAFFIC_PACING_H
#define TRAFFIC_PACING_H

#include <stdbool.h>
#include <stdint.h>

struct pacing {
    int64_t start_ns;
    int64_t message_ps; /* a message's share of the rate; 0: not paced */
    int64_t credit_ps;  /* how far ahead of the schedule a burst may run */
    int64_t next_ps;
};

/* `burst` messages may leave back to back. rate_bps 0: no limit. */
void pacing_start(struct pacing *pacing, int64_t now_ns, int64_t rate_bps, int64_t burst,
                  int64_t message_bytes);

/* May a message leave now? Takes its share when it may. A caller that comes late by less than a message makes up for it, so
 * that the rate holds over time; a longer pause is not saved up. */
static inline bool pacing_take(struct pacing *pacing, int64_t now_ns)
{
    int64_t now_ps = (now_ns - pacing->start_ns) * 1000;
    if (now_ps + pacing->credit_ps < pacing->next_ps)
        return false;
    if (pacing->next_ps < now_ps - pacing->message_ps)
        pacing->next_ps = now_ps - pacing->message_ps;
    pacing->next_ps += pacing->message_ps;
    return true;
}

#endif
