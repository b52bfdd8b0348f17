/*
 * The interface between the phases of a run and the kinds of lab. An experiment runs the phases and does not
 * know which driver it uses; a driver reaches hosts and does not know the phases. All times are on the run's
 * clock (docs/result.md).
 */
#ifndef HARNESS_LABS_DRIVER_H
#define HARNESS_LABS_DRIVER_H

#include "lib/formats/origin.h"
#include "lib/interrupt.h"
#include "harness/plan/plan.h"
#include "harness/record/recorder.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What a driver works with; all of it stays valid until the driver is closed. */
struct lab_run {
    const struct cell *cell;
    const char *lab_path;
    const char *folder;        /* of the result; NULL outside a run */
    struct recorder *recorder; /* NULL outside a run (doctor, restore) */
    struct interrupt *interrupt;
    uint64_t seed;
    uint32_t threads; /* of a simulation; 0: one */
    FILE *log;        /* run.log; may be NULL */
    bool as_is;   /* leave what an earlier run left on hosts; no settings are saved, applied or restored */
    json_t *kept; /* what keep_settings left for the next run, by role; taken by open. NULL: settings are
                     always restored */
};

/* What is known of a role's host before anything is changed. */
struct host_description {
    char *name;           /* "vm00" */
    char *address;        /* of the experiment's NIC; may be NULL */
    json_t *facts;        /* host-facts' document */
    enum origin origin;   /* by these facts */
    json_t *capabilities; /* names, see CAPABILITIES in lib/formats/scenario.c */
    json_t *settings;     /* of the experiment's NIC in force; NULL: simulated */
    int64_t clock_offset_ns, clock_error_ns;
};

/* Settings documents of one role; NULL: there is none, or none yet. */
struct role_settings {
    json_t *wanted;       /* the scenario's */
    json_t *before;       /* in the form that restoring takes */
    json_t *read_back;    /* after they were applied */
    json_t *after;        /* after the old ones were restored */
    struct error why_not; /* restored, where `after` is NULL */
};

enum advance { ADVANCE_DONE, ADVANCE_INTERRUPTED, ADVANCE_FAILED };

struct lab_driver {
    const char *name;
    bool simulated;

    /* Get ready to reach the lab; nothing is changed. A simulated lab is built whole: it is refused here, or
     * it can run. */
    int (*open)(const struct lab_run *run, void **state, struct error *e);
    /* Memory that the run takes here. NULL: nothing to speak of. */
    uint64_t (*needs_bytes)(void *state);
    /* What the run writes at least. NULL: it is not known before. */
    uint64_t (*writes_bytes)(void *state);
    /* Could the lab's samples have every counter that the expression reads? 0, or -1 with why not. Between
     * open and start; no host is reached. NULL: only the hosts know. */
    int (*check_expression)(void *state, const struct expr *expr, struct error *e);
    /* Start hosts and wait until they answer. */
    int (*bring_up)(void *state, struct error *e);
    /* Facts of all roles: out[i], empty before, is role i's. The caller frees what is in them with
     * host_description_free, also after a failure. */
    int (*describe)(void *state, struct host_description out[], struct error *e);

    /* Settings of all roles, roles[i] is role i's: each fills in one of the documents above, for the caller
     * to release. No role waits for another, and a failure of one does not stop the others; it is in `e` (the
     * first in the order of roles), and the others in the log. */
    int (*save_settings)(void *state, struct role_settings roles[], struct error *e);
    int (*apply_settings)(void *state, struct role_settings roles[], struct error *e);
    /* Those that were saved; a failure is in the role's why_not. */
    void (*restore_settings)(void *state, struct role_settings roles[]);
    /* In place of restore_settings: leave them to the next run of the sweep, which wants the same, in
     * run->kept. It need not set them again, and what it does not take over is restored by `close`. After a
     * failure they are to be restored. NULL: cannot. */
    int (*keep_settings)(void *state, struct role_settings roles[], struct error *e);

    /* Start samplers and traffic; *start_ns is when the warm-up begins. */
    int (*start)(void *state, int64_t *start_ns, struct error *e);
    /* Pass lines to the recorder until the run's clock reaches until_ns. */
    enum advance (*advance)(void *state, int64_t until_ns, struct error *e);
    int64_t (*now_ns)(void *state);
    /* Stop what still runs and pass the remaining lines on. Called after every start, successful or not. */
    int (*finish)(void *state, struct error *e);

    /* Add what only the driver knows to the result ("simulator") and to its hosts ("buffers"). May be
     * NULL. */
    void (*add_to_result)(void *state, json_t *result);
    void (*close)(void *state);
};

/* A lab that is open before its run begins, so that it is built once. */
struct lab_opened {
    struct lab_run run; /* that the driver has been told of; the run fills in the rest before it starts */
    const struct lab_driver *driver;
    void *state; /* NULL: a run has taken it */
};
/* NULL with an error. */
struct lab_opened *lab_opened_make(const struct cell *cell, uint64_t seed, uint32_t threads, struct error *e);
/* Closes what no run has taken. May be NULL. */
void lab_opened_close(struct lab_opened *lab);

/* The driver for a lab: of kind NAME (lib/formats/lab_kinds.h), lab_driver_NAME. */
const struct lab_driver *lab_driver_of(const struct lab *lab);
void host_description_free(struct host_description *d);

#endif
