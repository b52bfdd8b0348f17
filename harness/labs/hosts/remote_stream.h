/* Programs that run on hosts during a run, and the lines they print. */
#ifndef HARNESS_REMOTE_STREAM_H
#define HARNESS_REMOTE_STREAM_H

#include "harness/labs/hosts/host.h"
#include <poll.h>

enum stream_kind { STREAM_SAMPLER, STREAM_SERVER, STREAM_TRAFFIC };

struct stream {
    enum stream_kind kind;
    size_t role; /* whose clock its times are by */
    struct remote_host *host;
    struct process process;
    struct text line; /* what came of a line so far */
    struct text said; /* the last whole line on stderr */
    struct text saying;
    int64_t heard_ns; /* when something last came, monotonic */
    uint64_t lines;
    bool running; /* its output is open */
    bool reaped;
    int status; /* as waitpid's, once reaped */
};

/* Start argv on the host. It ends when its standard input is closed, and so when the connection or this program ends. */
int stream_start(struct stream *s, enum stream_kind kind, size_t role, struct remote_host *host,
                 const char *const argv[], struct error *e);
/* The descriptors to poll: two, negative ones where there is nothing more. */
void stream_poll(const struct stream *s, struct pollfd fds[2]);
/* Take what has come: lines go to the recorder, messages to the log. -1: the recorder could not write, or a line never ended. */
int stream_take(struct stream *s, const struct lab_run *run, struct error *e);
/* Tell it to end: closes its standard input. */
void stream_tell_end(struct stream *s);
/* Once its output is closed: how it ended, waiting at most wait_ns for it. */
enum stream_outcome { STREAM_WELL, STREAM_BADLY, STREAM_NOT_YET };
enum stream_outcome stream_outcome(struct stream *s, const struct lab_run *run, int64_t wait_ns,
                                   struct error *e);
void stream_close(struct stream *s);

const char *stream_program(const struct stream *s);
/* The last thing that the program said, without "PROGRAM: error:"; "" when it was a warning or nothing. */
const char *stream_complaint(const struct stream *s);

#endif
