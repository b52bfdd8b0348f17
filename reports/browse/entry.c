/* What is known of a run, and whether it is wanted. */
#include "reports/browse/browse.h"

#include "lib/document/json_text.h"
#include "lib/document/paths.h"
#include "lib/files.h"
#include "lib/formats/origin.h"
#include "lib/folder/stamp.h"
#include "lib/formats/verdicts.h"
#include "lib/roce/counters.h"
#include "reports/results/differences.h"
#include "reports/results/run.h"
#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NOLINTNEXTLINE(misc-no-recursion): cells have no cells */
void browse_free_run(struct browse_run *run)
{
    char *const texts[] = {run->folder,   run->sweep, run->verdict, run->reason, run->started,
                           run->scenario, run->lab,   run->origin,  run->varied};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    for (size_t i = 0; i < run->cell_count; i++)
        browse_free_run(&run->cells[i]);
    free(run->cells);
    json_decref(run->cell);
    *run = (struct browse_run){0};
}

char *browse_shown_time(const struct browse_run *run, size_t characters)
{
    char *time = strdup(run->started);
    size_t length = time ? strlen(time) : 0;
    if (length == 20 && time[10] == 'T' && time[19] == 'Z') {
        time[10] = ' ';
        time[characters < 19 ? characters : 19] = '\0';
    }
    return time;
}

/* What is read of a result. */
static const char *const parts[] = {"schema",
                                    "program",
                                    "seed",
                                    "files",
                                    "complete",
                                    "stopped_early",
                                    "phases",
                                    "scenario",
                                    "lab.name",
                                    "verdict",
                                    "reason",
                                    "started",
                                    "origin",
                                    "simulated",
                                    "cell",
                                    "repeat",
                                    "expectations",
                                    "verify",
                                    "hosts.*.origin",
                                    "hosts.*.counters.rx_prio#_pause.delta",
                                    "hosts.*.counters.rp_cnp_handled.delta",
                                    "totals.counters.rx_prio#_pause.delta",
                                    "totals.counters.rp_cnp_handled.delta",
                                    "flows.*.goodput_bps",
                                    "flows.*.bytes",
                                    "flows.*.duration_ns",
                                    "flows.*.phase",
                                    "flows.*.delivered_bps",
                                    "flows.*.latency_ns.p99",
                                    "flows.*.latency_ns.count",
                                    NULL};

/* ---- figures */

/* The increase of a counter at all hosts together; NAN: none has it. */
static double increase(const struct run *run, const char *pattern)
{
    double sum = NAN;
    const char *role, *name;
    json_t *host, *counter;
    const json_t *totals = run_totals(run);
    json_object_foreach((json_t *)(uintptr_t)totals, name, counter)
    {
        if (counters_pattern_matches(pattern, name) && json_object_get(counter, "delta"))
            sum = (isnan(sum) ? 0 : sum) + json_number_value(json_object_get(counter, "delta"));
    }
    if (json_is_object(totals))
        return sum;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "hosts"), role, host)
    {
        json_object_foreach(json_object_get(host, "counters"), name, counter)
        {
            if (counters_pattern_matches(pattern, name) && json_object_get(counter, "delta"))
                sum = (isnan(sum) ? 0 : sum) + json_number_value(json_object_get(counter, "delta"));
        }
    }
    return sum;
}

/* Expectations, or what checkers say of its captured packets. */
static void count_verdicts(const json_t *judged, const struct run *from, struct browse_run *run)
{
    size_t i;
    const json_t *one;
    json_array_foreach(judged, i, one)
    {
        const json_t *later = run_judged_later(from, "expectations", one);
        const char *verdict = run_member(later ? later : one, "verdict");
        run->passed += strcmp(verdict, "passed") == 0;
        run->failed += strcmp(verdict, "failed") == 0;
        run->skipped += strcmp(verdict, "skipped") == 0;
    }
}

static void take_figures(const struct run *from, struct browse_run *run)
{
    run->goodput_bps = run_sum_flows(from, "goodput_bps");
    run->delivered_bps = run_sum_flows(from, "delivered_bps");
    run->pauses = increase(from, "rx_prio#_pause");
    run->cnps = increase(from, "rp_cnp_handled");
    run->latency_p99_us = run_latency_us(from, "p99", NULL);
    count_verdicts(run_get(from, "expectations"), from, run);
    count_verdicts(run_get(from, "verify"), from, run);
}

/* ---- the filter */

static bool ends_in(const char *path, const char *setting, size_t length)
{
    size_t whole = strlen(path);
    return whole >= length && strncmp(path + whole - length, setting, length) == 0 &&
           (whole == length || path[whole - length - 1] == '.');
}

/* A value of JSON (1e-3, [3]), a word or quantity as it is, or the value as lists show it (none, 3 and 4). */
static bool has_value(const json_t *value, const char *wanted)
{
    char *shown = value ? json_bare(value) : NULL;
    json_t *mine = shown ? json_text(shown) : NULL, *word = json_text(wanted),
           *other = json_loads(wanted, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    struct text listed = {0};
    bool same = mine && (json_same(mine, word) || (other && json_same(value, other)));
    if (json_is_array(value) || json_is_object(value))
        choice_describe(value, &listed);
    same = same || (listed.length && strcmp(text_string(&listed), wanted) == 0);
    text_free(&listed);
    json_decref(mine);
    json_decref(word);
    json_decref(other);
    free(shown);
    return same;
}

/* Has each value of the list the wanted one? Not if there is none. */
static bool all_have_value(const json_t *values, const char *wanted)
{
    size_t i;
    const json_t *value;
    json_array_foreach(values, i, value)
    {
        if (!has_value(value, wanted))
            return false;
    }
    return i > 0;
}

/* A choice of the run's cell by its path or the end of it, which several may have; else values of the
 * scenario, or the lab, by their path. *known: there is one. */
static bool has_setting(const struct run *run, const char *setting, bool *known)
{
    const char *equals = strchr(setting, '='), *path;
    size_t length = equals ? (size_t)(equals - setting) : 0;
    char whole[512];
    json_t *value;
    bool chosen = false;
    if (!equals)
        return false;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "cell"), path, value)
    {
        if (!ends_in(path, setting, length))
            continue;
        *known = true;
        if (has_value(value, equals + 1))
            return true;
        chosen = true;
    }
    if (chosen)
        return false;
    snprintf(whole, sizeof whole, "%.*s", (int)(length < 400 ? length : 400), setting);
    bool of_lab = strncmp(whole, "lab.", 4) == 0;
    json_t *values = paths_values(run_get(run, of_lab ? "lab" : "scenario"), whole + (of_lab ? 4 : 0));
    bool all = all_have_value(values, equals + 1);
    *known = *known || json_array_size(values);
    json_decref(values);
    return all;
}

static bool matches(const char *glob, const char *word)
{
    return !glob || fnmatch(glob, word, 0) == 0;
}

bool browse_fits(const struct browse_filter *filter, const char *scenario, const char *lab,
                 const char *started)
{
    return matches(filter->scenario, scenario) && matches(filter->lab, lab) &&
           (!filter->since || strcmp(started, filter->since) >= 0);
}

/* `from` is NULL for what has no result: its settings are unknown. */
static bool is_wanted(const struct browse_filter *filter, const struct browse_run *run,
                      const struct run *from)
{
    if (!browse_fits(filter, run->scenario, run->lab, run->started))
        return false;
    bool all = true, known;
    for (size_t i = 0; i < filter->setting_count; i++)
        all =
            from && has_setting(from, filter->settings[i], filter->known ? &filter->known[i] : &known) && all;
    return all;
}

/* ---- a run */

/* The folder's name tells when a run began whose result does not: 20260301T120000Z. */
static void time_of_name(const char *path, char out[32])
{
    out[0] = '\0';
    for (const char *at = path; *at; at += strcspn(at, "/"), at += *at == '/')
        if (stamp_begins(at))
            snprintf(out, 32, "%.4s-%.2s-%.2sT%.2s:%.2s:%.2sZ", at, at + 4, at + 6, at + 9, at + 11, at + 13);
}

/* The scenario's folder is above that of the time. */
static char *scenario_of_name(const char *folder)
{
    const char *slash = strchr(folder, '/');
    return slash ? strndup(folder, (size_t)(slash - folder)) : strdup("");
}

static void describe_result(const struct run *from, const char *path, struct browse_run *run)
{
    enum verdict known = verdict_of(run_text(from, "verdict"));
    const char *verdict = known == VERDICT_NONE ? "broken" : verdict_names[run_verdict(from)];
    char *page = files_join(path, "report/index.html");
    const char *wrong = json_string_value(json_array_get(from->wrong, 0));
    run->verdict = strdup(verdict);
    run->reason = strcmp(verdict, "broken") == 0 ? strdup("its verdict is none that a result can have")
                  : run_verdict(from) == known && wrong && !from->damage ? strdup(wrong)
                                                                         : run_reason(from);
    run->started = strdup(run_text(from, "started"));
    run->scenario = strdup(run_text(from, "scenario.name"));
    run->lab = strdup(run_text(from, "lab.name"));
    run->origin = strdup(origin_names[origin_of_result(from->result)]);
    run->varied = strdup(from->label);
    run->cell = json_is_object(run_get(from, "cell")) ? json_deep_copy(run_get(from, "cell")) : NULL;
    run->has_page = page && files_exist(page);
    free(page);
    take_figures(from, run);
}

static void describe_other(const char *path, const char *verdict, const char *reason, struct browse_run *run)
{
    char time[32];
    time_of_name(path, time);
    run->verdict = strdup(verdict);
    run->reason = strdup(reason);
    run->started = strdup(time);
    run->scenario = scenario_of_name(run->folder ? run->folder : "");
    run->lab = strdup("");
    run->origin = strdup("");
    run->varied = strdup("");
}

static bool is_whole(const struct browse_run *run)
{
    return run->folder && run->verdict && run->reason && run->started && run->scenario && run->lab &&
           run->origin && run->varied;
}

int browse_read(const char *path, const char *folder, bool finished, const char *unread, const json_t *judged,
                const struct browse_filter *filter, struct browse_run *run, struct error *e)
{
    struct run from = {0};
    struct error why;
    *run = (struct browse_run){.folder = strdup(folder),
                               .goodput_bps = NAN,
                               .delivered_bps = NAN,
                               .pauses = NAN,
                               .cnps = NAN,
                               .latency_p99_us = NAN};
    const char *wanted[sizeof parts / sizeof *parts + 1] = {NULL};
    memcpy(wanted, parts, sizeof parts);
    for (size_t i = 0; i < filter->setting_count; i++)
        if (strncmp(filter->settings[i], "lab.", 4) == 0) /* large, so read only where a filter names it */
            wanted[sizeof parts / sizeof *parts - 1] = "lab";
    bool read = finished && !unread && run_load_parts(&from, path, NULL, wanted, &why) == 0;
    if (read) {
        const char *slash = strrchr(path, '/');
        if (strcmp(folder, ".") == 0)
            run_look_for_sweep(&from);
        else
            run_note_judged(&from, path, judged, slash ? slash + 1 : path);
        describe_result(&from, path, run);
    } else if (finished || unread)
        describe_other(path, "broken", unread ? unread : why.text, run);
    else
        describe_other(path, "unfinished", "there is no result.json: it is running, or it was killed", run);
    int result = is_whole(run) ? 1 : error_set(e, "out of memory for %s", path);
    if (result == 1 && !is_wanted(filter, run, read ? &from : NULL))
        result = 0;
    run_free(&from);
    if (result != 1)
        browse_free_run(run);
    return result;
}
