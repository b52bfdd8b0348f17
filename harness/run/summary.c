/* What people, and with --json programs, read of a run on standard output. */
#include "harness/run/summary.h"

#include "lib/collective/result_collectives.h"
#include "lib/schedule/job.h"
#include "lib/formats/origin.h"
#include "lib/formats/result_flows.h"
#include "lib/formats/verdicts.h"
#include "lib/log.h"
#include "lib/output/print.h"
#include "lib/output/verdicts.h"
#include "lib/roce/counters.h"
#include "lib/statistics/spread.h"
#include "lib/text.h"
#include "lib/units.h"
#include "reports/results/differences.h"
#include "reports/results/run.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures of flows and collectives */

#define FLOWS_SHOWN 8 /* of a run, and of a pattern: the slowest and the fastest */

/* ---- for people */

/* The unit that shows a rate with two digits behind the point, and what a number of it is. */
static const char *rate_unit(double bps, double *unit)
{
    static const struct {
        double from_bps, unit;
        const char *name;
    } units[] = {{1e8, 1e9, "Gb/s"}, {1e5, 1e6, "Mb/s"}, {1e-9, 1e3, "kb/s"}, {0, 1e6, "Mb/s"}};
    size_t i = 0;
    while (bps < units[i].from_bps)
        i++;
    *unit = units[i].unit;
    return units[i].name;
}

static void print_rate(double bps, int width)
{
    double unit;
    const char *name = rate_unit(bps, &unit);
    print_out("%*.2f %s", width, bps / unit, name);
}

static void print_time(double ns)
{
    double one;
    const char *name = units_of_time(ns, &one);
    print_out("%.6g %s", ns / one, name);
}

/* What arrived, behind a rate of the same time by completed messages: where told, or where it is far from it.
 */
static void print_far(const json_t *flow, const json_t *delivered, bool told)
{
    if (!delivered || !(told || result_flow_is_far(flow)))
        return;
    print_out(" completed, ");
    print_rate(json_number_value(delivered), 0);
    print_out(" delivered");
}

/* The rate of one that ends is over its own time; what it moved in the measure phase stands behind it. */
static void print_flow(const json_t *flows, const char *name)
{
    const json_t *flow = json_object_get(flows, name);
    double p50 = result_flow_figure(flow, "latency_p50_ns"), p99 = result_flow_figure(flow, "latency_p99_ns");
    double bps = json_number_value(result_flow_value(flow, "goodput_bps"));
    const json_t *of = json_object_get(flow, "flows"), *delivered = result_flow_value(flow, "delivered_bps");
    bool ends = result_flow_ends(flow);
    if (!json_object_get(flow, "bytes")) { /* its program did not say */
        print_out("  %-16s unknown", name);
        return;
    }
    print_out("  %-16s %10.2f MiB/s ", name, json_number_value(result_flow_value(flow, "goodput_MiBps")));
    print_rate(bps, 8);
    if (!ends)
        print_far(flow, delivered, of && json_object_get(flow, "completion_ns"));
    if (!isnan(p50))
        print_out("   latency p50 %.2f us", p50 / 1e3);
    if (!isnan(p99))
        print_out(", p99 %.2f us", p99 / 1e3);
    const json_t *took = result_flow_value(flow, "completion_max_ns");
    if (ends && took) {
        print_out("   ended after ");
        print_time(json_number_value(took));
    } else if (ends) {
        print_out(json_number_value(result_flow_value(flow, "errors")) > 0 ? "   gave up"
                                                                           : "   has not ended");
    }
    if (ends && delivered && result_flow_is_far(flow)) {
        print_out("; in the measure phase ");
        print_rate(json_number_value(result_flow_in_phase(flow, "goodput_bps")), 0);
        print_far(flow, delivered, true);
    }
    const json_t *earlier = json_object_get(of, "earlier");
    json_int_t started = json_integer_value(json_object_get(of, "started"));
    if (of && json_object_get(flow, "completion_ns")) {
        if (started == 1)
            print_out("   the flow");
        else
            print_out("   %" JSON_INTEGER_FORMAT " of the %" JSON_INTEGER_FORMAT " flows",
                      json_integer_value(json_object_get(of, "finished")), started);
        print_out(" that began%s %s finished", earlier ? " in the measure phase or later" : "",
                  started != 1                                          ? "have"
                  : json_integer_value(json_object_get(of, "finished")) ? "has"
                                                                        : "has not");
    }
    if (earlier)
        print_out(", %" JSON_INTEGER_FORMAT " began before it", json_integer_value(earlier));
}

/* "21.43 +- 0.02 Gb/s", below 0.1 Gb/s in Mb/s. */
static void figures_print_goodput(double mean_bps, double ci95_bps)
{
    double unit;
    const char *name = rate_unit(mean_bps, &unit);
    print_out("%.2f ", mean_bps / unit);
    if (isfinite(ci95_bps))
        print_out("+- %g ", spread_two_digits(ci95_bps / unit));
    print_out("%s", name);
}

/* The flows of a pattern under the line of all of them. */
static void print_parts(const json_t *flows, const char *pattern)
{
    const char *names[FLOWS_SHOWN];
    size_t all = result_flow_parts(flows, pattern);
    size_t shown = result_flow_extremes(flows, pattern, "goodput_bps", FLOWS_SHOWN, names);
    bool ends = shown && result_flow_ends(json_object_get(flows, names[0]));
    print_out("   %zu flow%s%s", all, all == 1 ? "" : "s together", ends ? " over the measure phase" : "");
    if (shown && shown < all)
        print_out("; the %zu slowest and the %zu fastest%s:", shown / 2, shown - shown / 2,
                  ends ? " over their own times, of the whole run" : "");
    print_out("\n");
    for (size_t i = 0; i < shown; i++) {
        print_flow(flows, names[i]);
        print_out("\n");
    }
}

/* A line for each collective: its bus bandwidths, and the path between its hosts. */
static void figures_print_collectives(const json_t *result)
{
    const char *name;
    json_t *collective;
    double average, largest;
    json_object_foreach(json_object_get(result, "collectives"), name, collective)
    {
        const char *path = json_string_value(json_object_get(collective, "path"));
        if (!result_collective_value(collective, "avg_busbw_GBps", &average) ||
            !result_collective_value(collective, "max_busbw_GBps", &largest))
            continue;
        print_out("  %-16s %s, %" JSON_INTEGER_FORMAT
                  " ranks: bus bandwidth %.2f GB/s on average, at most %.2f GB/s; "
                  "path between hosts: %s\n",
                  name, json_string_value(json_object_get(collective, "op")),
                  json_integer_value(json_object_get(collective, "ranks")), average, largest,
                  path ? path : "unknown");
    }
}

/* A line for each job: its end, and what its ranks did until then. */
static void figures_print_jobs(const json_t *result)
{
    const char *name;
    json_t *job, *rank;
    json_object_foreach(json_object_get(result, "jobs"), name, job)
    {
        double end_ns = result_job_end_ns(job), calc = 0, exposed = 0, all;
        size_t i, ranks = json_array_size(json_object_get(job, "ranks"));
        json_array_foreach(json_object_get(job, "ranks"), i, rank)
        {
            calc += json_number_value(json_object_get(rank, "calc_ns"));
            exposed += json_number_value(json_object_get(rank, "exposed_ns"));
        }
        all = calc + exposed > 0 ? calc + exposed : 1;
        print_out("  %-16s %zu ranks, %" JSON_INTEGER_FORMAT " operations: ", name, ranks,
                  json_integer_value(json_object_get(job, "operations")));
        if (end_ns >= 0)
            print_out("ended at %.6g ms", end_ns / 1e6);
        else
            print_out("%" JSON_INTEGER_FORMAT " of them did not end",
                      json_integer_value(json_object_get(job, "unfinished")));
        print_out("; computing %.1f %%, waiting for messages %.1f %%\n", 100 * calc / all,
                  100 * exposed / all);
    }
}

/* Rates of flows that end are over their own time: what all have moved in the measure phase is not their sum.
 */
static void print_together(const json_t *flows)
{
    size_t all = 0, ending = 0;
    bool delivered;
    double bps = result_flows_throughput(flows, &delivered);
    const char *name;
    json_t *flow;
    json_object_foreach((json_t *)(uintptr_t)flows, name, flow)
    {
        all += result_flow_counts(flows, name, "*", "bytes");
        ending += result_flow_ends(flow);
    }
    if (!ending)
        return;
    print_out(all == 1 ? "  the flow: " : "  all %zu flows: ", all);
    print_rate(bps, 0);
    print_out("%s in the measure phase", delivered ? " delivered" : "");
    if (delivered) {
        print_out(", ");
        print_rate(result_flows_sum(flows, "goodput_bps"), 0);
        print_out(" by messages that completed then");
    }
    if (all == 1)
        print_out("; its rate above is over its own time\n");
    else if (ending == 1)
        print_out("; the rate of the one that ends is over its own time\n");
    else
        print_out("; the rates of %zu that end are over their own time\n", ending);
}

/* A line for each flow: goodput, and median and 99th percentile of the latency. Of a pattern, the flows
 * together, and its slowest and fastest ones. */
static void figures_print_flows(const json_t *result)
{
    const json_t *flows = json_object_get(result, "flows");
    const char *name;
    json_t *flow;
    size_t shown = 0, left = 0;
    if (json_array_size(json_object_get(result, "phases")) == 1) {
        print_out("  nothing was measured: the run ended before its measure phase\n");
        return;
    }
    json_object_foreach((json_t *)(uintptr_t)flows, name, flow)
    {
        if (result_flow_is_part(flows, name))
            continue;
        if (shown == FLOWS_SHOWN) {
            left++;
            continue;
        }
        shown++;
        print_flow(flows, name);
        if (result_flow_parts(flows, name))
            print_parts(flows, name);
        else
            print_out("\n");
    }
    if (left)
        print_out("  ... and %zu more\n", left);
    print_together(flows);
}

/* Has each flow an entry of its own, which says where it begins and ends? */
static bool names_ends(const json_t *flows)
{
    const char *name;
    json_t *flow;
    json_object_foreach((json_t *)(uintptr_t)flows, name, flow)
    {
        if (!json_is_string(json_object_get(flow, "from")) && !result_flow_parts(flows, name))
            return false;
    }
    return json_object_size(flows);
}

/* The goodput of the flows that begin, or end, at a machine's roles. */
static double sum_at(const json_t *flows, const json_t *roles, const char *end)
{
    const char *name;
    json_t *flow, *role;
    double bps = 0;
    size_t i;
    json_object_foreach((json_t *)(uintptr_t)flows, name, flow)
    {
        json_array_foreach(roles, i, role)
        {
            const json_t *value = json_equal(json_object_get(flow, end), role)
                                      ? result_flow_in_phase(flow, "goodput_bps")
                                      : NULL;
            bps += json_is_number(value) ? json_number_value(value) : 0;
        }
    }
    return bps;
}

/* "PFC frames sent 5, received 0 (counted by 1 of 2 NICs)", "received unknown (no NIC counts them)". */
static void print_frames(const char *words, double frames, size_t counting, size_t nics)
{
    if (!counting)
        print_out("%s unknown (no NIC counts them)", words);
    else
        print_out("%s %.0f", words, frames);
    if (counting && counting < nics)
        print_out(" (counted by %zu of %zu NICs)", counting, nics);
}

/* NICs whose settings leave PFC off count none of them. */
static void print_pauses(const json_t *machine)
{
    const char *name;
    json_t *counter;
    double frames[2] = {0}, unread_ns = 0;
    size_t nics = json_array_size(json_object_get(machine, "of")), counting[2] = {0};
    json_object_foreach(json_object_get(machine, "counters"), name, counter)
    {
        bool sent = counters_pattern_matches("tx_prio#_pause", name);
        const json_t *of = json_object_get(counter, "of");
        size_t nics_of = of ? (size_t)json_integer_value(of) : nics;
        if (!sent && !counters_pattern_matches("rx_prio#_pause", name))
            continue;
        frames[sent] += json_number_value(json_object_get(counter, "delta"));
        counting[sent] = !counting[sent] || nics_of < counting[sent] ? nics_of : counting[sent];
        unread_ns = fmax(unread_ns, json_number_value(json_object_get(counter, "unread_ns")));
    }
    print_frames("PFC frames sent", frames[1], counting[1], nics);
    print_frames(", received", frames[0], counting[0], nics);
    if (unread_ns > 0)
        print_out(" (not read for up to %.4g s)", unread_ns / 1e9);
    print_out("\n");
}

/* A line for each host with several NICs: sums over them. */
static void print_machines(const json_t *result)
{
    const json_t *flows = json_object_get(result, "flows"), *machines = json_object_get(result, "machines");
    const char *name;
    json_t *machine;
    size_t shown = 0;
    json_object_foreach((json_t *)(uintptr_t)machines, name, machine)
    {
        const json_t *roles = json_object_get(machine, "of");
        if (shown++ == FLOWS_SHOWN)
            break;
        print_out("  %s, sums of %zu NICs: ", name, json_array_size(roles));
        if (names_ends(flows)) {
            print_out("flows from it ");
            print_rate(sum_at(flows, roles, "from"), 0);
            print_out(", to it ");
            print_rate(sum_at(flows, roles, "to"), 0);
            print_out("; ");
        }
        print_pauses(machine);
    }
    if (json_object_size(machines) > FLOWS_SHOWN)
        print_out("  ... and %zu more hosts\n", json_object_size(machines) - FLOWS_SHOWN);
}

/* ---- for programs */

static json_t *picked(const json_t *from, const char *const *keys)
{
    json_t *to = json_object();
    for (; *keys; keys++)
        if (json_object_get(from, *keys))
            json_object_set(to, *keys, json_object_get(from, *keys));
    return to;
}

static json_t *flows_json(const json_t *flows)
{
    static const char *const keys[] = {"goodput_bps",
                                       "goodput_MiBps",
                                       "messages_per_s",
                                       "bytes",
                                       "messages",
                                       "duration_ns",
                                       "errors",
                                       "retransmitted_packets",
                                       "delivered_bytes",
                                       "delivered_bps",
                                       "marked_packets",
                                       "decreases",
                                       "increases",
                                       "latency_ns",
                                       "flows",
                                       "completion_ns",
                                       "phase",
                                       "slowdown",
                                       NULL};
    const char *name;
    json_t *flow, *out = json_object();
    json_object_foreach((json_t *)(uintptr_t)flows, name, flow)
    {
        json_object_set_new(out, name, picked(flow, keys));
    }
    return out;
}

static json_t *total_json(const json_t *flows)
{
    static const char *const values[] = {"goodput_bps", "goodput_MiBps", "messages_per_s"};
    bool delivered;
    double bps = result_flows_throughput(flows, &delivered);
    json_t *out = json_object(), *flow;
    const char *name;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        bool any = false; /* of collectives alone there is none */
        json_object_foreach((json_t *)(uintptr_t)flows, name, flow)
        {
            any = any || result_flow_in_phase(flow, values[i]);
        }
        if (any)
            json_object_set_new(out, values[i], json_real(result_flows_sum(flows, values[i])));
    }
    if (delivered)
        json_object_set_new(out, "delivered_bps", json_real(bps));
    return out;
}

/* The counters of pauses of each role that has some. */
static json_t *pauses_json(const json_t *hosts)
{
    static const char *const keys[] = {"unit", "delta", "rate_per_s", NULL};
    const char *role, *name;
    json_t *host, *counter, *out = json_object();
    json_object_foreach((json_t *)(uintptr_t)hosts, role, host)
    {
        json_t *mine = json_object();
        json_object_foreach(json_object_get(host, "counters"), name, counter)
        {
            const char *group = json_string_value(json_object_get(counter, "group"));
            if (group && strcmp(group, counter_group_names[COUNTER_GROUP_PFC]) == 0 &&
                json_object_get(counter, "delta"))
                json_object_set_new(mine, name, picked(counter, keys));
        }
        if (json_object_size(mine))
            json_object_set(out, role, mine);
        json_decref(mine);
    }
    return out;
}

/* The verdicts of checkers; what they found is in result.json. */
static json_t *verify_json(const json_t *entries)
{
    static const char *const keys[] = {"name", "check", "verdict", "count", "reason", NULL};
    json_t *out = json_array();
    size_t i;
    const json_t *entry;
    json_array_foreach(entries, i, entry) json_array_append_new(out, picked(entry, keys));
    return out;
}

json_t *summary_json(const json_t *result)
{
    static const char *const kept[] = {"reason", "expectations", "published", "warnings", NULL};
    const json_t *flows = json_object_get(result, "flows");
    const json_t *verify = json_object_get(result, "verify");
    json_t *out = picked(result, kept);
    if (verify)
        json_object_set_new(out, "verify", verify_json(verify));
    json_object_set_new(out, "total", total_json(flows));
    json_object_set_new(out, "flows", flows_json(flows));
    if (json_object_get(result, "collectives"))
        json_object_set(out, "collectives", json_object_get(result, "collectives"));
    if (json_object_get(result, "jobs"))
        json_object_set(out, "jobs", json_object_get(result, "jobs"));
    json_object_set_new(out, "pauses", pauses_json(json_object_get(result, "hosts")));
    return out;
}

/* ---- a run */

/* `later`: also those that are judged at the end of a sweep. */
static void print_expectations(const json_t *expectations, bool brief, bool later)
{
    size_t i;
    json_t *entry;
    json_array_foreach(expectations, i, entry)
    {
        const char *verdict = json_string_value(json_object_get(entry, "verdict"));
        const char *reason = json_string_value(json_object_get(entry, "reason"));
        if (json_object_get(entry, "over") && !later) /* at the end of the sweep */
            continue;
        if (run_expects_of_others(entry) || (brief && strcmp(verdict, "failed") != 0))
            continue;
        print_out("  %-8s %s (%s)\n", verdict, json_string_value(json_object_get(entry, "name")),
                  reason ? reason : "");
        verdict_print_not_judged(entry, 11);
    }
}

/* " (+0.1 %)"; nothing where there is no difference in per cent, of a figure that is 0. */
static const char *percents(const json_t *difference, char shown[40])
{
    char number[32];
    shown[0] = 0;
    if (difference)
        snprintf(shown, 40, " (%s)", verdict_percents(json_number_value(difference), number));
    return shown;
}

static void print_published(const json_t *published, bool later)
{
    size_t i;
    json_t *entry;
    json_array_foreach(published, i, entry)
    {
        if (json_object_get(entry, "over") && !later)
            continue;
        char shown[40];
        const char *reason = json_string_value(json_object_get(entry, "reason")),
                   *note = json_string_value(json_object_get(entry, "note"));
        const char *unit = json_string_value(json_object_get(entry, "unit"));
        if (reason)
            print_out("  published %s: not compared: %s\n", json_string_value(json_object_get(entry, "name")),
                      reason);
        else if (!json_is_number(json_object_get(entry, "value")))
            continue;
        else
            print_out("  published %s: %.6g%s%s, %s %.6g%s%s%s\n",
                      json_string_value(json_object_get(entry, "name")),
                      json_number_value(json_object_get(entry, "published")), unit && *unit ? " " : "",
                      unit ? unit : "", json_string_value(json_object_get(entry, "origin")),
                      json_number_value(json_object_get(entry, "value")),
                      percents(json_object_get(entry, "difference_percent"), shown), note ? "; " : "",
                      note ? note : "");
    }
}

/* ---- warnings */

#define WARNINGS_SHOWN 20 /* of a run */

bool summary_was_said(const json_t *said, const char *warning)
{
    const char *sentence;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)said, sentence, value)
    {
        size_t length = strlen(sentence);
        if (strncmp(warning, sentence, length) == 0 && (!warning[length] || warning[length] == ';'))
            return true;
    }
    return false;
}

static void print_warnings(const json_t *result, const json_t *said)
{
    size_t i, left = 0, shown = 0;
    json_t *warning;
    json_array_foreach(json_object_get(result, "warnings"), i, warning)
    {
        if (summary_was_said(said, json_string_value(warning)))
            continue;
        if (shown++ < WARNINGS_SHOWN)
            print_out_line("  warning: %s", json_string_value(warning));
        else
            left++;
    }
    if (left)
        print_out("  ... and %zu more warnings, in result.json\n", left);
}

void summary_log_warnings(const char *folder, const json_t *result, const json_t *said)
{
    const char *name = folder ? strrchr(folder, '/') + 1 : "";
    size_t i;
    json_t *warning;
    json_array_foreach(json_object_get(result, "warnings"), i, warning)
    {
        if (!summary_was_said(said, json_string_value(warning)))
            log_warning("%s%s%s", name, folder ? ": " : "", json_string_value(warning));
    }
}

void summary_print(const struct cell *cell, const char *folder, const json_t *result, enum verdict verdict,
                   size_t repeats, const json_t *said)
{
    struct text label = {0};
    bool brief = repeats > 1;
    choices_add(cell->choice, &label);
    const char *origin = origin_word(origin_of_result(result));
    if (brief) { /* it is one of many */
        print_out("%s: ", strrchr(folder, '/') + 1);
        text_add(&label, "%srun %" JSON_INTEGER_FORMAT " of %zu, seed %" JSON_INTEGER_FORMAT,
                 label.length ? ", " : "", json_integer_value(json_object_get(result, "repeat")), repeats,
                 json_integer_value(json_object_get(result, "seed")));
    }
    print_out("%s%s%s: %s%s%s%s", cell->scenario.name, label.length ? ", " : "", text_string(&label),
              verdict_names[verdict], origin ? " (" : "", origin ? origin : "", origin ? ")" : "");
    if (brief && result) {
        print_out(", ");
        print_rate(result_flows_sum(json_object_get(result, "flows"), "goodput_bps"), 0);
    }
    print_out("\n");
    if (!brief) {
        figures_print_flows(result);
        figures_print_collectives(result);
        figures_print_jobs(result);
    }
    if (!brief)
        print_machines(result);
    const json_t *totals = json_object_get(result, "totals");
    if (totals && !brief)
        print_out("  %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT
                  " roles are listed, the others are in the totals (sample.roles names which)\n",
                  json_integer_value(json_object_get(totals, "listed")),
                  json_integer_value(json_object_get(totals, "roles")));
    print_expectations(json_object_get(result, "expectations"), brief, false);
    print_expectations(json_object_get(result, "verify"), brief, false);
    if (!brief)
        print_published(json_object_get(result, "published"), false);
    const char *reason = json_string_value(json_object_get(result, "reason"));
    if (reason &&
        verdict != VERDICT_INCOMPLETE) /* an incomplete run ends the sweep, and its error is printed then */
        print_out_line("  %s", reason);
    print_warnings(result, said);
    text_free(&label);
}

/* ", p99 90.6 +- 1.2 us" of a flow's latencies; nothing where there are none. */
static void print_latency(const struct repeated_cell *judged, const char *flow, const char *quantile,
                          const char *before)
{
    struct text name = {0};
    text_add(&name, "flows.%s.latency_%s_ns", flow, quantile);
    struct spread spread = spreads_of(judged->figures, text_string(&name));
    text_free(&name);
    if (!spread.count)
        return;
    print_out("%s%s %.2f", before, quantile, spread.mean / 1e3);
    if (!judged->identical && isfinite(spread.ci95))
        print_out(" +- %g", spread_two_digits(spread.ci95 / 1e3));
    print_out(" us");
}

/* A line for each flow over the repetitions; of a pattern one for all of it. */
static void print_repeated_flows(const struct repeated_cell *judged)
{
    static const char before[] = "flows.", behind[] = ".goodput_bps";
    size_t shown = 0, left = 0;
    for (size_t i = 0; i < judged->figures->count; i++) {
        const struct spread_figure *figure = &judged->figures->figures[i];
        const char *name = figure->name;
        size_t length = strlen(name), around = sizeof before + sizeof behind - 2;
        if (length <= around || strncmp(name, before, sizeof before - 1) != 0 ||
            strcmp(name + length - (sizeof behind - 1), behind) != 0 || strchr(name, '/'))
            continue;
        if (shown++ >= FLOWS_SHOWN) {
            left++;
            continue;
        }
        struct text flow = {0};
        struct spread spread = spread_of_sums(&figure->sums);
        text_add(&flow, "%.*s", (int)(length - around), name + sizeof before - 1);
        print_out("  %-16s ", text_string(&flow));
        figures_print_goodput(spread.mean, judged->identical ? NAN : spread.ci95);
        print_latency(judged, text_string(&flow), "p50", "   latency ");
        print_latency(judged, text_string(&flow), "p99", ", ");
        print_out("\n");
        text_free(&flow);
    }
    if (left)
        print_out("  ... and %zu more\n", left);
}

void summary_print_repeated(const struct repeated_cell *judged, bool brief)
{
    struct text label = {0};
    const struct spread *goodput = &judged->goodput_bps;
    if (brief && judged->verdict <= VERDICT_PASSED)
        return;
    choices_add(judged->cell->choice, &label);
    print_out("%s%s%s", judged->cell->scenario.name, label.length ? ", " : "", text_string(&label));
    if (goodput->count > 1) {
        const struct spread *delivered = &judged->delivered_bps;
        print_out(", %zu runs%s: goodput ", goodput->count, judged->identical ? " that are identical" : "");
        figures_print_goodput(goodput->mean, judged->identical ? NAN : goodput->ci95);
        if (delivered->count == goodput->count) {
            print_out(", delivered ");
            figures_print_goodput(delivered->mean, judged->identical ? NAN : delivered->ci95);
        }
    }
    print_out("\n");
    if (!brief && goodput->count > 1)
        print_repeated_flows(judged);
    print_expectations(judged->expectations, brief, true);
    if (!brief)
        print_published(judged->published, true);
    text_free(&label);
}

void summary_print_sweep_warnings(const json_t *warnings, bool log)
{
    size_t i;
    json_t *warning;
    json_array_foreach(warnings, i, warning)
    {
        if (log)
            log_warning("%s", json_string_value(warning));
        else
            print_out_line("warning: %s", json_string_value(warning));
    }
}
