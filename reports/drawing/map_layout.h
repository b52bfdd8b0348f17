/* The network of a run, laid out for a drawing: nodes in layers, and links with the pauses of their ends. */
#ifndef REPORTS_MAP_LAYOUT_H
#define REPORTS_MAP_LAYOUT_H

#include "reports/results/run.h"

/* In order of their names. */
struct map_node {
    const char *name;
    bool host;
    uint32_t layer;  /* hosts 0, switches by their distance from the nearest one */
    double x;        /* 0..1 */
    double sum;      /* of x, over its neighbours one layer below */
    uint32_t number; /* number of these neighbours */
    uint32_t index;  /* in the result */
    bool drawn;      /* one of its links is */
};

/* One end of a link: `from` was paused and could not send on it. */
struct map_end {
    double share;    /* of the measured time, in per cent */
    int64_t time_ns; /* of the pause that gives the order; INT64_MAX: never held */
    uint32_t rank;   /* rank of time_ns among all, from 1; equal times have equal ranks; 0: never held */
};

struct map_link {
    uint32_t node[2];
    struct map_end end[2];
};

struct map {
    struct map_node *nodes;
    struct map_link *links;
    uint32_t node_count, link_count, layers, held;
    bool
        by_longest; /* order by the start of each end's longest pause, as for storms; else by the start of its first pause */
    int64_t *times_ns; /* by rank, from the second element on */
    uint32_t ranks;
    size_t drawn; /* ends of links in the drawing */
};

/* From result.json's "topology"; if it is missing there are no nodes. Names belong to the result. -1: out of memory. */
int map_load(struct map *map, const struct run *run);
void map_free(struct map *map);

/* 0 at the bottom, 1 at the top. */
double map_height(const struct map *map, uint32_t layer);
/* The point where the halves of a link meet. */
void map_middle(const struct map *map, const struct map_link *link, double *x, double *y);

#endif
