/* Latency histogram: log-linear buckets, 64 a power of two (relative error below 1.6 %), values 0..2^62
 * ns. */
#ifndef LIB_HISTOGRAM_H
#define LIB_HISTOGRAM_H

#include <jansson.h>
#include <stdint.h>

#define HISTOGRAM_SUB_BITS 6
#define HISTOGRAM_BUCKETS  ((63 - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

struct histogram {
    uint64_t count;
    int64_t min, max;
    double sum;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_clear(struct histogram *h);
/* The same of one that is in use: only what has values is written. */
void histogram_empty(struct histogram *h);
void histogram_add(struct histogram *h, int64_t value);
void histogram_merge(struct histogram *into, const struct histogram *from);
/* The value below which the fraction q (0..1) lies: the upper edge of its bucket, no more than max; 0 when
 * empty. */
int64_t histogram_quantile(const struct histogram *h, double q);
double histogram_mean(const struct histogram *h);
/* {"count","min","mean","p50","p90","p99","p99_9","p99_99","max"} in the histogram's unit. A new
 * reference. */
json_t *histogram_json(const struct histogram *h);

#endif
