/* Columns of a simulated node's samples: the simulator's own, and rate and alpha of the flows that a host sends. */
#ifndef HARNESS_SIM_SERIES_H
#define HARNESS_SIM_SERIES_H

#include "harness/labs/sim/sim_config.h"
#include "lib/formats/lines.h"

/* The flows of each host that keeps their rates: those of host h are flows[first[h]] to flows[first[h + 1] - 1]. */
struct sim_senders {
    const struct sim_setup *setup;
    size_t *first, *flows;
};
int sim_senders_make(struct sim_senders *senders, const struct sim_setup *setup);
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
int sim_series_open(struct sim_series *s, const struct sim *sim, const struct sim_senders *senders,
                    struct sim_node node, uint32_t groups, struct error *e);
/* How many values sim_series_values needs room for. */
size_t sim_series_room(const struct sim_series *s);
void sim_series_close(struct sim_series *s);
/* How many columns it has of each group, COUNTER_GROUPS of them. */
void sim_series_count_groups(const struct sim_series *s, const struct sim *sim, size_t *groups);
/* The columns of a header; the caller frees them. */
struct sim_columns {
    struct column *items;
    size_t count;
    char *names; /* of flows' gauges */
};
int sim_series_columns(const struct sim_series *s, const struct sim *sim, const struct sim_setup *setup,
                       struct sim_columns *columns, struct error *e);
void sim_columns_free(struct sim_columns *columns);
/* Does a column match the glob? The simulator's own column with the nearest name, or NULL. */
bool sim_series_match(const struct sim_series *s, const struct sim *sim, const struct sim_setup *setup,
                      const char *glob);
const char *sim_series_nearest(const struct sim_series *s, const struct sim *sim, const char *name);
void sim_series_values(const struct sim_series *s, const struct sim *sim, int64_t *values);

#endif
