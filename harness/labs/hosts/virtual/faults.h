/* A scenario's faults of single frames (`inject`), which the virtual ConnectX of guests have during a run. */
#ifndef HARNESS_LABS_HOSTS_VIRTUAL_FAULTS_H
#define HARNESS_LABS_HOSTS_VIRTUAL_FAULTS_H

#include "harness/labs/hosts/lab.h"

struct host_faults;

/* Has each NIC that is to have faults means for it? Nothing is changed. */
int virtual_faults_find(struct remote_lab *lab, struct error *e);
/* Before the first packet. */
int virtual_faults_begin(struct remote_lab *lab, struct error *e);
/* After the last one: read what they met, and end them. A host that does not answer is a warning: `harness restore` ends its faults. */
void virtual_faults_end(struct remote_lab *lab);
/* "injected" of the result, and a warning for each rule that met no frame. */
void virtual_faults_add_to_result(const struct remote_lab *lab, json_t *result);
void virtual_faults_free(struct host_faults *faults);

/* End what a run has left behind, whenever it was killed. Returns 1: it had left faults; 0: none; -1: they are still there. */
int virtual_faults_restore(struct remote_host *h, struct error *e);

#endif
