/* The streaming loop: keep every queue pair's window full, poll, count. */
#include "traffic/engine/engine.h"

#include "lib/clock.h"
#include <time.h>

#define POLL_BATCH 16
#define IDLE_NS    (200 * NS_PER_US) /* sleep of a side that has nothing in flight and must not quit yet */

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* ---- posting */

/* The work request id: which queue, and how many messages its completion covers. */
static uint64_t request_id(uint32_t queue, uint32_t covered)
{
    return (uint64_t)covered << 32 | queue;
}

static void set_slots(const struct engine *g, struct queue *q, uint32_t messages)
{
    for (uint32_t i = 0; i < messages; i++) {
        uint64_t offset = (q->sent + i) % g->slots * g->stride;
        q->elements[i].addr = q->local + offset;
        q->requests[i].wr.rdma.remote_addr = q->remote + offset;
    }
}

/* Post `messages` of the chain; `signal`: the last one is signalled. */
static int post(struct engine *g, struct queue *q, uint32_t messages, bool signal)
{
    struct ibv_send_wr *bad, *last = &q->requests[messages - 1], *rest = last->next;
    unsigned flags = last->send_flags;
    if (g->slots > 1)
        set_slots(g, q, messages);
    q->unsignalled += messages;
    if (signal) {
        last->wr_id = request_id((uint32_t)(q - g->queues), q->unsignalled);
        last->send_flags = flags | IBV_SEND_SIGNALED;
        q->unsignalled = 0;
        if (g->plan->latency) {
            q->post_times_ns[q->times_head] = clock_monotonic_ns();
            q->times_head = q->times_head == g->depth ? 0 : q->times_head + 1;
        }
    }
    last->next = NULL;
    int number = ibv_post_send(q->pair, q->requests, &bad);
    last->next = rest;
    last->send_flags = flags;
    q->sent += messages;
    q->outstanding += messages;
    return number;
}

/* Fill one queue pair's window. */
static bool fill(struct engine *g, struct queue *q)
{
    while (q->outstanding + g->list <= g->depth) {
        uint64_t left = q->limit - q->sent;
        uint32_t messages = left < g->list ? (uint32_t)left : g->list;
        if (messages == 0)
            return true;
        if (g->pace && !pacing_take(&g->pacing, clock_monotonic_ns()))
            return true;
        /* Signalled: every moderation-th message, the last one of a count, and the last one before the window
         * is full: otherwise nothing would report that the window is free again. */
        bool signal = q->unsignalled + messages >= g->moderation || messages == left ||
                      q->outstanding + messages + g->list > g->depth;
        int number = post(g, q, messages, signal);
        if (UNLIKELY(number)) {
            engine_fail_post(g, number, "a work request");
            return false;
        }
    }
    return true;
}

/* ---- completions */

static void note_latency(struct engine *g, struct queue *q, int64_t now_ns)
{
    int64_t posted_ns = q->post_times_ns[q->times_tail];
    q->times_tail = q->times_tail == g->depth ? 0 : q->times_tail + 1;
    histogram_add(g->filling, now_ns - posted_ns);
}

static bool poll_sends(struct engine *g)
{
    struct ibv_wc completions[POLL_BATCH];
    int count = ibv_poll_cq(g->send_cq, POLL_BATCH, completions);
    if (LIKELY(count == 0))
        return true;
    int64_t now_ns = g->plan->latency ? clock_monotonic_ns() : 0;
    uint64_t covered = 0;
    for (int i = 0; i < count; i++) {
        if (UNLIKELY(completions[i].status != IBV_WC_SUCCESS)) {
            engine_fail_completion(g, &completions[i], "sending");
            return false;
        }
        struct queue *q = &g->queues[(uint32_t)completions[i].wr_id];
        uint32_t messages = (uint32_t)(completions[i].wr_id >> 32);
        q->outstanding -= messages;
        covered += messages;
        if (g->plan->latency)
            note_latency(g, q, now_ns);
    }
    if (UNLIKELY(count < 0)) {
        engine_fail_poll(g, "sending");
        return false;
    }
    uint64_t messages = atomic_load_explicit(&g->messages, memory_order_relaxed) + covered;
    atomic_store_explicit(&g->messages, messages, memory_order_relaxed);
    return true;
}

/* True also without completions; *taken is their number. */
static bool poll_receives(struct engine *g, int *taken)
{
    struct ibv_wc completions[POLL_BATCH];
    int count = ibv_poll_cq(g->receive_cq, POLL_BATCH, completions);
    *taken = count;
    for (int i = 0; i < count; i++) {
        if (UNLIKELY(completions[i].status != IBV_WC_SUCCESS)) {
            engine_fail_completion(g, &completions[i], "receiving");
            return false;
        }
        struct queue *q = &g->queues[(uint32_t)completions[i].wr_id];
        if (++q->to_repost < g->receive_batch)
            continue;
        int number = engine_post_receives(g, q, q->to_repost);
        q->to_repost = 0;
        if (UNLIKELY(number)) {
            engine_fail_post(g, number, "receives");
            return false;
        }
    }
    if (count > 0) {
        uint64_t received = atomic_load_explicit(&g->received, memory_order_relaxed) + (uint64_t)count;
        atomic_store_explicit(&g->received, received, memory_order_relaxed);
    }
    if (UNLIKELY(count < 0))
        engine_fail_poll(g, "receiving");
    return count >= 0;
}

static bool poll_both(struct engine *g)
{
    int taken;
    if (g->sends && !poll_sends(g))
        return false;
    return !g->receives || poll_receives(g, &taken);
}

/* ---- rest */

/* A virtual ConnectX is a thread of the same machine, often on an emulated processor: the longer nothing
 * comes, the longer it is left to it. */
#define REST_PART  16
#define REST_LEAST (50 * NS_PER_US)
#define REST_MOST  NS_PER_MS

struct idleness {
    uint64_t done;
    int64_t since_ns;
};

static void rest(const struct engine *g, struct idleness *idle)
{
    uint64_t done = atomic_load_explicit(&g->messages, memory_order_relaxed) +
                    atomic_load_explicit(&g->received, memory_order_relaxed);
    int64_t now_ns = clock_monotonic_ns();
    if (done != idle->done || !idle->since_ns)
        *idle = (struct idleness){done, now_ns};
    int64_t part_ns = (now_ns - idle->since_ns) / REST_PART;
    if (part_ns >= REST_LEAST)
        nanosleep(&(struct timespec){.tv_nsec = part_ns < REST_MOST ? part_ns : REST_MOST}, NULL);
}

/* ---- the phases of the loop */

static void finish_target(struct engine *g)
{
    g->finished_ns = clock_monotonic_ns();
    atomic_store(&g->finished, true);
    engine_notify(g);
}

static bool stream_run(struct engine *g)
{
    uint32_t first = 0;
    struct idleness idle = {0};
    while (atomic_load_explicit(&g->command, memory_order_relaxed) == ENGINE_RUN) {
        if (g->sends) {
            /* start with another queue pair each time, so that they share a rate limit fairly */
            for (uint32_t i = 0, at = first; i < g->count; i++, at = at + 1 == g->count ? 0 : at + 1)
                if (!fill(g, &g->queues[at]))
                    return false;
            first = first + 1 == g->count ? 0 : first + 1;
        }
        if (!poll_both(g))
            return false;
        if (g->plan->latency)
            engine_offer_histogram(g);
        if (UNLIKELY(g->target && g->sends) && !atomic_load_explicit(&g->finished, memory_order_relaxed) &&
            atomic_load_explicit(&g->messages, memory_order_relaxed) == g->target)
            finish_target(g);
        if (UNLIKELY(g->rests))
            rest(g, &idle);
    }
    return true;
}

/* Send one more signalled message: its completion shows that all messages before it are completed. The window
 * has room for it, because a full window always ends with a signalled message. */
static bool flush(struct engine *g, struct queue *q)
{
    int number = q->unsignalled ? post(g, q, 1, true) : 0;
    if (number)
        engine_fail_post(g, number, "the last work request");
    return number == 0;
}

static bool drain(struct engine *g)
{
    struct idleness idle = {0};
    for (uint32_t i = 0; i < g->count; i++) {
        if (!flush(g, &g->queues[i]))
            return false;
        while (g->queues[i].outstanding) {
            if (!poll_both(g) || atomic_load_explicit(&g->command, memory_order_relaxed) == ENGINE_QUIT)
                return false;
            if (g->rests)
                rest(g, &idle);
        }
    }
    atomic_store(&g->drained, true);
    engine_notify(g);
    return true;
}

/* The other side may still be sending: receive until told to quit. */
static bool receive_on(struct engine *g)
{
    struct timespec nap = {.tv_nsec = IDLE_NS};
    int taken = 0;
    while (atomic_load_explicit(&g->command, memory_order_relaxed) != ENGINE_QUIT) {
        if (g->receives && !poll_receives(g, &taken))
            return false;
        if (taken == 0)
            nanosleep(&nap, NULL);
        if (g->plan->latency)
            engine_offer_histogram(g);
    }
    do {
        if (g->receives && !poll_receives(g, &taken))
            return false;
    } while (taken > 0);
    return true;
}

void *engine_stream(void *argument)
{
    struct engine *g = argument;
    if (stream_run(g) && drain(g))
        receive_on(g);
    return NULL;
}
