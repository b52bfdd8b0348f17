/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Shared receive queues. The driver makes them by three commands, by the kind of queue (SRQ, XRC SRQ, RMP), and keeps the numbers of all
 * three in one table: so they are one kind of object.
 */
#ifndef VCX_SRQ_H
#define VCX_SRQ_H

#include "virtual-connectx/model/transport/qp.h"

/* Takes the next request. false: there is no such queue, or none is posted. */
bool vcx_srq_take(struct vcx_device *device, uint32_t id, struct vcx_receive *receive);
/* The same of XRC: the queue has to be of the domain, and names the completion queue. */
bool vcx_srq_take_xrc(struct vcx_device *device, uint32_t id, uint32_t domain, struct vcx_receive *receive);
/* The protection domain of XRC's queue; one that no key has if there is no such queue in the domain. */
uint32_t vcx_srq_pd(struct vcx_device *device, uint32_t id, uint32_t domain);

extern const struct vcx_kind_of_object vcx_kind_srq;

#endif
