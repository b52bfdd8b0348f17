/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Memory keys: what the driver allows the device, and peers, to read and write. */
#ifndef VCX_MKEY_H
#define VCX_MKEY_H

#include "virtual-connectx/model/device.h"
#include "virtual-connectx/model/queue/cq.h"

enum vcx_access {
    VCX_LOCAL_READ = 1 << 0,
    VCX_LOCAL_WRITE = 1 << 1,
    VCX_REMOTE_READ = 1 << 2,
    VCX_REMOTE_WRITE = 1 << 3,
    VCX_REMOTE_ATOMIC = 1 << 4,
};

#define VCX_KEY_RESERVED       0x300 /* reads and writes bus addresses: the driver's own, not of users */
#define VCX_KEY_NULL           0x200 /* reads zeros, drops writes */
#define VCX_KEY_DEPTH          4     /* QUERY_HCA_CAP's max_indirection: keys of keys, one within another */
#define VCX_LOG_MOST_PARTS     8     /* of a key of keys */
#define VCX_MKEY_CONTEXT_BYTES 64
#define VCX_RECEIVE_BYTES                                                                                  \
    0x7fffffffu /* of a receive entry's byte count; the bit above asks for padding (MLX5_HW_START_PADDING) \
                   \ */
#define VCX_LIST_UNIT 16u /* octwords: two pages of a list, or a part of a key of keys */

/* What a queue may use: keys of its domain, of those that are bound to a queue pair its own, and the
 * reserved key if the driver gave it that right. */
struct vcx_rights {
    uint32_t pd;
    bool reserved_key;
    uint32_t qpn;    /* 0: no queue pair */
    bool any_domain; /* the driver's own queue pair for registration is in no domain */
};

/* Copy between linear memory and a key's. All of it or nothing is allowed: false if the key does not
 * exist, belongs to another domain, does not allow the access or does not cover the bytes. */
bool vcx_mkey_read(struct vcx_device *device, struct vcx_rights rights, uint32_t key, enum vcx_access access,
                   uint64_t address, void *to, uint32_t bytes);
bool vcx_mkey_write(struct vcx_device *device, struct vcx_rights rights, uint32_t key, enum vcx_access access,
                    uint64_t address, const void *from, uint32_t bytes);

/* Why a local access was not allowed. */
enum vcx_ending vcx_mkey_refusal(struct vcx_device *device, struct vcx_rights rights, uint32_t key,
                                 enum vcx_access access);

/* ---- changes by work requests */

/* Bits of flags (mlx5's MLX5_UMR_*, and libmlx5's MLX5_WQE_UMR_CTRL_FLAG_CHECK_QPN). */
enum vcx_change_flag {
    VCX_CHANGE_OWN = 1 << 3, /* refused unless the key is bound to the queue pair */
    VCX_CHANGE_OFFSET = 1 << 4,
    VCX_CHANGE_FREE = 1 << 5,   /* refused unless the key is free */
    VCX_CHANGE_IN_USE = 1 << 6, /* refused if the key is free */
    VCX_CHANGE_INLINE = 1 << 7,
};

/* What a work request changes of a key. */
struct vcx_change {
    uint32_t key;
    uint8_t flags;
    bool registers; /* the queue pair may name pages of memory ("fast registration enabled") */
    uint64_t mask;  /* which fields of the context: mlx5's MLX5_MKEY_MASK_* */
    const uint8_t *context;
    const uint8_t *list; /* `units` of it, which replace those of the key's list from an offset on */
    uint32_t units;
    uint64_t offset;
};
/* false: it is not allowed, or the key would not be sound; nothing is changed then. */
bool vcx_mkey_change(struct vcx_device *device, struct vcx_rights rights, const struct vcx_change *change);
/* A peer gives the key up. false: it may not. */
bool vcx_mkey_invalidate(struct vcx_device *device, struct vcx_rights rights, uint32_t key);
/* When the driver gave the key up; 0: it did not, or others since. */
uint64_t vcx_mkey_given_up_ns(const struct vcx_device *device, uint32_t key);
/* The key exists and is not free. */
bool vcx_mkey_in_use(struct vcx_device *device, uint32_t key);

extern const struct vcx_kind_of_object vcx_kind_mkey;

#endif
