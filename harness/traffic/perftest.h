/* The table that a test of perftest prints at its end: a header, one row, and a line of dashes
 * (perftest.c). */
#ifndef HARNESS_PERFTEST_H
#define HARNESS_PERFTEST_H

#include "lib/error.h"
#include <stddef.h>
#include <stdint.h>

/* The test that printed it: one of bandwidth, one of latency for a number of messages, one of latency for a
 * time. */
enum perftest_test { PERFTEST_BANDWIDTH, PERFTEST_LATENCY, PERFTEST_LATENCY_TIMED };

struct perftest_row {
    int64_t bytes;    /* of a message */
    int64_t messages; /* "#iterations", on all queue pairs */
    /* PERFTEST_BANDWIDTH: the average, as printed in MiB/s and in 10^6 messages/s. Versions before 6.22 write
     * MB/sec, and mean MiB/s too. */
    double mibps, million_messages_per_s;
    /* latencies; of PERFTEST_LATENCY_TIMED the mean alone */
    double min_us, max_us, typical_us, mean_us, p99_us, p99_9_us;
    double messages_per_s; /* PERFTEST_LATENCY_TIMED */
};

/* Read it from all that the test printed, which may be anything. -1: there is no such table, or more than one
 * row, or the row cannot be what perftest prints. */
int perftest_table_read(enum perftest_test test, const char *printed, size_t length, struct perftest_row *row,
                        struct error *e);

#endif
