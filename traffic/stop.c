#include "traffic/stop.h"

#include "lib/clock.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
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

static bool stdin_ended(void)
{
    char scrap[256];
    ssize_t n = read(STDIN_FILENO, scrap, sizeof scrap);
    return n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
}

static void *watch(void *argument)
{
    struct stop *stop = argument;
    int64_t told_ns = 0;
    for (;;) {
        struct pollfd fds[3] = {{.fd = stop->end_fd, .events = POLLIN},
                                {.fd = stop->signal_fd, .events = POLLIN},
                                {.fd = stop->watch_stdin && !told_ns ? STDIN_FILENO : -1, .events = POLLIN}};
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
        if (fds[2].revents && stdin_ended()) {
            told_ns = clock_monotonic_ns();
            raise_flag(stop->fd);
        }
    }
}

int stop_open(struct stop *stop, bool watch_stdin, struct error *e)
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
                          .watch_stdin = watch_stdin};
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
