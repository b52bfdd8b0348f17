#include "collectors/sampler/http_server.h"

#include "lib/clock.h"
#include "lib/network/listener.h"
#include <errno.h>
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
    struct listener listener;
    char host[256];
    int64_t port;
    http_body body;
    void *context;
    struct connection connections[HTTP_CONNECTIONS];
};

/* ---- opening */

/* Take "[::1]:9100" apart into host and port; without a host it is loopback. */
static int split_address(const char *where, char *host, size_t size, int64_t *port, struct error *e)
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
    snprintf(host, size, "%.*s", (int)length, length > 0 ? where : "");
    if (length == 0)
        snprintf(host, size, "%s", LISTENER_LOOPBACK);
    *port = atol(colon + 1);
    return 0;
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
    if (split_address(where, s->host, sizeof s->host, &s->port, e) == 0 &&
        listener_open(&s->listener, s->host, &s->port, e) == 0)
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
    listener_close(&s->listener);
    free(s);
}

int64_t http_server_port(const struct http_server *s)
{
    return s->port;
}

const char *http_server_host(const struct http_server *s)
{
    return s->host;
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

static struct connection *oldest(struct http_server *s)
{
    struct connection *found = NULL;
    for (size_t i = 0; i < HTTP_CONNECTIONS; i++)
        if (s->connections[i].descriptor != -1 && (!found || s->connections[i].began_ns < found->began_ns))
            found = &s->connections[i];
    return found;
}

/* A free connection slot; if there is none, the oldest connection is closed. */
static struct connection *make_place(struct http_server *s)
{
    for (size_t i = 0; i < HTTP_CONNECTIONS; i++)
        if (s->connections[i].descriptor == -1)
            return &s->connections[i];
    struct connection *place = oldest(s);
    hang_up(place);
    return place;
}

/* Without a descriptor the newcomer was turned away; the next one gets that of the oldest connection. */
static void take_connection(struct http_server *s)
{
    int descriptor = listener_accept(&s->listener);
    struct connection *c = descriptor != -1 ? make_place(s) : errno == EMFILE ? oldest(s) : NULL;
    if (descriptor == -1 && c)
        hang_up(c);
    if (descriptor == -1)
        return;
    c->descriptor = descriptor;
    c->began_ns = clock_monotonic_ns();
}

size_t http_server_poll(struct http_server *s, struct pollfd *fds, int *timeout_ms)
{
    size_t count = 0;
    int64_t now_ns = clock_monotonic_ns();
    *timeout_ms = listener_timeout_ms(&s->listener, *timeout_ms);
    fds[count++] = (struct pollfd){.fd = listener_descriptor(&s->listener), .events = POLLIN};
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
        if (fds[i].revents != 0 && fds[i].fd != s->listener.fd)
            handle_connection(s, fds[i].fd);
    for (size_t i = 0; i < count; i++)
        if (fds[i].revents != 0 && fds[i].fd == s->listener.fd)
            take_connection(s);
}
