/* The SONiC switches of a lab under examination: the ports that its links name are asked the checks of
 * ports. */
#ifndef HARNESS_DOCTOR_SWITCH_H
#define HARNESS_DOCTOR_SWITCH_H

#include "harness/doctor/check.h"
#include "harness/labs/hosts/sonic/config_db.h"

/* An end of a cable at a switch: its port, and what is at the other end. */
struct switch_end {
    const struct lab_switch *of;
    const struct sonic_config *config;
    bool recorded;    /* config_db.json of a file, not the running CONFIG_DB */
    const char *from; /* where it was read: for evidence */
    const struct lab_link *link;
    const struct sonic_port *port;
    const struct lab_host *host;       /* at the other end; NULL: another switch */
    const char *role;                  /* of the host in the scenario; NULL: none */
    json_t *settings;                  /* of the host, that will be in force; without what was not seen */
    int64_t host_mtu, host_speed_Mbps; /* FIELD_UNSET: not known */
};

/* A cable between two switches of which both were read. */
struct switch_cable {
    const char *names[2];
    const struct sonic_port *ports[2];
};

/* Read the configuration of each switch of x->lab; entries are appended. The names of counters of switches
 * that have a role are added to x->seen. Free with doctor_switches_close. */
struct doctor_switches *doctor_switches_read(const struct doctor_subject *x);
/* Ask the checks of ports, for each cell of x->plan, and of cables. A switch with a role is examined as the
 * cell's run would have it. */
void doctor_walk_switches(const struct doctor_subject *x, const struct doctor_switches *all);
void doctor_switches_close(struct doctor_switches *all);

/* Ask the checks of ports of one switch: `of`, `config`, `recorded` and `from` of `end` are given. */
void doctor_walk_ports(const struct doctor_subject *x, struct switch_end end);

/* ---- what the checks share */

/* Which priorities of x->end have PFC was not understood: the check cannot be made. */
void switch_report_pfc_unread(const struct doctor_subject *x, const char *check);

/* "Ethernet0 (to a)" */
void switch_describe_end(const struct switch_end *end, struct text *out);
/* "3,4", or "none" */
void switch_describe_priorities(unsigned bits, struct text *out);
/* "100Gb/s"; "5m" */
void switch_describe_rate(int64_t speed_Mbps, struct text *out);
void switch_describe_length(int64_t length_mm, struct text *out);
/* The priorities of the flows that have an end at the host of x->end, a bit each; 0 without a scenario. */
unsigned switch_flow_priorities(const struct doctor_subject *x);
/* The most bytes that the priority groups of `senders` hosts hold together before all of them have sent XOFF,
 * when no other uses the shared buffer; FIELD_UNSET: not known. */
int64_t switch_most_before_xoff(const struct sonic_buffer *buffer, int64_t senders);
/* Does the scenario have flows of the priority whose data the host of x->end gets (of a read the one that
 * asks)? How many hosts send it; 0: none, or there is no scenario. */
int64_t switch_senders_to(const struct doctor_subject *x, int priority);

#endif
