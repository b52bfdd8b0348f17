/* Slurm by its commands: sbatch, squeue, scancel. Nothing is asked of sacct, so no accounting is needed. A
 * job is known by its name, which is chosen before it is submitted: a program that is killed at any moment
 * can find it again. */
#ifndef HARNESS_SLURM_COMMANDS_H
#define HARNESS_SLURM_COMMANDS_H

#include "lib/program/config.h"

#define SLURM_MOST_TASKS 1000        /* of an array: MaxArraySize is 1001 unless a site says otherwise */
#define SLURM_SAID       "harness: " /* before what a task of ours says in its comment */
#define SLURM_WORD       64          /* of a state or a reason, with its end */

struct slurm_job {
    const char *name;
    const char *exclude; /* nodes, with commas between them; NULL: none */
    const char *script;
    size_t tasks, at_a_time; /* 0: no limit */
    bool requeue;
};

/* What Slurm says of one task of a job. */
enum slurm_state { SLURM_GONE, SLURM_WAITING, SLURM_RUNNING };
/* How a task ended, as Slurm says it for some minutes (MinJobAge). */
struct slurm_end {
    char state[24]; /* "COMPLETED", "CANCELLED"; "": it has not ended, or nothing is known of it */
    char node[64];
    char why[256]; /* what the task says of its node, with which it cannot go on; may be empty */
};
struct slurm_queue {
    struct slurm_end ends[SLURM_MOST_TASKS + 1]; /* by task, from 1; 0: of all that were never begun */
    size_t waiting, running;
    size_t held;             /* of those that wait: Slurm could not start them and does not try again */
    char reason[SLURM_WORD]; /* for which the last one waits, as Slurm says it; may be empty */
    unsigned char states[SLURM_MOST_TASKS + 1]; /* by task, from 1: enum slurm_state */
};

/* Are the commands there? */
int slurm_find(struct error *e);
/* A name that jobs of this program have: 1; other jobs are none of its business. */
bool slurm_is_name(const char *name);
/* A new one; the caller frees. */
char *slurm_new_name(const char *scenario);
int slurm_submit(const struct slurm_job *job, const struct slurm_profile *profile, struct error *e);
/* What squeue prints, TASK|STATE|REASON|NODE|COMMENT in a line; the last two may be missing. */
int slurm_read_queue(const char *text, struct slurm_queue *queue, struct error *e);
/* The tasks that have not ended, and how others did. -1: Slurm did not answer, which says nothing of the job.
 */
int slurm_ask(const char *name, struct slurm_queue *queue, struct error *e);
/* End all tasks. */
int slurm_cancel(const char *name, struct error *e);

#endif
