/*
 * The third-party P2P object (class 0x503C, NV503C): where nvidia-peermem finds, by process and address, the video memory that a
 * NIC may reach. One to a subdevice; it needs one address space and every memory registered with it. The kernel asks for no
 * mapping at the registered address (src/nvidia/src/kernel/gpu/bus/third_party_p2p.c).
 */
#ifndef TRAFFIC_THIRD_PARTY_P2P_H
#define TRAFFIC_THIRD_PARTY_P2P_H

#include "traffic/memory/nvidia_rm.h"

struct p2p {
    int fd; /* a control descriptor of the client */
    uint32_t client, subdevice, object;
    bool own; /* made here; else CUDA's */
};

/* Make the object under a subdevice and give it the address space. On failure nothing is left. */
int p2p_make(struct p2p *p, uint32_t va_space, struct error *e);
/* Let `bytes` of memory be found at `address`; both multiples of RM_P2P_ALIGN_BYTES. */
int p2p_register(const struct p2p *p, uint32_t memory, uint64_t address, uint64_t bytes, struct error *e);
void p2p_unregister(const struct p2p *p, uint32_t memory);
/* Free an object of one's own, with what is registered; CUDA's is left. */
void p2p_release(struct p2p *p);

#endif
