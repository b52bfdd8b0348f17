#include "harness/reduce/tries.h"

#include "harness/reduce/edits.h"
#include "harness/run/part.h"
#include "harness/run/sweep.h"
#include "harness/run/workers.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/document/paths.h"
#include "lib/files.h"
#include "lib/formats/result_flows.h"
#include "lib/folder/sweep_index.h"
#include "lib/program/program.h"
#include "lib/xalloc.h"
#include "reports/results/run.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a scenario is */

static const json_t *part_of(const json_t *documents, const char *key)
{
    return json_object_get(documents, key);
}

static struct plan_documents plan_documents_of(const struct tries *t, const json_t *documents)
{
    return (struct plan_documents){.scenario = (json_t *)(uintptr_t)part_of(documents, "scenario"),
                                   .lab = (json_t *)(uintptr_t)part_of(documents, "lab"),
                                   .scenario_path = "scenario.json",
                                   .lab_path = t->lab_path,
                                   .lab_why = "the run"};
}

/* Without what is only read by people. */
static json_t *plain_of(const struct table *table, json_t *document)
{
    static const char *const words[] = {"title", "lab", "sources"};
    json_t *copy = json_copy(document), *plain;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        json_object_del(copy, words[i]);
    plain = table_plain(table, copy);
    json_decref(copy);
    return plain;
}

char *tries_identity(const struct tries *t, const json_t *documents, struct error *e)
{
    const struct plan_documents read = plan_documents_of(t, documents);
    const struct plan_request request = {
        .documents = &read, .duration_ns = FIELD_UNSET, .seed = (uint64_t)t->seed};
    struct text words = {0};
    struct plan plan;
    if (plan_load(&request, &plan, e) != 0)
        return NULL;
    json_t *lab = lab_expand(plan.first.lab_json, e),
           *one = lab ? plain_of(&lab_kind(&plan.first.lab)->table, lab) : NULL,
           *other = plain_of(&scenario_table, plan.first.scenario_json);
    if (one && other) {
        json_add_canonical(one, &words);
        json_add_canonical(other, &words);
    }
    json_decref(one);
    json_decref(other);
    json_decref(lab);
    plan_free(&plan);
    return text_take(&words);
}

/* A folder's name. */
static void name_of(const char *identity, char name[32])
{
    snprintf(name, 32, "try-%016" PRIx64, text_hash(identity, strlen(identity)));
}

/* ---- its runs */

const json_t *tries_expectation(const json_t *result)
{
    return json_array_get(json_object_get(result, "expectations"), 0);
}

static size_t idle_flows(const json_t *result, bool *errors)
{
    const char *name;
    json_t *flow;
    size_t idle = 0;
    *errors = false;
    json_object_foreach(json_object_get(result, "flows"), name, flow)
    {
        idle += json_number_value(json_object_get(flow, "bytes")) <= 0;
        *errors = *errors || json_number_value(json_object_get(flow, "errors")) > 0;
    }
    return idle;
}

/* One message more or less of so few is 5 % of a rate. */
#define MESSAGES_LEAST 20

/* Flows whose goodput in the phase is not their rate, but a matter of counting whole messages, where the
 * expectation reads one. */
static size_t miscounted_flows(const json_t *result)
{
    const char *name, *check = run_member(tries_expectation(result), "check");
    bool reads = strstr(check, "goodput_") || strstr(check, "messages_per_s");
    json_t *flow;
    size_t count = 0;
    json_object_foreach(reads ? json_object_get(result, "flows") : NULL, name, flow)
    {
        double messages = json_number_value(json_object_get(flow, "messages"));
        count += !result_flow_ends(flow) && messages > 0 &&
                 (messages < MESSAGES_LEAST || result_flow_is_far(flow));
    }
    return count;
}

static enum seen see(struct tries *t, const json_t *result)
{
    const json_t *entry = tries_expectation(result);
    enum verdict verdict = verdict_of(run_member(entry, "verdict"));
    bool errors;
    size_t idle = idle_flows(result, &errors);
    if (!json_is_true(json_object_get(result, "complete"))) {
        error_set(&t->why, "%s", run_member(result, "reason"));
        return SEEN_NOTHING;
    }
    if (verdict != VERDICT_FAILED && verdict != VERDICT_PASSED) {
        error_set(&t->why, "%s", run_member(entry, "reason"));
        return SEEN_UNJUDGED;
    }
    if (verdict == VERDICT_FAILED && (idle > t->idle || (errors && !t->errors))) {
        error_set(&t->why, "flows moved nothing, or failed");
        return SEEN_NEITHER;
    }
    if (verdict == VERDICT_FAILED && miscounted_flows(result) > t->miscounted) {
        error_set(&t->why, "flows completed so few messages that one more or less makes their goodput");
        return SEEN_NEITHER;
    }
    error_set(&t->why, "%s", run_member(entry, "reason"));
    return verdict == VERDICT_FAILED ? SEEN_FAILED : SEEN_PASSED;
}

static json_t *result_in(const char *folder, const char *run)
{
    struct error e;
    char *in = run ? files_join(folder, run) : xstrdup(folder),
         *path = in ? files_join(in, "result.json") : NULL;
    json_t *result = path ? json_file_load(path, DOCUMENT_RESULT, &e) : NULL;
    free(path);
    free(in);
    return result;
}

/* All runs of a part: what was seen of each of them. */
static enum seen see_part(struct tries *t, const char *name, int64_t repeats)
{
    char *folder = part_last(t->folder, name);
    enum seen all = SEEN_NOTHING;
    for (int64_t i = 0; folder && i < repeats; i++) {
        char run[24];
        snprintf(run, sizeof run, "%02" PRId64, i + 1);
        json_t *result = result_in(folder, repeats > 1 ? run : NULL);
        enum seen one = result ? see(t, result) : SEEN_NOTHING;
        json_decref(result);
        all = i == 0 || all == one || one == SEEN_NOTHING ? one : all == SEEN_NOTHING ? all : SEEN_NEITHER;
    }
    free(folder);
    return all;
}

/* Remove what an earlier try left of a part, if the part is to be made anew. */
static int forget_part(struct tries *t, const char *name)
{
    char *folder = t->anew ? files_join(t->folder, name) : NULL;
    int result = folder && files_exist(folder) ? files_remove_tree(folder, &t->why) : 0;
    free(folder);
    return result;
}

/* Whatever the folders: is it the scenario that cannot be run? */
static bool is_refused(struct tries *t, const struct sweep_request *request,
                       const struct plan_documents *documents)
{
    struct sweep s;
    bool refused = sweep_open(&s, request, documents, NULL, &t->why) != 0;
    sweep_free(&s);
    return refused;
}

/* EXIT_DONE: it has run; EXIT_USAGE: it is refused; else it is not known whether it would run. */
static int make_part(struct tries *t, const json_t *documents, const char *name, int64_t seed,
                     int64_t repeats, size_t jobs)
{
    const struct plan_documents read = plan_documents_of(t, documents);
    struct text set = {0};
    text_add(&set, "name=%s", name);
    const char *sets[] = {text_string(&set)};
    struct sweep_request request = {.sets = {.items = sets, .count = 1},
                                    .out = t->folder,
                                    .duration_ns = FIELD_UNSET,
                                    .repeats = repeats,
                                    .seed = seed,
                                    .jobs = (int64_t)jobs,
                                    .threads = FIELD_UNSET,
                                    .cells_per_task = FIELD_UNSET,
                                    .no_report = true,
                                    .quiet = true,
                                    .yes = true,
                                    .tells_nothing = true};
    int status = forget_part(t, name) == 0 ? part_run(&request, &read, name, true) : EXIT_LAB;
    if (status == EXIT_USAGE && !is_refused(t, &request, &read))
        status = EXIT_LAB;
    text_free(&set);
    return status == EXIT_FAILED || status == EXIT_SKIPPED ? EXIT_DONE : status;
}

static enum seen run_part(struct tries *t, const json_t *documents, const char *name, int64_t seed,
                          int64_t repeats)
{
    int status = make_part(t, documents, name, seed, repeats, 1);
    return status == EXIT_DONE    ? see_part(t, name, repeats)
           : status == EXIT_USAGE ? SEEN_UNJUDGED
                                  : SEEN_NOTHING;
}

/* With all seeds, or until it is not as wanted: further ones only if the first run is. */
static enum seen run_seeds(struct tries *t, const json_t *documents, enum seen wanted)
{
    char name[32], more[40];
    char *identity = tries_identity(t, documents, &t->why);
    if (!identity)
        return SEEN_NEITHER;
    name_of(identity, name);
    free(identity);
    snprintf(more, sizeof more, "%s-more", name);
    enum seen seen = run_part(t, documents, name, t->seed, 1);
    if (seen == wanted && t->seeds > 1) {
        seen = run_part(t, documents, more, t->seed + 1, t->seeds - 1);
        seen = seen == wanted || seen == SEEN_NOTHING ? seen : SEEN_NEITHER;
    }
    return seen;
}

json_t *tries_result(const struct tries *t, const json_t *documents, char **folder)
{
    struct error e;
    char name[32], *identity = tries_identity(t, documents, &e);
    json_t *result = NULL;
    *folder = NULL;
    if (identity) {
        name_of(identity, name);
        *folder = part_last(t->folder, name);
        result = *folder ? result_in(*folder, NULL) : NULL;
    }
    free(identity);
    return result;
}

/* ---- several at a time */

static void put_value(json_t *documents, const char *path, const json_t *value)
{
    struct error ignored;
    const char *in_lab = paths_in_lab(path);
    paths_set(json_object_get(documents, in_lab ? "lab" : "scenario"), in_lab ? in_lab : path, value,
              &ignored);
}

json_t *tries_without(const json_t *documents, const json_t *paths, const json_t *values)
{
    json_t *edits = edits_of(documents, EDIT_SETTINGS, NULL), *edit;
    bool *kept = xcalloc(json_array_size(edits) + 1, sizeof *kept);
    size_t i;
    json_array_foreach(edits, i, edit)
    {
        char *path = edit_path(documents, edit);
        json_t *text = json_text(path);
        kept[i] = !json_list_has(paths, text);
        json_decref(text);
        free(path);
    }
    json_t *without = edits_without(documents, edits, kept);
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)values, path, value)
    {
        put_value(without, path, value);
    }
    json_decref(edits);
    free(kept);
    return without;
}

/* SEEN_FAILED: it counts. */
static enum seen see_all(struct tries *t, const json_t *documents)
{
    enum seen seen = run_seeds(t, documents, SEEN_FAILED);
    if (seen != SEEN_FAILED || (!t->reset && !t->healthy))
        return seen;
    json_t *without = tries_without(documents, t->reset, t->healthy);
    const enum seen wanted = t->healthy ? t->with_healthy : SEEN_PASSED;
    seen = run_seeds(t, without, wanted);
    json_decref(without);
    return seen == wanted ? SEEN_FAILED : seen == SEEN_NOTHING ? seen : SEEN_NEITHER;
}

/* What is asked of processes of their own: what they say of scenarios that nobody has written is not said. */
struct asked {
    struct tries *tries;
    json_t *const *candidates;
    char **identities; /* of the candidates; NULL: it is none */
    size_t *places;    /* of those that run, among the candidates */
    size_t count;
    enum seen wanted; /* SEEN_FAILED: does it count? else: is it so with all seeds? */
    const char *name; /* of one that is only made, */
    int64_t repeats;  /* so many times */
    bool anew;
    enum seen *seen; /* by place */
};

static const enum verdict verdicts[] = {[SEEN_NEITHER] = VERDICT_SKIPPED,
                                        [SEEN_UNJUDGED] = VERDICT_UNJUDGED,
                                        [SEEN_PASSED] = VERDICT_PASSED,
                                        [SEEN_FAILED] = VERDICT_FAILED,
                                        [SEEN_NOTHING] = VERDICT_INCOMPLETE};

static struct outcome ask_run(void *context, size_t i, size_t place, struct error *e)
{
    struct asked *a = context;
    struct tries *t = a->tries;
    const json_t *documents = a->candidates[a->places[i]];
    enum seen seen = SEEN_NEITHER;
    (void)place;
    t->anew = a->anew;
    error_set(&t->why, "it left no result");
    if (a->name)
        seen =
            make_part(t, documents, a->name, t->seed, a->repeats, t->jobs) == EXIT_DONE ? seen : SEEN_NOTHING;
    else
        seen = a->wanted == SEEN_FAILED ? see_all(t, documents) : run_seeds(t, documents, a->wanted);
    *e = t->why;
    return (struct outcome){.ending = seen == SEEN_NOTHING ? ENDING_LAB_FAILED : ENDING_WHOLE,
                            .verdict = verdicts[seen]};
}

static bool ask_ended(void *context, size_t i, struct worked *worked)
{
    struct asked *a = context;
    bool whole = worked->outcome.ending == ENDING_WHOLE;
    text_free(&worked->output);
    a->tries->why = worked->e;
    a->seen[i] = whole ? SEEN_NEITHER : SEEN_NOTHING;
    while (whole && a->seen[i] < SEEN_NOTHING && verdicts[a->seen[i]] != worked->outcome.verdict)
        a->seen[i]++;
    if (!whole && a->tries->said[0])
        error_set(&a->tries->why, "%s", a->tries->said);
    return true;
}

static void ask_said(void *context, const char *bytes, size_t length)
{
    struct asked *a = context;
    static const char error[] = "error: ";
    char *said = a->tries->said, line[sizeof a->tries->said];
    snprintf(line, sizeof line, "%.*s", (int)length, bytes);
    char *found = strstr(line, error);
    if (!found)
        return;
    found += strlen(error);
    found[strcspn(found, "\n")] = '\0';
    snprintf(said, sizeof a->tries->said, "%s", found);
}

static void ask_waiting(void *context, size_t running)
{
    (void)context;
    (void)running;
}

static int run_asked(struct asked *a, struct error *e)
{
    struct tries *t = a->tries;
    const struct work work = {.jobs = t->jobs < a->count ? t->jobs : a->count,
                              .count = a->count,
                              .context = a,
                              .interrupt = t->interrupt,
                              .run = ask_run,
                              .said = ask_said,
                              .ended = ask_ended,
                              .waiting = ask_waiting};
    t->said[0] = '\0';
    for (size_t i = 0; i < a->count; i++)
        a->seen[i] = SEEN_NOTHING;
    return a->count ? workers_run(&work, e) : 0;
}

/* One, of the kind of `how`. */
static enum seen ask_one(struct tries *t, const json_t *documents, struct asked how)
{
    size_t place = 0;
    enum seen seen;
    json_t *candidate = (json_t *)(uintptr_t)documents;
    how.tries = t;
    how.candidates = &candidate;
    how.places = &place;
    how.count = 1;
    how.seen = &seen;
    return run_asked(&how, &t->why) == 0 && interrupt_count(t->interrupt) == 0 ? seen : SEEN_NOTHING;
}

#define CONTROL "control"

/* One that did not run runs again, after one that is known to: if that does not either, the lab or the disk
 * has failed, and nothing is known. Else it is the scenario that cannot be run. */
static enum seen ask_again(struct tries *t, const json_t *documents, struct asked how)
{
    const struct asked control = {.name = CONTROL, .repeats = 1, .anew = true};
    if (!t->ran || ask_one(t, t->ran, control) == SEEN_NOTHING)
        return SEEN_NOTHING;
    how.anew = true;
    enum seen seen = ask_one(t, documents, how);
    return seen == SEEN_NOTHING && interrupt_count(t->interrupt) == 0 ? SEEN_NEITHER : seen;
}

static enum seen ask_sure(struct tries *t, const json_t *documents, struct asked how)
{
    enum seen seen = ask_one(t, documents, how);
    return seen == SEEN_NOTHING && interrupt_count(t->interrupt) == 0 ? ask_again(t, documents, how) : seen;
}

enum seen tries_passes(struct tries *t, const json_t *documents)
{
    return ask_sure(t, documents, (struct asked){.wanted = SEEN_PASSED});
}

static void take_ran(struct tries *t, const json_t *documents)
{
    json_decref(t->ran);
    t->ran = json_incref((json_t *)(uintptr_t)documents);
}

static enum seen see_healthy(struct tries *t, const json_t *documents)
{
    json_t *with = tries_without(documents, NULL, t->healthy);
    enum seen seen = ask_sure(t, with, (struct asked){.wanted = SEEN_PASSED});
    if (seen == SEEN_UNJUDGED)
        seen = ask_sure(t, with, (struct asked){.wanted = SEEN_UNJUDGED});
    json_decref(with);
    return seen;
}

enum seen tries_base(struct tries *t, const json_t *documents)
{
    const json_t *healthy = t->healthy;
    t->healthy = NULL;
    t->idle = t->miscounted = SIZE_MAX;
    t->errors = true;
    enum seen seen = ask_one(t, documents, (struct asked){.wanted = SEEN_FAILED});
    char *folder;
    json_t *result = tries_result(t, documents, &folder);
    struct error why = t->why;
    t->base = result ? see(t, result) : SEEN_NOTHING;
    t->idle = idle_flows(result, &t->errors);
    t->miscounted = miscounted_flows(result);
    if (seen != t->base)
        t->why = why;
    json_decref(result);
    free(folder);
    t->healthy = healthy;
    if (seen != SEEN_FAILED)
        return seen;
    take_ran(t, documents);
    t->with_healthy = healthy ? see_healthy(t, documents) : SEEN_PASSED;
    return t->with_healthy == SEEN_NOTHING ? SEEN_NOTHING : seen;
}

int tries_make(struct tries *t, const json_t *documents, const char *name, char **made, struct error *e)
{
    enum seen seen = ask_one(t, documents, (struct asked){.name = name, .repeats = t->seeds});
    *made = seen == SEEN_NOTHING ? NULL : part_last(t->folder, name);
    return *made ? 0 : error_set(e, "%s: %s", name, t->why.text);
}

/* From the candidate `i` on: as many that are not known as run at a time. The one after the last. */
static size_t gather(struct asked *a, size_t i, size_t count)
{
    struct tries *t = a->tries;
    struct error e;
    json_t *these = json_object();
    for (a->count = 0; i < count && a->count < t->jobs; i++) {
        const char *identity = a->identities[i] = tries_identity(t, a->candidates[i], &e);
        if (!identity || json_object_get(t->known, identity) || json_object_get(these, identity))
            continue;
        json_put(these, identity, json_true());
        a->places[a->count++] = i;
    }
    json_decref(these);
    return i;
}

/* Those that did not run are not known. */
static int ask_gathered(struct asked *a)
{
    struct tries *t = a->tries;
    if (run_asked(a, &t->why) != 0 || interrupt_count(t->interrupt) > 0)
        return -1;
    for (size_t i = 0; i < a->count; i++)
        if (a->seen[i] != SEEN_NOTHING)
            json_put(t->known, a->identities[a->places[i]], json_boolean(a->seen[i] == SEEN_FAILED));
    return 0;
}

/* -1: it cannot be known. */
static int know(struct tries *t, const json_t *documents, const char *identity)
{
    if (json_object_get(t->known, identity))
        return 0;
    enum seen seen = ask_again(t, documents, (struct asked){.wanted = SEEN_FAILED});
    if (seen == SEEN_NOTHING)
        return -1;
    json_put(t->known, identity, json_boolean(seen == SEEN_FAILED));
    return 0;
}

/* The first of those up to `next` that counts; `count`: none; SIZE_MAX: it cannot be known. */
static size_t first_known(struct asked *a, size_t i, size_t next, size_t count)
{
    struct tries *t = a->tries;
    for (; i < next; i++) {
        const char *identity = a->identities[i];
        if (!identity)
            continue;
        if (know(t, a->candidates[i], identity) != 0)
            return SIZE_MAX;
        t->count += !json_object_get(t->asked, identity);
        json_put(t->asked, identity, json_true());
        if (json_is_true(json_object_get(t->known, identity))) {
            take_ran(t, a->candidates[i]);
            return i;
        }
    }
    return count;
}

/* Which one counts does not depend on how many run at a time: it is the first, whatever else has run. */
size_t tries_first(struct tries *t, json_t *const *candidates, size_t count)
{
    struct asked a = {.tries = t,
                      .wanted = SEEN_FAILED,
                      .candidates = candidates,
                      .identities = xcalloc(count + 1, sizeof *a.identities),
                      .places = xcalloc(count + 1, sizeof *a.places),
                      .seen = xcalloc(count + 1, sizeof *a.seen)};
    size_t found = count, next = 0;
    for (size_t i = 0; found == count && i < count; i = next) {
        next = gather(&a, i, count);
        found = ask_gathered(&a) == 0 ? first_known(&a, i, next, count) : SIZE_MAX;
    }
    for (size_t i = 0; i < count; i++)
        free(a.identities[i]);
    free(a.identities);
    free(a.places);
    free(a.seen);
    return found;
}
