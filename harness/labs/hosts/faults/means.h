/* By which means a host has faults (a virtual ConnectX, the kernel's packet filter): what a rule becomes
 * there, and what the host is asked, told and told again when the faults end. */
#ifndef HARNESS_LABS_HOSTS_FAULTS_MEANS_H
#define HARNESS_LABS_HOSTS_FAULTS_MEANS_H

#include "harness/labs/hosts/host.h"
#include "lib/faults/injection.h"
#include "lib/formats/lab.h"
#include "lib/formats/scenario.h"
#include "lib/text.h"
#include <string.h>

/* Records on a host of what a run has there, from before it is set until it is taken back. In memory like
 * that: none outlives a boot. */
#define FAULTS_LEFT_NIC    "/run/harness-virtual-faults"
#define FAULTS_LEFT_FILTER "/run/harness-filter-faults"

#define FAULT_MOST_FRAMES 1000000000 /* neither a NIC nor a filter counts further */
#define FAULT_MOST_RULES  16         /* of a run */

/* A rule of the scenario, on its way to a fault. */
struct fault_request {
    const struct scenario *scenario;
    const struct lab *lab;
    const struct injection_rule *rule;
    size_t i;              /* its place in the scenario */
    char path[32];         /* "inject[0]" */
    const char *from, *to; /* roles: who sends the frames, to whom */
    const struct lab_host *source, *destination;
};

/* Free `line` with text_free. */
struct fault {
    const struct lab_host *host; /* who has it */
    bool storm;                  /* of no single frame: nothing is counted */
    int64_t start_ns;            /* of a storm, from the beginning of the warm-up */
    bool filter;                 /* by the kernel's packet filter; false: by the host's virtual ConnectX */
    struct text line; /* what the NIC takes (virtual-connectx/model/faults/faults.h), or a rule of nft */
    bool detour;      /* of a filter: the frame, or its copy, takes a way of its own into the bridge, */
    int64_t delay_ns; /* and comes later by this time */
};

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
    /* Fill in `fault` of a rule for `host`; -1 with what these means cannot do. */
    int (*make)(const struct fault_request *q, const struct lab_host *host, struct fault *fault,
                struct error *e);
    /* Can it be done? Nothing is changed. */
    int (*find)(struct remote_host *h, const struct host_faults *f, struct error *e);
    int (*begin)(struct remote_host *h, const struct host_faults *f, struct error *e);
    /* Storms of a host that has begun, in place of those that it was told earlier; `*zero_ns` is the
     * beginning of the warm-up on its clock, `zero_ns` NULL takes them back. 1: one should have begun
     * already; 0: each will begin at its time. A function that is NULL: these means have no storms. */
    int (*schedule)(struct remote_host *h, const struct host_faults *f, const int64_t *zero_ns,
                    struct error *e);
    /* Reads the counts, and ends the faults. */
    int (*end)(struct remote_host *h, struct host_faults *f, struct error *e);
    /* Ends what a run has left. 1: it had left faults; 0: none; -1: they are still there. */
    int (*restore)(struct remote_host *h, struct error *e);
    const char *ended; /* what was restored */
};
extern const struct fault_means fault_means_nic, fault_means_filter;

/* The name of another flow than the rule's of which the source sends such packets too, to the host `to`
 * (NULL: to any); NULL: there is none, or the rule is not of a flow. The scenario owns it. */
const char *fault_other_flow(const struct fault_request *q, const struct lab_host *to);

/* Number i of the scenario's: each injection, then each storm. On error nothing is to be freed: no host of
 * the lab can have it. */
int fault_make(const struct scenario *scenario, const struct lab *lab, size_t i, struct fault *fault,
               struct error *e);

/* Run a shell script on the host. 1: it printed something; 0: nothing; -1: it failed. */
int faults_ask(struct remote_host *h, const char *script, struct error *e);

/* Is it a rule of this host, by these means? */
static inline bool fault_is_of(const struct fault_rule *rule, const struct remote_host *h, bool filter)
{
    return rule->fault.filter == filter && strcmp(rule->fault.host->name, h->lab->name) == 0;
}

#endif
