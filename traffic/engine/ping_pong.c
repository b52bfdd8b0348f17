/*
 * The ping-pong loop: one message in flight, forth and back. The latency is half the round trip, as in
 * perftest. A read needs no answer: its latency is the time of the whole operation.
 */
#include "traffic/engine/engine.h"

#include "lib/clock.h"

#define LOOK_EVERY                                                                           \
    1024 /* polls between checks of the session's command and, with polled memory, of errors \
            \ */

/* State of one side of the exchange. */
struct rally {
    struct engine *g;
    struct queue *q;
    volatile uint8_t *mine,
        *theirs;  /* last byte of the sent and of the received message; NULL unless memory is polled */
    uint8_t ball; /* the value of the next last byte */
};

static bool told(const struct engine *g, enum engine_command command)
{
    return atomic_load_explicit(&g->command, memory_order_relaxed) >= (int)command;
}

/* ---- steps */

/* Poll completions of this side's sends, to free the queue. Returns 1: some, 0: none, -1: failed. */
static int take_sends(struct engine *g, struct queue *q)
{
    struct ibv_wc completion;
    int count = ibv_poll_cq(g->send_cq, 1, &completion);
    if (count > 0 && completion.status != IBV_WC_SUCCESS) {
        engine_fail_completion(g, &completion, "sending");
        return -1;
    }
    if (count > 0)
        q->outstanding--;
    if (count < 0)
        engine_fail_poll(g, "sending");
    return count;
}

/* Wait until this side's message is completed. */
static bool await_own(struct engine *g, struct queue *q)
{
    while (q->outstanding)
        if (take_sends(g, q) < 0 || told(g, ENGINE_QUIT))
            return false;
    return true;
}

/* Send one message after the one before is completed: the queue has room for only one. */
static bool serve_ball(struct rally *r)
{
    struct engine *g = r->g;
    struct ibv_send_wr *bad;
    if (!await_own(g, r->q))
        return false;
    if (r->mine)
        *r->mine = r->ball;
    r->q->requests->send_flags |= IBV_SEND_SIGNALED;
    int number = ibv_post_send(r->q->pair, r->q->requests, &bad);
    if (number) {
        engine_fail_post(g, number, "a work request");
        return false;
    }
    r->q->sent++;
    r->q->outstanding++;
    return true;
}

/* 1: a message has arrived; 0: not yet; -1: failed. */
static int look_at_queue(struct rally *r)
{
    struct engine *g = r->g;
    struct ibv_wc completion;
    int count = ibv_poll_cq(g->receive_cq, 1, &completion);
    if (count == 0)
        return 0;
    if (count < 0) {
        engine_fail_poll(g, "receiving");
        return -1;
    }
    if (completion.status != IBV_WC_SUCCESS) {
        /* a send that failed takes the receives with it: its completion has the cause */
        if (!r->q->outstanding || take_sends(g, r->q) >= 0)
            engine_fail_completion(g, &completion, "receiving");
        return -1;
    }
    if (++r->q->to_repost == g->receive_batch) {
        int number = engine_post_receives(g, r->q, r->q->to_repost);
        r->q->to_repost = 0;
        if (number) {
            engine_fail_post(g, number, "receives");
            return -1;
        }
    }
    return 1;
}

/* Wait for the other side's message. 1: it has arrived; 0: `command` ended the wait; -1: failed. */
static int await_ball(struct rally *r, enum engine_command command)
{
    struct engine *g = r->g;
    for (unsigned polls = 1;; polls++) {
        int got = r->theirs ? *r->theirs == r->ball : look_at_queue(r);
        if (got)
            return got;
        if (polls % LOOK_EVERY)
            continue;
        if (told(g, command))
            return 0;
        if (r->q->outstanding && take_sends(g, r->q) < 0)
            return -1;
        engine_offer_histogram(g);
    }
}

/* ---- the two sides */

static void count_message(struct engine *g, int64_t latency_ns)
{
    uint64_t messages = atomic_load_explicit(&g->messages, memory_order_relaxed) + 1;
    atomic_store_explicit(&g->messages, messages, memory_order_relaxed);
    if (g->driver)
        histogram_add(g->filling, latency_ns);
    engine_offer_histogram(g);
    if (messages == g->target) {
        g->finished_ns = clock_monotonic_ns();
        atomic_store(&g->finished, true);
        engine_notify(g);
    }
}

static bool drive(struct rally *r)
{
    struct engine *g = r->g;
    bool reads = g->plan->operation == OP_READ;
    int64_t begin_ns = clock_monotonic_ns();
    while (!told(g, ENGINE_STOP)) {
        if (atomic_load_explicit(&g->finished, memory_order_relaxed)) {
            engine_offer_histogram(g); /* done; the session decides when to stop */
            continue;
        }
        r->ball++;
        if (!serve_ball(r))
            return false;
        /* complete the current round trip before the next message size starts */
        if (reads ? !await_own(g, r->q) : await_ball(r, ENGINE_QUIT) <= 0)
            return false;
        int64_t end_ns = clock_monotonic_ns();
        count_message(g, reads ? end_ns - begin_ns : (end_ns - begin_ns) / 2);
        begin_ns = end_ns;
    }
    return true;
}

static bool answer(struct rally *r)
{
    while (!told(r->g, ENGINE_STOP)) {
        r->ball++;
        int got = await_ball(r, ENGINE_STOP);
        if (got <= 0)
            return got == 0;
        if (!serve_ball(r))
            return false;
        count_message(r->g, 0);
    }
    return true;
}

/* The arrival of a write is visible only in memory. The session has set the last byte of the receive buffer
 * to 0; the first ball is 1. */
static void watch_memory(struct rally *r)
{
    char *base = memory_pointer(r->g->memory);
    if (r->g->plan->operation != OP_WRITE || !base)
        return;
    r->mine = (volatile uint8_t *)(uintptr_t)(r->q->local + (uint64_t)r->g->message_bytes - 1);
    r->theirs = (volatile uint8_t *)(uintptr_t)(r->q->incoming + (uint64_t)r->g->message_bytes - 1);
}

void *engine_ping_pong(void *argument)
{
    struct engine *g = argument;
    struct rally r = {.g = g, .q = &g->queues[0]};
    watch_memory(&r);
    if (!(g->driver ? drive(&r) : answer(&r)) || !await_own(g, r.q))
        return NULL;
    atomic_store(&g->drained, true);
    engine_notify(g);
    return NULL;
}
