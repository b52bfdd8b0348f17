#include "collectors/output.h"

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

struct output {
    int descriptor;
    bool is_pipe, is_socket;
    FILE *stream; /* on data and length */
    char *data;
    size_t length;
};

struct output *output_open(int descriptor, struct error *e)
{
    struct stat status;
    struct output *o = calloc(1, sizeof(*o));
    if (o == NULL || fstat(descriptor, &status) == -1) {
        error_set_errno(e, errno, "standard output cannot be used");
        free(o);
        return NULL;
    }
    o->descriptor = descriptor;
    o->is_pipe = S_ISFIFO(status.st_mode);
    o->is_socket = S_ISSOCK(status.st_mode);
    /* A reader who is late for a moment must not hold sampling up; without privilege at most pipe-max-size is given. */
    if (o->is_pipe)
        (void)fcntl(descriptor, F_SETPIPE_SZ, PIPE_WANTED);
    o->stream = open_memstream(&o->data, &o->length);
    if (o->stream == NULL) {
        error_set_errno(e, errno, "no memory for lines");
        output_close(o);
        return NULL;
    }
    return o;
}

void output_close(struct output *o)
{
    if (o == NULL)
        return;
    if (o->stream != NULL)
        fclose(o->stream);
    free(o->data);
    free(o);
}

FILE *output_stream(struct output *o)
{
    return o->stream;
}

/*
 * Is there room in the pipe for all of `length`? A pipe takes up to PIPE_BUF bytes whole or not at all; longer lines could
 * be cut when the reader stops reading. A pipe has a number of pages, and any two neighbours hold more than a page
 * together, since a write that fits is put behind the one before (linux fs/pipe.c): so twice the bytes is as much as
 * they can occupy.
 */
static bool pipe_has_room(int descriptor, size_t length)
{
    int held = 0, size = fcntl(descriptor, F_GETPIPE_SZ);
    if (length <= PIPE_BUF || size <= 0 || ioctl(descriptor, FIONREAD, &held) == -1)
        return true;
    size_t page = 4096;
    size_t occupied = 2 * (size_t)held / page + 1, needed = length / page + 2;
    /* What can never fit is written in parts. */
    return held == 0 || occupied + needed <= (size_t)size / page;
}

/* Wait until something can be written. */
static enum output_result wait_for_room(const struct output *o, size_t length, int wake, int64_t until_ns,
                                        struct error *e)
{
    struct pollfd p[] = {{.fd = o->descriptor, .events = POLLOUT}, {.fd = wake, .events = POLLIN}};
    for (;;) {
        int64_t left_ns = until_ns - clock_monotonic_ns();
        if (left_ns <= 0) {
            error_set(e, "standard output is full: nobody has read it for %lld s",
                      (long long)(PATIENCE_NS / NS_PER_S));
            return OUTPUT_FAILED;
        }
        bool room = !o->is_pipe || pipe_has_room(o->descriptor, length);
        /* Room in a pipe for more than a page cannot be waited for: look again soon. */
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
    for (size_t at = 0; at < o->length;) {
        enum output_result room = wait_for_room(o, o->length - at, wake, until_ns, e);
        if (room != OUTPUT_DONE)
            return room;
        const char *rest = o->data + at;
        ssize_t written = o->is_socket
                              ? send(o->descriptor, rest, o->length - at, MSG_DONTWAIT | MSG_NOSIGNAL)
                              : write(o->descriptor, rest, o->length - at);
        if (written >= 0) {
            at += (size_t)written;
        } else if (errno == EPIPE || errno == ECONNRESET) {
            return OUTPUT_CLOSED;
        } else if (errno != EINTR && errno != EAGAIN) {
            error_set_errno(e, errno, "writing to standard output");
            return OUTPUT_FAILED;
        }
    }
    return OUTPUT_DONE;
}

enum output_result output_send(struct output *o, int wake, struct error *e)
{
    if (fflush(o->stream) != 0) {
        error_set_errno(e, errno, "putting a line together");
        return OUTPUT_FAILED;
    }
    enum output_result result = write_out(o, wake, e);
    rewind(o->stream);
    return result;
}
