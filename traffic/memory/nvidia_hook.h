/*
 * Records which objects CUDA creates in the resource manager. The route cuda-nv503c needs their handles, and
 * CUDA does not expose them. The program exports a function `ioctl`, which libcuda calls instead of the C
 * library's (the program is linked with -rdynamic for that). It passes all calls on; only while armed it
 * records successful allocations.
 */
#ifndef TRAFFIC_NVIDIA_HOOK_H
#define TRAFFIC_NVIDIA_HOOK_H

#include <stddef.h>
#include <stdint.h>

struct hook_object {
    int fd; /* the control descriptor on which it was created */
    uint32_t client, parent, object, class;
};

#define HOOK_MAX_OBJECTS 1024

/* Record new objects from now on; one thread at a time, others wait. Earlier records are kept, because CUDA
 * creates its client and devices only once in a process. */
void hook_arm(void);
void hook_disarm(void);
/* Copy the records: devices, subdevices, address spaces, local memory and third-party P2P objects; at most
 * `room`. Returns the number. */
size_t hook_objects(struct hook_object *objects, size_t room);

#endif
