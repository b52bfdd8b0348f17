/* The server: waits for drivers and runs its side of their flows, with one thread for each driver. */
#ifndef TRAFFIC_SERVE_H
#define TRAFFIC_SERVE_H

#include "lib/network/listener.h"
#include "lib/network/secret.h"
#include "traffic/job.h"
#include "traffic/output.h"
#include <stdatomic.h>

#define SERVE_MAX_SESSIONS FLOW_MAX_TOGETHER

struct server {
    const struct local_options *local;
    struct output *output;
    struct listener *listener;
    struct secret secret;     /* that drivers must know; none: any driver is served */
    int64_t max_memory_bytes; /* for the flows of all sessions */
    _Atomic int64_t memory_bytes_used;
    int stop_fd; /* readable when the server must end */
    bool once;
};

/* Serve until stop_fd is readable or, with `once`, the first driver has disconnected. The drivers of running
 * sessions receive an error message. */
int serve_run(struct server *server, struct error *e);

#endif
