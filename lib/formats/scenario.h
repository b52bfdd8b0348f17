/* A scenario describes an experiment: flows, settings, phases, samples, expectations, sweep.
 * docs/scenario.md. */
#ifndef LIB_SCENARIO_H
#define LIB_SCENARIO_H

#include "lib/collective/collective.h"
#include "lib/formats/flow.h"
#include "lib/formats/search.h"
#include "lib/faults/injection.h"
#include "lib/faults/link_fault.h"
#include "lib/packets/capture.h"
#include "lib/formats/settings.h"
#include "lib/document/table.h"
#include "lib/roce/traffic_pattern.h"

enum traffic_sizes { SIZES_FIXED, SIZES_WEB_SEARCH, SIZES_DATA_MINING, SIZES_HADOOP, SIZES_ALI_STORAGE };

/* Flows that a pattern generates. */
struct scenario_traffic {
    char *name;
    int pattern;             /* enum traffic_pattern */
    struct list_of from, to; /* char *: roles; to empty: the same as from */
    int64_t size_bytes;
    int sizes;     /* enum traffic_sizes */
    double load;   /* poisson: fraction of each sender's link rate, 0..1 */
    int64_t count; /* poisson: largest number of flows, unset: any; others: rounds, unset: 1 */
    int64_t shift; /* permutation: role i sends to i+shift; unset: random, from the seed */
    int64_t
        nic_shift; /* NIC i to NIC i+nic_shift of a glob's; what harness/plan/bind.h made of it is in `to` */
    int memory;
    int64_t gpu; /* its number, at both ends; unset: the nearest */
    int64_t message_bytes;
    int64_t depth;
    int64_t priority;
    int64_t start_ns, stop_ns;
};

/* In a larger pattern single flows have no figures, only the pattern has. */
#define SCENARIO_PATTERN_FLOWS 256

/* A fault: a host that pauses its peer without a reason (simulated labs, virtual ConnectX). */
struct scenario_storm {
    char *role;
    int64_t priority;
    int64_t start_ns, stop_ns;
};

/* Nothing of a simulated lab needs time to come to rest, or to be read, that a scenario does not name. */
#define SCENARIO_SIMULATED_COOLDOWN    "1ms"
#define SCENARIO_SIMULATED_COOLDOWN_NS 1000000

struct scenario_phases {
    int64_t warmup_ns, measure_ns, cooldown_ns;
};

/* Fewer samples in the measure phase say little of a gauge. */
#define SCENARIO_FEW_SAMPLES 5

struct scenario_sample {
    int64_t every_ns;
    struct list_of groups; /* int: indices into counter_group_choices */
    struct list_of roles;  /* char *: those that are listed; empty: as many as results have room for */
};

/* Over what an expectation is judged: each run, or all repetitions of a cell. */
enum expect_over { OVER_RUN, OVER_REPEATS };

struct scenario_expect {
    char *name;
    json_t *when;         /* harness/plan/condition.h; NULL: always */
    char *check;          /* docs/scenario.md, Expressions */
    int over;             /* enum expect_over */
    json_t *against;      /* path -> value: the other cell; NULL: none */
    struct list_of needs; /* int: need_names */
};

struct scenario_published {
    char *name;
    json_t *when;
    char *of;
    double value;
    char *unit;
    char *source;
    json_t *against;
    struct list_of needs; /* as of an expectation; without them the figure is not compared */
    json_t *conditions;   /* path -> value: it holds where they do; NULL: none but the scenario's */
};

struct scenario {
    int64_t schema;
    char *name;
    char *title;
    char *lab;            /* the simulated lab that is used if no lab is given */
    struct list_of roles; /* char * */
    struct scenario_phases phases;
    struct settings settings;   /* of every role */
    struct list_of settings_of; /* struct settings: by role; they override the common ones */
    struct list_of flows;       /* struct scenario_flow */
    struct list_of traffic;     /* struct scenario_traffic */
    struct list_of collectives; /* struct scenario_collective */
    struct list_of jobs;        /* struct scenario_job */
    struct list_of storms;      /* struct scenario_storm */
    struct list_of faults;      /* struct link_fault */
    struct list_of injections;  /* struct injection_rule */
    struct scenario_sample sample;
    struct capture *capture;        /* NULL: none */
    struct list_of verify;          /* int: enum capture_check */
    json_t *sweep;                  /* harness/plan/choices.h */
    struct scenario_search *search; /* of a cell NULL: the plan has it (harness/plan/plan.h) */
    struct list_of expect;          /* struct scenario_expect */
    struct list_of published;       /* struct scenario_published */
    json_t *conditions;             /* of all of them; NULL: none */
    json_t *role_index;             /* made by scenario_parse: name -> number of the role */
    bool bound;                     /* a lab has said which NICs its roles have (harness/plan/bind.h) */
};

extern const struct table scenario_table;

/* What "needs" of an expectation or a published figure may list: each capability that labs may have, and each
 * with "!" in front: the lab must not have it. Ended by NULL. */
extern const char *const need_names[];
/* Must the capability of this index into need_names be absent? And its name. */
bool need_is_absence(int need);
const char *need_capability(int need);

/* Parse and check a scenario, including names that refer to each other. Ranges of roles in `json` are written
 * out already (scenario_expand). On error nothing is left allocated. */
int scenario_parse(const json_t *json, struct scenario *scenario, struct error *e);
void scenario_free(struct scenario *scenario);
/* When each phase begins, and at last the end of the run, since the beginning of the warm-up. */
void scenario_phase_starts(const struct scenario *scenario, int64_t phase_ns[4]);
/* The name of role i, NULL after the last. */
const char *scenario_role(const struct scenario *scenario, size_t i);
/* The index of the role with this name, or -1. */
int scenario_role_index(const struct scenario *scenario, const char *name);
/* The error at `path` that "role" is none of `roles` (char *), with the nearest of them. Returns -1. */
int scenario_no_role(const struct list_of *roles, const char *path, const char *role, struct error *e);
/* Do the flows of a pattern end by themselves, and how many are there? -1: that depends on the seed; more
 * than SCENARIO_PATTERN_FLOWS are not counted to the end. */
bool scenario_traffic_ends(const struct scenario_traffic *traffic);
int64_t scenario_traffic_flows(const struct scenario_traffic *traffic);
/* A copy of the document in which ranges of roles, such as "h[0-3]", are written out (lib/names/range.h). */
json_t *scenario_expand(const json_t *json, struct error *e);
/* Keys of flows, traffic and collectives that some of them do not use: a form of theirs ("with size"), or
 * simulated ones. Ended by a row without a key. */
struct scenario_unused {
    const char *list, *key;         /* of items of this list; NULL: of flows and traffic */
    bool simulated;                 /* in simulated labs; else by their form, in every lab */
    bool (*is)(const json_t *item); /* does an item, with its defaults, have a value that it does not use? */
    const char *why;
};
extern const struct scenario_unused scenario_unused[];
/* The document with all defaults, without those that nothing uses. A new reference. */
json_t *scenario_resolve(const json_t *json);
/* The groups of counters that are sampled: bits by enum counter_group (lib/roce/counters.h). */
uint32_t scenario_groups(const struct scenario *scenario);
/* The settings document of one role: the common ones with the role's own merged over them. A new
 * reference. */
json_t *scenario_role_settings(const json_t *json, const char *role);

#endif
