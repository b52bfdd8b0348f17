/* SIGINT, SIGTERM and SIGHUP as a flag to poll: a run can then always restore the hosts. */
#ifndef LIB_INTERRUPT_H
#define LIB_INTERRUPT_H

#include "lib/error.h"

struct interrupt {
    int fd;    /* readable when a signal came: for poll */
    int count; /* how many came */
};

/* From here on these signals do not end the program. */
int interrupt_open(struct interrupt *i, struct error *e);
/* Take what came since; returns how many came in all. */
int interrupt_count(struct interrupt *i);
/* The signals have their old meaning again. */
void interrupt_close(struct interrupt *i);

#endif
