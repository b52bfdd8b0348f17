/* KVM or plain emulation: found out by trying. */
#ifndef GUEST_ACCELERATOR_H
#define GUEST_ACCELERATOR_H

#include "remote/virt.h"

/* "kvm" or "qemu". /dev/kvm being there says little: under some hypervisors it is, and runs a guest's firmware slower than emulation or
 * its kernel not at all. So a guest without a disk is started under each; its firmware resets it when it finds nothing to boot, and KVM must
 * get there about as soon. *why is a constant. HARNESS_ACCELERATOR
 * (kvm or qemu) is taken for the answer. NULL with a sentence when neither works. */
const char *accelerator_try(struct virt *v, const char **why, struct error *e);

#endif
