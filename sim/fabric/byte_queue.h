/*
 * Linux's byte queue limits: how many bytes a network device is given before some must be completed. The
 * limit grows when the device ran dry while the stack was held back, and shrinks by what stayed unused for a
 * second (linux lib/dynamic_queue_limits.c; Herbert, "BQL: Byte Queue Limits", 2011).
 */
#ifndef SIM_BYTE_QUEUE_H
#define SIM_BYTE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct byte_queue {
    int64_t limit, most;       /* bytes; `most`: upper bound of the limit */
    int64_t queued, completed; /* ever */
    int64_t previous_queued;   /* at the last completion */
    int64_t last_bytes,
        previous_last_bytes; /* the latest packet queued, and the latest at the last completion */
    int64_t previous_over;   /* beyond the limit, at the last completion */
    int64_t least_slack;
    int64_t slack_since_ps;
};

void byte_queue_init(struct byte_queue *q, int64_t most_bytes);
/* May one more packet be queued? The last one may go beyond the limit. */
static inline bool byte_queue_open(const struct byte_queue *q)
{
    return q->queued - q->completed <= q->limit;
}
void byte_queue_add(struct byte_queue *q, int64_t bytes);
void byte_queue_complete(struct byte_queue *q, int64_t bytes, int64_t now_ps);

#endif
