/*
 * What the program is told while it runs: to end (SIGINT, SIGTERM, SIGHUP, or the end of standard input), and
 * when to start (a line of standard input).
 */
#ifndef TRAFFIC_STOP_H
#define TRAFFIC_STOP_H

#include "lib/error.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What standard input is for. */
struct stop_input {
    bool ends;   /* its end is a request to end */
    bool starts; /* its next line is the time of the start; its end before that is a request to end */
};

struct stop {
    int fd;     /* an eventfd: readable after a request to end, and stays readable */
    int end_fd; /* tells the watching thread to end */
    int signal_fd;
    struct stop_input input;
    _Atomic int64_t start_ns; /* nanoseconds since 1970; 0: not told yet */
    pthread_t thread;
};

/* Call before any thread is started: signals are blocked in all of them. A second signal ends the process at
 * once, with exit code 130. */
int stop_open(struct stop *stop, struct stop_input input, struct error *e);
void stop_close(struct stop *stop);
bool stop_told(const struct stop *stop);

#endif
