/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The objects of a device, by kind and number. */
#ifndef VCX_OBJECTS_H
#define VCX_OBJECTS_H

#include "virtual-connectx/model/device.h"

/* A new zeroed object with a free number; NULL when memory or numbers ran out. */
void *vcx_object_new(struct vcx_device *device, enum vcx_kind kind);
/* NULL: there is none with this number. */
void *vcx_object(struct vcx_device *device, enum vcx_kind kind, uint32_t id);
/* The object with the least number that is `id` or above, or NULL: for (o = vcx_object_from(d, k, 0); o; o
 * = ..._from(d, k, o->id + 1)) */
void *vcx_object_from(struct vcx_device *device, enum vcx_kind kind, uint32_t id);
/* false: there was none. */
bool vcx_object_free(struct vcx_device *device, enum vcx_kind kind, uint32_t id);
/* All objects of all kinds, the last kind first. */
void vcx_objects_free(struct vcx_device *device);

#endif
