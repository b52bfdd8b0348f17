/* The client side: one thread for each flow, each with its own session at the server. */
#ifndef TRAFFIC_DRIVE_H
#define TRAFFIC_DRIVE_H

#include "lib/network/secret.h"
#include "traffic/job.h"
#include "traffic/output.h"
#include "traffic/stop.h"

/* How it ended; the exit codes of the program. */
enum drive_result {
    DRIVE_DONE = 0,
    DRIVE_WRONG_DATA = 1, /* --validate found differences */
    DRIVE_FAILED = 3,
    DRIVE_INTERRUPTED = 130, /* stopped before the requested end */
};

/* Where the server is, and the secret that it knows. */
struct drive_server {
    const char *host;
    int64_t port;
    struct secret secret;
};

/* Run the flows of these plans against the server until they are done or told to stop. If `stop` awaits a
 * start, a "ready" event says that all are connected. */
enum drive_result drive_run(const struct drive_plan *plans, size_t count, const struct drive_server *server,
                            struct output *output, const struct stop *stop);

#endif
