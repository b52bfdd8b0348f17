/*
 * What `harness doctor` checks of a SONiC switch, for the ports that a lab's links name. Each check adds entries of
 * harness/doctor/preflight.h, with evidence, and what to do.
 */
#ifndef HARNESS_SONIC_CHECK_H
#define HARNESS_SONIC_CHECK_H

#include "harness/plan/cell.h"
#include "harness/labs/hosts/sonic/config_db.h"

/* A switch under examination. */
struct sonic_subject {
    const struct lab *lab;
    const struct lab_switch *of;
    const struct sonic_config *config;
    bool recorded;    /* config_db.json of a file, not the running CONFIG_DB */
    const char *from; /* where it was read: for evidence */
    const json_t
        *seen; /* of hosts, by role; without a cell by the host's name. As preflight_settings has it */
    const struct cell *cell; /* NULL: no scenario is looked at */
    json_t *entries;
};

/* A port of the switch, and what is at its cable's other end. */
struct sonic_end {
    const struct lab_link *link;
    const struct sonic_port *port;
    const struct lab_host *host;       /* NULL: another switch */
    const char *role;                  /* of the host in the scenario; NULL: none */
    json_t *settings;                  /* of the host, that will be in force; without what was not seen */
    int64_t host_mtu, host_speed_Mbps; /* FIELD_UNSET: not known */
};

/* All checks of a switch. */
void sonic_examine(const struct sonic_subject *x);

/* ---- the checks */

void sonic_check_port(const struct sonic_subject *x, const struct sonic_end *end);
void sonic_check_pfc(const struct sonic_subject *x, const struct sonic_end *end);
void sonic_check_classes(const struct sonic_subject *x, const struct sonic_end *end);
void sonic_check_headroom(const struct sonic_subject *x, const struct sonic_end *end);
void sonic_check_wred(const struct sonic_subject *x, const struct sonic_end *end);
/* PFC at both ends of a cable between two switches. */
void sonic_check_between(const char *one_name, const struct sonic_port *one, const char *other_name,
                         const struct sonic_port *other, json_t *entries);
void sonic_check_watchdog(const struct sonic_subject *x, const struct sonic_end *end);

/* "Ethernet0 (to a)" */
void sonic_say_end(const struct sonic_end *end, const struct sonic_subject *x, struct text *out);
/* "3,4", or "none" */
void sonic_say_priorities(unsigned bits, struct text *out);
/* "100Gb/s"; "5m" */
void sonic_say_rate(int64_t speed_Mbps, struct text *out);
void sonic_say_length(int64_t length_mm, struct text *out);
/* The priorities of the flows that have an end at the host, a bit each; 0 without a scenario. */
unsigned sonic_flow_priorities(const struct sonic_subject *x, const struct sonic_end *end);
/* The most bytes that a priority group holds before it sends XOFF, when no other uses the shared buffer; FIELD_UNSET: not known. */
int64_t sonic_most_before_xoff(const struct sonic_buffer *buffer);

#endif
