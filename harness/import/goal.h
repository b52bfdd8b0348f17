/*
 * GOAL schedules (Hoefler et al., "Group Operation Assembly Language", ICPP 2009), in the text that
 * LogGOPSim's txt2bin reads (spcl/LogGOPSim, src/LogGOPSim/txt2bin.re of December 2023; ATLAHS, spcl/atlahs,
 * has the same):
 *
 *   num_ranks N
 *   rank R {
 *     [LABEL:] send BYTES b to RANK [tag T] [cpu C] [nic N]
 *     [LABEL:] recv BYTES b from RANK [tag T] [cpu C] [nic N]
 *     [LABEL:] calc NS [cpu C]
 *     LABEL requires LABEL      the first begins after the second has ended
 *     LABEL irequires LABEL     the first begins after the second has begun
 *   }
 *
 * An operation or dependency ends with its line; // and C comments are skipped.
 */
#ifndef HARNESS_IMPORT_GOAL_H
#define HARNESS_IMPORT_GOAL_H

#include "harness/import/import.h"
#include "lib/formats/flow.h"

#define GOAL_MOST_OPERATIONS 1000000
#define GOAL_MOST_CPUS       256 /* of a rank: txt2bin keeps 8 bits */
#define GOAL_MOST_CALC_NS    INT64_C(86400000000000)

enum goal_type { GOAL_SEND, GOAL_RECV, GOAL_CALC };

struct goal_operation {
    enum goal_type type;
    uint32_t rank;
    uint32_t peer; /* of a send the receiver, of a recv the sender */
    uint32_t tag;
    uint32_t cpu;
    unsigned line;
    uint32_t flow; /* of a send and its recv: its number among the sends */
    int64_t size;  /* bytes, or ns of a calc */
};

/* An operation that waits for another one of its rank. */
struct goal_dependency {
    uint32_t operation, before;
    bool on_start; /* irequires */
};

struct goal {
    struct reader *in;
    int64_t ranks;
    struct goal_operation *operations; /* those of a rank in a row */
    size_t operation_count;
    struct goal_dependency *dependencies;
    size_t dependency_count;
};

/* Both name the line; the caller frees with goal_free, also after an error. */
int goal_parse(struct goal *goal, struct error *e);
/* The k-th send from a rank to another with a tag goes to the k-th recv of that. Numbers the sends. */
int goal_match(struct goal *goal, size_t *flows, struct error *e);
void goal_free(struct goal *goal);

#endif
