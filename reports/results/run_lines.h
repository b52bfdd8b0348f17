/* The files of lines in a run's folder, a line at a time. */
#ifndef REPORTS_RUN_LINES_H
#define REPORTS_RUN_LINES_H

#include "reports/results/run.h"

/* Takes a whole line, which it may change. */
typedef int run_take_line(void *to, char *text, size_t length, struct error *e);

/* Hand on each line of the file of this name that is not empty; the sentence of a failure names the file and the line. A file that does not exist
 * has none, and neither is a line without an end one: the run was killed as it wrote it. */
int run_each_line(const struct run *run, const char *name, run_take_line *take, void *to, struct error *e);

/* samples.jsonl: is it `["a", time_ns, read_ns, values...]`? Other lines are objects (lib/formats/lines.h). */
bool run_is_sample(const char *text, size_t length);
/* Parse it; `host` points into the text. The caller frees the line. */
int run_sample_line(char *text, size_t length, const char **host, struct line *line, struct error *e);

/* A line of pauses.jsonl; `where` points into the text. Times are as in the file: within LINES_MOST, and so is their sum. */
struct pause_line {
    const char *where; /* a host, or SWITCH:PORT */
    int priority;      /* 0 to 7 */
    int64_t start_ns, duration_ns;
    bool lasts; /* when the run ends */
};
int run_pause_line(char *text, size_t length, struct pause_line *line, struct error *e);

#endif
