/* The threads that run a simulation's islands: each has its view of the simulation, the caller's is the
 * simulation itself. */
#ifndef SIM_TEAM_H
#define SIM_TEAM_H

#include "sim/islands/island.h"
#include <pthread.h>

/* Threads wait here for all others: for a while on the processor, then asleep. */
struct barrier {
    _Alignas(CACHE_LINE) _Atomic uint32_t arrived;
    _Alignas(CACHE_LINE) _Atomic uint32_t phase;
    _Atomic uint32_t asleep;
    uint32_t threads, spins;
};

struct member {
    _Alignas(CACHE_LINE) struct sim *view;
    struct event_queue due; /* its islands */
    uint32_t *batch;        /* those of a window */
    int64_t next_ps[2]; /* when something happens next in its islands or by its mail, after this window and
                           the last */
    pthread_t id;
};

struct team {
    struct barrier barrier;
    struct member *members;
    uint32_t count, running; /* threads that there are to be, and that there are */
    int64_t until_ps;
    bool leaving;
    struct sim_pause *pauses; /* that have ended, in the order of their ends */
    size_t pause_count, pause_capacity;
    struct sim_pause *unsorted; /* of all threads */
    size_t unsorted_capacity;
};

/* As many threads as the islands are divided among; sim_run_until starts them. */
int team_build(struct sim *sim, size_t pause_capacity, struct error *e);
void team_free(struct sim *sim);

/* Start those that do not run yet. */
int team_start(struct team *team, struct error *e);
void barrier_wait(struct barrier *b);

/* run.c: what a member of the team does */
void *team_work(void *argument);

#endif
