/* Shows phase, time left and live rates on stderr, only if it is a terminal. */
#ifndef HARNESS_PROGRESS_H
#define HARNESS_PROGRESS_H

#include "harness/record/recorder.h"
#include <stdbool.h>

struct progress {
    bool on;
    int64_t shown_ns; /* when a line was last drawn */
    int64_t phase_ns; /* when the phase that is shown began, on the run's clock */
    int64_t since_ns; /* when it was first shown, on the wall's */
    size_t cell, cells;
    const char *label; /* of the cell; may be NULL */
};

void progress_open(struct progress *p, bool quiet);
/* A phase without a known end. */
void progress_say(struct progress *p, const char *phase);
/* A phase on the run's clock: now between start and end; live figures when recorder is not NULL. */
void progress_show(struct progress *p, const char *phase, int64_t now_ns, int64_t start_ns, int64_t end_ns,
                   const struct recorder *recorder);
/* A sweep whose runs go on side by side. left_ns: of the wall's clock; negative: not known yet. */
struct progress_sweep {
    size_t runs, ended, failed, running;
    const char *tasks; /* what runs is a scheduler's word: "3 tasks running"; NULL: it is `running` */
    int64_t left_ns;
};
void progress_sweep(struct progress *p, const struct progress_sweep *sweep);
void progress_clear(struct progress *p);

#endif
