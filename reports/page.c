#include "reports/page.h"

#include "reports/differences.h"
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_SIDE_BY_SIDE 4 /* columns of the table of expectations */
#define WARNINGS_IN_SIGHT 6

static const char style[] =
    ":root{--ink:#1b1f24;--soft:#5b6470;--line:#e1e4e8;--back:#fff;--panel:#f7f8fa;--good:#1a7f37;--bad:#"
    "c62828;--skip:#8a6d00;"
    "--mark:#b35900}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--back);color:var(--ink);font:15px/1.5 "
    "system-ui,sans-serif}\n"
    "main{max-width:1040px;margin:0 auto;padding:28px 20px 60px}\n"
    "h1{font-size:26px;margin:0 0 4px}h2{font-size:19px;margin:34px 0 10px;padding-top:10px;border-top:1px "
    "solid var(--line)}\n"
    "h3{font-size:16px;margin:22px 0 8px}p{margin:6px 0}.soft{color:var(--soft)}\n"
    ".pill{display:inline-block;padding:1px "
    "10px;border-radius:11px;font-size:13px;font-weight:600;border:1px solid}\n"
    ".passed{color:var(--good)}.failed,.incomplete{color:var(--bad)}.skipped{color:var(--skip)}.simulated{"
    "color:var(--mark)}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:14px}\n"
    "th{text-align:left;font-weight:600;color:var(--soft);border-bottom:2px solid var(--line);padding:5px "
    "10px}\n"
    "td{border-bottom:1px solid var(--line);padding:5px 10px;vertical-align:top}\n"
    ".number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    "code{font:13px ui-monospace,monospace;background:var(--panel);padding:0 "
    "4px;border-radius:3px;overflow-wrap:anywhere}\n"
    "figure{margin:14px 0 22px}figure img{width:100%;height:auto;border:1px solid "
    "var(--line);border-radius:6px}\n"
    "figcaption{color:var(--soft);font-size:13.5px;padding:4px 2px}a{color:#0b5cad}\n"
    ".notice{margin:18px 0;padding:10px 16px;border-left:4px solid "
    "var(--mark);background:var(--panel);border-radius:0 6px 6px 0}"
    ".notice ul{margin:6px 0;padding-left:20px}.notice li{margin:4px 0}\n"
    "details{margin:10px 0;border:1px solid var(--line);border-radius:6px;background:var(--panel)}\n"
    "summary{cursor:pointer;padding:8px 12px;font-weight:600}details>div{padding:0 12px "
    "12px;background:var(--back)}\n"
    "pre{overflow:auto;font:12.5px/1.45 "
    "ui-monospace,monospace;background:var(--panel);padding:10px;margin:0}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e8eb;--soft:#9aa4b0;--line:#333a44;--back:#14171b;--"
    "panel:#1c2127;"
    "--good:#4ac26b;--bad:#ff7b72;--skip:#d8b13c;--mark:#f0a34f}a{color:#6cb0ff}figure "
    "img{background:#fff}}\n";

/* ---- words ---------------------------------------------------------------------------------------------- */

static void add_escaped(struct text *out, const char *words)
{
    for (; words && *words; words++) {
        switch (*words) {
        case '&':
            text_add(out, "&amp;");
            break;
        case '<':
            text_add(out, "&lt;");
            break;
        case '>':
            text_add(out, "&gt;");
            break;
        case '"':
            text_add(out, "&quot;");
            break;
        default:
            text_add_bytes(out, words, 1);
        }
    }
}

static void add_cell(struct text *out, const char *words)
{
    text_add(out, "<td>");
    add_escaped(out, words);
    text_add(out, "</td>");
}

/* As many digits as say something, thousands apart. */
static void add_number(struct text *out, double value)
{
    char digits[64];
    double size = fabs(value);
    if (!isfinite(value)) {
        text_add(out, "&ndash;");
        return;
    }
    bool whole = value == floor(value) && size < 1e15;
    snprintf(digits, sizeof digits, "%.*f",
             whole || size >= 1000 ? 0
             : size >= 100         ? 1
             : size >= 1           ? 2
                                   : 4,
             value);
    size_t length = strcspn(digits, "."), start = digits[0] == '-';
    for (size_t i = 0; digits[i]; i++) {
        if (i > start && i < length && (length - i) % 3 == 0)
            text_add(out, "&#8239;");
        text_add_bytes(out, &digits[i], 1);
    }
}

static void add_number_cell(struct text *out, double value)
{
    text_add(out, "<td class=number>");
    add_number(out, value);
    text_add(out, "</td>");
}

static double number_or_nan(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void add_verdict(struct text *out, const char *verdict)
{
    static const char *const known[] = {"passed", "failed", "skipped", "incomplete"};
    const char *class = "";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (verdict && strcmp(verdict, known[i]) == 0)
            class = known[i];
    text_add(out, "<span class=\"pill %s\">", class);
    add_escaped(out, verdict ? verdict : "unknown");
    text_add(out, "</span>");
}

static const char *member(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static const char *label_of(const struct run *run)
{
    return *run->label ? run->label : "this run";
}

/* ---- sums over a run ------------------------------------------------------------------------------------ */

static bool ends_with(const char *name, const char *ending)
{
    size_t a = strlen(name), b = strlen(ending);
    return a >= b && strcmp(name + a - b, ending) == 0;
}

static bool is_pause(const char *name)
{
    return strncmp(name, "rx_prio", 7) == 0 && ends_with(name, "_pause");
}

static bool is_loss(const char *name)
{
    static const char *const names[] = {"out_of_sequence",     "packet_seq_err",     "local_ack_timeout_err",
                                        "out_of_buffer",       "rx_discards_phy",    "tx_discards_phy",
                                        "rx_out_of_buffer",    "rnr_nak_retry_err",  "rcvd_seq_err",
                                        "implied_nak_seq_err", "out_of_seq_request", "retry_exceeded_err"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return (strncmp(name, "rx_prio", 7) == 0 && ends_with(name, "_discards")) ||
           (strncmp(name, "rx_prio", 7) == 0 && ends_with(name, "_buf_discard"));
}

/* The sum of `key` over all hosts' counters that the test picks; NAN when there is none. */
static double sum_counters(const struct run *run, bool (*picks)(const char *name), const char *key)
{
    const char *role, *name;
    json_t *host, *counter;
    double sum = 0;
    bool any = false;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "hosts"), role, host)
    {
        json_object_foreach(json_object_get(host, "counters"), name, counter)
        {
            if (!picks(name) || !json_is_number(json_object_get(counter, key)))
                continue;
            any = true;
            sum += json_number_value(json_object_get(counter, key));
        }
    }
    return any ? sum : NAN;
}

/* ---- parts of the page ---------------------------------------------------------------------------------- */

static void add_heading(const struct runs *runs, struct text *out)
{
    const struct run *first = &runs->items[0];
    const char *verdict = runs->index ? member(runs->index, "verdict") : run_text(first, "verdict");
    text_add(out, "<h1>");
    add_escaped(out, runs->title);
    text_add(out, "</h1>\n<p>");
    add_verdict(out, verdict);
    if (run_is_simulated(first))
        text_add(out, " <span class=\"pill simulated\">simulated</span>");
    text_add(out, " <span class=soft>scenario <code>");
    add_escaped(out, run_text(first, "scenario.name"));
    text_add(out, "</code>, lab <code>");
    add_escaped(out, run_text(first, "lab.name"));
    text_add(out, "</code>, ");
    add_escaped(out, run_text(first, "started"));
    text_add(out, ", harness ");
    add_escaped(out, run_text(first, "version"));
    text_add(out, "</span></p>\n");
    if (run_is_simulated(first))
        text_add(out, "<p class=simulated><strong>Every figure of this run was computed by the embedded "
                      "simulator; nothing here was "
                      "measured on hardware.</strong></p>\n");
    for (size_t i = 0; i < runs->count; i++) {
        if (!json_is_false(run_get(&runs->items[i], "complete")))
            continue;
        text_add(out, "<p class=incomplete><strong>");
        add_escaped(out, label_of(&runs->items[i]));
        text_add(out, " is incomplete:</strong> ");
        add_escaped(out, run_text(&runs->items[i], "reason"));
        text_add(out, "</p>\n");
    }
}

static void add_summary(const struct runs *runs, struct text *out)
{
    text_add(out, "<h2>What was measured</h2>\n<div class=scroll><table><tr><th>run<th>verdict<th "
                  "class=number>goodput, MiB/s"
                  "<th class=number>messages/s<th class=number>pauses received<th class=number>pauses/s"
                  "<th class=number>lost or sent again</tr>\n");
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->items[i];
        text_add(out, "<tr>");
        add_cell(out, label_of(run));
        text_add(out, "<td>");
        add_verdict(out, run_text(run, "verdict"));
        text_add(out, "</td>");
        add_number_cell(out, run_sum_flows(run, "goodput_MiBps"));
        add_number_cell(out, run_sum_flows(run, "messages_per_s"));
        add_number_cell(out, sum_counters(run, is_pause, "delta"));
        add_number_cell(out, sum_counters(run, is_pause, "rate_per_s"));
        add_number_cell(out, sum_counters(run, is_loss, "delta"));
        text_add(out, "</tr>\n");
    }
    text_add(out, "</table></div>\n");
}

static void add_run_headings(const struct runs *runs, struct text *out)
{
    for (size_t r = 0; r < runs->count; r++) {
        text_add(out, "<th>");
        add_escaped(out, label_of(&runs->items[r]));
    }
    text_add(out, "</tr>\n");
}

/* Results that are set beside each other: what was set differently. */
static void add_differences(const struct runs *runs, struct text *out)
{
    const json_t *results[RUNS_SIDE_BY_SIDE];
    if (runs->results < 2 || runs->count > RUNS_SIDE_BY_SIDE)
        return;
    for (size_t i = 0; i < runs->count; i++)
        results[i] = runs->items[i].result;
    json_t *differences = differences_between(results, runs->count), *row;
    const char *path;
    text_add(out, "<h2>What was set differently</h2>\n");
    if (!json_object_size(differences)) {
        text_add(out, "<p>Nothing: scenario, lab, seed and program are the same.</p>\n");
        json_decref(differences);
        return;
    }
    text_add(out, "<div class=scroll><table><tr><th>setting");
    add_run_headings(runs, out);
    json_object_foreach(differences, path, row)
    {
        size_t i;
        json_t *value;
        text_add(out, "<tr><td><code>");
        add_escaped(out, path);
        text_add(out, "</code></td>");
        json_array_foreach(row, i, value)
        {
            add_cell(out, json_is_string(value) ? json_string_value(value) : "unset");
        }
        text_add(out, "</tr>\n");
    }
    text_add(out, "</table></div>\n");
    json_decref(differences);
}

/* Each warning once, with the runs that have it. */
static json_t *distinct_warnings(const struct runs *runs)
{
    json_t *distinct = json_object();
    for (size_t i = 0; i < runs->count; i++) {
        size_t j;
        json_t *item;
        json_array_foreach(run_get(&runs->items[i], "warnings"), j, item)
        {
            const char *words = json_string_value(item);
            json_t *labels = words ? json_object_get(distinct, words) : NULL;
            if (words && !labels)
                json_object_set_new(distinct, words, labels = json_array());
            if (words)
                json_array_append_new(labels, json_string(label_of(&runs->items[i])));
        }
    }
    return distinct;
}

static void add_warning(const char *words, const json_t *labels, size_t run_count, struct text *out)
{
    text_add(out, "<li>");
    add_escaped(out, words);
    if (json_array_size(labels) < run_count) {
        text_add(out, " <span class=soft>(");
        add_escaped(out, json_string_value(json_array_get(labels, 0)));
        if (json_array_size(labels) > 1)
            text_add(out, " and %zu more", json_array_size(labels) - 1);
        text_add(out, ")</span>");
    }
    text_add(out, "</li>\n");
}

/* In the reader's way: what is warned of changes what the figures mean. */
static void add_warnings(const struct runs *runs, struct text *out)
{
    json_t *distinct = distinct_warnings(runs), *labels;
    const char *words;
    size_t shown = 0, all = json_object_size(distinct);
    if (all)
        text_add(out, "<div class=notice><b>Warnings</b><ul>\n");
    json_object_foreach(distinct, words, labels)
    {
        if (shown++ == WARNINGS_IN_SIGHT)
            text_add(out, "</ul><details><summary>and %zu more</summary><div><ul>\n",
                     all - WARNINGS_IN_SIGHT);
        add_warning(words, labels, runs->count, out);
    }
    if (all)
        text_add(out, all > WARNINGS_IN_SIGHT ? "</ul></div></details></div>\n" : "</ul></div>\n");
    json_decref(distinct);
}

static void add_flows(const struct runs *runs, struct text *out)
{
    text_add(out, "<div class=scroll><table><tr><th>run<th>flow<th>op<th>memory<th class=number>message, "
                  "B<th class=number>goodput, MiB/s"
                  "<th class=number>Gb/s<th class=number>messages/s<th class=number>p50, us<th "
                  "class=number>p99, us</tr>\n");
    for (size_t i = 0; i < runs->count; i++) {
        const char *name;
        json_t *flow;
        json_object_foreach((json_t *)(uintptr_t)run_get(&runs->items[i], "flows"), name, flow)
        {
            const json_t *latency = json_object_get(flow, "latency_ns");
            text_add(out, "<tr>");
            add_cell(out, label_of(&runs->items[i]));
            add_cell(out, name);
            add_cell(out, member(flow, "op"));
            add_cell(out, member(flow, "memory"));
            add_number_cell(out, number_or_nan(json_object_get(flow, "message_bytes")));
            add_number_cell(out, number_or_nan(json_object_get(flow, "goodput_MiBps")));
            add_number_cell(out, number_or_nan(json_object_get(flow, "goodput_bps")) / 1e9);
            add_number_cell(out, number_or_nan(json_object_get(flow, "messages_per_s")));
            add_number_cell(out, number_or_nan(json_object_get(latency, "p50")) / 1e3);
            add_number_cell(out, number_or_nan(json_object_get(latency, "p99")) / 1e3);
            text_add(out, "</tr>\n");
        }
    }
    text_add(out, "</table></div>\n");
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

/* Patterns whose flows end: how many did, in what time, and how much slower than on an empty network. */
static void add_completions(const struct runs *runs, struct text *out)
{
    if (!any_completes(runs))
        return;
    text_add(out,
             "<h3>Flows that end</h3><div class=scroll><table><tr><th>run<th>pattern<th class=number>started"
             "<th class=number>finished<th class=number>time p50, us<th class=number>p99, us"
             "<th class=number>slowdown mean<th class=number>p50<th class=number>p99</tr>\n");
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
            add_cell(out, label_of(&runs->items[i]));
            add_cell(out, name);
            add_number_cell(out, number_or_nan(json_object_get(flows, "started")));
            add_number_cell(out, number_or_nan(json_object_get(flows, "finished")));
            add_number_cell(out, number_or_nan(json_object_get(time, "p50")) / 1e3);
            add_number_cell(out, number_or_nan(json_object_get(time, "p99")) / 1e3);
            add_number_cell(out, number_or_nan(json_object_get(slowdown, "mean")));
            add_number_cell(out, number_or_nan(json_object_get(slowdown, "p50")));
            add_number_cell(out, number_or_nan(json_object_get(slowdown, "p99")));
            text_add(out, "</tr>\n");
        }
    }
    text_add(out, "</table></div>\n");
}

static bool any_of(const struct runs *runs, const char *list)
{
    for (size_t i = 0; i < runs->count; i++)
        if (json_array_size(run_get(&runs->items[i], list)))
            return true;
    return false;
}

/* The item of this name in a run's expectations, or NULL. */
static const json_t *expectation(const struct run *run, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach(run_get(run, "expectations"), i, item)
    {
        if (strcmp(member(item, "name"), name) == 0)
            return item;
    }
    return NULL;
}

/* One row an expectation, one column a run. */
static void add_expectation_matrix(const struct runs *runs, struct text *out)
{
    size_t i;
    json_t *item;
    text_add(out, "<tr><th>expectation");
    add_run_headings(runs, out);
    json_array_foreach(run_get(&runs->items[0], "expectations"), i, item)
    {
        text_add(out, "<tr><td>");
        add_escaped(out, member(item, "name"));
        text_add(out, "<br><code>");
        add_escaped(out, member(item, "check"));
        text_add(out, "</code></td>");
        for (size_t r = 0; r < runs->count; r++) {
            const json_t *here = expectation(&runs->items[r], member(item, "name"));
            text_add(out, "<td>");
            add_verdict(out, here ? member(here, "verdict") : "skipped");
            text_add(out, "<br><span class=soft>");
            add_escaped(out, here ? member(here, "reason") : "");
            text_add(out, "</span></td>");
        }
        text_add(out, "</tr>\n");
    }
}

/* Too many runs for columns: what did not pass, and how many did. */
static void add_expectation_list(const struct runs *runs, struct text *out)
{
    size_t passed = 0;
    text_add(out, "<tr><th>run<th>expectation<th>verdict<th>rule and numbers</tr>\n");
    for (size_t r = 0; r < runs->count; r++) {
        size_t i;
        json_t *item;
        json_array_foreach(run_get(&runs->items[r], "expectations"), i, item)
        {
            if (strcmp(member(item, "verdict"), "passed") == 0) {
                passed++;
                continue;
            }
            text_add(out, "<tr>");
            add_cell(out, label_of(&runs->items[r]));
            add_cell(out, member(item, "name"));
            text_add(out, "<td>");
            add_verdict(out, member(item, "verdict"));
            text_add(out, "</td><td><code>");
            add_escaped(out, member(item, "check"));
            text_add(out, "</code><br><span class=soft>");
            add_escaped(out, member(item, "reason"));
            text_add(out, "</span></td></tr>\n");
        }
    }
    text_add(out, "<tr><td colspan=4>%zu passed</td></tr>\n", passed);
}

static void add_expectations(const struct runs *runs, struct text *out)
{
    if (!any_of(runs, "expectations"))
        return;
    text_add(out, "<h2>Expectations</h2>\n<div class=scroll><table>");
    if (runs->count <= RUNS_SIDE_BY_SIDE)
        add_expectation_matrix(runs, out);
    else
        add_expectation_list(runs, out);
    text_add(out, "</table></div>\n");
}

static void add_published(const struct runs *runs, struct text *out)
{
    if (!any_of(runs, "published"))
        return;
    text_add(out,
             "<h2>Beside published figures</h2>\n<div class=scroll><table><tr><th>run<th>figure<th "
             "class=number>published"
             "<th class=number>%s<th class=number>difference<th>source</tr>\n",
             run_is_simulated(&runs->items[0]) ? "this run, simulated" : "this run");
    for (size_t i = 0; i < runs->count; i++) {
        size_t j;
        json_t *item;
        json_array_foreach(run_get(&runs->items[i], "published"), j, item)
        {
            double difference = number_or_nan(json_object_get(item, "difference_percent"));
            text_add(out, "<tr>");
            add_cell(out, label_of(&runs->items[i]));
            text_add(out, "<td>");
            add_escaped(out, member(item, "name"));
            text_add(out, " <span class=soft>%s", *member(item, "unit") ? "in " : "");
            add_escaped(out, member(item, "unit"));
            text_add(out, "</span></td>");
            add_number_cell(out, number_or_nan(json_object_get(item, "published")));
            if (json_is_number(json_object_get(item, "measured"))) {
                add_number_cell(out, number_or_nan(json_object_get(item, "measured")));
                text_add(out, isfinite(difference) ? "<td class=number>%+.1f %%</td>" : "<td></td>",
                         difference);
            } else {
                text_add(out, "<td colspan=2 class=soft>not compared: ");
                add_escaped(out, member(item, "reason"));
                text_add(out, "</td>");
            }
            add_cell(out, member(item, "source"));
            text_add(out, "</tr>\n");
        }
    }
    text_add(out, "</table></div>\n");
}

static void add_drawing(const struct drawing *drawing, struct text *out)
{
    text_add(out, "<figure><img loading=lazy src=\"%s.svg\" alt=\"", drawing->name);
    add_escaped(out, drawing->title);
    text_add(out, "\"><figcaption>");
    add_escaped(out, drawing->caption);
    text_add(out,
             " <a href=\"%s.svg\">SVG</a> <a href=\"%s.png\">PNG</a> <a href=\"%s.tsv\">data</a> <a "
             "href=\"%s.gp\">script</a>"
             "</figcaption></figure>\n",
             drawing->name, drawing->name, drawing->name, drawing->name);
}

static void add_drawings(const struct runs *runs, const struct drawing *drawings, size_t count,
                         struct text *out)
{
    size_t last = SIZE_MAX - 1;
    for (size_t i = 0; i < count; i++) {
        size_t run = runs->count == 1 ? 0 : drawings[i].run; /* all runs are this one */
        if (run != last) {
            text_add(out, "<h2>");
            add_escaped(out, run == SIZE_MAX ? "All runs" : label_of(&runs->items[run]));
            text_add(out, "</h2>\n");
        }
        last = run;
        add_drawing(&drawings[i], out);
    }
}

/* ---- details -------------------------------------------------------------------------------------------- */

static void add_counter_rows(const char *role, const json_t *counters, bool still, struct text *out)
{
    const char *name;
    json_t *counter;
    json_object_foreach((json_t *)(uintptr_t)counters, name, counter)
    {
        bool gauge = strcmp(member(counter, "kind"), "gauge") == 0;
        double delta = number_or_nan(json_object_get(counter, gauge ? "max" : "delta"));
        if ((delta == 0) != still)
            continue;
        text_add(out, "<tr>");
        add_cell(out, role);
        add_cell(out, name);
        add_cell(out, member(counter, "unit"));
        if (gauge) {
            text_add(out, "<td class=number colspan=2>min ");
            add_number(out, number_or_nan(json_object_get(counter, "min")));
            text_add(out, ", mean ");
            add_number(out, number_or_nan(json_object_get(counter, "mean")));
            text_add(out, ", max ");
            add_number(out, delta);
            text_add(out, "</td>");
        } else {
            add_number_cell(out, delta);
            add_number_cell(out, number_or_nan(json_object_get(counter, "rate_per_s")));
        }
        text_add(out, "</tr>\n");
    }
}

static void add_counters(const struct run *run, struct text *out)
{
    const char *role;
    json_t *host;
    text_add(out, "<details><summary>Counters: ");
    add_escaped(out, label_of(run));
    text_add(out, "</summary><div class=scroll><table><tr><th>host<th>counter<th>unit<th "
                  "class=number>rise<th class=number>per second</tr>\n");
    for (int still = 0; still < 2; still++) {
        json_object_foreach((json_t *)(uintptr_t)run_get(run, "hosts"), role, host)
        {
            add_counter_rows(role, json_object_get(host, "counters"), still != 0, out);
        }
    }
    text_add(out, "</table></div></details>\n");
}

static void add_document(const char *title, const json_t *document, struct text *out)
{
    char *words = document ? json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) : NULL;
    if (words) {
        text_add(out, "<details><summary>");
        add_escaped(out, title);
        text_add(out, "</summary><div><pre>");
        add_escaped(out, words);
        text_add(out, "</pre></div></details>\n");
    }
    free(words);
}

static void add_source_rows(const json_t *sources, bool fitted, struct text *out)
{
    const char *path;
    json_t *words;
    json_object_foreach((json_t *)(uintptr_t)sources, path, words)
    {
        const char *text = json_string_value(words);
        if (!text || (strncmp(text, "fitted", 6) == 0) != fitted)
            continue;
        text_add(out, "<tr><td><code>");
        add_escaped(out, path);
        text_add(out, "</code></td>");
        add_cell(out, text);
        text_add(out, "</tr>\n");
    }
}

static void add_sources(const struct run *run, struct text *out)
{
    const json_t *sources = run_get(run, "sources");
    if (!json_object_size(sources))
        return;
    text_add(out, "<details><summary>What is fitted, and where the lab's other values come "
                  "from</summary><div class=scroll>"
                  "<table><tr><th>value<th>source</tr>\n");
    add_source_rows(sources, true, out);
    add_source_rows(sources, false, out);
    text_add(out, "</table></div></details>\n");
}

/* Does PFC guard it? A buffer that never pauses has no thresholds. */
static bool has_thresholds(const json_t *buffer)
{
    return json_array_size(json_object_get(buffer, "priorities")) &&
           number_or_nan(json_object_get(buffer, "xoff_bytes")) > 0;
}

static void add_buffer_row(const struct text *hosts, const json_t *buffer, struct text *out)
{
    text_add(out, "<tr>");
    add_cell(out, text_string(hosts));
    text_add(out, "<td>%" JSON_INTEGER_FORMAT "</td>", json_integer_value(json_object_get(buffer, "buffer")));
    add_number_cell(out, number_or_nan(json_object_get(buffer, "size_bytes")));
    add_number_cell(out, number_or_nan(json_object_get(buffer, "xoff_bytes")));
    add_number_cell(out, number_or_nan(json_object_get(buffer, "xon_bytes")));
    text_add(out, "</tr>\n");
}

/* Hosts that have this very buffer, from `first` on: "a, b". False when an earlier host has it: it is in a row already. */
static bool name_hosts_with(const json_t *hosts, const char *first, const json_t *wanted, struct text *out)
{
    const char *role;
    json_t *host;
    bool reached = false;
    json_object_foreach((json_t *)(uintptr_t)hosts, role, host)
    {
        size_t i;
        json_t *buffer;
        reached |= strcmp(role, first) == 0;
        json_array_foreach(json_object_get(host, "buffers"), i, buffer)
        {
            if (!json_equal(buffer, wanted))
                continue;
            if (!reached)
                return false;
            text_add(out, "%s%s", out->length ? ", " : "", role);
        }
    }
    return true;
}

/* A row for every different buffer, with all hosts that have it. */
static void add_buffers(const struct run *run, struct text *out)
{
    const char *role;
    json_t *host;
    const json_t *hosts = run_get(run, "hosts");
    bool any = false;
    json_object_foreach((json_t *)(uintptr_t)hosts, role, host)
    {
        size_t i;
        json_t *buffer;
        json_array_foreach(json_object_get(host, "buffers"), i, buffer)
        {
            struct text names = {0};
            if (has_thresholds(buffer) && name_hosts_with(hosts, role, buffer, &names)) {
                if (!any)
                    text_add(out, "<h3>Receive buffers with PFC</h3><div "
                                  "class=scroll><table><tr><th>host<th>buffer<th class=number>size, B"
                                  "<th class=number>xoff, B<th class=number>xon, B</tr>\n");
                any = true;
                add_buffer_row(&names, buffer, out);
            }
            text_free(&names);
        }
    }
    if (any)
        text_add(out, "</table></div>\n");
}

static void add_details(const struct runs *runs, struct text *out)
{
    text_add(out, "<h2>Details</h2>\n");
    add_flows(runs, out);
    add_completions(runs, out);
    add_buffers(&runs->items[0], out);
    for (size_t i = 0; i < runs->count; i++)
        add_counters(&runs->items[i], out);
    add_sources(&runs->items[0], out);
    add_document("Scenario as run", run_get(&runs->items[0], "scenario"), out);
    add_document("Lab as used", run_get(&runs->items[0], "lab"), out);
}

void page_write(const struct runs *runs, const struct drawing *drawings, size_t count, struct text *out)
{
    text_add(out, "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport "
                  "content=\"width=device-width\">\n<title>");
    add_escaped(out, runs->title);
    text_add(out, "</title>\n<style>\n%s</style>\n<main>\n", style);
    add_heading(runs, out);
    add_summary(runs, out);
    add_warnings(runs, out);
    add_differences(runs, out);
    add_published(runs, out);
    add_expectations(runs, out);
    add_drawings(runs, drawings, count, out);
    add_details(runs, out);
    text_add(out, "</main>\n</html>\n");
}
