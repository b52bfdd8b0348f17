/*
 * A lab that is found, not typed: hosts are asked by host-facts which NICs and GPUs they have, and by ping
 * whom each NIC reaches. discover.c asks, document.c writes.
 */
#ifndef HARNESS_LABS_HOSTS_DISCOVER_H
#define HARNESS_LABS_HOSTS_DISCOVER_H

#include "lib/error.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the hosts are reached, as the lab will say it; NULL, 0: it says nothing. */
struct discover_request {
    const char *name;                /* of the lab */
    const char *const *destinations; /* ssh destinations, one for each host */
    size_t count;
    const char *identity, *known_hosts, *programs;
    int64_t port;
    bool sudo;
};

/* A NIC that may be in a lab. */
struct found_nic {
    const char *netdev, *rdma, *pci; /* of the facts; rdma may be NULL */
    const char *address;             /* with prefix length, of the facts; NULL: it has none */
    int64_t speed_mbps;              /* 0: not known */
    const char *neighbour, *port;    /* by LLDP; NULL: none was heard */
    size_t host;
    size_t rail; /* its number among those of its host, the same on all hosts where they are of one network */
    long gpu;    /* the nearest: its place among the host's; -1: none */
};

struct found_gpu {
    const char *pci; /* of the facts; may be NULL */
    int64_t index;   /* NVML's; its place among the host's GPUs, if NVML does not say */
    bool by_nvml;
};

struct found_host {
    char *name;
    const char *destination;
    json_t *facts;        /* NULL: it was not reached, and is not in the lab */
    char ssh_address[64]; /* its own, of the connection; "": not known */
    struct found_nic *nics;
    size_t nic_count;
    struct found_gpu *gpus;
    size_t gpu_count;
};

struct found {
    const struct discover_request *request;
    struct found_host *hosts;
    size_t count;
    json_t *reached; /* "HOST NETDEV ADDRESS" of each ping that was answered; NULL: none could be asked */
    json_t *remarks; /* sentences: what is left out, and why; what was not seen */
};

/* Ask the hosts. `failures`: how many could not be asked, each of which is told on stderr and left out. -1:
 * none could. Free with found_free. */
int discover_hosts(const struct discover_request *request, struct found *found, size_t *failures,
                   struct error *e);
void found_free(struct found *found);

/* ---- from facts (for tests too) */

/* NICs and GPUs of a host's facts, in the order of their PCI addresses; what is left out goes to the remarks.
 */
void found_take_facts(struct found *found, size_t host, json_t *facts);
/* Give NICs of one network the same number on each host. */
void found_number_rails(struct found *found);

/* ---- the lab's document: with ranges where they say exactly the same. NULL: what was found is not a lab,
 * with the sentence. A new reference. */
json_t *found_document(const struct found *found, struct error *e);

#endif
