/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A memory key, for the files that make, change and use it. */
#ifndef VCX_MKEY_INSIDE_H
#define VCX_MKEY_INSIDE_H

#include "virtual-connectx/model/layout.h"
#include "virtual-connectx/model/objects.h"
#include "virtual-connectx/model/queue/mkey.h"

/* mlx5's MLX5_MKC_ACCESS_MODE_* */
enum vcx_key_mode { VCX_KEY_PHYSICAL = 0, VCX_KEY_PAGES = 1, VCX_KEY_PARTS = 2 };

/* A part of memory that a key of keys (KLM) names. */
struct vcx_part {
    uint32_t bytes, key;
    uint64_t address;
};

struct vcx_mkey {
    struct vcx_object object;
    uint8_t context[VCX_MKEY_CONTEXT_BYTES];
    /* what the context says */
    uint32_t key, pd, access;
    uint32_t qpn; /* to which it is bound; 0: to none */
    uint8_t mode, log_page;
    bool free;      /* it allows nothing */
    bool unbounded; /* length64: all addresses */
    bool changes;   /* work requests may change it (umr_en) */
    bool gives_up;  /* a peer may invalidate it (en_rinval) */
    uint64_t start, bytes;
    /* the list, made when something is first written into it */
    uint32_t units;        /* that it may have */
    uint64_t *page;        /* VCX_KEY_PAGES: bus addresses; 0: none */
    struct vcx_part *part; /* VCX_KEY_PARTS */
};

/* Entries that the list may have. */
static inline uint32_t vcx_mkey_entries(const struct vcx_mkey *key)
{
    return key->mode == VCX_KEY_PAGES ? key->units * 2 : key->units;
}

/* Takes everything but the list from a context. */
void vcx_mkey_take(struct vcx_mkey *key, const uint8_t *context);
/* Its addresses do not wrap, and those of pages fit into its list. */
bool vcx_mkey_is_sound(const struct vcx_mkey *key);
/* Replaces `units` of the list from an offset on. false: they are outside of it, or memory ran out. */
bool vcx_mkey_list(struct vcx_mkey *key, uint64_t offset, const uint8_t *list, uint32_t units);

#endif
