/* The TCP ports of traffic tools: can the sending hosts reach the receiving ones? */
#ifndef HARNESS_LABS_PORTS_H
#define HARNESS_LABS_PORTS_H

#include "harness/labs/hosts/host.h"

/* Try, from this host, the port of the traffic tool on the hosts to which it sends; without a scenario (NULL) on the lab's next host, so that
 * each is tried once. Appends entries (preflight.h). */
void remote_ports_examine(struct remote_host *h, const struct lab *lab, const struct scenario *scenario,
                          json_t *entries);

#endif
