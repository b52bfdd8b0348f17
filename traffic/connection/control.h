/* The TCP control connection between two roce-traffic processes: messages of wire.h, with limits of length
 * and time. */
#ifndef TRAFFIC_CONTROL_H
#define TRAFFIC_CONTROL_H

#include "lib/network/secret.h"
#include "traffic/connection/wire.h"

#define CONTROL_SETUP_NS \
    (30LL * 1000000000)        /* for each step before traffic: hello, memory, queue pairs, connections */
#define CONTROL_ADDRESS_MAX 64 /* an IPv6 address with its zone, as text */

struct control {
    int fd;
    char peer[CONTROL_ADDRESS_MAX];  /* the other side's address */
    char local[CONTROL_ADDRESS_MAX]; /* this side's address */
    int64_t heard_ns, said_ns;       /* CLOCK_MONOTONIC: time of the last received and the last sent bytes */
    char *buffer;                    /* of WIRE_MAX_LENGTH + 1 bytes */
    size_t used;
    bool only_hello; /* not greeted yet: at most WIRE_HELLO_LENGTH bytes are read */
};

/* Use a connection that was accepted; it is closed on error. */
int control_take(struct control *control, int fd, struct error *e);
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
/* The next complete message of what was read: 1, 0 if it is not complete yet, -1 if it is invalid or an error
 * message. */
int control_next(struct control *control, struct message *message, struct error *e);
/* Wait for a message of this type; "alive" messages are skipped. The caller frees it. */
int control_expect(struct control *control, enum message_type type, int64_t timeout_ns, int stop_fd,
                   struct message *message, struct error *e);
/* The driver's side of the greeting: say hello, with the session's secret (or none), and wait for the
 * server's. */
int control_greet(struct control *control, const struct secret *secret, int stop_fd, struct error *e);
/* The server's side, without waiting: 1 when the driver has said hello with this secret (any hello, if there
 * is none) and the answer was sent, 0 when its hello is not complete, -1 when it is refused or gone. Of what
 * a stranger sends, only a hello is parsed. */
int control_admit(struct control *control, const struct secret *secret, struct error *e);

#endif
