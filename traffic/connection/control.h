/* The TCP connection on which two roce-traffics agree: messages of wire.h, bounded, with time limits. */
#ifndef TRAFFIC_CONTROL_H
#define TRAFFIC_CONTROL_H

#include "traffic/connection/wire.h"

#define CONTROL_SETUP_NS \
    (30LL * 1000000000) /* for each step before traffic: memory, queue pairs, connections */
#define CONTROL_HELLO_NS    (5LL * 1000000000)
#define CONTROL_ADDRESS_MAX 64 /* an IPv6 address with its zone, as text */

struct control {
    int fd;
    char peer[CONTROL_ADDRESS_MAX];  /* the other side's address */
    char local[CONTROL_ADDRESS_MAX]; /* this side's address */
    int64_t heard_ns, said_ns;       /* CLOCK_MONOTONIC: when the last bytes came and went */
    char *buffer;                    /* of WIRE_MAX_LENGTH + 1 bytes */
    size_t used;
};

/* Listen on address (NULL: all, IPv4 and IPv6) and port (0: any; *port is set). A socket, or -1. */
int control_listen(const char *address, int64_t *port, struct error *e);
/* Take a waiting connection. */
int control_accept(struct control *control, int listener, struct error *e);
/* Connect to a host by name or address. stop_fd becomes readable when it is to be given up (or -1). */
int control_connect(struct control *control, const char *host, int64_t port, int stop_fd, struct error *e);
void control_close(struct control *control);

int control_send(struct control *control, const struct message *message, struct error *e);
/* A message that needs no more than its type. */
int control_say(struct control *control, enum message_type type, struct error *e);
/* Tell the other side why it ends; best effort. */
void control_say_error(struct control *control, const char *text);

/* Take what the socket has without waiting. -1 when the other side has gone. */
int control_fill(struct control *control, struct error *e);
/* The next whole message of what was taken: 1, 0 when there is none yet, -1 when it is not one (or is an error message). */
int control_next(struct control *control, struct message *message, struct error *e);
/* Wait for a message of this type; "alive" ones are passed over. The caller frees it. */
int control_expect(struct control *control, enum message_type type, int64_t timeout_ns, int stop_fd,
                   struct message *message, struct error *e);
/* Who each side is; both send first and then read. */
int control_greet(struct control *control, int stop_fd, struct error *e);

#endif
