/* What people write in a lab about a machine and its networks: how it is read, and the forms that the lab's
 * tables check. */
#ifndef LIB_LAB_WORDS_H
#define LIB_LAB_WORDS_H

#include "lib/document/form.h"
#include "lib/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The address of one function of a PCI device. */
struct pci_address {
    unsigned domain, bus, slot, function;
};
/* Parse "0000:41:00.0" or "41:00.0". */
int pci_parse(const char *text, struct pci_address *address, struct error *e);
/* "0000:41:00.0" into a buffer of 16 bytes, which is returned. */
char *pci_format(const struct pci_address *address, char *buffer);

/* Parse a list of CPUs or NUMA nodes such as "2-15,34-47", each below 4096, into an array. The caller frees
 * *cpus. */
int cpu_list_parse(const char *text, unsigned **cpus, size_t *count, struct error *e);

/* An IPv4 network with a prefix length of 8 to 28. */
struct lab_subnet {
    uint32_t base; /* host byte order */
    int prefix;
};
/* Parse "198.51.100.0/26"; false: it is not one. */
bool lab_subnet_parse(const char *text, struct lab_subnet *subnet);
/* The guests' addresses begin with this number of the management subnet; .1 is the machine's. */
#define LAB_FIRST_GUEST 11
/* Interfaces of a guest: one for ssh, and one for each link. */
#define LAB_GUEST_PORTS 66

/* Is it an address with or without the length of its prefix? */
bool address_is_ip(const char *text);
/* Do two addresses with prefix lengths overlap? */
bool lab_same_network(const char *one, const char *other);

/* A URI of libvirt with which no program is run but the user's own ssh. */
bool lab_uri_fits(const char *uri);

extern const struct form form_pci, form_cpus, form_subnet, form_address, form_network_address, form_mac,
    form_folder, form_uri;

#endif
