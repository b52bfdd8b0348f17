/* Time in integer nanoseconds. */
#ifndef LIB_CLOCK_H
#define LIB_CLOCK_H

#include <stdint.h>

#define NS_PER_US 1000LL
#define NS_PER_MS 1000000LL
#define NS_PER_S  1000000000LL

int64_t clock_realtime_ns(void);
int64_t clock_monotonic_ns(void);
/* The time of day that no step of the clock changes: it was right when it was started, and goes on with
 * CLOCK_MONOTONIC. */
struct clock_steady {
    int64_t ahead_ns; /* of CLOCK_MONOTONIC */
};
struct clock_steady clock_steady_start(void);
int64_t clock_steady_ns(const struct clock_steady *clock);
/* CPU time of this process, user and system together. */
int64_t clock_process_cpu_ns(void);
/* Sleep until an absolute CLOCK_MONOTONIC time. Returns -1 if a signal interrupted it. */
int clock_sleep_until_ns(int64_t monotonic_ns);

#endif
