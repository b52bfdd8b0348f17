/* One run as a report sees it: result.json, and the samples and pauses behind it. */
#ifndef REPORTS_RUN_H
#define REPORTS_RUN_H

#include "lib/error.h"
#include "lib/folder/folder.h"
#include "lib/formats/lines.h"
#include "lib/formats/origin.h"
#include "lib/formats/verdicts.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEARCH_DOCUMENT "search.json" /* of the folder of a search */

/* A column of samples.jsonl over time; times are since the start of the measure phase. */
struct series {
    char *host; /* role */
    char *name;
    char *unit;
    char *group;
    enum column_kind kind;
    int64_t *time_ns;
    int64_t *value;
    size_t count, capacity;
    size_t of; /* of this number of samples the least and the greatest were kept; 0: all are here */
    struct {   /* of the next group, while it is read */
        size_t count;
        int64_t low, low_ns, high, high_ns;
    } next;
};

/* A line of pauses.jsonl. There may be millions. */
struct pause {
    const char *host; /* of the run's `pause_hosts` */
    int priority;
    int64_t start_ns;
    int64_t duration_ns;
    bool lasts; /* when the run ends */
};

/* What a reader of samples has to say of them. */
struct samples_odd {
    uint64_t left_out; /* of hosts without a header: they are not handed on */
    uint64_t back;     /* earlier than the one before them of their host */
};

struct run {
    char *result_folder; /* that was named */
    char *cell;          /* the folder in it, or NULL: it is a run itself */
    char *folder;        /* both, for sentences */
    char *label;         /* what distinguishes this run from the others: "memory gpu" */
    json_t *result;      /* result.json; of a damaged run it is incomplete, for that reason */
    char *sweep;         /* the folder of the sweep that it is a run of; NULL: of none */
    json_t *judged;      /* what was judged of its cell when the sweep ended (sweep_index.h); NULL: nothing */
    json_t
        *explanation; /* what happened in it, and why, once that was looked for (reports/explain/explain.h) */
    char *damage; /* how its files differ from what it wrote (lib/folder/result_files.h); NULL: they do not */
    json_t *wrong; /* sentences about values of result.json that were left out (lib/formats/result_shape.h) */
    int64_t start_ns, end_ns; /* of the measure phase, on the result's clock */
    struct series *series;
    size_t series_count;
    json_t *series_index; /* host, line break and name -> number of the series */
    struct pause *pauses;
    size_t pause_count, pauses_left_out; /* those beyond a limit */
    struct samples_odd samples_odd;
    json_t *pause_hosts; /* its keys are the hosts of the pauses */
};

struct runs {
    struct run *items;
    size_t count;
    size_t results; /* folders that were named */
    char *title;
    json_t *index;   /* index.json of the first sweep among the results, or NULL */
    json_t *indices; /* of all of them */
};

/* The run belongs to the sweep in the folder above its own, whose end judged this (sweep_index_judged);
 * `name` is that of its own. */
void run_note_judged(struct run *run, const char *sweep, const json_t *judged, const char *name);
/* The same of a run whose folder was named by itself. */
void run_look_for_sweep(struct run *run);
/* The worst of its own verdict and of what was judged of its cell when its sweep ended. */
enum verdict run_verdict(const struct run *run);
/* Why it has this verdict, where it says so; "" if it does not. The caller frees. */
char *run_reason(const struct run *run);
/* The verdict of all: the worst of the runs' and, of whole sweeps, of their indices'. */
enum verdict runs_verdict(const struct runs *runs);
/* The expectation of this name and check (`list` "expectations", or "published") among what was judged of
 * its cell when the sweep ended; NULL: it was not. */
const json_t *run_judged_later(const struct run *run, const char *list, const json_t *item);

/* Load the folders (of runs, or of sweeps: all their cells). Nothing is left allocated on failure. */
int runs_load(const char *const *folders, size_t count, struct runs *runs, struct error *e);
void runs_free(struct runs *runs);

/* The number of runs of which curves over time are drawn. A sweep with more has figures over its choices;
 * single runs are drawn by naming their folders. */
#define RUNS_DRAWN 4
/* The same of these: more, if they were named one by one. */
size_t runs_drawn(const struct runs *runs);

/* One run: in the folder `result`, or in its folder `cell` if that is not NULL. After a failure too, run_free
 * may be called. */
int run_load(struct run *run, const char *result, const char *cell, struct error *e);
/* The same with those parts of result.json alone that `paths` lead to (lib/document/json_file.h); "schema",
 * "scenario", "files", "complete" and "phases" are among them. */
int run_load_parts(struct run *run, const char *result, const char *cell, const char *const *paths,
                   struct error *e);
void run_free(struct run *run);
/* The folder that an entry of a sweep's index names: a name in the result, and in `taken`, a set of those
 * before it, none. NULL: it is none. */
const char *run_cell_folder(const json_t *cell, json_t *taken);

/* Open the run's folder: a result, or a cell in one. A cell that is a link is not followed. */
int run_open_folder(const struct run *run, struct folder *folder, struct error *e);
/* The one place that says what is broken of a result whose result.json can be read: a file is not what the run
 * wrote (the sentence names it, and where it has lines the line). The run is then incomplete, and what is
 * there of it is taken. The first such thing is kept. */
void run_note_damage(struct run *run, const char *sentence);
/* settings.json, of which values of the wrong type are warned of and left out: a new reference. NULL: results
 * of some labs have none, or it is broken (run_note_damage). */
json_t *run_load_settings(struct run *run);
/* Read samples.jsonl and pauses.jsonl, which only drawings over time need; all other files that are broken
 * are noted, too (run_note_damage). */
int run_load_samples(struct run *run, struct error *e);
void run_free_samples(struct run *run);

/* By path: "scenario.title". NULL if it is missing. */
const json_t *run_get(const struct run *run, const char *path);
/* As run_get for texts; "" if it is missing. */
const char *run_text(const struct run *run, const char *path);
/* The sum of a value over the flows of the run (lib/formats/result_flows.h); NAN if none has it: nothing was
 * measured. */
double run_sum_flows(const struct run *run, const char *value);
/* Was what arrived counted of a flow of any run: "delivered_bps"? */
bool runs_have_delivered(const struct runs *runs);
/* The largest bus bandwidth of the run's collectives; NAN if it has none. */
double run_max_busbw_GBps(const struct run *run);
/* Has the result of any run an entry in this object: "flows", "collectives"? */
bool runs_have(const struct runs *runs, const char *key);
/* The largest quantile ("p50") of the flows that measured latency, in us; NAN if none did, or all too
 * few messages for it (result_distribution_value). */
double run_latency_us(const struct run *run, const char *quantile, bool *few);
/* How many flows measured latency; a pattern is one. */
size_t run_latency_flows(const struct run *run);
/* Is this host, of result.json's "hosts", listed? Of others it has only what expectations read. */
bool run_lists(const json_t *host);
/* The counters of all roles together by name, where some are not listed; else NULL. */
const json_t *run_totals(const struct run *run);
/* A text of an object in it; "" if it is missing. */
const char *run_member(const json_t *object, const char *key);
/* Is an entry of "expectations" or "published" one of other runs, by its `when` (harness/judge/verdict.c)? */
bool run_expects_of_others(const json_t *entry);
/* The run's name for readers: its label, else "this run". */
const char *run_label(const struct run *run);
/* The word that everything drawn from the run shows ("simulated", "virtual"); NULL: it was measured. */
const char *run_origin(const struct run *run);

/* Where runs come from, counted. */
struct origins {
    size_t runs;
    size_t with[ORIGIN_MIXED + 1];
    double line_bps, nominal_bps; /* of the first run whose line stands for a faster one; 0: none does */
    bool virtual_gpu;             /* a flow uses memory that stands for a GPU's */
};
void run_count_origin(const struct run *run, struct origins *origins);
/* Add where the values of the run's lab come from to {path: {source: true}}. */
void run_take_sources(const struct run *run, json_t *all);

/* The series of this host and name; NULL: there is none. */
const struct series *run_series(const struct run *run, const char *host, const char *name);
/* The next series after `from` (NULL: first) whose name matches the shell pattern; NULL at the end. */
const struct series *run_find(const struct run *run, const struct series *from, const char *pattern);

#endif
