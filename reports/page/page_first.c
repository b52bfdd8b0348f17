/* The first screen of a page: what was run, what came of it against what was expected, and why; a few
 * figures; and the one picture that explains the run. */
#include "lib/document/json_text.h"
#include "lib/formats/result_flows.h"
#include "lib/formats/verdicts.h"
#include "lib/output/verdicts.h"
#include "lib/xalloc.h"
#include "reports/results/sweep_words.h"
#include "reports/page/html.h"
#include "reports/page/page_parts.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TRAFFIC_NAMED   4
#define FAILURES_NAMED  4
#define RUNS_NAMED      8 /* a line each */
#define VALUES_NAMED    4 /* of a figure; of more runs the least and the greatest */
#define FIGURES_SHOWN   6
#define PUBLISHED_SHOWN 3

/* ---- what was run */

/* Hosts, and of those that are NICs of one machine this alone. */
static size_t count_machines(const struct run *run, size_t *nics)
{
    const json_t *nodes = run_get(run, "topology.nodes"), *node;
    json_t *names = json_object(), *host;
    const char *role;
    size_t i;
    *nics = 0;
    json_array_foreach(nodes, i, node)
    {
        const char *machine = run_member(node, "machine");
        if (strcmp(run_member(node, "kind"), "host") == 0)
            json_put(names, *machine ? machine : run_member(node, "name"), json_true());
        *nics += *machine != '\0';
    }
    json_object_foreach(nodes ? NULL : (json_t *)(uintptr_t)run_get(run, "hosts"), role, host)
    {
        const char *machine = run_member(host, "machine");
        json_put(names, *machine ? machine : role, json_true());
        *nics += *machine != '\0';
    }
    size_t count = json_object_size(names);
    json_decref(names);
    return count;
}

/* "16 hosts and 2 switches", "2 hosts with 8 NICs and 4 switches" */
static void add_places(const struct run *run, struct text *out)
{
    const json_t *nodes = run_get(run, "topology.nodes"), *node;
    size_t switches = 0, nics, hosts = count_machines(run, &nics), i;
    json_array_foreach(nodes, i, node) switches += strcmp(run_member(node, "kind"), "host") != 0;
    text_add(out, "%zu %s", hosts, THINGS(hosts, "host"));
    if (nics)
        text_add(out, " with %zu %s", nics, THINGS(nics, "NIC"));
    if (switches)
        text_add(out, " and %zu %s", switches, switches == 1 ? "switch" : "switches");
}

/* The hosts of an end of a pattern: "h3", "16 hosts". */
static void add_end(const json_t *end, struct text *out)
{
    size_t count = json_array_size(end);
    if (count > 1)
        text_add(out, "%zu hosts", count);
    else
        html_escaped(out, json_string_value(count ? json_array_get(end, 0) : end));
}

/* "victim from h7 to h15" */
static void add_flow(const json_t *flow, struct text *out)
{
    const json_t *from = json_object_get(flow, "from"), *to = json_object_get(flow, "to");
    const char *pattern = run_member(flow, "pattern");
    bool to_some = json_array_size(to) || json_is_string(to);
    text_add(out, "<b>");
    html_escaped(out, run_member(flow, "name"));
    text_add(out, "</b>");
    if (*pattern && strcmp(pattern, run_member(flow, "name")) != 0) {
        text_add(out, ", a pattern ");
        html_escaped(out, pattern);
        text_add(out, ",");
    }
    text_add(out, to_some ? " from " : " between ");
    add_end(from, out);
    if (to_some) {
        text_add(out, " to ");
        add_end(to, out);
    }
}

static void add_traffic(const struct run *run, struct text *out)
{
    static const char *const lists[] = {"scenario.flows", "scenario.traffic", "scenario.collectives"};
    size_t named = 0, all = 0, i;
    const json_t *flow;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        json_array_foreach(run_get(run, lists[k]), i, flow)
        {
            if (all++ >= TRAFFIC_NAMED)
                continue;
            text_add(out, "%s", named++ ? "; " : ": ");
            if (k < 2)
                add_flow(flow, out);
            else
                html_escaped(out, run_member(flow, "name"));
        }
    if (all > named)
        text_add(out, "; and %zu more", all - named);
}

/* "16 hosts and 2 switches, measured for 20ms: victim from h7 to h15" */
static void add_experiment(const struct run *run, struct text *out)
{
    const char *measure = run_text(run, "scenario.phases.measure");
    add_places(run, out);
    if (*measure) {
        text_add(out, ", measured for ");
        html_escaped(out, measure);
    }
    add_traffic(run, out);
}

/* Paths of the choices in which the runs of a sweep differ. */
static void add_varied(const struct runs *runs, struct text *out)
{
    json_t *paths = json_object(), *value;
    const char *path;
    size_t i = 0;
    for (size_t r = 0; r < runs->count; r++)
        json_object_foreach((json_t *)(uintptr_t)run_get(&runs->items[r], "cell"), path, value)
        {
            if (!json_equal(value, json_object_get(run_get(&runs->items[0], "cell"), path)))
                json_put(paths, path, json_true());
        }
    json_object_foreach(paths, path, value)
    {
        text_add(out, i++ ? ", " : ", which differ in ");
        text_add(out, "<code>");
        html_escaped(out, path);
        text_add(out, "</code>");
    }
    json_decref(paths);
}

static void add_what(const struct runs *runs, struct text *out)
{
    if (runs->count > 1)
        text_add(out, "%zu runs", runs->count);
    if (runs->results > 1) {
        text_add(out, ", named below, beside one another. ");
        return;
    }
    add_varied(runs, out);
    text_add(out, runs->count > 1 ? ", on " : "On ");
    add_experiment(&runs->items[0], out);
    text_add(out, ". ");
}

/* ---- what came of it */

static const char *const judged_lists[] = {"expectations", "verify"};

static void add_failed(const struct runs *runs, const struct run *run, const json_t *item, struct text *out)
{
    text_add(out, "<li class=failed>");
    if (runs->count > 1) {
        html_escaped(out, run_label(run));
        text_add(out, ": ");
    }
    html_escaped(out, run_member(item, "name"));
    text_add(out, " <span class=soft>(");
    html_escaped(out, run_member(item, "reason"));
    text_add(out, ")</span></li>\n");
}

/* How many expectations of the runs passed and did not, and those that failed. */
static void add_outcome(const struct runs *runs, struct text *out, struct text *failures)
{
    size_t with[VERDICT_INCOMPLETE + 1] = {0}, i, any = 0;
    const json_t *item;
    for (size_t r = 0; r < runs->count; r++)
        for (size_t k = 0; k < sizeof judged_lists / sizeof *judged_lists; k++)
            json_array_foreach(run_get(&runs->items[r], judged_lists[k]), i, item)
            {
                const json_t *later = run_judged_later(&runs->items[r], judged_lists[k], item);
                enum verdict verdict = verdict_of(run_member(later ? later : item, "verdict"));
                any++;
                if (run_expects_of_others(item))
                    continue;
                with[verdict]++;
                if (verdict == VERDICT_FAILED && with[verdict] <= FAILURES_NAMED)
                    add_failed(runs, &runs->items[r], later ? later : item, failures);
            }
    if (!any) {
        text_add(out, "Nothing was expected of %s. ", runs->count > 1 ? "them" : "it");
        return;
    }
    if (with[VERDICT_FAILED])
        text_add(out, "<b class=failed>%zu %s failed</b>, ", with[VERDICT_FAILED],
                 THINGS(with[VERDICT_FAILED], "expectation"));
    text_add(out, with[VERDICT_FAILED] ? "%zu passed" : "<b>%zu expectations passed</b>",
             with[VERDICT_PASSED]);
    if (with[VERDICT_SKIPPED])
        text_add(out, ", %zu %s not judged", with[VERDICT_SKIPPED],
                 with[VERDICT_SKIPPED] == 1 ? "was" : "were");
    text_add(out, ". ");
    if (with[VERDICT_FAILED] > FAILURES_NAMED)
        text_add(failures, "<li class=soft>and %zu more</li>\n", with[VERDICT_FAILED] - FAILURES_NAMED);
}

/* ---- figures */

static double delivered(const struct run *run)
{
    return run_sum_flows(run, "delivered_bps") / 1e9;
}

static double goodput(const struct run *run)
{
    return run_sum_flows(run, "goodput_bps") / 1e9;
}

static double sent_again(const struct run *run)
{
    return run_sum_flows(run, "retransmitted_packets");
}

/* Names of flows and patterns that a rate of their own limits: their messages wait for it, which says nothing
 * of the network. A new object. */
static json_t *paced_by_rate(const struct run *run)
{
    static const char *const lists[] = {"scenario.flows", "scenario.traffic"};
    json_t *names = json_object();
    const json_t *item;
    size_t i;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        json_array_foreach(run_get(run, lists[k]), i, item)
        {
            if (json_is_string(json_object_get(item, "rate")))
                json_object_set_new(names, run_member(item, "name"), json_true());
        }
    return names;
}

/* A pattern's flow is NAME/NUMBER. */
static bool is_paced(const json_t *names, const char *flow)
{
    const char *slash = strrchr(flow, '/');
    char *pattern = slash ? xasprintf("%.*s", (int)(slash - flow), flow) : NULL;
    bool paced = json_object_get(names, flow) || (pattern && json_object_get(names, pattern));
    free(pattern);
    return paced;
}

/* p99 of the slowest flow among those that are paced by a rate, or that are not; NAN: none. */
static double slowest(const struct run *run, bool paced)
{
    json_t *names = paced_by_rate(run), *flow;
    double most = NAN;
    const char *name;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "flows"), name, flow)
    {
        const json_t *latency = json_object_get(flow, "latency_ns");
        if (json_object_get(latency, "p99") && is_paced(names, name) == paced)
            most = fmax(most, result_distribution_value(latency, "p99", NULL) / 1e3);
    }
    json_decref(names);
    return most;
}

static double latency(const struct run *run)
{
    return isnan(slowest(run, true)) ? slowest(run, false) : NAN;
}

static double latency_unpaced(const struct run *run)
{
    return isnan(slowest(run, true)) ? NAN : slowest(run, false);
}

static double latency_paced(const struct run *run)
{
    return isnan(slowest(run, false)) ? slowest(run, true) : NAN;
}

/* A counter that a result has for the measure phase alone. */
static double lost_in_phase(const struct run *run)
{
    return isnan(page_lost_in_run(run)) ? page_lost(run) : NAN;
}

/* Of the first pattern with finite flows. */
static double slowdown(const struct run *run)
{
    const char *name;
    json_t *flow;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "flows"), name, flow)
    {
        if (json_object_get(flow, "slowdown"))
            return result_distribution_value(json_object_get(flow, "slowdown"), "p99", NULL);
    }
    return NAN;
}

/* In the order in which they are wanted. */
static const struct {
    const char *name, *unit;
    double (*of)(const struct run *run);
    bool even_zero; /* that nothing was lost is worth a place */
} figures[] = {
    {"delivered by all flows", "Gb/s", delivered, true},
    {"goodput of all flows", "Gb/s", goodput, true},
    {"largest busbw", "GB/s", run_max_busbw_GBps, true},
    {"time in which a host was paused, at most", "%", page_most_paused, false},
    {"PFC frames received by hosts", "", page_pauses, true},
    {"packets lost, whole run", "", page_lost_in_run, true},
    {"packets lost in the measure phase", "", lost_in_phase, true},
    {"slowdown p99", "", slowdown, false},
    {"latency p99 of the slowest flow", "us", latency, false},
    {"latency p99 of the slowest flow without a rate of its own", "us", latency_unpaced, false},
    {"latency p99 of the slowest flow; its own rate holds messages back", "us", latency_paced, false},
    {"packets sent again, whole run", "", sent_again, false},
};
#define FIGURES (sizeof figures / sizeof *figures)

static void begin_figure(const char *name, struct text *out)
{
    text_add(out, "<div><span class=soft>");
    html_escaped(out, name);
    text_add(out, "</span>");
}

static void add_value(const char *label, double value, const char *unit, struct text *out)
{
    text_add(out, "<p><span>");
    html_escaped(out, label);
    text_add(out, "</span> <span><b>");
    html_number(out, value);
    text_add(out, "</b>%s", *unit ? "&#8239;" : "");
    html_escaped(out, unit);
    text_add(out, "</span></p>");
}

/* A value of each run; of many the least and the greatest. */
static bool add_figure(const struct runs *runs, size_t figure, struct text *out)
{
    double least = NAN, most = NAN;
    for (size_t r = 0; r < runs->count; r++) {
        double value = figures[figure].of(&runs->items[r]);
        least = fmin(value, least);
        most = fmax(value, most);
    }
    if (!isfinite(most) || (most == 0 && !figures[figure].even_zero))
        return false;
    begin_figure(figures[figure].name, out);
    if (runs->count > 1 && least == most) {
        add_value("in all", most, figures[figure].unit, out);
    } else if (runs->count <= VALUES_NAMED) {
        for (size_t r = 0; r < runs->count; r++)
            add_value(runs->count > 1 ? run_label(&runs->items[r]) : "", figures[figure].of(&runs->items[r]),
                      figures[figure].unit, out);
    } else {
        add_value("least", least, figures[figure].unit, out);
        add_value("most", most, figures[figure].unit, out);
    }
    text_add(out, "</div>\n");
    return true;
}

static bool add_published(const struct run *run, bool named, const json_t *item, struct text *out)
{
    double value = html_value(json_object_get(item, "value")),
           difference = html_value(json_object_get(item, "difference_percent"));
    const char *unit = run_member(item, "unit");
    char percents[32];
    if (!isfinite(value))
        return false;
    begin_figure(run_member(item, "name"), out);
    add_value(named ? run_label(run) : "", value, unit, out);
    text_add(out, "<p class=soft>published ");
    html_number(out, html_value(json_object_get(item, "published")));
    text_add(out, "%s", *unit ? "&#8239;" : "");
    html_escaped(out, unit);
    if (isfinite(difference))
        text_add(out, " (%s)", verdict_percents(difference, percents));
    text_add(out, "</p></div>\n");
    return true;
}

static void add_figures(const struct runs *runs, struct text *out)
{
    size_t shown = 0, i;
    const json_t *item;
    bool has_delivered = runs_have_delivered(runs);
    text_add(out, runs->count > 1 ? "<div class=\"figures several\">\n" : "<div class=figures>\n");
    for (size_t r = 0; r < runs->count; r++)
        json_array_foreach(run_get(&runs->items[r], "published"), i, item)
        {
            shown += shown < PUBLISHED_SHOWN && add_published(&runs->items[r], runs->count > 1, item, out);
        }
    for (size_t f = 0; f < FIGURES && shown < FIGURES_SHOWN; f++)
        if (figures[f].of != (has_delivered ? goodput : delivered))
            shown += add_figure(runs, f, out);
    text_add(out, "</div>\n");
}

/* ---- the picture */

/* The run whose picture explains most: that which failed, else that of which causes took most. */
static size_t run_to_show(const struct runs *runs)
{
    size_t best = 0, i;
    double most = -1;
    for (size_t r = 0; r < runs->count; r++) {
        double cost = run_verdict(&runs->items[r]) == VERDICT_FAILED ? 1e9 : 0;
        const json_t *cause;
        json_array_foreach(json_object_get(runs->items[r].explanation, "causes"), i, cause) cost +=
            json_number_value(json_object_get(cause, "cost"));
        if (cost > most) {
            most = cost;
            best = r;
        }
    }
    return best;
}

#define PAUSE_KINDS 2 /* the first ones of the kinds below are of pauses */

/* Did a link of it change, by its faults or by what was sampled? */
static bool link_changed(const struct run *run)
{
    const json_t *item;
    size_t i;
    json_array_foreach(run_get(run, "scenario.faults"), i, item)
    {
        if (strcmp(run_member(item, "kind"), "loss") != 0)
            return true;
    }
    json_array_foreach(json_object_get(run->explanation, "causes"), i, item)
    {
        if (strcmp(run_member(item, "kind"), "link-down") == 0)
            return true;
    }
    return false;
}

/* Is the drawing called NAME and the kind, such as "-map"? */
static bool is_of_kind(const struct drawing *drawing, const char *kind)
{
    size_t length = strlen(drawing->name), end = strlen(kind);
    return length >= end && strcmp(drawing->name + length - end, kind) == 0;
}

size_t page_explaining(const struct runs *runs, const struct drawing *drawings, size_t count)
{
    static const char *const kinds[] = {"-map", "-timeline", "-throughput", "-dcqcn", "-queues", ""};
    size_t run = run_to_show(runs), first = link_changed(&runs->items[run]) ? PAUSE_KINDS : 0;
    /* Of flows that end, where nobody is paused, how long they took says more than the rates of some hosts.
     */
    if (isfinite(slowdown(&runs->items[run])) && !(page_pauses(&runs->items[run]) > 0))
        for (size_t i = 0; i < count; i++)
            if (strcmp(drawings[i].name, "sweep-slowdown") == 0)
                return i;
    for (size_t i = 0; i < count; i++)
        if (drawings[i].run == run && drawings[i].minor)
            first = PAUSE_KINDS;
    for (size_t k = first; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; i < count; i++)
            if (drawings[i].run == run && is_of_kind(&drawings[i], kinds[k]))
                return i;
    return count ? 0 : SIZE_MAX;
}

/* ---- one or several runs */

void page_add_first(const struct runs *runs, const struct drawing *drawings, size_t explaining,
                    struct text *out)
{
    struct text failures = {0};
    const struct run *first = &runs->items[0];
    text_add(out, "<section class=first>\n<p class=lead>");
    add_what(runs, out);
    add_outcome(runs, out, &failures);
    if (runs->count == 1 && first->explanation) {
        text_add(out, "Why: <b>");
        html_escaped(out, run_member(first->explanation, "text"));
        text_add(out, "</b>.");
        page_add_parts(first->explanation, out);
    }
    text_add(out, "</p>\n");
    if (failures.length)
        text_add(out, "<ul>\n%s</ul>\n", text_string(&failures));
    text_free(&failures);
    if (runs->count > 1)
        page_add_causes(runs, RUNS_NAMED, out);
    add_figures(runs, out);
    if (explaining != SIZE_MAX) {
        const struct drawing *d = &drawings[explaining];
        page_add_drawing(
            d, d->run == SIZE_MAX || d->run >= runs->count ? "" : run_label(&runs->items[d->run]), out);
    }
    text_add(out, "</section>\n");
}

/* ---- a sweep of many runs */

#define GROUPS_NAMED 8

/* "fair failed in 42 of 60: all with rpg_ai_rate >= 40 or kmin 10KB to 80KB, and no others" */
static void add_group(const struct sweep_table *t, const struct sweep_figure *f, struct text *out)
{
    struct text where = {0};
    struct sweep_failed count = sweep_failed_where(t, f, &where);
    text_add(out, "<li><b>");
    html_escaped(out, f->name);
    text_add(out, "</b> <span class=failed>failed in %zu of %zu</span>", count.failed, count.judged);
    html_escaped(out, text_string(&where));
    text_add(out, "</li>\n");
    text_free(&where);
}

static void add_groups(const struct sweep_table *t, struct text *out)
{
    size_t groups = 0;
    for (size_t i = 0; i < t->figure_count; i++) {
        const struct sweep_figure *f = &t->figures[i];
        if (!f->verdicts || !f->with[VERDICT_FAILED] || groups++ >= GROUPS_NAMED)
            continue;
        text_add(out, groups == 1 ? "<ul>\n" : "");
        add_group(t, f, out);
    }
    if (groups > GROUPS_NAMED)
        text_add(out, "<li class=soft>and %zu more expectations</li>\n", groups - GROUPS_NAMED);
    text_add(out, groups ? "</ul>\n" : "");
}

static void add_sweep_what(const struct sweep_table *t, struct text *out)
{
    text_add(out, "<p class=lead>On ");
    add_experiment(&t->first, out);
    text_add(out, ".");
    for (size_t i = 0; i < t->dimension_count; i++) {
        text_add(out, i ? ", " : " Runs differ in <b>");
        html_escaped(out, t->dimensions[i].label);
    }
    text_add(out, "%s", t->dimension_count ? "</b>." : "");
    text_add(out, "%s</p>\n",
             t->with[VERDICT_FAILED] || t->with[VERDICT_INCOMPLETE] ? ""
                                                                    : " No expectation failed in any run.");
}

/* From the least to the greatest of all runs. */
static void add_ranges(const struct sweep_table *t, struct text *out)
{
    size_t shown = 0;
    text_add(out, "<div class=\"figures several\">\n");
    for (size_t i = 0; i < t->figure_count && shown < FIGURES_SHOWN; i++) {
        const struct sweep_figure *f = &t->figures[i];
        struct sweep_unit unit = sweep_unit_of(f);
        if (f->still || !f->known || !(f->high > f->low))
            continue;
        shown++;
        begin_figure(f->name, out);
        add_value("least", f->low * unit.factor, unit.name, out);
        add_value("most", f->high * unit.factor, unit.name, out);
        text_add(out, "</div>\n");
    }
    text_add(out, "</div>\n");
}

/* "sum(flows.*.bytes) > 0" asks whether anything happened: how much it was says little. */
static bool asks_for_any(const char *check)
{
    size_t length = strlen(check);
    return length > 2 && strcmp(check + length - 2, " 0") == 0;
}

size_t page_sweep_explaining(const struct sweep_table *t, const struct drawing *drawings, size_t count)
{
    size_t best = count ? 0 : SIZE_MAX, most = 0;
    for (size_t i = 0; i < count; i++) {
        const struct sweep_figure *f =
            drawings[i].run < t->figure_count ? &t->figures[drawings[i].run] : NULL;
        size_t failed = f ? f->with[VERDICT_FAILED] : 0;
        size_t worth = !f                                  ? 0
                       : failed && f->with[VERDICT_PASSED] ? t->row_count + failed
                       : failed                            ? 1 + failed
                       : f->check && (asks_for_any(f->check) || f->known < t->row_count) ? 0
                                                                                         : 1;
        if (worth > most) {
            most = worth;
            best = i;
        }
    }
    return best;
}

void page_add_sweep_first(const struct sweep_table *t, const struct drawing *drawings, size_t explaining,
                          struct text *out)
{
    text_add(out, "<section class=first>\n");
    add_sweep_what(t, out);
    add_groups(t, out);
    if (explaining != SIZE_MAX && drawings[explaining].says) {
        text_add(out, "<p class=lead>");
        html_escaped(out, drawings[explaining].says);
        text_add(out, "</p>\n");
    }
    add_ranges(t, out);
    if (explaining != SIZE_MAX)
        page_add_drawing(&drawings[explaining], "", out);
    text_add(out, "</section>\n");
}
