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

#define HTTP_CONNECTIONS 16
#define HTTP_POLL_FDS    (HTTP_CONNECTIONS + 1)

struct http_server;

/* Writes the body of /metrics. */
typedef void (*http_body)(void *context, struct text *out);

/* "ADDRESS:PORT", "[ADDRESS]:PORT", ":PORT" for every address. */
struct http_server *http_server_open(const char *where, http_body body, void *context, struct error *e);
void http_server_close(struct http_server *s);
/* The port in use (for ":0"). */
int http_server_port(const struct http_server *s);

/* Fill at most HTTP_POLL_FDS entries; returns the number filled. */
size_t http_server_poll(struct http_server *s, struct pollfd *fds);
/* Serve the descriptors that poll found ready. */
void http_server_handle(struct http_server *s, const struct pollfd *fds, size_t count);

/* What a request asks for, when its head is complete. */
enum http_request { HTTP_INCOMPLETE, HTTP_METRICS, HTTP_ROOT, HTTP_NOT_FOUND, HTTP_BAD_METHOD, HTTP_BAD };
enum http_request http_request_parse(const char *text, size_t length, bool *head_only);

#endif
