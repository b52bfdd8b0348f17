#include "traffic/engine/pacing.h"

#define PS_PER_S 1000000000000.0

void pacing_start(struct pacing *pacing, int64_t now_ns, int64_t rate_bps, int64_t burst,
                  int64_t message_bytes)
{
    *pacing = (struct pacing){.start_ns = now_ns};
    if (rate_bps <= 0)
        return;
    double ps = (double)message_bytes * 8.0 * PS_PER_S / (double)rate_bps;
    pacing->message_ps = ps < 1                            ? 1
                         : ps > (double)(INT64_MAX / 1024) ? INT64_MAX / 1024
                                                           : (int64_t)(ps + 0.5);
    double credit = (double)pacing->message_ps * (double)(burst - 1);
    pacing->credit_ps = credit > (double)(INT64_MAX / 4) ? INT64_MAX / 4 : (int64_t)credit;
}
