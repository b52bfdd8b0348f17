#include "traffic/connection/control.h"

#include "lib/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECT_NS (5LL * NS_PER_S)

/* ---- sockets */

static int set_option(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof value);
}

static struct addrinfo *look_up(const char *host, int64_t port, struct error *e)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    char service[20];
    snprintf(service, sizeof service, "%" PRId64, port);
    int code = getaddrinfo(host, service, &hints, &found);
    if (code == 0)
        return found;
    error_set(e, "\"%.100s\" is not a known host name or address: %s", host, gai_strerror(code));
    return NULL;
}

/* The address as text, IPv4-mapped IPv6 addresses as IPv4. */
static void name_of(const struct sockaddr_storage *address, socklen_t length, char *text, size_t size)
{
    if (getnameinfo((const struct sockaddr *)address, length, text, (socklen_t)size, NULL, 0,
                    NI_NUMERICHOST) != 0)
        snprintf(text, size, "unknown");
    else if (strncmp(text, "::ffff:", 7) == 0 && strchr(text, '.'))
        memmove(text, text + 7, strlen(text + 7) + 1);
}

int control_take(struct control *control, int fd, struct error *e)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    *control = (struct control){.fd = fd, .only_hello = true, .buffer = malloc(WIRE_MAX_LENGTH + 1)};
    if (!control->buffer) {
        close(fd);
        return error_set(e, "out of memory");
    }
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    control->heard_ns = control->said_ns = clock_monotonic_ns();
    if (getpeername(fd, (struct sockaddr *)&address, &length) == 0)
        name_of(&address, length, control->peer, sizeof control->peer);
    length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length) == 0)
        name_of(&address, length, control->local, sizeof control->local);
    return 0;
}

/* Wait until fd is ready for `events`. Returns 1 if ready, 0 after the time limit, -1 if stopped on
 * request. */
static int wait_for(int fd, short events, int stop_fd, int64_t deadline_ns)
{
    for (;;) {
        struct pollfd fds[2] = {{.fd = fd, .events = events}, {.fd = stop_fd, .events = POLLIN}};
        int64_t left_ns = deadline_ns - clock_monotonic_ns();
        if (left_ns < 0)
            left_ns = 0;
        int ready = poll(fds, 2, (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS));
        if (ready > 0 && fds[1].revents)
            return -1;
        if (ready > 0)
            return 1;
        if (ready == 0)
            return 0;
    }
}

static int connect_one(const struct addrinfo *a, int stop_fd)
{
    int number, fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t length = sizeof number;
    if (fd < 0)
        return -1;
    if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
        return fd;
    number = errno;
    if (number == EINPROGRESS) {
        int ready = wait_for(fd, POLLOUT, stop_fd, clock_monotonic_ns() + CONNECT_NS);
        number = ready < 0 ? ECANCELED : ETIMEDOUT;
        if (ready > 0)
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &length);
        if (ready > 0 && number == 0)
            return fd;
    }
    close(fd);
    errno = number;
    return -1;
}

int control_connect(struct control *control, const char *host, int64_t port, int stop_fd, struct error *e)
{
    struct addrinfo *found = look_up(host, port, e);
    int fd = -1;
    if (!found)
        return -1;
    for (struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
        fd = connect_one(a, stop_fd);
    freeaddrinfo(found);
    if (fd < 0 && errno == ECANCELED)
        return error_set(e, "stopped on request");
    if (fd < 0)
        return error_set_errno(e, errno, "connecting to roce-traffic serve at %.100s port %" PRId64, host,
                               port);
    int result = control_take(control, fd, e);
    control->only_hello = false; /* it was chosen by its address */
    return result;
}

void control_close(struct control *control)
{
    if (control->buffer && control->fd >= 0)
        close(control->fd);
    free(control->buffer);
    *control = (struct control){.fd = -1};
}

/* ---- messages */

#define SEND_NS (4LL * NS_PER_S)

int control_send(struct control *control, const struct message *message, struct error *e)
{
    char *text = wire_encode(message);
    if (!text)
        return error_set(e, "out of memory for a control message");
    size_t length = strlen(text), sent = 0;
    text[length++] = '\n'; /* replaces the terminator */
    int64_t deadline_ns = clock_monotonic_ns() + SEND_NS;
    int number = 0;
    while (sent < length && !number) {
        ssize_t n = send(control->fd, text + sent, length - sent, MSG_NOSIGNAL);
        if (n > 0)
            sent += (size_t)n;
        else if (errno == EAGAIN)
            number = wait_for(control->fd, POLLOUT, -1, deadline_ns) > 0 ? 0 : ETIMEDOUT;
        else if (errno != EINTR)
            number = errno;
    }
    free(text);
    control->said_ns = clock_monotonic_ns();
    return number ? error_set_errno(e, number, "sending \"%s\" to the other side (%s)", control->peer,
                                    wire_name(message->type))
                  : 0;
}

int control_say(struct control *control, enum message_type type, struct error *e)
{
    return control_send(control, &(struct message){.type = type}, e);
}

void control_say_error(struct control *control, const char *text)
{
    char copy[1024];
    struct message message = {.type = MESSAGE_ERROR, .error = {.text = copy}};
    snprintf(copy, sizeof copy, "%s", text);
    if (control->buffer)
        control_send(control, &message, NULL);
}

/* The most bytes of the line that is expected. */
static size_t limit_of(const struct control *control)
{
    return control->only_hello ? WIRE_HELLO_LENGTH : WIRE_MAX_LENGTH;
}

int control_fill(struct control *control, struct error *e)
{
    for (;;) {
        size_t room = limit_of(control) - control->used;
        if (room == 0)
            return 0; /* control_next finds out whether that is a message */
        ssize_t n = recv(control->fd, control->buffer + control->used, room, 0);
        if (n > 0) {
            control->used += (size_t)n;
            control->heard_ns = clock_monotonic_ns();
        } else if (n == 0) {
            return error_set(e, "the other side (%s) has disconnected: its process ended or was killed",
                             control->peer);
        } else if (errno == EAGAIN) {
            return 0;
        } else if (errno != EINTR) {
            return error_set_errno(e, errno, "the other side (%s) has disconnected", control->peer);
        }
    }
}

/* Is there a whole line? 1 with its length, 0 if it is not complete yet, -1 if it is too long. */
static int find_line(const struct control *control, size_t *length, struct error *e)
{
    const char *end = memchr(control->buffer, '\n', control->used);
    *length = end ? (size_t)(end - control->buffer) : 0;
    if (!end && control->used == limit_of(control))
        return error_set(e, "%s sent a line of more than %zu bytes: is it a roce-traffic?", control->peer,
                         control->used);
    return end != NULL;
}

static void drop_line(struct control *control, size_t length)
{
    control->used -= length + 1;
    memmove(control->buffer, control->buffer + length + 1, control->used);
}

int control_next(struct control *control, struct message *message, struct error *e)
{
    size_t length;
    *message = (struct message){.type = MESSAGE_TYPES}; /* none */
    int found = find_line(control, &length, e);
    if (found <= 0)
        return found;
    int result = wire_decode(control->buffer, length, message, e);
    drop_line(control, length);
    if (result != 0)
        return error_prefix(e, "from %s", control->peer);
    if (message->type != MESSAGE_ERROR)
        return 1;
    error_set(e, "the other side (%s): %.800s", control->peer, message->error.text);
    wire_free(message);
    return -1;
}

/* The next message that is not "alive", waiting for it. */
static int next_message(struct control *control, enum message_type type, int64_t deadline_ns, int stop_fd,
                        struct message *message, struct error *e)
{
    for (;;) {
        int got = control_next(control, message, e);
        if (got < 0)
            return -1;
        if (got > 0 && message->type != MESSAGE_ALIVE)
            return 0;
        if (got > 0)
            continue;
        int ready = wait_for(control->fd, POLLIN, stop_fd, deadline_ns);
        if (ready < 0)
            return error_set(e, "stopped on request");
        if (ready == 0)
            return error_set(e, "the other side (%s) does not answer: expected \"%s\"", control->peer,
                             wire_name(type));
        /* Messages from before the end are still to be read, such as an error message. */
        if (control_fill(control, e) != 0 && !memchr(control->buffer, '\n', control->used))
            return -1;
    }
}

int control_expect(struct control *control, enum message_type type, int64_t timeout_ns, int stop_fd,
                   struct message *message, struct error *e)
{
    if (next_message(control, type, clock_monotonic_ns() + timeout_ns, stop_fd, message, e) != 0)
        return -1;
    if (message->type == type)
        return 0;
    error_set(e, "%s sent \"%s\": expected \"%s\"", control->peer, wire_name(message->type), wire_name(type));
    wire_free(message);
    return -1;
}

/* ---- the greeting */

static int send_hello(struct control *control, const struct secret *secret, struct error *e)
{
    char version[] = HARNESS_VERSION;
    struct secret copy = *secret;
    struct message mine = {.type = MESSAGE_HELLO,
                           .hello = {.protocol = WIRE_PROTOCOL, .version = version, .secret = copy.text}};
    return control_send(control, &mine, e);
}

static int check_protocol(const struct control *control, const struct hello *theirs, struct error *e)
{
    if (theirs->protocol == WIRE_PROTOCOL)
        return 0;
    return error_set(e,
                     "%s uses control protocol %" PRId64 " (roce-traffic %.40s), this is %d "
                     "(roce-traffic %s): install the same version on both hosts",
                     control->peer, theirs->protocol, theirs->version, WIRE_PROTOCOL, HARNESS_VERSION);
}

int control_greet(struct control *control, const struct secret *secret, int stop_fd, struct error *e)
{
    struct message theirs;
    if (send_hello(control, secret, e) != 0 ||
        control_expect(control, MESSAGE_HELLO, CONTROL_SETUP_NS, stop_fd, &theirs, e) != 0)
        return -1;
    int result = check_protocol(control, &theirs.hello, e);
    wire_free(&theirs);
    return result;
}

/* The secret comes first: nothing of this side is told to a stranger. */
static int check_hello(const struct control *control, const struct hello *theirs, const struct secret *secret,
                       struct error *e)
{
    struct secret given;
    secret_copy(&given, theirs->secret ? theirs->secret : "");
    if (secret_given(secret) && !secret_equal(&given, secret))
        return error_set(e, "%s %s: both sides need the same --secret-file", control->peer,
                         secret_given(&given) ? "knows another secret than this server"
                                              : "does not know this server's secret");
    return check_protocol(control, theirs, e);
}

int control_admit(struct control *control, const struct secret *secret, struct error *e)
{
    static const struct secret none = {{0}}; /* ours is for the server only */
    struct error gone;
    struct message theirs;
    size_t length;
    int ended = control_fill(control, &gone);
    int found = find_line(control, &length, e);
    if (found == 0 && ended != 0)
        return error_set(e, "%s", gone.text);
    if (found <= 0)
        return found;
    if (wire_decode_hello(control->buffer, length, &theirs) != 0)
        return error_set(e, "%s did not say hello as roce-traffic does: is it one?", control->peer);
    drop_line(control, length);
    int result = check_hello(control, &theirs.hello, secret, e);
    wire_free(&theirs);
    if (result != 0 || send_hello(control, &none, e) != 0)
        return -1;
    control->only_hello = false;
    return 1;
}
