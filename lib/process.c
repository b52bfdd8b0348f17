#include "lib/process.h"

#include "lib/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_LIMIT (16u << 20)

/* The ends of a child's pipes; -1: no pipe. */
struct pipes {
    int child[3];
    int parent[3];
};

static void close_all(const int fds[3])
{
    for (int i = 0; i < 3; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

static int open_pipes(struct pipes *p, int wanted, struct error *e)
{
    *p = (struct pipes){{-1, -1, -1}, {-1, -1, -1}};
    for (int i = 0; i < 3; i++) {
        int ends[2];
        if (!(wanted & (1 << i)))
            continue;
        if (pipe2(ends, O_CLOEXEC) != 0) {
            error_set_errno(e, errno, "making a pipe");
            close_all(p->child);
            close_all(p->parent);
            return -1;
        }
        p->child[i] = ends[i == 0 ? 0 : 1];
        p->parent[i] = ends[i == 0 ? 1 : 0];
        if (i > 0)
            fcntl(p->parent[i], F_SETFL, O_NONBLOCK);
    }
    return 0;
}

void process_default_signals(void)
{
    static const int defaults[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ, SIGCHLD, SIGQUIT, SIGWINCH};
    sigset_t none;
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        signal(defaults[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

bool process_on_path(const char *command)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        struct text file = {0};
        text_add(&file, "%.*s/%s", (int)length, path, command);
        bool found = access(text_string(&file), X_OK) == 0;
        text_free(&file);
        if (found)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

/* In the child: only async-signal-safe calls. Reports errno through `report` when exec fails. */
static void exec_child(const char *const argv[], const struct pipes *p, pid_t parent, int report)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(127);
    process_default_signals();
    int in = p->child[0] >= 0 ? p->child[0] : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (in >= 0 && dup2(in, 0) >= 0 && (p->child[1] < 0 || dup2(p->child[1], 1) >= 0) &&
        (p->child[2] < 0 || dup2(p->child[2], 2) >= 0))
        execvp(argv[0], (char *const *)(uintptr_t)argv);
    int number = errno;
    ssize_t written = write(report, &number, sizeof number);
    (void)written;
    _exit(127);
}

int process_start(struct process *process, const char *const argv[], int wanted, struct error *e)
{
    struct pipes p;
    int report[2], number = 0;
    *process = (struct process){.pid = -1, .in = -1, .out = -1, .err = -1};
    if (open_pipes(&p, wanted, e) != 0)
        return -1;
    if (pipe2(report, O_CLOEXEC) != 0) {
        close_all(p.child);
        close_all(p.parent);
        return error_set_errno(e, errno, "making a pipe");
    }
    pid_t self = getpid();
    pid_t pid = fork();
    if (pid == 0)
        exec_child(argv, &p, self, report[1]);
    int fork_number = errno;
    close(report[1]);
    close_all(p.child);
    ssize_t got = pid > 0 ? read(report[0], &number, sizeof number) : 0;
    close(report[0]);
    if (pid < 0 || got == (ssize_t)sizeof number) {
        if (pid > 0)
            waitpid(pid, NULL, 0);
        close_all(p.parent);
        return error_set_errno(e, pid < 0 ? fork_number : number, "starting %s", argv[0]);
    }
    *process = (struct process){.pid = pid, .in = p.parent[0], .out = p.parent[1], .err = p.parent[2]};
    return 0;
}

/* A descriptor that becomes readable when the child ends (Linux 5.3). */
static int open_pidfd(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

int process_wait(struct process *p, int64_t timeout_ns, int *status, struct error *e)
{
    int64_t deadline = timeout_ns < 0 ? 0 : clock_monotonic_ns() + timeout_ns;
    if (p->pid <= 0)
        return error_set(e, "waiting for a process that was not started or was already waited for");
    for (;;) {
        pid_t got = waitpid(p->pid, status, timeout_ns < 0 ? 0 : WNOHANG);
        if (got == p->pid) {
            p->pid = -1;
            return 1;
        }
        if (got < 0 && errno != EINTR)
            return error_set_errno(e, errno, "waiting for process %d", (int)p->pid);
        if (timeout_ns < 0)
            continue;
        int64_t left = deadline - clock_monotonic_ns();
        if (left <= 0)
            return 0;
        struct pollfd ended = {.fd = open_pidfd(p->pid), .events = POLLIN};
        if (ended.fd >= 0) {
            poll(&ended, 1, (int)((left + NS_PER_MS - 1) / NS_PER_MS));
            close(ended.fd);
        } else {
            clock_sleep_until_ns(clock_monotonic_ns() + (left < 10 * NS_PER_MS ? left : 10 * NS_PER_MS));
        }
    }
}

static void close_pipe(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void process_stop(struct process *p, int64_t grace_ns)
{
    int status;
    close_pipe(&p->in);
    if (p->pid > 0) {
        kill(-p->pid, SIGTERM);
        if (process_wait(p, grace_ns, &status, NULL) == 0) {
            kill(-p->pid, SIGKILL);
            process_wait(p, -1, &status, NULL);
        }
    }
    close_pipe(&p->out);
    close_pipe(&p->err);
}

/* ---- input */

/* Block SIGPIPE in this thread; `old` is for let_pipe_signal. */
static void hold_pipe_signal(sigset_t *old)
{
    sigset_t pipe_signal;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, old);
}

/* Consume the SIGPIPE that a write has left pending, and restore the signal mask. */
static void let_pipe_signal(const sigset_t *old)
{
    sigset_t pipe_signal;
    struct timespec now = {0};
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigtimedwait(&pipe_signal, NULL, &now);
    pthread_sigmask(SIG_SETMASK, old, NULL);
}

static int write_all(int fd, const char *bytes, size_t length, int64_t timeout_ns, struct error *e)
{
    int64_t deadline_ns = clock_monotonic_ns() + timeout_ns;
    while (length) {
        struct pollfd ready = {.fd = fd, .events = POLLOUT};
        int64_t left_ns = deadline_ns - clock_monotonic_ns();
        if (left_ns <= 0 || poll(&ready, 1, (int)(left_ns / NS_PER_MS) + 1) == 0)
            return error_set(e, "%zu bytes were not taken within %lld s", length,
                             (long long)(timeout_ns / NS_PER_S));
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno != EAGAIN && errno != EINTR)
            return error_set_errno(e, errno, "writing %zu bytes", length);
        bytes += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    return 0;
}

int process_write(struct process *p, const void *bytes, size_t length, int64_t timeout_ns, struct error *e)
{
    sigset_t old;
    hold_pipe_signal(&old);
    fcntl(p->in, F_SETFL, O_NONBLOCK);
    int result = write_all(p->in, bytes, length, timeout_ns, e);
    let_pipe_signal(&old);
    return result;
}

/* ---- run to the end */

struct transfer {
    struct process *process;
    const char *input;
    size_t input_left;
    struct text *out, *err;
};

static void write_input(struct transfer *t)
{
    ssize_t written = write(t->process->in, t->input, t->input_left);
    if (written > 0) {
        t->input += written;
        t->input_left -= (size_t)written;
    }
    if (t->input_left == 0 || (written < 0 && errno != EAGAIN && errno != EINTR))
        close_pipe(&t->process->in);
}

static void read_output(int *fd, struct text *into)
{
    char buffer[65536];
    ssize_t got = read(*fd, buffer, sizeof buffer);
    if (got > 0 && into->length + (size_t)got <= OUTPUT_LIMIT)
        text_add_bytes(into, buffer, (size_t)got);
    else if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        close_pipe(fd);
}

static bool has_pipes(const struct process *p)
{
    return p->in >= 0 || p->out >= 0 || p->err >= 0;
}

/* Move bytes until all pipes are closed or the deadline passes; returns false on the deadline. */
static bool transfer_all(struct transfer *t, int64_t deadline_ns)
{
    struct process *p = t->process;
    while (has_pipes(p)) {
        int64_t left = deadline_ns - clock_monotonic_ns();
        if (left <= 0)
            return false;
        struct pollfd fds[3] = {{.fd = p->in, .events = POLLOUT},
                                {.fd = p->out, .events = POLLIN},
                                {.fd = p->err, .events = POLLIN}};
        int timeout_ms = left / NS_PER_MS > 1000000 ? 1000000 : (int)(left / NS_PER_MS) + 1;
        if (poll(fds, 3, timeout_ms) < 0 && errno != EINTR)
            return false;
        if (fds[0].revents)
            write_input(t);
        if (fds[1].revents && t->out)
            read_output(&p->out, t->out);
        if (fds[2].revents && t->err)
            read_output(&p->err, t->err);
    }
    return true;
}

int process_run_bytes(const char *const argv[], const void *input, size_t length, struct text *out,
                      struct text *err, int64_t timeout_ns, struct error *e)
{
    struct process p;
    int status = 0;
    int pipes = (input ? PROCESS_IN : 0) | (out ? PROCESS_OUT : 0) | (err ? PROCESS_ERR : 0);
    if (process_start(&p, argv, pipes, e) != 0)
        return -1;
    if (p.in >= 0)
        fcntl(p.in, F_SETFL, O_NONBLOCK);
    int64_t deadline = timeout_ns < 0 ? INT64_MAX : clock_monotonic_ns() + timeout_ns;
    struct transfer t = {&p, input, length, out, err};
    sigset_t old;
    hold_pipe_signal(&old);
    bool finished = transfer_all(&t, deadline);
    int64_t left = timeout_ns < 0 ? -1 : deadline - clock_monotonic_ns();
    int waited = finished ? process_wait(&p, left < 0 && timeout_ns >= 0 ? 0 : left, &status, e) : 0;
    let_pipe_signal(&old);
    process_stop(&p, NS_PER_S);
    if (waited == 0)
        return error_set(e, "%s did not end within %lld ms", argv[0], (long long)(timeout_ns / NS_PER_MS));
    if (waited < 0)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int process_run(const char *const argv[], const char *input, struct text *out, struct text *err,
                int64_t timeout_ns, struct error *e)
{
    return process_run_bytes(argv, input, input ? strlen(input) : 0, out, err, timeout_ns, e);
}

void process_describe(int status, struct text *out)
{
    if (WIFEXITED(status))
        text_add(out, "exited with %d", WEXITSTATUS(status));
    else
        text_add(out, "was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
}
