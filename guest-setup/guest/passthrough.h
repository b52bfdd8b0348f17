/* PCI devices for passthrough: their functions, IOMMU group and driver, and whether the machine uses them. */
#ifndef GUEST_PASSTHROUGH_H
#define GUEST_PASSTHROUGH_H

#include "lib/error.h"
#include "lib/formats/lab_words.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All functions of the device in this slot that the machine shows, in order; returns how many (at most 8).
 * `sysfs` is "/sys". */
size_t pci_functions(const char *sysfs, const struct pci_address *address, struct pci_address functions[8]);

/* May this function be given to a guest? It exists, has an IOMMU group, the machine uses nothing else in the
 * group, and the machine does not use it itself (an interface that is up, a display that shows something, a
 * disk). `ours` are the functions that go to the guest together. A function that is already bound to vfio-pci
 * is accepted. */
int pci_check(const char *sysfs, const struct pci_address *address, const struct pci_address *ours,
              size_t count, struct error *e);

/* Bind the function to vfio-pci (driver_override, unbind, probe), and return it to its default driver. */
int pci_bind_vfio(const char *sysfs, const struct pci_address *address, struct error *e);
int pci_unbind_vfio(const char *sysfs, const struct pci_address *address, struct error *e);

#endif
