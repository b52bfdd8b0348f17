/*
 * The data path of one side of a flow: one thread that only posts work requests and polls completions. The
 * flow's side (flow_side.h) prepares it, tells it to stop, reads its counters and takes the times. Therefore
 * the loop reads the clock only for latency or pacing.
 */
#ifndef TRAFFIC_ENGINE_H
#define TRAFFIC_ENGINE_H

#include "lib/error.h"
#include "lib/statistics/histogram.h"
#include "traffic/connection/connection.h"
#include "traffic/memory/memory.h"
#include "traffic/engine/pacing.h"
#include <pthread.h>
#include <stdatomic.h>

enum engine_command {
    ENGINE_RUN,
    ENGINE_STOP, /* stop posting, complete the messages in flight, continue to receive */
    ENGINE_QUIT,
};

/* One queue pair's work requests. */
struct queue {
    struct ibv_qp *pair;
    struct ibv_send_wr *requests; /* a chain of plan->post_list */
    struct ibv_sge *elements;
    struct ibv_recv_wr *receives; /* a chain of receive_batch */
    struct ibv_sge *receive_elements;
    uint64_t local, remote;         /* first slot of what is sent: here, and at the peer */
    uint64_t incoming;              /* first slot of what is received */
    uint32_t outstanding;           /* posted and not known to be completed */
    uint32_t unsignalled;           /* of these, since the last signalled one */
    uint32_t to_repost;             /* receives that are completed and not posted again */
    uint64_t sent, posted_receives; /* in all; they determine the slots */
    uint64_t limit;                 /* upper limit of sent: the queue pair's share of the target */
    uint64_t sent_before;           /* of these, in earlier phases */
    int64_t *post_times_ns;         /* ring of signalled posts, when latency is measured */
    uint32_t times_head, times_tail;
};

struct engine {
    /* set by engine_open and engine_prepare, constant while the thread runs */
    const struct plan *plan;
    bool driver, sends, receives;
    bool explains_vendor; /* set by the caller: the NIC's vendor errors are those of lib/roce/completion.h */
    struct ibv_cq *send_cq, *receive_cq;
    struct memory *memory;
    struct queue *queues;
    uint32_t count, depth, list, receive_batch, moderation;
    uint64_t stride, slots;
    int64_t message_bytes;
    uint64_t target; /* messages to send; 0: until stopped */
    bool pace;
    bool rests; /* between polls that find nothing: the processor makes the device too */
    struct pacing pacing;
    int event_fd; /* becomes readable when `finished`, `drained` or `failed` becomes true */

    /* between the thread and the session */
    _Alignas(64) atomic_int command;
    atomic_int swap; /* 1: the session requests the histogram that is being filled */
    _Alignas(64) atomic_uint_fast64_t messages; /* completed */
    atomic_uint_fast64_t received;
    atomic_bool finished; /* `target` is reached */
    atomic_bool drained;
    atomic_bool failed;
    int64_t finished_ns; /* CLOCK_MONOTONIC, valid once finished */

    /* used only by the thread */
    struct histogram *filling, *spare;
    struct error error;        /* valid once failed */
    enum ibv_wc_status status; /* of the completion that failed, or success */
    int vendor_error;          /* beside it; COMPLETION_NO_VENDOR: of a NIC that is not mlx5 */
    pthread_t thread;
    bool running;
};

/* Create the work requests for connected queue pairs; `peer` has the addresses of its memory. */
int engine_open(struct engine *g, struct connection *connection, struct memory *memory, uint64_t outgoing,
                uint64_t incoming, const struct endpoint *peer, struct error *e);
void engine_close(struct engine *g);
/* Prepare for messages of this size and post receives. The thread must not be running. */
int engine_prepare(struct engine *g, int64_t message_bytes, uint64_t target, bool pace, struct error *e);
/* Set the number of messages to send, divided among the queue pairs; 0: until stopped. engine_prepare also
 * sets it. */
void engine_set_target(struct engine *g, uint64_t target);
/* Start the thread. */
int engine_start(struct engine *g, struct error *e);
void engine_tell(struct engine *g, enum engine_command command);
/* Wait for the thread to end after ENGINE_QUIT or a failure. */
void engine_join(struct engine *g);

/* Add what was measured since the last call to *total (may be NULL) and to *latest, which is cleared
 * before. */
void engine_take_latency(struct engine *g, struct histogram *latest, struct histogram *total);
/* CPU time of the thread, while it runs or after its end. */
int64_t engine_cpu_ns(const struct engine *g);

/* The two loops: thread functions. */
void *engine_stream(void *argument);
void *engine_ping_pong(void *argument);

/* Functions for the loops. */
void engine_notify(struct engine *g);
void engine_fail_completion(struct engine *g, const struct ibv_wc *wc, const char *queue_name);
void engine_fail_post(struct engine *g, int number, const char *what);
/* A poll of a completion queue returned a negative number, which is no errno. */
void engine_fail_poll(struct engine *g, const char *queue_name);
int engine_post_receives(struct engine *g, struct queue *q, uint32_t count);
/* Call this where latencies are added: it hands over the histogram when the session requests it. */
static inline void engine_offer_histogram(struct engine *g)
{
    if (__builtin_expect(atomic_load_explicit(&g->swap, memory_order_acquire), 0)) {
        struct histogram *full = g->filling;
        g->filling = g->spare;
        g->spare = full;
        atomic_store_explicit(&g->swap, 0, memory_order_release);
    }
}

#endif
