/* What the simulator counts, as samples of roles: their columns (the simulator's own counters, and gauges
 * of the flows that a host sends), which roles are listed, and pauses. All return -1 if the recorder could
 * not write them. */
#ifndef HARNESS_LABS_SIM_SAMPLES_H
#define HARNESS_LABS_SIM_SAMPLES_H

#include "harness/labs/sim/lab.h"

/* Write the header of every role; lab->sim is there. */
int samples_open(struct sim_lab *lab, struct error *e);
/* A sample of every role at the end of a phase (`mark`); at other times of those of which each sample
 * counts. */
int samples_write(struct sim_lab *lab, bool mark, struct error *e);
/* The pauses that have ended since the last call. */
int samples_write_pauses(struct sim_lab *lab, struct error *e);
/* At the end: the pauses that last, once. */
int samples_write_lasting_pauses(struct sim_lab *lab, struct error *e);
/* The samplers' last lines. */
int samples_finish(struct sim_lab *lab, struct error *e);
void samples_close(struct sim_lab *lab);

/* Before a run: what a sample of all listed roles takes at least; -1 when a role that will be listed has more
 * columns than a line of samples may have, or all of them together more than a result has room for. */
int samples_check_roles(const struct cell *cell, const struct sim *sim, const struct sim_setup *setup,
                        uint64_t *sample_bytes, struct error *e);

/* ---- columns of one node */

/* The flows of each host that keeps their rates: those of host h are flows[first[h]] to flows[first[h + 1]
 * - 1]. */
struct sim_senders {
    size_t *first, *flows;
};
void sim_senders_make(struct sim_senders *senders, const struct sim_setup *setup);
void sim_senders_free(struct sim_senders *senders);

struct sim_series {
    struct sim_node node;
    size_t count;     /* of columns */
    size_t own_count; /* columns that the simulator has */
    bool *kept;       /* of those, the ones in the requested groups */
    size_t *flows;    /* flows whose congestion control has gauges: a column each */
    size_t flow_count, gauge_count;
};
/* The caller closes it. `groups`: bits by enum counter_group. */
void sim_series_open(struct sim_series *s, const struct sim *sim, const struct sim_senders *senders,
                     struct sim_node node, uint32_t groups);
void sim_series_close(struct sim_series *s);
/* Does a column match the glob? */
bool sim_series_match(const struct sim_series *s, const struct sim *sim, const struct sim_setup *setup,
                      const char *glob);
/* The simulator's own columns that match the glob, one by one; *at is 0 at first. NULL: no other does. */
const struct sim_counter *sim_series_next(const struct sim_series *s, const struct sim *sim, const char *glob,
                                          size_t *at);
/* The simulator's own column with the nearest name, or NULL. */
const char *sim_series_nearest(const struct sim_series *s, const struct sim *sim, const char *name);

#endif
