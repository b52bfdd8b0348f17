#include "traffic/stop.h"

#include "lib/clock.h"
#include "lib/log.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define EXIT_INTERRUPTED 130
#define SAME_SIGNAL_NS   NS_PER_S /* timeout(1) and terminals may send one twice */

static void raise_flag(int fd)
{
    uint64_t one = 1;
    ssize_t n = write(fd, &one, sizeof one);
    (void)n; /* an eventfd takes it */
}

/* The line that says when to start, as far as it was read. */
struct start_line {
    char text[32]; /* a time has 19 digits */
    size_t length;
};

static void take_start(struct stop *stop, struct start_line *line)
{
    char *end;
    line->text[line->length < sizeof line->text ? line->length : sizeof line->text - 1] = '\0';
    errno = 0;
    long long start_ns = strtoll(line->text, &end, 10);
    if (errno == 0 && start_ns > 0 && end != line->text && *end == '\0')
        atomic_store(&stop->start_ns, start_ns);
    else
        log_error(
            "the line of standard input that says when to start: \"%s\" is not a time in nanoseconds since "
            "1970",
            line->text);
    line->length = 0;
}

/* Read what is there. False: it is at its end. */
static bool read_stdin(struct stop *stop, struct start_line *line)
{
    char bytes[256];
    ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
    for (ssize_t i = 0; i < n && stop->input.starts && !atomic_load(&stop->start_ns); i++)
        if (bytes[i] == '\n')
            take_start(stop, line);
        else if (line->length < sizeof line->text)
            line->text[line->length++] = bytes[i];
    return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

static bool reads_stdin(const struct stop *stop)
{
    return stop->input.ends || (stop->input.starts && !atomic_load(&stop->start_ns));
}

static void *watch(void *argument)
{
    struct stop *stop = argument;
    struct start_line line = {.length = 0};
    int64_t told_ns = 0;
    for (;;) {
        struct pollfd fds[3] = {{.fd = stop->end_fd, .events = POLLIN},
                                {.fd = stop->signal_fd, .events = POLLIN},
                                {.fd = reads_stdin(stop) && !told_ns ? STDIN_FILENO : -1, .events = POLLIN}};
        struct signalfd_siginfo info;
        if (poll(fds, 3, -1) < 0 && errno != EINTR)
            return NULL;
        if (fds[0].revents)
            return NULL;
        if (fds[1].revents && read(stop->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
            if (told_ns && clock_monotonic_ns() - told_ns > SAME_SIGNAL_NS)
                _exit(EXIT_INTERRUPTED);
            told_ns = clock_monotonic_ns();
            raise_flag(stop->fd);
        }
        if (fds[2].revents && !read_stdin(stop, &line)) {
            told_ns = clock_monotonic_ns();
            raise_flag(stop->fd);
        }
    }
}

int stop_open(struct stop *stop, struct stop_input input, struct error *e)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    signal(SIGPIPE, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    *stop = (struct stop){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                          .end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                          .signal_fd = signalfd(-1, &signals, SFD_CLOEXEC),
                          .input = input};
    if (stop->fd < 0 || stop->end_fd < 0 || stop->signal_fd < 0)
        return error_set_errno(e, errno, "preparing for signals");
    int number = pthread_create(&stop->thread, NULL, watch, stop);
    return number == 0 ? 0 : error_set_errno(e, number, "starting a thread");
}

void stop_close(struct stop *stop)
{
    raise_flag(stop->end_fd);
    pthread_join(stop->thread, NULL);
    close(stop->fd);
    close(stop->end_fd);
    close(stop->signal_fd);
}

bool stop_told(const struct stop *stop)
{
    struct pollfd fd = {.fd = stop->fd, .events = POLLIN};
    return poll(&fd, 1, 0) > 0;
}
