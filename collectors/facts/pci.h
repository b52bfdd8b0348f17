/* PCI devices in sysfs: their path, link width and configuration space. */
#ifndef COLLECTORS_PCI_H
#define COLLECTORS_PCI_H

#include "lib/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCI_ADDRESS 16 /* "0000:41:00.0", with room for longer domains */
#define PCI_DEPTH   16
#define PCI_BARS    6

/* From the host bridge down: the bridges above a device, and the device itself as the last element. */
struct pci_chain {
    char host_bridge[32]; /* "pci0000:40" */
    char addresses[PCI_DEPTH][PCI_ADDRESS];
    size_t count;
};

struct pci_link {
    int64_t speed_mtps, width; /* as trained; -1 unknown */
    int64_t max_speed_mtps, max_width;
};

struct pci_device {
    char address[PCI_ADDRESS];
    struct pci_chain chain;
    int64_t vendor, device, class; /* -1 unknown */
    int64_t numa_node;             /* -1 unknown */
    char driver[64];               /* "" when none is bound */
    struct pci_link link;
    uint64_t bar_bytes[PCI_BARS];
};

/* Parse an address; the whole text must be of the form "0000:41:00.0". */
bool pci_address_valid(const char *address);
/* A path such as /sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0; what follows the last device is
 * ignored. */
int pci_chain_parse(const char *path, struct pci_chain *chain, struct error *e);
/* Sizes of the first six resources in the text of a device's `resource` file. */
void pci_bars_parse(const char *text, uint64_t bytes[PCI_BARS]);

int pci_device_read(const char *root, const char *address, struct pci_device *device, struct error *e);

/* Distance of two devices, in the terms of `nvidia-smi topo -m`. */
enum pci_relation {
    PCI_SAME,    /* one device */
    PCI_PIX,     /* at most one PCIe switch between them */
    PCI_PXB,     /* several switches, no host bridge */
    PCI_PHB,     /* through one host bridge */
    PCI_NODE,    /* through host bridges of one NUMA node */
    PCI_SYS,     /* through the link between NUMA nodes */
    PCI_UNKNOWN, /* through different host bridges of unknown NUMA nodes */
};
const char *pci_relation_name(enum pci_relation relation);
/* `nodes` is how many NUMA nodes the host has. */
enum pci_relation pci_relation(const struct pci_device *a, const struct pci_device *b, size_t nodes);
/* How many leading bridges two chains share. */
size_t pci_chain_common(const struct pci_chain *a, const struct pci_chain *b);

/* ---- configuration space */

/* Capabilities in a PCI device's configuration space (PCI Express Base Specification, chapter 7). */

#define PCI_CONFIG_BYTES 4096

/* Access control services: bits of the control register. */
enum pci_acs_bit {
    PCI_ACS_SOURCE_VALIDATION = 1 << 0,
    PCI_ACS_TRANSLATION_BLOCKING = 1 << 1,
    PCI_ACS_REQUEST_REDIRECT = 1 << 2,
    PCI_ACS_COMPLETION_REDIRECT = 1 << 3,
    PCI_ACS_UPSTREAM_FORWARDING = 1 << 4,
    PCI_ACS_EGRESS_CONTROL = 1 << 5,
    PCI_ACS_DIRECT_TRANSLATED = 1 << 6,
};

struct pci_acs {
    bool present;
    uint16_t capability, control;
};

/* Resizable BAR: one base address register. */
struct pci_resizable_bar {
    bool present;
    uint64_t current_bytes;
    uint64_t largest_bytes;
};

/* The capability of PCI Express devices: bits of Device Control. */
enum pci_express_bit { PCI_EXPRESS_RELAXED_ORDERING = 1 << 4 };

struct pci_express {
    bool present; /* and could be read, which takes root: without it only 64 bytes are shown */
    uint16_t control;
};

struct pci_config {
    struct pci_express express;
    bool extended; /* the extended configuration space could be read (requires root and a PCI Express
                      device) */
    struct pci_acs acs;
    struct pci_resizable_bar bars[6];
};

/* Reads the configuration space of the device with this address, below a root as lib/kernel/sysfs.h has it;
 * what cannot be read is absent. */
void pci_config_read(const char *root, const char *address, struct pci_config *config);
/* The bytes are untrusted; any length is accepted. */
void pci_config_parse(const uint8_t *bytes, size_t length, struct pci_config *config);

#endif
