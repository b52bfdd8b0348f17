/* Programs that run on hosts during a run, and the lines they print. */
#ifndef HARNESS_REMOTE_STREAM_H
#define HARNESS_REMOTE_STREAM_H

#include "harness/labs/hosts/host.h"
#include "harness/traffic/traffic_tool.h"
#include <poll.h>

enum stream_kind { STREAM_SAMPLER, STREAM_SERVER, STREAM_TRAFFIC };

struct stream {
    enum stream_kind kind;
    const char *program;           /* in messages: "nic-sampler" */
    const struct traffic_job *job; /* STREAM_TRAFFIC: whose flow lines it prints */
    size_t role;                   /* whose clock its times are by */
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

/* What is to be started; all of it but `words` and `input` outlives the stream. */
struct stream_request {
    enum stream_kind kind;
    const char *program;
    const struct traffic_job *job;
    size_t role;
    struct remote_host *host;
    const struct words *words;
    const char *input; /* its standard input, one line; NULL: none */
};

/* Start it on the host. It is ended when this side closes its input, and so when the connection or this program ends. */
int stream_start(struct stream *s, const struct stream_request *request, struct error *e);
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

/* The last thing that the program said, without "PROGRAM: error:"; "" when it was a warning or nothing. */
const char *stream_complaint(const struct stream *s);

#endif
