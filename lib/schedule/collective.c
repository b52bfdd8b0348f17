#include "lib/schedule/collective.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

#define NONE             UINT32_MAX
#define PIECE_BYTES      (512 << 10) /* a slot of NCCL's buffers: 4 MiB in 8 steps */
#define MOST_PIECES      64
#define MOST_RANKS_BYTES (INT64_C(1) << 46)

struct run {
    struct schedule *s;
    const struct collective *c;
    const int64_t *begin;
    const int64_t *end;
    int64_t *at; /* of each place: what its next send waits for */
    uint32_t channel, tag;
};

/* Where part k of n equal ones begins. */
static int64_t cut(int64_t bytes, uint32_t n, uint32_t k)
{
    return bytes / n * k + bytes % n * k / n;
}

static int64_t part(int64_t bytes, uint32_t n, uint32_t k)
{
    return cut(bytes, n, k + 1) - cut(bytes, n, k);
}

/* A send to or recv from `other`, after `before` and before the end. */
static int64_t add(struct run *run, enum schedule_type type, uint32_t place, uint32_t other, int64_t bytes,
                   int64_t before, struct error *e)
{
    const struct collective *c = run->c;
    const struct schedule_operation operation = {
        .type = (uint8_t)type, .size = bytes, .peer = c->ranks[other], .tag = run->tag, .line = c->line};
    if (run->s->operation_count >= c->most_operations)
        return error_set(e, "%.160s: more than %u sends, recvs and computations", run->s->name,
                         c->most_operations);
    int64_t added = schedule_add(run->s, c->ranks[place], &operation, e);
    if (added < 0 || (before >= 0 && schedule_add_wait(run->s, added, before, false, e) != 0) ||
        schedule_add_wait(run->s, run->end[place], added, false, e) != 0)
        return -1;
    return added;
}

/* The place sends to one and receives from another; its next step waits for what it receives. */
static int step(struct run *run, uint32_t place, uint32_t to, int64_t sent, uint32_t from, int64_t received,
                struct error *e)
{
    if (sent && add(run, SCHEDULE_SEND, place, to, sent, run->at[place], e) < 0)
        return -1;
    int64_t recv = received ? add(run, SCHEDULE_RECV, place, from, received, run->begin[place], e) : -1;
    if (received && recv < 0)
        return -1;
    run->at[place] = received ? recv : run->at[place];
    return 0;
}

/* ---- by steps in which each place takes part */

/* Reduce-scatter has the first n - 1 steps, all-gather the last. */
static int ring(struct run *run, int64_t bytes, struct error *e)
{
    const enum collective_op op = run->c->op;
    uint32_t n = run->c->count, first = op == COLLECTIVE_ALL_GATHER ? n - 1 : 0,
             end = op == COLLECTIVE_REDUCE_SCATTER ? n - 1 : 2 * n - 2;
    for (uint32_t t = first; t < end; t++)
        for (uint32_t p = 0; p < n; p++) {
            /* each channel's ring begins with another part */
            uint32_t k = (p + 2 * n - 1 - t + run->channel % n) % n;
            if (step(run, p, (p + 1) % n, part(bytes, n, k), (p + n - 1) % n, part(bytes, n, (k + n - 1) % n),
                     e) != 0)
                return -1;
        }
    return 0;
}

/* All places exchange with those at a distance: of the parts that both have, each gets those on its side. */
static int exchange(struct run *run, int64_t bytes, uint32_t distance, bool halve, struct error *e)
{
    uint32_t n = run->c->count;
    for (uint32_t p = 0; p < n; p++) {
        uint32_t other = p ^ distance, of_place = p & ~(distance - 1), of_other = other & ~(distance - 1);
        int64_t own = cut(bytes, n, of_place + distance) - cut(bytes, n, of_place),
                others = cut(bytes, n, of_other + distance) - cut(bytes, n, of_other);
        if (step(run, p, other, halve ? others : own, other, halve ? own : others, e) != 0)
            return -1;
    }
    return 0;
}

static int halving_doubling(struct run *run, int64_t bytes, struct error *e)
{
    const enum collective_op op = run->c->op;
    for (uint32_t d = run->c->count / 2; d > 0 && op != COLLECTIVE_ALL_GATHER; d /= 2)
        if (exchange(run, bytes, d, true, e) != 0)
            return -1;
    for (uint32_t d = 1; d < run->c->count && op != COLLECTIVE_REDUCE_SCATTER; d *= 2)
        if (exchange(run, bytes, d, false, e) != 0)
            return -1;
    return 0;
}

static int all_to_all(struct run *run, int64_t bytes, struct error *e)
{
    uint32_t n = run->c->count;
    for (uint32_t r = 1; r < n; r++)
        for (uint32_t p = 0; p < n; p++)
            if (step(run, p, (p + r) % n, part(bytes, n, (p + r) % n), (p + n - r) % n, part(bytes, n, p),
                     e) != 0)
                return -1;
    return 0;
}

static int send_recv(struct run *run, int64_t bytes, struct error *e)
{
    uint32_t n = run->c->count;
    for (uint32_t p = 0; p < n; p++)
        if (step(run, p, (p + 1) % n, bytes, (p + n - 1) % n, bytes, e) != 0)
            return -1;
    return 0;
}

static int barrier(struct run *run, struct error *e)
{
    uint32_t n = run->c->count;
    for (uint32_t d = 1; d < n; d *= 2)
        for (uint32_t p = 0; p < n; p++)
            if (step(run, p, (p + d) % n, 1, (p + n - d) % n, 1, e) != 0)
                return -1;
    return 0;
}

static int gather_or_scatter(struct run *run, int64_t bytes, struct error *e)
{
    uint32_t n = run->c->count, root = run->c->root;
    bool gathers = run->c->op == COLLECTIVE_GATHER;
    for (uint32_t p = 0; p < n; p++) {
        uint32_t from = gathers ? p : root, to = gathers ? root : p;
        int64_t size = part(bytes, n, p);
        if (p != root && size &&
            (add(run, SCHEDULE_SEND, from, to, size, run->begin[from], e) < 0 ||
             add(run, SCHEDULE_RECV, to, from, size, run->begin[to], e) < 0))
            return -1;
    }
    return 0;
}

/* ---- along trees */

/* Of a place in NCCL's binary tree: the number with the next higher bit set in place of its lowest one. */
static uint32_t binary_parent(uint32_t place, uint32_t n)
{
    if (!place)
        return NONE;
    uint32_t bit = place & -place, up = (place ^ bit) | bit << 1;
    return up < n ? up : place ^ bit;
}

/* The second tree: shifted by one if n is odd, otherwise mirrored. */
static uint32_t second_parent(uint32_t place, uint32_t n)
{
    uint32_t up = n % 2 ? binary_parent((place + n - 1) % n, n) : binary_parent(n - 1 - place, n);
    if (up == NONE)
        return NONE;
    return n % 2 ? (up + 1) % n : n - 1 - up;
}

enum shape { CHAIN, BINOMIAL, FIRST_BINARY, SECOND_BINARY };

static uint32_t parent_of(const struct run *run, enum shape shape, uint32_t place)
{
    uint32_t n = run->c->count, from_root = (place + n - run->c->root) % n;
    if (shape == FIRST_BINARY)
        return binary_parent(place, n);
    if (shape == SECOND_BINARY)
        return second_parent(place, n);
    if (!from_root)
        return NONE;
    uint32_t up = shape == CHAIN ? from_root - 1 : from_root & (from_root - 1);
    return (up + run->c->root) % n;
}

/* Messages of one piece: with its parent each place has these. */
struct edge {
    uint32_t parent;
    int64_t up_send, up_recv, down_send, down_recv;
};

static int add_edge(struct run *run, uint32_t place, struct edge *edge, int64_t bytes, bool up, bool down,
                    struct error *e)
{
    uint32_t parent = edge->parent;
    const int64_t *begin = run->begin;
    if (up && ((edge->up_send = add(run, SCHEDULE_SEND, place, parent, bytes, begin[place], e)) < 0 ||
               (edge->up_recv = add(run, SCHEDULE_RECV, parent, place, bytes, begin[parent], e)) < 0))
        return -1;
    if (down && ((edge->down_send = add(run, SCHEDULE_SEND, parent, place, bytes, begin[parent], e)) < 0 ||
                 (edge->down_recv = add(run, SCHEDULE_RECV, place, parent, bytes, begin[place], e)) < 0))
        return -1;
    return 0;
}

/* Up waits for all from below, down for what comes from above, at the root for all from below. */
static int order_edges(struct run *run, const struct edge *edges, bool up, bool down, struct error *e)
{
    for (uint32_t p = 0; p < run->c->count; p++) {
        uint32_t parent = edges[p].parent;
        if (parent == NONE)
            continue;
        const struct edge *above = &edges[parent];
        if (up && above->parent != NONE &&
            schedule_add_wait(run->s, above->up_send, edges[p].up_recv, false, e) != 0)
            return -1;
        if (down && above->parent != NONE &&
            schedule_add_wait(run->s, edges[p].down_send, above->down_recv, false, e) != 0)
            return -1;
        for (uint32_t q = 0; up && down && above->parent == NONE && q < run->c->count; q++)
            if (edges[q].parent == parent &&
                schedule_add_wait(run->s, edges[p].down_send, edges[q].up_recv, false, e) != 0)
                return -1;
    }
    return 0;
}

static int tree(struct run *run, enum shape shape, int64_t bytes, bool up, bool down, struct error *e)
{
    uint32_t n = run->c->count;
    int64_t wanted = shape == BINOMIAL ? 1 : (bytes + PIECE_BYTES - 1) / PIECE_BYTES;
    uint32_t pieces = wanted < MOST_PIECES ? (uint32_t)wanted : MOST_PIECES;
    struct edge *edges = calloc((size_t)n + 1, sizeof *edges);
    int result = edges ? 0 : error_set(e, "%.160s: out of memory", run->s->name);
    for (uint32_t k = 0; result == 0 && bytes && k < pieces; k++) {
        for (uint32_t p = 0; result == 0 && p < n; p++) {
            edges[p].parent = parent_of(run, shape, p);
            if (edges[p].parent != NONE)
                result = add_edge(run, p, &edges[p], part(bytes, pieces, k), up, down, e);
        }
        if (result == 0)
            result = order_edges(run, edges, up, down, e);
    }
    free(edges);
    return result;
}

/* ---- the choice */

/* Powers of two from 64 B to 256 MB: how much of its bandwidth a tree has there. Tenths. */
static const unsigned char tree_tenths[3][23] = {
    {10, 10, 10, 10, 9, 8, 7, 7, 7, 7, 6, 5, 4, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10},
    {10, 10, 10, 10, 10, 9, 8, 8, 8, 7, 6, 6, 6, 6, 6, 6, 8, 9, 9, 9, 9, 10, 10},
    {9, 9, 9, 9, 9, 9, 9, 8, 7, 6, 6, 5, 5, 5, 5, 6, 7, 8, 7, 7, 8, 9, 9}};
/* Of LL, LL128 and Simple: microseconds to begin with a tree and a ring, and from host to host (with one GPU
 * a host those of the tree), and shares of a link. */
static const struct protocol {
    double tree_us, ring_us, hop_us, tree_share, ring_share;
} protocols[3] = {
    {6.8, 6.6, 5.0, 0.92 / 3.8, 0.5}, {14.0, 14.0, 8.5, 0.92 * 120 / 128, 0.92}, {8.4, 8.4, 14.0, 0.92, 1.0}};

static unsigned log2_of(uint64_t value)
{
    unsigned bits = 0;
    while (value >>= 1)
        bits++;
    return bits;
}

enum collective_algorithm collective_choose(enum collective_op op, uint32_t ranks, int64_t bytes,
                                            double bytes_per_s)
{
    if (op != COLLECTIVE_ALL_REDUCE || ranks < 2 || bytes_per_s <= 0)
        return COLLECTIVE_RING;
    unsigned size = log2_of((uint64_t)bytes >> 6);
    double least[2] = {DBL_MAX, DBL_MAX}; /* of ring, tree */
    for (int p = 0; p < 3; p++) {
        const struct protocol *protocol = &protocols[p];
        double us = (double)bytes / bytes_per_s * 1e6, steps = 2.0 * (ranks - 1),
               plateau = p == 2 && bytes / ranks >= 64 ? 1.4 : 1, /* of compute capability 8 and above */
            slow = bytes >= 64 && size < 23 ? tree_tenths[p][size] / 10.0 : 1;
        double time[2] = {(protocol->ring_us + steps * protocol->hop_us) * plateau +
                              us * steps / ranks / protocol->ring_share,
                          protocol->tree_us + 2 * log2_of(ranks) * protocol->hop_us +
                              us * 2 / protocol->tree_share / slow};
        for (int a = 0; a < 2; a++)
            least[a] = time[a] < least[a] ? time[a] : least[a];
    }
    return least[1] < least[0] ? COLLECTIVE_TREE : COLLECTIVE_RING;
}

static enum collective_algorithm algorithm_of(const struct collective *c)
{
    bool trees =
             c->op == COLLECTIVE_ALL_REDUCE || c->op == COLLECTIVE_BROADCAST || c->op == COLLECTIVE_REDUCE,
         halves = c->op == COLLECTIVE_ALL_REDUCE || c->op == COLLECTIVE_ALL_GATHER ||
                  c->op == COLLECTIVE_REDUCE_SCATTER;
    if (c->algorithm == COLLECTIVE_RING || (c->algorithm == COLLECTIVE_TREE && trees) ||
        (c->algorithm == COLLECTIVE_HALVING_DOUBLING && halves && !(c->count & (c->count - 1))))
        return c->algorithm;
    return collective_choose(c->op, c->count, c->bytes, c->bytes_per_s);
}

/* ---- all of it */

static int add_channel(struct run *run, int64_t bytes, struct error *e)
{
    const struct collective *c = run->c;
    const enum collective_algorithm algorithm = algorithm_of(c);
    bool reduces = c->op == COLLECTIVE_REDUCE;
    switch (c->op) {
    case COLLECTIVE_ALL_TO_ALL:
        return all_to_all(run, bytes, e);
    case COLLECTIVE_SEND_RECV:
        return send_recv(run, bytes, e);
    case COLLECTIVE_BARRIER:
        return run->channel ? 0 : barrier(run, e);
    case COLLECTIVE_GATHER:
    case COLLECTIVE_SCATTER:
        return gather_or_scatter(run, bytes, e);
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_REDUCE:
        return tree(run, algorithm == COLLECTIVE_TREE ? BINOMIAL : CHAIN, bytes, reduces, !reduces, e);
    case COLLECTIVE_ALL_REDUCE:
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_REDUCE_SCATTER:
        break;
    }
    if (algorithm == COLLECTIVE_HALVING_DOUBLING)
        return halving_doubling(run, bytes, e);
    if (algorithm == COLLECTIVE_RING)
        return ring(run, bytes, e);
    if (tree(run, FIRST_BINARY, part(bytes, 2, 0), true, true, e) != 0)
        return -1;
    run->tag++;
    return tree(run, SECOND_BINARY, part(bytes, 2, 1), true, true, e);
}

static int add_ends(struct schedule *s, const struct collective *c, const int64_t *begin, int64_t *end,
                    struct error *e)
{
    for (uint32_t i = 0; i < c->count; i++) {
        end[i] = schedule_add(s, c->ranks[i],
                              &(struct schedule_operation){.type = SCHEDULE_CALC, .line = c->line}, e);
        if (end[i] < 0 || (begin[i] >= 0 && schedule_add_wait(s, end[i], begin[i], false, e) != 0))
            return -1;
    }
    return 0;
}

int collective_add(struct schedule *s, const struct collective *c, const int64_t *begin, int64_t *end,
                   struct error *e)
{
    struct run run = {.s = s, .c = c, .begin = begin, .end = end};
    if (c->bytes < 0 || c->bytes > MOST_RANKS_BYTES)
        return error_set(e, "%.160s: a collective of %lld bytes: expected 0 to %lld", s->name,
                         (long long)c->bytes, (long long)MOST_RANKS_BYTES);
    run.at = calloc((size_t)c->count + 1, sizeof *run.at);
    if (!run.at)
        return error_set(e, "%.160s: out of memory", s->name);
    int result = add_ends(s, c, begin, end, e);
    for (; result == 0 && c->count > 1 && run.channel < c->channels; run.channel++) {
        memcpy(run.at, begin, c->count * sizeof *begin);
        run.tag = c->tag + run.channel * COLLECTIVE_TAGS;
        result = add_channel(&run, part(c->bytes, c->channels, run.channel), e);
    }
    free(run.at);
    return result;
}
