#include "traffic/engine/engine.h"

#include "lib/clock.h"
#include "lib/roce/completion.h"
#include "lib/text.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define RECEIVE_BATCH 16 /* receives that are posted again together */

/* ---- work requests */

static enum ibv_wr_opcode opcode_of(int operation)
{
    static const enum ibv_wr_opcode opcodes[] = {
        [OP_WRITE] = IBV_WR_RDMA_WRITE,
        [OP_WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
        [OP_READ] = IBV_WR_RDMA_READ,
        [OP_SEND] = IBV_WR_SEND,
    };
    return opcodes[operation];
}

static int make_requests(struct engine *g, struct queue *q, const struct endpoint *peer)
{
    q->requests = calloc(g->list, sizeof *q->requests);
    q->elements = calloc(g->list, sizeof *q->elements);
    q->receives = calloc(g->receive_batch, sizeof *q->receives);
    q->receive_elements = calloc(g->receive_batch, sizeof *q->receive_elements);
    q->post_times_ns = calloc(g->depth + 1, sizeof *q->post_times_ns);
    if (!q->requests || !q->elements || !q->receives || !q->receive_elements || !q->post_times_ns)
        return -1;
    for (uint32_t i = 0; i < g->list; i++) {
        q->elements[i] = (struct ibv_sge){.addr = q->local, .lkey = g->memory->mr->lkey};
        q->requests[i] = (struct ibv_send_wr){
            .next = i + 1 < g->list ? &q->requests[i + 1] : NULL,
            .sg_list = &q->elements[i],
            .num_sge = 1,
            .opcode = opcode_of(g->plan->operation),
            .wr.rdma = {.remote_addr = q->remote, .rkey = (uint32_t)peer->remote_key},
        };
    }
    /* A write with immediate data consumes a receive, but none of its buffer. */
    for (uint32_t i = 0; i < g->receive_batch; i++) {
        q->receive_elements[i] = (struct ibv_sge){.addr = q->incoming, .lkey = g->memory->mr->lkey};
        q->receives[i] = (struct ibv_recv_wr){
            .wr_id = (uint64_t)(q - g->queues),
            .next = i + 1 < g->receive_batch ? &q->receives[i + 1] : NULL,
            .sg_list = &q->receive_elements[i],
            .num_sge = g->plan->operation == OP_SEND,
        };
    }
    return 0;
}

static void free_requests(struct queue *q)
{
    free(q->requests);
    free(q->elements);
    free(q->receives);
    free(q->receive_elements);
    free(q->post_times_ns);
}

int engine_open(struct engine *g, struct connection *connection, struct memory *memory, uint64_t outgoing,
                uint64_t incoming, const struct endpoint *peer, struct error *e)
{
    const struct plan *plan = connection->plan;
    bool reads = plan->operation == OP_READ;
    *g = (struct engine){
        .plan = plan,
        .driver = connection->driver,
        .sends = plan_sends(plan, connection->driver),
        .receives = plan_receives(plan, connection->driver),
        .send_cq = connection->send_cq,
        .receive_cq = connection->receive_cq,
        .memory = memory,
        .count = (uint32_t)plan->queue_pairs,
        .depth = (uint32_t)plan->depth,
        .list = (uint32_t)plan->post_list,
        .receive_batch =
            (uint32_t)(plan->receive_depth < RECEIVE_BATCH ? plan->receive_depth : RECEIVE_BATCH),
        .stride = (uint64_t)plan_stride(plan),
        .slots = (uint64_t)plan->slots,
        .event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
        .queues = calloc((size_t)plan->queue_pairs, sizeof(struct queue)),
        .filling = calloc(1, sizeof(struct histogram)),
        .spare = calloc(1, sizeof(struct histogram)),
    };
    if (!g->queues || !g->filling || !g->spare || g->event_fd < 0)
        return error_set(e, "out of memory for the engine");
    histogram_clear(g->filling);
    histogram_clear(g->spare);
    for (uint32_t i = 0; i < g->count; i++) {
        struct queue *q = &g->queues[i];
        uint64_t offset = i * g->stride * g->slots;
        q->pair = connection->pairs[i];
        q->local = (reads ? incoming : outgoing) + offset;
        q->remote = (uint64_t)(reads ? peer->outgoing_address : peer->incoming_address) + offset;
        q->incoming = incoming + offset;
        if (make_requests(g, q, peer) != 0)
            return error_set(e, "out of memory for work requests");
    }
    return 0;
}

void engine_close(struct engine *g)
{
    for (uint32_t i = 0; g->queues && i < g->count; i++)
        free_requests(&g->queues[i]);
    free(g->queues);
    free(g->filling);
    free(g->spare);
    if (g->plan && g->event_fd >= 0)
        close(g->event_fd);
    *g = (struct engine){.event_fd = -1};
}

/* ---- receives */

/* Slots are filled in the order in which receives were posted, as the sender uses its slots. */
int engine_post_receives(struct engine *g, struct queue *q, uint32_t count)
{
    struct ibv_recv_wr *bad, *last = &q->receives[count - 1], *rest = last->next;
    if (g->slots > 1)
        for (uint32_t i = 0; i < count; i++)
            q->receive_elements[i].addr = q->incoming + (q->posted_receives + i) % g->slots * g->stride;
    q->posted_receives += count;
    last->next = NULL;
    int number = ibv_post_recv(q->pair, q->receives, &bad);
    last->next = rest;
    return number;
}

/* Fill the receive queues. Receives from an earlier size are still posted; they are long enough because they
 * have the largest size. */
static int fill_receives(struct engine *g, struct queue *q, struct error *e)
{
    uint64_t wanted = q->posted_receives ? 0 : (uint64_t)g->plan->receive_depth;
    for (uint32_t i = 0; i < g->receive_batch; i++)
        q->receive_elements[i].length = (uint32_t)g->plan->max_message_bytes;
    while (wanted) {
        uint32_t part = wanted < g->receive_batch ? (uint32_t)wanted : g->receive_batch;
        int number = engine_post_receives(g, q, part);
        if (number)
            return error_set_errno(e, number, "posting receives");
        wanted -= part;
    }
    return 0;
}

/* ---- a phase */

void engine_set_target(struct engine *g, uint64_t target)
{
    g->target = target;
    for (uint32_t i = 0; i < g->count; i++) {
        uint64_t share = target / g->count + (i < target % g->count);
        g->queues[i].limit = target ? g->queues[i].sent_before + share : UINT64_MAX;
    }
}

int engine_prepare(struct engine *g, int64_t message_bytes, uint64_t target, bool pace, struct error *e)
{
    bool inlined = g->plan->operation != OP_READ && message_bytes <= g->plan->inline_bytes &&
                   g->plan->inline_bytes && memory_pointer(g->memory); /* the CPU copies it */
    g->message_bytes = message_bytes;
    g->moderation = (uint32_t)plan_moderation(g->plan, message_bytes);
    g->pace = pace && g->plan->rate_bps > 0;
    g->status = IBV_WC_SUCCESS;
    atomic_store(&g->command, ENGINE_RUN);
    atomic_store(&g->messages, 0);
    atomic_store(&g->received, 0);
    atomic_store(&g->finished, false);
    atomic_store(&g->drained, false);
    atomic_store(&g->failed, false);
    histogram_clear(g->filling);
    histogram_clear(g->spare);
    for (uint32_t i = 0; i < g->count; i++) {
        struct queue *q = &g->queues[i];
        q->sent_before = q->sent;
        for (uint32_t k = 0; k < g->list; k++) {
            q->elements[k].length = (uint32_t)message_bytes;
            q->requests[k].send_flags = inlined ? IBV_SEND_INLINE : 0;
        }
        if (g->receives && fill_receives(g, q, e) != 0)
            return -1;
    }
    engine_set_target(g, target);
    return 0;
}

int engine_start(struct engine *g, struct error *e)
{
    void *(*loop)(void *) = g->plan->mode == MODE_LATENCY ? engine_ping_pong : engine_stream;
    if (g->pace)
        pacing_start(&g->pacing, clock_monotonic_ns(), g->plan->rate_bps, g->plan->burst,
                     g->message_bytes * g->plan->post_list);
    int number = pthread_create(&g->thread, NULL, loop, g);
    g->running = number == 0;
    return number == 0 ? 0 : error_set_errno(e, number, "starting a thread");
}

void engine_tell(struct engine *g, enum engine_command command)
{
    atomic_store_explicit(&g->command, (int)command, memory_order_relaxed);
}

void engine_join(struct engine *g)
{
    if (g->running)
        pthread_join(g->thread, NULL);
    g->running = false;
}

void engine_notify(struct engine *g)
{
    uint64_t one = 1;
    ssize_t n = write(g->event_fd, &one, sizeof one);
    (void)n; /* if it is full, it is already readable */
}

/* ---- failures */

#define VENDOR_BYTE 0xff /* of ibv_wc.vendor_err, all that mlx5 has */

/* The key and the addresses that the access was refused for. */
static void add_key(const struct engine *g, const struct queue *q, bool receiving, struct text *out)
{
    bool remote = g->status == IBV_WC_REM_ACCESS_ERR;
    if (!remote && g->status != IBV_WC_LOC_PROT_ERR)
        return;
    text_add(out, "; %s key 0x%x for %" PRIu64 " bytes at 0x%" PRIx64, remote ? "the other side's" : "local",
             remote ? q->requests->wr.rdma.rkey : g->memory->mr->lkey, g->stride * g->slots,
             remote      ? q->remote
             : receiving ? q->incoming
                         : q->local);
}

void engine_fail_completion(struct engine *g, const struct ibv_wc *wc, const char *queue_name)
{
    struct text said = {0};
    g->status = wc->status;
    g->vendor_error = g->explains_vendor ? (int)(wc->vendor_err & VENDOR_BYTE) : COMPLETION_NO_VENDOR;
    completion_explain((int)g->status, g->vendor_error, &said);
    text_add(&said, " (queue pair 0x%x, %s", wc->qp_num, queue_name);
    if (!g->explains_vendor && wc->vendor_err)
        text_add(&said, ", vendor error 0x%x of another NIC than mlx5", wc->vendor_err);
    for (uint32_t i = 0; i < g->count; i++)
        if (g->queues[i].pair->qp_num == wc->qp_num)
            add_key(g, &g->queues[i], strcmp(queue_name, "receiving") == 0, &said);
    error_set(&g->error, "%s)", text_string(&said));
    text_free(&said);
    atomic_store(&g->failed, true);
    engine_notify(g);
}

void engine_fail_post(struct engine *g, int number, const char *what)
{
    error_set_errno(&g->error, number, "posting %s", what);
    atomic_store(&g->failed, true);
    engine_notify(g);
}

void engine_fail_poll(struct engine *g, const char *queue_name)
{
    error_set(
        &g->error,
        "the completion queue of %s cannot be read: it has overrun, or the device is gone (look at dmesg)",
        queue_name);
    atomic_store(&g->failed, true);
    engine_notify(g);
}

/* ---- what the session reads */

#define SWAP_WAIT_NS                                                                                      \
    (200 * NS_PER_MS) /* a loop that waits for its peer hands over late; its figures are then part of the \
                         next call */

/* True when the thread has handed over the filled histogram as the spare one. */
static bool swap_histograms(struct engine *g)
{
    if (!g->running) {
        struct histogram *full = g->filling;
        g->filling = g->spare;
        g->spare = full;
        return true;
    }
    struct timespec nap = {.tv_nsec = 50000};
    atomic_store(&g->swap, 1);
    for (int64_t end = clock_monotonic_ns() + SWAP_WAIT_NS; clock_monotonic_ns() < end; nanosleep(&nap, NULL))
        if (atomic_load_explicit(&g->swap, memory_order_acquire) == 0)
            return true;
    int wanted = 1; /* withdraw the request, unless the thread is just serving it */
    return !atomic_compare_exchange_strong(&g->swap, &wanted, 0);
}

void engine_take_latency(struct engine *g, struct histogram *latest, struct histogram *total)
{
    histogram_clear(latest);
    if (!swap_histograms(g))
        return;
    histogram_merge(latest, g->spare);
    histogram_clear(g->spare);
    if (total)
        histogram_merge(total, latest);
}

int64_t engine_cpu_ns(const struct engine *g)
{
    clockid_t clock;
    struct timespec t;
    if (!g->running || pthread_getcpuclockid(g->thread, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return 0;
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}
