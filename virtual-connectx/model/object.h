/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the driver creates by commands: queues, keys, domains, tables. Each has a number within its kind.
 * Everything refers to an object by its number and looks it up at each use, so that a destroyed object leaves
 * no pointer behind.
 */
#ifndef VCX_OBJECT_H
#define VCX_OBJECT_H

#include "virtual-connectx/model/base.h"

enum vcx_kind {
    VCX_PD,
    VCX_TRANSPORT_DOMAIN,
    VCX_XRCD,
    VCX_UAR,
    VCX_COUNTER_SET,
    VCX_EQ,
    VCX_CQ,
    VCX_MKEY,
    VCX_QP,
    VCX_SRQ,
    VCX_SQ,
    VCX_RQ,
    VCX_RQT,
    VCX_TIS,
    VCX_TIR,
    VCX_FLOW_TABLE,
    VCX_FLOW_GROUP,
    VCX_FLOW_COUNTER,
    VCX_KINDS
};

struct vcx_device;

/* The first member of every object. */
struct vcx_object {
    uint32_t id;
};

struct vcx_kind_of_object {
    const char *name;
    uint8_t log_limit; /* of the count of numbers, as QUERY_HCA_CAP says; ids are below 1 << log_limit */
    uint32_t first, bytes;
    void (*clear)(struct vcx_device *device,
                  void *object); /* what the object owns besides its own memory; may be NULL */
};
extern const struct vcx_kind_of_object *const vcx_kinds[VCX_KINDS];

/* The numbers of a kind: pages of pointers, made when they are first needed. */
struct vcx_numbers {
    struct vcx_object ***pages;
    uint32_t next, used;
    uint32_t end; /* above all that were ever given */
};

#endif
