/*
 * A collective among ranks as the sends and recvs of a schedule.
 *
 * `bytes` is the larger of a rank's two buffers, as nccl-tests count: of an all-gather what each rank has in
 * the end, of a reduce-scatter and an all-to-all what each has in the beginning. It is cut into parts that
 * differ by at most a byte; parts without a byte are not sent. A reduction takes no time.
 *
 *   ring              all-reduce, reduce-scatter, all-gather: n parts go around, each send after the recv
 *                     before it. broadcast, reduce: along a chain, in pieces of 512 KiB, at most 64
 *   tree              all-reduce: up and down two binary trees with half of the bytes each, whose leaves are
 *                     the other's inner nodes, as NCCL has them (src/graph/trees.cc), in such pieces.
 *                     broadcast, reduce: a binomial tree
 *   halving-doubling  all-reduce, reduce-scatter, all-gather of 2^k ranks: k exchanges each way, with
 *                     distances n/2, ..., 1 and 1, ..., n/2 (Thakur et al., IJHPCA 2005)
 *   others            all-to-all: n - 1 rounds, in round r to the rank r further. gather, scatter: directly.
 *                     send-recv: to the next
 *                     rank. barrier: rounds of a byte to the rank 1, 2, 4, ... further
 */
#ifndef LIB_SCHEDULE_COLLECTIVE_H
#define LIB_SCHEDULE_COLLECTIVE_H

#include "lib/collective/collective.h"
#include "lib/schedule/schedule.h"

#define COLLECTIVE_MOST_CHANNELS 32
#define COLLECTIVE_TAGS          2 /* of each channel */

enum collective_algorithm {
    COLLECTIVE_BY_SIZE, /* collective_choose */
    COLLECTIVE_RING,
    COLLECTIVE_TREE,
    COLLECTIVE_HALVING_DOUBLING,
};

struct collective {
    enum collective_op op;
    enum collective_algorithm algorithm; /* if the operation has it and 2^k ranks; otherwise as by size */
    double bytes_per_s;                  /* of a rank's link, for the choice by size */
    uint32_t channels; /* at least 1: parts of the bytes, each with its own messages and tags */
    int64_t bytes;
    const uint32_t *ranks;    /* all different */
    uint32_t count, root;     /* the root's place among the ranks */
    uint32_t tag;             /* the first of those that no other messages have */
    uint32_t line;            /* of a file, for sentences; 0: none */
    uint32_t most_operations; /* of the whole schedule */
};

/* The operations of the rank at place i begin when begin[i] has ended (-1: at once). end[i] becomes one that
 * ends when its recvs have their data and its sends their ACKs. */
int collective_add(struct schedule *s, const struct collective *c, const int64_t *begin, int64_t *end,
                   struct error *e);

/* NCCL's choice of ring or tree for an all-reduce among hosts with a GPU each: the lower of latency + bytes /
 * bandwidth over the protocols LL, LL128 and Simple, with the constants of NCCL 2.28 (src/graph/tuning.cc),
 * without its limits for GPUs. Anything else is a ring there, except for PAT, which is not here. */
enum collective_algorithm collective_choose(enum collective_op op, uint32_t ranks, int64_t bytes,
                                            double bytes_per_s);

#endif
