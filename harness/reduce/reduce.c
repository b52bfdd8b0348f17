#include "harness/reduce/reduce.h"

#include "harness/reduce/ddmin.h"
#include "harness/reduce/edits.h"
#include "harness/reduce/finding.h"
#include "harness/reduce/source.h"
#include "harness/reduce/tries.h"
#include "harness/run/part.h"
#include "harness/run/results.h"
#include "harness/run/workers.h"
#include "lib/clock.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/folder/result_files.h"
#include "lib/log.h"
#include "lib/output/print.h"
#include "lib/program/program.h"
#include "lib/xalloc.h"
#include "reports/results/run.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIES_FOLDER "tries"
#define RESULT       "result"
#define ROUNDS_MOST  5
#define AT_ONCE      32 /* candidates that are made before any is tried */

/* Phases that are this long are halved; a try on hosts takes seconds, whatever its phases. */
#define HALVED_NS          2000
#define HALVED_ON_HOSTS_NS (2 * NS_PER_S)

struct reduction {
    const struct reduce_request *request;
    const struct reduce_source *source;
    const char *folder;
    json_t *larger;    /* {"scenario", "lab"} at first */
    json_t *documents; /* the least so far */
    struct tries tries;
    struct interrupt interrupt;
    json_t *edits;  /* of the stage */
    json_t *needed; /* paths of settings without one of which it passes; NULL: that is not known yet */
    bool broken_off;
};

/* ---- taking away what is not needed */

static void keep_documents(struct reduction *r, json_t *documents)
{
    json_decref(r->documents);
    r->documents = documents;
}

/* Is this the same experiment? Then nothing has to run. */
static size_t first_same(void *context, const bool *const *kept, size_t count)
{
    struct reduction *r = context;
    struct error e;
    char *is = tries_identity(&r->tries, r->documents, &e);
    size_t found = count;
    for (size_t i = 0; is && found == count && i < count; i++) {
        json_t *documents = edits_without(r->documents, r->edits, kept[i]);
        char *identity = tries_identity(&r->tries, documents, &e);
        if (identity && strcmp(identity, is) == 0)
            found = i;
        free(identity);
        json_decref(documents);
    }
    free(is);
    return found;
}

static size_t first_failing(void *context, const bool *const *kept, size_t count)
{
    struct reduction *r = context;
    for (size_t from = 0; from < count; from += AT_ONCE) {
        json_t *candidates[AT_ONCE];
        size_t most = count - from < AT_ONCE ? count - from : AT_ONCE;
        for (size_t i = 0; i < most; i++)
            candidates[i] = edits_without(r->documents, r->edits, kept[from + i]);
        size_t found = tries_first(&r->tries, candidates, most);
        for (size_t i = 0; i < most; i++)
            json_decref(candidates[i]);
        if (found != most)
            return found == SIZE_MAX ? DDMIN_BROKEN_OFF : from + found;
    }
    return count;
}

static void minimize(struct reduction *r, enum edit_stage stage, ddmin_first *first)
{
    if (r->broken_off)
        return;
    r->edits = edits_of(r->documents, stage, &r->request->keep);
    size_t count = json_array_size(r->edits);
    bool *kept = xcalloc(count + 1, sizeof *kept);
    memset(kept, true, count * sizeof *kept);
    if (ddmin(kept, count, first, r) != 0)
        r->broken_off = true;
    keep_documents(r, edits_without(r->documents, r->edits, kept));
    free(kept);
    json_decref(r->edits);
    r->edits = NULL;
}

/* Takes over `documents`; were they taken? */
static bool try_one(struct reduction *r, json_t *documents)
{
    size_t found = r->broken_off ? 1 : tries_first(&r->tries, &documents, 1);
    r->broken_off = r->broken_off || found == SIZE_MAX;
    if (found == 0)
        keep_documents(r, documents);
    else
        json_decref(documents);
    return found == 0;
}

/* ---- shorter, and fewer of what is numbered */

static json_t *with_value(const struct reduction *r, const char *document, const char *in, const char *key,
                          json_t *value)
{
    json_t *documents = json_deep_copy(r->documents);
    json_object_set_new(json_object_get(json_object_get(documents, document), in), key, value);
    return documents;
}

static bool is_simulated(const struct reduction *r)
{
    return strcmp(run_member(r->source->lab, "driver"), "sim") == 0;
}

static void shorten(struct reduction *r, const char *phase)
{
    int64_t ns, least_ns = is_simulated(r) ? HALVED_NS : HALVED_ON_HOSTS_NS;
    char text[64];
    char *path = xasprintf("phases.%s", phase);
    bool keep = edit_is_kept(path, &r->request->keep);
    free(path);
    if (!keep && strcmp(phase, "measure") != 0)
        try_one(r, with_value(r, "scenario", "phases", phase, json_text("0")));
    while (!keep && !r->broken_off) {
        const json_t *phases = json_object_get(json_object_get(r->documents, "scenario"), "phases"),
                     *value = json_object_get(phases, phase);
        if (!json_is_string(value) || units_parse(UNIT_TIME_NS, json_string_value(value), &ns, NULL) != 0 ||
            ns < least_ns)
            break;
        units_write(UNIT_TIME_NS, ns / 2 / 1000 * 1000, UNITS_ANY, text, sizeof text);
        if (!try_one(r, with_value(r, "scenario", "phases", phase, json_text(text))))
            break;
    }
}

/* The least number with which it fails, if it does with all that are larger. */
static void lessen(struct reduction *r, const char *key)
{
    const json_t *topology = json_object_get(json_object_get(r->documents, "lab"), "topology");
    json_int_t high = json_integer_value(json_object_get(topology, key)), low = 0;
    char *path = xasprintf("lab.topology.%s", key);
    bool keep = edit_is_kept(path, &r->request->keep);
    free(path);
    while (!keep && !r->broken_off && high - low > 1) {
        json_int_t middle = low ? (low + high) / 2 : 1;
        if (try_one(r, with_value(r, "lab", "topology", key, json_integer(middle))))
            high = middle;
        else
            low = middle;
    }
}

/* Roles of hosts get the names of the lab's first hosts, so that it can have fewer; in a star the switch's
 * ports have the hosts' numbers. */
static json_t *renamed(const struct reduction *r)
{
    const json_t *scenario = json_object_get(r->documents, "scenario"),
                 *lab = json_object_get(r->documents, "lab");
    bool star = strcmp(run_member(json_object_get(lab, "topology"), "kind"), "star") == 0;
    json_t *names = json_object(), *role;
    size_t i, number = 0;
    json_array_foreach(json_object_get(scenario, "roles"), i, role)
    {
        const char *name = json_string_value(role);
        char *end, other[32];
        if (!name || name[0] != 'h' || strtol(name + 1, &end, 10) < 0 || end == name + 1 || *end)
            continue;
        snprintf(other, sizeof other, "h%zu", number);
        json_put(names, name, json_text(other));
        for (int priority = 0; star && priority < 8; priority++) {
            static const char *const gauges[] = {"port%s_prio%d_queue_bytes", "port%s_prio%d_ingress_bytes"};
            for (size_t k = 0; k < 2; k++) {
                char was[64], is[64];
                snprintf(was, sizeof was, gauges[k], name + 1, priority);
                snprintf(is, sizeof is, gauges[k], other + 1, priority);
                json_put(names, was, json_text(is));
            }
        }
        number++;
    }
    json_t *documents = json_make("{s:o,s:O}", "scenario", edits_renamed(scenario, names), "lab", lab);
    json_decref(names);
    return documents;
}

static void lessen_topology(struct reduction *r)
{
    static const char *const keys[] = {"hosts", "leaves", "spines", "groups", "rails", "k", NULL};
    const json_t *lab = json_object_get(r->documents, "lab");
    if (!json_object_get(lab, "topology"))
        return;
    if (!json_object_get(lab, "roles") && !edit_is_kept("roles", &r->request->keep))
        try_one(r, renamed(r));
    for (size_t i = 0; keys[i]; i++)
        lessen(r, keys[i]);
}

/* ---- what it depends on */

static bool passes_without(struct reduction *r, const json_t *paths)
{
    json_t *without = tries_without(r->documents, paths, NULL);
    enum seen seen =
        json_array_size(paths) && !r->broken_off ? tries_passes(&r->tries, without) : SEEN_NEITHER;
    r->broken_off = r->broken_off || seen == SEEN_NOTHING;
    json_decref(without);
    return seen == SEEN_PASSED;
}

/* Settings that could still be taken away, but for those that have parts which could. */
static json_t *paths_left(const struct reduction *r)
{
    json_t *edits = edits_of(r->documents, EDIT_SETTINGS, &r->request->keep), *edit, *paths = json_array();
    size_t i;
    json_array_foreach(edits, i, edit)
    {
        char *path = edit_path(r->documents, edit);
        if (json_object_size(edit_value(r->documents, edit)) == 0 && !edit_is_links_rate(path))
            json_array_append_new(paths, json_text(path));
        free(path);
    }
    json_decref(edits);
    return paths;
}

/* Those of them without one of which it passes, alone; no more than `most`. */
static json_t *paths_needed(struct reduction *r, size_t most)
{
    json_t *left = paths_left(r), *needed = json_array(), *path;
    size_t i;
    json_array_foreach(left, i, path)
    {
        json_t *one = json_make("[O]", path);
        if (json_array_size(needed) < most && passes_without(r, one))
            json_array_append(needed, path);
        json_decref(one);
    }
    json_decref(left);
    return needed;
}

/* Settings without which it passes: from now on a scenario counts only if it does without them. Else fewer
 * flows, or less time, would be a failure of their own. All that are left, or the first that is enough. */
static void find_reset(struct reduction *r)
{
    json_t *all = paths_left(r);
    json_decref(r->tries.reset);
    r->tries.reset = NULL;
    json_object_clear(r->tries.known);
    if (!r->broken_off)
        r->tries.reset = passes_without(r, all) ? json_incref(all) : paths_needed(r, 1);
    if (json_array_size(r->tries.reset) == 0) {
        json_decref(r->tries.reset);
        r->tries.reset = NULL;
    }
    json_decref(all);
}

/* ---- from the first run to the finding */

static void print_stage(const struct reduction *r, const char *what)
{
    if (r->request->quiet || r->request->json || r->broken_off)
        return;
    print_out_line("%-28s %zu tries", what, r->tries.count);
    fflush(stdout);
}

static void reduce_all(struct reduction *r)
{
    static const struct {
        enum edit_stage stage;
        const char *said;
    } stages[] = {{EDIT_SETTINGS, "settings and lab"},
                  {EDIT_TRAFFIC, "flows, senders, faults"},
                  {EDIT_HOSTS, "hosts"},
                  {EDIT_KEYS, "keys of flows"}};
    struct error e;
    char *before = NULL, *after = tries_identity(&r->tries, r->documents, &e);
    for (int round = 0; round < ROUNDS_MOST && !r->broken_off && (!before || strcmp(before, after) != 0);
         round++) {
        minimize(r, EDIT_ANY, first_same);
        for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
            minimize(r, stages[i].stage, first_failing);
            if (i == 0 && !r->source->healthy)
                find_reset(r);
            print_stage(r, stages[i].said);
        }
        lessen_topology(r);
        shorten(r, "measure");
        shorten(r, "warmup");
        shorten(r, "cooldown");
        print_stage(r, "smaller and shorter");
        minimize(r, EDIT_ANY, first_same);
        free(before);
        before = after;
        after = tries_identity(&r->tries, r->documents, &e);
        if (!after)
            break;
    }
    free(before);
    free(after);
    minimize(r, EDIT_LAST, first_same);
    r->needed = paths_needed(r, SIZE_MAX);
}

/* Does it fail again, with its own seed and with others? Else the status, and why not. */
static int check_base(struct reduction *r, struct error *e)
{
    const char *name = run_member(json_array_get(json_object_get(r->source->scenario, "expect"), 0), "name"),
               *from = r->source->from;
    const enum seen seen = tries_base(&r->tries, r->documents), with = r->tries.with_healthy;
    if (interrupt_count(&r->interrupt) > 0)
        return EXIT_INTERRUPTED;
    if (seen == SEEN_FAILED && (with == SEEN_PASSED || with == SEEN_UNJUDGED))
        return EXIT_DONE;
    char *values = json_shown(r->source->healthy);
    if (seen == SEEN_NOTHING)
        error_set(e, "%s: it does not run: %s", from, r->tries.why.text);
    else if (seen == SEEN_FAILED)
        error_set(e, "%s: \"%s\" fails, and does not pass with %.200s: %s", from, name, values,
                  r->tries.why.text);
    else if (r->tries.base == SEEN_FAILED)
        error_set(e,
                  "%s: \"%s\" fails with seed %" PRId64 ", and not with all of %" PRId64
                  " seeds from there: expected --seeds 1, for that seed alone",
                  from, name, r->source->seed, r->request->seeds);
    else
        error_set(e, "%s: \"%s\" does not fail again with its own seed, %" PRId64 ": %s", from, name,
                  r->source->seed, r->tries.why.text);
    free(values);
    return seen == SEEN_NOTHING ? EXIT_LAB : EXIT_FAILED;
}

/* `why`: it is none, for this reason; NULL: it is one. */
static json_t *write_finding(struct reduction *r, const char *why, struct error *e)
{
    char *folder = NULL;
    json_t *result = why ? NULL : tries_result(&r->tries, r->documents, &folder);
    const struct finding finding = {.folder = r->folder,
                                    .from = r->source->from,
                                    .keep = &r->request->keep,
                                    .documents = r->documents,
                                    .result = result,
                                    .needed = r->needed,
                                    .healthy = r->source->healthy,
                                    .unjudged = r->tries.with_healthy == SEEN_UNJUDGED,
                                    .why = why,
                                    .larger = r->larger,
                                    .tries = r->tries.count,
                                    .seed = r->source->seed,
                                    .seeds = r->request->seeds};
    json_t *document = finding_write(&finding, e);
    json_decref(result);
    free(folder);
    return document;
}

/* The runs of what is left, as whoever gets the finding will make them. */
static int keep_result(struct reduction *r, struct error *e)
{
    char *name = finding_name(run_member(r->source->scenario, "name")), *made = NULL,
         *place = files_join(r->folder, RESULT), *tries = files_join(r->folder, TRIES_FOLDER);
    int result = tries_make(&r->tries, r->documents, name, &made, e);
    if (result == 0 && files_remove_tree(place, e) == 0 && rename(made, place) != 0)
        result = error_set_errno(e, errno, "renaming %s", made);
    if (result == 0)
        result = files_remove_tree(tries, e);
    free(made);
    free(name);
    free(place);
    free(tries);
    return result;
}

static int conclude(struct reduction *r)
{
    struct error e;
    int status = !r->broken_off                       ? EXIT_DONE
                 : interrupt_count(&r->interrupt) > 0 ? EXIT_INTERRUPTED
                                                      : EXIT_LAB;
    if (status == EXIT_LAB)
        log_error("%s", r->tries.why.text);
    json_t *document = write_finding(r, NULL, &e);
    if (document && status == EXIT_DONE && keep_result(r, &e) != 0) {
        json_decref(document);
        document = NULL;
    } else if (document && status == EXIT_DONE) {
        json_object_set_new(document, "complete", json_true());
        char *path = files_join(r->folder, FINDING_DOCUMENT);
        if (!path || json_file_save(path, document, &e) != 0) {
            json_decref(document);
            document = NULL;
        }
        free(path);
    }
    if (!document) {
        log_error("%s", e.text);
        return EXIT_LAB;
    }
    if (r->request->json)
        json_print(stdout, document, 12);
    else if (!r->request->quiet)
        finding_print(document, r->folder);
    json_decref(document);
    return status;
}

static int reduce_begun(struct reduction *r)
{
    struct error e;
    json_t *begun = write_finding(r, NULL, &e); /* the folder is known for that of a reduction */
    if (!begun) {
        log_error("%s", e.text);
        return EXIT_LAB;
    }
    json_decref(begun);
    int status = check_base(r, &e);
    if (status == EXIT_LAB || status == EXIT_FAILED)
        log_error("%s", e.text);
    if (status == EXIT_FAILED)
        json_decref(write_finding(r, e.text, &e));
    if (status != EXIT_DONE)
        return status;
    if (!r->request->as_found)
        reduce_all(r);
    return conclude(r);
}

/* Runs on hosts follow one another. */
static size_t jobs_of(const struct reduction *r)
{
    return !is_simulated(r)                  ? 1
           : r->request->jobs == FIELD_UNSET ? workers_processors()
                                             : (size_t)r->request->jobs;
}

int reduce_in(const char *folder, const struct reduce_source *source, const struct reduce_request *request)
{
    struct reduction r = {.request = request, .source = source, .folder = folder, .interrupt.fd = -1};
    struct error e;
    char *tries = files_join(folder, TRIES_FOLDER);
    int status = EXIT_LAB;
    json_t *scenario = json_object_get(source->scenario, "lab") ? json_copy(source->scenario)
                                                                : json_incref(source->scenario);
    json_object_del(scenario, "lab");
    r.larger = json_make("{s:o,s:O}", "scenario", scenario, "lab", source->lab);
    r.documents = json_incref(r.larger);
    r.tries = (struct tries){.folder = tries,
                             .lab_path = source->lab_path,
                             .seed = source->seed,
                             .seeds = request->seeds,
                             .healthy = source->healthy,
                             .jobs = jobs_of(&r),
                             .interrupt = &r.interrupt,
                             .known = json_object(),
                             .asked = json_object()};
    if (!tries || files_make_folders(tries, &e) != 0 || interrupt_open(&r.interrupt, &e) != 0) {
        log_error("%s", tries ? e.text : "out of memory");
    } else {
        status = reduce_begun(&r);
        interrupt_close(&r.interrupt);
    }
    json_decref(r.tries.ran);
    json_decref(r.tries.known);
    json_decref(r.tries.asked);
    json_decref(r.tries.reset);
    json_decref(r.needed);
    json_decref(r.larger);
    json_decref(r.documents);
    free(tries);
    return status;
}

/* ---- the command */

static char *make_folder(const struct reduce_request *request, const struct reduce_source *source,
                         struct error *e)
{
    const struct plan_documents documents = {.scenario = source->scenario,
                                             .lab = source->lab,
                                             .scenario_path = source->from,
                                             .lab_path = source->lab_path,
                                             .lab_why = "the run"};
    const struct plan_request read = {
        .documents = &documents, .duration_ns = FIELD_UNSET, .seed = (uint64_t)source->seed};
    const struct sweep_request kept = {
        .repeats = request->seeds, .seed = source->seed, .duration_ns = FIELD_UNSET};
    char *name = finding_name(run_member(source->scenario, "name")), *folder = NULL;
    json_t *besides = json_make("{s:s,s:o}", "from", source->from, "keep", finding_keep_json(&request->keep));
    struct plan plan;
    if (plan_load(&read, &plan, e) == 0) {
        folder = results_make_folder(request->out, name, e);
        if (folder && request_keep(folder, "reduce", &kept, &plan, besides, e) != 0) {
            free(folder);
            folder = NULL;
        }
        plan_free(&plan);
    }
    json_decref(besides);
    free(name);
    return folder;
}

static int reduce_locked(const char *folder, const struct reduce_source *source,
                         const struct reduce_request *request)
{
    struct error e;
    int lock = request_lock(folder, &e);
    if (lock < 0) {
        log_error("%s", e.text);
        return EXIT_USAGE;
    }
    int status = reduce_in(folder, source, request);
    close(lock);
    if (status == EXIT_FAILED && !request->resume)
        files_remove_tree(folder, &e);
    else if (status == EXIT_DONE && results_point_latest(folder, &e) != 0)
        log_warning("%s", e.text);
    if (status == EXIT_INTERRUPTED || status == EXIT_LAB) {
        log_info("this goes on with it:");
        request_print_resume(stderr, "reduce", folder, NULL);
    }
    return status;
}

static int check_keep(const struct reduce_request *request, const struct reduce_source *source,
                      struct error *e)
{
    json_t *documents = json_make("{s:O,s:O}", "scenario", source->scenario, "lab", source->lab);
    int result = edits_check_keep(documents, &request->keep, e);
    json_decref(documents);
    return result;
}

static int reduce_anew(const struct reduce_request *request)
{
    struct reduce_source source;
    struct error e;
    char *folder = NULL;
    int status = EXIT_USAGE;
    if (source_find(request->result, request->expect, &source, &e) != 0 ||
        check_keep(request, &source, &e) != 0 || !(folder = make_folder(request, &source, &e)))
        log_error("%s", e.text);
    else {
        if (source.note && !request->quiet)
            log_info("%s", source.note);
        status = reduce_locked(folder, &source, request);
    }
    free(folder);
    source_free(&source);
    return status;
}

/* What the folder says itself: all that was asked for. */
static int take_kept(const struct kept_request *kept, struct reduce_request *request,
                     struct reduce_source *source, struct error *e)
{
    const json_t *keep = json_object_get(kept->document, "keep");
    const char **items = xcalloc(json_array_size(keep) + 1, sizeof *items),
               *from = json_string_value(json_object_get(kept->document, "from"));
    json_t *text;
    size_t i, count = 0;
    json_array_foreach((json_t *)(uintptr_t)keep, i, text)
    {
        if (json_is_string(text))
            items[count++] = json_string_value(text);
    }
    request->keep = (struct list_of){.items = items, .count = count};
    request->seeds = kept->request.repeats;
    *source = (struct reduce_source){.scenario = json_incref(kept->documents.scenario),
                                     .lab = json_incref(kept->documents.lab),
                                     .lab_path = xstrdup(kept->documents.lab_path),
                                     .seed = kept->request.seed,
                                     .from = from ? xstrdup(from) : NULL};
    return from && json_is_array(keep) && count == json_array_size(keep)
               ? 0
               : error_set(e, "%s/request.json: expected the text from, and keep, a list of texts",
                           request->resume);
}

static int go_on(const char *folder, const struct reduce_request *asked)
{
    const struct sweep_request sweep = {.resume = asked->resume};
    struct reduce_request request = *asked;
    struct reduce_source source = {0};
    struct kept_request kept;
    struct error e;
    int status = EXIT_USAGE;
    if (request_load(&sweep, "reduce", &kept, &e) != 0 || take_kept(&kept, &request, &source, &e) != 0)
        log_error("%s", e.text);
    else
        status = reduce_locked(folder, &source, &request);
    if (request.keep.items != asked->keep.items)
        free(request.keep.items);
    source_free(&source);
    request_free(&kept);
    return status;
}

static int reduce_again(const struct reduce_request *asked)
{
    char *folder = realpath(asked->resume, NULL);
    json_t *document = finding_load(folder ? folder : asked->resume);
    int status = EXIT_DONE;
    if (!json_is_true(json_object_get(document, "complete")))
        status = go_on(folder ? folder : asked->resume, asked);
    else if (asked->json)
        json_print(stdout, document, 12);
    else if (!asked->quiet)
        finding_print(document, folder);
    json_decref(document);
    free(folder);
    return status;
}

int reduce_run(const struct reduce_request *request)
{
    return request->resume ? reduce_again(request) : reduce_anew(request);
}

/* ---- how it stands */

bool reduce_is_in(const char *folder)
{
    static const char *const document[] = {FINDING_DOCUMENT, NULL};
    return result_files_any(folder, document);
}

int reduce_status(const char *folder, bool json)
{
    const char *command;
    json_t *document = finding_load(folder);
    char *whole = request_whole_of(folder, &command);
    pid_t holder = request_holder(whole ? whole : folder);
    bool ended = json_is_true(json_object_get(document, "complete"));
    if (json && document)
        json_print(stdout, document, 12);
    else if (ended)
        finding_print(document, folder);
    else if (holder)
        print_out_line("a reduction: process %ld works on it", (long)holder);
    else {
        print_out_line("a reduction, which has not ended; this goes on with it:");
        request_print_resume(stdout, whole ? command : "reduce", whole ? whole : folder, NULL);
    }
    free(whole);
    json_decref(document);
    return ended ? EXIT_DONE : EXIT_FAILED;
}
