/* The rate of this machine's time stamp counter, which is also that of a guest that QEMU emulates here. */
#ifndef GUEST_PROCESSOR_CLOCK_H
#define GUEST_PROCESSOR_CLOCK_H

#include <stdint.h>

/* In kHz, to 0.1 % at worst; 0: this machine's kernel does not take its time from the counter, or it has none. What was measured once is kept in
 * `folder` (NULL: nowhere) until this machine boots again: it is a part of what a guest is defined as. */
int64_t processor_clock_khz(const char *folder);
/* The same, measured anew in 20 ms, where the machine's files are below `root`. */
int64_t processor_clock_khz_of(const char *root);
/* Kernel arguments with which a guest takes its time from the counter, each after a space, for a counter of that rate; "" for 0. In
 * `buffer`. A guest that calibrates the counter by itself finds a rate of its own on a machine that is busy meanwhile. */
const char *processor_clock_arguments(int64_t khz, char *buffer, int size);

#endif
