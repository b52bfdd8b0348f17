#include "lib/statistics/histogram.h"

#include "lib/document/json_text.h"
#include <stddef.h>
#include <string.h>

#define SUB_BUCKETS (1 << HISTOGRAM_SUB_BITS)

static size_t bucket_of(int64_t value)
{
    if (value < SUB_BUCKETS)
        return value < 0 ? 0 : (size_t)value;
    int top = 63 - __builtin_clzll((unsigned long long)value);
    int shift = top - HISTOGRAM_SUB_BITS;
    return ((size_t)(shift + 1) << HISTOGRAM_SUB_BITS) + (((uint64_t)value >> shift) & (SUB_BUCKETS - 1));
}

static int64_t lower_edge(size_t bucket)
{
    if (bucket < SUB_BUCKETS)
        return (int64_t)bucket;
    int shift = (int)(bucket >> HISTOGRAM_SUB_BITS) - 1;
    return (int64_t)((SUB_BUCKETS + (bucket & (SUB_BUCKETS - 1))) << shift);
}

static int64_t upper_edge(size_t bucket)
{
    return bucket + 1 < HISTOGRAM_BUCKETS ? lower_edge(bucket + 1) - 1 : INT64_MAX;
}

void histogram_clear(struct histogram *h)
{
    memset(h, 0, sizeof *h);
}

void histogram_empty(struct histogram *h)
{
    size_t first = bucket_of(h->min), end = bucket_of(h->max) + 1;
    memset(&h->buckets[first], 0, (end - first) * sizeof h->buckets[0]);
    memset(h, 0, offsetof(struct histogram, buckets));
}

void histogram_add(struct histogram *h, int64_t value)
{
    if (h->count == 0 || value < h->min)
        h->min = value;
    if (h->count == 0 || value > h->max)
        h->max = value;
    h->count++;
    h->sum += (double)value;
    h->buckets[bucket_of(value)]++;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    if (from->count == 0)
        return;
    if (into->count == 0 || from->min < into->min)
        into->min = from->min;
    if (into->count == 0 || from->max > into->max)
        into->max = from->max;
    into->count += from->count;
    into->sum += from->sum;
    for (size_t i = bucket_of(from->min); i <= bucket_of(from->max); i++)
        into->buckets[i] += from->buckets[i];
}

int64_t histogram_quantile(const struct histogram *h, double q)
{
    if (h->count == 0)
        return 0;
    double wanted = q * (double)h->count;
    uint64_t seen = 0;
    for (size_t i = bucket_of(h->min); i < HISTOGRAM_BUCKETS; i++) {
        seen += h->buckets[i];
        if (seen && (double)seen >= wanted) {
            int64_t edge = upper_edge(i);
            return edge > h->max ? h->max : edge < h->min ? h->min : edge;
        }
    }
    return h->max;
}

double histogram_mean(const struct histogram *h)
{
    return h->count ? h->sum / (double)h->count : 0;
}

json_t *histogram_json(const struct histogram *h)
{
    return json_make("{s:I,s:I,s:f,s:I,s:I,s:I,s:I,s:I,s:I}", "count", (json_int_t)h->count, "min",
                     (json_int_t)h->min, "mean", histogram_mean(h), "p50",
                     (json_int_t)histogram_quantile(h, 0.5), "p90", (json_int_t)histogram_quantile(h, 0.9),
                     "p99", (json_int_t)histogram_quantile(h, 0.99), "p99_9",
                     (json_int_t)histogram_quantile(h, 0.999), "p99_99",
                     (json_int_t)histogram_quantile(h, 0.9999), "max", (json_int_t)h->max);
}
