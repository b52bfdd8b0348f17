// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Memory keys as commands make them. */
#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/queue/mkey_inside.h"

#define CREATE_MKEY  0x200
#define QUERY_MKEY   0x201
#define DESTROY_MKEY 0x202

#define LEAST_LOG_PAGE 12
#define MOST_UNITS     (1u << 20) /* of a list that work requests write: 8 GiB in pages of 4 KiB */
#define UNITS_OF_BLOCK 4u
#define PRESENT        7ull /* mlx5_ib's MLX5_IB_MTT_PRESENT: bits of an entry that are not of the address */
#define BOUND_TO_NONE  0xffffff

static void clear_mkey(struct vcx_device *device, void *mkey)
{
    struct vcx_mkey *k = mkey;
    (void)device;
    vcx_release(k->page);
    vcx_release(k->part);
}

const struct vcx_kind_of_object vcx_kind_mkey = {"memory key", 20, 16, sizeof(struct vcx_mkey), clear_mkey};

/* ---- the context */

static uint32_t access_of(const uint8_t *context)
{
    uint32_t access = 0;
    access |= vcx_get(context, mkc, lr) ? VCX_LOCAL_READ : 0;
    access |= vcx_get(context, mkc, lw) ? VCX_LOCAL_WRITE : 0;
    access |= vcx_get(context, mkc, rr) ? VCX_REMOTE_READ : 0;
    access |= vcx_get(context, mkc, rw) ? VCX_REMOTE_WRITE : 0;
    access |= vcx_get(context, mkc, a) ? VCX_REMOTE_ATOMIC : 0;
    return access;
}

void vcx_mkey_take(struct vcx_mkey *key, const uint8_t *context)
{
    uint32_t qpn = (uint32_t)vcx_get(context, mkc, qpn);
    memmove(key->context, context, sizeof key->context);
    key->key = key->object.id << 8 | (uint32_t)vcx_get(context, mkc, mkey_7_0);
    key->pd = (uint32_t)vcx_get(context, mkc, pd);
    key->access = access_of(context);
    key->qpn = qpn == BOUND_TO_NONE ? 0 : qpn;
    key->mode =
        (uint8_t)(vcx_get(context, mkc, access_mode_1_0) | vcx_get(context, mkc, access_mode_4_2) << 2);
    key->log_page = (uint8_t)vcx_get(context, mkc, log_page_size);
    key->free = vcx_get(context, mkc, free);
    key->unbounded = vcx_get(context, mkc, length64);
    key->changes = vcx_get(context, mkc, umr_en);
    key->gives_up = vcx_get(context, mkc, en_rinval);
    key->start = vcx_get(context, mkc, start_addr);
    key->bytes = vcx_get(context, mkc, len);
}

bool vcx_mkey_is_sound(const struct vcx_mkey *key)
{
    if (key->mode > VCX_KEY_PARTS || (!key->unbounded && key->bytes > UINT64_MAX - key->start))
        return false;
    if (key->mode != VCX_KEY_PAGES || key->free)
        return true;
    uint64_t first = key->start & ((1ull << key->log_page) - 1);
    return key->log_page >= LEAST_LOG_PAGE &&
           vcx_divide_up(first + key->bytes, 1ull << key->log_page) <= vcx_mkey_entries(key);
}

/* ---- the list */

static bool make_list(struct vcx_mkey *key)
{
    size_t bytes = (size_t)key->units * VCX_LIST_UNIT;
    if (key->mode == VCX_KEY_PAGES && !key->page)
        key->page = vcx_allocate(bytes);
    if (key->mode == VCX_KEY_PARTS && !key->part)
        key->part = vcx_allocate(bytes);
    return key->page || key->part;
}

bool vcx_mkey_list(struct vcx_mkey *key, uint64_t offset, const uint8_t *list, uint32_t units)
{
    if (!units)
        return true;
    if (offset > key->units || units > key->units - offset || !make_list(key))
        return false;
    for (uint64_t i = 0; key->page && i < units * 2ull; i++)
        key->page[offset * 2 + i] = vcx_be64(list + 8 * i) & ~PRESENT;
    for (uint64_t i = 0; key->part && i < units; i++) {
        const uint8_t *part = list + VCX_LIST_UNIT * i;
        key->part[offset + i] = (struct vcx_part){vcx_be32(part), vcx_be32(part + 4), vcx_be64(part + 8)};
    }
    return true;
}

/* ---- commands */

/* Work requests write lists in blocks of 64 bytes (mlx5's MLX5_UMR_MTT_ALIGNMENT), also into a key of fewer pages. */
static uint32_t whole_blocks(uint32_t units)
{
    return (uint32_t)vcx_divide_up(units, UNITS_OF_BLOCK) * UNITS_OF_BLOCK;
}

static int init_mkey(struct vcx_mkey *key, const struct vcx_call *call)
{
    const uint8_t *context = vcx_at(call->in, create_mkey_in, memory_key_mkey_entry);
    uint32_t list = vcx_offset(create_mkey_in, klm_pas_mtt);
    uint64_t listed = vcx_least(vcx_get(call->in, create_mkey_in, translations_octword_actual_size),
                                (call->in_bytes - list) / VCX_LIST_UNIT);
    vcx_mkey_take(key, context);
    uint64_t room = key->changes ? vcx_get(context, mkc, translations_octword_size) : 0;
    if (room > MOST_UNITS ||
        (key->mode == VCX_KEY_PARTS && vcx_most(room, listed) > 1u << VCX_LOG_MOST_PARTS))
        return -1;
    key->units = (uint32_t)listed; /* a list that is given covers the whole key */
    if (!vcx_mkey_is_sound(key))
        return -1;
    key->units = whole_blocks((uint32_t)vcx_most(room, listed));
    return key->free || key->mode == VCX_KEY_PHYSICAL ||
                   vcx_mkey_list(key, 0, call->in + list, (uint32_t)listed)
               ? 0
               : -1;
}

static enum vcx_status create_mkey(struct vcx_call *call)
{
    struct vcx_mkey *key = vcx_object_new(call->device, VCX_MKEY);
    if (!key)
        return VCX_NO_RESOURCES;
    if (init_mkey(key, call) != 0) {
        vcx_object_free(call->device, VCX_MKEY, key->object.id);
        return VCX_BAD_PARAMETER;
    }
    vcx_set(call->out, create_mkey_out, mkey_index, key->object.id);
    return VCX_OK;
}

static enum vcx_status destroy_mkey(struct vcx_call *call)
{
    uint32_t id = (uint32_t)vcx_get(call->in, destroy_mkey_in, mkey_index);
    return vcx_object_free(call->device, VCX_MKEY, id) ? VCX_OK : VCX_BAD_RESOURCE;
}

static enum vcx_status query_mkey(struct vcx_call *call)
{
    struct vcx_mkey *key =
        vcx_object(call->device, VCX_MKEY, (uint32_t)vcx_get(call->in, query_mkey_in, mkey_index));
    if (!key)
        return VCX_BAD_RESOURCE;
    memcpy(vcx_at(call->out, query_mkey_out, memory_key_mkey_entry), key->context, sizeof key->context);
    return VCX_OK;
}

const struct vcx_command vcx_commands_mkey[] = {
    {CREATE_MKEY, vcx_offset(create_mkey_in, klm_pas_mtt), 16, create_mkey},
    {DESTROY_MKEY, 16, 16, destroy_mkey},
    {QUERY_MKEY, 16, vcx_offset(query_mkey_out, memory_key_mkey_entry) + VCX_MKEY_CONTEXT_BYTES, query_mkey},
    {0},
};
