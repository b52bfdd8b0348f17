/* How a sweep, a search, a reduction or a burn-in was started, kept in its folder (request.json,
 * docs/result.md): the documents as they were read, so that its runs can be made elsewhere and later, and
 * nobody works on the folder twice. */
#ifndef HARNESS_REQUEST_H
#define HARNESS_REQUEST_H

#include "harness/plan/plan.h"
#include "lib/document/table.h"
#include <stdio.h>
#include <sys/types.h>

struct sweep_engine;

/* What is said above the command (request_print_resume) that finishes a sweep with missing or broken
 * runs. */
#define SWEEP_RESUME_HINT "this runs what is missing or broken:"
/* The same where all runs are whole, and only what is said of all of them is not. */
#define SWEEP_JUDGE_HINT "this judges the runs together; all of them are whole:"

#define SWEEP_MOST_REPEATS 10000
#define SWEEP_MOST_SEED    (INT64_MAX - SWEEP_MOST_REPEATS) /* the seeds of repetitions follow it */

/* As the command line has it. */
struct sweep_request {
    const char *scenario;
    const char *lab;
    struct list_of sets;
    const char *out;
    int64_t duration_ns;
    int64_t repeats, seed;
    int64_t
        jobs; /* runs at a time; FIELD_UNSET: as many as there are processors for, of a lab of hosts one */
    int64_t threads; /* of a simulated run; FIELD_UNSET: the processors that are left, if it has many hosts */
    const char *resume;     /* the folder of a sweep that is run to its end; NULL: none */
    const char *on;         /* of the engine, as it was said; NULL: here */
    const char *hosts_from; /* "slurm": the job's nodes are the hosts of the lab; NULL: the lab's own */
    int64_t cells_per_task;
    int detach;
    const struct sweep_engine *engine; /* that has the runs made; NULL: this program, here */
    const json_t *said;     /* an object whose keys are warnings that need not be said again; NULL: none */
    const char *against;    /* a result or baseline that the sweep is compared with; NULL: none */
    struct list_of fail_if; /* char *: by which rules */
    json_t *kept;           /* what the last run leaves of its settings on hosts to whatever comes next
                               (sweep_restore_kept); NULL: nothing */
    int dry_run, json, no_report, quiet, yes;
    bool (*stops)(const void *context, const char *expectation); /* experiment_stops */
    const void *stops_for;
    bool of_search;     /* which has tried the values, and makes again what a power cut takes */
    bool tells_nothing; /* of single runs, with quiet: whoever started it reads their warnings in the results
                         */
    bool goes_on;       /* after a run that failed on its hosts */
};

/* A request that was read from a folder; the other members point into the document. */
struct kept_request {
    json_t *document;
    struct plan_documents documents;
    const char **sets;
    struct sweep_request
        request; /* the command line's, with what the folder says of sets, duration, repetitions and seed */
};

/* With --resume a folder says these options itself (keys of the command line's document, ended by NULL): -1
 * if one was given. */
int request_check_kept(const json_t *document, const char *const kept[], struct error *e);
/* Print the command by which this program goes on in the folder, "run" or another one, as a line for a shell:
 * with the options of `asked` that the folder does not keep itself; NULL: none. */
void request_print_resume(FILE *to, const char *command, const char *folder,
                          const struct sweep_request *asked);
/* Write it: that of `harness COMMAND`, "run", "search" or "reduce". `besides`: keys that only that command
 * has; NULL: none. */
int request_keep(const char *folder, const char *command, const struct sweep_request *request,
                 const struct plan *plan, const json_t *besides, struct error *e);
/* The same of a document with "program", "command", "version" and "build". */
int request_write(const char *folder, const json_t *document, struct error *e);
/* Read the request of a folder: a new reference. Refused (NULL): it is of another command, or of another
 * version or build of the program. */
json_t *request_read(const char *folder, const char *command, struct error *e);
/* The same of a scenario and a lab, of the folder `asked->resume`. */
int request_load(const struct sweep_request *asked, const char *command, struct kept_request *kept,
                 struct error *e);
/* The folder that a folder without a request is a part of, as a finding is of its search, and the *command
 * that goes on in it; NULL: there is none. The caller frees. */
char *request_whole_of(const char *folder, const char **command);
/* Are the scenario's file and the lab's, if they are there, what they were? */
int request_check_files(const struct kept_request *kept, struct error *e);
void request_free(struct kept_request *kept);

/* The descriptor of the folder's lock, until it is closed; -1: another process has it, and the sentence names
 * it. */
int request_lock(const char *folder, struct error *e);
/* The process that has it, or 0. */
pid_t request_holder(const char *folder);

#endif
