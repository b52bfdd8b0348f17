/* A scenario's faults of single frames (`inject`) and storms of pauses, which virtual ConnectX and packet
 * filters of hosts have during a run. */
#ifndef HARNESS_LABS_HOSTS_FAULTS_H
#define HARNESS_LABS_HOSTS_FAULTS_H

#include "harness/labs/hosts/lab.h"

struct host_faults;

/* Can hosts of this lab have them, as far as is known before one is reached? The scenario's traffic is
 * flows already. */
int host_faults_check(const struct scenario *scenario, const struct lab *lab, struct error *e);

/* Has each host that is to have faults means for them? Nothing is changed. */
int host_faults_find(struct remote_lab *lab, struct error *e);
/* The same of one host, whose NIC was found. 1: it has them; 0: the cell's scenario wants none there. */
int host_faults_examine(struct remote_host *h, const struct cell *cell, struct error *e);
/* Before the first packet. */
int host_faults_begin(struct remote_lab *lab, struct error *e);
/* When does the run's traffic begin? `lead_ns` from now, or later: hosts with a storm know by then when it
 * begins. */
int host_storms_schedule(struct remote_lab *lab, int64_t lead_ns, int64_t *start_ns, struct error *e);
/* After the last one: read what they met, and end them. A host that does not answer is a warning: `harness
 * restore` ends its faults. */
void host_faults_end(struct remote_lab *lab);
/* "injected" of the result, and a warning for each rule that met no frame. */
void host_faults_add_to_result(const struct remote_lab *lab, json_t *result);
void host_faults_free(struct host_faults *faults);

/* Has a run left faults on the host? */
bool host_faults_left(struct remote_host *h);
/* End what a run has left behind, whenever it was killed. Adds a sentence to `said` for all that it had
 * left. */
int host_faults_restore(struct remote_host *h, struct text *said, struct error *e);

#endif
