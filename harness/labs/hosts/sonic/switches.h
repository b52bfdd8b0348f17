/*
 * The SONiC switches of a lab in a run.
 * A role of a scenario may be a switch's: its settings for the run, and its counters as samples. Such a role
 * has a remote_host like any other, of which the connection and the name are used (harness/labs/hosts/host.h,
 * `sonic`); what is done on hosts leaves it out. Of all switches, with a role or not, counters are read
 * before the traffic and after it.
 */
#ifndef HARNESS_LABS_SONIC_SWITCHES_H
#define HARNESS_LABS_SONIC_SWITCHES_H

#include "harness/labs/hosts/lab.h"
#include "harness/labs/hosts/sonic/changes.h"
#include "harness/labs/hosts/sonic/counters.h"

struct switch_role {
    const struct lab_switch *of;
    struct lab_host as_host; /* its name */
    const char **ports;      /* that the lab names */
    size_t port_count;
    struct sonic_changes changes; /* of this run; empty: none */
    struct sonic_series *series;
    int64_t every_ns, settle_ns; /* between samples; until a count is in COUNTERS_DB */
};

/* The settings of its ports, and the tables of CONFIG_DB that they were read from; the caller releases
 * both. */
struct switch_settings {
    json_t *tables;
    struct sonic_config config;
};

/* Can the switches that have roles have them? No switch is reached. */
int switch_roles_check(const struct cell *cell, struct error *e);
/* In the order of a run; `roles` and `out` are those of struct lab_driver. Make: before anything is reached,
 * each switch is locked. */
int switch_roles_make(struct remote_lab *lab, struct error *e);
int switch_roles_bring_up(struct remote_lab *lab, struct error *e);
int switch_roles_describe(struct remote_lab *lab, struct host_description out[], struct error *e);
int switch_roles_save(struct remote_lab *lab, struct role_settings roles[], struct error *e);
int switch_roles_apply(struct remote_lab *lab, struct role_settings roles[], struct error *e);
int switch_roles_sample(struct remote_lab *lab, struct error *e);
/* A failure is in the role's why_not. */
void switch_roles_restore(struct remote_lab *lab, struct role_settings roles[]);
/* Is a setting of a switch changed? */
bool switch_roles_changed(const struct remote_lab *lab);
void switch_role_free(struct switch_role *s);

/* What a role's settings (a scenario's document) change there. */
int switch_settings_plan(const struct switch_role *s, const struct switch_settings *now, const json_t *wanted,
                         struct sonic_changes *out, json_t *warnings, struct error *e);
/* Put back what a run that ended early has left. Returns the answer of sonic_restore_script, with "since_ns",
 * or NULL. */
json_t *switch_restore(const struct lab_switch *of, struct ssh_session *session, struct error *e);

/* ---- counts before and after the traffic */

/* Connect to the switches that are reached over ssh and whose ports the lab names; not in a run as it is,
 * which probes. What cannot be read, here and below, is a warning. */
void switch_counts_open(struct remote_lab *lab);
void switch_counts_before(struct remote_lab *lab);
/* After the traffic: waits until the switches have counted its end, unless Ctrl-C is pressed. */
void switch_counts_after(struct remote_lab *lab);
/* "switches" of the result (docs/result.md). */
void switch_counts_add_to_result(struct remote_lab *lab, json_t *result);
void switch_counts_close(struct remote_lab *lab);

#endif
