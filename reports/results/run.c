#include "reports/results/run.h"

#include "lib/folder/sweep_index.h"
#include "lib/files.h"
#include "lib/document/json_text.h"
#include "lib/folder/result_files.h"
#include "lib/document/json_file.h"
#include "lib/formats/lines.h"
#include "lib/formats/origin.h"
#include "lib/formats/result_flows.h"
#include "lib/formats/result_shape.h"
#include "lib/log.h"
#include "lib/roce/traffic_pattern.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include "reports/results/differences.h"
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- result.json */

const json_t *run_get(const struct run *run, const char *path)
{
    const json_t *at = run->result;
    while (at && *path) {
        size_t length = strcspn(path, ".");
        at = json_object_getn(at, path, length);
        path += length + (path[length] == '.');
    }
    return at;
}

const char *run_text(const struct run *run, const char *path)
{
    const char *text = json_string_value(run_get(run, path));
    return text ? text : "";
}

double run_sum_flows(const struct run *run, const char *value)
{
    const char *name;
    json_t *flow, *flows = (json_t *)(uintptr_t)run_get(run, "flows");
    bool any = false;
    json_object_foreach(flows, name, flow)
    {
        any = any || result_flow_in_phase(flow, value);
    }
    return any ? result_flows_sum(flows, value) : NAN;
}

bool runs_have_delivered(const struct runs *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        if (isfinite(run_sum_flows(&runs->items[i], "delivered_bps")))
            return true;
    return false;
}

double run_max_busbw_GBps(const struct run *run)
{
    const char *name;
    json_t *collective;
    double most = NAN;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "collectives"), name, collective)
    {
        const json_t *value = json_object_get(collective, "max_busbw_GBps");
        if (json_is_number(value))
            most = fmax(most, json_number_value(value));
    }
    return most;
}

bool runs_have(const struct runs *runs, const char *key)
{
    for (size_t i = 0; i < runs->count; i++)
        if (json_object_size(run_get(&runs->items[i], key)))
            return true;
    return false;
}

double run_latency_us(const struct run *run, const char *quantile, bool *few)
{
    double most = NAN;
    bool any_few = false;
    const char *name;
    json_t *flow;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "flows"), name, flow)
    {
        const json_t *latency = json_object_get(flow, "latency_ns");
        bool is_few = false;
        if (json_object_get(latency, quantile))
            most = fmax(most, result_distribution_value(latency, quantile, &is_few) / 1e3);
        any_few |= is_few;
    }
    if (few)
        *few = any_few && isnan(most);
    return most;
}

size_t run_latency_flows(const struct run *run)
{
    const char *name;
    json_t *flow, *flows = (json_t *)(uintptr_t)run_get(run, "flows");
    size_t count = 0;
    json_object_foreach(flows, name, flow)
    {
        count += json_object_get(flow, "latency_ns") && !result_flow_is_part(flows, name);
    }
    return count;
}

bool run_lists(const json_t *host)
{
    return !json_is_false(json_object_get(host, "listed"));
}

const json_t *run_totals(const struct run *run)
{
    return run_get(run, "totals.counters");
}

const char *run_member(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

bool run_expects_of_others(const json_t *entry)
{
    static const char words[] = "only when ";
    return strcmp(run_member(entry, "verdict"), "skipped") == 0 &&
           strncmp(run_member(entry, "reason"), words, sizeof words - 1) == 0;
}

const char *run_label(const struct run *run)
{
    return *run->label ? run->label : "this run";
}

const char *run_origin(const struct run *run)
{
    return origin_word(origin_of_result(run->result));
}

/* "memory gpu, message 64KiB": the cell's choices by the last part of their paths. */
static void describe_cell(const struct run *run, struct text *out)
{
    choices_add(run_get(run, "cell"), out);
    json_int_t repeat = json_integer_value(run_get(run, "repeat"));
    if (repeat > 1)
        text_add(out, "%srun %lld", out->length ? ", " : "", (long long)repeat);
}

/* Does a flow use memory that stands for a GPU's? */
static bool in_virtual_gpu(const struct run *run)
{
    const char *name;
    json_t *flow;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "flows"), name, flow)
    {
        if (strcmp(run_member(json_object_get(flow, "memory_used"), "route"), "virtual-dmabuf") == 0)
            return true;
    }
    return false;
}

void run_count_origin(const struct run *run, struct origins *origins)
{
    const json_t *scaled = run_get(run, "scaled");
    double line = json_number_value(json_object_get(scaled, "line_bps"));
    double nominal = json_number_value(json_object_get(scaled, "nominal_bps"));
    origins->runs++;
    origins->with[origin_of_result(run->result)]++;
    origins->virtual_gpu |= in_virtual_gpu(run);
    if (origins->nominal_bps > 0 || !(line > 0) || !(nominal > 0))
        return;
    origins->line_bps = line;
    origins->nominal_bps = nominal;
}

void run_take_sources(const struct run *run, json_t *all)
{
    const char *path;
    json_t *source;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "sources"), path, source)
    {
        if (!json_is_string(source))
            continue;
        if (!json_object_get(all, path))
            json_object_set_new(all, path, json_object());
        json_object_set_new(json_object_get(all, path), json_string_value(source), json_true());
    }
}

/* Times that a line could have: their differences fit into 64 bits. */
static void find_measure_phase(struct run *run)
{
    size_t i;
    json_t *phase;
    json_array_foreach(run_get(run, "phases"), i, phase)
    {
        const json_t *start = json_object_get(phase, "start_ns"), *end = json_object_get(phase, "end_ns");
        int64_t start_ns = json_integer_value(start), end_ns = json_integer_value(end);
        if (start && end && strcmp(run_member(phase, "name"), "measure") == 0 &&
            lines_fits(start_ns, -LINES_MOST) && lines_fits(end_ns, -LINES_MOST)) {
            run->start_ns = start_ns;
            run->end_ns = end_ns;
        }
    }
}

int run_open_folder(const struct run *run, struct folder *folder, struct error *e)
{
    struct folder result;
    if (!run->cell)
        return folder_open(folder, run->result_folder, e);
    *folder = (struct folder){.fd = -1};
    int opened = folder_open(&result, run->result_folder, e);
    if (opened == 0)
        opened = folder_open_in(folder, &result, run->cell, false, e);
    folder_close(&result);
    return opened;
}

void run_note_damage(struct run *run, const char *sentence)
{
    size_t above = strlen(run->folder);
    if (run->damage)
        return;
    if (strncmp(sentence, run->folder, above) == 0 && sentence[above] == '/') /* it is said in front of it */
        sentence += above + 1;
    const char *reason = run_text(run, "reason");
    run->damage = strdup(sentence);
    json_object_set_new(run->result, "reason",
                        *reason ? json_textf("%s; %s", reason, sentence) : json_text(sentence));
    json_object_set_new(run->result, "complete", json_false());
    json_object_set_new(run->result, "verdict", json_text("incomplete"));
}

json_t *run_load_settings(struct run *run)
{
    static const char name[] = "settings.json";
    struct folder folder;
    struct error e;
    json_t *settings = NULL, *sentence;
    size_t i;
    if (run_open_folder(run, &folder, &e) == 0 && folder_has(&folder, name) &&
        !(settings = json_file_load_in(&folder, name, DOCUMENT_RESULT, &e)))
        run_note_damage(run, e.text);
    folder_close(&folder);
    json_t *wrong = settings ? result_take_out_wrong(SETTINGS_DOCUMENT, settings) : NULL;
    json_array_foreach(wrong, i, sentence)
    {
        log_warning("%s/%s", run->folder, json_string_value(sentence));
    }
    json_decref(wrong);
    return settings;
}

static int check_result(const struct run *run, struct error *e)
{
    if (!json_is_object(run->result) || !json_is_object(run_get(run, "scenario")))
        return error_set(e, "%s/result.json is not the result of a run: it has no scenario", run->folder);
    if (!json_is_integer(run_get(run, "schema")))
        return error_set(e, "%s/result.json has no number as its schema: expected 1", run->folder);
    if (json_integer_value(run_get(run, "schema")) != 1)
        return error_set(e, "%s/result.json has a schema other than 1: a newer harness wrote it",
                         run->folder);
    return 0;
}

/* What has results of its own in it: its document, what it is, and where its results are. */
static bool say_whole(const struct folder *folder, struct error *e)
{
    static const struct {
        const char *document, *is, *results;
    } wholes[] = {{"burn-in.json", "burn-in", "one of its stages, such as 5-pairs/TIME in it"},
                  {SEARCH_DOCUMENT, "search", "one of its rounds, such as known-1/TIME in it"}};
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        if (folder_has(folder, wholes[i].document)) {
            error_set(
                e, "it is a %s, which says what it found in its index.html and %s: expected a result of %s",
                wholes[i].is, wholes[i].document, wholes[i].results);
            return true;
        }
    return false;
}

static json_t *load_result(const struct folder *folder, const char *const *paths, struct error *e)
{
    static const char name[] = "result.json";
    if (!folder_has(folder, name)) {
        static const char *const either[] = {name, SWEEP_INDEX, NULL};
        char *meant = result_files_meant(folder->path, either);
        if (say_whole(folder, e)) {
            free(meant);
            return NULL;
        }
        error_set(e, "it has no %s: expected the folder of a run or sweep, %s%s", name,
                  meant ? "perhaps " : "which `harness browse` lists", meant ? meant : "");
        free(meant);
        return NULL;
    }
    return paths ? json_file_load_parts_in(folder, name, DOCUMENT_RESULT, paths, e)
                 : json_file_load_in(folder, name, DOCUMENT_RESULT, e);
}

/* Its figures are of measurements that are not there any more: that is not a whole result. */
static void check_files(struct run *run, const struct folder *folder)
{
    struct error e;
    if (result_files_check(folder, run->result, &e) != 0)
        run_note_damage(run, e.text);
}

/* What the tables then lack is among the run's warnings. */
static void take_out_wrong(struct run *run)
{
    run->wrong = result_take_out_wrong(RESULT_DOCUMENT, run->result);
    if (!json_array_size(run->wrong))
        return;
    if (!json_is_array(run_get(run, "warnings")))
        json_object_set_new(run->result, "warnings", json_array());
    json_array_extend(json_object_get(run->result, "warnings"), run->wrong);
}

/* Numbers of the hosts that a pattern names, in their order; `known` has those that were numbered before. The
 * caller frees them. */
static uint32_t *number_hosts(const json_t *names, json_t *known)
{
    uint32_t *numbers = xcalloc(json_array_size(names) + 1, sizeof *numbers);
    const json_t *name;
    size_t i;
    json_array_foreach(names, i, name)
    {
        const char *host = json_string_value(name) ? json_string_value(name) : "";
        if (!json_object_get(known, host))
            json_object_set_new(known, host, json_integer((json_int_t)json_object_size(known)));
        numbers[i] = (uint32_t)json_integer_value(json_object_get(known, host));
    }
    return numbers;
}

/* Pairs of hosts of a pattern that are looked through. */
#define PAIRS_MOST 1000000

static void place_flows_of(json_t *flows, const json_t *pattern)
{
    const char *name = run_member(pattern, "name"), *word = run_member(pattern, "pattern");
    const json_t *from = json_object_get(pattern, "from"), *to = json_object_get(pattern, "to");
    json_t *known = json_object();
    uint32_t *senders = number_hosts(from, known), *receivers = number_hosts(to, known);
    struct traffic_ends ends = {senders, receivers, json_array_size(from), json_array_size(to),
                                json_integer_value(json_object_get(pattern, "shift"))};
    struct traffic_pair *pairs = NULL;
    size_t count = 0, kind = 0;
    struct error e;
    while (traffic_pattern_names[kind] && strcmp(traffic_pattern_names[kind], word) != 0)
        kind++;
    bool drawn = kind == PATTERN_POISSON || (kind == PATTERN_PERMUTATION && ends.shift <= 0);
    bool many = ends.from_count * (ends.to_count ? ends.to_count : ends.from_count) > PAIRS_MOST;
    if (traffic_pattern_names[kind] && !drawn && !many &&
        traffic_pairs(kind, &ends, NULL, &pairs, &count, &e) != 0)
        count = 0;
    for (size_t i = 0; i < count; i++) {
        char *of = xasprintf("%s/%zu", name, i);
        json_t *flow = json_object_get(flows, of);
        free(of);
        if (!flow || json_object_get(flow, "from"))
            continue;
        const json_t *hosts = ends.to_count ? to : from;
        json_object_set(flow, "from", json_array_get(from, pairs[i].from));
        json_object_set(flow, "to", json_array_get(hosts, pairs[i].to));
    }
    free(pairs);
    free(senders);
    free(receivers);
    json_decref(known);
}

/* harness 0.1 did not write between whom a single flow of a pattern is. Where nothing was drawn, its number
 * says it: `from` and `to` are put in place. */
static void place_flows(struct run *run)
{
    json_t *flows = json_object_get(run->result, "flows"), *flow;
    const json_t *pattern;
    const char *name;
    size_t i;
    bool placed = true;
    json_object_foreach(flows, name, flow)
    {
        placed = placed && (!strchr(name, '/') || json_object_get(flow, "from"));
    }
    json_array_foreach(placed ? NULL : run_get(run, "scenario.traffic"), i, pattern)
    {
        place_flows_of(flows, pattern);
    }
}

/* `paths` NULL: all of it. */
static int read_result(struct run *run, const char *const *paths, struct error *e)
{
    struct folder folder;
    struct text label = {0};
    int result = run_open_folder(run, &folder, e);
    if (result == 0) {
        run->result = load_result(&folder, paths, e);
        result = run->result ? check_result(run, e) : -1;
        if (result == 0) {
            if (!paths)
                place_flows(run);
            take_out_wrong(run);
            check_files(run, &folder);
        }
    }
    if (!run->result)
        error_prefix(e, "%s is not a result", run->folder);
    folder_close(&folder);
    if (result != 0)
        return -1;
    describe_cell(run, &label);
    run->label = text_take(&label);
    find_measure_phase(run);
    return run->label ? 0 : error_set(e, "out of memory for %s", run->folder);
}

int run_load_parts(struct run *run, const char *result, const char *cell, const char *const *paths,
                   struct error *e)
{
    *run = (struct run){.result_folder = strdup(result),
                        .cell = cell ? strdup(cell) : NULL,
                        .folder = cell ? files_join(result, cell) : strdup(result)};
    if (!run->result_folder || !run->folder || (cell && !run->cell))
        return error_set(e, "out of memory for %s", result);
    return read_result(run, paths, e);
}

int run_load(struct run *run, const char *result, const char *cell, struct error *e)
{
    return run_load_parts(run, result, cell, NULL, e);
}

/* ---- the sweep that it is a run of */

void run_note_judged(struct run *run, const char *sweep, const json_t *judged, const char *name)
{
    json_t *mine = sweep_index_judged_of(judged, name);
    if (!mine || run->sweep)
        return;
    run->sweep = strdup(sweep);
    run->judged = json_incref(mine);
}

void run_look_for_sweep(struct run *run)
{
    char *path = realpath(run->result_folder, NULL), *slash = path ? strrchr(path, '/') : NULL;
    struct folder above = {.fd = -1};
    if (slash && slash != path) {
        *slash = '\0';
        json_t *judged = folder_open(&above, path, NULL) == 0 ? sweep_index_judged(&above) : NULL;
        run_note_judged(run, path, judged, slash + 1);
        json_decref(judged);
    }
    folder_close(&above);
    free(path);
}

enum verdict run_verdict(const struct run *run)
{
    return sweep_index_verdict(verdict_of(run_text(run, "verdict")), run->judged);
}

char *run_reason(const struct run *run)
{
    enum verdict verdict = run_verdict(run);
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(run->judged, "expectations"), i, item)
    {
        if (verdict != verdict_of(run_text(run, "verdict")) &&
            verdict == verdict_of(run_member(item, "verdict")))
            return xasprintf("%s at the end of the sweep: %s (%s)", verdict_names[verdict],
                             run_member(item, "name"), run_member(item, "reason"));
    }
    return xstrdup(run_text(run, "reason"));
}

enum verdict runs_verdict(const struct runs *runs)
{
    enum verdict verdict = VERDICT_UNJUDGED;
    for (size_t k = 0; k < runs->count; k++) {
        enum verdict one = run_verdict(&runs->items[k]);
        verdict = one > verdict ? one : verdict;
    }
    return verdict_with(verdict, runs->indices);
}

const json_t *run_judged_later(const struct run *run, const char *list, const json_t *item)
{
    bool decided =
        json_is_number(json_object_get(item, "left")) || json_is_number(json_object_get(item, "value"));
    size_t i;
    const json_t *later;
    if (decided && !json_object_get(item, "over"))
        return NULL;
    json_array_foreach(json_object_get(run->judged, list), i, later)
    {
        if (strcmp(run_member(later, "name"), run_member(item, "name")) == 0 &&
            strcmp(run_member(later, "check"), run_member(item, "check")) == 0)
            return later;
    }
    return NULL;
}

static int add_run(struct runs *runs, const char *result, const char *cell, struct error *e)
{
    struct run *items = realloc(runs->items, (runs->count + 1) * sizeof *items);
    if (!items)
        return error_set(e, "out of memory for %s", result);
    runs->items = items;
    struct run *run = &items[runs->count++];
    if (run_load(run, result, cell, e) != 0)
        return -1;
    if (!cell)
        run_look_for_sweep(run);
    return 0;
}

const char *run_cell_folder(const json_t *cell, json_t *taken)
{
    const char *name = json_string_value(json_object_get(cell, "folder"));
    if (!name || !*name || strchr(name, '/') || name[0] == '.' || json_object_get(taken, name))
        return NULL;
    return json_object_set_new(taken, name, json_true()) == 0 ? name : NULL;
}

static int add_cells(struct runs *runs, const char *folder, const json_t *index, struct error *e)
{
    const json_t *cells = json_object_get(index, "cells");
    json_t *taken = json_object(), *cell;
    size_t i;
    int result = json_is_array(cells) ? 0 : error_set(e, "%s: the index has no list of cells", folder);
    json_array_foreach(cells, i, cell)
    {
        const char *name = run_cell_folder(cell, taken);
        result = name ? add_run(runs, folder, name, e)
                      : error_set(e, "%s: the index: cell %zu does not name a folder of its own", folder, i);
        if (result != 0)
            break;
        run_note_judged(&runs->items[runs->count - 1], folder, json_object_get(index, "repeated"), name);
    }
    json_decref(taken);
    return result;
}

static int add_result(struct runs *runs, const char *path, struct error *e)
{
    struct folder folder;
    if (folder_open(&folder, path, e) != 0) {
        folder_close(&folder);
        return error_prefix(e, "%s is not a result", path);
    }
    bool sweep = sweep_index_exists(&folder);
    json_t *index = sweep ? sweep_index_load(&folder, e) : NULL;
    folder_close(&folder);
    if (!sweep)
        return add_run(runs, path, NULL, e);
    int result = index ? add_cells(runs, path, index, e) : -1;
    if (result == 0 && !runs->index)
        runs->index = json_incref(index);
    if (!runs->indices)
        runs->indices = json_array();
    if (index)
        json_array_append_new(runs->indices, index);
    return result;
}

/* ---- labels */

static void add_to_label(struct run *run, const char *more)
{
    char *longer = NULL;
    if (asprintf(&longer, "%s%s%s", run->label, *run->label && *more ? ", " : "", more) < 0)
        return;
    free(run->label);
    run->label = longer;
}

/* The runs from `first` on that have its label: distinguish them by differing settings, else by their start
 * times. Each run once. */
static void tell_apart_those_like(struct runs *runs, size_t first, bool *told)
{
    const json_t **results = calloc(runs->count, sizeof *results);
    struct run **same = calloc(runs->count, sizeof *same);
    size_t count = 0;
    for (size_t i = first; results && same && i < runs->count; i++) {
        if (told[i] || strcmp(runs->items[i].label, runs->items[first].label) != 0)
            continue;
        told[i] = true;
        same[count] = &runs->items[i];
        results[count++] = runs->items[i].result;
    }
    json_t *differences = count > 1 ? differences_between(results, count, NULL) : NULL;
    for (size_t i = 0; differences && i < count; i++) {
        char *label = differences_label(differences, i);
        add_to_label(same[i], label && *label ? label : run_text(same[i], "started"));
        free(label);
    }
    json_decref(differences);
    free(results);
    free(same);
}

/* Runs of several scenarios have the scenario's name first: choices of one say nothing of another. */
static void name_scenarios(struct runs *runs)
{
    bool differ = false;
    for (size_t i = 1; i < runs->count; i++)
        differ = differ || strcmp(run_text(&runs->items[i], "scenario.name"),
                                  run_text(&runs->items[0], "scenario.name")) != 0;
    for (size_t i = 0; differ && i < runs->count; i++) {
        struct run *run = &runs->items[i];
        char *choices = run->label, *name = strdup(run_text(run, "scenario.name"));
        if (!name)
            return;
        run->label = name;
        add_to_label(run, choices);
        free(choices);
    }
}

/* Give every run a unique label; as a last resort its folder. */
static void tell_apart(struct runs *runs)
{
    bool *told = calloc(runs->count + 1, sizeof *told);
    name_scenarios(runs);
    for (size_t i = 0; told && i < runs->count; i++)
        if (!told[i])
            tell_apart_those_like(runs, i, told);
    free(told);
    bool *taken = calloc(runs->count + 1, sizeof *taken); /* of all, before one is given another name */
    for (size_t i = 0; taken && i < runs->count; i++) {
        taken[i] = runs->count > 1 && !*runs->items[i].label;
        for (size_t j = 0; j < runs->count; j++)
            taken[i] |= j != i && strcmp(runs->items[j].label, runs->items[i].label) == 0;
    }
    for (size_t i = 0; taken && i < runs->count; i++)
        if (taken[i])
            add_to_label(&runs->items[i], runs->items[i].folder);
    free(taken);
}

/* The scenario's title, else its name; of a comparison all that differ: "A / B". The caller frees it. */
static char *title_of(const struct runs *runs)
{
    struct text title = {0};
    for (size_t i = 0; i < runs->count; i++) {
        const char *words = run_text(&runs->items[i], "scenario.title");
        words = *words ? words : run_text(&runs->items[i], "scenario.name");
        bool seen = false;
        for (size_t j = 0; j < i && !seen; j++)
            seen = strcmp(run_text(&runs->items[j], "scenario.name"),
                          run_text(&runs->items[i], "scenario.name")) == 0;
        if (!seen)
            text_add(&title, "%s%s", title.length ? " / " : "", words);
    }
    return text_take(&title);
}

int runs_load(const char *const *folders, size_t count, struct runs *runs, struct error *e)
{
    *runs = (struct runs){0};
    for (size_t i = 0; i < count; i++) {
        if (add_result(runs, folders[i], e) != 0) {
            runs_free(runs);
            return -1;
        }
    }
    if (runs->count == 0) {
        runs_free(runs);
        return error_set(e, "there is no finished run in %s", count ? folders[0] : "nothing");
    }
    runs->results = count;
    tell_apart(runs);
    runs->title = title_of(runs);
    return 0;
}

size_t runs_drawn(const struct runs *runs)
{
    return runs->count == runs->results ? 2 * RUNS_DRAWN : RUNS_DRAWN;
}

void run_free(struct run *run)
{
    run_free_samples(run);
    json_decref(run->result);
    json_decref(run->wrong);
    json_decref(run->explanation);
    free(run->result_folder);
    free(run->cell);
    free(run->folder);
    free(run->label);
    free(run->damage);
    free(run->sweep);
    json_decref(run->judged);
    *run = (struct run){0};
}

void runs_free(struct runs *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        run_free(&runs->items[i]);
    free(runs->items);
    free(runs->title);
    json_decref(runs->index);
    json_decref(runs->indices);
    *runs = (struct runs){0};
}

/* ---- series */

const struct series *run_find(const struct run *run, const struct series *from, const char *pattern)
{
    for (size_t i = from ? (size_t)(from - run->series) + 1 : 0; i < run->series_count; i++)
        if (fnmatch(pattern, run->series[i].name, 0) == 0)
            return &run->series[i];
    return NULL;
}
