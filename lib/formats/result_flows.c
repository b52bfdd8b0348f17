#include "lib/formats/result_flows.h"

#include "lib/formats/flow.h"
#include "lib/names/range.h"
#include "lib/statistics/distribution.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART_NAME (FLOW_MAX_NAME + 24)
/* Completed messages are far from what was delivered: below it, and above it, as no link can carry more. */
#define FAR_BELOW 0.1
#define FAR_ABOVE 0.02

/* The distribution, or the completion error, that a value is a member of, and its key; NULL: it is none. */
static const json_t *distribution_of(const json_t *flow, const char *value, char key[32])
{
    static const struct {
        const char *prefix, *object, *suffix;
    } nested[] = {{"latency_", "latency_ns", "_ns"},
                  {"completion_", "completion_ns", "_ns"},
                  {"slowdown_", "slowdown", ""}};
    if (strcmp(value, "silent_ns") == 0) {
        snprintf(key, 32, "%s", value);
        return json_object_get(flow, "completion");
    }
    for (size_t i = 0; i < sizeof nested / sizeof *nested; i++) {
        size_t length = strlen(value), skip = strlen(nested[i].prefix), tail = strlen(nested[i].suffix);
        if (strncmp(value, nested[i].prefix, skip) != 0 || length < skip + tail)
            continue;
        snprintf(key, 32, "%.*s", (int)(length - skip - tail), value + skip);
        return json_object_get(flow, nested[i].object);
    }
    return NULL;
}

const json_t *result_flow_value(const json_t *flow, const char *value)
{
    char key[32];
    const json_t *distribution = distribution_of(flow, value, key);
    const json_t *found = distribution ? json_object_get(distribution, key) : json_object_get(flow, value);
    return json_is_number(found) ? found : NULL;
}

/* "p99_9": 0.999; 0: it is not a quantile. */
static double quantile_of(const char *key)
{
    char digits[16], *point;
    snprintf(digits, sizeof digits, "%s", *key == 'p' ? key + 1 : "");
    if ((point = strchr(digits, '_')))
        *point = '.';
    return strtod(digits, NULL) / 100;
}

double result_distribution_value(const json_t *distribution, const char *key, bool *few)
{
    const json_t *value = json_object_get(distribution, key), *count = json_object_get(distribution, "count");
    bool is_few = json_is_number(value) && json_is_number(count) &&
                  distribution_is_few(quantile_of(key), json_number_value(count), NULL);
    if (few)
        *few = is_few;
    return json_is_number(value) && !is_few ? json_number_value(value) : NAN;
}

double result_flow_quantile(const json_t *flow, const char *value, double *count)
{
    char key[32];
    const json_t *distribution = distribution_of(flow, value, key),
                 *of = json_object_get(distribution, "count");
    double quantile = json_is_number(of) ? quantile_of(key) : 0;
    *count = json_number_value(of);
    return quantile;
}

double result_flow_figure(const json_t *flow, const char *value)
{
    char key[32];
    const json_t *distribution = distribution_of(flow, value, key), *plain = result_flow_value(flow, value);
    if (distribution)
        return result_distribution_value(distribution, key, NULL);
    return plain ? json_number_value(plain) : NAN;
}

/* The entry of the pattern's flow `i`, from 0 without gaps; NULL after the last. */
static const json_t *part_of(const json_t *flows, const char *pattern, size_t i, char *name)
{
    int length = snprintf(name, PART_NAME, "%s/%zu", pattern, i);
    return length > 0 && length < PART_NAME ? json_object_get(flows, name) : NULL;
}

size_t result_flow_parts(const json_t *flows, const char *name)
{
    char single[PART_NAME];
    size_t count = 0;
    while (part_of(flows, name, count, single))
        count++;
    return count;
}

struct ranked {
    const char *name;
    double value;
    size_t place;
};

static int by_value(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    int order = (a->value > b->value) - (a->value < b->value);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

size_t result_flow_extremes(const json_t *flows, const char *pattern, const char *value, size_t most,
                            const char **names)
{
    size_t parts = result_flow_parts(flows, pattern), count = 0, taken = 0;
    struct ranked *ranked = calloc(parts + 1, sizeof *ranked);
    for (size_t i = 0; ranked && i < parts; i++) {
        char single[PART_NAME];
        const json_t *number = result_flow_value(part_of(flows, pattern, i, single), value);
        void *at = json_object_iter_at((json_t *)(uintptr_t)flows, single);
        if (number)
            ranked[count++] = (struct ranked){json_object_iter_key(at), json_number_value(number), i};
    }
    if (count)
        qsort(ranked, count, sizeof *ranked, by_value);
    for (size_t i = 0; i < count; i++)
        if (i < most / 2 || i + (most - most / 2) >= count)
            names[taken++] = ranked[i].name;
    free(ranked);
    return taken;
}

bool result_flow_is_part(const json_t *flows, const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash && slash[1] && strspn(slash + 1, "0123456789") == strlen(slash + 1) &&
           json_object_getn(flows, name, (size_t)(slash - name));
}

bool result_flow_counts(const json_t *flows, const char *name, const char *glob, const char *value)
{
    char single[PART_NAME];
    const json_t *flow;
    if (!name_matches(glob, name) || !result_flow_value(json_object_get(flows, name), value))
        return false;
    for (size_t i = 0; (flow = part_of(flows, name, i, single)); i++)
        if (glob_matches(glob, single) && result_flow_value(flow, value))
            return false;
    return true;
}

bool result_flow_ends(const json_t *flow)
{
    return json_is_object(json_object_get(flow, "phase"));
}

bool result_flow_is_far(const json_t *flow)
{
    const json_t *arrived = result_flow_value(flow, "delivered_bytes"),
                 *phase = json_object_get(flow, "phase");
    double completed = json_number_value(json_object_get(phase ? phase : flow, "bytes"));
    double delivered = json_number_value(arrived);
    return arrived && (completed < (1 - FAR_BELOW) * delivered || completed > (1 + FAR_ABOVE) * delivered);
}

double result_flows_throughput(const json_t *flows, bool *delivered)
{
    const char *name;
    json_t *flow;
    *delivered = json_object_size(flows) > 0;
    json_object_foreach((json_t *)(uintptr_t)flows, name, flow)
    {
        *delivered = *delivered && result_flow_value(flow, "delivered_bps");
    }
    return result_flows_sum(flows, *delivered ? "delivered_bps" : "goodput_bps");
}

const json_t *result_flow_in_phase(const json_t *flow, const char *value)
{
    const json_t *phase = json_object_get(flow, "phase"), *in_phase = json_object_get(phase, value);
    if (phase && !in_phase && json_number_value(json_object_get(phase, "duration_ns")) == 0)
        return NULL; /* the phase never began */
    return in_phase ? in_phase : result_flow_value(flow, value);
}

double result_flows_sum(const json_t *flows, const char *value)
{
    const char *name;
    json_t *flow;
    double sum = 0;
    json_object_foreach((json_t *)(uintptr_t)flows, name, flow)
    {
        if (result_flow_counts(flows, name, "*", value))
            sum += json_number_value(result_flow_in_phase(flow, value));
    }
    return sum;
}
