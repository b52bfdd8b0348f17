/* Jobs: schedules of operations (lib/schedule) that ranks play, each on a host with one NIC or several. */
#ifndef SIM_JOBS_H
#define SIM_JOBS_H

#include "lib/schedule/schedule.h"
#include "sim/sim.h"

/* An operation begins when all that it requires has ended and all that it irequires has begun, and
 *   - a send is a message on the queue pair of both NICs, where messages go in the order in which they begin.
 *     It ends when its sender knows that it is complete;
 *   - a recv ends when its message is in memory;
 *   - a calc, of more than 0 ns, begins when its CPU is free as well: a CPU computes one thing at a time,
 * what became ready first goes first, of equal times that of the lower number. Messages need no CPU. */
struct sim_job_config {
    const char *name;                /* which lasts as long as the simulation, as the schedule does */
    const struct schedule *schedule; /* finished */
    uint32_t nics;                   /* of each rank */
    const uint32_t
        *hosts; /* NIC n of rank r is hosts[r * nics + n]; UINT32_MAX: it has none. Each has NIC 0. */
    struct sim_flow_config flow;             /* of all messages: operation, memories, priority */
    const struct sim_flow_config *of_sender; /* by host: ect, inline_bytes, payload_bytes */
    int64_t start_ps;
};

struct sim_rank {
    int64_t end_ps;     /* of its last operation; -1: not all have ended */
    int64_t calc_ps;    /* in which at least one of its CPUs computed */
    int64_t exposed_ps; /* since the job's start, in which it waited for messages, and none computed */
    int64_t sent_bytes, received_bytes; /* of operations that have ended */
    uint32_t unfinished;                /* operations */
};
void sim_rank(const struct sim *sim, size_t job, uint32_t rank, struct sim_rank *out);
/* When an operation of the schedule began and ended; -1: not yet. */
void sim_rank_operation(const struct sim *sim, size_t job, uint32_t operation, int64_t *begin_ps,
                        int64_t *end_ps);

#endif
