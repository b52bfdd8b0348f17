/* The XML that a lab's guests, networks and volumes are defined with. */
#ifndef GUEST_DOMAIN_XML_H
#define GUEST_DOMAIN_XML_H

#include "guest-setup/guest/passthrough.h"
#include "guest-setup/guest/wiring.h"
#include "lib/error.h"
#include "lib/formats/lab.h"

/* How a guest boots. */
enum boot_kind { BOOT_KERNEL, BOOT_DISK, BOOT_EFI };

/* Properties of a guest that are not in the lab file. The caller owns all strings. */
struct domain_parts {
    const char *type; /* "kvm" or "qemu" */
    const char *user; /* to log in as */
    enum boot_kind boot;
    const char *kernel, *initrd, *cmdline; /* BOOT_KERNEL */
    const char *disk;                      /* path of its qcow2 on the machine */
    const char *seed;                      /* path of its seed */
    const char *console;                   /* path of its serial log */
    bool safe_disk; /* false: writes are not flushed (cache mode unsafe), for a guest that can be rebuilt */
    const struct pci_address *nic; /* NULL: none; one for each NIC of the lab with a pci address */
    size_t nic_count;
    const struct pci_address *gpu; /* functions of the GPUs, card by card */
    size_t gpu_count;
};

/* The domain's XML. The caller frees. */
char *domain_xml(const struct lab *lab, const struct lab_host *host, const struct domain_parts *parts,
                 struct error *e);
/* The XML of one of the lab's networks. The caller frees. */
char *network_xml(const struct lab *lab, const struct wiring_network *network, struct error *e);

#endif
