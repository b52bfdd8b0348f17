/* By which means a host has faults: what it is asked, told and told again when they end. */
#ifndef HARNESS_LABS_HOSTS_FAULTS_MEANS_H
#define HARNESS_LABS_HOSTS_FAULTS_MEANS_H

#include "harness/labs/hosts/host.h"
#include "harness/labs/hosts/faults/rules.h"
#include <string.h>

/* Records on a host of what a run has there, from before it is set until it is taken back. In memory like that: none outlives a boot. */
#define FAULTS_LEFT_NIC    "/run/harness-virtual-faults"
#define FAULTS_LEFT_FILTER "/run/harness-filter-faults"

struct fault_rule {
    struct fault fault;
    bool counted;
    int64_t seen, met; /* frames of its kind, and those that had the fault */
};

struct host_faults {
    struct fault_rule *rules; /* as the scenario's */
    size_t count;
    bool begun;
};

/* Each function is for the rules of `h` that are of these means; there is one at least. */
struct fault_means {
    bool filter;
    /* Can it be done? Nothing is changed. */
    int (*find)(struct remote_host *h, const struct host_faults *f, struct error *e);
    int (*begin)(struct remote_host *h, const struct host_faults *f, struct error *e);
    /* Storms of a host that has begun; `zero_ns` is the beginning of the warm-up on its clock. 1: one should have begun already; 0: each
     * will begin at its time. NULL: it has none. */
    int (*schedule)(struct remote_host *h, const struct host_faults *f, int64_t zero_ns, struct error *e);
    /* Reads the counts, and ends the faults. */
    int (*end)(struct remote_host *h, struct host_faults *f, struct error *e);
    /* Ends what a run has left. 1: it had left faults; 0: none; -1: they are still there. */
    int (*restore)(struct remote_host *h, struct error *e);
    const char *ended; /* what was restored */
};
extern const struct fault_means fault_means_nic, fault_means_filter;

/* Run a shell script on the host. 1: it printed something; 0: nothing; -1: it failed. */
int faults_ask(struct remote_host *h, const char *script, struct error *e);

/* Is it a rule of this host, by these means? */
static inline bool fault_is_of(const struct fault_rule *rule, const struct remote_host *h, bool filter)
{
    return rule->fault.filter == filter && strcmp(rule->fault.host->name, h->lab->name) == 0;
}

#endif
