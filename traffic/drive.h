/* The client side: one thread for each flow, each with its own session at the server. */
#ifndef TRAFFIC_DRIVE_H
#define TRAFFIC_DRIVE_H

#include "traffic/job.h"
#include "traffic/output.h"

/* How it ended; the exit codes of the program. */
enum drive_result {
    DRIVE_DONE = 0,
    DRIVE_WRONG_DATA = 1, /* --validate found differences */
    DRIVE_FAILED = 3,
    DRIVE_INTERRUPTED = 130, /* stopped before the requested end */
};

/* Run the flows of these plans against the server at host and port until they are done or stop_fd is readable. */
enum drive_result drive_run(const struct drive_plan *plans, size_t count, const char *host, int64_t port,
                            struct output *output, int stop_fd);

#endif
