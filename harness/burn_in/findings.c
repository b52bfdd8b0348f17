#include "harness/burn_in/findings.h"

#include "harness/burn_in/blame.h"
#include "lib/document/json_text.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OF_BASELINE 0.95
static const char *const figure_names[2][2] = {{"host_tx_bps", "host_rx_bps"}, {"gpu_tx_bps", "gpu_rx_bps"}};

/* ---- reading what was seen */

static void take_nodes(struct work *w)
{
    const json_t *nodes = json_object_get(w->seen, "nodes"), *node;
    const char *name;
    w->nodes = xcalloc(json_object_size(nodes) + 1, sizeof *w->nodes);
    json_object_foreach((json_t *)(uintptr_t)nodes, name, node)
    {
        const char *machine = seen_text(node, "machine"), *peer = NULL;
        const json_t *link = seen_link_of_port(w, name, 0, &peer);
        bool is_virtual = strcmp(seen_text(node, "origin"), "virtual") == 0;
        w->nodes[w->count] = (struct node){.name = name,
                                           .machine = *machine ? machine : name,
                                           .nic = seen_text(node, "nic"),
                                           .class = seen_text(node, "class"),
                                           .relation = json_string_value(json_object_get(node, "relation")),
                                           .peer = peer,
                                           .relations = json_object_get(node, "relations"),
                                           .stated_bps = is_virtual ? NAN : seen_number(link, "bps"),
                                           .is_virtual = is_virtual};
        for (size_t i = 0; i < MEMORIES; i++)
            w->nodes[w->count].best[i][TX] = w->nodes[w->count].best[i][RX] = NAN;
        json_object_set_new(w->index, name, json_integer((json_int_t)w->count++));
    }
}

/* NAME: {NAME: the best rate between them} */
static void take_pair(struct work *w, const char *from, const char *to, double bps)
{
    json_t *of = json_object_get(w->pairs, from);
    if (!of)
        json_put(w->pairs, from, of = json_object());
    double so_far = seen_number(of, to);
    if (!isnan(bps) && !(so_far >= bps))
        json_put(of, to, json_real(bps));
}

/* What each NIC sent and took in a run at full rate, by way: a host with a single NIC may have a flow with
 * each rail of the others. */
static void take_full_flow(struct work *w, const json_t *run, const json_t *flow, double (*sums)[2])
{
    struct node *from = seen_node(w, seen_text(flow, "from")), *to = seen_node(w, seen_text(flow, "to"));
    enum memory memory = seen_memory(flow);
    double bps = seen_number(flow, "bps");
    if (!from || !to)
        return;
    seen_add(&sums[from - w->nodes][TX], bps);
    seen_add(&sums[to - w->nodes][RX], bps);
    seen_most(&from->best[memory][TX], sums[from - w->nodes][TX]);
    seen_most(&to->best[memory][RX], sums[to - w->nodes][RX]);
    if (memory == HOST)
        take_pair(w, from->name, to->name, bps);
    to->paused_link[memory] |= seen_counted(run, to->name, "tx_prio?_pause") > 0;
    double discarded = seen_counted(run, to->name, "rx_discards_phy");
    to->discarded[memory] += discarded > 0 ? discarded : 0;
}

static void take_runs(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *flow;
    double(*sums)[2] = xcalloc(w->count + 1, sizeof *sums);
    size_t i, k;
    w->crowds = xcalloc(json_array_size(runs) + 1, sizeof *w->crowds);
    json_array_foreach(runs, i, run)
    {
        bool full = seen_at_full_rate(run);
        w->crowds[i] = full ? seen_crowd(w, run) : CROWD_NONE;
        for (k = 0; k < w->count; k++)
            sums[k][TX] = sums[k][RX] = NAN;
        json_array_foreach(full ? json_object_get(run, "flows") : NULL, k, flow)
        {
            take_full_flow(w, run, flow, sums);
        }
    }
    free(sums);
}

/* ---- versions, and what hosts say of themselves */

/* The value that most machines have; NULL: there is no majority. */
static const char *majority(const json_t *facts, const char *key, size_t *with)
{
    const char *machine, *best = NULL;
    json_t *of, *counts = json_object(), *n;
    size_t all = 0;
    json_object_foreach((json_t *)(uintptr_t)facts, machine, of)
    {
        const char *value = seen_text(of, key);
        if (!*value)
            continue;
        all++;
        json_int_t so_far = json_integer_value(json_object_get(counts, value));
        json_put(counts, value, json_integer(so_far + 1));
    }
    const char *value;
    json_object_foreach(counts, value, n)
    {
        if (2 * (size_t)json_integer_value(n) > all && all > 2)
            best = value, *with = (size_t)json_integer_value(n);
    }
    json_object_foreach((json_t *)(uintptr_t)facts, machine, of)
    {
        if (best && strcmp(seen_text(of, key), best) == 0) { /* a string that lives on */
            best = seen_text(of, key);
            break;
        }
    }
    json_decref(counts);
    return best;
}

/* Where no value is that of most, which of them is right is not known. */
static void note_differing(struct work *w, const json_t *facts, const char *key, json_t *noted)
{
    const char *machine, *first = NULL, *first_of = NULL;
    json_t *of;
    json_object_foreach((json_t *)(uintptr_t)facts, machine, of)
    {
        const char *value = seen_text(of, key);
        if (!*value || json_object_get(noted, key))
            continue;
        if (first && strcmp(first, value) != 0) {
            blame_unknown(w, "hosts differ in %s: %s has %s, %s has %s; which is right is not known", key,
                          first_of, first, machine, value);
            json_object_set_new(noted, key, json_true());
        }
        if (!first)
            first = value, first_of = machine;
    }
}

static void judge_drift(struct work *w)
{
    json_t *noted = json_object();
    const json_t *facts = json_object_get(w->seen, "facts"),
                 *before = json_object_get(json_object_get(w->seen, "baseline"), "facts"), *of, *value;
    const char *machine, *key;
    json_object_foreach((json_t *)(uintptr_t)facts, machine, of)
    {
        json_object_foreach((json_t *)(uintptr_t)of, key, value)
        {
            size_t with = 0;
            const char *most = majority(facts, key, &with), *is = json_string_value(value);
            if (!most)
                note_differing(w, facts, key, noted);
            if (!most || !is || strcmp(most, is) == 0)
                continue;
            json_t *finding = blame(w, "drift", machine, true, "doctor", "%s has %s %s, %zu others have %s",
                                    machine, key, is, with, most);
            json_object_set_new(finding, "host", json_text(machine));
            json_object_set_new(finding, "source", json_text("what most hosts have"));
        }
        json_object_foreach(json_object_get(before, machine), key, value)
        {
            const char *was = json_string_value(value), *is = seen_text(of, key);
            if (was && *is && strcmp(was, is) != 0)
                blame_note(w, "%s had %s %s in the baseline, and has %s", machine, key, was, is);
        }
    }
    json_decref(noted);
}

static void judge_doctor(struct work *w)
{
    const json_t *doctor = json_object_get(w->seen, "doctor"), *entry;
    size_t i;
    json_array_foreach(doctor, i, entry)
    {
        if (strcmp(seen_text(entry, "verdict"), "failure") != 0)
            continue;
        json_t *finding = blame(w, "doctor", seen_text(entry, "host"), true, "doctor", "%s: %s",
                                seen_text(entry, "check"), seen_text(entry, "reason"));
        json_object_set_new(finding, "host", json_text(seen_text(entry, "host")));
        json_object_set_new(finding, "source", json_text("harness doctor"));
    }
}

/* ---- the whole */

/* That of the nearest GPU is the best of those by number, where these were measured. */
static double best_of(const struct node *n, enum memory memory, enum way way)
{
    double best = n->best[memory][way];
    for (size_t i = GPU_0; memory == GPU && i < MEMORIES; i++)
        seen_most(&best, n->best[i][way]);
    return best;
}

static json_t *figures_of(const struct work *w)
{
    json_t *figures = json_object();
    for (size_t i = 0; i < w->count; i++) {
        json_t *of = json_object();
        for (int k = 0; k < 4; k++) {
            double best = best_of(&w->nodes[i], (enum memory)(k / 2), (enum way)(k % 2));
            if (!isnan(best))
                json_object_set_new(of, figure_names[k / 2][k % 2], json_real(best));
        }
        if (json_object_size(of))
            json_object_set(figures, w->nodes[i].name, of);
        json_decref(of);
    }
    return figures;
}

/* Of each pair of a NIC and a GPU by its number. */
static json_t *gpus_of(const struct work *w)
{
    json_t *all = json_object();
    for (size_t i = 0; i < w->count; i++) {
        const struct node *n = &w->nodes[i];
        json_t *of = json_object();
        for (size_t k = GPU_0; k < MEMORIES; k++) {
            char number[24];
            snprintf(number, sizeof number, "%zu", k - GPU_0);
            const json_t *relation = json_object_get(n->relations, number);
            if (!isnan(n->best[k][TX]) && !isnan(n->best[k][RX]))
                json_object_set_new(of, number,
                                    json_make("{s:f,s:f,s:O*}", "tx_bps", n->best[k][TX], "rx_bps",
                                              n->best[k][RX], "relation", relation));
        }
        if (json_object_size(of))
            json_object_set(all, n->name, of);
        json_decref(of);
    }
    return all;
}

/* NICs of one burn-in without a figure of the other, which is judged by nothing then. */
static void judge_partners(struct work *w, const json_t *before)
{
    struct text new = {0}, gone = {0};
    size_t news = 0, gones = 0;
    const char *name;
    json_t *figures;
    for (size_t i = 0; i < w->count; i++) {
        const struct node *n = &w->nodes[i];
        bool has = true;
        for (int k = 0; k < 4; k++)
            has = has && (isnan(best_of(n, (enum memory)(k / 2), (enum way)(k % 2))) ||
                          !isnan(seen_number(json_object_get(before, n->name), figure_names[k / 2][k % 2])));
        if (!has)
            blame_add_name(&new, &news, n->name);
    }
    json_object_foreach((json_t *)(uintptr_t)before, name, figures)
    {
        const struct node *n = seen_node(w, name);
        bool has = true;
        for (int k = 0; k < 4; k++)
            has = has && (isnan(seen_number(figures, figure_names[k / 2][k % 2])) ||
                          (n && !isnan(best_of(n, (enum memory)(k / 2), (enum way)(k % 2)))));
        if (!has)
            blame_add_name(&gone, &gones, name);
    }
    if (news)
        blame_unknown(w, "%zu %s without the same figures in the baseline: %s", news,
                      news == 1 ? "NIC is" : "NICs are", text_string(&new));
    if (gones)
        blame_unknown(w, "the baseline has figures of %zu %s none here: %s", gones,
                      gones == 1 ? "NIC that has" : "NICs that have", text_string(&gone));
    text_free(&new);
    text_free(&gone);
}

static void judge_baseline(struct work *w)
{
    const json_t *before = json_object_get(json_object_get(w->seen, "baseline"), "figures");
    if (before)
        judge_partners(w, before);
    for (size_t i = 0; before && i < w->count; i++) {
        struct node *n = &w->nodes[i];
        for (int k = 0; k < 4 && !n->accused; k++) {
            const char *name = figure_names[k / 2][k % 2];
            double was = seen_number(json_object_get(before, n->name), name),
                   is = best_of(n, (enum memory)(k / 2), (enum way)(k % 2));
            if (isnan(was) || isnan(is) || is >= OF_BASELINE * was)
                continue;
            json_t *finding =
                blame(w, "slower", n->name, true, k / 2 == GPU ? "gpus" : "pairs",
                      "%s %s %.4g Gb/s with %s memory, and %.4g in the baseline", n->name,
                      k % 2 == TX ? "sends" : "receives", GBPS(is), k / 2 == GPU ? "GPU" : "host", GBPS(was));
            blame_figure(finding, is, OF_BASELINE * was, "b/s", "95 % of the baseline");
            blame_node(finding, n);
        }
    }
}

/* The largest bus bandwidth of each collective, beside the baseline's. */
static json_t *judge_collectives(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run,
                 *before = json_object_get(json_object_get(w->seen, "baseline"), "collectives");
    json_t *all = json_object(), *value;
    const char *name;
    size_t i;
    json_array_foreach(runs, i, run)
    {
        json_object_foreach(json_object_get(run, "collectives"), name, value)
        {
            json_object_set(all, name, value);
        }
    }
    json_object_foreach(all, name, value)
    {
        double is = json_number_value(value), was = seen_number(before, name);
        if (isnan(was) || is >= OF_BASELINE * was)
            continue;
        json_t *finding = blame(w, "slower", name, true, "nccl",
                                "%s: %.4g GB/s of bus bandwidth, and %.4g in the baseline", name, is, was);
        blame_figure(finding, is * 8e9, OF_BASELINE * was * 8e9, "b/s", "95 % of the baseline");
    }
    return all;
}

/* Stages of which a run measured for too short a time. */
static void note_short_runs(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run;
    const json_t *failed = json_object_get(w->seen, "failed");
    const char *noted = "";
    size_t i;
    json_array_foreach(runs, i, run)
    {
        bool judged = seen_is_stage(run, "pairs") || seen_is_stage(run, "gpus") ||
                      seen_is_stage(run, "lossless") || json_object_get(failed, seen_text(run, "stage"));
        if (!judged || seen_is_long(run) || seen_is_stage(run, noted))
            continue;
        noted = seen_text(run, "stage");
        blame_unknown(
            w,
            "stage %s measured for %.4g us, which is too short for rates, pauses and marks: %.0f us "
            "(phases.measure) are the least",
            noted, seen_number(run, "duration_ns") / 1e3, LONG_ENOUGH_NS / 1e3);
    }
}

static void note_untested(struct work *w)
{
    const json_t *sentence;
    size_t i;
    json_array_foreach(json_object_get(w->seen, "untested"), i, sentence)
    {
        blame_unknown(w, "%s", json_string_value(sentence));
    }
}

static bool was_short(const struct work *w, const char *stage)
{
    const json_t *run;
    size_t i;
    json_array_foreach(json_object_get(w->seen, "runs"), i, run)
    {
        if (seen_is_stage(run, stage) && !seen_is_long(run))
            return true;
    }
    return false;
}

/* Stages that failed where no part is named: what failed is said itself. In those that were too short what
 * moves or waits tells nothing, and losses are named. */
static void judge_failed(struct work *w)
{
    const char *stage;
    json_t *of;
    if (json_array_size(w->findings))
        return;
    json_object_foreach(json_object_get(w->seen, "failed"), stage, of)
    {
        char *culprit = xasprintf("stage %s", stage);
        if (!was_short(w, stage))
            blame_add(blame(w, "stage", culprit, true, stage, "%s", seen_text(of, "says")),
                      "harness explain tells more of %s", seen_text(of, "folder"));
        free(culprit);
    }
}

/* Whose notification point was not looked at, as nobody sent it an incast with DCQCN. */
static void note_receivers(struct work *w)
{
    const json_t *run, *flow;
    json_t *receivers = json_object();
    struct text names = {0};
    size_t i, k, others = 0;
    json_array_foreach(json_object_get(w->seen, "runs"), i, run)
    {
        if (!seen_is_stage(run, "lossless") || !json_is_true(json_object_get(run, "ecn")))
            continue;
        json_array_foreach(json_object_get(run, "flows"), k, flow)
        {
            json_object_set_new(receivers, seen_text(flow, "to"), json_true());
        }
    }
    for (i = 0; json_object_size(receivers) && i < w->count; i++)
        if (!json_object_get(receivers, w->nodes[i].name))
            blame_add_name(&names, &others, w->nodes[i].name);
    if (others)
        blame_note(w, "%zu %s the receiver of no incast, so that %s to marks was not looked at: %s", others,
                   others == 1 ? "NIC was" : "NICs were", others == 1 ? "its answer" : "what they answer",
                   text_string(&names));
    text_free(&names);
    json_decref(receivers);
}

json_t *burn_in_findings(const json_t *seen)
{
    struct work w = {.seen = seen,
                     .index = json_object(),
                     .findings = json_array(),
                     .unknown = json_array(),
                     .notes = json_array(),
                     .pairs = json_object()};
    take_nodes(&w);
    take_runs(&w);
    note_short_runs(&w);
    note_untested(&w);
    judge_doctor(&w);
    judge_deadlocks(&w);
    judge_links(&w);
    judge_rates(&w);
    judge_lines(&w);
    judge_pfc(&w);
    note_receivers(&w);
    judge_baseline(&w);
    judge_drift(&w);
    judge_gpu_copies(&w);
    judge_hardware(&w);
    json_t *collectives = judge_collectives(&w);
    judge_failed(&w);
    json_t *all = json_make("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "findings", w.findings, "figures",
                            figures_of(&w), "unknown", w.unknown, "notes", w.notes, "pairs", w.pairs, "gpus",
                            gpus_of(&w), "collectives", collectives);
    json_decref(w.index);
    free(w.nodes);
    free(w.crowds);
    return all;
}
