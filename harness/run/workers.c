#include "harness/run/workers.h"

#include "lib/clock.h"
#include "lib/process.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 100

/* In memory that is shared with the process. */
struct report {
    struct outcome outcome;
    struct error e;
    bool whole; /* the run came to its end */
};

struct worker {
    pid_t pid; /* 0: there is no process */
    bool runs;
    size_t i; /* of the run */
    int line; /* to it goes the number of a run, from it comes a byte when the run has ended */
    int out;  /* its standard output */
    struct text output;
    int64_t began_ns;
};

struct workers {
    const struct work *work;
    struct worker *places;  /* work->jobs of them, */
    struct report *reports; /* as many, shared, */
    struct pollfd *polled;  /* two for each, one for signals, one for `said` */
    int said[2];            /* the runs' standard error; -1: their own */
    size_t running, next;
    int signals; /* passed on so far */
    bool closed; /* no run is begun any more */
};

size_t workers_processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    return count > 0 ? (size_t)count : 1;
}

/* ---- the process */

static void worker_main(const struct workers *w, size_t place, int line, int out, pid_t parent)
{
    const struct work *work = w->work;
    struct report *report = &w->reports[place];
    size_t i;
    setpgid(0, 0);            /* the terminal's signals come from the parent, once each */
    signal(SIGTTOU, SIG_IGN); /* it may print warnings although it is in the background */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(out, STDOUT_FILENO) < 0 ||
        (w->said[1] >= 0 && dup2(w->said[1], STDERR_FILENO) < 0))
        _exit(1);
    for (size_t k = 0; k < work->jobs; k++) /* others end when this end of their line is closed */
        if (w->places[k].pid)
            close(w->places[k].line);
    while (recv(line, &i, sizeof i, MSG_WAITALL) == sizeof i) {
        report->outcome = work->run(work->context, i, place, &report->e);
        report->whole = fflush(stdout) == 0;
        if (!report->whole || send(line, "", 1, MSG_NOSIGNAL) != 1)
            _exit(1);
    }
    _exit(0);
}

static int worker_start(struct workers *w, size_t place, struct error *e)
{
    struct worker *worker = &w->places[place];
    int line[2], out[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0)
        return error_set_errno(e, errno, "making a line to the process of a run");
    if (pipe2(out, O_CLOEXEC) != 0) {
        close(line[0]);
        close(line[1]);
        return error_set_errno(e, errno, "making a pipe for a run");
    }
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        close(line[0]);
        worker_main(w, place, line[1], out[1], parent);
    }
    int why = errno;
    close(line[1]);
    close(out[1]);
    if (pid < 0) {
        close(line[0]);
        close(out[0]);
        return error_set_errno(e, why, "starting the process of a run");
    }
    setpgid(pid, pid);
    *worker = (struct worker){.pid = pid, .line = line[0], .out = out[0]};
    return 0;
}

/* Wait for the process, which has ended or does so when its line is closed. Its status. */
static int worker_bury(struct worker *worker)
{
    int status = 0;
    close(worker->line);
    close(worker->out);
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR) {
    }
    text_free(&worker->output);
    *worker = (struct worker){0};
    return status;
}

static int worker_begin(struct workers *w, size_t place, struct error *e)
{
    struct worker *worker = &w->places[place];
    memset(&w->reports[place], 0, sizeof w->reports[place]);
    /* one that died after its last run hears nothing */
    if (worker->pid && send(worker->line, &w->next, sizeof w->next, MSG_NOSIGNAL) != sizeof w->next)
        worker_bury(worker);
    if (!worker->pid && (worker_start(w, place, e) != 0 ||
                         send(worker->line, &w->next, sizeof w->next, MSG_NOSIGNAL) != sizeof w->next))
        return worker->pid ? error_set_errno(e, errno, "beginning run %zu", w->next + 1) : -1;
    worker->runs = true;
    worker->i = w->next++;
    worker->began_ns = clock_monotonic_ns();
    w->running++;
    return 0;
}

static int workers_begin_more(struct workers *w, struct error *e)
{
    for (size_t place = 0; place < w->work->jobs && w->next < w->work->count && !w->closed; place++)
        if (!w->places[place].runs && worker_begin(w, place, e) != 0)
            return -1;
    return 0;
}

/* ---- this process */

static void worker_read_output(struct worker *worker)
{
    char bytes[4096];
    ssize_t got;
    while ((got = read(worker->out, bytes, sizeof bytes)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0)
            text_add_bytes(&worker->output, bytes, (size_t)got);
}

/* The run has ended, or the process has. */
static void worker_end(struct workers *w, size_t place)
{
    struct worker *worker = &w->places[place];
    const struct report *report = &w->reports[place];
    char byte;
    bool lives = recv(worker->line, &byte, 1, MSG_WAITALL) == 1;
    worker_read_output(worker); /* all of it was written before */
    struct worked worked = {report->outcome, report->e, worker->output,
                            clock_monotonic_ns() - worker->began_ns};
    size_t i = worker->i;
    worker->output = (struct text){0};
    worker->runs = false;
    int status = lives ? 0 : worker_bury(worker);
    if (!report->whole) {
        struct text how = {0};
        process_describe(status, &how);
        worked.outcome = (struct outcome){.ending = ENDING_LAB_FAILED, .verdict = VERDICT_INCOMPLETE};
        error_set(&worked.e, "the process of run %zu %s", i + 1, text_string(&how));
        text_free(&how);
    }
    w->running--;
    if (!w->work->ended(w->work->context, i, &worked))
        w->closed = true;
}

/* A run writes a line at once, which a pipe does not cut (PIPE_BUF). */
static void workers_hear(struct workers *w)
{
    char bytes[PIPE_BUF];
    ssize_t got;
    while (w->said[0] >= 0 && (got = read(w->said[0], bytes, sizeof bytes)) > 0)
        w->work->said(w->work->context, bytes, (size_t)got);
}

static void workers_pass_signals(struct workers *w)
{
    int count = interrupt_count(w->work->interrupt);
    for (; w->signals < count; w->signals++)
        for (size_t place = 0; place < w->work->jobs; place++)
            if (w->places[place].runs)
                kill(w->places[place].pid, SIGINT);
    w->closed |= count > 0;
}

static void workers_wait(struct workers *w)
{
    size_t jobs = w->work->jobs;
    w->work->waiting(w->work->context, w->running);
    for (size_t place = 0; place < jobs; place++) {
        bool runs = w->places[place].runs;
        w->polled[place] = (struct pollfd){runs ? w->places[place].line : -1, POLLIN, 0};
        w->polled[jobs + place] = (struct pollfd){runs ? w->places[place].out : -1, POLLIN, 0};
    }
    w->polled[2 * jobs] = (struct pollfd){w->work->interrupt->fd, POLLIN, 0};
    w->polled[2 * jobs + 1] = (struct pollfd){w->said[0], POLLIN, 0};
    int ready = poll(w->polled, 2 * jobs + 2, LOOK_MS);
    workers_hear(w);
    for (size_t place = 0; ready > 0 && place < jobs; place++)
        if (w->polled[place].revents)
            worker_end(w, place);
        else if (w->polled[jobs + place].revents)
            worker_read_output(&w->places[place]);
    workers_pass_signals(w);
}

static int workers_run_all(struct workers *w, struct error *e)
{
    int result = 0;
    if (w->work->said && pipe2(w->said, O_CLOEXEC | O_NONBLOCK) != 0)
        return error_set_errno(e, errno, "making a pipe for what runs say");
    if (w->said[1] >= 0) /* a run waits for its reader, as at a terminal */
        fcntl(w->said[1], F_SETFL, 0);
    do {
        if (result == 0 && workers_begin_more(w, e) != 0) {
            result = -1;
            w->closed = true;
        }
        if (w->running > 0)
            workers_wait(w);
    } while (w->running > 0 || (w->next < w->work->count && !w->closed));
    for (size_t place = 0; place < w->work->jobs; place++)
        if (w->places[place].pid)
            worker_bury(&w->places[place]);
    workers_hear(w);
    for (int i = 0; i < 2; i++)
        if (w->said[i] >= 0)
            close(w->said[i]);
    return result;
}

int workers_run(const struct work *work, struct error *e)
{
    size_t bytes = work->jobs * sizeof(struct report);
    struct workers w = {.work = work,
                        .said = {-1, -1},
                        .places = calloc(work->jobs, sizeof *w.places),
                        .polled = calloc(2 * work->jobs + 2, sizeof *w.polled),
                        .reports =
                            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)};
    int result = w.places && w.polled && w.reports != MAP_FAILED
                     ? workers_run_all(&w, e)
                     : error_set(e, "out of memory for %zu runs at a time", work->jobs);
    if (w.reports != MAP_FAILED)
        munmap(w.reports, bytes);
    free(w.polled);
    free(w.places);
    return result;
}
