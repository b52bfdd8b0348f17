#include "lib/interrupt.h"
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

static void add_signals(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaddset(set, signals[i]);
}

int interrupt_open(struct interrupt *i, struct error *e)
{
    sigset_t set;
    add_signals(&set);
    *i = (struct interrupt){.fd = -1};
    if (sigprocmask(SIG_BLOCK, &set, &i->before) != 0 ||
        (i->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC)) < 0)
        return error_set_errno(e, errno, "preparing for Ctrl-C");
    return 0;
}

void interrupt_hold(sigset_t *before)
{
    sigset_t set;
    add_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, before);
}

void interrupt_release(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

int interrupt_check(struct error *e)
{
    sigset_t waiting;
    if (sigpending(&waiting) != 0)
        return 0;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigismember(&waiting, signals[i]) == 1)
            return error_set(e, "interrupted: nothing was written");
    return 0;
}

int interrupt_count(struct interrupt *i)
{
    struct signalfd_siginfo info;
    while (i->fd >= 0 && read(i->fd, &info, sizeof info) == (ssize_t)sizeof info)
        i->count++;
    return i->count;
}

void interrupt_close(struct interrupt *i)
{
    sigset_t set;
    add_signals(&set);
    for (size_t k = 0; i->fd >= 0 && k < sizeof signals / sizeof *signals; k++)
        if (sigismember(&i->before, signals[k]) == 1)
            sigdelset(&set, signals[k]);
    if (i->fd >= 0)
        close(i->fd);
    i->fd = -1;
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}
