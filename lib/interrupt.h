/* SIGINT, SIGTERM and SIGHUP as a flag to poll: a run can then always restore the hosts. */
#ifndef LIB_INTERRUPT_H
#define LIB_INTERRUPT_H

#include "lib/error.h"

struct interrupt {
    int fd;    /* readable after a signal: for poll */
    int count; /* number of signals */
};

/* From now on these signals do not end the program. */
int interrupt_open(struct interrupt *i, struct error *e);
/* Read new signals; returns the number of all signals. */
int interrupt_count(struct interrupt *i);
/* Restore the signals' previous handling. */
void interrupt_close(struct interrupt *i);

#endif
