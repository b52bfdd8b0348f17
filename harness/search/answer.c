#include "harness/search/answer.h"

#include "harness/run/results.h"
#include "harness/search/importance.h"
#include "harness/search/known.h"
#include "harness/search/use.h"
#include "lib/document/json_text.h"
#include "lib/formats/lab_kinds.h"
#include "lib/output/print.h"
#include "lib/words.h"
#include "lib/xalloc.h"
#include "reports/results/sweep_table.h"
#include "reports/results/run.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which are best */

/* Those that the answer chooses from: feasible, with all their runs. */
static size_t list_whole(const struct candidates *all, const struct study *study,
                         const struct candidate **whole, struct vector *values)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i]->whole && candidate_is_feasible(all->items[i])) {
            values[count] = candidate_vector(all->items[i], study);
            whole[count++] = all->items[i];
        }
    return count;
}

static void sort_best(struct best *b)
{
    for (size_t i = 1; i < b->count; i++)
        for (size_t k = i; k > 0 && b->values[k].of[0] < b->values[k - 1].of[0]; k--) {
            const struct candidate *item = b->items[k];
            struct vector value = b->values[k];
            b->items[k] = b->items[k - 1];
            b->values[k] = b->values[k - 1];
            b->items[k - 1] = item;
            b->values[k - 1] = value;
        }
}

struct best best_of(const struct candidates *all, const struct study *study)
{
    struct best b = {.items = xcalloc(all->count + 1, sizeof *b.items),
                     .values = xcalloc(all->count + 1, sizeof *b.values)};
    bool *on_front = xcalloc(all->count + 1, sizeof *on_front);
    size_t whole = list_whole(all, study, b.items, b.values);
    front_mark(b.values, whole, study->objective_count, on_front);
    for (size_t i = 0; i < whole; i++)
        if (on_front[i]) {
            b.items[b.count] = b.items[i];
            b.values[b.count++] = b.values[i];
        }
    free(on_front);
    sort_best(&b);
    b.knee = b.count ? front_knee(b.values, b.count, study->objective_count) : 0;
    return b;
}

void best_free(struct best *b)
{
    free(b->items);
    free(b->values);
}

/* ---- the document */

static json_t *parameters_json(const struct study *study)
{
    json_t *list = json_array(), *has = study_has(study, NULL);
    for (size_t i = 0; i < study->parameter_count; i++) {
        const struct parameter *p = &study->parameters[i];
        json_array_append_new(list, json_make("{s:s,s:O,s:O*}", "path", p->path, "over",
                                              (json_t *)(uintptr_t)p->written, "as_written",
                                              json_object_get(has, p->path)));
    }
    json_decref(has);
    return list;
}

static json_t *objectives_json(const struct study *study, const struct candidates *all)
{
    json_t *list = json_array();
    for (size_t k = 0; k < study->objective_count; k++) {
        const struct objective *o = &study->objectives[k];
        json_array_append_new(list,
                              json_make("{s:s,s:s,s:s,s:s}", "name", o->name, "goal", o->max ? "max" : "min",
                                        "of", o->text, "unit", candidates_unit(all, k)));
    }
    return list;
}

static json_t *known_json(const struct candidates *all, const struct study *study)
{
    json_t *list = json_array();
    for (size_t i = 0; i < study->baseline_count && i < all->count; i++) {
        const struct known_settings *known = &study->baselines[i];
        json_t *entry = candidate_was_tried(all->items[i]) ? candidate_json(all->items[i], study) : NULL;
        if (entry && known->source)
            json_object_set_new(entry, "source", json_text(known->source));
        if (entry && known->left_out)
            json_object_set(entry, "left_out", known->left_out);
        if (entry)
            json_array_append_new(list, entry);
    }
    return list;
}

json_t *answer_make(const struct answer_of *of)
{
    const struct study *study = of->study;
    struct best best = best_of(of->all, study);
    json_t *front = json_array();
    size_t tried = 0, feasible = 0, whole = 0, early = 0;
    for (size_t i = 0; i < of->all->count; i++) {
        const struct candidate *c = of->all->items[i];
        early += c->early;
        tried += candidate_was_tried(c) && !c->known;
        feasible += !c->known && candidate_is_feasible(c);
        whole += !c->known && c->whole;
    }
    for (size_t i = 0; i < best.count; i++) {
        json_t *entry = candidate_json(best.items[i], study);
        if (i == best.knee)
            json_object_set_new(entry, "knee", json_true());
        json_array_append_new(front, entry);
    }
    json_t *document = json_make(
        "{s:i,s:s,s:s,s:s,s:s,s:s*,s:s,s:b,s:b,s:s,s:I,s:I,s:I,s:I,s:I,s:I}", "schema", 1, "program",
        "harness", "version", HARNESS_VERSION, "build", results_build(), "scenario",
        study->plan.first.scenario.name, "title", study->plan.first.scenario.title, "lab",
        study->plan.first.lab.name, "simulated", lab_kind(&study->plan.first.lab)->simulated, "complete",
        of->complete, "strategy", search_strategies[study->search->strategy], "seed", (json_int_t)of->seed,
        "rounds", (json_int_t)of->rounds, "runs", (json_int_t)of->runs, "candidates", (json_int_t)tried,
        "feasible", (json_int_t)feasible, "with_all_seeds", (json_int_t)whole);
    json_object_set_new(document, "seeds", json_integer((json_int_t)of->seeds));
    if (of->seeds < (size_t)study->search->seeds)
        json_object_set_new(document, "note",
                            json_text("seeds change nothing here: every candidate ran once"));
    if (study->search->stop_early)
        json_object_set_new(document, "stopped_early", json_integer((json_int_t)early));
    if (of->lost)
        json_object_set_new(document, "not_run", json_integer((json_int_t)of->lost));
    if (of->refused) {
        json_object_set_new(document, "refused", json_integer((json_int_t)of->refused));
        json_object_set_new(document, "refusal", json_text(of->refusal));
    }
    json_object_set_new(document, "scenario_file", json_text(study->plan.scenario_path));
    json_object_set_new(document, "lab_file", json_text(study->plan.lab_path));
    json_object_set_new(document, "parameters", parameters_json(study));
    json_object_set_new(document, "objectives", objectives_json(study, of->all));
    json_object_set_new(document, "known", known_json(of->all, study));
    json_object_set(document, "absent", study->absent);
    json_object_set_new(document, "front", front);
    json_t *trials = json_array();
    for (size_t i = 0; i < of->trial_count; i++)
        json_array_append_new(trials, trial_json(&of->trials[i], study));
    json_object_set_new(document, "trials", trials);
    json_object_set_new(document, "importance", importance_json(study, of->all));
    json_t *tries = json_array();
    for (size_t i = 0; i < of->all->count; i++)
        if (candidate_was_tried(of->all->items[i]) && !of->all->items[i]->known)
            json_array_append_new(tries, candidate_json(of->all->items[i], study));
    json_object_set_new(document, "tried", tries);
    best_free(&best);
    return document;
}

/* ---- lines for people */

static void add_choice(const json_t *choice, struct text *out)
{
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)choice, path, value)
    {
        char *shown = json_bare(value);
        text_add(out, "%s%s=%s", out->length ? " " : "", path, shown ? shown : "?");
        free(shown);
    }
}

/* What its runs warned of: the figures rest on it. */
static void print_warnings(const json_t *warnings)
{
    size_t count = json_array_size(warnings);
    if (count)
        print_out_line("  %-14s warning: %s", "", json_string_value(json_array_get(warnings, 0)));
    if (count > 1)
        print_out_line("  %-14s and %zu more, in search.json", "", count - 1);
}

static void print_entry(const json_t *entry, const json_t *objectives, const char *name)
{
    const json_t *objective;
    struct text line = {0}, values = {0};
    size_t k;
    json_array_foreach((json_t *)(uintptr_t)objectives, k, objective)
    {
        text_add(&line, "%s%s ", k ? ", " : "", run_member(objective, "name"));
        candidate_add_value(entry, objective, &line);
    }
    if (!json_is_true(json_object_get(entry, "feasible")))
        text_add(&line, "; not %s: %s", json_object_get(entry, "feasible") ? "allowed" : "known",
                 run_member(entry, "why"));
    print_out_line("  %-14s %s", name, text_string(&line));
    if (!*run_member(entry, "known")) {
        add_choice(json_object_get(entry, "values"), &values);
        print_out_line("  %-14s %s", "", text_string(&values));
    }
    text_free(&line);
    text_free(&values);
}

/* What belongs to known settings and has no place here: "rp.rpg_byte_reset=10000000". */
static void print_left_out(const json_t *left_out)
{
    const char *what;
    json_t *why;
    struct text words = {0};
    json_object_foreach((json_t *)(uintptr_t)left_out, what, why)
    {
        text_add(&words, "%s%s", words.length ? ", " : "", what);
    }
    if (words.length)
        print_out_line("  %-14s has no place here: %s", "", text_string(&words));
    text_free(&words);
}

static void print_known(const json_t *document)
{
    const json_t *entry;
    json_t *why;
    const char *name;
    size_t i;
    print_out_line("known settings:");
    json_array_foreach(json_object_get(document, "known"), i, entry)
    {
        print_entry(entry, json_object_get(document, "objectives"), run_member(entry, "known"));
        print_left_out(json_object_get(entry, "left_out"));
        print_warnings(json_object_get(entry, "warnings"));
    }
    json_object_foreach(json_object_get(document, "absent"), name, why)
    {
        print_out_line("  %-14s cannot be tried: %s", name, json_string_value(why));
    }
}

/* The command that runs the winner, for a shell. */
static void print_command(const json_t *document)
{
    const json_t *entry;
    const char *path;
    json_t *value;
    size_t i;
    json_array_foreach(json_object_get(document, "front"), i, entry)
    {
        bool wins = json_object_get(entry, "knee") && !*run_member(entry, "known");
        struct words command = {0};
        struct text line = {0};
        if (!wins)
            continue;
        words_add_all(&command, (const char *const[]){"harness", "run", run_member(document, "scenario_file"),
                                                      "--lab", run_member(document, "lab_file"), NULL});
        json_object_foreach(json_object_get(entry, "values"), path, value)
        {
            /* a text that is no JSON of its own needs no quotes */
            json_t *as_json =
                json_is_string(value) ? json_loads(json_string_value(value), JSON_DECODE_ANY, NULL) : NULL;
            char *text = json_is_string(value) && !as_json
                             ? strdup(json_string_value(value))
                             : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
            json_decref(as_json);
            words_add(&command, "--set");
            words_add(&command, "%s=%s", path, text ? text : "");
            free(text);
        }
        shell_quote_all(&line, (const char *const *)command.items);
        print_out_line("to run it: %s", text_string(&line));
        text_free(&line);
        words_free(&command);
    }
}

static void print_unexplored(const json_t *sentences)
{
    const json_t *sentence;
    size_t i;
    print_out_line("not explored:");
    json_array_foreach((json_t *)(uintptr_t)sentences, i, sentence)
    {
        print_out_line("  %s", json_string_value(sentence));
    }
}

void answer_print_runs(const json_t *document)
{
    if (json_integer_value(json_object_get(document, "stopped_early")))
        print_out_line("%lld of the runs were stopped early, as a constraint was broken",
                       (long long)json_integer_value(json_object_get(document, "stopped_early")));
    if (json_integer_value(json_object_get(document, "not_run")))
        print_out_line("%lld of the runs did not run, nor when they were made once more",
                       (long long)json_integer_value(json_object_get(document, "not_run")));
    if (json_integer_value(json_object_get(document, "refused")))
        print_out_line("%lld proposals were not tried, as the lab cannot run them: %s",
                       (long long)json_integer_value(json_object_get(document, "refused")),
                       run_member(document, "refusal"));
}

void answer_print(const json_t *document, const char *folder)
{
    const json_t *objectives = json_object_get(document, "objectives"), *entry,
                 *front = json_object_get(document, "front");
    size_t i;
    bool one = json_array_size(objectives) == 1;
    print_out_line("search of %s: %lld candidates in %lld runs%s%s", run_member(document, "scenario"),
                   (long long)json_integer_value(json_object_get(document, "candidates")),
                   (long long)json_integer_value(json_object_get(document, "runs")),
                   json_is_true(json_object_get(document, "simulated")) ? ", simulated" : "",
                   json_is_true(json_object_get(document, "complete")) ? "" : "; it has not ended");
    answer_print_runs(document);
    if (json_object_get(document, "note"))
        print_out_line("%s", run_member(document, "note"));
    print_known(document);
    print_out_line("%s", !json_array_size(front) ? "no candidate meets the constraints"
                         : one                   ? "best:"
                                                 : "none of these is better than another in all:");
    json_array_foreach((json_t *)(uintptr_t)front, i, entry)
    {
        const char *known = json_string_value(json_object_get(entry, "known"));
        char name[32];
        snprintf(name, sizeof name, "%zu%s", i + 1, json_object_get(entry, "knee") && !one ? " (knee)" : "");
        print_entry(entry, objectives, known ? known : name);
        if (!known) /* of known ones they have been printed */
            print_warnings(json_object_get(entry, "warnings"));
    }
    if (json_array_size(json_object_get(document, "trials")))
        print_out_line("%s, on what the search has not seen:", one ? "the best" : "the knee");
    json_array_foreach(json_object_get(document, "trials"), i, entry)
    {
        trial_print(entry, objectives);
    }
    if (json_object_get(document, "why"))
        print_out_line("why: %s", run_member(document, "why"));
    importance_print(json_object_get(document, "importance"));
    print_unexplored(json_object_get(document, "unexplored"));
    use_print(json_object_get(document, "use"), folder);
    print_command(document);
}

void answer_print_progress(const struct study *study, const struct candidates *all, size_t rounds,
                           size_t runs)
{
    struct best best = best_of(all, study);
    struct text line = {0};
    for (size_t k = 0; best.count && k < study->objective_count; k++) {
        double least = INFINITY;
        for (size_t i = 0; i < best.count; i++)
            least = fmin(least, best.values[i].of[k]);
        double value = study->objectives[k].max ? -least : least;
        struct sweep_unit unit = sweep_unit_near(candidates_unit(all, k), value);
        text_add(&line, "%s%s %.4g%s%s", k ? ", " : "", study->objectives[k].name, value * unit.factor,
                 *unit.name ? " " : "", unit.name);
    }
    print_out_line("round %zu, %zu runs: %s%s", rounds, runs,
                   best.count ? "best "
                              : "nothing meets the "
                                "constraints",
                   text_string(&line));
    fflush(stdout);
    text_free(&line);
    best_free(&best);
}

static void print_plan_json(const struct study *study)
{
    const struct scenario_search *s = study->search;
    json_t *over = json_object(), *objectives = json_array(), *known = json_array();
    for (size_t i = 0; i < study->parameter_count; i++)
        json_put(over, study->parameters[i].path, json_deep_copy(study->parameters[i].written));
    for (size_t k = 0; k < study->objective_count; k++)
        json_array_append_new(objectives, json_make("{s:s}", study->objectives[k].max ? "max" : "min",
                                                    study->objectives[k].name));
    for (size_t i = 0; i < study->baseline_count; i++)
        json_array_append_new(known, json_text(study->baselines[i].name));
    json_t *document =
        json_make("{s:s,s:s,s:o,s:o,s:o,s:b,s:s}", "scenario_file", study->plan.scenario_path, "lab_file",
                  study->plan.lab_path, "over", over, "objectives", objectives, "known", known, "reads_hosts",
                  known_reads_hosts(study), "strategy", search_strategies[s->strategy]);
    if (s->runs != FIELD_UNSET)
        json_object_set_new(document, "runs", json_integer(s->runs));
    json_print(stdout, document, 15);
    json_decref(document);
}

void answer_print_plan(const struct study *study, bool json)
{
    const struct scenario_search *s = study->search;
    if (json) {
        print_plan_json(study);
        return;
    }
    print_out_line("scenario %s, lab %s", study->plan.scenario_path, study->plan.lab_path);
    for (size_t i = 0; i < study->parameter_count; i++) {
        char *shown = json_shown(study->parameters[i].written);
        print_out_line("  %s: %s", study->parameters[i].path, shown ? shown : "?");
        free(shown);
    }
    for (size_t k = 0; k < study->objective_count; k++)
        print_out_line("  %s: %s", study->objectives[k].max ? "max" : "min", study->objectives[k].name);
    for (size_t i = 0; i < study->baseline_count; i++)
        print_out_line("  known settings: %s", study->baselines[i].name);
    if (known_reads_hosts(study))
        print_out_line("  known settings: what is in force on the hosts, read by the first run");
    if (s->runs != FIELD_UNSET)
        print_out_line("  at most %" PRId64 " runs, by %s", s->runs, search_strategies[s->strategy]);
}
