/* Requests to end the program: SIGINT, SIGTERM, SIGHUP, or the end of standard input. */
#ifndef TRAFFIC_STOP_H
#define TRAFFIC_STOP_H

#include "lib/error.h"
#include <pthread.h>
#include <stdbool.h>

struct stop {
    int fd;     /* an eventfd: readable after a request to end, and stays readable */
    int end_fd; /* tells the watching thread to end */
    int signal_fd;
    bool watch_stdin;
    pthread_t thread;
};

/* Call before any thread is started: signals are blocked in all of them. A second signal ends the process at once, with
 * exit code 130. */
int stop_open(struct stop *stop, bool watch_stdin, struct error *e);
void stop_close(struct stop *stop);
bool stop_told(const struct stop *stop);

#endif
