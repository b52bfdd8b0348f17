/* A TCP socket that listens, of a server that any stranger may connect to. Nothing here blocks. */
#ifndef LIB_NETWORK_LISTENER_H
#define LIB_NETWORK_LISTENER_H

#include "lib/error.h"
#include <stdbool.h>
#include <stdint.h>

#define LISTENER_LOOPBACK "127.0.0.1"

struct listener {
    int fd;
    int spare;             /* given up to turn a connection away when no other descriptor is left; -1: none */
    int64_t rest_until_ns; /* CLOCK_MONOTONIC: until then it is not polled */
};

/* Listen on a host name or address (NULL: all addresses, IPv4 and IPv6) and port (0: any; *port is set). */
int listener_open(struct listener *l, const char *host, int64_t *port, struct error *e);
void listener_close(struct listener *l);

/* The descriptor to poll for reading; -1 while it rests. */
int listener_descriptor(const struct listener *l);
/* How long poll may wait: timeout_ms (negative: without limit), but no longer than the listener rests. */
int listener_timeout_ms(const struct listener *l, int timeout_ms);
/* Accept a waiting connection: its descriptor, non-blocking and closed on exec, or -1 with errno. EMFILE: no
 * descriptor is left, and one connection was turned away; without that, or without memory, the listener
 * rests, so that a poll does not return at once. */
int listener_accept(struct listener *l);

#endif
