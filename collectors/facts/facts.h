/*
 * Inventory of a host as JSON: facts_*.c read the facts, checks.c checks them. docs/host-facts.1 describes
 * the document. Everything is read below `root` ("" on a running host); only on a running host are netlink,
 * ioctl and NVML used too.
 */
#ifndef COLLECTORS_FACTS_H
#define COLLECTORS_FACTS_H

#include "collectors/facts/pci.h"
#include "lib/document/table.h"
#include "lib/error.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct facts_source {
    const char *root;
    bool live;                   /* root is the running host */
    const struct list_of *tools; /* char *: other programs are asked about these interfaces alone; NULL: about
                                    all */
};

/* Each gives a new reference; what cannot be read is null or absent. */
json_t *facts_system(const struct facts_source *s);
json_t *facts_iommu(const struct facts_source *s);
json_t *facts_modules(const struct facts_source *s);
json_t *facts_versions(const struct facts_source *s);
/* Clients of the kernel's peer memory: {"nv_mem": {"version", "num_alloc_mrs", ...}}; null if it has none. */
json_t *facts_memory_peers(const struct facts_source *s);
/* What GDRCopy needs: {"device": whether /dev/gdrdrv is there}. */
json_t *facts_gdrcopy(const struct facts_source *s);
/* The NICs: interfaces that have a device or stand for an RDMA port, and RDMA ports without an interface
 * ("netdev" null); with netdev, only that interface. */
json_t *facts_nics(const struct facts_source *s, const char *netdev);
/* The RDMA port of an interface, or null. */
json_t *facts_rdma(const struct facts_source *s, const char *netdev);
/* The ports that belong to no interface, here or in another network namespace: a list. */
json_t *facts_rdma_bare(const struct facts_source *s);
/* The PCI function of an RDMA device, or null. */
json_t *facts_rdma_pci(const struct facts_source *s, const char *device);
/* The interfaces that stand for RDMA ports, one for each port: an object with their names as keys. */
json_t *facts_rdma_owners(const struct facts_source *s);
/* Is the interface a port of a bond or a team, to which it leaves its addresses? */
bool facts_is_bonded(const char *root, const char *netdev);
/* Has the bond RDMA in the place of its ports (RoCE LAG)? Not when each port has an RDMA device. */
bool facts_bond_has_rdma(const char *root, const char *bond);
/* Does the port's interface belong to another network namespace? */
bool facts_is_elsewhere(const struct facts_source *s, const char *device, const char *port);
json_t *facts_gpus(const struct facts_source *s);
/* VLAN interfaces of an interface: a list of {netdev, id, egress}; egress: priority of the kernel's packets
 * -> priority in the tag. */
json_t *facts_vlans(const struct facts_source *s, const char *netdev);
/* Settings in force of one interface, as nic-config prints them, with the reasons for settings that cannot be
 * read. */
void facts_settings(const struct facts_source *s, const char *netdev, json_t *nic);
/* The PCIe relation of every GPU to every NIC. */
json_t *facts_pairs(const struct facts_source *s, const json_t *nics, const json_t *gpus);

/* {"container", "rdma"}: which kind of container this is in, or false; whether RDMA devices are "shared" by
 * network namespaces or "exclusive" to one, null where the kernel does not say. */
json_t *facts_namespaces(const struct facts_source *s);
/* NICs whose interface belongs to another network namespace: a list of {"rdma", "port", "netdev", "counters",
 * "pci"}: an RDMA device and whether sysfs shows its counters, or a PCI function of which nothing else is
 * shown; null where that is not known. */
json_t *facts_elsewhere(const struct facts_source *s);
/* Agents of LLDP that run on the host: "lldpd", "lldpad"; null where that is not known. */
json_t *facts_lldp_agents(const struct facts_source *s);

/* The whole document. */
json_t *facts_gather(const struct facts_source *s, const char *netdev);

/* Helpers for facts_*.c. */
/* May other programs be asked about an interface? */
bool facts_may_ask(const struct facts_source *s, const char *netdev);
json_t *facts_pci(const char *root, const struct pci_device *device);
/* CPUs of a function's interrupts: {"count", "cpus", "local_cpus"}, those in effect and those of its NUMA
 * node; null. */
json_t *facts_interrupts(const char *root, const char *address);
size_t facts_numa_nodes(const char *root);
/* Does sysfs show counters of an RDMA device's port? */
json_t *facts_rdma_counters(const struct facts_source *s, const char *device, const char *port);
/* A file's line as a JSON string, null when it cannot be read. */
json_t *facts_line(const char *root, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
