#include "lib/network/listener.h"

#include "lib/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 64
#define REST_NS (100 * NS_PER_MS)

/* An IPv6 address can be used some time after it was given or its link came up: duplicate address detection
 * (RFC 4862, 5.4) takes 1 s after a random delay of at most 1 s. */
#define TENTATIVE_NS (3 * NS_PER_S)

/* ---- opening */

static int bind_and_listen(int fd, const struct addrinfo *a)
{
    int64_t deadline_ns = clock_monotonic_ns() + (a->ai_family == AF_INET6 ? TENTATIVE_NS : 0);
    while (bind(fd, a->ai_addr, a->ai_addrlen) != 0) {
        if (errno != EADDRNOTAVAIL || clock_monotonic_ns() >= deadline_ns)
            return -1;
        usleep(REST_NS / NS_PER_US);
    }
    return listen(fd, BACKLOG);
}

static int listen_on(const struct addrinfo *a)
{
    int on = 1, off = 0;
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (a->ai_family == AF_INET6) /* one socket for both families */
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind_and_listen(fd, a) == 0)
        return fd;
    int number = errno;
    close(fd);
    errno = number;
    return -1;
}

_Static_assert(offsetof(struct sockaddr_in, sin_port) == offsetof(struct sockaddr_in6, sin6_port),
               "ports' place");

/* The first of the host's addresses that can be used; -1 with errno. */
static int listen_on_any(const char *host, int64_t port, struct error *e)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV},
                    *found = NULL;
    char service[24];
    int fd = -1;
    snprintf(service, sizeof service, "%" PRId64, port);
    int code = getaddrinfo(host, service, &hints, &found);
    if (code != 0) {
        errno = EINVAL;
        return error_set(e, "\"%.100s\" is not a known host name or address: %s", host, gai_strerror(code));
    }
    for (struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
        fd = listen_on(a);
    int number = errno;
    freeaddrinfo(found);
    errno = number;
    if (fd >= 0)
        return fd;
    return error_set_errno(e, number, "listening on %.100s port %" PRId64 "%s", host, port,
                           number == EADDRINUSE ? " (is another one running?)" : "");
}

int listener_open(struct listener *l, const char *host, int64_t *port, struct error *e)
{
    *l = (struct listener){.fd = listen_on_any(host ? host : "::", *port, e), .spare = -1};
    if (l->fd < 0 && !host && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL)) /* a host without IPv6 */
        l->fd = listen_on_any("0.0.0.0", *port, e);
    if (l->fd < 0)
        return -1;
    l->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct sockaddr_in6 address = {0};
    socklen_t length = sizeof address;
    getsockname(l->fd, (struct sockaddr *)&address, &length);
    *port = ntohs(address.sin6_port); /* an IPv4 address has its port at the same place */
    return 0;
}

void listener_close(struct listener *l)
{
    if (l->fd >= 0)
        close(l->fd);
    if (l->spare >= 0)
        close(l->spare);
    *l = (struct listener){.fd = -1, .spare = -1};
}

/* ---- accepting */

static int64_t rest_ns(const struct listener *l)
{
    int64_t left_ns = l->rest_until_ns ? l->rest_until_ns - clock_monotonic_ns() : 0;
    return left_ns > 0 ? left_ns : 0;
}

int listener_descriptor(const struct listener *l)
{
    return rest_ns(l) ? -1 : l->fd;
}

int listener_timeout_ms(const struct listener *l, int timeout_ms)
{
    int rest_ms = (int)((rest_ns(l) + NS_PER_MS - 1) / NS_PER_MS);
    return rest_ms && (timeout_ms < 0 || rest_ms < timeout_ms) ? rest_ms : timeout_ms;
}

/* Without this, the connection would wait in the kernel, and poll would return at once again and again. */
static bool turn_away(struct listener *l)
{
    if (l->spare < 0)
        return false;
    close(l->spare);
    int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0)
        close(fd);
    l->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return fd >= 0;
}

int listener_accept(struct listener *l)
{
    int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), number = errno;
    if (fd >= 0)
        return fd;
    bool full = number == EMFILE || number == ENFILE;
    if ((full && !turn_away(l)) || number == ENOBUFS || number == ENOMEM)
        l->rest_until_ns = clock_monotonic_ns() + REST_NS;
    errno = full ? EMFILE : number;
    return -1;
}
