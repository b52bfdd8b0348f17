/* Preloaded into nic-sampler: a source that keeps the processor for SLOW_READ_US microseconds at every read
 * of its file, to show that the checks of pace find such a one. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's are reserved */
ssize_t pread(int descriptor, void *buffer, size_t size, off_t offset)
{
    const char *us = getenv("SLOW_READ_US");
    int64_t until = now_us() + (us ? atoll(us) : 0);
    while (now_us() < until)
        ;
    return syscall(SYS_pread64, descriptor, buffer, size, offset);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
ssize_t pread64(int descriptor, void *buffer, size_t size, off_t offset) __attribute__((alias("pread")));
