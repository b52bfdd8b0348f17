/*
 * The CPU time of roce-traffic's streaming loop per message: the real loop over verbs that complete
 * everything at once and touch no device. A ConnectX-4 Lx at 25 Gb/s takes a small message every 265 ns (3.77
 * Mmsg/s: remote-lab.net, March 2026), so the loop must stay well below that to leave the NIC the limit. The
 * time depends on the machine, so the limit is a ratio against a loop of the same run (bench/reference.h).
 */
#include "bench/reference.h"
#include "lib/clock.h"
#include "traffic/engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUN_NS (NS_PER_S / 2)
#define RING   (1 << 16)

/* Steps of the reference loop for a small message. */
#define STEPS_A_MESSAGE 1.0

/* Verbs that complete at once: a ring of completions of signalled work requests. */
static struct {
    uint64_t ids[RING];
    uint32_t head, tail;
} ring;

static int post_send(struct ibv_qp *pair, struct ibv_send_wr *request, struct ibv_send_wr **bad)
{
    (void)pair;
    (void)bad;
    for (; request; request = request->next)
        if (request->send_flags & IBV_SEND_SIGNALED)
            ring.ids[ring.head++ % RING] = request->wr_id;
    return 0;
}

static int poll_cq(struct ibv_cq *queue, int room, struct ibv_wc *completions)
{
    int count = 0;
    (void)queue;
    for (; count < room && ring.tail != ring.head; count++) {
        completions[count].status = IBV_WC_SUCCESS;
        completions[count].wr_id = ring.ids[ring.tail++ % RING];
    }
    return count;
}

/* Nanoseconds a message. */
static double measure(struct plan *plan, int64_t message_bytes)
{
    struct ibv_context context = {.ops = {.post_send = post_send, .poll_cq = poll_cq}};
    struct ibv_cq queue = {.context = &context};
    struct ibv_qp *pairs = calloc((size_t)plan->queue_pairs, sizeof *pairs);
    struct ibv_qp **list = calloc((size_t)plan->queue_pairs, sizeof(struct ibv_qp *));
    struct ibv_mr region = {.lkey = 1};
    struct memory memory = {.mr = &region};
    struct endpoint peer = {.remote_key = 2};
    struct connection connection = {
        .plan = plan, .driver = true, .pairs = list, .send_cq = &queue, .receive_cq = &queue};
    struct engine *g = aligned_alloc(_Alignof(struct engine), sizeof *g);
    struct timespec run = {.tv_nsec = RUN_NS};
    struct error e = {{0}};
    double ns = -1;
    if (!pairs || !list || !g)
        return -1;
    for (int64_t i = 0; i < plan->queue_pairs; i++) {
        pairs[i].context = &context;
        list[i] = &pairs[i];
    }
    memset(&ring, 0, sizeof ring);
    if (engine_open(g, &connection, &memory, 4096, 8192, &peer, &e) == 0 &&
        engine_prepare(g, message_bytes, 0, true, &e) == 0) {
        int64_t begin_ns = clock_monotonic_ns();
        if (engine_start(g, &e) == 0) {
            nanosleep(&run, NULL);
            /* CPU time: others on this machine do not count */
            int64_t cpu_ns = engine_cpu_ns(g);
            uint64_t messages = atomic_load(&g->messages);
            ns = messages ? (double)cpu_ns / (double)messages : (double)(clock_monotonic_ns() - begin_ns);
            engine_tell(g, ENGINE_QUIT);
            engine_join(g);
        }
    }
    engine_close(g);
    free(g);
    free(list);
    free(pairs);
    return ns;
}

int main(void)
{
    static const struct {
        const char *what;
        struct plan plan;
        int64_t message_bytes;
    } cases[] = {
        {"1 queue pair, 2 B", {.queue_pairs = 1, .post_list = 1}, 2},
        {"16 queue pairs, 2 B", {.queue_pairs = 16, .post_list = 1}, 2},
        {"1 queue pair, 2 B, lists of 16", {.queue_pairs = 1, .post_list = 16}, 2},
        {"1 queue pair, 2 B, 16 slots", {.queue_pairs = 1, .post_list = 1, .slots = 16}, 2},
        {"1 queue pair, 64 KiB (every message signalled)", {.queue_pairs = 1, .post_list = 1}, 65536},
        {"1 queue pair, 64 KiB, latency of every message",
         {.queue_pairs = 1, .post_list = 1, .latency = 1},
         65536},
    };
    double step_ns = reference_ns();
    bool holds = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan plan = cases[i].plan;
        plan.depth = 128;
        plan.receive_depth = 1;
        plan.max_message_bytes = cases[i].message_bytes;
        plan.slots = plan.slots ? plan.slots : 1;
        double ns = measure(&plan, cases[i].message_bytes);
        printf("loop: %s: %.1f ns a message, %.2f steps of %.1f ns\n", cases[i].what, ns, ns / step_ns,
               step_ns);
        holds &= ns > 0;
        if (cases[i].message_bytes == 2)
            holds &= at_most(cases[i].what, ns / step_ns, STEPS_A_MESSAGE);
    }
    return !holds;
}
