/* GPU memory beside host memory: pairs of runs that differ only in the memory of their flows. */
#include "reports/page/page_parts.h"

#include "reports/page/html.h"
#include "reports/results/choice.h"
#include "reports/results/differences.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Does a path name the memory of flows: "flows.*.memory", "scenario.flows.a-to-b.memory"? */
static bool names_memory(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot + 1, "memory") == 0;
}

/* The memory of all flows of a run; "" if they differ. */
static const char *memory_of(const struct run *run)
{
    const char *name, *memory = NULL;
    json_t *flow;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "flows"), name, flow)
    {
        const char *mine = run_member(flow, "memory");
        if (!*mine)
            continue;
        if (memory && strcmp(memory, mine) != 0)
            return "";
        memory = mine;
    }
    return memory ? memory : "";
}

/* The choices of a sweep without those of memory, and which repetition it is. */
static json_t *rest_of_cell(const struct run *run)
{
    const char *path;
    json_t *value, *rest = json_object();
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "cell"), path, value)
    {
        if (!names_memory(path))
            json_object_set(rest, path, value);
    }
    json_object_set(rest, "repeat", (json_t *)(uintptr_t)run_get(run, "repeat"));
    return rest;
}

/* Do the runs differ in the memory of flows, and in nothing else that was set? */
static bool only_memory_differs(const struct run *one, const struct run *other)
{
    const json_t *results[] = {one->result, other->result};
    json_t *a = rest_of_cell(one), *b = rest_of_cell(other);
    json_t *differences = json_equal(a, b) ? differences_between(results, 2) : NULL, *row;
    const char *path;
    bool only = differences;
    json_object_foreach(differences, path, row)
    {
        only &= names_memory(path) || strcmp(path, "seed") == 0;
    }
    json_decref(a);
    json_decref(b);
    json_decref(differences);
    return only;
}

/* "message 64KiB": what distinguishes the pair from other pairs. */
static void add_choices(const struct run *run, struct text *out)
{
    struct text words = {0};
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "cell"), path, value)
    {
        if (!names_memory(path))
            choice_add(path, value, &words);
    }
    json_int_t repeat = json_integer_value(run_get(run, "repeat"));
    if (repeat > 1)
        text_add(&words, "%srun %lld", words.length ? ", " : "", (long long)repeat);
    html_cell(out, words.length ? text_string(&words) : "this comparison");
    text_free(&words);
}

static double goodput_gbps(const struct run *run)
{
    return run_sum_flows(run, "goodput_bps") / 1e9;
}
static double p50(const struct run *run)
{
    return run_latency_us(run, "p50");
}
static double p99(const struct run *run)
{
    return run_latency_us(run, "p99");
}

static const struct {
    const char *words;
    double (*measure)(const struct run *run);
} figures[] = {{"goodput, Gb/s", goodput_gbps}, {"latency p50, us", p50}, {"latency p99, us", p99}};
#define FIGURES (sizeof figures / sizeof *figures)

static void add_head(struct text *out)
{
    text_add(out, "<h2>GPU memory beside host memory</h2>\n<div class=scroll><table><tr><th><th>");
    for (size_t i = 0; i < FIGURES; i++)
        text_add(out, "<th colspan=3 class=number>%s", figures[i].words);
    text_add(out, "</tr>\n<tr><th>run<th>memory");
    for (size_t i = 0; i < FIGURES; i++)
        text_add(out, "<th class=number>host<th class=number>GPU<th class=number>GPU / host");
    text_add(out, "</tr>\n");
}

static void add_pair(const struct run *host, const struct run *gpu, struct text *out)
{
    text_add(out, "<tr>");
    add_choices(gpu, out);
    html_cell(out, memory_of(gpu));
    for (size_t i = 0; i < FIGURES; i++) {
        double of_host = figures[i].measure(host), of_gpu = figures[i].measure(gpu);
        html_number_cell(out, of_host);
        html_number_cell(out, of_gpu);
        html_number_cell(out, of_host > 0 ? of_gpu / of_host : NAN);
    }
    text_add(out, "</tr>\n");
}

void page_add_ratios(const struct runs *runs, struct text *out)
{
    bool any = false;
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *host = &runs->items[i];
        for (size_t j = 0; j < runs->count && strcmp(memory_of(host), "host") == 0; j++) {
            const struct run *gpu = &runs->items[j];
            if (!*memory_of(gpu) || strcmp(memory_of(gpu), "host") == 0 || !only_memory_differs(host, gpu))
                continue;
            if (!any)
                add_head(out);
            any = true;
            add_pair(host, gpu, out);
        }
    }
    if (any)
        text_add(
            out,
            "</table></div>\n<p class=soft>Runs that differ only in the memory of their flows. Goodput is "
            "that of all flows together, latency that of the first flow that measures it.</p>\n");
}
