// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/ethernet/ethernet.h"

#define MOST_STEPS   128u /* in a poll: entries taken and frames sent */
#define TURN_STEPS   8u   /* of a queue, before the next one's turn */
#define MOST_FLUSHES 16u  /* of a queue in error, in a poll */

static int start(struct vcx_device *device)
{
    device->steering = vcx_allocate(sizeof *device->steering);
    return device->steering ? 0 : -1;
}

static void stop(struct vcx_device *device)
{
    vcx_release(device->steering);
    device->steering = NULL;
}

static struct vcx_sq *next_sq(struct vcx_device *device)
{
    struct vcx_sq *sq = vcx_object_from(device, VCX_SQ, device->steering->next_sq);
    sq = sq ? sq : vcx_object_from(device, VCX_SQ, 0);
    device->steering->next_sq = sq ? sq->wq.object.id + 1 : 0;
    return sq;
}

/* Returns how many steps were made. */
static uint32_t turn(struct vcx_device *device, struct vcx_sq *sq, uint32_t most)
{
    uint32_t steps = 0;
    while (steps < most && sq->wq.state == VCX_WQ_READY && vcx_sq_step(device, sq))
        steps++;
    if (sq->wq.state == VCX_WQ_ERROR)
        steps += vcx_wq_flush(device, &sq->wq, MOST_FLUSHES);
    return steps;
}

static bool flush_receive_queues(struct vcx_device *device)
{
    bool busy = false;
    for (struct vcx_rq *rq = vcx_object_from(device, VCX_RQ, 0); rq;
         rq = vcx_object_from(device, VCX_RQ, rq->wq.object.id + 1))
        if (rq->wq.state == VCX_WQ_ERROR)
            busy |= vcx_wq_flush(device, &rq->wq, MOST_FLUSHES);
    return busy;
}

bool vcx_ethernet_poll(struct vcx_device *device)
{
    uint32_t left = MOST_STEPS;
    for (uint32_t i = device->numbers[VCX_SQ].used; i && left; i--)
        left -= turn(device, next_sq(device), (uint32_t)vcx_least(left, TURN_STEPS));
    return flush_receive_queues(device) || left != MOST_STEPS;
}

const struct vcx_room vcx_room_ethernet = {.start = start, .stop = stop, .poll = vcx_ethernet_poll};
