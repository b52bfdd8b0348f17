/* The files of lines in a run's folder, a line at a time. */
#ifndef REPORTS_LINES_H
#define REPORTS_LINES_H

#include "reports/results/run.h"
#include <stdint.h>

/* Takes a whole line, which it may change. 0; LINE_DAMAGED: it is none that a run writes; -1: reading ends. */
typedef int run_take_line(void *to, char *text, size_t length, struct error *e);
#define LINE_DAMAGED 1

/* Hand on each line of the file of this name that is not empty. Lines that are damaged are left out, the first
 * is noted (run_note_damage). A file that does not exist has none, and neither is a line without an end one:
 * the run was killed as it wrote it. */
int run_each_line(struct run *run, const char *name, run_take_line *take, void *to, struct error *e);

/* A line of pauses.jsonl; `where` points into the text. Times are as in the file: within LINES_MOST, and so
 * is their sum. */
struct pause_line {
    const char *where; /* a host, or SWITCH:PORT */
    int priority;      /* 0 to 7 */
    int64_t start_ns, duration_ns;
    bool lasts; /* when the run ends */
};
/* 0 or LINE_DAMAGED. */
int run_pause_line(char *text, size_t length, struct pause_line *line, struct error *e);

/* ---- samples.jsonl, sample by sample */

/* samples.jsonl of a run, sample by sample, each with the columns that its host's header named. The memory
 * does not depend on how many there are. */

#define SAMPLES_LEFT_OUT SIZE_MAX

struct sample {
    int64_t time_ns;
    const size_t *columns; /* the number of each value's column, or SAMPLES_LEFT_OUT */
    const int64_t *values; /* LINES_NULL: not read */
    size_t count;
    bool back; /* it is earlier than the one before it of its host: samples.jsonl is ordered by time, unless a
                  host's clock went back or the file was changed */
};

struct sample_taker {
    /* A host's header has this column: its number for samples. The same column may come again, in a later
     * header. */
    int (*column)(void *to, const char *host, const struct column *column, size_t *number, struct error *e);
    int (*sample)(void *to, const struct sample *sample, struct error *e);
};

/* Hand on all columns and samples. */
int run_each_sample(struct run *run, const struct sample_taker *taker, void *to,
                    struct samples_odd *odd, struct error *e);
#define SAMPLES_BACK "are earlier than the sample of their host before them"

#endif
