/* The serving side: waits for drivers and does what they ask, one thread each. */
#ifndef TRAFFIC_SERVE_H
#define TRAFFIC_SERVE_H

#include "traffic/job.h"
#include "traffic/output.h"

#define SERVE_MAX_SESSIONS FLOW_MAX_TOGETHER

struct server {
    const struct local_options *local;
    struct output *output;
    int listener;
    int stop_fd; /* readable once it is to end */
    bool once;
};

/* Serve until stop_fd is readable (or, once, the first driver has gone). Sessions under way are ended with word to their
 * drivers. */
int serve_run(struct server *server, struct error *e);

#endif
