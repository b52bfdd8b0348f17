/* What `harness run` does: every cell of a scenario's sweep, an index, a summary, a report. */
#ifndef HARNESS_SWEEP_H
#define HARNESS_SWEEP_H

#include "harness/run/experiment.h"
#include "harness/run/precheck.h"
#include "harness/run/index.h"
#include "harness/run/request.h"
#include "lib/text.h"
#include <sys/types.h>

struct sweep;

/* Who has the runs made that are to do. */
struct sweep_engine {
    /* Before there is a folder: -1 with a sentence if it cannot. */
    int (*check)(const struct sweep_engine *engine, const struct sweep *s, struct error *e);
    /* All, or fails the sweep. */
    void (*run)(const struct sweep_engine *engine, struct sweep *s);
};

/* Returns the program's exit status; messages have been written. `documents`: the scenario and the lab, that
 * were read before; NULL: they are read now. */
int sweep_run(const struct sweep_request *request, const struct plan_documents *documents);
/* The same for what is missing in the folder `resume`, which says itself what is run. `documents`: those that
 * it has to be of, whatever files there are; NULL: the folder's, and their files are to be what they were. */
int sweep_resume(const struct sweep_request *request, const struct plan_documents *documents);
/* No run follows that would take over the settings in `kept`: they are restored. */
void sweep_restore_kept(const struct plan *plan, struct interrupt *interrupt, json_t *kept);

/* ---- for those who have runs made elsewhere */

struct sweep {
    const struct sweep_request *request;
    struct plan plan;
    struct precheck precheck; /* .bytes: memory that the largest run takes; .lab: of the only run */
    struct interrupt interrupt;
    struct progress progress;
    char *folder;
    ino_t folder_inode;
    int lock; /* the folder's */
    struct index index;
    size_t *todo; /* the runs, by number from 0, that are not in the index yet, in the order of running */
    size_t todo_count, kept, jobs;
    size_t threads;       /* of a simulated run */
    struct text *outputs; /* by place in todo: what is printed once those before it have ended */
    size_t printed;
    int64_t cost_ns; /* of the runs that ended here, together */
    size_t ended;
    bool any_started;
    enum ending ending;
    struct error why;
    const json_t *warned; /* what was said before the runs: an object whose keys are sentences; may be NULL */
    bool deaf;            /* standard output cannot be written */
    json_t *settings_left; /* by a run for the next one; NULL: each run restores its own */
    size_t next;           /* the run after this one, SIZE_MAX: none */
    bool detached;         /* others make the runs, and the sweep is ended later by --resume */
    char *against;         /* the result that all is compared with in the end; NULL: none */
    json_t *comparison;    /* with it */
    const char *workshop; /* runs are made in folders of it and get their places when they are whole; NULL: in
                             their places */
    struct outcome (*run_one)(struct sweep *s, size_t run, struct error *e); /* in whatever process it is */
};

static inline size_t sweep_run_count(const struct sweep *s)
{
    return s->plan.cell_count * (size_t)s->request->repeats;
}

static inline size_t sweep_cell_of(const struct sweep *s, size_t run)
{
    return run / (size_t)s->request->repeats;
}

static inline size_t sweep_repeat_of(const struct sweep *s, size_t run)
{
    return run % (size_t)s->request->repeats + 1;
}

static inline uint64_t sweep_seed_of(const struct sweep *s, size_t run)
{
    return (uint64_t)s->request->seed + sweep_repeat_of(s, run) - 1;
}

static inline bool sweep_has_index(const struct sweep *s)
{
    return sweep_run_count(s) > 1 || json_object_size(s->plan.sweep) > 0;
}

/* The plan of a request, without a folder; to be freed after a failure too. `warnings`: as
 * precheck_plan(). */
int sweep_open(struct sweep *s, const struct sweep_request *request, const struct plan_documents *documents,
               json_t *warnings, struct error *e);
void sweep_free(struct sweep *s);
/* The folder of a run; the caller frees. */
char *sweep_folder_of(const struct sweep *s, size_t run);
/* The first reason for which runs are missing is kept. Returns -1. */
int sweep_fail(struct sweep *s, enum ending ending, const struct error *e);
/* One run, in this empty folder; it is not printed. `result`: is given its result; NULL: it is not wanted. */
struct outcome sweep_run_in(struct sweep *s, size_t run, const char *folder, json_t **result,
                            struct error *e);
/* What is to do, by this program. */
void sweep_run_here(struct sweep *s);
/* What is not in the index is to do, in the order of running, and nothing of it has ended. */
void sweep_list_todo(struct sweep *s);
/* What people read of a run that has ended. `result`: NULL: it is read from the folder. */
void sweep_print_run(const struct sweep *s, size_t run, const char *folder, const json_t *result,
                     struct outcome outcome);
/* A run has ended: into the index with it. false: no other is begun. */
bool sweep_count_run(struct sweep *s, size_t run, struct outcome outcome, const struct error *why);
void sweep_check_output(struct sweep *s);
/* The caller frees; NULL when memory ran out. */
char *sweep_resumed_folder(const struct sweep_request *request);
/* May the folder be resumed? That of a single run is the run's own: what is not whole in it would be the
 * whole folder. */
int sweep_check_resumed(const struct sweep *s, struct error *e);
/* What is in the folder of a run? 1: its whole result. 0: none (ENDING_NOT_STARTED), or one that is not
 * whole or cannot be parsed, for the reason in `e`. -1: that of another run, or it could not be read. */
int sweep_read_run(const struct sweep *s, size_t run, const char *folder, struct outcome *outcome,
                   struct error *e);

#endif
