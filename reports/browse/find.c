/* The folders of runs below a results folder: RESULTS/SCENARIO/TIME/, and of sweeps
 * RESULTS/SCENARIO/TIME/CELL/. */
#include "reports/browse/browse.h"

#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/folder/folder.h"
#include "lib/folder/stamp.h"
#include "lib/folder/sweep_index.h"
#include "lib/formats/verdicts.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include "reports/results/run.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEVELS 6 /* of folders in folders that are looked into */

struct search {
    const struct browse_filter *filter;
    struct browse_list *list;
    const json_t *judged; /* when the sweep ended whose folder is looked into; NULL */
    const char *sweep;    /* its folder below the results; "": that is it, or there is none */
    bool in_sweep;
    size_t found; /* folders of its runs */
};

static void add_run(struct browse_list *list, struct browse_run run)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 64;
        list->runs = xreallocarray(list->runs, list->capacity, sizeof *list->runs);
    }
    list->runs[list->count++] = run;
}

static int add_result(struct search *s, const struct folder *folder, const char *below, bool finished,
                      const char *unread, struct error *e)
{
    struct browse_run run;
    int wanted =
        browse_read(folder->path, *below ? below : ".", finished, unread, s->judged, s->filter, &run, e);
    s->found++;
    s->list->left_out += wanted == 0;
    if (wanted <= 0)
        return wanted;
    run.sweep = xstrdup(s->sweep);
    add_run(s->list, run);
    return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Pages and what jobs of a cluster left are not runs; neither is anything in the making. */
static int may_hold_runs(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) &&
           strcmp(entry->d_name, "report") != 0 && strncmp(entry->d_name, "report-", 7) != 0;
}

static int look_into(struct search *s, const struct folder *folder, const char *below, int levels,
                     struct error *e);

static void note_unread(struct search *s, const char *why)
{
    text_add(&s->list->unread.left_out, "%s: runs in it are not listed\n", why);
}

/* May names in it be looked up? */
static int check_access(const struct folder *folder, struct error *e)
{
    return faccessat(folder->fd, ".", X_OK, AT_EACCESS) == 0
               ? 0
               : error_set_errno(e, errno, "looking into the folder %s", folder->path);
}

/* A folder that could not be opened: a run of a sweep is broken. What is gone by now, or is none, is
 * passed over. */
static int add_unopened(struct search *s, const struct folder *in, const struct folder *folder,
                        const char *name, const char *below, const char *why, struct error *e)
{
    struct stat status;
    if (fstatat(in->fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(status.st_mode))
        return 0;
    if (s->in_sweep && !name[strspn(name, "0123456789")])
        return add_result(s, folder, below, false, why, e);
    note_unread(s, why);
    return 0;
}

static int look_below(struct search *s, const struct folder *folder, const char *below, int levels,
                      struct error *e)
{
    struct dirent **names = NULL;
    int count = scandirat(folder->fd, ".", &names, may_hold_runs, by_name), result = 0;
    if (count < 0) {
        struct error why;
        error_set_errno(&why, errno, "reading the folder %s", folder->path);
        note_unread(s, why.text);
    }
    for (int i = 0; i < count; i++) {
        struct folder in = {.fd = -1};
        struct error why;
        char *path = *below ? files_join(below, names[i]->d_name) : strdup(names[i]->d_name);
        if (!path)
            result = error_set(e, "out of memory for the runs in %s", folder->path);
        else if (result == 0 && folder_open_in(&in, folder, names[i]->d_name, false, &why) == 0 &&
                 check_access(&in, &why) == 0)
            result = look_into(s, &in, path, levels - 1, e);
        else if (result == 0)
            result = add_unopened(s, folder, &in, names[i]->d_name, path, why.text, e);
        folder_close(&in);
        free(path);
        free(names[i]);
    }
    free(names);
    return result;
}

/* What a sweep that has been looked into lacks, if one of its runs is wanted. `head`: its index
 * (sweep_index_summary), or NULL for that reason; without runs it may then be a file of somebody else's. */
static void note_lack(struct search *s, const char *below, const json_t *head, const char *why, bool wanted)
{
    struct browse_list *list = s->list;
    size_t runs = (size_t)json_integer_value(json_object_get(head, "runs"));
    size_t missing = runs > s->found ? runs - s->found : 0;
    bool whole = json_is_true(json_object_get(head, "complete")),
         ended = whole || json_object_get(head, "finished");
    const char *reason = whole ? NULL : json_string_value(json_object_get(head, "reason")),
               *scenario = json_string_value(json_object_get(head, "scenario")),
               *started = json_string_value(json_object_get(head, "started"));
    scenario = scenario ? scenario : "";
    started = started ? started : "";
    if (!s->found)
        wanted = head && !s->filter->setting_count && browse_fits(s->filter, scenario, "", started);
    if (!wanted || (whole && !missing))
        return;
    list->lacks = xreallocarray(list->lacks, list->lack_count + 1, sizeof *list->lacks);
    list->lacks[list->lack_count++] = (struct browse_lack){
        .folder = xstrdup(*below ? below : "."),
        .verdict = !head   ? "broken"
                   : ended ? "incomplete"
                           : "unfinished",
        .reason = !head     ? xstrdup(why)
                  : !ended  ? xstrdup("it has not ended: it is running, or it was killed")
                  : reason  ? xstrdup(reason)
                  : missing ? xasprintf("%zu %s missing", missing, missing == 1 ? "run is" : "runs are")
                            : xstrdup("its index says that it is not complete"),
        .scenario = xstrdup(scenario),
        .started = xstrdup(started),
        .runs = runs > s->found ? runs : s->found,
        .found = s->found};
}

/* NOLINTNEXTLINE(misc-no-recursion): at most LEVELS deep */
static int look_into(struct search *s, const struct folder *folder, const char *below, int levels,
                     struct error *e)
{
    if (folder_has(folder, "result.json"))
        return add_result(s, folder, below, true, NULL, e);
    if (folder_has(folder, "samples.jsonl") || folder_has(folder, "run.log"))
        return add_result(s, folder, below, false, NULL, e);
    if (!levels)
        return 0;
    if (folder_has(folder, SEARCH_DOCUMENT)) {
        s->list->searches = s->list->searches ? s->list->searches : json_array();
        json_array_append_new(s->list->searches, json_text(*below ? below : "."));
    }
    const struct search above = *s;
    struct error why = {""};
    bool is_sweep = sweep_index_exists(folder);
    json_t *head = is_sweep ? sweep_index_summary(folder, &why) : NULL;
    size_t before = s->list->count;
    s->judged = json_object_get(head, "repeated");
    s->sweep = is_sweep ? below : "";
    s->in_sweep = is_sweep;
    s->found = 0;
    int result = look_below(s, folder, below, levels, e);
    if (is_sweep && result == 0)
        note_lack(s, below, head, why.text, s->list->count > before);
    *s = above;
    json_decref(head);
    return result;
}

int browse_find(const char *results, const struct browse_filter *filter, struct browse_list *list,
                struct error *e)
{
    struct folder folder;
    *list = (struct browse_list){0};
    struct search s = {.filter = filter, .list = list, .sweep = ""};
    int result = folder_open(&folder, results, e);
    if (result == 0)
        result = check_access(&folder, e);
    if (result == 0)
        result = look_into(&s, &folder, "", LEVELS, e);
    folder_close(&folder);
    return result;
}

static void free_lack(struct browse_lack *lack)
{
    char *const texts[] = {lack->folder, lack->reason, lack->scenario, lack->started};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
}

void browse_free(struct browse_list *list)
{
    for (size_t i = 0; i < list->lack_count; i++)
        free_lack(&list->lacks[i]);
    free(list->lacks);
    damaged_free(&list->unread);
    json_decref(list->searches);
    for (size_t i = 0; i < list->count; i++)
        browse_free_run(&list->runs[i]);
    free(list->runs);
    *list = (struct browse_list){0};
}

/* ---- sweeps */

/* From best to worst: those of runs that can be read, then the words of the others. */
static int rank(const char *verdict)
{
    return verdict_of(verdict) != VERDICT_NONE  ? (int)verdict_of(verdict)
           : strcmp(verdict, "unfinished") == 0 ? VERDICT_INCOMPLETE + 1
                                                : VERDICT_INCOMPLETE + 2;
}

/* "4 of 6 runs: 1 failed, 3 passed", the worst first. */
static char *count_verdicts(const struct browse_run *cells, size_t count, size_t all)
{
    struct text words = {0};
    text_add(&words, "%zu ", count);
    if (all > count)
        text_add(&words, "of %zu ", all);
    text_add(&words, "%s", THINGS(all > count ? all : count, "run"));
    const char *comma = ": ";
    for (int of = VERDICT_INCOMPLETE + 2; of > VERDICT_NONE; of--) {
        size_t with = 0, last = 0;
        for (size_t i = 0; i < count; i++)
            if (rank(cells[i].verdict) == of) {
                with++;
                last = i;
            }
        if (with) {
            text_add(&words, "%s%zu %s", comma, with, cells[last].verdict);
            comma = ", ";
        }
    }
    return text_take(&words);
}

/* Takes the cells. `lack`: NULL if it is whole. What it was, and what came of it, is not in it yet. */
static struct browse_run begin_sweep(const char *folder, struct browse_run *cells, size_t count,
                                     const struct browse_lack *lack)
{
    return (struct browse_run){.folder = xstrdup(folder),
                               .sweep = xstrdup(""),
                               .varied = count_verdicts(cells, count, lack ? lack->runs : 0),
                               .delivered_bps = NAN,
                               .goodput_bps = NAN,
                               .pauses = NAN,
                               .cnps = NAN,
                               .latency_p99_us = NAN,
                               .is_sweep = true,
                               .cells = cells,
                               .cell_count = count};
}

/* The same with all, by the cells, which are at least one. */
static struct browse_run make_sweep(struct browse_run *cells, size_t count, const struct browse_lack *lack,
                                    const char *results)
{
    const struct browse_run *worst = &cells[0], *told = NULL, *known = &cells[0], *first = &cells[0];
    char *page = xasprintf("%s/%s/report/index.html", results, cells[0].sweep);
    struct browse_run sweep = begin_sweep(cells[0].sweep, cells, count, lack);
    sweep.has_page = files_exist(page);
    for (size_t i = 0; i < count; i++) {
        worst = rank(cells[i].verdict) > rank(worst->verdict) ? &cells[i] : worst;
        known = *known->lab ? known : &cells[i];
        first = *cells[i].started && strcmp(cells[i].started, first->started) < 0 ? &cells[i] : first;
        if (*cells[i].reason && (!told || rank(cells[i].verdict) > rank(told->verdict)))
            told = &cells[i];
        sweep.passed += cells[i].passed;
        sweep.failed += cells[i].failed;
        sweep.skipped += cells[i].skipped;
    }
    const char *name = told ? strrchr(told->folder, '/') : NULL;
    bool lacks = lack && rank(lack->verdict) >= rank(worst->verdict);
    sweep.verdict = xstrdup(lacks ? lack->verdict : worst->verdict);
    sweep.reason = lacks  ? xstrdup(lack->reason)
                   : told ? xasprintf("%s: %s", name ? name + 1 : told->folder, told->reason)
                          : xstrdup("");
    sweep.started = xstrdup(first->started);
    sweep.scenario = xstrdup(known->scenario);
    sweep.lab = xstrdup(known->lab);
    sweep.origin = xstrdup(known->origin);
    free(page);
    return sweep;
}

static struct browse_lack *lack_of(const struct browse_list *list, const char *sweep)
{
    for (size_t i = 0; i < list->lack_count; i++)
        if (strcmp(list->lacks[i].folder, sweep) == 0)
            return &list->lacks[i];
    return NULL;
}

static struct browse_run make_empty_sweep(const struct browse_lack *lack)
{
    struct browse_run sweep = begin_sweep(lack->folder, NULL, 0, lack);
    sweep.verdict = xstrdup(lack->verdict);
    sweep.reason = xstrdup(lack->reason);
    sweep.started = xstrdup(lack->started);
    sweep.scenario = xstrdup(lack->scenario);
    sweep.lab = xstrdup("");
    sweep.origin = xstrdup("");
    return sweep;
}

/* A line for each sweep of which nothing was found. */
static void add_empty_sweeps(struct browse_list *list)
{
    for (size_t i = 0; i < list->lack_count; i++) {
        struct browse_lack *lack = &list->lacks[i];
        if (lack->found || strcmp(lack->folder, ".") == 0)
            continue;
        add_run(list, make_empty_sweep(lack));
        lack->has_line = true;
    }
}

void browse_fold(struct browse_list *list, const char *results)
{
    size_t kept = 0;
    for (size_t i = 0, count; i < list->count; i += count) {
        const char *sweep = list->runs[i].sweep;
        for (count = 1; *sweep && i + count < list->count; count++)
            if (strcmp(sweep, list->runs[i + count].sweep) != 0)
                break;
        if (*sweep) {
            struct browse_run *cells = xreallocarray(NULL, count, sizeof *cells);
            memcpy(cells, &list->runs[i], count * sizeof *cells);
            struct browse_lack *lack = lack_of(list, sweep);
            list->runs[kept++] = make_sweep(cells, count, lack, results);
            if (lack)
                lack->has_line = true;
        } else {
            list->runs[kept++] = list->runs[i];
        }
    }
    list->count = kept;
    add_empty_sweeps(list);
}

static bool has_wanted_verdict(const struct browse_filter *filter, const char *verdict)
{
    for (size_t i = 0; i < filter->verdict_count; i++)
        if (strcmp(filter->verdicts[i], verdict) == 0)
            return true;
    return filter->verdict_count == 0;
}

void browse_keep_verdicts(struct browse_list *list, const struct browse_filter *filter)
{
    size_t kept = 0, lacks = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct browse_run *run = &list->runs[i];
        if (has_wanted_verdict(filter, run->verdict)) {
            list->runs[kept++] = *run;
            continue;
        }
        list->left_out += run->is_sweep ? run->cell_count : 1;
        browse_free_run(run);
    }
    for (size_t i = 0; i < list->lack_count; i++) {
        if (has_wanted_verdict(filter, list->lacks[i].verdict))
            list->lacks[lacks++] = list->lacks[i];
        else
            free_lack(&list->lacks[i]);
    }
    list->count = kept;
    list->lack_count = lacks;
}

size_t browse_count(const struct browse_list *list, size_t first)
{
    size_t runs = 0;
    for (size_t i = first; i < list->count; i++)
        runs += list->runs[i].is_sweep ? list->runs[i].cell_count : 1;
    return runs;
}

/* ---- order */

/* When the result was made that the run is of, "20260301T120000Z", and the how many-th in that second: of
 * "pfc-bidir/20260301T120000Z-3/01" 3. Where no folder is named so, when the run began. */
static long stamp_of(const struct browse_run *run, char stamp[STAMP_LENGTH + 1])
{
    size_t length = 0;
    for (const char *part = run->folder; part; part = strchr(part, '/'), part += part != NULL) {
        if (!stamp_begins(part))
            continue;
        snprintf(stamp, STAMP_LENGTH + 1, "%s", part);
        return part[STAMP_LENGTH] == '-' ? strtol(part + STAMP_LENGTH + 1, NULL, 10) : 1;
    }
    for (const char *at = run->started; *at && length < STAMP_LENGTH; at++)
        if (*at != '-' && *at != ':')
            stamp[length++] = *at;
    stamp[length] = '\0';
    return 1;
}

/* The newest first; the runs of a sweep in its order, whenever they began. */
static int by_time(const struct browse_run *a, const struct browse_run *b)
{
    char of_a[STAMP_LENGTH + 1], of_b[STAMP_LENGTH + 1];
    long first = stamp_of(a, of_a), second = stamp_of(b, of_b);
    int order = strcmp(of_b, of_a);
    if (!order)
        order = (first < second) - (first > second);
    return order ? order : strcmp(a->folder, b->folder);
}

/* The largest first; without one last. */
static int by_number(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a < b) - (a > b);
}

static int compare(const void *one, const void *other, void *by)
{
    const struct browse_run *a = one, *b = other;
    int order = 0;
    switch (*(const enum browse_order *)by) {
    case BROWSE_BY_TIME:
        break;
    case BROWSE_BY_SCENARIO:
        order = strcmp(a->scenario, b->scenario);
        break;
    case BROWSE_BY_VERDICT:
        order = strcmp(a->verdict, b->verdict);
        break;
    case BROWSE_BY_GOODPUT:
        order = by_number(a->goodput_bps, b->goodput_bps);
        break;
    case BROWSE_BY_PAUSES:
        order = by_number(a->pauses, b->pauses);
        break;
    case BROWSE_BY_LATENCY:
        order = by_number(a->latency_p99_us, b->latency_p99_us);
        break;
    }
    return order ? order : by_time(a, b);
}

void browse_sort(struct browse_list *list, enum browse_order order, bool reverse)
{
    if (list->count > 1)
        qsort_r(list->runs, list->count, sizeof *list->runs, compare, &order);
    for (size_t i = 0; reverse && i < list->count / 2; i++) {
        struct browse_run run = list->runs[i];
        list->runs[i] = list->runs[list->count - 1 - i];
        list->runs[list->count - 1 - i] = run;
    }
}
