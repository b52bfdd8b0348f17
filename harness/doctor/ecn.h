/*
 * Which packets can be marked. RFC 3168: a packet whose ECN bits are 00 is not ECN-capable (not ECT); where others are marked
 * CE, a queueing discipline drops it, and a switch lets it pass and the queue grow. Either way no CNP is sent for it.
 */
#ifndef HARNESS_ECN_H
#define HARNESS_ECN_H

#include "harness/plan/plan.h"
#include "harness/plan/traffic_class.h"
#include "lib/text.h"

enum ecn_consequence {
    ECN_DROPPED,   /* RED on its path drops packets that it would otherwise mark */
    ECN_UNMARKED,  /* a switch on its path does not mark it */
    ECN_UNNOTICED, /* nothing on its path is known to mark packets, but its sender has DCQCN on */
};

#define ECN_NAMED 3

/* Flows that are not ECN-capable although DCQCN or RED needs them to be: flows with the same traffic class and the same consequence. */
struct ecn_finding {
    enum ecn_consequence consequence;
    int64_t traffic_class;
    bool forced; /* by the sender's settings.traffic_class, not the flow's own */
    bool
        by_nic; /* the sender's NIC takes only the DSCP of a traffic class, and ECN is off there for the priority */
    bool unsure; /* whether the sender's NIC does so is not known yet */
    const char
        *place; /* the place that would mark: a role or a simulated switch; with ECN_UNNOTICED: the sender */
    struct scenario_flow flows[ECN_NAMED]; /* the first of them, owning nothing; a pattern is one */
    const char *last;                      /* the name of the last of them */
    size_t count;
};

/* All findings of a cell. `in_force` (role -> settings): the hosts' current settings as nic-config reads them, which the scenario's
 * settings override and from which follows what kind of NIC it is; may be NULL. The caller frees *findings, which point into the cell. */
int ecn_find(const struct cell *cell, const json_t *in_force, struct ecn_finding **findings, size_t *count,
             struct error *e);

/* Add the findings of a cell to those that are said already: an object whose keys are sentences. */
void ecn_note(const struct cell *cell, json_t *said);
/* Log each as a warning. */
void ecn_warn(const json_t *said);

/* "flow a-to-b is not ECN-capable (...): RED at switch drops ..." */
void ecn_say(const struct ecn_finding *finding, struct text *out);
/* What to do about it. */
void ecn_say_remedy(const struct ecn_finding *finding, struct text *out);
/* The effect, from the counters of the result's hosts; nothing if none were sampled. */
void ecn_say_counted(const struct ecn_finding *finding, const json_t *hosts, struct text *out);

#endif
