/* Expressions over a result. */
#include "harness/expression/expr.h"
#include "harness/expression/expr_tree.h"
#include "lib/collective/result_collectives.h"
#include "lib/document/json_text.h"
#include "lib/formats/result_flows.h"
#include "lib/roce/counters.h"
#include "lib/formats/verdicts.h"
#include "lib/names/range.h"
#include "lib/statistics/distribution.h"
#include "lib/statistics/spread.h"
#include "lib/text.h"
#include <fnmatch.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct evaluation {
    const json_t *result, *other;
    struct expr_result *out;
    bool unread;  /* a figure that it takes is not of the whole measure phase: out->reason has which */
    bool partial; /* ... or is of some NICs of a machine, and others do not have the counter: likewise */
};

/* What a statistic gathers over everything that its globs match. */
struct gathered {
    double *values;
    size_t count, capacity;
    size_t ending; /* of flows that end */
    size_t above;  /* of flows with a goodput above what a line carries */
    size_t far;    /* flows whose goodput differs from what was delivered */
    int64_t began, finished,
        earlier;     /* flows with an end, where the value is one of those that have finished */
    int64_t samples; /* the fewest of a gauge that has few; 0: none has */
    double q, of;    /* a quantile that is of fewer values, `of`, than it takes; 0: there is none */
    int64_t unread_ns, beyond_ns; /* the most of a counter or gauge */
    bool failed;
    bool unread;        /* a counter is there without this figure */
    size_t unread_some; /* how many of those that have such figures are */
    struct {
        size_t with, without; /* the counter */
        const char *first;    /* of those without */
    } roles[2];               /* hosts, and switches, that a glob over roles matches */
    size_t nics, having; /* of a machine that is named: its NICs that are asked; those that have each counter
                          * that one of them has */
    const char *silent;  /* a flow that completed nothing, and so has no latency; NULL: none */
    enum dimension dimension;
    struct gathered_unit {
        const char *name, *unit;
    } first, unlike; /* of a glob over counters: what it matches first, and what has another unit */
};

static void gather(struct gathered *g, double value)
{
    if (g->count == g->capacity) {
        size_t capacity = g->capacity ? 2 * g->capacity : 16;
        double *grown = realloc(g->values, capacity * sizeof *grown);
        g->failed |= !grown;
        if (!grown)
            return;
        g->values = grown;
        g->capacity = capacity;
    }
    g->values[g->count++] = value;
}

/* A quantile is read that is of so many values. */
static void gather_quantile(double q, double count, struct gathered *g)
{
    if (distribution_is_few(q, count, NULL) && (g->q == 0 || count * (1 - q) < g->of * (1 - g->q))) {
        g->q = q;
        g->of = count;
    }
}

static void gather_most(const json_t *ns, int64_t *most)
{
    if (json_integer_value(ns) > *most)
        *most = json_integer_value(ns);
}

static void gather_counter(const struct expr_node *node, const char *name, const json_t *counter,
                           struct gathered *g)
{
    int64_t samples = json_integer_value(json_object_get(counter, "samples"));
    const json_t *value = json_object_get(counter, expr_functions[node->function].key);
    const char *unit = json_string_value(json_object_get(counter, "unit"));
    double scale;
    enum dimension d = expr_unit_dimension(unit ? unit : "", &scale);
    if (node->function == RATE)
        d = expr_rate_dimension(d, &scale);
    if (!json_is_number(value)) {
        const char *kind = json_string_value(json_object_get(counter, "kind"));
        int of = kind && strcmp(kind, "gauge") == 0 ? OF_GAUGE : OF_COUNTER;
        g->unread = true;
        g->unread_some += kind && (expr_functions[node->function].of & of);
        return;
    }
    struct gathered_unit of = {name, unit ? unit : ""};
    if (!g->first.name)
        g->first = of;
    else if (g->dimension != d && !g->unlike.name)
        g->unlike = of;
    g->dimension = g->unlike.name ? g->dimension : d;
    gather(g, json_number_value(value) * scale);
    gather_most(json_object_get(counter, "unread_ns"), &g->unread_ns);
    gather_most(json_object_get(counter, "beyond_ns"), &g->beyond_ns);
    if (!expr_is_over_samples(node, name) || samples <= 0)
        return;
    if (samples < SCENARIO_FEW_SAMPLES && (!g->samples || samples < g->samples))
        g->samples = samples;
    if (expr_functions[node->function].combine == COMBINE_QUANTILE)
        gather_quantile(expr_functions[node->function].q, (double)samples, g);
}

/* Does it count on a machine as a whole? */
static bool is_of_all(const json_t *counter)
{
    const char *source = json_string_value(json_object_get(counter, "source"));
    return source && counters_of_machine(source);
}

/* Of a machine's NICs each shows what counts on the machine as a whole: one of them is enough. `taken`:
 * "MACHINE COUNTER". */
static bool is_again(const json_t *host, const char *name, const json_t *counter, json_t *taken)
{
    const char *machine = json_string_value(json_object_get(host, "machine"));
    if (!machine || !is_of_all(counter))
        return false;
    json_t *key = json_textf("%s %s", machine, name);
    bool again = json_object_get(taken, json_string_value(key));
    json_object_set_new(taken, json_string_value(key), json_true());
    json_decref(key);
    return again;
}

/* A glob over roles is of those that have the counter: switches have none of a NIC's. NICs of a machine that
 * is named, as "a" and "a.rail*" do, are its parts: a sum without one of them is not the machine's. */
static bool is_of_machine(const struct expr_node *node, const json_t *host)
{
    return json_object_get(host, "machine") && strcspn(node->group, "*?[") >= strcspn(node->group, ".");
}

/* A role that was to be sampled, of which no sample could be read: what it has counted is not known. */
static bool is_unsampled(const json_t *host)
{
    const json_t *samples = json_object_get(json_object_get(host, "sampling"), "samples");
    return json_is_integer(samples) && json_integer_value(samples) == 0;
}

/* By the counters that only ports of switches have: hosts of a simulated lab have all of its capabilities. */
static bool is_switch(const json_t *host)
{
    const char *name;
    json_t *counter;
    json_object_foreach(json_object_get(host, "counters"), name, counter)
    {
        if (fnmatch("port[0-9]*", name, 0) == 0)
            return true;
    }
    return false;
}

/* Switches have no counters of a NIC, nor hosts those of a switch; but of its like a role may lack one, too.
 */
static void note_role(struct gathered *g, const char *role, const json_t *host, bool has)
{
    size_t kind = is_switch(host);
    g->roles[kind].with += has;
    if (!has && !g->roles[kind].without++)
        g->roles[kind].first = role;
}

static void gather_counters(const struct expr_node *node, const json_t *result, struct gathered *g)
{
    const char *role, *name;
    json_t *host, *counter, *taken = json_object(), *of_nics = json_object(), *nics = json_array(), *own;
    size_t i;
    json_object_foreach(json_object_get(result, "hosts"), role, host)
    {
        if (!name_matches(node->group, role))
            continue;
        if (is_unsampled(host)) {
            g->unread = true;
            g->unread_some++;
        }
        own = json_object();
        bool has = false;
        json_object_foreach(json_object_get(host, "counters"), name, counter)
        {
            if (!glob_matches(node->name, name))
                continue;
            has = true;
            if (!is_of_all(counter))
                json_object_set_new(own, name, json_true());
            if (!is_again(host, name, counter, taken))
                gather_counter(node, name, counter, g);
        }
        if (is_of_machine(node, host)) {
            json_object_update(of_nics, own);
            json_array_append(nics, own);
        } else if (strpbrk(node->group, "*?[") && !is_unsampled(host)) {
            note_role(g, role, host, has);
        }
        json_decref(own);
    }
    g->nics = json_object_size(of_nics) ? json_array_size(nics) : 0;
    json_array_foreach(nics, i, own)
    {
        g->having += json_object_size(own) == json_object_size(of_nics);
    }
    json_decref(taken);
    json_decref(of_nics);
    json_decref(nics);
}

/* Of a flow with an end, or of a pattern of them: how many began, and how many of these have finished. */
static void gather_ending(const struct expr_node *node, const json_t *flows, const char *name, bool counts,
                          struct gathered *g)
{
    const json_t *flow = json_object_get(flows, name), *all = json_object_get(flow, "flows");
    if (strncmp(node->name, "completion_", 11) != 0 && strncmp(node->name, "slowdown_", 9) != 0)
        return;
    if (counts && all) {
        g->began += json_integer_value(json_object_get(all, "started"));
        g->finished += json_integer_value(json_object_get(all, "finished"));
        g->earlier += json_integer_value(json_object_get(all, "earlier"));
    } else if (counts ||
               (*node->name == 'c' && !all && result_flow_ends(flow) && name_matches(node->flow, name))) {
        g->began++;
        g->finished += counts;
    }
}

/* Has a flow no latency because it completed nothing? Others may not have measured any. */
static bool is_silent(const struct expr_node *node, const json_t *flow, const char *name)
{
    const json_t *messages = json_object_get(flow, "messages");
    return strncmp(node->name, "latency_", 8) == 0 && name_matches(node->flow, name) &&
           json_is_integer(messages) && json_integer_value(messages) == 0 &&
           !json_object_get(flow, "latency_ns");
}

static void gather_flows(const struct expr_node *node, const json_t *result, struct gathered *g)
{
    const json_t *flows = json_object_get(result, "flows");
    const char *name;
    json_t *flow;
    json_object_foreach((json_t *)(uintptr_t)flows, name, flow)
    {
        bool counts = result_flow_counts(flows, name, node->flow, node->name);
        gather_ending(node, flows, name, counts, g);
        if (is_silent(node, flow, name))
            g->silent = name;
        if (!counts)
            continue;
        gather(g, json_number_value(result_flow_value(flow, node->name)));
        double of, q = result_flow_quantile(flow, node->name, &of);
        gather_quantile(q, of, g);
        g->ending += result_flow_ends(flow);
        g->above += json_object_get(flow, "above_line_bps") != NULL;
        g->far += !result_flow_ends(flow) && result_flow_is_far(flow);
    }
    if (!expr_flow_dimension(node->name, &g->dimension))
        g->dimension = DIMENSION_PLAIN;
}

static void gather_collectives(const struct expr_node *node, const json_t *result, struct gathered *g)
{
    const char *name;
    json_t *collective;
    double value;
    json_object_foreach(json_object_get(result, "collectives"), name, collective)
    {
        if (glob_matches(node->flow, name) && result_collective_value(collective, node->name, &value))
            gather(g, value);
    }
}

/* A value of each rank of the jobs that the pattern names. */
static void gather_jobs(const struct expr_node *node, const json_t *result, struct gathered *g)
{
    const char *name;
    json_t *job, *rank;
    size_t i;
    json_object_foreach(json_object_get(result, "jobs"), name, job)
    {
        json_array_foreach(json_object_get(job, "ranks"), i, rank)
        {
            const json_t *value = json_object_get(rank, node->name);
            if (glob_matches(node->flow, name) && json_is_number(value))
                gather(g, json_number_value(value));
        }
    }
}

static void take_dimension(const struct expr_node *node, struct gathered *g)
{
    const char *known, *unit, *words;
    double scale;
    for (size_t i = 0; (known = expr_listed_value(node, i, &unit, &words)); i++)
        if (strcmp(known, node->name) == 0)
            g->dimension = expr_unit_dimension(unit, &scale);
}

/* NAN if it is not defined: the index of nothing but zeros, the deviation of one value. */
static double jain(const struct gathered *g)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < g->count; i++) {
        sum += g->values[i];
        squares += g->values[i] * g->values[i];
    }
    return squares > 0 ? sum * sum / ((double)g->count * squares) : NAN;
}

/* The number that a function makes of at least one value, or how many there are. */
static double combine(const struct expr_node *node, const struct gathered *g)
{
    const struct expr_function_row *function = &expr_functions[node->function];
    double sum = 0;
    for (size_t i = 0; i < g->count; i++)
        sum += g->values[i];
    switch (function->combine) {
    case COMBINE_COUNT:
        return (double)g->count;
    case COMBINE_MIN:
        return distribution_quantile(g->values, g->count, 0);
    case COMBINE_MAX:
        return distribution_quantile(g->values, g->count, 1);
    case COMBINE_QUANTILE:
        return distribution_quantile(g->values, g->count, node->flow ? function->q : 1);
    case COMBINE_MEAN:
        return sum / (double)g->count;
    case COMBINE_JAIN:
        return jain(g);
    case COMBINE_STDDEV:
        return spread_of(g->values, g->count).stddev;
    case COMBINE_SUM:
        break;
    }
    return sum;
}

static void explain_missing(const struct expr_node *node, const struct gathered *g, struct expr_result *out)
{
    const char *list = expr_is_of_collectives(node) ? "collectives."
                       : expr_is_of_jobs(node)      ? "jobs."
                       : node->flow                 ? "flows."
                                                    : "";
    const char *of = node->flow ? node->flow : node->group;
    if (g->failed)
        snprintf(out->reason, sizeof out->reason, "out of memory");
    else if (g->unlike.name)
        snprintf(out->reason, sizeof out->reason, EXPR_UNLIKE, of, node->name, g->first.name, g->first.unit,
                 g->unlike.name, g->unlike.unit);
    else if (g->count == 0 && g->unread)
        snprintf(out->reason, sizeof out->reason, "%.60s.%.100s was not read in the measure phase", of,
                 node->name);
    else if (g->count == 0)
        snprintf(out->reason, sizeof out->reason, "there is no %s%.60s.%.100s in the result", list, of,
                 node->name);
    else
        snprintf(out->reason, sizeof out->reason,
                 "column %d: %s is not defined for the %zu %s of %s%.60s.%.60s", node->column,
                 expr_functions[node->function].name, g->count, THINGS(g->count, "value"), list, of,
                 node->name);
}

/* Add a note, once: both sides of a comparison may have it. */
static void add_note(struct expr_result *out, const char *note)
{
    size_t used = strlen(out->note);
    if (!strstr(out->note, note))
        snprintf(out->note + used, sizeof out->note - used, "%s%s", used ? "; " : "", note);
}

/* Rates of flows that end are over their own time, those of the others over the measure phase: a sum of them
 * is a rate at no time. */
static void note_flows(const struct expr_node *node, const struct gathered *g, struct expr_result *out)
{
    bool rate = strncmp(node->name, "goodput_", 8) == 0 || strcmp(node->name, "messages_per_s") == 0,
         of_completed = rate || strcmp(node->name, "bytes") == 0;
    char note[200];
    if (g->finished < g->began && expr_functions[node->function].combine != COMBINE_COUNT) {
        snprintf(note, sizeof note, "of the %lld flows that have finished, of %lld that began%s",
                 (long long)g->finished, (long long)g->began,
                 g->earlier ? " in the measure phase or later" : "");
        add_note(out, note);
    }
    if (rate && expr_functions[node->function].combine == COMBINE_SUM && g->ending && g->count > 1) {
        snprintf(note, sizeof note,
                 "%zu of the %zu flows of flows.%.40s end, and their rates are over their own time",
                 g->ending, g->count, node->flow);
        add_note(out, note);
    }
    if (rate && g->above) {
        snprintf(note, sizeof note, "flows.%.40s: goodput above what a line carries, see the warnings",
                 node->flow);
        add_note(out, note);
    } else if (of_completed && g->far) {
        snprintf(
            note, sizeof note,
            "flows.%.40s: by completed messages, which differs from what was delivered, see the warnings",
            node->flow);
        add_note(out, note);
    }
}

static void note_samples(const struct gathered *g, struct expr_result *out)
{
    char note[64];
    snprintf(note, sizeof note, "of %lld %s", (long long)g->samples, THINGS(g->samples, "sample"));
    if (g->samples)
        add_note(out, note);
}

/* The value lacks something: it is judged only where that would change nothing. */
static void note_lack(struct evaluation *v, const char *note)
{
    add_note(v->out, note);
    snprintf(v->out->reason, sizeof v->out->reason, "%s", note);
    v->unread = true;
}

/* A figure that lacks places, flows or a part of the measure phase, or has more than the phase. */
static void note_unread(const struct expr_node *node, const struct gathered *g, struct evaluation *v)
{
    char note[240];
    if (g->having < g->nics) {
        snprintf(note, sizeof note, "%.30s.%.60s: %zu of %zu NICs have %s", node->group, node->name,
                 g->having, g->nics, strpbrk(node->name, "*?[") ? "all of them" : "it");
        add_note(v->out, note);
        snprintf(v->out->reason, sizeof v->out->reason, "%s", note);
        v->partial = true;
    }
    for (size_t kind = 0; kind < 2; kind++) {
        size_t with = g->roles[kind].with, without = g->roles[kind].without;
        if (!with || !without)
            continue;
        snprintf(note, sizeof note, "%.30s.%.60s is of %zu of %zu %s: %.40s%s", node->group, node->name, with,
                 with + without, kind ? "switches" : "hosts", g->roles[kind].first,
                 without == 1 ? " does not have it" : " and others do not have it");
        add_note(v->out, note);
    }
    if (g->silent) {
        snprintf(note, sizeof note, "flow %.60s completed no message, and has no %.40s", g->silent,
                 node->name);
        note_lack(v, note);
    }
    if (g->unread_some) {
        snprintf(note, sizeof note, "%.30s.%.60s was not read in the measure phase at %zu of %zu places",
                 node->group, node->name, g->unread_some, g->unread_some + g->count);
        note_lack(v, note);
    }
    if (g->unread_ns) {
        snprintf(note, sizeof note, "%.30s.%.60s was not read for %.4g s of the measure phase", node->group,
                 node->name, (double)g->unread_ns / 1e9);
        note_lack(v, note);
    }
    if (g->beyond_ns) {
        snprintf(note, sizeof note, "%.30s.%.60s counted for %.4g s more than the measure phase", node->group,
                 node->name, (double)g->beyond_ns / 1e9);
        add_note(v->out, note);
    }
}

/* "the p99.9 of s0.queue_bytes is of 20 samples and takes 1000: it is only the largest" */
static void note_quantile(const struct expr_node *node, const struct gathered *g, struct expr_result *out)
{
    double needed;
    if (g->q == 0)
        return;
    distribution_is_few(g->q, g->of, &needed);
    bool of_flows =
        node->flow && expr_functions[node->function].combine == COMBINE_QUANTILE && g->of == (double)g->count;
    const char *of = node->flow ? node->flow : node->group,
               *values = !node->flow                               ? "sample"
                         : of_flows                                ? "flow"
                         : strncmp(node->name, "latency_", 8) == 0 ? "message"
                                                                   : "flow";
    snprintf(out->few, sizeof out->few,
             "the p%.6g of %s%.30s.%.40s is of %.0f %s%s and takes %.0f: it is only the largest", g->q * 100,
             node->flow ? "flows." : "", of, node->name, g->of, values, g->of == 1 ? "" : "s", needed);
    add_note(out, out->few);
}

static double statistic(const struct expr_node *node, struct evaluation *v, enum dimension *dimension)
{
    struct gathered g = {.dimension = DIMENSION_PLAIN};
    if (expr_is_of_collectives(node))
        gather_collectives(node, v->result, &g);
    else if (expr_is_of_jobs(node))
        gather_jobs(node, v->result, &g);
    else if (node->flow)
        gather_flows(node, v->result, &g);
    else
        gather_counters(node, v->result, &g);
    take_dimension(node, &g);
    size_t least = node->function == COUNT_OF ? 0 : expr_functions[node->function].two ? 2 : 1;
    bool any = !g.failed && g.count >= least && (!g.unlike.name || node->function == COUNT_OF);
    if (node->flow && expr_functions[node->function].combine == COMBINE_QUANTILE)
        gather_quantile(expr_functions[node->function].q, (double)g.count, &g);
    double value = any ? combine(node, &g) : NAN;
    if (isnan(value))
        explain_missing(node, &g, v->out);
    else if (node->flow)
        note_flows(node, &g, v->out);
    else
        note_samples(&g, v->out);
    if (!isnan(value) && node->function != COUNT_OF) {
        note_quantile(node, &g, v->out);
        note_unread(node, &g, v);
    }
    *dimension = expr_function_dimension(node->function, g.dimension);
    free(g.values);
    return value;
}

static double evaluate(const struct expr_node *node, struct evaluation *v, enum dimension *dimension);

static double evaluate_other(const struct expr_node *node, struct evaluation *v, enum dimension *dimension)
{
    struct evaluation there = {.result = v->other, .out = v->out};
    double value = v->other ? evaluate(node->left, &there, dimension) : NAN;
    v->unread |= there.unread;
    v->partial |= there.partial;
    if (v->other)
        return value;
    *dimension = DIMENSION_PLAIN;
    snprintf(v->out->reason, sizeof v->out->reason,
             "other(...) is of another cell of the sweep, and this run has none");
    return NAN;
}

static double evaluate(const struct expr_node *node, struct evaluation *v, enum dimension *dimension)
{
    enum dimension left_dimension, right_dimension = DIMENSION_PLAIN;
    double by = 1;
    if (node->kind == NUMBER) {
        *dimension = node->dimension;
        return node->number;
    }
    if (node->kind == STATISTIC)
        return statistic(node, v, dimension);
    if (node->kind == OTHER)
        return evaluate_other(node, v, dimension);
    double left = evaluate(node->left, v, &left_dimension);
    double right = node->right ? evaluate(node->right, v, &right_dimension) : 0;
    *dimension = expr_sum_dimension(left_dimension, right_dimension);
    if ((node->kind == ADD || node->kind == SUBTRACT) && !isnan(left) && !isnan(right) &&
        !expr_go_together(left_dimension, right_dimension)) {
        snprintf(v->out->reason, sizeof v->out->reason, "column %d: %s and %s cannot be added", node->column,
                 expr_dimension_words(left_dimension), expr_dimension_words(right_dimension));
        return NAN;
    }
    if (node->kind == MULTIPLY || node->kind == DIVIDE)
        expr_product(node->kind == DIVIDE, left_dimension, right_dimension, dimension, &by);
    switch (node->kind) {
    case ADD:
        return left + right;
    case SUBTRACT:
        return left - right;
    case MULTIPLY:
        return expr_scaled(left * right, by);
    case DIVIDE:
        if (right == 0)
            snprintf(v->out->reason, sizeof v->out->reason, "column %d: division by zero", node->column);
        return right == 0 ? NAN : expr_scaled(left / right, by);
    default:
        *dimension = left_dimension;
        return 0 - left; /* without a sign of 0 */
    }
}

const char *expr_sign(const struct expr *check)
{
    return check->sign ? check->sign : "";
}

bool expr_compare(const struct expr *check, double left, double right)
{
    return check->sign && verdict_holds(check->sign, left, right);
}

/* With all counters 0, and `flow` for values of flows. A division by 0 makes it NAN or infinite. */
static double uncounted(const struct expr_node *node, double flow)
{
    if (node->kind == NUMBER)
        return node->number;
    if (node->kind == STATISTIC)
        return node->flow ? flow : 0;
    double left = uncounted(node->left, flow), right = node->right ? uncounted(node->right, flow) : 0;
    switch (node->kind) {
    case ADD:
        return left + right;
    case SUBTRACT:
        return left - right;
    case MULTIPLY:
        return left * right;
    case DIVIDE:
        return left / right;
    default:
        return node->kind == NEGATE ? -left : left;
    }
}

static bool holds_uncounted(const struct expr *check, double flow)
{
    double left = uncounted(check->left, flow), right = check->right ? uncounted(check->right, flow) : 0;
    return isfinite(left) && isfinite(right) && expr_compare(check, left, right);
}

bool expr_holds_uncounted(const struct expr *check)
{
    return holds_uncounted(check, 1);
}

/* Does it read how much was moved, or how fast? */
static bool reads_movement(const struct expr_node *node)
{
    static const char *const events[] = {"errors", "retransmitted_packets", "marked_packets"};
    size_t count;
    const struct counter *rows = counters_all(&count);
    bool reads = node && node->kind == STATISTIC && node->flow;
    if (!node)
        return false;
    for (size_t i = 0; reads && i < sizeof events / sizeof *events; i++)
        reads = strcmp(node->name, events[i]) != 0;
    for (size_t i = 0; !reads && node->kind == STATISTIC && !node->flow && i < count; i++)
        reads = rows[i].group == COUNTER_GROUP_THROUGHPUT &&
                counters_pattern_overlaps(rows[i].pattern, node->name);
    return reads || reads_movement(node->left) || reads_movement(node->right);
}

bool expr_holds_of_silence(const struct expr *check)
{
    return !reads_movement(check->left) && !reads_movement(check->right) && holds_uncounted(check, 0);
}

/* Would a check have the same outcome with everything that was not read? An increase and a largest value can
 * only become larger, and with more places also other sums. */
static bool is_certain(const struct expr *check, double left, double right, bool places)
{
    const struct expr_node *of = check->left;
    if (!check->sign || !check->right || check->right->kind != NUMBER || of->kind != STATISTIC ||
        (of->function != DELTA && of->function != TOTAL && of->function != MAX &&
         (!places || expr_functions[of->function].combine != COMBINE_SUM)))
        return false;
    bool greater_holds = verdict_holds(check->sign, 1, 0);
    return greater_holds == verdict_holds(check->sign, left, right) && left >= right &&
           (left > right || strcmp(check->sign, ">=") == 0 || strcmp(check->sign, "<") == 0);
}

bool expr_is_settled(const struct expr *check, const struct expr_result *so_far)
{
    return is_certain(check, so_far->left, so_far->right, false);
}

enum expr_outcome expr_evaluate(const struct expr *expr, const json_t *result, const json_t *other,
                                struct expr_result *out)
{
    struct evaluation v = {.result = result, .other = other, .out = out};
    enum dimension left, right = DIMENSION_ANY;
    *out = (struct expr_result){.right = NAN, .unit = "", .sign = expr_sign(expr)};
    out->left = evaluate(expr->left, &v, &left);
    if (expr->right)
        out->right = evaluate(expr->right, &v, &right);
    enum dimension both = expr_sum_dimension(left, right);
    out->unit = expr_dimension_unit(both);
    if (isnan(out->left) || (expr->right && isnan(out->right)))
        return EXPR_UNKNOWN;
    if (!expr_go_together(left, right)) {
        snprintf(out->reason, sizeof out->reason, "column %d: in this result %s is compared with %s",
                 expr->column, expr_dimension_words(left), expr_dimension_words(right));
        return EXPR_UNKNOWN;
    }
    if ((v.unread || v.partial) && !is_certain(expr, out->left, out->right, !v.unread))
        return EXPR_UNKNOWN;
    return !expr->sign || expr_compare(expr, out->left, out->right) ? EXPR_TRUE : EXPR_FALSE;
}
