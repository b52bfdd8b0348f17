/* What a job of Slurm is to do, in the sweep's folder: slurm/N/tasks.json (docs/result.md). It is written
 * before the job is submitted. */
#ifndef HARNESS_SLURM_SUBMISSION_H
#define HARNESS_SLURM_SUBMISSION_H

#include "lib/error.h"
#include "harness/slurm/commands.h"
#include "lib/text.h"
#include <stddef.h>
#include <stdint.h>

#define SUBMISSION_FAILED "failed" /* in its folder: why a task could not go on, a sentence */

struct submission {
    char *folder;     /* SWEEP/slurm/N */
    size_t number;    /* N, from 1 */
    char *name;       /* of the job */
    size_t *runs;     /* by number from 0 */
    size_t count;     /* of the runs */
    size_t per_task;  /* runs; the last task may have fewer */
    size_t at_a_time; /* runs of a task */
    int64_t time_ns;  /* when it was written, by the clock here; 0: unknown */
};

size_t submission_tasks(const struct submission *s);
/* The task, from 1, of the runs[k]. */
size_t submission_task_of(const struct submission *s, size_t k);

/* The number of the last one in the folder of a sweep; 0: none. */
size_t submission_last(const char *sweep);
/* Write the next one; s has name, runs, count, per_task and at_a_time, and gets number and folder. */
int submission_keep(struct submission *s, const char *sweep, struct error *e);
/* Read one of a sweep with this number of runs. */
int submission_load(struct submission *s, const char *sweep, size_t number, size_t run_count,
                    struct error *e);
void submission_free(struct submission *s);

/* A task cannot go on: leave the sentence for who waits. */
void submission_say_failed(const char *folder, const char *sentence);
/* What a task has left so; NULL: none has. The caller frees. */
char *submission_failed(const struct submission *s);
/* The name of the node that this program runs on, as Slurm has it; `buffer` is room for another one. */
const char *submission_node(char *buffer, size_t size);
/* The line that a task begins with: its node, and what the clock there is. */
void submission_say_begun(size_t task);
/* Sentences about nodes whose clocks are not as the clock here, a line each: a task cannot have begun before
 * it was submitted, nor in the future. */
void submission_compare_clocks(const struct submission *s, struct text *out);
/* How tasks ended of which runs are missing (`lost`, by task), by node: those that Slurm knows no more, too.
 */
void submission_say_ends(const struct submission *s, const struct slurm_queue *queue, const bool lost[],
                         struct text *out);
/* The last line that a task printed; NULL: none. The caller frees. */
char *submission_last_words(const struct submission *s, size_t task);
/* Remove all of them. */
void submission_remove_all(const char *sweep);

#endif
