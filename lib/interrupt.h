/* SIGINT, SIGTERM and SIGHUP as a flag to poll: a run can then always restore the hosts. */
#ifndef LIB_INTERRUPT_H
#define LIB_INTERRUPT_H

#include "lib/error.h"
#include <signal.h>

struct interrupt {
    int fd;          /* readable after a signal: for poll */
    int count;       /* number of signals */
    sigset_t before; /* those that waited already, as where one interrupt is open within another */
};

/* From now on these signals do not end the program. */
int interrupt_open(struct interrupt *i, struct error *e);
/* Read new signals; returns the number of all signals. */
int interrupt_count(struct interrupt *i);
/* Restore the signals' previous handling: within another interrupt, that one hears them again. */
void interrupt_close(struct interrupt *i);

/* Call it before work that leaves something behind when it is broken off: from now on these signals wait, in
 * this thread, until they are released. *before is for that. */
void interrupt_hold(sigset_t *before);
void interrupt_release(const sigset_t *before);
/* -1 with an error once one of them waits: work that takes long asks this now and then. */
int interrupt_check(struct error *e);

#endif
