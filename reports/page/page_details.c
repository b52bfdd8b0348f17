/* Details: flows, buffers, counters, and the documents as used. */
#include "reports/page/page_parts.h"

#include "lib/document/json_text.h"
#include "lib/formats/result_flows.h"
#include "lib/roce/counters.h"
#include "reports/page/html.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FLOWS_SHOWN    200        /* of a run */
#define FLOWS_BYTES    (4u << 20) /* of the table of flows, after which no other run has rows */
#define PARTS_SHOWN    10         /* flows of a pattern */
#define DOCUMENT_BYTES (1u << 20) /* of a scenario or lab */
#define BUFFER_HOSTS   64         /* names in a row of the table of buffers */
#define COUNTERS_BYTES (4u << 20) /* of the tables of counters, after which no other run has one */

static bool any_latency(const struct runs *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        if (isfinite(run_latency_us(&runs->items[i], "mean", NULL)))
            return true;
    return false;
}

/* A member of a distribution; *few counts the quantiles that it has too few values for. */
static void add_member(const json_t *distribution, const char *key, double scale, size_t *few,
                       struct text *out)
{
    bool is_few;
    html_number_cell(out, result_distribution_value(distribution, key, &is_few) * scale);
    *few += is_few;
}

static void add_few(size_t few, const char *what, struct text *out)
{
    if (few)
        text_add(out,
                 "<p class=soft>%zu %s left out (&ndash;): a p99 of less than 100 %s is only the "
                 "largest.</p>\n",
                 few, few == 1 ? "quantile is" : "quantiles are", what);
}

/* What flows of the page have. */
struct flow_columns {
    bool delivered, ends, latencies;
};

static void add_flow(const struct run *run, const char *name, const struct flow_columns *has, size_t *few,
                     struct text *out)
{
    const json_t *flow = json_object_get(run_get(run, "flows"), name);
    const json_t *latency = json_object_get(flow, "latency_ns");
    text_add(out, "<tr>");
    html_cell(out, run_label(run));
    html_cell(out, name);
    html_cell(out, run_member(flow, "op"));
    html_cell(out, run_member(flow, "memory"));
    html_number_cell(out, html_value(json_object_get(flow, "message_bytes")));
    html_number_cell(out, html_value(json_object_get(flow, "goodput_MiBps")));
    html_number_cell(out, html_value(json_object_get(flow, "goodput_bps")) / 1e9);
    html_number_cell(out, html_value(json_object_get(flow, "messages_per_s")));
    if (has->delivered)
        html_number_cell(out, html_value(json_object_get(flow, "delivered_bps")) / 1e9);
    if (has->ends)
        html_number_cell(out, result_distribution_value(json_object_get(flow, "completion_ns"), "max", NULL) /
                                  1e6);
    if (has->latencies) {
        add_member(latency, "mean", 1e-3, few, out);
        add_member(latency, "p50", 1e-3, few, out);
        add_member(latency, "p99", 1e-3, few, out);
    }
    text_add(out, "</tr>\n");
}

/* The flows of a pattern together, and below it its slowest and fastest flows. */
static void add_pattern(const struct run *run, const char *name, const struct flow_columns *has, size_t *few,
                        struct text *out)
{
    const json_t *flows = run_get(run, "flows");
    const char *extremes[PARTS_SHOWN];
    size_t all = result_flow_parts(flows, name);
    size_t shown = result_flow_extremes(flows, name, "goodput_bps", PARTS_SHOWN, extremes);
    add_flow(run, name, has, few, out);
    if (all) {
        text_add(out, "<tr><td><td colspan=%d class=soft>%zu flow%s",
                 7 + has->delivered + has->ends + 3 * has->latencies, all, all == 1 ? "" : "s together");
        if (shown < all)
            text_add(out, "; below, %zu of %zu: the slowest and the fastest", shown, all);
        text_add(out, "</td></tr>\n");
    }
    for (size_t i = 0; i < shown; i++)
        add_flow(run, extremes[i], has, few, out);
}

struct ranked_flow {
    const char *name;
    double goodput_bps; /* NAN: it has none */
    size_t place;
};

static int by_goodput(const void *left, const void *right)
{
    const struct ranked_flow *a = left, *b = right;
    int order = isnan(b->goodput_bps) - isnan(a->goodput_bps);
    if (!order && !isnan(a->goodput_bps))
        order = (a->goodput_bps > b->goodput_bps) - (a->goodput_bps < b->goodput_bps);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

/* Rows of the run's flows and patterns: all, or the slowest. Returns how many are left out. */
static size_t add_flows_of(const struct run *run, const struct flow_columns *has, size_t *few,
                           struct text *out)
{
    json_t *flows = (json_t *)(uintptr_t)run_get(run, "flows"), *flow;
    struct ranked_flow *ranked = calloc(json_object_size(flows) + 1, sizeof *ranked);
    const char *name;
    size_t count = 0;
    json_object_foreach(flows, name, flow)
    {
        if (ranked && !result_flow_is_part(flows, name)) {
            ranked[count] =
                (struct ranked_flow){name, html_value(json_object_get(flow, "goodput_bps")), count};
            count++;
        }
    }
    size_t shown = count < FLOWS_SHOWN ? count : FLOWS_SHOWN;
    if (shown < count)
        qsort(ranked, count, sizeof *ranked, by_goodput);
    for (size_t i = 0; i < shown; i++)
        add_pattern(run, ranked[i].name, has, few, out);
    free(ranked);
    return count - shown;
}

static bool any_ends(const struct runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        const char *name;
        json_t *flow;
        json_object_foreach((json_t *)(uintptr_t)run_get(&runs->items[i], "flows"), name, flow)
        {
            if (result_flow_ends(flow))
                return true;
        }
    }
    return false;
}

static bool any_flows(const struct runs *runs)
{
    bool any = false, others = false;
    for (size_t i = 0; i < runs->count; i++) {
        any = any || json_object_size(run_get(&runs->items[i], "flows"));
        others = others || json_object_size(run_get(&runs->items[i], "collectives")) ||
                 json_object_size(run_get(&runs->items[i], "jobs"));
    }
    return any || !others;
}

void page_add_flows(const struct runs *runs, struct text *out)
{
    const struct flow_columns has = {runs_have_delivered(runs), any_ends(runs), any_latency(runs)};
    size_t few = 0;
    if (!any_flows(runs))
        return;
    text_add(
        out,
        "<h2>Flows</h2>\n"
        "<div class=scroll><table class=wide><tr><th>run<th>flow<th>op<th>memory<th class=number>message, "
        "B<th class=number>goodput, MiB/s<th class=number>Gb/s<th class=number>messages/s%s%s%s</tr>\n",
        has.delivered ? "<th class=number>delivered, Gb/s" : "",
        has.ends ? "<th class=number>ended after, ms" : "",
        has.latencies ? "<th class=number>latency mean, us<th class=number>latency p50, us<th "
                        "class=number>latency p99, us"
                      : "");
    size_t before = out->length, left_out = 0, listed = 0;
    for (; listed < runs->count && out->length - before < FLOWS_BYTES; listed++)
        left_out += add_flows_of(&runs->items[listed], &has, &few, out);
    text_add(out, "</table></div>\n");
    if (left_out)
        text_add(
            out,
            "<p class=soft>%zu more flows are left out: of a run with more than %d, the slowest are listed. "
            "<code>harness export --tables flows</code> has all.</p>\n",
            left_out, FLOWS_SHOWN);
    if (listed < runs->count)
        text_add(
            out,
            "<p class=soft>Flows of %zu more runs are left out: <code>harness export --tables flows</code> "
            "has those of all.</p>\n",
            runs->count - listed);
    if (has.ends)
        text_add(out, "<p class=soft>Rates of flows that end are over their own time; what was delivered, "
                      "those of a pattern's "
                      "flows together, of "
                      "the others, and of all flows of a run are over the measure phase.</p>\n");
    add_few(few, "messages", out);
}

static bool any_completes(const struct runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        const char *name;
        json_t *flow;
        json_object_foreach((json_t *)(uintptr_t)run_get(&runs->items[i], "flows"), name, flow)
        {
            if (json_object_get(flow, "slowdown"))
                return true;
        }
    }
    return false;
}

/* Patterns with finite flows: how many finished, their completion times, and their slowdown over an empty
 * network. */
static void add_completions(const struct runs *runs, struct text *out)
{
    size_t few = 0;
    if (!any_completes(runs))
        return;
    text_add(out,
             "<h3>Finite flows</h3><div class=scroll><table><tr><th>run<th>pattern<th class=number>counted"
             "<th class=number>of these finished<th class=number>completion p50, us<th "
             "class=number>completion p99, us"
             "<th class=number>slowdown mean<th class=number>slowdown p50<th class=number>slowdown p99"
             "<th class=number>began before the measure phase, not counted</tr>\n");
    for (size_t i = 0; i < runs->count; i++) {
        const char *name;
        json_t *flow;
        json_object_foreach((json_t *)(uintptr_t)run_get(&runs->items[i], "flows"), name, flow)
        {
            const json_t *slowdown = json_object_get(flow, "slowdown");
            const json_t *time = json_object_get(flow, "completion_ns");
            const json_t *flows = json_object_get(flow, "flows");
            if (!slowdown)
                continue;
            text_add(out, "<tr>");
            html_cell(out, run_label(&runs->items[i]));
            html_cell(out, name);
            html_number_cell(out, html_value(json_object_get(flows, "started")));
            html_number_cell(out, html_value(json_object_get(flows, "finished")));
            add_member(time, "p50", 1e-3, &few, out);
            add_member(time, "p99", 1e-3, &few, out);
            add_member(slowdown, "mean", 1, &few, out);
            add_member(slowdown, "p50", 1, &few, out);
            add_member(slowdown, "p99", 1, &few, out);
            html_number_cell(out, json_number_value(json_object_get(flows, "earlier")));
            text_add(out, "</tr>\n");
        }
    }
    text_add(out, "</table></div>\n");
    add_few(few, "flows", out);
}

/* A counter's name, with its meaning as a tooltip. */
static void add_counter_name(const char *name, struct text *out)
{
    const struct counter *row = counters_find(name);
    text_add(out, "<td%s", row ? " title=\"" : "");
    html_escaped(out, row ? row->meaning : "");
    text_add(out, "%s>", row ? "\"" : "");
    html_escaped(out, name);
    text_add(out, "</td>");
}

static void add_counter_rows(const char *role, const json_t *counters, bool still, struct text *out)
{
    const char *name;
    json_t *counter;
    json_object_foreach((json_t *)(uintptr_t)counters, name, counter)
    {
        bool gauge = strcmp(run_member(counter, "kind"), "gauge") == 0;
        double delta = html_value(json_object_get(counter, gauge ? "max" : "delta"));
        if ((delta == 0) != still)
            continue;
        text_add(out, "<tr>");
        html_cell(out, role);
        add_counter_name(name, out);
        html_cell(out, run_member(counter, "unit"));
        if (gauge) {
            text_add(out, "<td class=number colspan=2>min ");
            html_number(out, html_value(json_object_get(counter, "min")));
            text_add(out, ", mean ");
            html_number(out, html_value(json_object_get(counter, "mean")));
            text_add(out, ", max ");
            html_number(out, delta);
            text_add(out, "</td>");
        } else {
            html_number_cell(out, delta);
            html_number_cell(out, html_value(json_object_get(counter, "rate_per_s")));
        }
        text_add(out, "</tr>\n");
    }
}

static void add_total_cells(const char *name, const json_t *counter, struct text *out)
{
    const json_t *most = json_object_get(counter, "most");
    add_counter_name(name, out);
    html_cell(out, run_member(counter, "unit"));
    html_number_cell(out, html_value(json_object_get(counter, "delta")));
    html_number_cell(out, html_value(json_object_get(counter, "rate_per_s")));
    html_cell(out, run_member(most, "role"));
    html_number_cell(out, html_value(json_object_get(most, "delta")));
}

static void add_total_row(const char *name, const json_t *counter, struct text *out)
{
    text_add(out, "<tr>");
    add_total_cells(name, counter, out);
    text_add(out, "</tr>\n");
}

/* Counters of all roles together, those that increased. */
static void add_totals(const struct run *run, struct text *out)
{
    const char *name;
    json_t *counter;
    if (!run_totals(run))
        return;
    text_add(out, "<details open><summary>Counters of all roles together: ");
    html_escaped(out, run_label(run));
    text_add(out, "</summary><div class=scroll><table><tr><th>counter<th>unit<th class=number>increase<th "
                  "class=number>per second<th>most at<th class=number>increase there</tr>\n");
    json_object_foreach((json_t *)(uintptr_t)run_totals(run), name, counter)
    {
        if (html_value(json_object_get(counter, "delta")) != 0)
            add_total_row(name, counter, out);
    }
    text_add(out, "</table></div></details>\n");
}

/* "4", or "3 of 4" where some NICs do not have the counter; and for how long it was not read at one of them.
 */
static void add_nics_cell(const json_t *counter, size_t nics, struct text *out)
{
    const json_t *of = json_object_get(counter, "of");
    double unread_ns = json_number_value(json_object_get(counter, "unread_ns"));
    text_add(out, "<td class=number>");
    if (of)
        text_add(out, "%lld of ", (long long)json_integer_value(of));
    text_add(out, "%zu", nics);
    if (unread_ns > 0)
        text_add(out, ", not read for up to %.4g s", unread_ns / 1e9);
    text_add(out, "</td>");
}

/* Counters of the NICs of each host that has several, summed: those that increased. */
static void add_machines(const struct run *run, struct text *out)
{
    const json_t *machines = run_get(run, "machines"), *machine;
    const char *name, *counter_name;
    json_t *counter;
    if (!json_object_size(machines))
        return;
    text_add(out, "<details open><summary>Counters of hosts with several NICs, each the sum over its NICs: ");
    html_escaped(out, run_label(run));
    text_add(out,
             "</summary><div class=scroll><table><tr><th>host<th class=number>NICs<th>counter<th>unit<th "
             "class=number>increase, sum<th class=number>per second, sum<th>most at<th class=number>increase "
             "there</tr>\n");
    json_object_foreach((json_t *)(uintptr_t)machines, name, machine)
    {
        json_object_foreach(json_object_get(machine, "counters"), counter_name, counter)
        {
            if (html_value(json_object_get(counter, "delta")) == 0)
                continue;
            text_add(out, "<tr>");
            html_cell(out, name);
            add_nics_cell(counter, json_array_size(json_object_get(machine, "of")), out);
            add_total_cells(counter_name, counter, out);
            text_add(out, "</tr>\n");
        }
    }
    text_add(out, "</table></div></details>\n");
}

static void add_counters(const struct run *run, struct text *out)
{
    const char *role;
    json_t *host;
    add_totals(run, out);
    add_machines(run, out);
    text_add(out, "<details><summary>Counters: ");
    html_escaped(out, run_label(run));
    text_add(out, "</summary><div class=scroll><table><tr><th>host<th>counter<th>unit<th "
                  "class=number>increase<th class=number>per second</tr>\n");
    for (int still = 0; still < 2; still++) {
        json_object_foreach((json_t *)(uintptr_t)run_get(run, "hosts"), role, host)
        {
            if (run_lists(host))
                add_counter_rows(role, json_object_get(host, "counters"), still != 0, out);
        }
    }
    text_add(out, "</table></div></details>\n");
}

/* Pages of many runs stay small enough for a browser. */
static void add_all_counters(const struct runs *runs, struct text *out)
{
    size_t i, before = out->length;
    for (i = 0; i < runs->count && out->length - before < COUNTERS_BYTES; i++)
        add_counters(&runs->items[i], out);
    if (i < runs->count)
        text_add(out,
                 "<p class=soft>Counters of %zu more runs are left out: a report of each run alone has them, "
                 "and <code>harness export</code> has those of all.</p>\n",
                 runs->count - i);
}

/* "Lab as used: memory gpu": of which of several runs it is. */
static void add_title(const char *title, const struct run *run, struct text *out)
{
    text_add(out, "%s", title);
    if (run)
        text_add(out, ": ");
    html_escaped(out, run ? run_label(run) : "");
}

static void add_document(const char *title, const struct run *named, const json_t *document, struct text *out)
{
    char *words = document ? json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) : NULL;
    if (words && strlen(words) > DOCUMENT_BYTES) {
        text_add(out, "<p class=soft>");
        add_title(title, named, out);
        text_add(out, ": left out, as it has %.1f MB; result.json has it.</p>\n",
                 (double)strlen(words) / 1e6);
    } else if (words) {
        text_add(out, "<details><summary>");
        add_title(title, named, out);
        text_add(out, "</summary><div><pre>");
        html_escaped(out, words);
        text_add(out, "</pre></div></details>\n");
    }
    free(words);
}

static void add_source_rows(const json_t *sources, bool fitted, struct text *out)
{
    const char *path, *words;
    json_t *all, *said;
    json_object_foreach((json_t *)(uintptr_t)sources, path, all)
    {
        json_object_foreach(all, words, said)
        {
            if ((strncmp(words, "fitted", 6) == 0) != fitted)
                continue;
            text_add(out, "<tr><td><code>");
            html_escaped(out, path);
            text_add(out, "</code></td>");
            html_cell(out, words);
            text_add(out, "</tr>\n");
        }
    }
}

static void add_sources(const json_t *sources, struct text *out)
{
    if (!json_object_size(sources))
        return;
    text_add(out, "<details><summary>Fitted values, and sources of the lab's other values "
                  "</summary><div class=scroll>"
                  "<table><tr><th>value<th>source</tr>\n");
    add_source_rows(sources, true, out);
    add_source_rows(sources, false, out);
    text_add(out, "</table></div></details>\n");
}

/* Does the buffer use PFC? A buffer that never sends pauses has no thresholds. */
static bool has_thresholds(const json_t *buffer)
{
    return json_array_size(json_object_get(buffer, "priorities")) &&
           html_value(json_object_get(buffer, "xoff_bytes")) > 0;
}

static void add_buffer_row(const struct text *hosts, const json_t *buffer, struct text *out)
{
    text_add(out, "<tr>");
    html_cell(out, text_string(hosts));
    text_add(out, "<td>%" JSON_INTEGER_FORMAT "</td>", json_integer_value(json_object_get(buffer, "buffer")));
    html_number_cell(out, html_value(json_object_get(buffer, "size_bytes")));
    html_number_cell(out, html_value(json_object_get(buffer, "xoff_bytes")));
    html_number_cell(out, html_value(json_object_get(buffer, "xon_bytes")));
    text_add(out, "</tr>\n");
}

/* Different buffers as texts -> the hosts that have them: "a, b". */
static json_t *hosts_by_buffer(const json_t *hosts)
{
    json_t *by_buffer = json_object(), *host, *buffer;
    const char *role;
    size_t i;
    json_object_foreach((json_t *)(uintptr_t)hosts, role, host)
    {
        json_array_foreach(json_object_get(host, "buffers"), i, buffer)
        {
            char *key = has_thresholds(buffer) ? json_dumps(buffer, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
            json_t *names = key ? json_object_get(by_buffer, key) : NULL;
            if (key && !names && json_put(by_buffer, key, names = json_array()) != 0)
                names = NULL;
            json_array_append_new(names, json_text(role));
            free(key);
        }
    }
    return by_buffer;
}

static void add_names(const json_t *names, struct text *out)
{
    size_t i;
    json_t *name;
    json_array_foreach(names, i, name)
    {
        if (i < BUFFER_HOSTS)
            text_add(out, "%s%s", i ? ", " : "", json_string_value(name));
    }
    if (json_array_size(names) > BUFFER_HOSTS)
        text_add(out, ", ... (%zu)", json_array_size(names));
}

/* A row for every different buffer, with all hosts that have it. `named`: the heading names the run. */
static void add_buffers_of(const struct run *run, json_t *by_buffer, bool named, struct text *out)
{
    json_t *names;
    const char *key;
    if (json_object_size(by_buffer)) {
        text_add(out, "<h3>");
        add_title("Receive buffers with PFC", named ? run : NULL, out);
        text_add(out, "</h3><div class=scroll><table><tr><th>host<th>buffer"
                      "<th class=number>size, B<th class=number>xoff, B<th class=number>xon, B</tr>\n");
    }
    json_object_foreach(by_buffer, key, names)
    {
        struct text words = {0};
        json_t *buffer = json_loads(key, 0, NULL);
        add_names(names, &words);
        add_buffer_row(&words, buffer, out);
        json_decref(buffer);
        text_free(&words);
    }
    if (json_object_size(by_buffer))
        text_add(out, "</table></div>\n");
}

/* Those of the first run, and of each run that has others. */
static void add_buffers(const struct runs *runs, struct text *out)
{
    json_t *first = hosts_by_buffer(run_get(&runs->items[0], "hosts"));
    size_t same = 0;
    add_buffers_of(&runs->items[0], first, runs->count > 1, out);
    for (size_t i = 1; i < runs->count; i++) {
        json_t *mine = hosts_by_buffer(run_get(&runs->items[i], "hosts"));
        bool is_same = json_equal(first, mine);
        if (!is_same)
            add_buffers_of(&runs->items[i], mine, true, out);
        same += is_same;
        json_decref(mine);
    }
    if (same && json_object_size(first))
        text_add(out, "<p class=soft>%zu more %s the buffers of the first.</p>\n", same,
                 same == 1 ? "run has" : "runs have");
    json_decref(first);
}

void page_add_documents(const struct run *run, const json_t *sources, const char *scenario_title, bool named,
                        struct text *out)
{
    add_sources(sources, out);
    add_document(scenario_title, named ? run : NULL, run_get(run, "scenario"), out);
    add_document("Lab as used", named ? run : NULL, run_get(run, "lab"), out);
}

void page_add_details(const struct runs *runs, struct text *out)
{
    json_t *sources = json_object();
    for (size_t i = 0; i < runs->count; i++)
        run_take_sources(&runs->items[i], sources);
    text_add(out, "<h2>Details</h2>\n");
    page_add_collectives(runs, out);
    page_add_jobs(runs, out);
    add_completions(runs, out);
    add_buffers(runs, out);
    add_all_counters(runs, out);
    page_add_documents(&runs->items[0], sources, "Scenario as run", runs->count > 1, out);
    if (runs->count > 1)
        text_add(out,
                 "<p class=soft>Scenario and lab are those of the first of %zu runs, sources those of all; "
                 "result.json of each has its own.</p>\n",
                 runs->count);
    json_decref(sources);
}
