/* The first tables: measurements, warnings, expectations, published figures. */
#include "lib/formats/verdicts.h"
#include "lib/folder/sweep_index.h"
#include "lib/document/json_text.h"
#include "lib/output/verdicts.h"
#include "lib/roce/counters.h"
#include "reports/page/html.h"
#include "reports/page/page_parts.h"
#include "reports/results/lines.h"
#include "reports/results/differences.h"
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* ---- what was judged over repetitions */

/* What is judged when a sweep has ended: over the repetitions of a cell, and beside another cell. No single
 * run has these. */

#define LISTED 400

/* "memory gpu, message 64KiB" */
static void choices_of(const json_t *cell, const char *otherwise, struct text *out)
{
    choices_add(cell, out);
    if (!out->length)
        text_add(out, "%s", otherwise);
}

/* "beside memory host", "over 5 repetitions" */
static void add_over(const json_t *item, struct text *out)
{
    const json_t *count = json_object_get(item, "count");
    text_add(out, "<td>");
    if (strcmp(run_member(item, "over"), "cells") == 0) {
        struct text other = {0};
        text_add(out, "beside ");
        choices_of(json_object_get(item, "against"), "another cell", &other);
        html_escaped(out, text_string(&other));
        text_free(&other);
        text_add(out, json_integer_value(count) > 1 ? ", " : "");
    }
    if (json_integer_value(count) > 1) {
        text_add(out, "over ");
        html_number(out, html_value(count));
        text_add(out, " repetitions");
    }
    text_add(out, "</td>");
}

/* What was judged of the run's cell when its sweep ended; NULL: nothing was, or a run before it has the
 * same. */
static const json_t *judged_of_cell(const struct runs *runs, size_t run)
{
    const struct run *mine = &runs->items[run];
    for (size_t i = 0; mine->judged && i < run; i++)
        if (runs->items[i].judged && strcmp(runs->items[i].sweep, mine->sweep) == 0 &&
            json_equal(json_object_get(runs->items[i].judged, "folders"),
                       json_object_get(mine->judged, "folders")))
            return NULL;
    return mine->judged;
}

/* The cell by its choices or, beside other results, by its first run. */
static void add_cell_name(const struct runs *runs, size_t run, struct text *out)
{
    if (runs->results > 1)
        text_add(out, "%s", run_label(&runs->items[run]));
    else
        choices_of(json_object_get(runs->items[run].judged, "cell"), "all runs", out);
}

static void add_row(const char *cell, const json_t *item, struct text *out)
{
    text_add(out, "<tr>");
    html_cell(out, cell);
    text_add(out, "<td>");
    html_escaped(out, run_member(item, "name"));
    text_add(out, "<br><code>");
    html_escaped(out, run_member(item, "check"));
    text_add(out, "</code></td>");
    add_over(item, out);
    text_add(out, "<td>");
    html_verdict(out, run_member(item, "verdict"));
    text_add(out, "<br><span class=soft>");
    html_escaped(out, run_member(item, "reason"));
    text_add(out, "</span></td></tr>\n");
}

void page_add_repeated(const struct runs *runs, struct text *out)
{
    size_t j, count = 0;
    const json_t *item;
    for (size_t i = 0; i < runs->count; i++) {
        struct text name = {0};
        add_cell_name(runs, i, &name);
        json_array_foreach(json_object_get(judged_of_cell(runs, i), "expectations"), j, item)
        {
            if (count++ >= LISTED)
                continue;
            if (count == 1)
                text_add(out, "<h2>Expectations over repetitions or beside another cell</h2>\n<div "
                              "class=scroll><table><tr><th>run<th>expectation<th>judged<th>verdict</tr>\n");
            add_row(text_string(&name), item, out);
        }
        text_free(&name);
    }
    if (count)
        text_add(out, "</table></div>\n");
    if (count > LISTED)
        text_add(out, "<p class=soft>%d of %zu are listed; all are in index.json.</p>\n", LISTED, count);
}

#define RUNS_SIDE_BY_SIDE 4 /* columns of a table */
#define WARNINGS_IN_SIGHT 6

/* ---- sums over a run */

static bool is_pause(const char *name, const json_t *counters)
{
    (void)counters;
    return counters_pattern_matches("rx_prio#_pause", name);
}

/* What another counter of the same counters has too does not count twice. */
static enum counter_loss loss_of(const char *name, const json_t *counters)
{
    const char *whole = NULL;
    enum counter_loss is = counters_loss(name, &whole);
    return whole && json_object_get(counters, whole) ? COUNTER_NO_LOSS : is;
}

static bool is_lost(const char *name, const json_t *counters)
{
    enum counter_loss is = loss_of(name, counters);
    return is == COUNTER_LOST || is == COUNTER_LOST_BY_LINK;
}

static bool is_answer(const char *name, const json_t *counters)
{
    return loss_of(name, counters) == COUNTER_LOSS_ANSWERED;
}

/* Add `key` of the counters that the test selects to the sum. */
static void add_counters(const json_t *counters, bool (*picks)(const char *name, const json_t *counters),
                         const char *key, double *sum)
{
    const char *name;
    json_t *counter;
    json_object_foreach((json_t *)(uintptr_t)counters, name, counter)
    {
        const json_t *value = json_object_get(counter, key);
        if (picks(name, counters) && json_is_number(value))
            *sum = (isnan(*sum) ? 0 : *sum) + json_number_value(value);
    }
}

/* The sum of `key` over all hosts' counters that the test selects; NAN if there is none. */
static double sum_counters(const struct run *run, bool (*picks)(const char *name, const json_t *counters),
                           const char *key)
{
    const char *role;
    json_t *host;
    double sum = NAN;
    if (run_totals(run)) {
        add_counters(run_totals(run), picks, key, &sum);
        return sum;
    }
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "hosts"), role, host)
    {
        add_counters(json_object_get(host, "counters"), picks, key, &sum);
    }
    return sum;
}

double page_pauses(const struct run *run)
{
    return sum_counters(run, is_pause, "delta");
}

double page_lost(const struct run *run)
{
    return sum_counters(run, is_lost, "delta");
}

double page_lost_in_run(const struct run *run)
{
    return sum_counters(run, is_lost, "total");
}

double page_most_paused(const struct run *run)
{
    const char *role, *name;
    json_t *host, *counter;
    double most = NAN;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "hosts"), role, host)
    {
        json_object_foreach(json_object_get(host, "counters"), name, counter)
        {
            if (counters_pattern_matches("rx_prio#_pause_duration", name))
                most =
                    fmax(html_value(json_object_get(counter, "rate_per_s")) / 1e4, most); /* of us a second */
        }
    }
    return most;
}

/* ---- tables */

/* A run may have flows, collectives, or both: the columns are those that any of the runs needs. */
static void add_traffic_headings(bool delivered, bool flows, bool collectives, struct text *out)
{
    if (delivered)
        text_add(out, "<th class=number>delivered by all flows, Gb/s");
    if (flows)
        text_add(out, "<th class=number>goodput of all flows, Gb/s<th class=number>MiB/s"
                      "<th class=number>messages/s");
    if (collectives)
        text_add(out, "<th class=number>largest busbw, GB/s");
}

static void add_traffic(const struct run *run, bool delivered, bool flows, bool collectives, struct text *out)
{
    static const char *const sums[] = {"goodput_bps", "goodput_MiBps", "messages_per_s"};
    if (delivered)
        html_number_cell(out, run_sum_flows(run, "delivered_bps") / 1e9);
    for (size_t i = 0; flows && i < sizeof sums / sizeof *sums; i++)
        html_number_cell(out, run_sum_flows(run, sums[i]) / (i == 0 ? 1e9 : 1));
    if (collectives)
        html_number_cell(out, run_max_busbw_GBps(run));
}

void page_add_summary(const struct runs *runs, struct text *out)
{
    bool collectives = runs_have(runs, "collectives");
    bool flows = runs_have(runs, "flows") || (!collectives && !runs_have(runs, "jobs"));
    bool delivered = runs_have_delivered(runs);
    text_add(out, "<h2>Measurements</h2>\n<div class=scroll><table class=wide><tr><th>run<th>verdict");
    add_traffic_headings(delivered, flows, collectives, out);
    text_add(out, "<th class=number>PFC frames received<th class=number>PFC frames/s"
                  "<th class=number>packets lost<th class=number>NAKs and time-outs"
                  "<th class=number>packets sent again, whole run</tr>\n");
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->items[i];
        text_add(out, "<tr>");
        html_cell(out, run_label(run));
        text_add(out, "<td>");
        html_verdict(out, verdict_names[run_verdict(run)]);
        text_add(out, "</td>");
        add_traffic(run, delivered, flows, collectives, out);
        html_number_cell(out, page_pauses(run));
        html_number_cell(out, sum_counters(run, is_pause, "rate_per_s"));
        html_number_cell(out, page_lost(run));
        html_number_cell(out, sum_counters(run, is_answer, "delta"));
        html_number_cell(out, run_sum_flows(run, "retransmitted_packets"));
        text_add(out, "</tr>\n");
    }
    text_add(out, "</table></div>\n");
    if (delivered)
        text_add(out,
                 "<p class=soft>Delivered is the payload that arrived in the measure phase, goodput that of "
                 "the messages that completed in it, each in full.</p>\n");
}

void page_add_listed(const struct runs *runs, struct text *out)
{
    for (size_t i = 0; i < runs->count; i++) {
        const struct samples_odd *odd = &runs->items[i].samples_odd;
        const struct {
            uint64_t count;
            const char *why;
        } not_drawn[] = {{odd->left_out, "no header names their host"}, {odd->back, "they " SAMPLES_BACK}};
        for (size_t k = 0; k < sizeof not_drawn / sizeof *not_drawn; k++)
            if (not_drawn[k].count) {
                text_add(out, "<p class=incomplete>");
                html_escaped(out, run_label(&runs->items[i]));
                text_add(out, ": %" PRIu64 " samples are not drawn: %s.</p>\n", not_drawn[k].count,
                         not_drawn[k].why);
            }
    }
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->items[i];
        if (!run_totals(run))
            continue;
        text_add(out, "<p>%s", runs->count > 1 ? "Of " : "");
        if (runs->count > 1) {
            html_escaped(out, run_label(run));
            text_add(out, ": ");
        }
        html_number(out, html_value(run_get(run, "totals.listed")));
        text_add(out, " of ");
        html_number(out, html_value(run_get(run, "totals.roles")));
        text_add(out,
                 " roles are listed: drawn, and with their counters below. The others are in the totals; "
                 "<code>sample.roles</code> in the scenario names which are listed.</p>\n");
    }
}

static void add_run_headings(const struct runs *runs, struct text *out)
{
    for (size_t r = 0; r < runs->count; r++) {
        text_add(out, "<th>");
        html_escaped(out, run_label(&runs->items[r]));
    }
    text_add(out, "</tr>\n");
}

#define DIFFERENCES_SHOWN 200 /* the lab's, which may be many, come last */

/* The settings that differ between compared results, also those that only some of them have. */
void page_add_differences(const struct runs *runs, struct text *out)
{
    const struct run *columns[RUNS_SIDE_BY_SIDE] = {0};
    const json_t *results[RUNS_SIDE_BY_SIDE] = {0};
    bool cut = false, firsts = runs->count > RUNS_SIDE_BY_SIDE;
    size_t count = 0;
    if (runs->results < 2)
        return;
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->items[i];
        if (firsts && i && strcmp(run->result_folder, runs->items[i - 1].result_folder) == 0)
            continue;
        if (count < RUNS_SIDE_BY_SIDE) {
            columns[count] = run;
            results[count] = run->result;
        }
        count++;
    }
    if (count > RUNS_SIDE_BY_SIDE) {
        text_add(out,
                 "<h2>Different settings</h2>\n<p class=soft>They are listed for up to %d results; these are "
                 "%zu.</p>\n",
                 RUNS_SIDE_BY_SIDE, count);
        return;
    }
    json_t *differences = differences_between(results, count, &cut), *row;
    size_t shown = 0, all = json_object_size(differences);
    const char *path;
    text_add(out, "<h2>Different settings</h2>\n");
    if (firsts)
        text_add(out, "<p class=soft>Of the first run of each result.</p>\n");
    if (!all) {
        text_add(out, cut ? "<p>None of those that were compared: the documents have more values.</p>\n"
                          : "<p>None: scenario, lab, seed and program are the same.</p>\n");
        json_decref(differences);
        return;
    }
    text_add(out, "<div class=scroll><table><tr><th>setting");
    for (size_t i = 0; i < count; i++) {
        text_add(out, "<th>");
        html_escaped(out, run_label(columns[i]));
    }
    text_add(out, "</tr>\n");
    json_object_foreach(differences, path, row)
    {
        size_t i;
        json_t *value;
        if (shown++ == DIFFERENCES_SHOWN)
            break;
        text_add(out, "<tr><td><code>");
        html_escaped(out, path);
        text_add(out, "</code></td>");
        json_array_foreach(row, i, value)
        {
            html_cell(out, json_is_string(value) ? json_string_value(value) : "unset");
        }
        text_add(out, "</tr>\n");
    }
    text_add(out, "</table></div>\n");
    if (all > DIFFERENCES_SHOWN)
        text_add(out, "<p class=soft>%zu more settings differ.</p>\n", all - DIFFERENCES_SHOWN);
    if (cut)
        text_add(out, "<p class=soft>The documents have more values than were compared.</p>\n");
    json_decref(differences);
}

/* Those of a sweep are of no run. */
static void add_own_warnings(const json_t *index, const char *list, json_t *distinct)
{
    const json_t *words;
    size_t i;
    json_array_foreach(json_object_get(index, list), i, words)
    {
        json_put(distinct, json_string_value(words), json_array());
    }
}

/* Each of a run's sentences once, with the runs that have it. */
static void add_distinct(const json_t *sentences, const struct run *run, json_t *distinct)
{
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)(uintptr_t)sentences, i, item)
    {
        const char *words = json_string_value(item);
        json_t *labels = words ? json_object_get(distinct, words) : NULL;
        if (words && !labels)
            json_object_set_new(distinct, words, labels = json_array());
        const json_t *last = json_array_get(labels, json_array_size(labels) - 1);
        if (words && !(last && strcmp(json_string_value(last), run_label(run)) == 0)) /* several checkers */
            json_array_append_new(labels, json_text(run_label(run)));
    }
}

static json_t *distinct_warnings(const struct runs *runs)
{
    json_t *distinct = json_object();
    for (size_t i = 0; i < runs->count; i++)
        add_distinct(run_get(&runs->items[i], "warnings"), &runs->items[i], distinct);
    for (size_t i = 0; i < json_array_size(runs->indices); i++) {
        add_own_warnings(json_array_get(runs->indices, i), SWEEP_WRONG, distinct);
        add_own_warnings(json_array_get(runs->indices, i), "warnings", distinct);
    }
    return distinct;
}

static void add_warning(const char *words, const json_t *labels, size_t run_count, struct text *out)
{
    text_add(out, "<li>");
    html_escaped(out, words);
    if (json_array_size(labels) > 0 && json_array_size(labels) < run_count) {
        text_add(out, " <span class=soft>(");
        html_escaped(out, json_string_value(json_array_get(labels, 0)));
        if (json_array_size(labels) > 1)
            text_add(out, " and %zu more", json_array_size(labels) - 1);
        text_add(out, ")</span>");
    }
    text_add(out, "</li>\n");
}

/* Takes `distinct`. */
static void add_notice(const char *title, json_t *distinct, size_t run_count, struct text *out)
{
    const char *words;
    json_t *labels;
    size_t shown = 0, all = json_object_size(distinct);
    if (all)
        text_add(out, "<div class=notice><b>%s</b><ul>\n", title);
    json_object_foreach(distinct, words, labels)
    {
        if (shown++ == WARNINGS_IN_SIGHT)
            text_add(out, "</ul><details><summary>and %zu more</summary><div><ul>\n",
                     all - WARNINGS_IN_SIGHT);
        add_warning(words, labels, run_count, out);
    }
    if (all)
        text_add(out, all > WARNINGS_IN_SIGHT ? "</ul></div></details></div>\n" : "</ul></div>\n");
    json_decref(distinct);
}

/* Before all figures, as a warning can change what they mean. */
void page_add_warnings(const struct runs *runs, struct text *out)
{
    add_notice("Warnings", distinct_warnings(runs), runs->count, out);
}

static bool any_of(const struct runs *runs, const char *list)
{
    for (size_t i = 0; i < runs->count; i++)
        if (json_array_size(run_get(&runs->items[i], list)))
            return true;
    return false;
}

/* What counts for a run's verdict: lists of entries with a name, a check, a verdict and a reason. */
static const char *const judged_lists[] = {"expectations", "verify"};
#define JUDGED_LISTS (sizeof judged_lists / sizeof *judged_lists)

static size_t count_judged(const struct runs *runs)
{
    size_t count = 0, i;
    json_t *item;
    for (size_t r = 0; r < runs->count; r++)
        for (size_t k = 0; k < JUDGED_LISTS; k++)
            json_array_foreach(run_get(&runs->items[r], judged_lists[k]), i, item)
            {
                count += !run_judged_later(&runs->items[r], judged_lists[k], item);
            }
    return count;
}

/* The same expectation, by name and check, in a list of a run, or NULL. */
static const json_t *expectation(const struct run *run, const char *list, const json_t *wanted)
{
    size_t i;
    json_t *item;
    json_array_foreach(run_get(run, list), i, item)
    {
        if (strcmp(run_member(item, "name"), run_member(wanted, "name")) == 0 &&
            strcmp(run_member(item, "check"), run_member(wanted, "check")) == 0)
            return item;
    }
    return NULL;
}

/* What a run says of an expectation; nothing if its scenario has none of this name. */
static void add_outcome(const json_t *item, struct text *out)
{
    size_t i;
    if (!item) {
        text_add(out, "<td class=soft>&ndash;</td>");
        return;
    }
    text_add(out, "<td>");
    html_verdict(out, run_member(item, "verdict"));
    text_add(out, "<br><span class=soft>");
    html_escaped(out, run_member(item, "reason"));
    json_t *notes = verdict_not_judged(item), *note;
    json_array_foreach(notes, i, note)
    {
        text_add(out, "<br>not judged: ");
        html_escaped(out, json_string_value(note));
    }
    json_decref(notes);
    text_add(out, "</span></td>");
}

/* Has one of the runs before `r` an expectation of this name and check, which was not judged when its sweep
 * ended? It has a row already. */
static bool has_row(const struct runs *runs, size_t r, const char *list, const json_t *item)
{
    for (size_t i = 0; i < r; i++) {
        const json_t *same = expectation(&runs->items[i], list, item);
        if (same && !run_judged_later(&runs->items[i], list, same))
            return true;
    }
    return false;
}

/* One row per expectation, one column per run. */
static void add_expectation_rows(const struct runs *runs, const char *list, struct text *out)
{
    for (size_t first = 0; first < runs->count; first++) {
        size_t i;
        json_t *item;
        json_array_foreach(run_get(&runs->items[first], list), i, item)
        {
            if (has_row(runs, first, list, item) || run_judged_later(&runs->items[first], list, item))
                continue;
            text_add(out, "<tr><td class=rule>");
            html_escaped(out, run_member(item, "name"));
            text_add(out, "<br><code>");
            html_escaped(out, run_member(item, "check"));
            text_add(out, "</code></td>");
            for (size_t r = 0; r < runs->count; r++) {
                const json_t *own = expectation(&runs->items[r], list, item),
                             *later = own ? run_judged_later(&runs->items[r], list, own) : NULL;
                add_outcome(later ? later : own, out);
            }
            text_add(out, "</tr>\n");
        }
    }
}

static void add_expectation_matrix(const struct runs *runs, struct text *out)
{
    text_add(out, "<tr><th>expectation");
    add_run_headings(runs, out);
    for (size_t i = 0; i < JUDGED_LISTS; i++)
        add_expectation_rows(runs, judged_lists[i], out);
}

/* Those that did not pass; how many did. */
static size_t list_unpassed(const struct run *run, const char *list, struct text *out)
{
    size_t i, passed = 0;
    json_t *item;
    json_array_foreach(run_get(run, list), i, item)
    {
        if (run_judged_later(run, list, item))
            continue;
        if (strcmp(run_member(item, "verdict"), "passed") == 0) {
            passed++;
            continue;
        }
        text_add(out, "<tr>");
        html_cell(out, run_label(run));
        html_cell(out, run_member(item, "name"));
        text_add(out, "<td>");
        html_verdict(out, run_member(item, "verdict"));
        text_add(out, "</td><td><code>");
        html_escaped(out, run_member(item, "check"));
        text_add(out, "</code><br><span class=soft>");
        html_escaped(out, run_member(item, "reason"));
        text_add(out, "</span></td></tr>\n");
    }
    return passed;
}

/* Too many runs for columns: list what did not pass, and count the rest. */
static void add_expectation_list(const struct runs *runs, struct text *out)
{
    size_t passed = 0;
    text_add(out, "<tr><th>run<th>expectation<th>verdict<th>rule and numbers</tr>\n");
    for (size_t r = 0; r < runs->count; r++)
        for (size_t i = 0; i < JUDGED_LISTS; i++)
            passed += list_unpassed(&runs->items[r], judged_lists[i], out);
    text_add(out, "<tr><td colspan=4>%zu passed</td></tr>\n", passed);
}

/* What no row of such a list says. */
static void add_not_judged(const struct runs *runs, struct text *out)
{
    json_t *distinct = json_object(), *item;
    size_t i;
    for (size_t r = 0; r < runs->count; r++)
        json_array_foreach(run_get(&runs->items[r], "verify"), i, item)
        {
            json_t *notes = verdict_not_judged(item);
            add_distinct(notes, &runs->items[r], distinct);
            json_decref(notes);
        }
    add_notice("Not judged", distinct, runs->count, out);
}

void page_add_expectations(const struct runs *runs, struct text *out)
{
    if (!count_judged(runs))
        return;
    text_add(out, "<h2>Expectations</h2>\n<div class=scroll><table>");
    if (runs->count <= RUNS_SIDE_BY_SIDE)
        add_expectation_matrix(runs, out);
    else
        add_expectation_list(runs, out);
    text_add(out, "</table></div>\n");
    if (runs->count > RUNS_SIDE_BY_SIDE)
        add_not_judged(runs, out);
}

/* The word for all runs, or NULL: they are measured, or differ. */
static const char *common_origin(const struct runs *runs, bool *differ)
{
    const char *first = run_origin(&runs->items[0]);
    *differ = false;
    for (size_t i = 1; i < runs->count; i++)
        *differ = *differ || strcmp(first ? first : "",
                                    run_origin(&runs->items[i]) ? run_origin(&runs->items[i]) : "") != 0;
    return *differ ? NULL : first;
}

static void add_published_row(const char *label, const char *origin, const json_t *item, struct text *out)
{
    double difference = html_value(json_object_get(item, "difference_percent"));
    char percents[32];
    text_add(out, "<tr><td>");
    html_escaped(out, label);
    if (origin)
        text_add(out, " <span class=\"pill %s\">%s</span>", origin, origin);
    text_add(out, "</td><td>");
    html_escaped(out, run_member(item, "name"));
    text_add(out, " <span class=soft>%s", *run_member(item, "unit") ? "in " : "");
    html_escaped(out, run_member(item, "unit"));
    text_add(out, "</span></td>");
    html_number_cell(out, html_value(json_object_get(item, "published")));
    if (json_is_number(json_object_get(item, "value"))) {
        html_number_cell(out, html_value(json_object_get(item, "value")));
        text_add(out, "<td class=number>%s</td>",
                 isfinite(difference) ? verdict_percents(difference, percents) : "");
    } else {
        text_add(out, "<td colspan=2 class=soft>not compared: ");
        html_escaped(out, run_member(item, "reason"));
        text_add(out, "</td>");
    }
    html_cell(out, run_member(item, "source"));
    text_add(out, "</tr>\n");
}

static void add_repeated_published(const struct runs *runs, struct text *out)
{
    size_t j;
    const json_t *item;
    for (size_t i = 0; i < runs->count; i++) {
        struct text label = {0};
        add_cell_name(runs, i, &label);
        json_array_foreach(json_object_get(judged_of_cell(runs, i), "published"), j, item)
        {
            add_published_row(text_string(&label), NULL, item, out);
        }
        text_free(&label);
    }
}

/* A figure that is judged when the sweep has ended has its row then, not one of each run. */
void page_add_published(const struct runs *runs, struct text *out)
{
    bool differ;
    const char *origin = common_origin(runs, &differ);
    if (!any_of(runs, "published"))
        return;
    text_add(
        out,
        "<h2>Comparison with published figures</h2>\n<div class=scroll><table><tr><th>run<th>figure<th "
        "class=number>published<th class=number>this run%s%s<th class=number>difference<th>source</tr>\n",
        origin ? ", " : "", origin ? origin : "");
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->items[i];
        size_t j;
        json_t *item;
        json_array_foreach(run_get(run, "published"), j, item)
        {
            if (!run_judged_later(run, "published", item))
                add_published_row(run_label(run), differ ? run_origin(run) : NULL, item, out);
        }
    }
    add_repeated_published(runs, out);
    text_add(out, "</table></div>\n");
}

/* ---- collectives */

/* Collectives between GPUs: what each run reached, and a row for each size. */

#define SIZES_SHOWN 64 /* of a collective */

static const json_t *collectives_of(const struct run *run)
{
    return run_get(run, "collectives");
}

/* What between hosts was used: NCCL's own word for it is in run.log. */
static const char *path_words(const json_t *collective)
{
    static const char *const words[][2] = {{"gdrdma", "GPUDirect RDMA"},
                                           {"ib", "RDMA through host memory"},
                                           {"socket", "TCP"},
                                           {"net", "network plugin, through host memory"},
                                           {"collnet", "reduced by the network"},
                                           {"mixed", "several"},
                                           {"none", "none: one host"}};
    const char *path = run_member(collective, "path");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(path, words[i][0]) == 0)
            return words[i][1];
    return "unknown";
}

/* With the decimals that nccl-tests prints. */
static void bandwidth_cell(struct text *out, const json_t *value)
{
    if (json_is_number(value))
        text_add(out, "<td class=number>%.2f</td>", json_number_value(value));
    else
        html_number_cell(out, NAN);
}

static void add_collective(const struct run *run, const char *name, const json_t *collective,
                           struct text *out)
{
    const json_t *used = json_object_get(collective, "tool_used");
    text_add(out, "<tr>");
    html_cell(out, run_label(run));
    html_cell(out, name);
    html_cell(out, run_member(collective, "op"));
    html_number_cell(out, html_value(json_object_get(collective, "ranks")));
    html_number_cell(out, html_value(json_object_get(collective, "avg_busbw_GBps")));
    bandwidth_cell(out, json_object_get(collective, "max_busbw_GBps"));
    html_number_cell(out, html_value(json_object_get(collective, "wrong")));
    html_cell(out, path_words(collective));
    html_cell(out, run_member(used, "version"));
    html_cell(out, run_member(used, "nccl_version"));
    text_add(out, "</tr>\n");
}

static void add_half(const json_t *half, struct text *out)
{
    html_number_cell(out, html_value(json_object_get(half, "time_ns")) / 1e3);
    bandwidth_cell(out, json_object_get(half, "algbw_GBps"));
    bandwidth_cell(out, json_object_get(half, "busbw_GBps"));
    html_number_cell(out, html_value(json_object_get(half, "wrong")));
}

static void add_sizes(const struct run *run, const char *name, const json_t *collective, struct text *out)
{
    size_t i;
    const json_t *size;
    json_array_foreach(json_object_get(collective, "sizes"), i, size)
    {
        if (i == SIZES_SHOWN)
            break;
        text_add(out, "<tr>");
        html_cell(out, run_label(run));
        html_cell(out, name);
        html_number_cell(out, html_value(json_object_get(size, "bytes")));
        add_half(json_object_get(size, "out_of_place"), out);
        add_half(json_object_get(size, "in_place"), out);
        text_add(out, "</tr>\n");
    }
}

typedef void add_rows(const struct run *run, const char *name, const json_t *collective, struct text *out);

static void add_all(const struct runs *runs, add_rows *add, struct text *out)
{
    for (size_t i = 0; i < runs->count; i++) {
        const char *name;
        json_t *collective;
        json_object_foreach((json_t *)(uintptr_t)collectives_of(&runs->items[i]), name, collective)
        {
            add(&runs->items[i], name, collective, out);
        }
    }
    text_add(out, "</table></div>\n");
}

#define HALF(words)           \
    "<th class=number>" words \
    " time, us<th class=number>algbw, GB/s<th class=number>busbw, GB/s<th class=number>wrong"

void page_add_collectives(const struct runs *runs, struct text *out)
{
    if (!runs_have(runs, "collectives"))
        return;
    text_add(
        out,
        "<h3>Collectives</h3><div class=scroll><table><tr><th>run<th>collective<th>op<th class=number>ranks"
        "<th class=number>average busbw, GB/s<th class=number>largest busbw, GB/s<th class=number>wrong"
        "<th>between hosts<th>nccl-tests<th>NCCL</tr>\n");
    add_all(runs, add_collective, out);
    size_t left_out = 0;
    text_add(out, "<h3>Collectives by size</h3><div class=scroll><table><tr><th>run<th>collective"
                  "<th class=number>size, B" HALF("out of place") HALF("in place") "</tr>\n");
    add_all(runs, add_sizes, out);
    for (size_t i = 0; i < runs->count; i++) {
        const char *name;
        json_t *collective;
        json_object_foreach((json_t *)(uintptr_t)collectives_of(&runs->items[i]), name, collective)
        {
            size_t sizes = json_array_size(json_object_get(collective, "sizes"));
            left_out += sizes > SIZES_SHOWN ? sizes - SIZES_SHOWN : 0;
        }
    }
    if (left_out)
        text_add(out,
                 "<p class=soft>%zu more sizes are in result.json: the first %d of each are listed.</p>\n",
                 left_out, SIZES_SHOWN);
}
