/*
 * Drivers that have connected and not said hello yet. Anyone may connect, so none of them can keep others
 * out: there are few places, the oldest arrival loses its own to a new one, and each has a few seconds.
 */
#ifndef TRAFFIC_ARRIVALS_H
#define TRAFFIC_ARRIVALS_H

#include "lib/network/listener.h"
#include "traffic/connection/control.h"
#include "traffic/output.h"
#include <poll.h>

#define ARRIVALS_MOST 32
#define ARRIVALS_FDS  (ARRIVALS_MOST + 1)

struct arrival {
    struct control control;
    int64_t since_ns; /* 0: a free place */
};

struct arrivals {
    struct listener *listener;
    const struct secret *secret;
    struct output *output; /* for what was refused */
    uint64_t refused;
    struct arrival places[ARRIVALS_MOST];
};

/* Fill in what to poll, at most ARRIVALS_FDS entries; returns their number. */
size_t arrivals_poll(const struct arrivals *a, struct pollfd *fds);
/* Take the waiting connections, and turn away whoever is late. */
void arrivals_accept(struct arrivals *a);
/* Has a driver been greeted? Its connection then belongs to the caller. */
bool arrivals_next(struct arrivals *a, struct control *control);
void arrivals_close(struct arrivals *a);

#endif
