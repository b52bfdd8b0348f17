#include "lib/clock.h"

#include <errno.h>
#include <time.h>

static int64_t read_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

int64_t clock_realtime_ns(void)
{
    return read_ns(CLOCK_REALTIME);
}

int64_t clock_monotonic_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

struct clock_steady clock_steady_start(void)
{
    return (struct clock_steady){.ahead_ns = clock_realtime_ns() - clock_monotonic_ns()};
}

int64_t clock_steady_ns(const struct clock_steady *clock)
{
    return clock->ahead_ns + clock_monotonic_ns();
}

int64_t clock_process_cpu_ns(void)
{
    return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int clock_sleep_until_ns(int64_t monotonic_ns)
{
    struct timespec t = {.tv_sec = monotonic_ns / NS_PER_S, .tv_nsec = monotonic_ns % NS_PER_S};
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR ? -1 : 0;
}
