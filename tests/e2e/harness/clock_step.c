/* Preloaded into a program: its time of day is an hour slow while the file named by CLOCK_STEP exists, as
 * after a clock was set. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t step_s(void)
{
    const char *file = getenv("CLOCK_STEP");
    return file && access(file, F_OK) == 0 ? -3600 : 0;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's are reserved */
int clock_gettime(clockid_t clock, struct timespec *t)
{
    int result = (int)syscall(SYS_clock_gettime, clock, t);
    if (result == 0 && clock == CLOCK_REALTIME)
        t->tv_sec += step_s();
    return result;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    (void)zone;
    struct timespec now;
    int result = clock_gettime(CLOCK_REALTIME, &now);
    *t = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return result;
}
