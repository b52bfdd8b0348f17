/*
 * The part of HTTP/1.1 that a scrape needs: GET and HEAD, one answer per connection. It never blocks: the
 * caller's poll drives it.
 */
#ifndef COLLECTORS_HTTP_SERVER_H
#define COLLECTORS_HTTP_SERVER_H

#include "lib/error.h"
#include "lib/text.h"
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_CONNECTIONS 16
#define HTTP_POLL_FDS    (HTTP_CONNECTIONS + 1)

struct http_server;

/* Writes the body of /metrics. */
typedef void (*http_body)(void *context, struct text *out);

/* "ADDRESS:PORT", "[ADDRESS]:PORT", ":PORT" for loopback; 0.0.0.0 and [::] are every address. */
struct http_server *http_server_open(const char *where, http_body body, void *context, struct error *e);
void http_server_close(struct http_server *s);
/* The port in use (for ":0"), and the address. */
int64_t http_server_port(const struct http_server *s);
const char *http_server_host(const struct http_server *s);

/* Fill at most HTTP_POLL_FDS entries; returns the number filled. *timeout_ms may become shorter. */
size_t http_server_poll(struct http_server *s, struct pollfd *fds, int *timeout_ms);
/* Serve the descriptors that poll found ready. */
void http_server_handle(struct http_server *s, const struct pollfd *fds, size_t count);

/* What a request asks for, when its head is complete. */
enum http_request { HTTP_INCOMPLETE, HTTP_METRICS, HTTP_ROOT, HTTP_NOT_FOUND, HTTP_BAD_METHOD, HTTP_BAD };
enum http_request http_request_parse(const char *text, size_t length, bool *head_only);

#endif
