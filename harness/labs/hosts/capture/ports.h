/* What a scenario asks of single packets (`capture`, `verify`), where hosts are real. docs/captures.md. */
#ifndef HARNESS_LABS_HOSTS_CAPTURE_PORTS_H
#define HARNESS_LABS_HOSTS_CAPTURE_PORTS_H

#include "lib/formats/lab.h"
#include "lib/formats/scenario.h"

/* Can a lab of real hosts do it, as far as is known before a host is reached? Other labs have their own checks. */
int packets_check(const struct scenario *scenario, const struct lab *lab, struct error *e);
/* Is the port of this host captured? The scenario has a capture. */
bool packets_captured(const struct scenario *scenario, const struct lab *lab, const struct lab_host *host);

#endif
