/* What only guests with virtual devices have: a virtual switch, and a virtual ConnectX's memory that
 * stands for a GPU's. */
#ifndef HARNESS_LABS_HOSTS_VIRTUAL_H
#define HARNESS_LABS_HOSTS_VIRTUAL_H

#include "harness/labs/hosts/host.h"

/* ---- guests that are switches: the module virtual_connectx forwards there. Their settings are lines that
 * the module takes. */

/* What the lab says of the switch and the scenario of all nodes, as lines
 * (virtual-connectx/model/switch/settings.c). Each setting has one, so that nothing of an earlier run
 * stays. */
int virtual_switch_lines(const struct lab *lab, const struct lab_host *host, const json_t *wanted,
                         struct text *lines, struct error *e);
/* Apply them. Returns what the switch took: {"switch": [LINE...]}. */
json_t *virtual_switch_set(struct remote_host *h, const struct lab *lab, const json_t *wanted,
                           struct error *e);

/* ---- memory that stands for a GPU's The lab says how slow it is, and a run puts that into the model
 * (pace of its debugfs, virtual-connectx/model/pace/pace.h). A file on the guest has where, from before
 * the change until it is taken back, so that a run that was killed leaves nothing: the next run, or
 * `harness restore`, takes it back. */

/* Do flows of the role use GPU memory, and does the lab say of the host how slow it is? */
bool virtual_gpu_wanted(const struct scenario *scenario, const char *role, const struct lab_host *host);
/* The line that the model takes. */
void virtual_gpu_line(const struct lab_gpu *gpu, struct text *line);
/* Put it into the model of the host's NIC. Returns the line. A new reference. */
json_t *virtual_gpu_set(struct remote_host *h, struct error *e);
/* Is it there still? A host whose lab names no such memory has none. */
bool virtual_gpu_left(struct remote_host *h);
/* Take it back, if it is there still. 1: it was; 0: it was not; -1: an error. */
int virtual_gpu_restore(struct remote_host *h, struct error *e);

#endif
