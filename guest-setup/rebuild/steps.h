/* Copies a profile's files to a guest and runs its steps there, with reboots. */
#ifndef GUEST_SETUP_REBUILD_STEPS_H
#define GUEST_SETUP_REBUILD_STEPS_H

#include "guest-setup/rebuild/context.h"
#include "guest-setup/guest/profile.h"
#include "guest-setup/rebuild/record.h"
#include "remote/ssh.h"
#include <stdio.h>

#define GUEST_FILES "/usr/local/share/lab" /* folder of steps and files on a guest */

/* A guest that is being provisioned. */
struct guest {
    struct context *context;
    const struct lab_host *host;
    const struct profile *profile;
    struct record *record;
    struct ssh_session *ssh; /* NULL until guest_connect */
    FILE *log;
    bool checked; /* the last step was done just now, and its check held */
};

/* Wait for ssh for as long as the profile allows; gives up when the context is cancelled. */
int guest_connect(struct guest *g, struct error *e);
/* Copy programs, steps and files to the guest. */
int guest_put(struct guest *g, struct error *e);
/* Run the steps that are not done. From step `from` on, all are run regardless of the record (-1: none). */
int guest_run_steps(struct guest *g, int from, struct error *e);
/* Run a step's check. Its exit status, 0 when the step still holds; its last line is in `found`. -1: it could
 * not be run. */
int guest_check_step(struct guest *g, const struct profile_step *step, char found[400], struct error *e);
/* Run every check once more, but for that of the last step if it has just held. */
int guest_verify(struct guest *g, struct error *e);
/* Write a line with the time to the host's log. */
void guest_log(struct guest *g, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
