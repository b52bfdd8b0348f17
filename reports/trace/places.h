/* Hosts, switches and their ports as tracks: a group for each node, and below it one for each port of a
 * switch. A group is made when something is put into it. */
#ifndef REPORTS_TRACE_PLACES_H
#define REPORTS_TRACE_PLACES_H

#include "reports/results/run.h"
#include "reports/trace/writer.h"

#define PLACE_PRIORITIES 8

/* A host, or a port of a switch, as pauses.jsonl names them. */
struct place {
    char *name;                       /* "h0", "s0:1" */
    size_t peer;                      /* the other end of its link: its place, or PLACE_NONE */
    uint64_t track;                   /* 0: not made yet */
    uint64_t sent_name;               /* of events, "XOFF to h0" */
    struct trace_lane *paused;        /* NULL, or a lane a priority */
    uint64_t sends[PLACE_PRIORITIES]; /* the tracks of the XOFFs that it sends */
};
#define PLACE_NONE SIZE_MAX

struct places {
    struct trace_writer *writer;
    const struct run *run;
    struct place *items;
    size_t count, capacity;
    json_t *index;     /* name -> number of the item */
    json_t *nodes;     /* name of a host or switch -> its track */
    uint64_t left_out; /* names that are in no topology, and one too many */
};

/* The places of result.json's topology, if it has one. After a failure too, places_free may be called. */
int places_open(struct places *p, const struct run *run, struct trace_writer *w, struct error *e);
void places_free(struct places *p);

/* The place of this name, made if it is new. PLACE_NONE: there are too many, or out of memory. */
size_t places_find(struct places *p, const char *name);
/* The group of a host or switch, or of the port that the place is. */
uint64_t places_node_track(struct places *p, const char *node);
uint64_t places_track(struct places *p, size_t place);
/* Where pauses of the place are drawn; NULL: out of memory. */
struct trace_lane *places_paused(struct places *p, size_t place, int priority);
/* Where the XOFFs are drawn that the place sends. */
uint64_t places_sends(struct places *p, size_t place, int priority);

#endif
