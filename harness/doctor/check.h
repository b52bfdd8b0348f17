/*
 * The checks of `harness doctor`. A check is one question about a lab, a scenario or a host: a const struct
 * doctor_check in a file beside its like, and its place in DOCTOR_CHECKS. The command and a run walk the same
 * table: a run is refused, or its user warned, by checks that need no host.
 *
 * What a check finds is an entry {"host", "check", "verdict", "reason", "fix", "evidence"}; a verdict is ok,
 * warning, failure or unknown. What was not seen is unknown, never ok.
 */
#ifndef HARNESS_DOCTOR_CHECK_H
#define HARNESS_DOCTOR_CHECK_H

#include "harness/plan/plan.h"
#include "lib/text.h"

/* What the question is about: the walk over these asks each of their checks. */
enum doctor_scope {
    DOCTOR_HOST,  /* a real host that answers, a NIC of a machine; harness/doctor/hosts/ */
    DOCTOR_CELL,  /* a cell of the scenario */
    DOCTOR_PORT,  /* a port of a SONiC switch that the lab names; harness/doctor/switches/ */
    DOCTOR_CABLE, /* a cable between two SONiC switches */
    DOCTOR_PROBE, /* a probe that has ended; harness/doctor/probe/ */
};

/* When it is asked, a bit each. */
enum doctor_when {
    DOCTOR_REFUSES_RUN = 1,  /* before a run, by the documents alone: a failure refuses it */
    DOCTOR_WARNS_OF_RUN = 2, /* before a run, by the documents alone: what it finds is a warning */
    DOCTOR_EXAMINES = 4,     /* harness doctor */
    DOCTOR_PROBES = 8,       /* harness doctor --probe */
};

/* What must be there for it to be asked, a bit each; those below the first two are found by checks before
 * it. */
enum doctor_need {
    DOCTOR_NEEDS_REAL = 1,       /* the lab has real hosts */
    DOCTOR_NEEDS_SCENARIO = 2,   /* a scenario is given */
    DOCTOR_NEEDS_ROLE = 4,       /* the host has a role in it */
    DOCTOR_NEEDS_PROGRAMS = 8,   /* our programs on the host can be used */
    DOCTOR_NEEDS_NIC = 16,       /* the host's NIC was found */
    DOCTOR_NEEDS_PORT = 32,      /* the switch has the port */
    DOCTOR_NEEDS_PORT_HOST = 64, /* a host is at the other end of the port's cable */
    DOCTOR_NEEDS_FIRST = 128     /* the host is the first of its machine: what a machine has once */
};

/* What hosts and switches said: objects by role, without a scenario by the host's name. A role that is not
 * there was not seen. */
struct doctor_seen {
    json_t *interfaces; /* {"settings", "places", "missing", "unread", "speed_Mbps"}: what nic-config says of
                           the role's interface (docs/nic-config.1) */
    json_t *in_force;   /* its settings alone */
    json_t *nics;       /* what host-facts says of the role's NIC */
    json_t *columns;    /* the names of its counters */
};

struct doctor_seen doctor_seen_open(void);
/* Add what another has. */
void doctor_seen_add(const struct doctor_seen *seen, const struct doctor_seen *more);
void doctor_seen_close(struct doctor_seen *seen);

/* What a check looks at; what is not of its scope is NULL. */
struct doctor_subject {
    const struct lab *lab;
    const char *lab_path;
    const struct plan *plan; /* NULL: without a scenario, or before a run */
    const struct cell *cell; /* of ports: NULL without a scenario */
    const struct doctor_seen
        *seen;       /* NULL before a run, when no host was reached; in a run it has in_force alone */
    unsigned *found; /* needs that checks before it have found; may be NULL */
    struct doctor_host *host;         /* harness/doctor/hosts/host.h */
    const struct switch_end *end;     /* harness/doctor/switches/switch.h */
    const struct switch_cable *cable; /* the same */
    const struct probed *probed;      /* harness/doctor/probe/probe.h */
    json_t *entries;                  /* where entries are appended */
};

struct doctor_check {
    const char *name; /* of its entries, as far as they have one in common */
    enum doctor_scope scope;
    unsigned when, needs; /* bits */
    void (*examine)(const struct doctor_subject *x);
    /* DOCTOR_PROBE: the scenario that the probe runs, a document as a user could write it. `cell` NULL:
     * without a scenario. json_null(): this lab cannot have it; NULL: an error. A new reference. */
    json_t *(*traffic)(const struct cell *cell, const struct lab *lab, struct error *e);
};

/* All checks, in the order in which they are asked. */
#define DOCTOR_CHECKS(CHECK)             \
    /* of each host */                   \
    CHECK(clock)                         \
    CHECK(port)                          \
    CHECK(tool)                          \
    CHECK(programs)                      \
    CHECK(facts)                         \
    CHECK(gid_index)                     \
    CHECK(nic)                           \
    CHECK(link)                          \
    CHECK(route)                         \
    CHECK(near_gpu)                      \
    CHECK(left)                          \
    CHECK(inject)                        \
    CHECK(sampler)                       \
    CHECK(planned)                       \
    /* of each cell */                   \
    CHECK(lab)                           \
    CHECK(nic_model)                     \
    CHECK(both_ends)                     \
    CHECK(effect)                        \
    CHECK(samples)                       \
    CHECK(ect)                           \
    CHECK(priority)                      \
    CHECK(counters)                      \
    CHECK(foregone)                      \
    CHECK(dcqcn)                         \
    CHECK(peer_pfc)                      \
    /* of each port of a switch */       \
    CHECK(switch_port)                   \
    CHECK(switch_pfc)                    \
    CHECK(switch_dscp)                   \
    CHECK(switch_headroom)               \
    CHECK(switch_wred)                   \
    CHECK(switch_watchdog)               \
    /* of each cable between switches */ \
    CHECK(switch_cable)                  \
    /* of each probe */                  \
    CHECK(probe_classes)                 \
    CHECK(probe_incast)
#define DOCTOR_DECLARE(name) extern const struct doctor_check doctor_##name;
DOCTOR_CHECKS(DOCTOR_DECLARE)
#undef DOCTOR_DECLARE
extern const struct doctor_check *const doctor_checks[]; /* ended by NULL */

/* Ask all checks of a scope that are asked at this time and have what they need. */
void doctor_walk(enum doctor_scope scope, enum doctor_when when, const struct doctor_subject *x);

/* Before a run. -1: a check refuses it. */
int doctor_refuse_run(const struct cell *cell, struct error *e);
/* What its checks warn of: entries, of which those with a "finding" are of ect. `seen`: what the hosts said;
 * NULL: none was asked. A new reference. */
json_t *doctor_warnings_of_run(const struct cell *cell, const struct doctor_seen *seen);
/* "reason; fix" of an entry. */
void doctor_say(const json_t *entry, struct text *out);
/* Add the warnings of a cell to those that are said already: an object whose keys are sentences. */
void doctor_warn_of_run(const struct cell *cell, json_t *warnings);
/* Log each. */
void doctor_log_warnings(const json_t *warnings);

/* ---- entries */

/* Append an entry. `fix` may be NULL. */
void doctor_add(json_t *entries, const char *host, const char *check, const char *verdict, const char *fix,
                const char *reason, ...) __attribute__((format(printf, 6, 7)));
/* Add the last entry's evidence: what was read, and where. */
void doctor_add_evidence(json_t *entries, const char *from, ...) __attribute__((format(printf, 2, 3)));
/* Begin the command of a fix, to be run by hand: ssh as the lab reaches a host or switch, and what to run
 * there. */
void doctor_begin_ssh(struct text *fix, const char *ssh, int64_t port, const char *identity,
                      const char *known_hosts, const char *command);
/* Add only entries that are not in the list yet: most cells of a sweep yield the same ones. Takes over
 * `found`. */
void doctor_add_new(json_t *entries, json_t *found);

/* ---- what several checks ask */

/* Cell i of the plan; NULL after the last, and without a plan. Give it back with plan_release. */
const struct cell *doctor_cell_at(const struct plan *plan, size_t i);

/* The settings that will be in force at a role: those that were seen, with the scenario's over them. A new
 * reference. */
json_t *doctor_settings_of(const struct cell *cell, const struct doctor_seen *seen, const char *role);
/* What expectations ask for, by the counters that they read. One that would hold without a single pause asks
 * for none: "nobody pauses" is no reason to have PFC. */
struct doctor_interest {
    uint8_t pauses;        /* a bit for each priority whose own pauses are asked for */
    bool any_pauses, cnps; /* those of any priority; CNPs */
};
struct doctor_interest doctor_interest_of(const struct cell *cell);
/* Each flow of the scenario, and in a simulated lab, which makes the flows of patterns itself, one of each
 * sender of a pattern, under the pattern's name: it stands for all of that sender. */
void doctor_each_flow(const struct cell *cell, void (*each)(void *context, const struct scenario_flow *flow),
                      void *context);
/* Does the sweep vary one of these keys (ended by NULL), of the scenario, or `in_lab` too? */
bool doctor_varies(const struct cell *cell, const char *const keys[], bool in_lab);
/* Does a role send or receive flows of the scenario? */
bool doctor_is_end(const struct cell *cell, const char *role);

#endif
