/* samples.jsonl of a run, sample by sample, each with the columns that its host's header named. The memory does not depend on how many
 * there are. */
#ifndef REPORTS_RUN_SAMPLES_H
#define REPORTS_RUN_SAMPLES_H

#include "reports/results/run.h"
#include <stdint.h>

#define SAMPLES_LEFT_OUT SIZE_MAX

struct sample {
    int64_t time_ns;
    const size_t *columns; /* the number of each value's column, or SAMPLES_LEFT_OUT */
    const int64_t *values; /* LINES_NULL: not read */
    size_t count;
};

struct sample_taker {
    /* A host's header has this column: its number for samples. The same column may come again, in a later header. */
    int (*column)(void *to, const char *host, const struct column *column, size_t *number, struct error *e);
    int (*sample)(void *to, const struct sample *sample, struct error *e);
};

/* Hand on all columns and samples. Samples of hosts without a header are left out; *left_out, if not NULL, is how many. */
int run_each_sample(const struct run *run, const struct sample_taker *taker, void *to, uint64_t *left_out,
                    struct error *e);

#endif
