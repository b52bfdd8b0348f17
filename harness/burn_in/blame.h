/* What those who judge have in common (links.c, rates.c, line.c, pfc.c, dcqcn.c, gpus.c, findings.c): what
 * was seen, by NIC, and the findings so far. */
#ifndef HARNESS_BURN_IN_BLAME_H
#define HARNESS_BURN_IN_BLAME_H

#include "lib/text.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define GBPS(bps) ((bps) / 1e9)

/* Rates are of whole messages, queues of samples, CNPs of a NIC at most one in 50 us: a shorter measure phase
 * tells only what was lost. */
#define LONG_ENOUGH_NS 100e3
/* A port behind which this much waits on average is full. */
#define QUEUE_BYTES 100e3
/* A sender whose own rate is this much above its share of an incast was held by something. */
#define IS_HELD 1.3

enum way { TX, RX };
/* Memories: the host's, that of the nearest GPU, and those of GPUs by their numbers. */
enum memory { HOST, GPU, GPU_0, MEMORIES = GPU_0 + 64 };

struct node {
    const char *name, *machine, *nic, *class, *relation, *peer;
    double stated_bps; /* of its link, by the lab; NAN: it states none, or the NIC is a model in a guest */
    double best[MEMORIES][2];   /* by memory and way, of all rounds; NAN: there was no flow */
    bool paused_link[MEMORIES]; /* it sent pauses while it was sent to at full rate */
    double discarded[MEMORIES]; /* frames that it took from the link then, and had no room for */
    size_t flows[2], lossy[2];  /* in runs in which nothing waits, with those that are not accused */
    const char *lossy_with;
    const json_t *relations; /* to GPUs by their numbers; may be NULL */
    bool accused;
    bool is_virtual; /* a model of a NIC, in a guest */
    /* in incasts without DCQCN, as a sender that something held */
    size_t incasts, unpaused, beside_paused;
    double lost;
    size_t marked_incasts, unslowed; /* with DCQCN, in which most senders obeyed CNPs */
    bool answers;                    /* CNPs arrived at senders of an incast to it */
};

/* Does anything wait at links between switches; and only as who is behind them takes no more? */
enum crowd { CROWD_NONE, CROWD_HELD, CROWD_FULL };

struct work {
    const json_t *seen;
    struct node *nodes;
    size_t count;
    json_t *index; /* name -> place */
    json_t *findings, *unknown, *notes, *pairs;
    enum crowd *crowds; /* by run */
};

/* ---- reading what was seen (findings.h has its form) */

/* "" and NAN if it is missing. */
const char *seen_text(const json_t *object, const char *key);
double seen_number(const json_t *object, const char *key);
/* The sum of the counters of a node that match; NAN: none is known. Of a run's "counters", or others. */
double seen_sum(const json_t *of, const char *node, const char *glob);
double seen_counted(const json_t *run, const char *node, const char *glob);
/* Of the whole run, where that is known: a sender that does not stop may be sent a single pause, while
 * nothing is measured yet. */
double seen_counted_in_run(const json_t *run, const char *node, const char *glob);
/* The same over all runs of this kind; NULL: all. */
double seen_counted_over(const struct work *w, bool (*is)(const json_t *run), const char *node,
                         const char *glob);
/* Add to a sum, or let it be the most, of what is known: NAN is neither. Both begin with NAN. */
void seen_add(double *sum, double value);
void seen_most(double *most, double value);
/* Are these NICs to carry the same: of one model, in links of one stated rate? */
bool seen_alike(const struct node *a, const struct node *b);
/* NULL: it is none of the lab's NICs. */
struct node *seen_node(const struct work *w, const char *name);
bool seen_is_stage(const json_t *run, const char *name);
/* Did it measure for long enough to be judged by rates, pauses and marks? One of which the time is not known
 * did. */
bool seen_is_long(const json_t *run);
/* And did anything move: was it without a deadlock? */
bool seen_is_judged(const json_t *run);
/* All NICs at full rate, for long enough, each with a flow in each direction at most. */
bool seen_at_full_rate(const json_t *run);
/* An incast that is judged, with DCQCN or without it; `paused`: without, `marked`: with. */
bool seen_is_incast(const json_t *run, bool ecn);
bool seen_is_paused_incast(const json_t *run);
bool seen_is_marked_incast(const json_t *run);
/* Was the NIC at this end, "from" or "to", of a flow of such a run? */
bool seen_was_in(const struct work *w, bool (*is)(const json_t *run), const struct node *n, const char *end);
/* The counter of the port to the NIC at its switch, which it has; and what it counted in the run, NAN: not
 * known. */
void seen_name_towards(const struct work *w, const struct node *n, const char *what, char name[64]);
double seen_counted_towards(const struct work *w, const json_t *run, const struct node *n, const char *what);
enum memory seen_memory(const json_t *flow);
/* The link at a port of a switch, which is its link of this number, and the name at the other end; NULL: it
 * has not so many. */
const json_t *seen_link_of_port(const struct work *w, const char *name, size_t port, const char **peer);
/* Which port of the node is this link's end? */
size_t seen_port_of_link(const struct work *w, const char *name, const json_t *wanted);
bool seen_is_switch(const struct work *w, const char *name);
enum crowd seen_crowd(const struct work *w, const json_t *run);
/* Does a flow that is slow in the run of this number tell of its ends? Not if it may share a full link, or if
 * its ACKs waited. */
bool seen_tells(const struct work *w, size_t run, const struct node *from, const struct node *to);

/* ---- findings */

/* Add a name to those that a sentence has, of which all are counted. */
void blame_add_name(struct text *names, size_t *count, const char *name);
/* Is this part named already? Its finding, or NULL. */
json_t *blame_of(const struct work *w, const char *culprit);
/* The same of the link between two. */
json_t *blame_of_link(const struct work *w, const char *a, const char *b);
/* Is something named that explains what was not seen of the NIC: itself, or its switch? */
bool blame_names(const struct work *w, const struct node *n);
/* Name it: a new finding, of which the sentence is made as by printf. */
json_t *blame(struct work *w, const char *kind, const char *culprit, bool sure, const char *stage,
              const char *format, ...) __attribute__((format(printf, 6, 7)));
/* A sentence that tells of it. */
void blame_add(json_t *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
void blame_figure(json_t *finding, double figure, double expected, const char *unit, const char *source);
void blame_link(json_t *finding, const char *a, const char *b);
/* The switch that a finding is of. */
void blame_switch(json_t *finding, const char *name);
/* It is of this NIC, whose other figures are not judged then. */
void blame_node(json_t *finding, struct node *n);
/* A rate or a feature that a stage should have judged and could not, and why: the burn-in is undecided. */
void blame_unknown(struct work *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What is good to know and decides nothing. */
void blame_note(struct work *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Note that so many switches, of these names, did nothing of what they are to do in incasts. */
void blame_note_idle(struct work *w, const char *did, const char *names, size_t count);

/* ---- who judges */

/* Switches that wait for each other. */
void judge_deadlocks(struct work *w);
/* Links that damage or lose frames. */
void judge_links(struct work *w);
/* What NICs carry from host memory, and from that of GPUs; links between switches. */
void judge_rates(struct work *w);
/* What NICs carry beside their lines, where all of a kind, or half of it, are slow; links that carried
 * nothing. After judge_rates(). */
void judge_lines(struct work *w);
/* Who is not stopped by PFC, and who does not stop others; DCQCN; losses that nothing explains. */
void judge_pfc(struct work *w);
void judge_dcqcn(struct work *w); /* as a part of it: who does not answer, obey or mark (dcqcn.c) */
/* Errors that memory of GPUs and PCI Express count, and heat (hardware.c). */
void judge_hardware(struct work *w);
/* GPUs that copy less than others like them (gpus.c). */
void judge_gpu_copies(struct work *w);

#endif
