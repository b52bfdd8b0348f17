#include "harness/search/search.h"

#include "harness/run/precheck.h"
#include "harness/run/results.h"
#include "harness/run/sweep.h"
#include "harness/search/answer.h"
#include "harness/search/document.h"
#include "harness/search/find.h"
#include "harness/search/known.h"
#include "harness/search/probes.h"
#include "harness/search/round.h"
#include "harness/search/unexplored.h"
#include "harness/search/use.h"
#include "harness/search/why.h"
#include "lib/clock.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/folder/fresh.h"
#include "lib/folder/result_files.h"
#include "lib/interrupt.h"
#include "lib/log.h"
#include "lib/output/print.h"
#include "lib/program/program.h"
#include "lib/xalloc.h"
#include "reports/report_search.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct search {
    const struct sweep_request *request;
    struct study study;
    struct candidates all; /* the known settings first */
    char *folder;
    int lock;
    int64_t began_ns;
    size_t rounds;           /* of proposals */
    size_t runs;             /* that have ended, */
    size_t lost;             /* and of these those that did not run */
    size_t budget;           /* candidates that all runs are for, about; 0: not known */
    json_t *said;            /* warnings of plans */
    json_t *kept;            /* settings of hosts that runs leave to each other; NULL: none */
    struct candidates again; /* the winner and the scenario itself on what was not seen, by twos */
    struct trial *trials;
    size_t trial_count;
    struct interrupt interrupt;
    const struct strategy *strategy;
    void *state, *chance; /* of the strategy, and of strategy_random */
    size_t seeds;         /* of a candidate: 1 where they change nothing */
    struct finder finder; /* with "find" */
    const char *ended;    /* why no more is tried; NULL: it has not ended */
    size_t refused;       /* proposals that the lab cannot run */
    struct error refusal; /* the first one's */
};

/* ---- budget */

static bool time_is_up(const struct search *s)
{
    int64_t time_ns = s->study.search->time_ns;
    return time_ns != FIELD_UNSET && clock_monotonic_ns() - s->began_ns >= time_ns;
}

/* The runs at the end: two settings on new seeds and on other traffic. */
static size_t runs_of_trials(const struct study *study)
{
    return study->margin ? 0 : 2 * (size_t)study->search->seeds * (1 + study->other_count);
}

/* Those of known settings, one of which is read from hosts by the first run. */
static size_t runs_of_known(const struct study *study)
{
    size_t runs = known_reads_hosts(study);
    for (size_t i = 0; i < study->baseline_count; i++)
        runs += known_same(study, i) == i;
    return runs * (size_t)study->search->seeds;
}

/* How many more runs there may be before these. */
static size_t runs_left(const struct search *s)
{
    int64_t most = s->study.search->runs;
    size_t taken = s->runs + runs_of_trials(&s->study);
    return time_is_up(s)          ? 0
           : most == FIELD_UNSET  ? SIZE_MAX
           : (size_t)most > taken ? (size_t)most - taken
                                  : 0;
}

/* How many candidates the runs are for, about: one of four gets all its seeds. */
static size_t candidates_in_budget(const struct search *s)
{
    size_t seeds = (size_t)s->study.search->seeds,
           known = runs_of_known(&s->study) + runs_of_trials(&s->study);
    int64_t most = s->study.search->runs;
    if (most == FIELD_UNSET || (size_t)most <= known)
        return 0;
    return (size_t)((double)((size_t)most - known) / (1 + (double)(seeds - 1) / 4));
}

/* ---- rounds */

/* Its settings were put back when the run ended. */
static int end_by_guard(struct search *s, const struct candidate *c)
{
    char *values = json_shown(c->choice);
    log_error("search: ended, as a run concerns others: %s; %s%s; settings are put back", c->harm,
              c->known ? c->known : "with ", c->known ? "" : values);
    free(values);
    s->ended = "the rest: a run that concerned others ended it";
    return EXIT_FAILED;
}

static size_t lost_of(struct candidate *const *candidates, size_t count)
{
    size_t lost = 0;
    for (size_t i = 0; i < count; i++)
        lost += candidates[i]->lost;
    return lost;
}

/* EXIT_DONE: all its runs have ended, however they were judged. */
static int run_round(struct search *s, const char *name, struct candidate *const *candidates, size_t count,
                     size_t first_seed, size_t seeds, const json_t *besides)
{
    const struct round round = {.study = &s->study,
                                .request = s->request,
                                .folder = s->folder,
                                .name = name,
                                .seed = s->request->seed + (int64_t)first_seed,
                                .repeats = (int64_t)seeds,
                                .besides = besides,
                                .kept = s->kept,
                                .said = s->said,
                                .resume = s->request->resume != NULL};
    size_t lost = lost_of(candidates, count);
    int status = round_run(&round, candidates, count);
    s->lost += lost_of(candidates, count) - lost;
    if (status != EXIT_DONE && status != EXIT_FAILED && status != EXIT_SKIPPED)
        return status;
    s->runs += count * seeds;
    for (size_t i = 0; i < count; i++)
        if (candidates[i]->harm)
            return end_by_guard(s, candidates[i]);
    return interrupt_count(&s->interrupt) > 0 ? EXIT_INTERRUPTED : EXIT_DONE;
}

/* All runs of one setting; where others are to be guarded, one by one. */
static int run_seeds(struct search *s, const char *name, struct candidate *c, size_t first_seed, size_t seeds,
                     const json_t *besides)
{
    size_t step = study_is_guarded(&s->study) ? 1 : seeds;
    int status = EXIT_DONE;
    for (size_t k = 0; status == EXIT_DONE && k < seeds; k += step) {
        char *part = k ? xasprintf("%s-seed-%zu", name, k + 1) : xstrdup(name);
        status = run_round(s, part, &c, 1, first_seed + k, step, besides);
        free(part);
    }
    return status;
}

static void add_in_force(struct search *s, const struct candidate *first)
{
    const char *run = json_string_value(json_array_get(first->folders, 0));
    char *folder = files_join(s->folder, run ? run : "");
    if (folder)
        known_add_in_force(&s->study, folder);
    free(folder);
}

/* Known settings get all their runs at once: the others are measured by them. */
static int run_known(struct search *s)
{
    int status = EXIT_DONE;
    size_t seeds = (size_t)s->study.search->seeds;
    for (size_t i = 0; status == EXIT_DONE && i < s->study.baseline_count; i++) {
        const struct known_settings *known = &s->study.baselines[i];
        json_t *choice = known->values ? json_deep_copy(known->values) : json_object();
        struct candidate *c = candidates_add(&s->all, choice, known->name);
        char *name = xasprintf("known-%zu", i + 1);
        c->places = xcalloc(s->study.parameter_count, sizeof *c->places);
        if (!study_places(&s->study, known, c->places)) {
            free(c->places);
            c->places = NULL;
        }
        size_t same = known_same(&s->study, i);
        if (same == i)
            status = run_seeds(s, name, c, 0, seeds, NULL);
        else
            candidate_share(c, s->all.items[same]);
        c->whole = status == EXIT_DONE;
        free(name);
        if (i == 0 && c->whole && known_reads_hosts(&s->study))
            add_in_force(s, c);
    }
    return status;
}

static void list_tries(const struct search *s, struct tried *items, struct tries *tries)
{
    *tries = (struct tries){.study = &s->study, .items = items, .budget = s->budget};
    for (size_t i = 0; i < s->all.count; i++) {
        const struct candidate *c = s->all.items[i];
        if (c->runs && !candidate_is_unknown(c))
            items[tries->count++] = (struct tried){.places = c->places,
                                                   .feasible = candidate_is_feasible(c) &&
                                                               !finder_explains(&s->finder, c->choice),
                                                   .values = candidate_vector(c, &s->study)};
    }
}

#define ASKED_MOST 1000 /* proposals that cannot be run, one after another */
#define ASKED_OWN  8    /* of these by the strategy; the others are by chance */

/* Is it new, and can it be run? */
static bool is_candidate(struct search *s, const json_t *choice, struct error *e)
{
    bool by_lab;
    if (candidates_have(&s->all, choice) || finder_explains(&s->finder, choice))
        return false;
    if (study_can_run(&s->study, choice, &by_lab, e) == 1)
        return true;
    if (by_lab && s->refused++ == 0)
        s->refusal = *e;
    return false;
}

/* Another candidate that can be run and was not tried, or NULL: there is none, or `e` says why none fits. */
static struct candidate *propose(struct search *s, const struct tries *tries, const double *const *beside,
                                 size_t proposed, struct error *e)
{
    double *places = xcalloc(s->study.parameter_count, sizeof *places);
    struct candidate *c = NULL;
    error_set(e, "all values were tried");
    for (int k = 0; !c && k < ASKED_MOST; k++) {
        bool own = k < ASKED_OWN;
        (own ? s->strategy : &strategy_random)
            ->propose(own ? s->state : s->chance, tries, beside, proposed, places);
        json_t *choice = study_choice(&s->study, places);
        if (is_candidate(s, choice, e)) {
            c = candidates_add(&s->all, choice, NULL);
            c->places = places;
            c->round = s->rounds;
            places = NULL;
        } else {
            json_decref(choice);
        }
    }
    free(places);
    return c;
}

/* Of places that did not run as little is known as of those of the same round. */
static size_t propose_round(struct search *s, struct candidate **round, size_t wanted, struct error *e)
{
    struct tried *items = xcalloc(s->all.count + 1, sizeof *items);
    const double **beside = xcalloc(s->all.count + wanted + 1, sizeof *beside);
    struct tries tries;
    size_t count = 0, unknown = 0;
    list_tries(s, items, &tries);
    for (size_t i = 0; i < s->all.count; i++)
        if (candidate_is_unknown(s->all.items[i]) && s->all.items[i]->places)
            beside[unknown++] = s->all.items[i]->places;
    while (count < wanted && (round[count] = propose(s, &tries, beside, unknown + count, e))) {
        beside[unknown + count] = round[count]->places;
        count++;
    }
    free(items);
    free(beside);
    return count;
}

/* ---- the race */

/* Standard deviation of an objective from run to run of the same values, over all that have several runs. */
static double deviation(const struct search *s, size_t objective)
{
    double squares = 0;
    size_t degrees = 0;
    for (size_t i = 0; i < s->all.count; i++) {
        const struct spread_sums *f = &s->all.items[i]->figures[objective];
        if (f->count < 2)
            continue;
        squares += f->squares;
        degrees += f->count - 1;
    }
    return degrees ? sqrt(squares / (double)degrees) : 0;
}

/* May it still be among the best? Not if one that has all its runs dominates even what its mean may come to:
 * two standard errors better, of the runs that it has. */
static bool may_win(const struct search *s, const struct candidate *c, const double *deviations)
{
    size_t dimensions = s->study.objective_count;
    struct vector hoped = candidate_vector(c, &s->study);
    if (!candidate_is_feasible(c))
        return false;
    for (size_t k = 0; k < dimensions; k++)
        hoped.of[k] -= 2 * deviations[k] / sqrt((double)c->runs);
    for (size_t i = 0; i < s->all.count; i++) {
        const struct candidate *other = s->all.items[i];
        struct vector is = candidate_vector(other, &s->study);
        if (other != c && other->whole && candidate_is_feasible(other) &&
            front_dominates(&is, &hoped, dimensions))
            return false;
    }
    return true;
}

/* Those of the round that may still win run with one more seed, until they have all. */
static int race(struct search *s, struct candidate **round, size_t count)
{
    size_t seeds = s->seeds;
    int status = EXIT_DONE;
    for (size_t seed = 1; status == EXIT_DONE && seed < seeds && count; seed++) {
        double deviations[SEARCH_MOST_OBJECTIVES];
        size_t kept = 0;
        for (size_t k = 0; k < s->study.objective_count; k++)
            deviations[k] = deviation(s, k);
        for (size_t i = 0; i < count; i++) {
            if (may_win(s, round[i], deviations))
                round[kept++] = round[i];
            else
                round[i]->out = true;
        }
        count = kept < runs_left(s) ? kept : runs_left(s);
        char *name = xasprintf("round-%zu-seed-%zu", s->rounds, seed + 1);
        if (count)
            status = run_round(s, name, round, count, seed, 1, NULL);
        free(name);
    }
    for (size_t i = 0; status == EXIT_DONE && i < count; i++)
        round[i]->whole = round[i]->runs == seeds;
    return status;
}

static const char *budget_words(const struct search *s)
{
    return time_is_up(s) ? "what more time would have tried: it was up"
                         : "what more runs would have tried: the budget ended";
}

static int run_for_finder(void *context, const char *name, struct candidate *c, size_t first_seed,
                          size_t seeds)
{
    return run_round(context, name, &c, 1, first_seed, seeds, NULL);
}

static void release_hosts(void *context)
{
    struct search *s = context;
    sweep_restore_kept(&s->study.plan, &s->interrupt, s->kept);
}

static size_t runs_so_far(const void *context)
{
    return ((const struct search *)context)->runs;
}

static void open_finder(struct search *s)
{
    s->finder = (struct finder){.study = &s->study,
                                .folder = s->folder,
                                .seeds = s->seeds,
                                .seed = s->request->seed,
                                .jobs = s->request->jobs,
                                .quiet = s->request->quiet || s->request->json,
                                .context = s,
                                .run = run_for_finder,
                                .runs = runs_so_far,
                                .release = release_hosts};
}

static int run_proposals(struct search *s)
{
    struct candidate **round = xcalloc((size_t)s->study.search->at_once, sizeof *round);
    size_t at_once = study_is_guarded(&s->study) ? 1 : (size_t)s->study.search->at_once;
    struct error e;
    int status = EXIT_DONE;
    s->budget = candidates_in_budget(s);
    while (status == EXIT_DONE && runs_left(s) > 0) {
        s->rounds++;
        size_t count = propose_round(s, round, at_once < runs_left(s) ? at_once : runs_left(s), &e);
        if (count == 0) {
            log_info("no more candidates: %s", e.text);
            s->ended = "nothing else: no more candidates were found";
            s->rounds--;
            break;
        }
        char *name = xasprintf("round-%zu", s->rounds);
        status = run_round(s, name, round, count, 0, 1, NULL);
        free(name);
        if (status == EXIT_DONE)
            status = s->study.margin ? finder_look(&s->finder, round, count) : race(s, round, count);
        if (status == EXIT_DONE && finder_has_enough(&s->finder)) {
            s->ended = "other kinds: as many as were asked for were found";
            break;
        }
        if (status == EXIT_DONE && !s->request->quiet && !s->request->json && !s->study.margin)
            answer_print_progress(&s->study, &s->all, s->rounds, s->runs);
    }
    if (status == EXIT_DONE && !s->ended)
        s->ended = budget_words(s);
    free(round);
    return status;
}

/* ---- the winner on what was not seen */

#define NEW_SEEDS 1000 /* from the first seed of the search on */

/* Other traffic with the winner's values, of which each alone can be run. */
static bool can_try_on(struct search *s, const char *on, const json_t *besides,
                       const struct candidate *winner)
{
    struct error e;
    json_t *all = json_copy((json_t *)(uintptr_t)besides);
    json_object_update(all, winner->choice);
    bool can = study_can_run_known(&s->study, "other", all, &e) == 1;
    if (!can)
        json_put(s->study.absent, on, json_textf("with the winner: %s", e.text));
    json_decref(all);
    return can;
}

static int run_trial(struct search *s, const char *on, const json_t *besides, const struct candidate *winner)
{
    struct trial *trial = &s->trials[s->trial_count];
    const struct candidate *of[] = {s->all.items[0], winner};
    struct candidate *made[2];
    int status = EXIT_DONE;
    if (besides && !can_try_on(s, on, besides, winner))
        return EXIT_DONE;
    for (int i = 0; status == EXIT_DONE && i < 2; i++) {
        char *name = xasprintf("again-%zu-%s", s->trial_count + 1, i ? "winner" : "as-written");
        made[i] =
            candidates_add(&s->again, json_deep_copy(of[i]->choice), of[i]->known ? of[i]->known : "winner");
        status = run_seeds(s, name, made[i], besides ? 0 : NEW_SEEDS, s->seeds, besides);
        free(name);
    }
    if (status == EXIT_DONE) {
        *trial = (struct trial){on, made[0], made[1]};
        s->trial_count++;
    }
    return status;
}

/* Nothing is tried again where the scenario itself is best. */
static int run_trials(struct search *s)
{
    struct best best = best_of(&s->all, &s->study);
    const struct candidate *winner = best.count ? best.items[best.knee] : NULL;
    int status = EXIT_DONE;
    s->trials = xcalloc(s->study.other_count + 1, sizeof *s->trials);
    if (winner && winner != s->all.items[0]) {
        status = run_trial(s, "new seeds", NULL, winner);
        for (size_t i = 0; status == EXIT_DONE && i < s->study.other_count; i++)
            status = run_trial(s, s->study.other[i].name, s->study.other[i].values, winner);
    }
    best_free(&best);
    return status;
}

/* ---- the whole */

/* EXIT_DONE: one of them meets the constraints. */
static int check_known(const struct search *s)
{
    const struct candidate *first = s->all.items[0], *unknown = NULL;
    for (size_t i = 0; i < s->all.count; i++) {
        const struct candidate *c = s->all.items[i];
        if (candidate_is_feasible(c))
            return EXIT_DONE;
        unknown = !unknown && candidate_is_unknown(c) ? c : unknown;
    }
    if (unknown)
        log_error("search: it is not known whether a known setting meets the constraints: \"%s\": %s",
                  unknown->known, unknown->why);
    else
        log_error("search: no known setting meets the constraints: \"%s\" fails %s: expected constraints "
                  "that at least one of them meets, or a baseline that does",
                  first->known, first->why ? first->why : "nothing ran");
    return unknown ? EXIT_LAB : EXIT_USAGE;
}

/* The same figures of each known setting for all seeds are one measurement. */
static bool seeds_change_nothing(const struct search *s)
{
    for (size_t i = 0; i < s->all.count; i++)
        for (size_t k = 0; k < s->study.objective_count; k++) {
            const struct spread_sums *f = &s->all.items[i]->figures[k];
            if (s->all.items[i]->lost || (f->count > 1 && f->squares > 0))
                return false;
        }
    return true;
}

/* What is said of the winner, its files, and what is not known. */
static int add_winner(const struct search *s, const char *staged, json_t *document, struct error *e)
{
    struct best best = best_of(&s->all, &s->study);
    const struct candidate *winner = best.count ? best.items[best.knee] : NULL;
    json_t *use = winner ? use_write(&s->study, winner, s->folder, staged, e) : NULL;
    int result = winner && !use ? -1 : 0;
    if (use) {
        json_object_set_new(document, "why", why_of(s->all.items[0], winner, s->folder));
        json_object_set_new(document, "use", use);
    }
    json_object_set_new(document, "unexplored", unexplored_json(&s->study, &s->all, winner, s->ended));
    best_free(&best);
    return result;
}

static json_t *answer_so_far(const struct search *s, bool complete)
{
    const struct answer_of answer = {.study = &s->study,
                                     .all = &s->all,
                                     .folder = s->folder,
                                     .seed = s->request->seed,
                                     .rounds = s->rounds,
                                     .runs = s->runs,
                                     .lost = s->lost,
                                     .refused = s->refused,
                                     .refusal = s->refusal.text,
                                     .trials = s->trials,
                                     .trial_count = s->trial_count,
                                     .seeds = s->seeds,
                                     .complete = complete};
    return answer_make(&answer);
}

static int save_answer(const char *folder, const json_t *document, struct error *e)
{
    char *path = files_join(folder, SEARCH_DOCUMENT);
    int result = path ? json_file_save(path, document, e) : error_set(e, "out of memory");
    free(path);
    return result;
}

/* The files that it names first. */
static int move_answer(const struct fresh *fresh, const struct folder *in, const json_t *document,
                       struct error *e)
{
    const json_t *use = json_object_get(document, "use"), *file;
    int result = 0;
    size_t i;
    json_array_foreach(json_object_get(use, "files"), i, file)
    {
        result = result == 0 ? fresh_move(fresh, in, run_member(file, "file"), e) : result;
    }
    if (result == 0)
        result = fresh_move(fresh, in, SEARCH_DOCUMENT, e);
    if (result == 0)
        use_forget_others(use, in->path);
    return result == 0 ? folder_sync(in, ".", e) : result;
}

/* Add to the document what it is to say of the winner, and put both in the place of what was there, once they
 * are whole and on the disk. */
static int write_answer(const struct search *s, json_t *document, struct error *e)
{
    struct folder folder;
    struct fresh fresh = {.fd = -1};
    int result = folder_open(&folder, s->folder, e);
    if (result == 0)
        result = fresh_folder(&fresh, &folder, SEARCH_DOCUMENT, e);
    if (result == 0) {
        char *staged = files_join(s->folder, fresh.name);
        if (!s->study.margin)
            result = add_winner(s, staged, document, e);
        if (result == 0 && save_answer(staged, document, e) == 0)
            result = move_answer(&fresh, &folder, document, e);
        else
            result = -1;
        fresh_remove(&fresh, &folder);
        free(staged);
    }
    folder_close(&folder);
    return result;
}

/* Has it ended before, with an answer? */
static bool is_answered(const char *folder)
{
    struct error ignored;
    json_t *document = search_load(folder, &ignored);
    bool complete = json_is_true(json_object_get(document, "complete"));
    json_decref(document);
    return complete;
}

static void print_answer(const json_t *document, const char *folder)
{
    if (json_object_get(document, "find"))
        finder_print(document);
    else
        answer_print(document, folder);
}

/* Simulated runs were not waited for one by one: what the answer speaks of is on the disk before it is. */
static void bring_to_disk(const struct search *s)
{
    int fd = open(s->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)syncfs(fd);
        close(fd);
    }
}

static void tell_answer(const struct search *s, const json_t *document)
{
    struct error e;
    if (results_point_latest(s->folder, &e) != 0)
        log_warning("%s", e.text);
    if (!s->request->json && !s->request->quiet)
        print_answer(document, s->folder);
    bool drawn = !s->request->no_report && report_search(document, s->folder, &e) == 0;
    if (!s->request->no_report && !drawn)
        log_warning("no page: %s", e.text);
    if (!s->request->json && !s->request->quiet) {
        if (drawn)
            print_out_line("page: %s/index.html", s->folder);
        print_out_line("result: %s", s->folder);
    }
}

/* An answer that is complete stays until there is another one that is. */
static int conclude(struct search *s, int status)
{
    struct error e;
    json_t *document = answer_so_far(s, status == EXIT_DONE);
    bring_to_disk(s);
    if (s->study.margin) {
        json_object_set_new(document, "find", json_text(s->study.search->find));
        json_object_set_new(document, "findings",
                            s->finder.findings ? json_incref(s->finder.findings) : json_array());
    }
    bool stays = status != EXIT_DONE && is_answered(s->folder);
    if (!stays && write_answer(s, document, &e) != 0) {
        log_error("%s", e.text);
        status = EXIT_LAB;
        stays = is_answered(s->folder);
    }
    if (stays)
        log_info("the answer of before stays in %s", s->folder);
    else
        tell_answer(s, document);
    if (s->request->json)
        json_print(stdout, document, 15);
    if (status == EXIT_INTERRUPTED || status == EXIT_LAB) {
        log_info("this goes on with it:");
        request_print_resume(stderr, "search", s->folder, NULL);
    }
    json_decref(document);
    return status == EXIT_DONE ? finder_end(&s->finder) : status;
}

/* Before the first run: the folder is known for that of a search, however it ends. */
static int begin_answer(const struct search *s, struct error *e)
{
    char *path = files_join(s->folder, SEARCH_DOCUMENT);
    json_t *document = path && !files_exist(path) ? answer_so_far(s, false) : NULL;
    int result = document ? save_answer(s->folder, document, e) : 0;
    json_decref(document);
    free(path);
    return result;
}

/* Where others are to be guarded, settings are put back after each run. */
static bool may_keep_settings(const struct study *study)
{
    return !lab_kind(&study->plan.first.lab)->simulated && !study_is_guarded(study);
}

static int run_all(struct search *s)
{
    s->strategy = strategy_of(s->study.search->strategy);
    s->state = s->strategy->begin(&s->study, (uint64_t)s->request->seed);
    s->chance = strategy_random.begin(&s->study, (uint64_t)s->request->seed + 2);
    s->began_ns = clock_monotonic_ns();
    s->seeds = (size_t)s->study.search->seeds;
    s->kept = may_keep_settings(&s->study) ? json_object() : NULL;
    int status = run_known(s);
    if (status == EXIT_DONE && !s->study.margin)
        status = check_known(s);
    if (status == EXIT_DONE && s->seeds > 1 && seeds_change_nothing(s))
        s->seeds = 1;
    open_finder(s);
    if (status == EXIT_DONE && s->study.margin)
        status = finder_look(&s->finder, s->all.items, 1); /* as written */
    if (status == EXIT_DONE)
        status = run_proposals(s);
    if (status == EXIT_DONE && !s->study.margin)
        status = run_trials(s);
    s->strategy->end(s->state);
    strategy_random.end(s->chance);
    release_hosts(s);
    return conclude(s, status);
}

static int open_folder(struct search *s, struct error *e)
{
    const char *resume = s->request->resume;
    char *made = resume ? NULL : results_make_folder(s->request->out, s->study.plan.first.scenario.name, e);
    s->folder = resume || made ? realpath(resume ? resume : made, NULL) : NULL;
    free(made);
    if (!s->folder)
        return resume || made ? error_set_errno(e, errno, "opening the folder of the search") : -1;
    if (!resume && request_keep(s->folder, "search", s->request, &s->study.plan, NULL, e) != 0)
        return -1;
    s->lock = request_lock(s->folder, e);
    if (s->lock >= 0 && resume)
        results_clear_resumed(s->folder);
    return s->lock >= 0 ? 0 : -1;
}

static int check_budget(const struct study *study, struct error *e)
{
    size_t runs = runs_of_known(study), settings = runs / (size_t)study->search->seeds;
    int64_t most = study->search->runs, known = (int64_t)(runs + runs_of_trials(study));
    return most == FIELD_UNSET || most > known
               ? 0
               : error_set(e,
                           "%s: search.runs: %zu known %s, each with %" PRId64
                           " %s, and what is tried again at the end take %" PRId64 " runs: expected more",
                           study->plan.scenario_path, settings, THINGS(settings, "setting"),
                           study->search->seeds, THINGS((size_t)study->search->seeds, "seed"), known);
}

static int open_study(const struct plan_request *request, struct study *study, struct error *e)
{
    if (study_open(request, study, e) != 0 || probes_check(study, request->seed, e) != 0)
        return -1;
    if (!study->margin) /* what is looked for is not compared with what others use */
        known_add_published(study);
    return check_budget(study, e);
}

static int open_asked(const struct sweep_request *request, const struct plan_documents *documents,
                      struct study *study, struct error *e)
{
    const struct plan_request plan = {.documents = documents,
                                      .scenario = request->scenario,
                                      .lab = request->lab,
                                      .sets = request->sets.items,
                                      .set_count = request->sets.count,
                                      .duration_ns = request->duration_ns,
                                      .seed = (uint64_t)request->seed};
    return open_study(&plan, study, e);
}

static int check_engine(const struct sweep_request *request, const struct study *study, struct error *e)
{
    return request->on && study->search->stop_early
               ? error_set(e, "search.stop_early: runs on %s are not stopped early: expected it without --on",
                           request->on)
               : 0;
}

static int search_planned(const struct sweep_request *request, const struct plan_documents *documents)
{
    struct search s = {.request = request, .lock = -1, .said = json_object(), .interrupt.fd = -1};
    struct error e;
    int status = EXIT_USAGE;
    if (open_asked(request, documents, &s.study, &e) != 0 || check_engine(request, &s.study, &e) != 0 ||
        (!request->dry_run &&
         (open_folder(&s, &e) != 0 || begin_answer(&s, &e) != 0 || interrupt_open(&s.interrupt, &e) != 0))) {
        log_error("%s", e.text);
    } else if (request->dry_run) {
        answer_print_plan(&s.study, request->json);
        status = EXIT_DONE;
    } else {
        status = run_all(&s);
        interrupt_close(&s.interrupt);
    }
    if (s.lock >= 0)
        close(s.lock);
    candidates_free(&s.all);
    candidates_free(&s.again);
    finder_free(&s.finder);
    free(s.trials);
    json_decref(s.said);
    json_decref(s.kept);
    study_close(&s.study);
    free(s.folder);
    return status;
}

int search_check(const struct plan_request *request, struct error *e)
{
    struct study study;
    int result = open_study(request, &study, e);
    study_close(&study);
    return result;
}

int search_run(const struct sweep_request *request)
{
    struct kept_request kept;
    struct error e;
    int status = EXIT_USAGE;
    if (!request->resume)
        return search_planned(request, NULL);
    if (request_load(request, "search", &kept, &e) == 0 && request_check_files(&kept, &e) == 0)
        status = search_planned(&kept.request, &kept.documents);
    else
        log_error("%s", e.text);
    request_free(&kept);
    return status;
}

/* ---- how it stands */

bool search_is_in(const char *folder)
{
    static const char *const document[] = {SEARCH_DOCUMENT, NULL};
    return result_files_any(folder, document);
}

int search_status(const char *folder, bool json)
{
    struct error e;
    json_t *document = search_load(folder, &e);
    pid_t holder = request_holder(folder);
    int status = EXIT_USAGE;
    if (!document) {
        log_error("%s", e.text);
    } else {
        bool ended = json_is_true(json_object_get(document, "complete"));
        status = ended ? EXIT_DONE : EXIT_FAILED;
        if (json)
            json_print(stdout, document, 15);
        else if (ended)
            print_answer(document, folder);
        else if (holder)
            print_out_line("a search of %s: process %ld works on it", run_member(document, "scenario"),
                           (long)holder);
        else {
            print_out_line("a search of %s, which has not ended; this goes on with it:",
                           run_member(document, "scenario"));
            request_print_resume(stdout, "search", folder, NULL);
        }
    }
    json_decref(document);
    return status;
}

int search_draw(const char *folder)
{
    struct error e;
    json_t *document = search_load(folder, &e);
    bool drawn = document && report_search(document, folder, &e) == 0;
    if (drawn)
        print_out_line("%s/index.html", folder);
    else
        log_error("%s", e.text);
    json_decref(document);
    return drawn ? EXIT_DONE : EXIT_USAGE;
}
