#include "collectors/sampler/output.h"

#include "lib/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE_NS (10 * NS_PER_S)

#define PIPE_WANTED (1 << 20)
#define PIPE_PAGE   4096

struct output {
    int descriptor;
    bool is_pipe, is_socket, is_file;
    size_t pipe_pages;
    FILE *stream; /* on data and length */
    char *data;
    size_t length;
};

/* A short delay of the reader must not delay sampling; without privilege the limit is pipe-max-size. */
static void measure_pipe(struct output *o)
{
    (void)fcntl(o->descriptor, F_SETPIPE_SZ, PIPE_WANTED);
    int size = fcntl(o->descriptor, F_GETPIPE_SZ);
    o->is_pipe = size > 0; /* a standard output that cannot be made non-blocking is written with waiting */
    o->pipe_pages = o->is_pipe ? (size_t)size / PIPE_PAGE : 0;
}

struct output *output_open(int descriptor, struct error *e)
{
    struct stat status;
    struct output *o = calloc(1, sizeof *o);
    if (!o || fstat(descriptor, &status) == -1) {
        error_set_errno(e, errno, "standard output cannot be used");
        free(o);
        return NULL;
    }
    o->descriptor = descriptor;
    o->is_pipe = S_ISFIFO(status.st_mode);
    o->is_socket = S_ISSOCK(status.st_mode);
    o->is_file = S_ISREG(status.st_mode);
    if (o->is_pipe)
        measure_pipe(o);
    o->stream = open_memstream(&o->data, &o->length);
    if (!o->stream) {
        error_set_errno(e, errno, "out of memory for lines");
        output_close(o);
        return NULL;
    }
    return o;
}

void output_close(struct output *o)
{
    if (!o)
        return;
    if (o->stream)
        fclose(o->stream);
    free(o->data);
    free(o);
}

FILE *output_stream(struct output *o)
{
    return o->stream;
}

/*
 * Is there room in the pipe for all of `length`? A pipe takes up to PIPE_BUF bytes whole or not at all; of a
 * longer line it could take a part and then block. A pipe has a fixed number of pages, and any two adjacent
 * pages together hold more than one page, because a write that fits is appended to the page before (linux
 * fs/pipe.c). Therefore the data occupies at most twice its size.
 */
static bool pipe_has_room(const struct output *o, size_t length)
{
    int held = 0;
    if (ioctl(o->descriptor, FIONREAD, &held) == -1)
        return false;
    size_t occupied = 2 * (size_t)held / PIPE_PAGE + 1, needed = length / PIPE_PAGE + 2;
    /* A line longer than the pipe is written in parts. */
    return held == 0 || occupied + needed <= o->pipe_pages;
}

/* Can it probably be written without waiting? A socket reports EAGAIN when it cannot. */
static bool takes_at_once(const struct output *o, size_t length)
{
    return o->is_file || o->is_socket || (o->is_pipe && pipe_has_room(o, length));
}

/* Wait until something can be written. */
static enum output_result wait_for_room(const struct output *o, size_t length, int wake, int64_t until_ns,
                                        struct error *e)
{
    struct pollfd p[] = {{.fd = o->descriptor, .events = POLLOUT}, {.fd = wake, .events = POLLIN}};
    for (;;) {
        int64_t left_ns = until_ns - clock_monotonic_ns();
        if (left_ns <= 0) {
            error_set(e, "standard output is full: it was not read for %lld s",
                      (long long)(PATIENCE_NS / NS_PER_S));
            return OUTPUT_FAILED;
        }
        bool room = !o->is_pipe || length <= PIPE_BUF || pipe_has_room(o, length);
        /* poll cannot wait for more than one free page in a pipe: check again soon. */
        p[0].events = room ? POLLOUT : 0;
        int ready = poll(p, 2, room ? (int)(left_ns / NS_PER_MS) + 1 : 5);
        if (ready == -1 && errno != EINTR) {
            error_set_errno(e, errno, "waiting for room in standard output");
            return OUTPUT_FAILED;
        }
        if (ready > 0 && (p[0].revents & POLLERR) && o->is_pipe)
            return OUTPUT_CLOSED;
        if (ready > 0 && (p[0].revents & (POLLOUT | POLLHUP | POLLERR | POLLNVAL)))
            return OUTPUT_DONE;
        if (ready > 0 && p[1].revents != 0)
            return OUTPUT_STOPPED;
    }
}

static enum output_result write_out(const struct output *o, int wake, struct error *e)
{
    int64_t until_ns = clock_monotonic_ns() + PATIENCE_NS;
    bool full = false;
    for (size_t at = 0; at < o->length;) {
        if (full || !takes_at_once(o, o->length - at)) {
            enum output_result room = wait_for_room(o, o->length - at, wake, until_ns, e);
            if (room != OUTPUT_DONE)
                return room;
        }
        full = false;
        const char *rest = o->data + at;
        ssize_t written = o->is_socket
                              ? send(o->descriptor, rest, o->length - at, MSG_DONTWAIT | MSG_NOSIGNAL)
                              : write(o->descriptor, rest, o->length - at);
        if (written >= 0) {
            at += (size_t)written;
        } else if (errno == EPIPE || errno == ECONNRESET) {
            return OUTPUT_CLOSED;
        } else if (errno == EAGAIN) {
            full = true;
        } else if (errno != EINTR) {
            error_set_errno(e, errno, "writing to standard output");
            return OUTPUT_FAILED;
        }
    }
    return OUTPUT_DONE;
}

enum output_result output_send(struct output *o, int wake, struct error *e)
{
    if (fflush(o->stream) != 0) {
        error_set_errno(e, errno, "writing a line to the buffer");
        return OUTPUT_FAILED;
    }
    enum output_result result = write_out(o, wake, e);
    rewind(o->stream);
    return result;
}
