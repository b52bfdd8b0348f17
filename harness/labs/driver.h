/*
 * The interface between the phases of a run and the kinds of lab. An experiment runs the phases and does not know which
 * driver it uses; a driver reaches hosts and does not know the phases. All times are on the run's clock
 * (docs/result.md).
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
    struct recorder *recorder; /* NULL outside a run (doctor, restore) */
    struct interrupt *interrupt;
    uint64_t seed;
    FILE *log; /* run.log; may be NULL */
};

/* What is known of a role's host before anything is changed. */
struct host_description {
    char *name;           /* "vm00" */
    char *address;        /* of the experiment's NIC; may be NULL */
    json_t *facts;        /* host-facts' document */
    enum origin origin;   /* by these facts */
    json_t *capabilities; /* names, see capability_names */
    json_t *settings;     /* of the experiment's NIC in force; NULL: simulated */
    int64_t clock_offset_ns, clock_error_ns;
};

enum advance { ADVANCE_DONE, ADVANCE_INTERRUPTED, ADVANCE_FAILED };

struct lab_driver {
    const char *name;
    bool simulated;

    /* Can a lab of this kind run the cell? No host is reached. May be NULL. */
    int (*check)(const struct cell *cell, struct error *e);
    /* Get ready to reach the lab; nothing is changed. */
    int (*open)(const struct lab_run *run, void **state, struct error *e);
    /* Start hosts and wait until they answer. */
    int (*bring_up)(void *state, struct error *e);
    /* Facts of one role. The caller frees what is in `out` with host_description_free. */
    int (*describe)(void *state, size_t role, struct host_description *out, struct error *e);

    /* Could samples of a role have a counter that matches the glob? 0, or -1 with why not. Between open and start; no host is
     * reached. NULL: only the hosts know. */
    int (*check_counter)(void *state, size_t role, const char *glob, struct error *e);

    /* Settings documents of one role (a new reference, or NULL). `save` returns the current ones in the form that
     * restore takes; `apply` sets the wanted ones and returns what it read back. */
    json_t *(*save_settings)(void *state, size_t role, const json_t *wanted, struct error *e);
    json_t *(*apply_settings)(void *state, size_t role, const json_t *wanted, struct error *e);
    json_t *(*restore_settings)(void *state, size_t role, const json_t *saved, struct error *e);

    /* Start samplers and traffic; *start_ns is when the warm-up begins. */
    int (*start)(void *state, int64_t *start_ns, struct error *e);
    /* Pass lines to the recorder until the run's clock reaches until_ns. */
    enum advance (*advance)(void *state, int64_t until_ns, struct error *e);
    int64_t (*now_ns)(void *state);
    /* Stop what still runs and pass the remaining lines on. Called after every start, successful or not. */
    int (*finish)(void *state, struct error *e);

    /* Add what only the driver knows to the result ("simulator") and to its hosts ("buffers"). May be NULL. */
    void (*add_to_result)(void *state, json_t *result);
    void (*close)(void *state);
};

/* The driver for a lab: of kind NAME (lib/formats/lab_kinds.h), lab_driver_NAME. */
const struct lab_driver *lab_driver_of(const struct lab *lab);
/* Can the plan's lab run all of its cells? The error message begins with the scenario's file. */
int lab_driver_check(const struct plan *plan, struct error *e);
void host_description_free(struct host_description *d);

#endif
