/*
 * Sees which objects CUDA makes in the resource manager: the program exports an `ioctl` of its own, which libcuda calls in
 * place of the C library's (the program is linked with -rdynamic for that). It passes everything on; only while armed does it
 * note successful allocations. CUDA does not expose its handles, and the route cuda-nv503c needs them.
 */
#ifndef TRAFFIC_NVIDIA_HOOK_H
#define TRAFFIC_NVIDIA_HOOK_H

#include <stddef.h>
#include <stdint.h>

struct hook_object {
    int fd; /* the control descriptor it was made on */
    uint32_t client, parent, object, class;
};

#define HOOK_MAX_OBJECTS 1024

/* Note what is made from here on; one thread at a time, others wait. What was noted before is kept: CUDA makes its client
 * and devices once in a process. */
void hook_arm(void);
void hook_disarm(void);
/* Copy what was noted so far: devices, subdevices, address spaces, local memory and third-party P2P objects; at most `room`. Returns the number. */
size_t hook_objects(struct hook_object *objects, size_t room);

#endif
