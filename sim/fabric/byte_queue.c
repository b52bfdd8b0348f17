#include "sim/fabric/byte_queue.h"

#define HOLD_PS INT64_C(1000000000000)

void byte_queue_init(struct byte_queue *q, int64_t most_bytes)
{
    *q = (struct byte_queue){.most = most_bytes, .least_slack = INT64_MAX};
}

void byte_queue_add(struct byte_queue *q, int64_t bytes)
{
    q->last_bytes = bytes;
    q->queued += bytes;
}

static int64_t above(int64_t a, int64_t b)
{
    return a > b ? a - b : 0;
}

static void forget_slack(struct byte_queue *q, int64_t now_ps)
{
    q->slack_since_ps = now_ps;
    q->least_slack = INT64_MAX;
}

/* The device was busy since the last completion: how much of the limit was not needed? */
static int64_t shrink(struct byte_queue *q, int64_t limit, int64_t completed, int64_t now_ps)
{
    int64_t slack = above(limit + q->previous_over, 2 * (completed - q->completed));
    int64_t last = q->previous_over ? above(q->previous_last_bytes, q->previous_over) : 0;
    if (last > slack)
        slack = last;
    if (slack < q->least_slack)
        q->least_slack = slack;
    if (now_ps <= q->slack_since_ps + HOLD_PS)
        return limit;
    limit = above(limit, q->least_slack);
    forget_slack(q, now_ps);
    return limit;
}

void byte_queue_complete(struct byte_queue *q, int64_t bytes, int64_t now_ps)
{
    int64_t completed = q->completed + bytes, limit = q->limit;
    int64_t over = above(q->queued - q->completed, limit), left = q->queued - completed;
    int64_t left_before = q->previous_queued - q->completed;
    bool all_before = completed >= q->previous_queued;
    if ((over && !left) || (q->previous_over && all_before)) {
        limit += above(completed, q->previous_queued) + q->previous_over;
        forget_slack(q, now_ps);
    } else if (left && left_before && !all_before) {
        limit = shrink(q, limit, completed, now_ps);
    }
    if (limit > q->most)
        limit = q->most;
    if (limit != q->limit) {
        q->limit = limit;
        over = 0;
    }
    q->previous_over = over;
    q->previous_last_bytes = q->last_bytes;
    q->completed = completed;
    q->previous_queued = q->queued;
}
