#include "collectors/sampler/http_server.h"

#include "lib/clock.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUEST_BYTES 4096
#define PATIENCE_NS   (10 * NS_PER_S)

struct connection {
    int descriptor; /* -1: free */
    int64_t began_ns;
    char request[REQUEST_BYTES];
    size_t received;
    struct text answer; /* empty while the request is being read */
    size_t sent;
};

struct http_server {
    int listener;
    http_body body;
    void *context;
    struct connection connections[HTTP_CONNECTIONS];
};

/* ---- opening */

/* Take "[::1]:9100" apart into host and service; host "" is every address. */
static int split_address(const char *where, char *host, size_t size, const char **port, struct error *e)
{
    const char *colon = strrchr(where, ':');
    size_t length = colon ? (size_t)(colon - where) : 0;
    if (!colon || colon[1] == '\0' || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
        strlen(colon + 1) > 5 || atol(colon + 1) > 65535)
        return error_set(e, "\"%.80s\" is not a valid address to listen on: expected ADDRESS:PORT or :PORT",
                         where);
    if (length >= 2 && where[0] == '[' && where[length - 1] == ']') {
        where++;
        length -= 2;
    }
    if (length >= size)
        return error_set(e, "\"%.80s\" is not a valid address to listen on: it is too long", where);
    memcpy(host, where, length);
    host[length] = '\0';
    *port = colon + 1;
    return 0;
}

static int listen_at(const struct addrinfo *a)
{
    int on = 1, off = 0;
    int s = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
    if (s == -1)
        return -1;
    (void)setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    /* [::] serves IPv4 as well. */
    if (a->ai_family == AF_INET6)
        (void)setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(s, a->ai_addr, a->ai_addrlen) == 0 && listen(s, 16) == 0)
        return s;
    int number = errno;
    close(s);
    errno = number;
    return -1;
}

static int open_listener(const char *where, struct error *e)
{
    char host[256] = "";
    const char *port = "";
    if (split_address(where, host, sizeof host, &port, e) == -1)
        return -1;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *list;
    int code = getaddrinfo(host[0] != '\0' ? host : NULL, port, &hints, &list);
    if (code != 0)
        return error_set(e, "cannot listen on %s: %s", where, gai_strerror(code));
    int s = -1, number = 0;
    /* For every address, prefer IPv6: its socket takes both. */
    for (int pass = 0; pass < 2 && s == -1; pass++)
        for (const struct addrinfo *a = list; a && s == -1; a = a->ai_next)
            if ((a->ai_family == AF_INET6) == (pass == 0) && (s = listen_at(a)) == -1)
                number = errno;
    freeaddrinfo(list);
    return s != -1 ? s : error_set_errno(e, number, "cannot listen on %s", where);
}

struct http_server *http_server_open(const char *where, http_body body, void *context, struct error *e)
{
    struct http_server *s = calloc(1, sizeof *s);
    if (!s) {
        error_set(e, "out of memory for the HTTP server");
        return NULL;
    }
    for (size_t i = 0; i < HTTP_CONNECTIONS; i++)
        s->connections[i].descriptor = -1;
    s->body = body;
    s->context = context;
    s->listener = open_listener(where, e);
    if (s->listener != -1)
        return s;
    free(s);
    return NULL;
}

static void hang_up(struct connection *c)
{
    if (c->descriptor != -1)
        close(c->descriptor);
    text_free(&c->answer);
    *c = (struct connection){.descriptor = -1};
}

void http_server_close(struct http_server *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < HTTP_CONNECTIONS; i++)
        hang_up(&s->connections[i]);
    close(s->listener);
    free(s);
}

int http_server_port(const struct http_server *s)
{
    struct sockaddr_storage a = {0};
    socklen_t length = sizeof a;
    char port[8];
    if (getsockname(s->listener, (struct sockaddr *)&a, &length) == -1 ||
        getnameinfo((struct sockaddr *)&a, length, NULL, 0, port, sizeof port, NI_NUMERICSERV) != 0)
        return -1;
    return (int)strtol(port, NULL, 10);
}

/* ---- requests and answers */

static bool is_path(const char *from, const char *end, const char *path)
{
    size_t length = strlen(path);
    return (size_t)(end - from) >= length && memcmp(from, path, length) == 0 &&
           (from + length == end || from[length] == '?');
}

enum http_request http_request_parse(const char *text, size_t length, bool *head_only)
{
    *head_only = false;
    if (!memmem(text, length, "\r\n\r\n", 4) && !memmem(text, length, "\n\n", 2))
        return HTTP_INCOMPLETE;
    const char *line_end = memchr(text, '\n', length);
    const char *space = memchr(text, ' ', (size_t)(line_end - text));
    const char *path = space ? space + 1 : line_end;
    const char *path_end = memchr(path, ' ', (size_t)(line_end - path));
    if (!path_end || (size_t)(line_end - path_end) < 7 || memcmp(path_end, " HTTP/1", 7) != 0)
        return HTTP_BAD;
    size_t method = (size_t)(space - text);
    *head_only = method == 4 && memcmp(text, "HEAD", 4) == 0;
    if (!*head_only && !(method == 3 && memcmp(text, "GET", 3) == 0))
        return HTTP_BAD_METHOD;
    if (is_path(path, path_end, "/metrics"))
        return HTTP_METRICS;
    return is_path(path, path_end, "/") ? HTTP_ROOT : HTTP_NOT_FOUND;
}

static void answer(struct http_server *s, struct connection *c, enum http_request what, bool head_only)
{
    static const struct {
        const char *status, *type, *body;
    } answers[] = {
        [HTTP_METRICS] = {"200 OK", "text/plain; version=0.0.4; charset=utf-8", ""},
        [HTTP_ROOT] = {"200 OK", "text/html; charset=utf-8",
                       "<!doctype html><title>nic-sampler</title><p><a href=\"/metrics\">metrics</a></p>\n"},
        [HTTP_NOT_FOUND] = {"404 Not Found", "text/plain; charset=utf-8", "only /metrics exists\n"},
        [HTTP_BAD_METHOD] = {"405 Method Not Allowed\r\nAllow: GET, HEAD", "text/plain; charset=utf-8",
                             "expected GET or HEAD\n"},
        [HTTP_BAD] = {"400 Bad Request", "text/plain; charset=utf-8", "this is not an HTTP/1 request\n"},
    };
    struct text body = {0};
    if (what == HTTP_METRICS)
        s->body(s->context, &body);
    else
        text_add(&body, "%s", answers[what].body);
    text_add(&c->answer,
             "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
             answers[what].status, answers[what].type, body.length);
    if (!head_only)
        text_add_bytes(&c->answer, text_string(&body), body.length);
    bool failed = body.failed || c->answer.failed;
    text_free(&body);
    if (failed)
        hang_up(c);
}

static void receive(struct http_server *s, struct connection *c)
{
    ssize_t got = recv(c->descriptor, c->request + c->received, sizeof c->request - c->received, 0);
    if (got == -1 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        hang_up(c);
        return;
    }
    c->received += (size_t)got;
    bool head_only;
    enum http_request what = http_request_parse(c->request, c->received, &head_only);
    if (what == HTTP_INCOMPLETE && c->received == sizeof c->request)
        what = HTTP_BAD;
    if (what != HTTP_INCOMPLETE)
        answer(s, c, what, head_only);
}

static void transmit(struct connection *c)
{
    ssize_t sent = send(c->descriptor, c->answer.data + c->sent, c->answer.length - c->sent, MSG_NOSIGNAL);
    if (sent == -1 && (errno == EAGAIN || errno == EINTR))
        return;
    if (sent > 0)
        c->sent += (size_t)sent;
    if (sent == -1 || c->sent == c->answer.length) {
        (void)shutdown(c->descriptor, SHUT_WR);
        hang_up(c);
    }
}

/* ---- driving */

/* A free connection slot; if there is none, the oldest connection is closed. */
static struct connection *make_place(struct http_server *s)
{
    struct connection *oldest = &s->connections[0];
    for (size_t i = 0; i < HTTP_CONNECTIONS; i++) {
        if (s->connections[i].descriptor == -1)
            return &s->connections[i];
        if (s->connections[i].began_ns < oldest->began_ns)
            oldest = &s->connections[i];
    }
    hang_up(oldest);
    return oldest;
}

static void take_connection(struct http_server *s)
{
    int descriptor = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor == -1)
        return;
    struct connection *c = make_place(s);
    c->descriptor = descriptor;
    c->began_ns = clock_monotonic_ns();
}

size_t http_server_poll(struct http_server *s, struct pollfd *fds)
{
    size_t count = 0;
    int64_t now_ns = clock_monotonic_ns();
    fds[count++] = (struct pollfd){.fd = s->listener, .events = POLLIN};
    for (size_t i = 0; i < HTTP_CONNECTIONS; i++) {
        struct connection *c = &s->connections[i];
        if (c->descriptor != -1 && now_ns - c->began_ns > PATIENCE_NS)
            hang_up(c);
        if (c->descriptor != -1)
            fds[count++] =
                (struct pollfd){.fd = c->descriptor, .events = c->answer.length > 0 ? POLLOUT : POLLIN};
    }
    return count;
}

static void handle_connection(struct http_server *s, int descriptor)
{
    for (size_t i = 0; i < HTTP_CONNECTIONS; i++) {
        struct connection *c = &s->connections[i];
        if (c->descriptor != descriptor)
            continue;
        if (c->answer.length == 0)
            receive(s, c);
        if (c->descriptor != -1 && c->answer.length > 0)
            transmit(c);
        return;
    }
}

void http_server_handle(struct http_server *s, const struct pollfd *fds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fds[i].revents != 0 && fds[i].fd != s->listener)
            handle_connection(s, fds[i].fd);
    for (size_t i = 0; i < count; i++)
        if (fds[i].revents != 0 && fds[i].fd == s->listener)
            take_connection(s);
}
