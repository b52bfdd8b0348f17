#include "harness/labs/sim/completion.h"
#include <math.h>
#include <stdlib.h>

#define PS_PER_NS   1000
#define SIZE_GROUPS 10

struct completion {
    int64_t bytes;
    double ns, slowdown;
};

static int by_bytes(const void *a, const void *b)
{
    const struct completion *x = a, *y = b;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The q-quantile: the smallest value that is at least as large as a share q of all values. */
static double quantile(const double *sorted, size_t count, double q)
{
    size_t rank = (size_t)ceil(q * (double)count);
    return sorted[rank ? rank - 1 : 0];
}

static json_t *distribution(double *values, size_t count)
{
    double sum = 0;
    qsort(values, count, sizeof *values, by_value);
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return json_pack("{s:I,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f}", "count", (json_int_t)count, "min", values[0],
                     "mean", sum / (double)count, "p50", quantile(values, count, 0.5), "p90",
                     quantile(values, count, 0.9), "p95", quantile(values, count, 0.95), "p99",
                     quantile(values, count, 0.99), "p99_9", quantile(values, count, 0.999), "max",
                     values[count - 1]);
}

/* Groups of equally many flows, from the smallest to the largest flow. */
static json_t *slowdown_by_size(const struct completion *all, size_t count, double *scratch)
{
    json_t *groups = json_array();
    for (size_t g = 0; g < SIZE_GROUPS && count >= SIZE_GROUPS; g++) {
        size_t first = count * g / SIZE_GROUPS, end = count * (g + 1) / SIZE_GROUPS;
        for (size_t i = first; i < end; i++)
            scratch[i - first] = all[i].slowdown;
        json_t *group = json_pack("{s:I,s:o}", "up_to_bytes", (json_int_t)all[end - 1].bytes, "slowdown",
                                  distribution(scratch, end - first));
        json_array_append_new(groups, group);
    }
    return groups;
}

static size_t gather(const struct sim *sim, const struct sim_setup *setup, size_t first, size_t end,
                     int64_t from_ps, struct completion *all, size_t *finished)
{
    size_t started = 0;
    *finished = 0;
    for (size_t i = first; i < end; i++) {
        const struct sim_flow_config *flow = &setup->flows[i];
        struct sim_flow_stats stats;
        if (flow->start_ps < from_ps || flow->start_ps >= sim_now_ps(sim))
            continue;
        started++;
        sim_flow_stats(sim, i, &stats);
        if (stats.finished_ps < 0)
            continue;
        double took = (double)(stats.finished_ps - flow->start_ps);
        double ideal = (double)sim_flow_ideal_ps(sim, i) * (double)flow->message_count;
        all[(*finished)++] = (struct completion){flow->message_bytes, took / PS_PER_NS, took / ideal};
    }
    return started;
}

json_t *sim_completion_json(const struct sim *sim, const struct sim_setup *setup, size_t first, size_t end,
                            int64_t from_ps)
{
    struct completion *all = calloc(end - first + 1, sizeof *all);
    double *values = calloc(end - first + 1, sizeof *values);
    size_t finished = 0;
    json_t *json = json_object();
    if (all && values) {
        size_t started = gather(sim, setup, first, end, from_ps, all, &finished);
        if (!started)
            started = gather(sim, setup, first, end, 0, all, &finished);
        json_object_set_new(
            json, "flows",
            json_pack("{s:I,s:I}", "started", (json_int_t)started, "finished", (json_int_t)finished));
    }
    if (finished) {
        qsort(all, finished, sizeof *all, by_bytes);
        json_object_set_new(json, "by_size", slowdown_by_size(all, finished, values));
        for (size_t i = 0; i < finished; i++)
            values[i] = all[i].ns;
        json_object_set_new(json, "completion_ns", distribution(values, finished));
        for (size_t i = 0; i < finished; i++)
            values[i] = all[i].slowdown;
        json_object_set_new(json, "slowdown", distribution(values, finished));
    }
    free(all);
    free(values);
    return json;
}
