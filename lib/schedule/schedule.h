/*
 * Schedules of operations, as GOAL states them (Hoefler et al., "Group Operation Assembly Language", ICPP
 * 2009): each rank sends, receives and computes, and its operations wait for one another. A training job
 * with its collectives expanded is one.
 *
 * To build one: schedule_begin, any number of schedule_add_..., in any order of ranks, schedule_finish.
 * schedule_read does all of this with a file. What is added is checked; sentences name the operation.
 */
#ifndef LIB_SCHEDULE_H
#define LIB_SCHEDULE_H

#include "lib/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SCHEDULE_MOST_RANKS      65535
#define SCHEDULE_MOST_OPERATIONS 10000000
#define SCHEDULE_MOST_WAITS      40000000
#define SCHEDULE_MOST_PLACES     256                     /* CPUs of a rank, and NICs */
#define SCHEDULE_MOST_BYTES      (INT64_C(1) << 40)      /* of a message */
#define SCHEDULE_MOST_CALC_NS    INT64_C(86400000000000) /* a day */
#define SCHEDULE_MOST_FILE_BYTES ((size_t)1 << 30)

/* With LogGOPSim's numbers. */
enum schedule_type { SCHEDULE_SEND = 1, SCHEDULE_RECV, SCHEDULE_CALC };

/* The CPU and NIC may be changed until schedule_finish. */
struct schedule_operation {
    int64_t size;  /* bytes; of a calc ns */
    uint32_t peer; /* of a send the receiver, of a recv the sender */
    uint32_t tag;
    uint32_t line; /* of its file; 0: none */
    uint8_t type, cpu, nic;
};

/* `operation` begins when `before`, of its rank, has ended or, on_start, has begun. */
struct schedule_wait {
    uint32_t operation, before;
    bool on_start;
};

/* About 40 bytes an operation and 4 a wait, when it is finished. */
struct schedule {
    const char *name; /* of its file, for sentences; not owned */
    uint32_t rank_count, operation_count;
    struct schedule_operation *operations; /* those of a rank in a row, as they were added */
    uint32_t *first;                       /* rank r has operations first[r] up to first[r + 1] */
    uint32_t *match;      /* of a send its recv, of a recv its send: the k-th ones of a pair and a tag */
    uint32_t *wait_count; /* of each operation: for how many it waits */
    /* Who waits for operation i: after[first_after[i]] up to after[first_after[i + 1]], each twice the
     * operation, plus 1 if it waits for the beginning. */
    uint32_t *first_after, *after;
    /* while it is built */
    uint32_t *rank_of;
    struct schedule_wait *waits;
    size_t waits_added;
};

int schedule_begin(struct schedule *s, const char *name, int64_t ranks, struct error *e);
/* Its number, which schedule_add_wait takes, and which schedule_finish changes if ranks were not in order;
 * -1: refused. */
int64_t schedule_add(struct schedule *s, int64_t rank, const struct schedule_operation *operation,
                     struct error *e);
int64_t schedule_add_send(struct schedule *s, int64_t rank, int64_t to, int64_t bytes, uint32_t tag,
                          struct error *e);
int64_t schedule_add_recv(struct schedule *s, int64_t rank, int64_t from, int64_t bytes, uint32_t tag,
                          struct error *e);
int64_t schedule_add_calc(struct schedule *s, int64_t rank, int64_t ns, struct error *e);
/* Both are of one rank. */
int schedule_add_wait(struct schedule *s, int64_t operation, int64_t before, bool on_start, struct error *e);
/* -1: a send or recv has no other, their sizes differ, or operations wait for themselves, also by way of
 * other ranks. Free it then, too. */
int schedule_finish(struct schedule *s, struct error *e);
void schedule_free(struct schedule *s);

/* The rank of an operation of a finished schedule. */
uint32_t schedule_rank_of(const struct schedule *s, uint32_t operation);
/* "line 17", or "operation 4 of rank 2" */
void schedule_where(const struct schedule *s, uint32_t operation, char *out, size_t size);
/* "send of 4096 B to rank 3, tag 7" */
void schedule_what(const struct schedule *s, uint32_t operation, char *out, size_t size);

/* How long the longest chain of operations takes if a message takes latency_ns and ns_per_byte, and the
 * busiest rank's messages, one way, or computations, on its busiest CPU: whatever is longest. */
int schedule_least_ns(const struct schedule *s, double ns_per_byte, double latency_ns, double *ns,
                      struct error *e);

/* ---- files */

/* GOAL's text, or the binary form that LogGOPSim's txt2bin makes of it; the content tells them apart. `path`
 * stays in sentences: it must last as long as the schedule. Frees what it made on error. */
int schedule_read(struct schedule *s, const char *path, struct error *e);
/* The same of what is in memory; takes over `content`, which has a zero behind its end. */
int schedule_read_content(struct schedule *s, const char *name, char *content, size_t length,
                          struct error *e);
/* GOAL's text, of a finished schedule. */
void schedule_print(const struct schedule *s, FILE *to);
int schedule_write(const struct schedule *s, const char *path, struct error *e);

#endif
