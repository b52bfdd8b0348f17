#include "harness/labs/hosts/capture/ports.h"

#include <stdio.h>
#include <string.h>

/* ---- capture */

/* "NODE" or "NODE:0": the host that plays this role, or has this name; NULL: there is none, or it is another port. */
static const struct lab_host *host_of_port(const struct lab *lab, const char *port)
{
    const char *colon = strrchr(port, ':');
    char name[256];
    if (colon && strcmp(colon, ":0") != 0)
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)(colon ? colon - port : 255), port);
    return lab_real_host(lab, name);
}

static bool can_be_captured(const struct lab_host *host)
{
    return !lab_forwards(host) && host->extra_nics.count == 0;
}

static int check_port(const struct lab *lab, const char *port, size_t i, struct error *e)
{
    const struct lab_host *host = host_of_port(lab, port);
    if (!host)
        return error_set(e,
                         "capture.ports[%zu]: \"%.80s\": lab %s has no such port: expected the name of a "
                         "role or host, whose NIC is its port 0",
                         i, port, lab->name);
    return can_be_captured(host)
               ? 0
               : error_set(e,
                           "capture.ports[%zu]: \"%.80s\": host %s forwards: on real hosts frames are "
                           "captured where they are sent and received only",
                           i, port, host->name);
}

static int check_capture(const struct capture *c, const struct lab *lab, struct error *e)
{
    char *const *ports = c->ports.items;
    const char *chosen = c->flows.count ? "flows" : c->priorities.count ? "priorities" : NULL;
    if (chosen)
        return error_set(e,
                         "capture.%s: frames are chosen in simulated labs only: on the real hosts of lab %s "
                         "all RoCE frames of a port are captured; leave it out with --set capture.%s=[]",
                         chosen, lab->name, chosen);
    for (size_t i = 0; i < c->ports.count; i++)
        if (check_port(lab, ports[i], i, e) != 0)
            return -1;
    return 0;
}

bool packets_captured(const struct scenario *scenario, const struct lab *lab, const struct lab_host *host)
{
    const struct list_of *ports = &scenario->capture->ports;
    bool named = ports->count == 0;
    for (size_t i = 0; i < ports->count; i++)
        named |= host_of_port(lab, ((char *const *)ports->items)[i]) == host;
    return host && named && can_be_captured(host);
}

/* ---- all */

int packets_check(const struct scenario *scenario, const struct lab *lab, struct error *e)
{
    return scenario->capture ? check_capture(scenario->capture, lab, e) : 0;
}
