/* The folders of runs below a results folder: RESULTS/SCENARIO/TIME/, and of sweeps
 * RESULTS/SCENARIO/TIME/CELL/. */
#include "reports/browse/browse.h"

#include "lib/files.h"
#include "lib/folder/folder.h"
#include "lib/folder/sweep_index.h"
#include "lib/formats/verdicts.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEVELS 6 /* of folders in folders that are looked into */

struct search {
    const struct browse_filter *filter;
    struct browse_list *list;
    const json_t *judged; /* when the sweep ended whose folder is looked into; NULL */
    const char *sweep;    /* its folder below the results; "": that is it, or there is none */
};

static int add_result(struct search *s, const struct folder *folder, const char *below, bool finished,
                      struct error *e)
{
    struct browse_list *list = s->list;
    struct browse_run run;
    int wanted = browse_read(folder->path, *below ? below : ".", finished, s->judged, s->filter, &run, e);
    list->left_out += wanted == 0;
    if (wanted <= 0)
        return wanted;
    run.sweep = xstrdup(s->sweep);
    if (list->count == list->capacity) {
        size_t larger = list->capacity ? 2 * list->capacity : 64;
        struct browse_run *runs = realloc(list->runs, larger * sizeof *runs);
        if (!runs) {
            browse_free_run(&run);
            return error_set(e, "out of memory for the runs in %s", folder->path);
        }
        list->runs = runs;
        list->capacity = larger;
    }
    list->runs[list->count++] = run;
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

static int look_below(struct search *s, const struct folder *folder, const char *below, int levels,
                      struct error *e)
{
    struct dirent **names = NULL;
    int count = scandirat(folder->fd, ".", &names, may_hold_runs, by_name), result = 0;
    for (int i = 0; i < count; i++) {
        struct folder in = {.fd = -1};
        char *path = *below ? files_join(below, names[i]->d_name) : strdup(names[i]->d_name);
        if (!path)
            result = error_set(e, "out of memory for the runs in %s", folder->path);
        else if (result == 0 && folder_open_in(&in, folder, names[i]->d_name, false, NULL) == 0)
            result = look_into(s, &in, path, levels - 1, e);
        folder_close(&in);
        free(path);
        free(names[i]);
    }
    free(names);
    return result;
}

/* NOLINTNEXTLINE(misc-no-recursion): at most LEVELS deep */
static int look_into(struct search *s, const struct folder *folder, const char *below, int levels,
                     struct error *e)
{
    if (folder_has(folder, "result.json"))
        return add_result(s, folder, below, true, e);
    if (folder_has(folder, "samples.jsonl") || folder_has(folder, "run.log"))
        return add_result(s, folder, below, false, e);
    if (!levels)
        return 0;
    const struct search above = *s;
    json_t *judged = sweep_index_judged(folder);
    s->judged = judged;
    s->sweep = sweep_index_exists(folder) ? below : "";
    int result = look_below(s, folder, below, levels, e);
    *s = above;
    json_decref(judged);
    return result;
}

int browse_find(const char *results, const struct browse_filter *filter, struct browse_list *list,
                struct error *e)
{
    struct folder folder;
    *list = (struct browse_list){0};
    struct search s = {filter, list, NULL, ""};
    int result = folder_open(&folder, results, e);
    if (result == 0)
        result = look_into(&s, &folder, "", LEVELS, e);
    folder_close(&folder);
    return result;
}

void browse_free(struct browse_list *list)
{
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

/* "4 runs: 1 failed, 3 passed", the worst first. */
static char *count_verdicts(const struct browse_run *cells, size_t count)
{
    struct text words = {0};
    text_add(&words, "%zu %s", count, THINGS(count, "run"));
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

/* Takes the cells, which are at least one. */
static struct browse_run make_sweep(struct browse_run *cells, size_t count, const char *results)
{
    const struct browse_run *worst = &cells[0], *told = NULL, *known = &cells[0], *first = &cells[0];
    char *page = xasprintf("%s/%s/report/index.html", results, cells[0].sweep);
    struct browse_run sweep = {.folder = xstrdup(cells[0].sweep),
                               .sweep = xstrdup(""),
                               .varied = count_verdicts(cells, count),
                               .delivered_bps = NAN,
                               .goodput_bps = NAN,
                               .pauses = NAN,
                               .cnps = NAN,
                               .latency_p99_us = NAN,
                               .has_page = files_exist(page),
                               .cells = cells,
                               .cell_count = count};
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
    sweep.verdict = xstrdup(worst->verdict);
    sweep.reason = told ? xasprintf("%s: %s", name ? name + 1 : told->folder, told->reason) : xstrdup("");
    sweep.started = xstrdup(first->started);
    sweep.scenario = xstrdup(known->scenario);
    sweep.lab = xstrdup(known->lab);
    sweep.origin = xstrdup(known->origin);
    free(page);
    return sweep;
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
            list->runs[kept++] = make_sweep(cells, count, results);
        } else {
            list->runs[kept++] = list->runs[i];
        }
    }
    list->count = kept;
}

size_t browse_count(const struct browse_list *list, size_t first)
{
    size_t runs = 0;
    for (size_t i = first; i < list->count; i++)
        runs += list->runs[i].cell_count ? list->runs[i].cell_count : 1;
    return runs;
}

/* ---- order */

#define STAMP_LENGTH 16

/* When the result was made that the run is of, "20260301T120000Z", and the how many-th in that second: of
 * "pfc-bidir/20260301T120000Z-3/01" 3. Where no folder is named so, when the run began. */
static long stamp_of(const struct browse_run *run, char stamp[STAMP_LENGTH + 1])
{
    size_t length = 0;
    for (const char *part = run->folder; part; part = strchr(part, '/'), part += part != NULL) {
        int end = 0;
        if (sscanf(part, "%*8[0-9]T%*6[0-9]Z%n", &end) != 0 || end != STAMP_LENGTH)
            continue;
        snprintf(stamp, STAMP_LENGTH + 1, "%s", part);
        return part[end] == '-' ? strtol(part + end + 1, NULL, 10) : 1;
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
