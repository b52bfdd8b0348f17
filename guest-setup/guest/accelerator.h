/* Chooses KVM or plain emulation by testing them. */
#ifndef GUEST_ACCELERATOR_H
#define GUEST_ACCELERATOR_H

#include "remote/virt.h"

/* "kvm" or "qemu". The existence of /dev/kvm is not sufficient: under some hypervisors it exists, but runs a
 * guest's firmware slower than emulation or its kernel not at all. So a guest without a disk is started under
 * each; its firmware resets it when it finds nothing to boot. KVM must take about as long or less. *why is a
 * constant. HARNESS_ACCELERATOR (kvm or qemu) selects one without a test. The test takes seconds; what it found is kept
 * in `folder` (NULL: nowhere) until this machine boots again. NULL with a sentence when neither works. */
const char *accelerator_try(struct virt *v, const char *folder, const char **why, struct error *e);
/* What a test found since this machine booted, "kvm" or "qemu"; NULL: nothing. */
const char *accelerator_recall(const char *folder);
/* Without it the next call tests again: an error is not told. */
void accelerator_keep(const char *folder, const char *found);

#endif
