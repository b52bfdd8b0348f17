#include "harness/labs/sim/completion.h"
#include "lib/statistics/distribution.h"
#include "lib/document/json_text.h"
#include <stdlib.h>

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

/* Groups of equally many flows, from the smallest to the largest flow. */
static json_t *slowdown_by_size(const struct completion *all, size_t count, double *scratch)
{
    json_t *groups = json_array();
    for (size_t g = 0; g < SIZE_GROUPS && count >= SIZE_GROUPS; g++) {
        size_t first = count * g / SIZE_GROUPS, end = count * (g + 1) / SIZE_GROUPS;
        for (size_t i = first; i < end; i++)
            scratch[i - first] = all[i].slowdown;
        json_t *group = json_make("{s:I,s:o}", "up_to_bytes", (json_int_t)all[end - 1].bytes, "slowdown",
                                  distribution_json(scratch, end - first));
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
        all[(*finished)++] = (struct completion){flow->message_bytes, took / SIM_PS_PER_NS, took / ideal};
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
            json_make("{s:I,s:I}", "started", (json_int_t)started, "finished", (json_int_t)finished));
    }
    if (finished) {
        qsort(all, finished, sizeof *all, by_bytes);
        json_object_set_new(json, "by_size", slowdown_by_size(all, finished, values));
        for (size_t i = 0; i < finished; i++)
            values[i] = all[i].ns;
        json_object_set_new(json, "completion_ns", distribution_json(values, finished));
        for (size_t i = 0; i < finished; i++)
            values[i] = all[i].slowdown;
        json_object_set_new(json, "slowdown", distribution_json(values, finished));
    }
    free(all);
    free(values);
    return json;
}
