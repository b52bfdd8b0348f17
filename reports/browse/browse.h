/* The runs below a results folder: what each was, and its main figures. Those of a sweep can be one. */
#ifndef REPORTS_BROWSE_H
#define REPORTS_BROWSE_H

#include "lib/error.h"
#include "reports/page/page.h" /* PAGE_BEGINS */
#include "lib/text.h"
#include "reports/results/damaged.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A run, or a sweep. Texts are "" where the result does not say. */
struct browse_run {
    char *folder;  /* below the results folder; "." if it is that folder */
    char *sweep;   /* the folder of its sweep there; "": none, or that folder */
    char *verdict; /* one of lib/formats/verdicts.h, by what was judged when its sweep ended, too; unfinished:
                      it has no result yet; broken: it cannot be read */
    char *reason;  /* why it is incomplete, skipped, unjudged or one of the last two, what its sweep's end
                      failed, or which of its values are of the wrong type; a sentence */
    char *started; /* "2026-03-01T12:00:00Z" */
    char *scenario, *lab, *origin;
    char *varied;         /* "memory gpu, message 64KiB"; of a sweep "4 of 6 runs: 3 passed, 1 failed" */
    json_t *cell;         /* the same as the result has it, or NULL */
    double delivered_bps; /* NAN: not counted, as of real hosts */
    double goodput_bps, pauses, cnps, latency_p99_us; /* NAN: none */
    size_t passed, failed, skipped;                   /* expectations */
    bool has_page;                                    /* report/index.html */
    bool is_sweep;
    struct browse_run *cells; /* of a sweep: its runs, which have no cells */
    size_t cell_count;
};

/* Why a sweep is not whole. */
struct browse_lack {
    char *folder;        /* as of a run */
    const char *verdict; /* incomplete; unfinished: it has not ended; broken: its index cannot be read */
    char *reason;
    char *scenario, *started; /* "": not known */
    size_t runs, found;       /* how many it has by its index, and how many folders of them are there */
    bool has_line;            /* in the list (browse_fold) */
};

/* Which runs are wanted. */
struct browse_filter {
    const char *scenario, *lab; /* globs, NULL: any */
    const char *since;          /* "2026-03-01", or more of a time; NULL: any */
    const char *const *verdicts;
    size_t verdict_count;        /* 0: any; of the lines of the list (browse_keep_verdicts) */
    const char *const *settings; /* "SETTING=VALUE" */
    size_t setting_count;
    bool *known; /* for each setting, set by browse_find: did a run have its path? May be NULL */
};

struct browse_list {
    struct browse_run *runs;
    size_t count, capacity;
    struct browse_lack *lacks; /* of the sweeps that are not whole */
    size_t lack_count;
    json_t *searches;      /* the folders of searches that were looked into; NULL: none */
    struct damaged unread; /* folders that could not be looked into */
    size_t left_out;       /* by the filter */
    size_t beyond;         /* the end of the list, by its limit: runs */
};

/*
 * Find the runs below the folder, which may be a run or a sweep itself; of each only what a browse_run has is
 * kept. One that cannot be read is listed with its reason. Links are not followed. The filter's verdicts wait
 * for browse_keep_verdicts. Fails if the folder cannot be opened, or when memory runs out.
 */
int browse_find(const char *results, const struct browse_filter *filter, struct browse_list *list,
                struct error *e);
void browse_free(struct browse_list *list);

/* Make one of the runs of each sweep, before they are sorted: its verdict is the worst of theirs and of its
 * lack, its figures are unknown, and its page is that of the sweep. */
void browse_fold(struct browse_list *list, const char *results);
/* Leave out the lines with other verdicts than the filter's: sweeps as wholes once they are folded. */
void browse_keep_verdicts(struct browse_list *list, const struct browse_filter *filter);
/* How many runs there are from entry `first` on, in sweeps too. */
size_t browse_count(const struct browse_list *list, size_t first);

/* By time, the newest first, then by folder; the other orders have equal ones in this order. Runs without a
 * figure come last. */
enum browse_order {
    BROWSE_BY_TIME,
    BROWSE_BY_SCENARIO,
    BROWSE_BY_VERDICT,
    BROWSE_BY_GOODPUT,
    BROWSE_BY_PAUSES,
    BROWSE_BY_LATENCY
};
void browse_sort(struct browse_list *list, enum browse_order order, bool reverse);

/* entry.c: what is known of the run in the folder `path`, which is `folder` below the results, under the
 * filter. Returns 1; 0 if the filter leaves it out; -1 when memory ran out. `finished`: it has a
 * result.json. `unread`: why its folder cannot be looked into, or NULL. `judged`: what the end of the sweep
 * in the folder above judged (sweep_index_judged), or NULL.
 */
int browse_read(const char *path, const char *folder, bool finished, const char *unread, const json_t *judged,
                const struct browse_filter *filter, struct browse_run *run, struct error *e);
void browse_free_run(struct browse_run *run);
/* Is it wanted by its scenario, lab and start? */
bool browse_fits(const struct browse_filter *filter, const char *scenario, const char *lab,
                 const char *started);
/* When it began, as "2026-03-01 12:00:00" up to this many characters; the caller frees. NULL: out of
 * memory. */
char *browse_shown_time(const struct browse_run *run, size_t characters);

/* A new reference. */
json_t *browse_json(const struct browse_list *list);
/* A page that links the runs: relative to the results folder if it is written into it (`beside`), else by
 * whole paths. */
void browse_page(const struct browse_list *list, const char *results, bool beside, struct text *out);

#endif
