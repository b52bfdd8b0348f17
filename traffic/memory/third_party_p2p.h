/*
 * The third-party P2P object (class 0x503C, NV503C): with it nvidia-peermem finds, by process and address, the video memory that a
 * NIC may access. There is one per subdevice. One address space and every memory must be registered with it. The kernel requires no
 * mapping at the registered address (src/nvidia/src/kernel/gpu/bus/third_party_p2p.c).
 */
#ifndef TRAFFIC_THIRD_PARTY_P2P_H
#define TRAFFIC_THIRD_PARTY_P2P_H

#include "traffic/memory/nvidia_rm.h"

struct p2p {
    int fd; /* a control descriptor of the client */
    uint32_t client, subdevice, object;
    bool own; /* created here; else CUDA's */
};

/* Create the object under a subdevice and register the address space. On failure nothing is left. */
int p2p_make(struct p2p *p, uint32_t va_space, struct error *e);
/* Register `bytes` of memory at `address`; both multiples of RM_P2P_ALIGN_BYTES. */
int p2p_register(const struct p2p *p, uint32_t memory, uint64_t address, uint64_t bytes, struct error *e);
void p2p_unregister(const struct p2p *p, uint32_t memory);
/* Free the object with its registrations, but not CUDA's object. */
void p2p_release(struct p2p *p);

#endif
