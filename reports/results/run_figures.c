#include "reports/results/run_figures.h"

#include "lib/collective/result_collectives.h"
#include "lib/document/json_text.h"
#include "lib/formats/result_flows.h"
#include "lib/roce/counters.h"
#include "lib/text.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

#define FLOWS_KEPT 8 /* with figures of their own */

struct taker {
    run_figure *each;
    void *context;
    struct run_figures_left *left;
};

/* A value that is not known is not a figure. */
static int hand_on_figure(const struct taker *t, const char *name, const char *unit, double value,
                          bool counter)
{
    return isfinite(value) ? t->each(t->context, name, unit, value, counter) : 0;
}

/* ---- flows */

/* A figure of one flow by its name in expressions. */
static const struct {
    const char *value, *words, *unit;
    bool of_all; /* one flow has the same as all flows together */
} of_flow[] = {
    {"goodput_bps", "goodput", "b/s", true},
    {"delivered_bps", "delivered", "b/s", true},
    {"latency_p50_ns", "latency p50", "ns", false},
    {"latency_p99_ns", "latency p99", "ns", false},
    {"latency_p99_9_ns", "latency p99.9", "ns", false},
    {"completion_p50_ns", "completion p50", "ns", false},
    {"completion_p99_ns", "completion p99", "ns", false},
    {"slowdown_p50", "slowdown p50", "", false},
    {"slowdown_p99", "slowdown p99", "", false},
};
#define OF_FLOW (sizeof of_flow / sizeof *of_flow)

/* Sums over all flows. */
static const struct {
    const char *value, *name, *unit;
    bool counter;
} of_all_flows[] = {
    {"delivered_bps", "delivered by all flows", "b/s", false},
    {"goodput_bps", "goodput of all flows", "b/s", false},
    {"messages_per_s", "messages of all flows", "1/s", false},
    {"retransmitted_packets", "packets sent again in the whole run", "packets", true},
};
#define OF_ALL (sizeof of_all_flows / sizeof *of_all_flows)

static int take_flow(const struct taker *t, const char *name, const json_t *flow, bool alone)
{
    int result = 0;
    for (size_t i = 0; result == 0 && i < OF_FLOW; i++) {
        struct text words = {0};
        if (alone && of_flow[i].of_all)
            continue;
        text_add(&words, "%s%s%.100s", of_flow[i].words, alone ? "" : " of ", alone ? "" : name);
        double value = result_flow_figure(flow, of_flow[i].value);
        t->left->few += isnan(value) && result_flow_value(flow, of_flow[i].value);
        result = hand_on_figure(t, text_string(&words), of_flow[i].unit, value, false);
        text_free(&words);
    }
    return result;
}

static int take_flows(const struct run *run, const struct taker *t)
{
    json_t *flows = (json_t *)(uintptr_t)run_get(run, "flows"), *flow;
    const char *name;
    size_t count = 0, taken = 0;
    int result = 0;
    json_object_foreach(flows, name, flow)
    {
        count += !result_flow_is_part(flows, name);
    }
    for (size_t i = 0; count && result == 0 && i < OF_ALL; i++)
        result = hand_on_figure(t, of_all_flows[i].name, of_all_flows[i].unit,
                                run_sum_flows(run, of_all_flows[i].value), of_all_flows[i].counter);
    json_object_foreach(flows, name, flow)
    {
        if (result == 0 && !result_flow_is_part(flows, name) && taken++ < FLOWS_KEPT)
            result = take_flow(t, name, flow, count == 1);
    }
    t->left->flows = taken > FLOWS_KEPT ? taken - FLOWS_KEPT : 0;
    return result;
}

/* ---- collectives */

/* The number of ranks is not a figure: it is what was asked for. */
static int take_collectives(const struct run *run, const struct taker *t)
{
    json_t *collectives = (json_t *)(uintptr_t)run_get(run, "collectives"), *collective;
    const char *name, *value, *unit, *words;
    bool alone = json_object_size(collectives) == 1;
    int result = 0;
    json_object_foreach(collectives, name, collective)
    {
        double number;
        for (size_t i = 0; result == 0 && (value = result_collective_name(i, &unit, &words)); i++) {
            struct text title = {0};
            if (strcmp(value, "ranks") == 0 || !result_collective_value(collective, value, &number))
                continue;
            text_add(&title, "%s%s%.100s", words, alone ? "" : " of ", alone ? "" : name);
            result = hand_on_figure(t, text_string(&title), unit, number, false);
            text_free(&title);
        }
    }
    return result;
}

/* ---- counters */

static bool is_wanted(const char *name, const json_t *counter)
{
    static const enum counter_group groups[] = {COUNTER_GROUP_PFC, COUNTER_GROUP_ECN, COUNTER_GROUP_DROPS};
    const char *group = run_member(counter, "group"), *whole;
    if (counters_loss(name, &whole) != COUNTER_NO_LOSS)
        return !counters_of_port(name);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strcmp(group, counter_group_names[groups[i]]) == 0)
            return !counters_of_port(name);
    return false;
}

/* What is counted on a machine as a whole is the same at each of its NICs. `seen`: machines of hosts before.
 */
static bool is_seen(const json_t *counter, const json_t *host, const json_t *seen)
{
    return json_object_get(seen, run_member(host, "machine")) &&
           counters_of_machine(run_member(counter, "source"));
}

/* `host`: whose counters they are; NULL: of all. */
static void add_increases(const json_t *counters, const json_t *host, json_t *seen, json_t *sums,
                          json_t *units)
{
    const char *name;
    json_t *counter;
    json_object_foreach((json_t *)(uintptr_t)counters, name, counter)
    {
        const json_t *delta = json_object_get(counter, "delta");
        if (!json_is_number(delta) || !is_wanted(name, counter) || is_seen(counter, host, seen))
            continue;
        double sum = json_number_value(json_object_get(sums, name)) + json_number_value(delta);
        json_object_set_new(sums, name, json_real(sum));
        json_object_set_new(units, name, json_text(run_member(counter, "unit")));
    }
    if (*run_member(host, "machine"))
        json_object_set_new(seen, run_member(host, "machine"), json_true());
}

/* The increases of a counter at all hosts together. */
static int take_counters(const struct run *run, const struct taker *t)
{
    const char *role, *name;
    json_t *host, *counter, *sums = json_object(), *units = json_object(), *seen = json_object();
    int result = sums && units ? 0 : -1;
    if (run_totals(run))
        add_increases(run_totals(run), NULL, seen, sums, units);
    else
        json_object_foreach((json_t *)(uintptr_t)run_get(run, "hosts"), role, host)
        {
            add_increases(json_object_get(host, "counters"), host, seen, sums, units);
        }
    json_object_foreach(sums, name, counter)
    {
        if (result == 0)
            result = hand_on_figure(t, name, run_member(units, name), json_number_value(counter), true);
    }
    json_decref(sums);
    json_decref(units);
    json_decref(seen);
    return result;
}

int run_each_figure(const struct run *run, run_figure *each, void *context, struct run_figures_left *left)
{
    const struct taker t = {each, context, left};
    *left = (struct run_figures_left){0};
    return take_flows(run, &t) != 0 || take_collectives(run, &t) != 0 || take_counters(run, &t) != 0 ? -1 : 0;
}
