/* Capabilities in a PCI device's configuration space (PCI Express Base Specification, chapter 7). */
#ifndef COLLECTORS_PCI_CONFIG_H
#define COLLECTORS_PCI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    bool
        extended; /* the extended configuration space could be read (requires root and a PCI Express device) */
    struct pci_acs acs;
    struct pci_resizable_bar bars[6];
};

/* Of the device with this address, below a root as lib/kernel/sysfs.h has it; what cannot be read is absent. */
void pci_config_read(const char *root, const char *address, struct pci_config *config);
/* The bytes are untrusted; any length is accepted. */
void pci_config_parse(const uint8_t *bytes, size_t length, struct pci_config *config);

#endif
