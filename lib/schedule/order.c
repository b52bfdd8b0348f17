/* A schedule on a network without limits: which operations ever end, and when at the earliest. */
#include "lib/schedule/parts.h"
#include <stdlib.h>

enum { BEGUN = 1, ARRIVED = 2, ENDED = 4, ON_WAY = 8 };

struct play {
    const struct schedule *s;
    double ns_per_byte, latency_ns;
    uint32_t *left;  /* waits of each operation */
    uint8_t *state;  /* of each operation */
    double *at_ns;   /* when it may begin; of a send that has begun, when it has arrived */
    uint32_t *queue; /* of those that may begin */
    uint32_t tail, ended;
    double last_ns;
};

static void release_waiting(struct play *p, uint32_t i, bool on_start, double ns)
{
    const struct schedule *s = p->s;
    for (uint32_t k = s->first_after[i]; k < s->first_after[i + 1]; k++) {
        uint32_t next = s->after[k] >> 1;
        if ((bool)(s->after[k] & 1) != on_start)
            continue;
        p->at_ns[next] = ns > p->at_ns[next] ? ns : p->at_ns[next];
        if (--p->left[next] == 0)
            p->queue[p->tail++] = next;
    }
}

static void end_operation(struct play *p, uint32_t i, double ns)
{
    p->state[i] |= ENDED;
    p->ended++;
    p->last_ns = ns > p->last_ns ? ns : p->last_ns;
    release_waiting(p, i, false, ns);
}

static void end_recv(struct play *p, uint32_t i)
{
    double data_ns = p->at_ns[p->s->match[i]];
    end_operation(p, i, data_ns > p->at_ns[i] ? data_ns : p->at_ns[i]);
}

static void begin_operation(struct play *p, uint32_t i)
{
    const struct schedule_operation *op = &p->s->operations[i];
    p->state[i] |= BEGUN;
    release_waiting(p, i, true, p->at_ns[i]);
    if (op->type == SCHEDULE_CALC) {
        end_operation(p, i, p->at_ns[i] + (double)op->size);
    } else if (op->type == SCHEDULE_SEND) {
        uint32_t recv = p->s->match[i];
        p->at_ns[i] += (double)op->size * p->ns_per_byte + p->latency_ns;
        end_operation(p, i, p->at_ns[i]);
        p->state[recv] |= ARRIVED;
        if (p->state[recv] & BEGUN)
            end_recv(p, recv);
    } else if (p->state[i] & ARRIVED) {
        end_recv(p, i);
    }
}

/* -1: out of memory. */
static int play_schedule(struct play *p, struct error *e)
{
    const struct schedule *s = p->s;
    size_t n = s->operation_count;
    p->left = calloc(n + 1, sizeof *p->left);
    p->state = calloc(n + 1, sizeof *p->state);
    p->at_ns = calloc(n + 1, sizeof *p->at_ns);
    p->queue = calloc(n + 1, sizeof *p->queue);
    if (!p->left || !p->state || !p->at_ns || !p->queue)
        return error_set(e, "%.160s: out of memory", s->name);
    for (uint32_t i = 0; i < n; i++)
        if (!(p->left[i] = s->wait_count[i]))
            p->queue[p->tail++] = i;
    for (uint32_t head = 0; head < p->tail; head++)
        begin_operation(p, p->queue[head]);
    return 0;
}

static void play_free(struct play *p)
{
    free(p->left);
    free(p->state);
    free(p->at_ns);
    free(p->queue);
}

/* Each that does not end waits for another one that does not: these ways lead to a ring. */
static int name_ring(struct play *p, struct error *e)
{
    const struct schedule *s = p->s;
    uint32_t *before = p->queue, at = 0; /* the queue is empty */
    for (uint32_t i = 0; i < s->operation_count; i++)
        if (!(p->state[i] & ENDED))
            before[at = i] = s->operations[i].type == SCHEDULE_RECV && p->state[i] & BEGUN ? s->match[i] : i;
    for (size_t d = s->waits_added; d > 0; d--) {
        const struct schedule_wait *wait = &s->waits[d - 1];
        if (!(p->state[wait->operation] & BEGUN) &&
            !(p->state[wait->before] & (wait->on_start ? BEGUN : ENDED)))
            before[wait->operation] = wait->before;
    }
    for (; !(p->state[at] & ON_WAY); at = before[at])
        p->state[at] |= ON_WAY;
    char where[60];
    schedule_where(s, before[at], where, sizeof where);
    return schedule_error(s, at, e, "this operation requires itself, by way of the one on %s", where);
}

int schedule_check_order(const struct schedule *s, struct error *e)
{
    struct play p = {.s = s};
    int result = play_schedule(&p, e);
    if (result == 0 && p.ended < s->operation_count)
        result = name_ring(&p, e);
    play_free(&p);
    return result;
}

/* The load of a rank: what it sends, what it receives, what each of its CPUs computes. */
static double busiest_of(const struct schedule *s, uint32_t rank, double ns_per_byte)
{
    double load[2 + SCHEDULE_MOST_PLACES] = {0}, most = 0;
    for (uint32_t i = s->first[rank]; i < s->first[rank + 1]; i++) {
        const struct schedule_operation *op = &s->operations[i];
        double *of = op->type == SCHEDULE_CALC ? &load[2 + op->cpu] : &load[op->type == SCHEDULE_RECV];
        *of += (double)op->size * (op->type == SCHEDULE_CALC ? 1 : ns_per_byte);
        most = *of > most ? *of : most;
    }
    return most;
}

int schedule_least_ns(const struct schedule *s, double ns_per_byte, double latency_ns, double *ns,
                      struct error *e)
{
    struct play p = {.s = s, .ns_per_byte = ns_per_byte, .latency_ns = latency_ns};
    int result = play_schedule(&p, e);
    *ns = p.last_ns;
    for (uint32_t r = 0; result == 0 && r < s->rank_count; r++) {
        double busiest_ns = busiest_of(s, r, ns_per_byte);
        *ns = busiest_ns > *ns ? busiest_ns : *ns;
    }
    play_free(&p);
    return result;
}
