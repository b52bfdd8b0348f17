/* The real hosts of a lab under examination: each is asked the checks of hosts, side by side with the
 * others. */
#ifndef HARNESS_DOCTOR_HOST_H
#define HARNESS_DOCTOR_HOST_H

#include "harness/doctor/check.h"
#include "harness/labs/hosts/host.h"

/* A host that answers: a NIC of a machine. */
struct doctor_host {
    struct remote_host remote;
    const char *machine;       /* its name, for what is said of all its NICs */
    struct doctor_host *nodes; /* all of the machine that the lab has, this one among them; the first is asked
                                  what the machine has once */
    size_t node_count;
    const char *role; /* in the scenario; NULL: it has none */
    const char
        *known_as; /* in struct doctor_seen: by its role, without a scenario by its name; NULL: not there */
    json_t *nics;  /* host-facts' list; NULL: not read */
    json_t *facts; /* the whole document; NULL: not read */
    bool looked_for_nic; /* see doctor_find_nic */
    bool has_nic;
    struct error no_nic; /* why not */
};

/* Ask all hosts of x->lab: entries are appended in the lab's order, and what hosts said is added to x->seen.
 * -1: the lab is in use or cannot be reached, none was asked. */
int doctor_walk_hosts(const struct doctor_subject *x, struct error *e);

/* The network and RDMA device of the experiment's NIC, looked for once. */
bool doctor_find_nic(struct doctor_host *host);

/* The NIC of host-facts' list that has this interface; NULL: it is not there. */
json_t *doctor_nic_of(const json_t *nics, const char *netdev);
/* Does a lab's nic.gid_index still name the RoCE v2 GID of the NIC's address, by host-facts' list of NICs?
 * Appends an entry; none where the lab gives no index, or flows use a VLAN's GID. */
void doctor_examine_gid(const struct lab_host *host, const json_t *nics, json_t *entries);

#endif
