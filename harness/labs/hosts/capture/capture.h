/*
 * The capture of a run between real hosts. On each captured host tcpdump listens where the NIC's frames
 * can be seen, and sends them over the run's connection; at the end they become one file, with times on
 * the run's clock. Nothing is written on the hosts. docs/captures.md.
 */
#ifndef HARNESS_LABS_HOSTS_CAPTURE_H
#define HARNESS_LABS_HOSTS_CAPTURE_H

#include "harness/labs/hosts/lab.h"

struct host_capture;

/* Can a lab of real hosts have the scenario's `capture`, as far as is known before a host is reached? */
int host_capture_check(const struct scenario *scenario, const struct lab *lab, struct error *e);
/* Where does each captured host show its frames, and has it a capturer? Hosts are connected to; nothing is
 * changed. */
int host_capture_find(struct remote_lab *lab, struct error *e);
/* Before the traffic: start capturers whose phase begins soon. */
int host_capture_start(struct remote_lab *lab, struct error *e);
/* The warm-up begins at this time of the run's clock. */
void host_capture_phases(struct remote_lab *lab, int64_t start_ns);
/* During the run, again and again: start capturers that are due, and end those that are not needed any
 * more. */
int host_capture_update(struct remote_lab *lab, struct error *e);
/* After the capturers' ends: the file. -1: it could not be written. */
int host_capture_finish(struct remote_lab *lab, struct error *e);
/* "capture" of the result. */
void host_capture_add_to_result(const struct remote_lab *lab, json_t *result);
void host_capture_close(struct remote_lab *lab);

#endif
