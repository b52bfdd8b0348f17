#include "harness/burn_in/burn_in.h"

#include "harness/burn_in/compare.h"
#include "harness/burn_in/document.h"
#include "harness/burn_in/findings.h"
#include "harness/burn_in/seen.h"
#include "harness/burn_in/stages.h"
#include "harness/compare/compare.h"
#include "harness/doctor/check.h"
#include "harness/plan/assign.h"
#include "harness/run/part.h"
#include "harness/run/precheck.h"
#include "harness/run/summary.h"
#include "harness/run/sweep.h"
#include "lib/clock.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/document/paths.h"
#include "lib/files.h"
#include "lib/formats/find.h"
#include "lib/log.h"
#include "lib/output/print.h"
#include "lib/process.h"
#include "lib/program/program.h"
#include "harness/run/results.h"
#include "reports/page/page_burn_in.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAGES_MOST 16

/* What is known of a stage before it runs. */
struct planned {
    const struct stage *stage;
    struct words sets; /* KEY=VALUE */
    struct text why;   /* it is skipped; empty: it runs */
    bool few;          /* because the lab has too few hosts */
    size_t runs;
    int64_t run_ns;         /* a run's phases, on its lab's clock */
    json_t *scenario, *lab; /* as its first run has them */
};

struct burn_in {
    const struct burn_in_request *request;
    char *lab_path;
    json_t *lab_document; /* as it was read */
    struct lab lab;
    struct stage_lab of;
    struct planned stages[STAGES_MOST];
    size_t count;
    json_t *baseline; /* NULL: none */
    char *folder;
    int lock;
    json_t *document, *seen;
    json_t *warnings;           /* an object, whose keys are sentences: said once, before the stages */
    struct interrupt interrupt; /* between stages; each sweep has its own */
    bool interrupted, incomplete, unkept; /* unkept: the document could not be written */
    bool stays;                           /* the folder has a document that is complete */
};

/* ---- the document */

/* One that is complete stays until there is another one that is. */
static int keep_document(struct burn_in *b, struct error *e)
{
    if (b->stays && !json_is_true(json_object_get(b->document, "complete")))
        return 0;
    char *path = files_join(b->folder, BURN_IN_DOCUMENT);
    int result = path ? json_file_save_readable(path, b->document, DOCUMENT_RESULT, false, e)
                      : error_set(e, "out of memory");
    free(path);
    return result;
}

static json_t *texts(char *const items[], size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_text(items[i]));
    return array;
}

static void begin_document(struct burn_in *b)
{
    const struct burn_in_request *r = b->request;
    char *started = results_time(), *lab = realpath(b->lab_path, NULL);
    json_t *request = json_make("{s:s,s:O,s:o,s:o,s:o,s:s?,s:I}", "lab", lab ? lab : b->lab_path,
                                "lab_document", b->lab_document, "set", texts(r->sets.items, r->sets.count),
                                "stages", texts(r->stages.items, r->stages.count), "fail_if",
                                texts(r->fail_if.items, r->fail_if.count), "baseline", r->baseline, "seed",
                                (json_int_t)r->seed);
    if (r->soak_ns != FIELD_UNSET)
        json_object_set_new(request, "soak_ns", json_integer(r->soak_ns));
    b->document = json_make("{s:i,s:s,s:s,s:s,s:s,s:b,s:b,s:s,s:s,s:o,s:[],s:[],s:[],s:{},s:{}}", "schema", 1,
                            "program", "harness", "version", HARNESS_VERSION, "build", results_build(), "lab",
                            b->lab.name, "simulated", b->of.simulated, "complete", 0, "verdict", "incomplete",
                            "started", started, "request", request, "stages", "findings", "unknown",
                            "figures", "facts");
    json_object_set_new(b->document, "warnings", json_keys(b->warnings));
    free(started);
    free(lab);
}

/* ---- the plan */

static bool is_wanted(const struct burn_in *b, const struct stage *stage)
{
    char *const *names = b->request->stages.items;
    for (size_t i = 0; i < b->request->stages.count; i++)
        if (strcmp(names[i], stage->name) == 0)
            return true;
    return b->request->stages.count == 0;
}

static int check_stages(const struct burn_in *b, struct error *e)
{
    const char *known[STAGES_MOST + 1] = {0};
    char *const *names = b->request->stages.items;
    struct text all = {0};
    int result = 0;
    for (size_t i = 0; i < STAGES_MOST && burn_in_stages[i].name; i++) {
        known[i] = burn_in_stages[i].name;
        text_add(&all, "%s%s", i ? ", " : "", known[i]);
    }
    for (size_t i = 0; i < b->request->stages.count && result == 0; i++) {
        bool found = false;
        for (size_t k = 0; known[k]; k++)
            found = found || strcmp(names[i], known[k]) == 0;
        if (!found)
            result = error_set(e, "--stages: there is no stage \"%.60s\": expected some of %s", names[i],
                               text_string(&all));
    }
    text_free(&all);
    return result;
}

/* What runs of the stage are asked for. The words live in `p`. */
static struct sweep_request sweep_request_of(const struct burn_in *b, const struct planned *p)
{
    return (struct sweep_request){.scenario = p->stage->path,
                                  .lab = b->lab_path,
                                  .sets = {.items = p->sets.items, .count = p->sets.count},
                                  .out = b->folder,
                                  .duration_ns = FIELD_UNSET,
                                  .repeats = 1,
                                  .seed = b->request->seed,
                                  .jobs = b->of.simulated ? b->request->jobs : FIELD_UNSET,
                                  .threads = FIELD_UNSET,
                                  .cells_per_task = FIELD_UNSET,
                                  .no_report = b->request->no_report,
                                  .said = b->warnings,
                                  .quiet = true,
                                  .tells_nothing = true};
}

/* Its runs are counted; is the scenario all right with this lab and these values, and can the lab run it? */
static int plan_stage(struct burn_in *b, struct planned *p, struct error *e)
{
    struct plan plan;
    struct plan_request request = {.scenario = p->stage->path,
                                   .lab = b->lab_path,
                                   .sets = (const char *const *)p->sets.items,
                                   .set_count = p->sets.count,
                                   .duration_ns = FIELD_UNSET,
                                   .seed = (uint64_t)b->request->seed};
    if (plan_load(&request, &plan, e) != 0)
        return error_prefix(e, "stage %s", p->stage->name);
    const struct scenario_phases *phases = &plan.first.scenario.phases;
    p->runs = plan.cell_count;
    p->scenario = json_incref(plan.first.scenario_json);
    p->lab = json_incref(plan.first.lab_json);
    p->run_ns = phases->warmup_ns + phases->measure_ns + phases->cooldown_ns;
    if (!b->seen)
        b->seen = burn_in_seen(&plan.first.lab);
    struct precheck precheck = {.seed = (uint64_t)b->request->seed, .threads = 1, .warnings = b->warnings};
    int result = precheck_plan(&plan, &precheck, e);
    plan_free(&plan);
    return result == 0 ? 0 : error_prefix(e, "stage %s", p->stage->name);
}

static int make_plan(struct burn_in *b, struct error *e)
{
    char *const *own = b->request->sets.items;
    int result = 0;
    for (const struct stage *stage = burn_in_stages; stage->name && result == 0; stage++) {
        struct planned *p = &b->stages[b->count++];
        *p = (struct planned){.stage = stage};
        if (!is_wanted(b, stage))
            text_add(&p->why, "--stages does not name it");
        else
            p->few = stage_is_skipped(stage, &b->of, &p->why);
        if (p->why.length || stage->ask)
            continue;
        stage_sets(stage, &b->of, &p->sets);
        for (size_t i = 0; i < b->request->sets.count; i++)
            words_add(&p->sets, "%s", own[i]);
        result = !p->sets.count || words_whole(&p->sets, e) == 0 ? plan_stage(b, p, e) : -1;
    }
    if (result == 0 && !b->seen)
        b->seen = burn_in_seen(&b->lab);
    return result;
}

/* A lab of hosts also needs time to start and end a run: settings, samplers, connections. */
#define AROUND_NS ((int64_t)8 * 1000000000)

static void add_time(int64_t ns, struct text *out)
{
    double seconds = (double)ns / 1e9;
    if (seconds >= 5400)
        text_add(out, "%.1f h", seconds / 3600);
    else if (seconds >= 90)
        text_add(out, "%.0f min", seconds / 60);
    else if (seconds >= 1)
        text_add(out, "%.0f s", seconds);
    else
        text_add(out, "%.3g ms", seconds * 1e3);
}

static void print_plan(const struct burn_in *b)
{
    int64_t all_ns = 0;
    struct text all = {0};
    print_out_line("burn-in of lab %s: %zu %s, %zu %s%s", b->lab.name, b->of.hosts,
                   THINGS(b->of.hosts, "host"), b->of.nics, THINGS(b->of.nics, "NIC"),
                   b->of.simulated ? " (simulated)" : "");
    for (size_t i = 0; i < b->count; i++) {
        const struct planned *p = &b->stages[i];
        struct text time = {0};
        int64_t ns = (int64_t)p->runs * (p->run_ns + (b->of.simulated ? 0 : AROUND_NS));
        all_ns += ns;
        add_time(ns, &time);
        if (p->why.length)
            print_out_line("  %-11s skipped: %s", p->stage->name, text_string(&p->why));
        else if (p->stage->ask)
            print_out_line("  %-11s %s", p->stage->name, p->stage->about);
        else
            print_out_line("  %-11s %zu %s, %s%s: %s", p->stage->name, p->runs, THINGS(p->runs, "run"),
                           b->of.simulated ? "together " : "about ", text_string(&time), p->stage->about);
        text_free(&time);
    }
    add_time(all_ns, &all);
    print_out_line(b->of.simulated ? "  together %s of simulated time" : "  together about %s",
                   text_string(&all));
    text_free(&all);
}

/* ---- a stage's results in its folder */

/* Was the result begun for what the stage is to run? That of another stage, lab or seed may lie there. Its
 * runs are compared when it is resumed. */
static bool is_of_stage(const struct burn_in *b, const struct planned *p, const char *folder)
{
    struct error e;
    char *path = files_join(folder, "request.json");
    bool sweep = path && files_exist(path);
    if (!sweep) {
        free(path);
        path = files_join(folder, "result.json");
    }
    if (path && !files_exist(path)) { /* it was killed at its beginning */
        free(path);
        return false;
    }
    json_t *kept = path ? json_file_load(path, DOCUMENT_RESULT, &e) : NULL,
           *sets = texts(p->sets.items, p->sets.count);
    const json_t *scenario = json_object_get(kept, "scenario"), *lab = json_object_get(kept, "lab");
    bool is = sweep ? json_equal(json_object_get(scenario, "name"), json_object_get(p->scenario, "name")) &&
                          json_equal(lab, b->lab_document) && json_equal(json_object_get(kept, "set"), sets)
                    : json_equal(scenario, p->scenario) && json_equal(lab, p->lab);
    is = is && json_integer_value(json_object_get(kept, "seed")) == b->request->seed;
    if (!is)
        log_warning("%s is not of stage %s of this burn-in, which runs anew", folder, p->stage->name);
    json_decref(kept);
    json_decref(sets);
    free(path);
    return is;
}

/* Run it, or what is missing of it. The program's exit status for it. */
static int run_stage(const struct burn_in *b, const struct planned *p)
{
    const struct sweep_request request = sweep_request_of(b, p);
    char *there = b->request->resume ? part_last(b->folder, stage_folder(p->stage)) : NULL;
    int status = part_run(&request, NULL, stage_folder(p->stage), there && is_of_stage(b, p, there));
    free(there);
    return status;
}

static json_t *stage_entry(struct burn_in *b, const struct planned *p, const char *verdict,
                           const char *reason, const char *folder, size_t runs, double seconds)
{
    json_t *entry =
        json_make("{s:s,s:s,s:s}", "name", p->stage->name, "about", p->stage->about, "verdict", verdict);
    if (reason)
        json_object_set_new(entry, "reason", json_text(reason));
    if (folder)
        json_object_set_new(entry, "folder", json_text(folder));
    if (runs)
        json_object_set_new(entry, "runs", json_integer((json_int_t)runs));
    if (seconds > 0)
        json_object_set_new(entry, "wall_s", json_real(seconds));
    json_array_append_new(json_object_get(b->document, "stages"), entry);
    if (!b->request->quiet && !b->request->json)
        print_out_line("%-11s %s%s%s", p->stage->name, strcmp(verdict, "passed") == 0 ? "done" : verdict,
                       reason ? ": " : "", reason ? reason : "");
    fflush(stdout);
    return entry;
}

/* The sentences of what runs said, each with how many others said it. A new array. `said`: what need not be
 * said again; may be NULL. */
static json_t *sentences_of(const json_t *all, const json_t *said)
{
    json_t *list = json_array(), *one;
    const char *key;
    json_object_foreach((json_t *)(uintptr_t)all, key, one)
    {
        const char *says = json_string_value(json_object_get(one, "says"));
        size_t others = (size_t)json_integer_value(json_object_get(one, "runs")) - 1;
        if (summary_was_said(said, says))
            continue;
        json_array_append_new(
            list, others ? json_textf("%s (and in %zu more %s)", says, others, THINGS(others, "run"))
                         : json_text(says));
    }
    return list;
}

static void tell_warnings(json_t *entry, const char *stage, json_t *sentences)
{
    const json_t *sentence;
    size_t i;
    json_array_foreach(sentences, i, sentence)
    {
        log_warning("%s: %s", stage, json_string_value(sentence));
    }
    if (i)
        json_object_set(entry, "warnings", sentences);
    json_decref(sentences);
}

/* Findings are to say why. */
static void note_failed(struct burn_in *b, const struct stage *stage, const char *reason, const char *folder)
{
    json_object_set_new(json_object_get(b->seen, "failed"), stage->name,
                        json_make("{s:s,s:s}", "says", reason, "folder", folder));
}

/* What the stage measured is added to what was seen. */
static void see_stage(struct burn_in *b, const struct planned *p, int status, double seconds)
{
    struct error e;
    struct stage_said said = {0};
    struct text failed = {0};
    json_t *sentences;
    const json_t *sentence;
    size_t i;
    char *path = part_last(b->folder, stage_folder(p->stage));
    const char *shown = path ? path + strlen(b->folder) + 1 : NULL, *reason = NULL, *verdict = "incomplete";
    int result =
        path ? burn_in_see_result(b->seen, p->stage->name, p->stage->light, path, shown, &b->lab, &said, &e)
             : error_set(&e, "it left no result: the messages above say why");
    sentences = sentences_of(said.failed, NULL);
    json_array_foreach(sentences, i, sentence)
    {
        text_add(&failed, "%s%s", i ? "; " : "", json_string_value(sentence));
    }
    if (result != 0)
        reason = e.text;
    else if (status == EXIT_INTERRUPTED)
        reason = "interrupted";
    else if (status == EXIT_LAB || status == EXIT_USAGE)
        reason = "the lab failed: the messages above say why";
    else
        verdict = status == EXIT_FAILED ? "failed" : status == EXIT_SKIPPED ? "skipped" : "passed";
    if (status == EXIT_SKIPPED && result == 0)
        reason = "nothing of it could be decided on this lab";
    if (strcmp(verdict, "failed") == 0) {
        reason = failed.length ? text_string(&failed) : "an expectation failed: its results say which";
        note_failed(b, p->stage, reason, shown);
    }
    b->interrupted |= status == EXIT_INTERRUPTED;
    b->incomplete |= strcmp(verdict, "incomplete") == 0;
    tell_warnings(stage_entry(b, p, verdict, reason, shown, said.runs, seconds), p->stage->name,
                  sentences_of(said.warned, b->warnings));
    json_decref(sentences);
    json_decref(said.failed);
    json_decref(said.warned);
    text_free(&failed);
    free(path);
}

/* ---- what hosts answer */

/* Kept in the stage's folder. */
static void keep_answers(const struct burn_in *b, const struct stage *stage, const json_t *answers)
{
    struct error e;
    struct text name = {0};
    char *folder = files_join(b->folder, stage_folder(stage));
    text_add(&name, "%s.json", stage->name);
    char *path =
        folder && files_make_folders(folder, &e) == 0 ? files_join(folder, text_string(&name)) : NULL;
    if (path && json_file_save(path, answers, &e) != 0)
        log_warning("%s", e.text);
    text_free(&name);
    free(folder);
    free(path);
}

static void ask_hosts(struct burn_in *b, const struct planned *p)
{
    static const char failed[] = "a host failed it: findings, what is not known, and notes say why";
    struct error e;
    int status = EXIT_DONE;
    int64_t began = clock_monotonic_ns();
    json_t *answers = p->stage->ask(&b->lab, b->lab_path, &status, &e);
    const char *folder = answers ? stage_folder(p->stage) : NULL;
    double seconds = (double)(clock_monotonic_ns() - began) / 1e9;
    if (!answers)
        stage_entry(b, p, "incomplete", e.text, NULL, 0, 0);
    else if (status == EXIT_SKIPPED)
        stage_entry(b, p, "skipped", "no host has it", folder, 0, seconds);
    else
        stage_entry(b, p, status == EXIT_LAB ? "failed" : "passed", status == EXIT_LAB ? failed : NULL,
                    folder, 0, seconds);
    if (answers && status == EXIT_LAB)
        note_failed(b, p->stage, failed, folder);
    b->incomplete |= !answers;
    b->interrupted |= status == EXIT_INTERRUPTED;
    if (answers) {
        keep_answers(b, p->stage, answers);
        json_object_set(b->seen, p->stage->name, answers);
    }
    json_decref(answers);
}

/* ---- the whole */

static bool any_stage(const struct burn_in *b, const char *verdict)
{
    const json_t *stages = json_object_get(b->document, "stages"), *entry;
    size_t i;
    json_array_foreach(stages, i, entry)
    {
        if (strcmp(json_string_value(json_object_get(entry, "verdict")), verdict) == 0)
            return true;
    }
    return false;
}

/* A stage that showed what is bad has not passed. */
static void mark_stages(struct burn_in *b, const json_t *findings)
{
    const json_t *finding;
    json_t *stage;
    size_t i, k;
    json_array_foreach(findings, i, finding)
    {
        json_array_foreach(json_object_get(b->document, "stages"), k, stage)
        {
            const char *verdict = json_string_value(json_object_get(stage, "verdict"));
            if (strcmp(verdict, "passed") == 0 &&
                json_equal(json_object_get(stage, "name"), json_object_get(finding, "stage")))
                json_object_set_new(stage, "verdict", json_text("failed"));
        }
    }
}

static bool any_unjudged(const json_t *rules)
{
    const json_t *rule;
    size_t i;
    json_array_foreach(rules, i, rule)
    {
        if (verdict_of(json_string_value(json_object_get(rule, "verdict"))) == VERDICT_SKIPPED)
            return true;
    }
    return false;
}

static void judge_stages(struct burn_in *b)
{
    if (b->baseline)
        json_object_set(b->seen, "baseline", b->baseline);
    json_t *found = burn_in_findings(b->seen);
    char *finished = results_time();
    json_object_set(b->document, "facts", json_object_get(b->seen, "facts"));
    if (json_object_get(b->seen, "nvbandwidth"))
        json_object_set(b->document, "nvbandwidth", json_object_get(b->seen, "nvbandwidth"));
    json_object_update(b->document, found);
    mark_stages(b, json_object_get(found, "findings"));
    json_t *rules = burn_in_judge_rules(b->baseline, b->document, &b->request->fail_if);
    bool bad = json_array_size(json_object_get(found, "findings")) > 0 ||
               verdict_with(VERDICT_UNJUDGED, rules) == VERDICT_FAILED,
         open = json_array_size(json_object_get(found, "unknown")) > 0 || any_unjudged(rules);
    if (json_array_size(rules))
        json_object_set(b->document, "rules", rules);
    json_decref(rules);
    const char *verdict = b->incomplete || b->interrupted ? "incomplete"
                          : bad                           ? "failed"
                          : open                          ? "undecided"
                          : any_stage(b, "passed")        ? "passed"
                                                          : "skipped";
    json_object_set_new(b->document, "verdict", json_text(verdict));
    json_object_set_new(b->document, "complete", json_boolean(strcmp(verdict, "incomplete") != 0));
    json_object_set_new(b->document, "finished", json_text(finished));
    free(finished);
    json_decref(found);
}

static int exit_status(const struct burn_in *b)
{
    const char *verdict = json_string_value(json_object_get(b->document, "verdict"));
    return b->interrupted                                    ? EXIT_INTERRUPTED
           : b->unkept || strcmp(verdict, "incomplete") == 0 ? EXIT_LAB
           : strcmp(verdict, "failed") == 0                  ? EXIT_FAILED
           : strcmp(verdict, "passed") == 0                  ? EXIT_DONE
                                                             : EXIT_SKIPPED;
}

static void print_findings(const struct burn_in *b)
{
    const json_t *finding, *line, *list = json_object_get(b->document, "findings");
    size_t i, k;
    json_array_foreach(list, i, finding)
    {
        print_out_line("%s: %s%s", json_string_value(json_object_get(finding, "culprit")),
                       json_string_value(json_object_get(finding, "says")),
                       json_is_true(json_object_get(finding, "sure")) ? "" : " (likely)");
        json_array_foreach(json_object_get(finding, "evidence"), k, line)
        {
            print_out_line("    %s", json_string_value(line));
        }
        const char *source = json_string_value(json_object_get(finding, "source"));
        if (source && *source)
            print_out_line("    expected: %s", source);
    }
    json_array_foreach(json_object_get(b->document, "rules"), i, line)
    {
        print_out_line("%-8s %s (%s)", json_string_value(json_object_get(line, "verdict")),
                       json_string_value(json_object_get(line, "rule")),
                       json_string_value(json_object_get(line, "reason")));
    }
    json_array_foreach(json_object_get(b->document, "unknown"), i, line)
    {
        print_out_line("not known: %s", json_string_value(line));
    }
    json_array_foreach(json_object_get(b->document, "notes"), i, line)
    {
        print_out_line("note: %s", json_string_value(line));
    }
}

/* A page of before would be of another verdict. */
static bool draw_page(const struct burn_in *b, const char *page)
{
    struct error e;
    if (b->request->no_report || !page)
        return false;
    if (page_burn_in_write(b->document, page, &e) == 0)
        return true;
    log_warning("no page: %s", e.text);
    (void)unlink(page);
    return false;
}

static void conclude(struct burn_in *b)
{
    struct error e;
    const struct burn_in_request *r = b->request;
    char *page = files_join(b->folder, "index.html");
    if (!b->unkept && keep_document(b, &e) != 0) {
        log_error("%s", e.text);
        b->unkept = true;
    }
    bool stays = b->stays && (b->unkept || !json_is_true(json_object_get(b->document, "complete")));
    bool drawn = !stays && draw_page(b, page);
    if (!stays && results_point_latest(b->folder, &e) != 0)
        log_warning("%s", e.text);
    if (stays)
        log_info("the answer of before stays in %s", b->folder);
    if (r->json) {
        json_print(stdout, b->document, 15);
    } else if (!r->quiet) {
        print_findings(b);
        print_out_line("burn-in of %s: %s%s, %zu %s", b->lab.name,
                       json_string_value(json_object_get(b->document, "verdict")),
                       b->of.simulated ? " (simulated)" : "",
                       json_array_size(json_object_get(b->document, "findings")),
                       THINGS(json_array_size(json_object_get(b->document, "findings")), "finding"));
        if (drawn)
            print_out_line("page: %s", page);
        if (!stays)
            print_out_line("result: %s", b->folder);
    }
    if (b->interrupted || b->incomplete || b->unkept) {
        log_info("this runs what is missing:");
        request_print_resume(stderr, "burn-in", b->folder, NULL);
    }
    free(page);
}

/* How it was started, for those who read it, and for --resume. */
static int keep_request(const struct burn_in *b, struct error *e)
{
    static const char *const keys[] = {"schema", "program", "version", "build"};
    json_t *request = json_copy(json_object_get(b->document, "request"));
    json_object_set_new(request, "command", json_text("burn-in"));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        json_object_set(request, keys[i], json_object_get(b->document, keys[i]));
    int result = request_write(b->folder, request, e);
    json_decref(request);
    return result;
}

static bool is_complete(const char *folder)
{
    struct error ignored;
    json_t *document = burn_in_load(folder, &ignored);
    bool complete = json_is_true(json_object_get(document, "complete"));
    json_decref(document);
    return complete;
}

/* The folder, locked while this runs. */
static int open_folder(struct burn_in *b, struct error *e)
{
    struct text name = {0};
    const char *resume = b->request->resume;
    text_add(&name, "burn-in-%s", b->lab.name);
    char *made = resume ? NULL : results_make_folder(b->request->out, text_string(&name), e);
    text_free(&name);
    b->folder = resume || made ? realpath(resume ? resume : made, NULL) : NULL;
    free(made);
    if (!b->folder)
        return resume || made ? error_set_errno(e, errno, "opening the folder of the burn-in") : -1;
    if (!resume && keep_request(b, e) != 0)
        return -1;
    b->lock = request_lock(b->folder, e);
    b->stays = b->lock >= 0 && resume && is_complete(b->folder);
    return b->lock >= 0 ? 0 : -1;
}

static int run_all(struct burn_in *b)
{
    struct error e;
    for (size_t i = 0; i < b->count && !b->interrupted; i++) {
        const struct planned *p = &b->stages[i];
        if (p->why.length) {
            json_array_append_new(json_object_get(b->document, "stages"),
                                  json_make("{s:s,s:s,s:s,s:s}", "name", p->stage->name, "about",
                                            p->stage->about, "verdict", "skipped", "reason",
                                            text_string(&p->why)));
            if (p->few)
                json_array_append_new(json_object_get(b->seen, "untested"),
                                      json_textf("%s were tested by nothing: %s (--stages can leave %s out)",
                                                 p->stage->tests, text_string(&p->why), p->stage->name));
        } else if (p->stage->ask) {
            ask_hosts(b, p);
        } else {
            int64_t began = clock_monotonic_ns();
            int status = run_stage(b, p);
            see_stage(b, p, status, (double)(clock_monotonic_ns() - began) / 1e9);
        }
        b->interrupted |= interrupt_count(&b->interrupt) > 0;
        if (keep_document(b, &e) != 0) {
            log_error("%s", e.text);
            b->unkept = true;
            break;
        }
    }
    judge_stages(b);
    conclude(b);
    return exit_status(b);
}

static void burn_in_close(struct burn_in *b)
{
    for (size_t i = 0; i < b->count; i++) {
        words_free(&b->stages[i].sets);
        text_free(&b->stages[i].why);
        json_decref(b->stages[i].scenario);
        json_decref(b->stages[i].lab);
    }
    if (b->lock >= 0)
        close(b->lock);
    if (b->lab_path)
        lab_free(&b->lab);
    json_decref(b->lab_document);
    json_decref(b->baseline);
    json_decref(b->document);
    json_decref(b->seen);
    json_decref(b->warnings);
    free(b->lab_path);
    free(b->folder);
}

/* The lab's document with what --set changes in it: what a lab has decides which stages it can have. A new
 * reference. */
static json_t *lab_with_sets(const struct burn_in *b, struct error *e)
{
    char *const *sets = b->request->sets.items;
    json_t *lab = lab_expand_ranges(b->lab_document, e), *scenario = json_object();
    int result = lab ? 0 : -1;
    for (size_t i = 0; i < b->request->sets.count && result == 0; i++) {
        char *path = NULL;
        json_t *value = NULL;
        result = paths_assignment(sets[i], &path, &value, e);
        if (result == 0 && paths_in_lab(path))
            result = assign_value(scenario, lab, path, value, e);
        free(path);
        json_decref(value);
        if (result != 0)
            error_prefix(e, "--set %s", sets[i]);
    }
    json_t *whole = result == 0 ? lab_expand(lab, e) : NULL;
    json_decref(lab);
    json_decref(scenario);
    return whole;
}

static int find_lab_of(struct burn_in *b, struct error *e)
{
    const char *why;
    char *path = find_lab(b->request->lab, NULL, NULL, &why, e);
    b->lab_document = path ? json_file_load(path, DOCUMENT_LAB, e) : NULL;
    json_t *whole = b->lab_document ? lab_with_sets(b, e) : NULL;
    if (!whole || lab_parse(whole, path, &b->lab, e) != 0) {
        if (b->lab_document)
            error_prefix(e, "%s", path);
        json_decref(whole);
        free(path);
        return -1;
    }
    json_decref(whole);
    b->lab_path = path;
    b->of = stage_lab_of(&b->lab, b->request->soak_ns);
    if (b->request->resume && !json_equal(b->request->lab_document, b->lab_document))
        return error_set(
            e,
            "%s was changed since the burn-in in %s was begun, whose stages would be of two labs: "
            "put it back, or run the burn-in anew",
            path, b->request->resume);
    return 0;
}

static int find_baseline(struct burn_in *b, struct error *e)
{
    const char *said = b->request->baseline;
    if (burn_in_check_rules(&b->request->fail_if, said != NULL, e) != 0)
        return -1;
    if (!said)
        return 0;
    char *path = files_exist(said) ? strdup(said) : compare_find(said, e);
    b->baseline = path ? burn_in_load(path, e) : NULL;
    free(path);
    return b->baseline ? 0 : error_prefix(e, "--baseline");
}

static bool has_any(const json_t *document, const char *key)
{
    return json_object_size(json_object_get(document, key)) > 0;
}

/* Before anything runs: does the baseline say anything of what this burn-in will measure? */
static int check_baseline(const struct burn_in *b, struct error *e)
{
    const json_t *figures = json_object_get(b->baseline, "figures"),
                 *nodes = json_object_get(b->seen, "nodes");
    const char *nic, *lab = json_string_value(json_object_get(b->baseline, "lab"));
    json_t *of;
    if (!b->baseline)
        return 0;
    if (!has_any(b->baseline, "figures") && !has_any(b->baseline, "collectives") &&
        !has_any(b->baseline, "nvbandwidth"))
        return error_set(e,
                         "--baseline %s has no figures, as its stages were skipped: expected a burn-in that "
                         "measured something",
                         b->request->baseline);
    json_object_foreach((json_t *)(uintptr_t)figures, nic, of)
    {
        if (json_object_get(nodes, nic))
            return 0;
    }
    return !json_object_size(figures)
               ? 0
               : error_set(e,
                           "--baseline %s is of lab %s, and none of its NICs is one of lab %s: expected a "
                           "burn-in of the same NICs",
                           b->request->baseline, lab ? lab : "?", b->lab.name);
}

static int burn_in_begin(const struct burn_in_request *request)
{
    struct burn_in b = {.request = request, .lock = -1, .interrupt.fd = -1, .warnings = json_object()};
    struct error e;
    int status = EXIT_USAGE;
    if (check_stages(&b, &e) != 0 || find_lab_of(&b, &e) != 0 || find_baseline(&b, &e) != 0 ||
        make_plan(&b, &e) != 0 || check_baseline(&b, &e) != 0) {
        log_error("%s", e.text);
    } else {
        doctor_log_warnings(b.warnings);
        if (!request->quiet && !request->json)
            print_plan(&b);
        fflush(stdout);
        begin_document(&b);
        if (request->dry_run) {
            if (request->json)
                json_print(stdout, b.document, 15);
            status = EXIT_DONE;
        } else if (open_folder(&b, &e) != 0 || keep_document(&b, &e) != 0 ||
                   interrupt_open(&b.interrupt, &e) != 0) {
            log_error("%s", e.text);
        } else {
            status = run_all(&b);
            interrupt_close(&b.interrupt);
        }
    }
    burn_in_close(&b);
    return status;
}

/* ---- going on */

/* What the folder has, whose texts point into the document. */
static int resumed_request(const json_t *kept, const struct burn_in_request *asked,
                           struct burn_in_request *request, char **words, struct error *e)
{
    const json_t *soak = json_object_get(kept, "soak_ns");
    const struct {
        const char *key;
        struct list_of *of;
    } lists[] = {{"set", &request->sets}, {"stages", &request->stages}, {"fail_if", &request->fail_if}};
    *request = *asked;
    request->lab = json_string_value(json_object_get(kept, "lab"));
    request->baseline = json_string_value(json_object_get(kept, "baseline"));
    request->seed = json_integer_value(json_object_get(kept, "seed"));
    request->soak_ns = json_is_integer(soak) ? json_integer_value(soak) : FIELD_UNSET;
    request->lab_document = json_object_get(kept, "lab_document");
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        const json_t *list = json_object_get(kept, lists[k].key), *word;
        size_t i;
        if (lists[k].of->count) /* said anew */
            continue;
        lists[k].of->items = words;
        json_array_foreach(list, i, word)
        {
            if (!json_is_string(word))
                return error_set(e, "%s/request.json: %s: expected a list of texts", asked->resume,
                                 lists[k].key);
            *words++ = (char *)(uintptr_t)json_string_value(word);
        }
        lists[k].of->count = i;
    }
    return request->lab ? 0 : error_set(e, "%s/request.json: lab is missing", asked->resume);
}

static int burn_in_resume(const struct burn_in_request *asked)
{
    struct burn_in_request request = *asked;
    struct error e;
    json_t *kept = request_read(asked->resume, "burn-in", &e);
    char **words = calloc(json_array_size(json_object_get(kept, "set")) +
                              json_array_size(json_object_get(kept, "stages")) +
                              json_array_size(json_object_get(kept, "fail_if")) + 1,
                          sizeof *words);
    int status = EXIT_USAGE;
    if (!kept || !words || resumed_request(kept, asked, &request, words, &e) != 0)
        log_error("%s", words ? e.text : "out of memory");
    else
        status = burn_in_begin(&request);
    free(words);
    json_decref(kept);
    return status;
}

int burn_in_run(const struct burn_in_request *request)
{
    return request->resume ? burn_in_resume(request) : burn_in_begin(request);
}
