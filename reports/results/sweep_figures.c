/* The figures of a run that a table of a sweep keeps. */
#include "reports/results/sweep_inside.h"

#include "lib/collective/result_collectives.h"
#include "lib/document/json_text.h"
#include "lib/formats/result_flows.h"
#include "lib/output/visible.h"
#include "lib/roce/counters.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLOWS_KEPT     8 /* with figures of their own */
#define FAILURES_KEPT  2000
#define PUBLISHED_KEPT 200
#define WORDS_FIT      300 /* of names, rules and reasons: what a table keeps is bounded */
#define WARNING_FITS   1000
#define NO_MEMORY      "out of memory for the figures of the sweep"

static size_t cut(const char *words)
{
    return utf8_cut(words, strlen(words), WORDS_FIT);
}

static char *copy_of(const char *words)
{
    return strndup(words, cut(words));
}

/* ---- columns */

static struct sweep_figure *new_figure(struct sweep_table *t, const char *name, const char *check,
                                       const char *unit)
{
    struct sweep_figure *figures = realloc(t->figures, (t->figure_count + 1) * sizeof *figures);
    if (!figures)
        return NULL;
    t->figures = figures;
    struct sweep_figure *f = &figures[t->figure_count++];
    *f = (struct sweep_figure){.name = copy_of(name),
                               .check = check ? copy_of(check) : NULL,
                               .unit = copy_of(unit),
                               .values = malloc((t->row_count + 1) * sizeof *f->values),
                               .verdicts = check ? calloc(t->row_count + 1, 1) : NULL};
    if (!f->name || !f->unit || !f->values || (check && (!f->check || !f->verdicts)))
        return NULL;
    for (size_t i = 0; i < t->row_count; i++)
        f->values[i] = NAN;
    return f;
}

/* The column of this name, or a new one. *full: there are as many as are kept. NULL otherwise: out of memory. */
static struct sweep_figure *figure(struct sweep_table *t, const char *name, const char *check,
                                   const char *unit, bool *full)
{
    struct text key = {0};
    struct sweep_figure *found = NULL;
    *full = false;
    text_add(&key, "%.*s\n%.*s", (int)cut(check ? check : ""), check ? check : "", (int)cut(name), name);
    json_t *number = json_object_get(t->figure_numbers, text_string(&key));
    if (number) {
        found = json_is_integer(number) ? &t->figures[json_integer_value(number)] : NULL;
        *full = !found;
    } else if (t->figure_count >= SWEEP_MAX_FIGURES) {
        *full = json_object_set_new(t->figure_numbers, text_string(&key), json_null()) == 0;
        t->figures_left_out++;
    } else {
        number = json_integer((json_int_t)t->figure_count);
        bool kept = !key.failed && json_object_set_new(t->figure_numbers, text_string(&key), number) == 0;
        found = kept ? new_figure(t, name, check, unit) : NULL;
    }
    text_free(&key);
    return found;
}

static void set_value(struct sweep_figure *f, size_t row, double value)
{
    if (!isfinite(value))
        return;
    f->known += !isfinite(f->values[row]);
    f->values[row] = value;
}

static int take(struct sweep_table *t, size_t row, const char *name, const char *unit, double value,
                bool counter)
{
    bool full;
    if (!isfinite(value))
        return 0;
    struct sweep_figure *f = figure(t, name, NULL, unit, &full);
    if (f) {
        f->counter = counter;
        set_value(f, row, value);
    }
    return f || full ? 0 : -1;
}

static double number_of(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* ---- flows */

/* A figure of one flow by its name in expressions. */
static const struct {
    const char *value, *words, *unit;
    bool of_all; /* one flow has the same as all flows together */
} of_flow[] = {
    {"goodput_bps", "goodput", "b/s", true},
    {"latency_p50_ns", "latency p50", "ns", false},
    {"latency_p99_ns", "latency p99", "ns", false},
    {"latency_p99_9_ns", "latency p99.9", "ns", false},
    {"completion_p50_ns", "completion p50", "ns", false},
    {"completion_p99_ns", "completion p99", "ns", false},
    {"slowdown_p50", "slowdown p50", "", false},
    {"slowdown_p99", "slowdown p99", "", false},
};
#define OF_FLOW (sizeof of_flow / sizeof *of_flow)

static int take_flow(struct sweep_table *t, size_t row, const char *name, const json_t *flow, bool alone)
{
    int result = 0;
    for (size_t i = 0; result == 0 && i < OF_FLOW; i++) {
        struct text words = {0};
        if (alone && of_flow[i].of_all)
            continue;
        text_add(&words, "%s%s%.100s", of_flow[i].words, alone ? "" : " of ", alone ? "" : name);
        result = take(t, row, text_string(&words), of_flow[i].unit,
                      number_of(result_flow_value(flow, of_flow[i].value)), false);
        text_free(&words);
    }
    return result;
}

static int take_flows(const struct run *run, size_t row, struct sweep_table *t)
{
    json_t *flows = (json_t *)(uintptr_t)run_get(run, "flows"), *flow;
    const char *name;
    size_t count = 0, taken = 0;
    int result = 0;
    json_object_foreach(flows, name, flow)
    {
        count += !result_flow_is_part(flows, name);
    }
    if (count) {
        result = take(t, row, "goodput of all flows", "b/s", run_sum_flows(run, "goodput_bps"), false);
        if (result == 0)
            result =
                take(t, row, "messages of all flows", "1/s", run_sum_flows(run, "messages_per_s"), false);
    }
    json_object_foreach(flows, name, flow)
    {
        if (result == 0 && !result_flow_is_part(flows, name) && taken++ < FLOWS_KEPT)
            result = take_flow(t, row, name, flow, count == 1);
    }
    return result;
}

/* ---- collectives */

/* Those of ranks and of channels that are none are no figures. */
static int take_collectives(const struct run *run, size_t row, struct sweep_table *t)
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
            result = take(t, row, text_string(&title), unit, number, false);
            text_free(&title);
        }
    }
    return result;
}

/* ---- counters */

static bool is_wanted(const char *name, const json_t *counter)
{
    static const enum counter_group groups[] = {COUNTER_GROUP_PFC, COUNTER_GROUP_ECN, COUNTER_GROUP_DROPS};
    const char *group = run_member(counter, "group");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strcmp(group, counter_group_names[groups[i]]) == 0)
            return !counters_of_port(name);
    return false;
}

static void add_increases(const json_t *counters, json_t *sums, json_t *units)
{
    const char *name;
    json_t *counter;
    json_object_foreach((json_t *)(uintptr_t)counters, name, counter)
    {
        double delta = number_of(json_object_get(counter, "delta"));
        if (!isfinite(delta) || !is_wanted(name, counter))
            continue;
        double sum = json_number_value(json_object_get(sums, name)) + delta;
        json_object_set_new(sums, name, json_real(sum));
        json_object_set_new(units, name, json_text(run_member(counter, "unit")));
    }
}

/* The increases of a counter at all hosts together. */
static int take_counters(const struct run *run, size_t row, struct sweep_table *t)
{
    const char *role, *name;
    json_t *host, *counter, *sums = json_object(), *units = json_object();
    int result = sums && units ? 0 : -1;
    if (run_totals(run))
        add_increases(run_totals(run), sums, units);
    else
        json_object_foreach((json_t *)(uintptr_t)run_get(run, "hosts"), role, host)
        {
            add_increases(json_object_get(host, "counters"), sums, units);
        }
    json_object_foreach(sums, name, counter)
    {
        if (result == 0)
            result = take(t, row, name, run_member(units, name), json_number_value(counter), true);
    }
    json_decref(sums);
    json_decref(units);
    return result;
}

/* ---- expectations, published figures, warnings */

static int keep_failure(struct sweep_table *t, size_t row, size_t figure_number, const char *reason)
{
    if (t->failure_count >= FAILURES_KEPT) {
        t->failures_left_out++;
        return 0;
    }
    struct sweep_failure *failures = realloc(t->failures, (t->failure_count + 1) * sizeof *failures);
    if (!failures)
        return -1;
    t->failures = failures;
    failures[t->failure_count] = (struct sweep_failure){row, figure_number, copy_of(reason)};
    return failures[t->failure_count++].reason ? 0 : -1;
}

static int take_expectation(struct sweep_table *t, size_t row, const json_t *item)
{
    bool full;
    enum sweep_verdict verdict = sweep_verdict_of(run_member(item, "verdict"));
    struct sweep_figure *f =
        figure(t, run_member(item, "name"), run_member(item, "check"), run_member(item, "unit"), &full);
    if (!f || !f->verdicts)
        return full ? 0 : -1;
    if (!*f->unit && *run_member(item, "unit")) { /* a run that skipped it had none */
        free(f->unit);
        f->unit = copy_of(run_member(item, "unit"));
    }
    f->with[f->verdicts[row]] -= f->verdicts[row] != SWEEP_NONE;
    f->verdicts[row] = (unsigned char)verdict;
    f->with[verdict]++;
    set_value(f, row, number_of(json_object_get(item, "left")));
    if (!f->unit)
        return -1;
    return verdict == SWEEP_FAILED
               ? keep_failure(t, row, (size_t)(f - t->figures), run_member(item, "reason"))
               : 0;
}

static int take_published(struct sweep_table *t, size_t row, const json_t *item)
{
    if (t->published_count >= PUBLISHED_KEPT) {
        t->published_left_out++;
        return 0;
    }
    struct sweep_published *published = realloc(t->published, (t->published_count + 1) * sizeof *published);
    if (!published)
        return -1;
    t->published = published;
    struct sweep_published *p = &published[t->published_count++];
    *p = (struct sweep_published){.row = row,
                                  .name = copy_of(run_member(item, "name")),
                                  .unit = copy_of(run_member(item, "unit")),
                                  .source = copy_of(run_member(item, "source")),
                                  .reason = copy_of(run_member(item, "reason")),
                                  .published = number_of(json_object_get(item, "published")),
                                  .measured = number_of(json_object_get(item, "measured")),
                                  .difference_percent =
                                      number_of(json_object_get(item, "difference_percent"))};
    return p->name && p->unit && p->source && p->reason ? 0 : -1;
}

static int take_warning(struct sweep_table *t, size_t row, const char *words)
{
    char key[WARNING_FITS + 1];
    snprintf(key, sizeof key, "%.*s", (int)utf8_cut(words, strlen(words), WARNING_FITS), words);
    json_t *known = json_object_get(t->warnings, key);
    if (known)
        return json_integer_set(json_array_get(known, 0), json_integer_value(json_array_get(known, 0)) + 1);
    if (json_object_size(t->warnings) >= SWEEP_MAX_FIGURES)
        return 0;
    return json_put(t->warnings, key, json_make("[i,I]", 1, (json_int_t)row));
}

static int take_lists(const struct run *run, size_t row, struct sweep_table *t)
{
    size_t i;
    json_t *item;
    int result = 0;
    if (json_is_false(run_get(run, "complete")))
        result = keep_failure(t, row, SIZE_MAX, run_text(run, "reason"));
    json_array_foreach(run_get(run, "expectations"), i, item)
    {
        result = result == 0 ? take_expectation(t, row, item) : result;
    }
    json_array_foreach(run_get(run, "verify"), i, item)
    {
        result = result == 0 ? take_expectation(t, row, item) : result;
    }
    json_array_foreach(run_get(run, "published"), i, item)
    {
        result = result == 0 ? take_published(t, row, item) : result;
    }
    json_array_foreach(run_get(run, "warnings"), i, item)
    {
        if (result == 0 && json_is_string(item))
            result = take_warning(t, row, json_string_value(item));
    }
    return result;
}

int sweep_figures_take(const struct run *run, size_t row, struct sweep_table *t, struct error *e)
{
    int result = take_lists(run, row, t);
    if (result == 0)
        result = take_flows(run, row, t);
    if (result == 0)
        result = take_collectives(run, row, t);
    if (result == 0)
        result = take_counters(run, row, t);
    return result == 0 ? 0 : error_set(e, NO_MEMORY);
}

/* ---- the whole column */

static void free_figure(struct sweep_figure *f)
{
    free(f->name);
    free(f->check);
    free(f->unit);
    free(f->values);
    free(f->verdicts);
}

static void find_extremes(const struct sweep_table *t, struct sweep_figure *f)
{
    f->low = INFINITY;
    f->high = -INFINITY;
    for (size_t row = 0; row < t->row_count; row++) {
        f->low = fmin(f->low, f->values[row]);
        f->high = fmax(f->high, f->values[row]);
    }
    f->still = f->counter && f->low == 0 && f->high == 0;
}

void sweep_figures_finish(struct sweep_table *t)
{
    for (size_t i = 0; i < t->figure_count; i++)
        find_extremes(t, &t->figures[i]);
}

void sweep_figures_free(struct sweep_table *t)
{
    for (size_t i = 0; i < t->figure_count; i++)
        free_figure(&t->figures[i]);
    free(t->figures);
    json_decref(t->figure_numbers);
    for (size_t i = 0; i < t->failure_count; i++)
        free(t->failures[i].reason);
    free(t->failures);
    for (size_t i = 0; i < t->published_count; i++) {
        free(t->published[i].name);
        free(t->published[i].unit);
        free(t->published[i].source);
        free(t->published[i].reason);
    }
    free(t->published);
    json_decref(t->warnings);
}

struct sweep_unit sweep_unit_of(const struct sweep_figure *figure)
{
    static const struct {
        const char *unit;
        double from, factor;
        const char *name;
    } units[] = {{"b/s", 1e8, 1e-9, "Gb/s"},
                 {"b/s", 0, 1e-6, "Mb/s"},
                 {"ns", 0, 1e-3, "us"},
                 {"1/s", 1e6, 1e-6, "M/s"},
                 {"bytes", 1e7, 1 / 1048576.0, "MiB"}};
    double most = fmax(fabs(figure->low), fabs(figure->high));
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(figure->unit, units[i].unit) == 0 && most >= units[i].from)
            return (struct sweep_unit){units[i].factor, units[i].name};
    return (struct sweep_unit){1, figure->unit};
}
