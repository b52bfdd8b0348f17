/* The TCP control connection between two roce-traffic processes: messages of wire.h, with limits of length and time. */
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
    int64_t heard_ns, said_ns;       /* CLOCK_MONOTONIC: time of the last received and the last sent bytes */
    char *buffer;                    /* of WIRE_MAX_LENGTH + 1 bytes */
    size_t used;
};

/* Listen on address (NULL: all, IPv4 and IPv6) and port (0: any; *port is set). A socket, or -1. */
int control_listen(const char *address, int64_t *port, struct error *e);
/* Accept a waiting connection. */
int control_accept(struct control *control, int listener, struct error *e);
/* Connect to a host by name or address. stop_fd (or -1) becomes readable when the attempt must end. */
int control_connect(struct control *control, const char *host, int64_t port, int stop_fd, struct error *e);
void control_close(struct control *control);

int control_send(struct control *control, const struct message *message, struct error *e);
/* Send a message that has only a type. */
int control_say(struct control *control, enum message_type type, struct error *e);
/* Tell the other side the reason for the end; failures are ignored. */
void control_say_error(struct control *control, const char *text);

/* Read what the socket has, without waiting. -1 if the other side has disconnected. */
int control_fill(struct control *control, struct error *e);
/* The next complete message of what was read: 1, 0 if it is not complete yet, -1 if it is invalid or an error message. */
int control_next(struct control *control, struct message *message, struct error *e);
/* Wait for a message of this type; "alive" messages are skipped. The caller frees it. */
int control_expect(struct control *control, enum message_type type, int64_t timeout_ns, int stop_fd,
                   struct message *message, struct error *e);
/* Exchange program and version; both sides first send, then read. */
int control_greet(struct control *control, int stop_fd, struct error *e);

#endif
