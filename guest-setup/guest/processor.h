/* What this machine's processor gives its guests: KVM or plain emulation, and the rate of its time stamp
 * counter. */
#ifndef GUEST_PROCESSOR_H
#define GUEST_PROCESSOR_H

#include "remote/virt.h"
#include <stdint.h>

/* "kvm" or "qemu". The existence of /dev/kvm is not sufficient: under some hypervisors it exists, but runs a
 * guest's firmware slower than emulation or its kernel not at all. So a guest without a disk is started under
 * each; its firmware resets it when it finds nothing to boot. KVM must take about as long or less. *why is a
 * constant. HARNESS_ACCELERATOR (kvm or qemu) selects one without a test. The test takes seconds; what it
 * found is kept in `folder` (NULL: nowhere) until this machine boots again. NULL with a sentence when neither
 * works. */
const char *accelerator_try(struct virt *v, const char *folder, const char **why, struct error *e);
/* What a test found since this machine booted, "kvm" or "qemu"; NULL: nothing. */
const char *accelerator_recall(const char *folder);
/* Without it the next call tests again: an error is not reported. */
void accelerator_keep(const char *folder, const char *found);

/* The rate of the time stamp counter, also that of a guest that QEMU emulates here, in kHz, to 0.1 % at
 * worst; 0: this machine's kernel does not take its time from the counter, or it has none. What was measured
 * once is kept in `folder` (NULL: nowhere) until this machine boots again: it is a part of what a guest is
 * defined as. */
int64_t processor_clock_khz(const char *folder);
/* The same, measured anew in 20 ms, where the machine's files are below `root`. */
int64_t processor_clock_khz_of(const char *root);
/* Kernel arguments with which a guest takes its time from the counter, each after a space, for a counter of
 * that rate; "" for 0. In `buffer`. A guest that calibrates the counter by itself finds a rate of its own on
 * a machine that is busy meanwhile. */
const char *processor_clock_arguments(int64_t khz, char *buffer, int size);

#endif
