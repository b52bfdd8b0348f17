/* Two results side by side: cells matched, runs read one by one, what differs gathered as a document. */
#include "harness/compare/compare.h"

#include "harness/compare/rule.h"
#include "harness/judge/repeated.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/folder/sweep_index.h"
#include "lib/formats/origin.h"
#include "lib/formats/verdicts.h"
#include "lib/interrupt.h"
#include "lib/log.h"
#include "lib/program/config.h"
#include "lib/program/program.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include "reports/results/differences.h"
#include "reports/results/run.h"
#include "reports/results/run_figures.h"
#include "reports/results/sweep_table.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define FIGURES_KEPT 50000 /* of all cells: a figure of a cell takes about 2 KB */
#define NOTES_KEPT   100
#define SAME_TIME    0.01 /* measure phases of real runs end a little late */
#define NICS_NAMED   64   /* of a host: its document may come from elsewhere */

enum { OLD, NEW };
static const char *const side_words[] = {[OLD] = "OLD", [NEW] = "NEW"};

/* One of the two results. */
struct side {
    const char *word, *folder;
    json_t *head;  /* what is said of it as a whole */
    json_t *cells; /* canonical choices -> {"cell", "folders": names in it, "" for itself} */
    /* Of a run that a sweep repeated: the sweep's folder, the cell in it as in `cells`, and its key. */
    char *sweep;
    json_t *repeated;
    char *repeated_key;
    json_t *judged; /* what its sweep judged over cells */
};

/* The runs of a cell of one side. */
struct gathered {
    struct spreads figures;
    struct run first; /* that is whole; .result NULL: none is */
    size_t whole, all;
    enum verdict verdict; /* the worst */
    struct rule_side {
        struct spread_sums sums;
        bool lacks;             /* a run has no value */
        struct rule_value last; /* that was read, or the first that lacks it */
        char note[300];         /* the first that there is */
    } * rules;
};

struct comparison {
    json_t *document;
    json_t *notes; /* sentence -> true */
    size_t notes_left_out, figures, figures_left_out, compared;
    bool unsure; /* a side is not whole */
    enum verdict verdict;
    const char **rules;
    struct expr **exprs;
    size_t rule_count;
};

static void note_list(struct comparison *c, const char *format, va_list arguments)
{
    struct text words = {0};
    text_add_list(&words, format, arguments);
    if (json_object_get(c->notes, text_string(&words)))
        ;
    else if (json_object_size(c->notes) < NOTES_KEPT)
        json_put(c->notes, text_string(&words), json_true());
    else
        c->notes_left_out++;
    text_free(&words);
}

/* What makes the sides unlike. */
__attribute__((format(printf, 2, 3))) static void note(struct comparison *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    note_list(c, format, arguments);
    va_end(arguments);
}

/* What a side lacks. */
__attribute__((format(printf, 2, 3))) static void note_lack(struct comparison *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    note_list(c, format, arguments);
    va_end(arguments);
    c->unsure = true;
}

/* ---- rules */

static void close_rules(struct comparison *c)
{
    for (size_t i = 0; i < c->rule_count; i++)
        expr_free(c->exprs[i]);
    free(c->exprs);
    free(c->rules);
}

/* Before a run, which has no notes yet, it is a warning. */
static void tell_foregone(struct comparison *c, size_t i)
{
    enum expr_foregone is = expr_foregone(c->exprs[i], NULL);
    const char *words = is == EXPR_ALWAYS ? "always holds, whatever is compared: it fails everything"
                                          : "never holds, whatever is compared: it fails nothing";
    if (is != EXPR_OPEN && c->notes)
        note(c, "--fail-if \"%.100s\" %s", c->rules[i], words);
    else if (is != EXPR_OPEN)
        log_warning("--fail-if \"%.100s\" %s", c->rules[i], words);
}

static int open_rules(struct comparison *c, const struct list_of *rules, struct error *e)
{
    char *const *texts = rules->items;
    c->rules = xcalloc(rules->count + 1, sizeof *c->rules);
    c->exprs = xcalloc(rules->count + 1, sizeof *c->exprs);
    for (size_t i = 0; i < rules->count; i++) {
        c->rules[i] = texts[i];
        c->exprs[i] = rule_compile(texts[i], e);
        if (!c->exprs[i])
            return error_prefix(e, "--fail-if");
        tell_foregone(c, c->rule_count++);
    }
    return 0;
}

int compare_check_rules(const struct list_of *rules, struct error *e)
{
    struct comparison c = {0};
    int result = open_rules(&c, rules, e);
    close_rules(&c);
    return result;
}

/* ---- where */

char *compare_find(const char *name, struct error *e)
{
    char *path = realpath(name, NULL), *baseline = path ? NULL : config_baseline(name);
    if (!path && baseline)
        path = realpath(baseline, NULL);
    if (!path && baseline)
        error_set(e, "%s: there is no such result, and no baseline %s", name, baseline);
    else if (!path)
        error_set(e, "%s: there is no such result", name);
    free(baseline);
    return path;
}

/* ---- a side, and its cells */

/* The same for choices that are equal, in any order; the caller frees it. NULL: out of memory. */
static char *key_of(const json_t *choices)
{
    const char *path;
    json_t *value, *sorted = json_object();
    json_object_foreach((json_t *)(uintptr_t)choices, path, value)
    {
        struct text one = {0};
        json_add_canonical(value, &one);
        json_put(sorted, path, json_text(text_string(&one)));
        text_free(&one);
    }
    char *words = json_dumps(sorted, JSON_SORT_KEYS);
    json_decref(sorted);
    return words;
}

static void add_cell_run(struct side *side, const json_t *choices, const char *folder)
{
    char *key = key_of(choices);
    json_t *cell = key ? json_object_get(side->cells, key) : NULL;
    if (key && !cell) {
        cell = json_make("{s:O,s:[]}", "cell", choices, "folders");
        json_put(side->cells, key, cell);
    }
    json_array_append_new(json_object_get(cell, "folders"), json_text(folder));
    free(key);
}

static void take_head(struct side *side, const json_t *document, enum verdict verdict)
{
    static const char *const keys[] = {"started", "version", "build"};
    json_object_set_new(side->head, "folder", json_text(side->folder));
    json_object_set_new(side->head, "origin", json_text(origin_names[origin_of_result(document)]));
    json_object_set_new(side->head, "verdict", json_text(verdict_names[verdict]));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (json_is_string(json_object_get(document, keys[i])))
            json_object_set(side->head, keys[i], json_object_get(document, keys[i]));
}

static int open_sweep(struct side *side, struct comparison *c, const json_t *index, struct error *e)
{
    json_t *taken = json_object(), *entry;
    const json_t *wrong = json_array_get(json_object_get(index, SWEEP_WRONG), 0);
    const char *left_out = run_member(index, SWEEP_LEFT_OUT);
    size_t i;
    int result = 0;
    take_head(side, index, verdict_of(run_member(index, "verdict")));
    json_object_set(side->head, "scenario", json_object_get(index, "scenario"));
    side->judged = json_incref(json_object_get(index, "repeated"));
    if (*left_out)
        note_lack(c, "%s: %s", side->word, left_out);
    else if (!json_is_true(json_object_get(index, "complete")))
        note_lack(c, "%s is a sweep that is not whole: runs are missing", side->word);
    if (wrong)
        note_lack(c, "%s: %s", side->word, json_string_value(wrong));
    json_array_foreach(json_object_get(index, "cells"), i, entry)
    {
        const char *name = run_cell_folder(entry, taken);
        if (name)
            add_cell_run(side, json_object_get(entry, "cell"), name);
        else if (result == 0)
            result =
                error_set(e, "%s: the index: cell %zu does not name a folder of its own", side->folder, i);
    }
    json_decref(taken);
    return result;
}

/* The whole runs of the cell that has this run, from the index of its sweep; NULL: it is not of a sweep, is
 * not whole, or is the only one. */
static json_t *repetitions_of(const json_t *index, const char *name, char **key)
{
    json_t *taken = json_object(), *entry, *found = NULL;
    struct side all = {.cells = json_object()};
    const char *cell;
    json_t *runs;
    size_t i, k;
    json_array_foreach(json_object_get(index, "cells"), i, entry)
    {
        const char *folder = run_cell_folder(entry, taken);
        if (folder && json_is_true(json_object_get(entry, "complete")))
            add_cell_run(&all, json_object_get(entry, "cell"), folder);
    }
    json_object_foreach(all.cells, cell, runs)
    {
        const json_t *folders = json_object_get(runs, "folders"), *folder;
        json_array_foreach(folders, k, folder)
        {
            if (!found && json_array_size(folders) > 1 && strcmp(json_string_value(folder), name) == 0) {
                found = json_incref(runs);
                *key = xstrdup(cell);
            }
        }
    }
    json_decref(all.cells);
    json_decref(taken);
    return found;
}

static void look_for_repetitions(struct side *side)
{
    struct folder above = {.fd = -1};
    struct error ignored;
    char *path = realpath(side->folder, NULL), *slash = path ? strrchr(path, '/') : NULL;
    if (slash && slash != path) {
        *slash = '\0';
        json_t *index = folder_open(&above, path, &ignored) == 0 && sweep_index_exists(&above)
                            ? sweep_index_load(&above, &ignored)
                            : NULL;
        side->repeated = repetitions_of(index, slash + 1, &side->repeated_key);
        side->sweep = side->repeated ? xstrdup(path) : NULL;
        side->judged = json_incref(json_object_get(index, "repeated"));
        json_decref(index);
    }
    folder_close(&above);
    free(path);
}

static int open_run(struct side *side, struct error *e)
{
    struct run run;
    int result = run_load(&run, side->folder, NULL, e);
    if (result == 0) {
        run_look_for_sweep(&run);
        take_head(side, run.result, run_verdict(&run));
        json_object_set_new(side->head, "scenario", json_text(run_text(&run, "scenario.name")));
        json_t *none = json_object();
        add_cell_run(side, json_is_object(run_get(&run, "cell")) ? run_get(&run, "cell") : none, "");
        json_decref(none);
        look_for_repetitions(side);
    }
    run_free(&run);
    return result;
}

/* One run says nothing about chance: it stands for all repetitions of its cell, unless the other side is of
 * the same ones. */
static void take_repetitions(struct side *side, const struct side *other, struct comparison *c)
{
    bool shared = side->repeated && (other->sweep ? files_are_one(side->sweep, other->sweep) &&
                                                        strcmp(side->repeated_key, other->repeated_key) == 0
                                                  : files_are_one(side->sweep, other->folder));
    if (!side->repeated)
        return;
    if (shared) {
        note(c, "%s is one of %zu repetitions, with which it is compared: a single run shows no spread",
             side->word, json_array_size(json_object_get(side->repeated, "folders")));
        return;
    }
    note(c, "%s is one of %zu repetitions of its cell: all of them are compared", side->word,
         json_array_size(json_object_get(side->repeated, "folders")));
    json_object_clear(side->cells);
    json_object_set(side->cells, side->repeated_key, side->repeated);
    side->folder = side->sweep;
}

static int side_open(struct side *side, struct comparison *c, struct error *e)
{
    struct folder folder = {.fd = -1};
    json_t *index = NULL;
    side->cells = json_object();
    side->head = json_object();
    int result = folder_open(&folder, side->folder, e);
    bool sweep = result == 0 && sweep_index_exists(&folder);
    if (sweep) {
        index = sweep_index_load(&folder, e);
        result = index ? open_sweep(side, c, index, e) : -1;
    }
    folder_close(&folder);
    json_decref(index);
    return result == 0 && !sweep ? open_run(side, e) : result;
}

static void side_close(struct side *side)
{
    json_decref(side->cells);
    json_decref(side->head);
    json_decref(side->repeated);
    json_decref(side->judged);
    free(side->repeated_key);
    free(side->sweep);
}

/* ---- the runs of a cell */

static int gather_figure(void *context, const char *name, const char *unit, double value, bool counter)
{
    (void)counter;
    return spreads_add(context, name, unit, value);
}

static void gather_rules(const struct comparison *c, const struct run *run, bool old, struct gathered *g)
{
    for (size_t i = 0; i < c->rule_count; i++) {
        struct rule_side *rule = &g->rules[i];
        if (rule->lacks)
            continue;
        rule_read(c->exprs[i], run->result, old, &rule->last);
        rule->lacks = isnan(rule->last.value);
        if (rule->lacks)
            continue;
        spread_add(&rule->sums, rule->last.value);
        if (!*rule->note)
            memcpy(rule->note, rule->last.why, sizeof rule->note);
    }
}

/* Can its figures be used? If not, it is said why. */
static bool is_usable(struct comparison *c, const struct side *side, const struct run *run, const char *name)
{
    const char *reason = run_text(run, "reason"), *blank = *name ? " " : "";
    if (json_array_size(run->wrong))
        note_lack(c, "%s%s%s: %s", side->word, blank, name, json_string_value(json_array_get(run->wrong, 0)));
    if (!json_is_true(run_get(run, "complete")))
        note_lack(c, "%s%s%s is not whole, and its figures are not used: %s", side->word, blank, name,
                  reason);
    else if (!json_object_size(run_get(run, "flows")) && !json_object_size(run_get(run, "collectives")))
        note_lack(c, "%s%s%s has no flows: %s", side->word, blank, name, reason);
    else
        return true;
    return false;
}

static int gather_run(struct comparison *c, const struct side *side, const char *name, struct gathered *g,
                      struct error *e)
{
    struct run run = {0};
    struct run_figures_left left;
    g->all++;
    if (run_load(&run, side->folder, *name ? name : NULL, e) != 0) {
        note_lack(c, "%s: %s", side->word, e->text);
        run_free(&run);
        return 0;
    }
    if (*name)
        run_note_judged(&run, side->folder, side->judged, name);
    else
        run_look_for_sweep(&run);
    g->verdict = run_verdict(&run) > g->verdict ? run_verdict(&run) : g->verdict;
    if (!is_usable(c, side, &run, name)) {
        run_free(&run);
        return 0;
    }
    int result = spreads_next_run(&g->figures);
    if (result == 0)
        result = run_each_figure(&run, gather_figure, &g->figures, &left);
    if (result != 0) {
        run_free(&run);
        return error_set(e, "out of memory for the figures of %s", side->folder);
    }
    if (left.flows)
        note(c, "%zu flows have no figures of their own: all flows together have", left.flows);
    gather_rules(c, &run, side->word == side_words[OLD], g);
    g->whole++;
    if (g->first.result)
        run_free(&run);
    else
        g->first = run;
    return 0;
}

static int gather(struct comparison *c, const struct side *side, const json_t *cell, struct gathered *g,
                  struct error *e)
{
    size_t i;
    json_t *name;
    int result = 0;
    *g = (struct gathered){.rules = xcalloc(c->rule_count + 1, sizeof *g->rules)};
    json_array_foreach(json_object_get(cell, "folders"), i, name)
    {
        if (result == 0)
            result = interrupt_check(e);
        if (result == 0)
            result = gather_run(c, side, json_string_value(name), g, e);
    }
    return result;
}

static void gathered_free(struct gathered *g)
{
    free(g->rules);
    spreads_free(&g->figures);
    run_free(&g->first);
}

/* ---- what makes two runs unlike */

static void add_version(json_t *all, const char *of, const char *key, const json_t *value)
{
    char *name = xasprintf("%s%s%s", of, *of ? " " : "", key);
    if (value && !json_is_null(value) && !json_is_object(value) && !json_is_array(value))
        json_put(all, name, json_incref((json_t *)(uintptr_t)value));
    free(name);
}

static void add_versions(json_t *all, const char *of, const json_t *object, const char *const *keys)
{
    for (; *keys; keys++)
        add_version(all, of, *keys, json_object_get(object, *keys));
}

json_t *compare_versions_of(const json_t *facts)
{
    static const char *const of_module[] = {"version", "srcversion", NULL},
                             *const of_nic[] = {"driver", "driver_version", "firmware", NULL},
                             *const of_gpu[] = {"model", "vbios", NULL},
                             *const of_system[] = {"os", "product", NULL},
                             *const of_simulated[] = {"model", "values", NULL};
    json_t *all = json_object(), *item;
    const char *name;
    char number[32];
    size_t i;
    json_object_foreach(json_object_get(facts, "versions"), name, item)
    {
        add_version(all, "", name, item);
    }
    add_versions(all, "", json_object_get(facts, "system"), of_system);
    json_object_foreach(json_object_get(facts, "modules"), name, item)
    {
        add_versions(all, name, item, of_module);
    }
    json_array_foreach(json_object_get(facts, "nics"), i, item)
    {
        const char *netdev = run_member(item, "netdev");
        add_versions(all, netdev, item, of_nic);
        add_version(all, netdev, "PCI id", json_object_get(json_object_get(item, "pci"), "id"));
    }
    json_array_foreach(json_object_get(facts, "gpus"), i, item)
    {
        snprintf(number, sizeof number, "GPU %zu", i);
        add_versions(all, number, item, of_gpu);
    }
    add_versions(all, "NIC", json_object_get(facts, "nic"), of_simulated);
    return all;
}

/* Those of the programs that made the traffic. */
static json_t *versions_of_tools(const struct run *run)
{
    static const char *const of_flow[] = {"version_from", "version_to", NULL}, *const of_collective[] = {
                                                                                   "version", "nccl_version",
                                                                                   "nccl_built_with",
                                                                                   "mpirun_version", NULL};
    json_t *all = json_object(), *item;
    const char *name;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "flows"), name, item)
    {
        add_versions(all, run_member(item, "tool"), json_object_get(item, "tool_used"), of_flow);
    }
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "collectives"), name, item)
    {
        add_versions(all, run_member(item, "tool"), json_object_get(item, "tool_used"), of_collective);
    }
    return all;
}

static void add_version_change(json_t *versions, const char *what, const char *host, const json_t *was,
                               const json_t *is)
{
    json_t *entry = json_make("{s:s,s:{},s:O?,s:O?}", "what", what, "hosts", "old", was, "new", is);
    char *key = json_dumps(entry, 0);
    if (key && !json_object_get(versions, key))
        json_put(versions, key, json_incref(entry));
    if (key && host)
        json_put(json_object_get(json_object_get(versions, key), "hosts"), host, json_true());
    json_decref(entry);
    free(key);
}

static void compare_versions(json_t *versions, const char *host, json_t *was, json_t *is)
{
    const char *what;
    json_t *value;
    json_object_foreach(was, what, value)
    {
        if (!json_equal(value, json_object_get(is, what)))
            add_version_change(versions, what, host, value, json_object_get(is, what));
    }
    json_object_foreach(is, what, value)
    {
        if (!json_object_get(was, what))
            add_version_change(versions, what, host, NULL, value);
    }
    json_decref(was);
    json_decref(is);
}

/* The models of a host's NICs: a simulated one's name, or the ids of PCI functions with an RDMA device. */
static char *nic_models(const json_t *facts)
{
    struct text models = {0};
    const json_t *nic;
    size_t i;
    text_add(&models, "%s", run_member(json_object_get(facts, "nic"), "model"));
    json_array_foreach(json_object_get(facts, "nics"), i, nic)
    {
        const char *id = run_member(json_object_get(nic, "pci"), "id");
        if (i < NICS_NAMED && *id && json_is_object(json_object_get(nic, "rdma")) &&
            !strstr(text_string(&models), id))
            text_add(&models, "%s%s", models.length ? ", " : "", id);
    }
    return text_take(&models);
}

static void compare_hosts(struct comparison *c, const struct run *old, const struct run *new)
{
    json_t *versions = json_object_get(c->document, "versions"), *host;
    const char *role;
    json_object_foreach((json_t *)(uintptr_t)run_get(new, "hosts"), role, host)
    {
        const json_t *other = json_object_get(run_get(old, "hosts"), role),
                     *is = json_object_get(host, "facts"), *was = json_object_get(other, "facts");
        if (!other || !run_lists(host) || !run_lists(other))
            continue;
        if (!is || !was) {
            note(c, "%s has no facts of host %s: whether its versions differ is not known",
                 side_words[is ? OLD : NEW], role);
            continue;
        }
        char *models_was = nic_models(was), *models_is = nic_models(is);
        if (models_was && models_is && strcmp(models_was, models_is) != 0)
            note(c, "the NICs are of other models: %s in OLD, %s in NEW",
                 *models_was ? models_was : "unknown", *models_is ? models_is : "unknown");
        free(models_was);
        free(models_is);
        compare_versions(versions, role, compare_versions_of(was), compare_versions_of(is));
    }
    compare_versions(versions, NULL, versions_of_tools(old), versions_of_tools(new));
}

static void compare_settings(struct comparison *c, const struct run *old, const struct run *new)
{
    const json_t *results[] = {old->result, new->result};
    bool cut = false;
    json_t *differences = differences_between(results, 2, &cut), *row,
           *settings = json_object_get(c->document, "settings");
    const char *path;
    if (cut)
        note(c, "scenario or lab have more values than are compared");
    json_object_foreach(differences, path, row)
    {
        json_t *was = json_array_get(row, 0), *is = json_array_get(row, 1),
               *known = json_object_get(settings, path);
        if (strcmp(path, "version") == 0 || strcmp(path, "build") == 0) {
            char *what = xasprintf("harness %s", path);
            add_version_change(json_object_get(c->document, "versions"), what, NULL, was, is);
            free(what);
            continue;
        }
        if (strcmp(path, "scenario") == 0)
            note(c, "the scenarios are others: %s and %s", json_string_value(was), json_string_value(is));
        if (!known)
            json_put(settings, path, json_make("{s:O,s:O,s:i}", "old", was, "new", is, "cells", 1));
        else
            json_integer_set(json_object_get(known, "cells"),
                             json_integer_value(json_object_get(known, "cells")) + 1);
    }
    json_decref(differences);
}

/* How long both measured, in seconds; false: as good as equally long. */
static bool lengths_differ(const struct run *old, const struct run *new, double *before, double *now)
{
    *before = (double)(old->end_ns - old->start_ns) / 1e9;
    *now = (double)(new->end_ns - new->start_ns) / 1e9;
    return fabs(*now - *before) > SAME_TIME * fmax(*now, *before);
}

static void compare_first_runs(struct comparison *c, const struct run *old, const struct run *new)
{
    enum origin was = origin_of_result(old->result), is = origin_of_result(new->result);
    double before, now;
    if (was != is)
        note(c, "OLD is %s and NEW is %s: no rule is judged", origin_names[was], origin_names[is]);
    if (lengths_differ(old, new, &before, &now))
        note(c, "the measure phase had %.6g s in OLD and has %.6g s in NEW: what counts in it differs",
             before, now);
    compare_settings(c, old, new);
    compare_hosts(c, old, new);
}

/* ---- figures and rules of a cell */

/* `spread`: the runs of both sides differ among themselves. */
static json_t *figure_entry(const struct spread_figure *figure, const struct spread *old,
                            const struct spread *new, bool spread)
{
    double difference = new->mean - old->mean;
    json_t *entry = json_make("{s:s,s:o,s:o,s:f}", "unit", figure->unit, "old", spread_json(old), "new",
                              spread_json(new), "difference", difference);
    if (old->mean != 0)
        json_object_set_new(entry, "change_percent", json_real(difference / fabs(old->mean) * 100));
    if (spread && old->count > 1 && new->count > 1)
        json_object_set_new(entry, "apart", json_boolean(spread_apart(old, new)));
    return entry;
}

static void compare_figures(struct comparison *c, const struct gathered *old, const struct gathered *new,
                            json_t *cell)
{
    json_t *figures = json_object(), *only_old = json_array(), *only_new = json_array();
    bool one = spreads_are_identical(&old->figures) || spreads_are_identical(&new->figures), spread = !one;
    if (one)
        note(c, "repetitions that have the same value in every figure count as one: they show no spread");
    for (size_t i = 0; i < old->figures.count; i++) {
        const struct spread_figure *figure = &old->figures.figures[i];
        struct spread was = spread_of_sums(&figure->sums), is = spreads_of(&new->figures, figure->name);
        if (!is.count)
            json_array_append_new(only_old, json_text(figure->name));
        else if (c->figures++ < FIGURES_KEPT)
            json_put(figures, figure->name, figure_entry(figure, &was, &is, spread));
        else
            c->figures_left_out++;
    }
    for (size_t i = 0; i < new->figures.count; i++)
        if (!spreads_of(&old->figures, new->figures.figures[i].name).count)
            json_array_append_new(only_new, json_text(new->figures.figures[i].name));
    json_object_set_new(cell, "figures", figures);
    json_object_set_new(cell, "only_old", only_old);
    json_object_set_new(cell, "only_new", only_new);
}

static void add_value(struct text *out, const struct spread *value, struct sweep_unit in)
{
    text_add(out, "%.6g", value->mean * in.factor);
    if (value->ci95 > 0)
        text_add(out, " +- %.6g", spread_two_digits(value->ci95 * in.factor));
    text_add(out, "%s%s", *in.name ? " " : "", in.name);
}

/* Why a rule is not judged of this cell, and of which side; false: it is. */
static bool rule_lacks(const struct comparison *c, size_t i, const struct gathered sides[2], struct text *why)
{
    for (int s = expr_reads_other(c->exprs[i]) ? OLD : NEW; s <= NEW; s++) {
        const struct gathered *g = &sides[s];
        if (g->whole < g->all)
            text_add(why, "%s has %zu whole %s of %zu", side_words[s], g->whole, THINGS(g->whole, "run"),
                     g->all);
        else if (g->rules[i].lacks)
            text_add(why, "%s: %s", side_words[s], g->rules[i].last.why);
        if (why->length)
            return true;
    }
    double before, now;
    if (!sides[OLD].first.result || !expr_reads_other(c->exprs[i]))
        return false; /* the rule reads NEW alone */
    if (origin_of_result(sides[OLD].first.result) != origin_of_result(sides[NEW].first.result))
        text_add(why, "one side was simulated or virtual, the other not");
    else if (expr_grows_with_time(c->exprs[i]) &&
             lengths_differ(&sides[OLD].first, &sides[NEW].first, &before, &now))
        text_add(why,
                 "it counts over a measure phase of %.6g s in OLD and of %.6g s in NEW: take rate(...) of a "
                 "counter in place of delta(...), or a quotient of two sums",
                 before, now);
    return why->length > 0;
}

static enum verdict judge_rule(const struct comparison *c, size_t i, const struct gathered sides[2],
                               struct text *why)
{
    if (rule_lacks(c, i, sides, why))
        return VERDICT_SKIPPED;
    const struct rule_side *new = &sides[NEW].rules[i], *old = &sides[OLD].rules[i];
    bool reads_old = expr_reads_other(c->exprs[i]);
    struct spread left = spread_of_sums(&new->sums), right = spread_of_sums(&old->sums);
    if (reads_old && strcmp(new->last.unit, old->last.unit) != 0) {
        text_add(why, "it is in %s in NEW and in %s in OLD", new->last.unit, old->last.unit);
        return VERDICT_SKIPPED;
    }
    struct sweep_unit in = sweep_unit_for(new->last.unit, left.mean, right.mean);
    bool holds = expr_compare(c->exprs[i], left.mean, right.mean);
    add_value(why, &left, in);
    text_add(why, holds ? ", which is %s " : ", which is not %s ", expr_sign(c->exprs[i]));
    add_value(why, &right, in);
    for (int side = NEW; side >= (reads_old ? OLD : NEW); side--)
        if (*sides[side].rules[i].note)
            text_add(why, "; %s: %s", side_words[side], sides[side].rules[i].note);
    return holds ? VERDICT_FAILED : VERDICT_PASSED;
}

static void keep_rule(struct comparison *c, json_t *cell, const char *rule, enum verdict verdict,
                      const char *reason)
{
    json_t *rules = json_object_get(cell, "rules");
    if (!rules) {
        rules = json_array();
        json_object_set_new(cell, "rules", rules);
    }
    json_array_append_new(
        rules, json_make("{s:s,s:s,s:s}", "rule", rule, "verdict", verdict_names[verdict], "reason", reason));
    /* what could not be judged is worse than what is well: nobody is to take it for that */
    static const int rank[] = {
        [VERDICT_UNJUDGED] = 0, [VERDICT_PASSED] = 1, [VERDICT_SKIPPED] = 2, [VERDICT_FAILED] = 3};
    c->verdict = rank[verdict] > rank[c->verdict] ? verdict : c->verdict;
}

/* ---- cells */

static json_t *cell_entry(const json_t *cell)
{
    struct text name = {0};
    json_t *choices = json_object_get(cell, "cell");
    choices_add(choices, &name);
    json_t *entry = json_make("{s:O,s:s}", "cell", choices, "name", text_string(&name));
    text_free(&name);
    return entry;
}

static int compare_cells(struct comparison *c, const struct side sides[2], const json_t *old,
                         const json_t *new, struct error *e)
{
    struct gathered g[2] = {0};
    json_t *entry = cell_entry(new);
    json_array_append_new(json_object_get(c->document, "cells"), entry);
    int result = gather(c, &sides[OLD], old, &g[OLD], e);
    if (result == 0)
        result = gather(c, &sides[NEW], new, &g[NEW], e);
    if (result == 0) {
        bool both = g[OLD].first.result && g[NEW].first.result;
        json_object_set_new(entry, "verdicts",
                            json_make("[s,s]", verdict_names[g[OLD].verdict], verdict_names[g[NEW].verdict]));
        if (both)
            compare_first_runs(c, &g[OLD].first, &g[NEW].first);
        compare_figures(c, &g[OLD], &g[NEW], entry);
        c->compared += both;
        for (size_t i = 0; i < c->rule_count; i++) {
            struct text why = {0};
            enum verdict verdict = judge_rule(c, i, g, &why);
            keep_rule(c, entry, c->rules[i], verdict, text_string(&why));
            text_free(&why);
        }
    }
    gathered_free(&g[OLD]);
    gathered_free(&g[NEW]);
    return result;
}

/* Cells of one side that the other one has not. */
static void name_alone(struct comparison *c, const struct side *side, const struct side *other,
                       const char *list)
{
    const char *key;
    json_t *cell;
    json_object_foreach(side->cells, key, cell)
    {
        if (json_object_get(other->cells, key))
            continue;
        json_t *entry = cell_entry(cell);
        struct text why = {0};
        text_add(&why, "%s has no such cell", other->word);
        for (size_t i = 0; i < c->rule_count; i++)
            keep_rule(c, entry, c->rules[i], VERDICT_SKIPPED, text_string(&why));
        json_array_append_new(json_object_get(c->document, list), entry);
        text_free(&why);
    }
}

static json_t *only_cell(const struct side *side)
{
    return json_object_iter_value(json_object_iter(side->cells));
}

static int compare_sides(struct comparison *c, const struct side sides[2], struct error *e)
{
    const char *key;
    json_t *cell;
    if (json_object_size(sides[OLD].cells) == 1 && json_object_size(sides[NEW].cells) == 1)
        return compare_cells(c, sides, only_cell(&sides[OLD]), only_cell(&sides[NEW]), e);
    json_object_foreach(sides[NEW].cells, key, cell)
    {
        const json_t *old = json_object_get(sides[OLD].cells, key);
        if (old && compare_cells(c, sides, old, cell, e) != 0)
            return -1;
    }
    name_alone(c, &sides[OLD], &sides[NEW], "only_old");
    name_alone(c, &sides[NEW], &sides[OLD], "only_new");
    return 0;
}

/* ---- the whole */

static json_t *versions_list(const json_t *versions)
{
    json_t *list = json_array(), *entry;
    const char *key;
    json_object_foreach((json_t *)(uintptr_t)versions, key, entry)
    {
        json_object_set_new(entry, "hosts", json_keys(json_object_get(entry, "hosts")));
        json_array_append(list, entry);
    }
    return list;
}

static json_t *notes_list(const struct comparison *c)
{
    json_t *list = json_keys(c->notes);
    if (c->notes_left_out)
        json_array_append_new(list, json_textf("%zu more such sentences are left out", c->notes_left_out));
    return list;
}

static void finish_document(struct comparison *c)
{
    json_t *document = c->document;
    if (c->figures_left_out)
        note(c, "%zu figures of the last cells are left out", c->figures_left_out);
    if (!c->compared)
        note(c, "there is nothing to compare: no cell has a whole run on both sides");
    json_object_set_new(document, "notes", notes_list(c));
    json_object_set_new(document, "versions", versions_list(json_object_get(document, "versions")));
    json_object_set_new(document, "compared", json_integer((json_int_t)c->compared));
    json_object_set_new(document, "whole", json_boolean(!c->unsure));
    json_object_set_new(document, "verdict", json_text(verdict_names[c->verdict]));
}

json_t *compare_results(const char *old_folder, const char *new_folder, const struct list_of *rules,
                        struct error *e)
{
    struct comparison c = {.notes = json_object(), .verdict = VERDICT_UNJUDGED};
    struct side sides[2] = {[OLD] = {.word = side_words[OLD], .folder = old_folder},
                            [NEW] = {.word = side_words[NEW], .folder = new_folder}};
    int result = files_are_one(old_folder, new_folder)
                     ? error_set(e, "%s and %s are the same result", old_folder, new_folder)
                     : open_rules(&c, rules, e);
    if (result == 0 && side_open(&sides[OLD], &c, e) == 0 && side_open(&sides[NEW], &c, e) == 0) {
        c.document =
            json_make("{s:i,s:O,s:O,s:{},s:{},s:[],s:[],s:[]}", "schema", 1, "old", sides[OLD].head, "new",
                      sides[NEW].head, "settings", "versions", "cells", "only_old", "only_new");
        take_repetitions(&sides[OLD], &sides[NEW], &c);
        take_repetitions(&sides[NEW], &sides[OLD], &c);
        result = compare_sides(&c, sides, e);
        if (result == 0) {
            finish_document(&c);
        } else {
            json_decref(c.document);
            c.document = NULL;
        }
    }
    side_close(&sides[OLD]);
    side_close(&sides[NEW]);
    close_rules(&c);
    json_decref(c.notes);
    return c.document;
}

int compare_status(const json_t *comparison)
{
    enum verdict verdict = verdict_of(run_member(comparison, "verdict"));
    bool whole = json_is_true(json_object_get(comparison, "whole")) &&
                 json_integer_value(json_object_get(comparison, "compared")) > 0;
    return verdict == VERDICT_FAILED              ? EXIT_FAILED
           : verdict == VERDICT_SKIPPED || !whole ? EXIT_SKIPPED
                                                  : EXIT_DONE;
}
