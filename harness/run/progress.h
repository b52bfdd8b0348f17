/* Shows on stderr, only if it is a terminal, what runs do: phase, time left and live rates; of runs side by
 * side a line each, above that of the sweep. Lines never wrap, also after the terminal was resized. */
#ifndef HARNESS_PROGRESS_H
#define HARNESS_PROGRESS_H

#include "harness/record/recorder.h"
#include <stdbool.h>

/* What a run in a process of its own does: in memory that it shares with the one that draws. */
struct progress_place;

#define PROGRESS_LINES 64 /* on a terminal that is high enough */

struct progress {
    bool on;
    int64_t shown_ns; /* when lines were last drawn */
    int64_t phase_ns; /* when the phase that is shown began, on the run's clock */
    int64_t since_ns; /* when it was first shown, on the wall's */
    size_t cell, cells;
    const char *label;             /* of the cell; may be NULL */
    struct progress_place *places; /* of runs side by side; NULL: there are none */
    size_t place_count;
    struct progress_place *place; /* where this run leaves its line for another process; NULL: it draws */
    size_t drawn[PROGRESS_LINES]; /* how long the lines are that stand on the terminal */
    size_t drawn_count;
};

void progress_open(struct progress *p, bool quiet);
/* Places for as many runs side by side, if anything is shown; progress_unshare gives them back. */
void progress_share(struct progress *p, size_t places);
void progress_unshare(struct progress *p);
/* In the process of a run: its lines are drawn by the one that shares this place. */
void progress_take(struct progress *p, size_t place);
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
