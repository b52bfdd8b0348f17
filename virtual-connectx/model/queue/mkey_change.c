// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Memory keys as work requests change them: fast registration, memory windows, invalidation. */
#include "virtual-connectx/model/queue/mkey_inside.h"

/* bits of a change's mask (mlx5's MLX5_MKEY_MASK_*) */
#define MASK_DOMAIN (1ull << 7)
#define MASK_KEY    (1ull << 13)
#define MASK_QPN    (1ull << 14)

#define BOUND_TO_NONE 0xffffff

/* Which bit of the mask takes which field of the context. */
static const struct {
    uint64_t mask;
    uint32_t place;
} fields[] = {
    {1ull << 0, VCX_mkc__len},
    {1ull << 0, VCX_mkc__length64},
    {1ull << 1, VCX_mkc__log_page_size},
    {1ull << 6, VCX_mkc__start_addr},
    {MASK_DOMAIN, VCX_mkc__pd},
    {1ull << 8, VCX_mkc__en_rinval},
    {MASK_KEY, VCX_mkc__mkey_7_0},
    {MASK_QPN, VCX_mkc__qpn},
    {1ull << 17, VCX_mkc__lr},
    {1ull << 18, VCX_mkc__lw},
    {1ull << 19, VCX_mkc__rr},
    {1ull << 20, VCX_mkc__rw},
    {1ull << 21, VCX_mkc__a},
    {1ull << 23, VCX_mkc__small_fence_on_rdma_read_response},
    {1ull << 25, VCX_mkc__relaxed_ordering_write},
    {1ull << 29, VCX_mkc__free},
    {1ull << 47, VCX_mkc__relaxed_ordering_read},
};

/* The mask asks for something else: signatures, or what is not known. */
static bool asks_for_more(uint64_t mask)
{
    for (size_t i = 0; i < VCX_COUNT(fields); i++)
        mask &= ~fields[i].mask;
    return mask != 0;
}

/* The key is in the state that the request expects. A new variant need not be known: the request may name the old or the new one. */
static bool is_as_expected(const struct vcx_mkey *key, struct vcx_rights rights,
                           const struct vcx_change *change)
{
    if (!(change->mask & MASK_KEY) && key->key != change->key)
        return false;
    if ((change->flags & VCX_CHANGE_FREE && !key->free) || (change->flags & VCX_CHANGE_IN_USE && key->free))
        return false;
    return !(change->flags & VCX_CHANGE_OWN) || key->qpn == rights.qpn;
}

/* Who may not name pages of memory changes only keys of keys: each part's key is checked when it is used. */
static bool may_change(const struct vcx_mkey *key, struct vcx_rights rights, const struct vcx_change *change)
{
    uint64_t qpn = vcx_get(change->context, mkc, qpn);
    if (!key->changes || asks_for_more(change->mask))
        return false;
    if (!rights.any_domain && (key->pd != rights.pd || change->mask & MASK_DOMAIN))
        return false;
    if (change->mask & MASK_QPN && qpn != BOUND_TO_NONE && qpn != rights.qpn)
        return false;
    return key->mode == VCX_KEY_PARTS || change->registers;
}

static void merge(uint8_t *context, const struct vcx_change *change)
{
    for (size_t i = 0; i < VCX_COUNT(fields); i++)
        if (change->mask & fields[i].mask)
            vcx_set_place(context, fields[i].place, vcx_get_place(change->context, fields[i].place));
}

bool vcx_mkey_change(struct vcx_device *device, struct vcx_rights rights, const struct vcx_change *change)
{
    struct vcx_mkey *key = vcx_object(device, VCX_MKEY, change->key >> 8), changed;
    uint64_t offset = change->flags & VCX_CHANGE_OFFSET ? change->offset : 0;
    if (!key || !may_change(key, rights, change) || !is_as_expected(key, rights, change))
        return false;
    changed = *key;
    merge(changed.context, change);
    vcx_mkey_take(&changed, changed.context);
    if (!vcx_mkey_is_sound(&changed) || !vcx_mkey_list(key, offset, change->list, change->units))
        return false;
    vcx_mkey_take(key, changed.context);
    return true;
}

bool vcx_mkey_invalidate(struct vcx_device *device, struct vcx_rights rights, uint32_t number)
{
    struct vcx_mkey *key = vcx_object(device, VCX_MKEY, number >> 8);
    if (!key || key->key != number || key->free || !key->gives_up || key->pd != rights.pd ||
        (key->qpn && key->qpn != rights.qpn))
        return false;
    vcx_set(key->context, mkc, free, 1);
    key->free = true;
    return true;
}

bool vcx_mkey_in_use(struct vcx_device *device, uint32_t number)
{
    const struct vcx_mkey *key = vcx_object(device, VCX_MKEY, number >> 8);
    return key && !key->free;
}
