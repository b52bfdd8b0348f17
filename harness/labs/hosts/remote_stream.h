/* Programs that run on hosts during a run, and the lines they print. */
#ifndef HARNESS_REMOTE_STREAM_H
#define HARNESS_REMOTE_STREAM_H

#include "harness/labs/hosts/host.h"
#include "harness/traffic/collective_tool.h"
#include "harness/traffic/traffic_tool.h"
#include "lib/network/secret.h"
#include <poll.h>

struct spool;
struct sonic_series;

enum stream_kind { STREAM_SAMPLER, STREAM_SERVER, STREAM_TRAFFIC, STREAM_CAPTURER, STREAM_COLLECTIVE };

/* A NIC whose samples are among a sampler's lines. */
struct stream_nic {
    size_t role;
    char *begins_sample, *begins_object; /* how its lines begin */
    int64_t sample_ns;                   /* when its last sample was taken; 0: none has come */
};

struct stream {
    enum stream_kind kind;
    const char *program;                     /* in messages: "nic-sampler" */
    const struct traffic_job *job;           /* of traffic; of a server: the first that it serves */
    const struct collective_job *collective; /* of STREAM_COLLECTIVE */
    size_t role;                             /* its times are by the clock of this role */
    struct stream_nic *nics; /* of a sampler of several NICs: its lines say whose they are; NULL: of one */
    size_t nic_count;
    struct remote_host *host;
    struct process process;
    struct text line; /* an incomplete line of output */
    struct text said; /* the last whole line on stderr; of a tool that is read whole its lines */
    struct text saying;
    struct text printed; /* of a traffic tool that prints no flow lines: the whole lines of its output */
    bool was_read, unreadable;
    struct nccl_debug debug; /* of a collective: what NCCL has said */
    json_t *figures;         /* of a collective, once it was read */
    bool wrong;              /* the collective's results were wrong, as it says itself */
    bool cut;                /* it was told to end while it ran */
    struct error why;        /* it is unreadable */
    int64_t heard_ns;        /* time of the last output, monotonic */
    uint64_t lines;
    int64_t sample_ns;   /* of a sampler: when its last sample was taken, by the clock of its host; of several
                            NICs the earliest of their last ones, 0 before each has one */
    struct spool *spool; /* of STREAM_CAPTURER: what it sends goes there */
    const struct sonic_series
        *series;  /* of a switch's sampler: its lines are readings, from which samples are made */
    bool ready;   /* a driver that awaits its start has said so */
    bool running; /* its output is open */
    bool reaped;
    int status; /* as waitpid's, once reaped */
};

/* A program to start. Everything except `words`, `secret` and `input` must stay valid until the stream is
 * closed. */
struct stream_request {
    enum stream_kind kind;
    const char *program;
    const struct traffic_job *job;
    const struct collective_job *collective;
    size_t role;
    struct remote_host *host;
    const struct words *words;
    const struct secret *secret;       /* the first line of its standard input, not for the log; NULL: none */
    const char *input;                 /* the next line of its standard input; NULL: none */
    struct spool *spool;               /* of STREAM_CAPTURER */
    const struct sonic_series *series; /* of a switch's sampler: its lines are readings */
    bool more;                         /* lines for its standard input will follow (stream_say) */
};

/* Start it on the host. It ends when this side closes its input, hence also when the connection or this
 * program ends. */
int stream_start(struct stream *s, const struct stream_request *request, struct error *e);
/* A sampler that was started samples this NIC, too, whose lines go to the role: each of its lines is one of
 * such a NIC from now on. */
void stream_add_nic(struct stream *s, size_t role, const char *netdev);
/* A further line for its standard input. */
int stream_say(struct stream *s, const char *line, struct error *e);
/* The two descriptors to poll; negative once closed. */
void stream_poll(const struct stream *s, struct pollfd fds[2]);
/* Read the available output: lines go to the recorder, frames to the spool, messages to the log. -1: they
 * could not be written, or a line never ended. */
int stream_take(struct stream *s, const struct lab_run *run, struct error *e);
/* The command that the output of a server or driver names, where the tool does not come with harness; or
 * "". */
void stream_ran(const struct stream *s, struct text *command);
/* What run.log has of what the host's programs said, and of lines that were damaged. */
#define STREAM_LOG_MOST (8u << 20)
/* May it end by itself during a run? */
bool stream_may_end(const struct stream *s);
/* Tell it to end: closes its standard input. */
void stream_tell_end(struct stream *s);
/* After its output was closed: how it ended. Waits at most wait_ns for its end. */
enum stream_outcome { STREAM_WELL, STREAM_BADLY, STREAM_NOT_YET };
enum stream_outcome stream_outcome(struct stream *s, const struct lab_run *run, int64_t wait_ns,
                                   struct error *e);
void stream_close(struct stream *s);

/* Add ": " and what the program has said of its failure: its last message, without "PROGRAM: error:"; of a
 * traffic tool what its messages mean. Nothing if that was a warning or there was none. */
void stream_add_complaint(const struct stream *s, struct text *out);

#endif
