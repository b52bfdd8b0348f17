/*
 * Software rate limit: a token bucket in its virtual-scheduling form (ITU-T I.371, generic cell rate
 * algorithm). Its state is one number, the theoretical time of the next message. Times are picoseconds since
 * the start: this is precise enough for small messages at high rates.
 */
#ifndef TRAFFIC_PACING_H
#define TRAFFIC_PACING_H

#include <stdbool.h>
#include <stdint.h>

#define PACING_PS_PER_S 1000000000000.0

struct pacing {
    int64_t start_ns;
    int64_t message_ps; /* time of a message at the limited rate; 0: not paced */
    int64_t credit_ps;  /* how far ahead of the schedule a burst may run */
    int64_t next_ps;
};

/* `burst` messages may leave back to back. rate_bps 0: no limit. */
static inline void pacing_start(struct pacing *pacing, int64_t now_ns, int64_t rate_bps, int64_t burst,
                                int64_t message_bytes)
{
    *pacing = (struct pacing){.start_ns = now_ns};
    if (rate_bps <= 0)
        return;
    double ps = (double)message_bytes * 8.0 * PACING_PS_PER_S / (double)rate_bps;
    pacing->message_ps = ps < 1                            ? 1
                         : ps > (double)(INT64_MAX / 1024) ? INT64_MAX / 1024
                                                           : (int64_t)(ps + 0.5);
    double credit = (double)pacing->message_ps * (double)(burst - 1);
    pacing->credit_ps = credit > (double)(INT64_MAX / 4) ? INT64_MAX / 4 : (int64_t)credit;
}

/* May a message be sent now? If so, its time is added to the schedule. A delay of the caller by less than a
 * message is made up for, so that the mean rate is kept; longer pauses are not. */
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
