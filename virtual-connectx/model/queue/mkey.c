// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Memory keys: as commands make them, as work requests change them (fast registration, memory windows,
 * invalidation), and what they translate to. */
#include "virtual-connectx/model/queue/mkey.h"
#include "virtual-connectx/model/objects.h"
#include "virtual-connectx/model/layout.h"
#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/pace/pace.h"

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
static uint32_t vcx_mkey_entries(const struct vcx_mkey *key)
{
    return key->mode == VCX_KEY_PAGES ? key->units * 2 : key->units;
}

/* ---- as commands make them */

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

/* Takes everything but the list from a context. */
static void mkey_take(struct vcx_mkey *key, const uint8_t *context)
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

/* Its addresses do not wrap, and those of pages fit into its list. */
static bool mkey_is_sound(const struct vcx_mkey *key)
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

/* Replaces `units` of the list from an offset on. false: they are outside of it, or memory ran out. */
static bool mkey_list(struct vcx_mkey *key, uint64_t offset, const uint8_t *list, uint32_t units)
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

/* Work requests write lists in blocks of 64 bytes (mlx5's MLX5_UMR_MTT_ALIGNMENT), also into a key of
 * fewer pages. */
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
    mkey_take(key, context);
    uint64_t room = key->changes ? vcx_get(context, mkc, translations_octword_size) : 0;
    if (room > MOST_UNITS ||
        (key->mode == VCX_KEY_PARTS && vcx_most(room, listed) > 1u << VCX_LOG_MOST_PARTS))
        return -1;
    key->units = (uint32_t)listed; /* a list that is given covers the whole key */
    if (!mkey_is_sound(key))
        return -1;
    key->units = whole_blocks((uint32_t)vcx_most(room, listed));
    return key->free || key->mode == VCX_KEY_PHYSICAL || mkey_list(key, 0, call->in + list, (uint32_t)listed)
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

static void note_given_up(struct vcx_device *device, uint32_t key)
{
    device->given_up[device->next_given_up++ % VCX_GIVEN_UP] = (struct vcx_given_up){key, vcx_now_ns(device)};
}

uint64_t vcx_mkey_given_up_ns(const struct vcx_device *device, uint32_t key)
{
    uint64_t at_ns = 0;
    for (size_t i = 0; i < VCX_GIVEN_UP; i++)
        if (device->given_up[i].key == key)
            at_ns = vcx_most(at_ns, device->given_up[i].at_ns);
    return at_ns;
}

static enum vcx_status destroy_mkey(struct vcx_call *call)
{
    uint32_t id = (uint32_t)vcx_get(call->in, destroy_mkey_in, mkey_index);
    const struct vcx_mkey *key = vcx_object(call->device, VCX_MKEY, id);
    if (key && !key->free)
        note_given_up(call->device, key->key);
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

/* ---- as work requests change them: fast registration, memory windows, invalidation */

/* bits of a change's mask (mlx5's MLX5_MKEY_MASK_*) */
#define MASK_DOMAIN (1ull << 7)
#define MASK_KEY    (1ull << 13)
#define MASK_QPN    (1ull << 14)

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

/* The key is in the state that the request expects. A new variant need not be known: the request may name
 * the old or the new one. */
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

static void context_merge(uint8_t *context, const struct vcx_change *change)
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
    context_merge(changed.context, change);
    mkey_take(&changed, changed.context);
    if (!mkey_is_sound(&changed) || !mkey_list(key, offset, change->list, change->units))
        return false;
    if (rights.any_domain && changed.free && !key->free) /* mlx5_ib keeps keys of regions for later ones */
        note_given_up(device, key->key);
    mkey_take(key, changed.context);
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

/* ---- what they translate to */

#define WRITES (VCX_LOCAL_WRITE | VCX_REMOTE_WRITE | VCX_REMOTE_ATOMIC)

/* A stretch of memory without a gap: what is left of the address's page. NULL: none. */
static uint8_t *bus_at(struct vcx_device *device, uint32_t access, uint64_t address, uint32_t *bytes)
{
    enum vcx_use use = access & WRITES ? VCX_TO_WRITE : VCX_TO_READ;
    *bytes = (uint32_t)vcx_least(*bytes, VCX_PAGE_BYTES - (address & (VCX_PAGE_BYTES - 1)));
    return vcx_memory(device, address, *bytes, use);
}

static uint8_t *page_at(struct vcx_device *device, const struct vcx_mkey *key, uint32_t access,
                        uint64_t address, uint32_t *bytes)
{
    uint64_t size = 1ull << key->log_page, offset = address - (key->start & ~(size - 1)),
             within = offset & (size - 1), index = offset >> key->log_page;
    if (!key->page || index >= vcx_mkey_entries(key) || !key->page[index])
        return NULL;
    *bytes = (uint32_t)vcx_least(*bytes, size - within);
    return bus_at(device, access, key->page[index] + within, bytes);
}

static bool key_covers(const struct vcx_mkey *key, uint64_t address, uint32_t bytes)
{
    return key->unbounded ||
           (address >= key->start && bytes <= key->bytes && address - key->start <= key->bytes - bytes);
}

/* A key that may be used so now, or NULL. */
static const struct vcx_mkey *key_find_usable(struct vcx_device *device, struct vcx_rights rights,
                                              uint32_t number, uint32_t access)
{
    const struct vcx_mkey *key = vcx_object(device, VCX_MKEY, number >> 8);
    bool ours = key && key->key == number && (rights.any_domain || key->pd == rights.pd) &&
                (!key->qpn || key->qpn == rights.qpn);
    return ours && !key->free && !(access & ~VCX_LOCAL_READ & ~key->access) ? key : NULL;
}

/* The part of a key of keys that holds an offset, which becomes the offset in it; or NULL. */
static const struct vcx_part *part_at(const struct vcx_mkey *key, uint64_t *offset)
{
    if (!key->part)
        return NULL;
    for (uint32_t i = 0; i < key->units; *offset -= key->part[i++].bytes)
        if (*offset < key->part[i].bytes)
            return &key->part[i];
    return NULL;
}

/* The stretch at an address of a key, at most `bytes`, which is cut to its length. NULL: it may not be
 * used so. */
static uint8_t *key_find_stretch(struct vcx_device *device, struct vcx_rights rights, uint32_t number,
                                 uint32_t access, uint64_t address, uint32_t *bytes)
{
    for (uint32_t depth = 0; depth <= VCX_KEY_DEPTH; depth++) {
        if (number == VCX_KEY_RESERVED && rights.reserved_key)
            return bus_at(device, access, address, bytes);
        const struct vcx_mkey *key = key_find_usable(device, rights, number, access);
        if (!key || !key_covers(key, address, *bytes))
            return NULL;
        if (key->mode == VCX_KEY_PHYSICAL)
            return bus_at(device, access, address, bytes);
        if (key->mode == VCX_KEY_PAGES)
            return page_at(device, key, access, address, bytes);
        uint64_t offset = address - key->start;
        const struct vcx_part *part = part_at(key, &offset);
        if (!part)
            return NULL;
        *bytes = (uint32_t)vcx_least(*bytes, part->bytes - offset);
        number = part->key;
        address = part->address + offset;
        access = access & WRITES ? VCX_LOCAL_WRITE
                                 : VCX_LOCAL_READ; /* a peer's right to the key of keys needs it */
    }
    return NULL;
}

/* Either all bytes are allowed or none is touched. */
static bool access_allowed(struct vcx_device *device, struct vcx_rights rights, uint32_t key,
                           enum vcx_access access, uint64_t address, uint32_t bytes)
{
    for (uint32_t part; bytes; address += part, bytes -= part) {
        part = bytes;
        if (!key_find_stretch(device, rights, key, access, address, &part) || part == 0)
            return false;
    }
    return true;
}

bool vcx_mkey_read(struct vcx_device *device, struct vcx_rights rights, uint32_t key, enum vcx_access access,
                   uint64_t address, void *to, uint32_t bytes)
{
    if (key == VCX_KEY_NULL) {
        memset(to, 0, bytes);
        return true;
    }
    if (!access_allowed(device, rights, key, access, address, bytes))
        return false;
    for (uint32_t part; bytes; address += part, bytes -= part, to = (uint8_t *)to + part) {
        part = bytes;
        const uint8_t *from = key_find_stretch(device, rights, key, access, address, &part);
        memcpy(to, from, part);
    }
    return true;
}

bool vcx_mkey_write(struct vcx_device *device, struct vcx_rights rights, uint32_t key, enum vcx_access access,
                    uint64_t address, const void *from, uint32_t bytes)
{
    if (key == VCX_KEY_NULL)
        return true;
    if (!access_allowed(device, rights, key, access, address, bytes))
        return false;
    for (uint32_t part; bytes; address += part, bytes -= part, from = (const uint8_t *)from + part) {
        part = bytes;
        uint8_t *to = key_find_stretch(device, rights, key, access, address, &part);
        memcpy(to, from, part);
        vcx_pace_write(device, key, address, part);
    }
    return true;
}

/* A fault within a key of keys is none of the key that the request names: it counts as one of range. */
enum vcx_ending vcx_mkey_refusal(struct vcx_device *device, struct vcx_rights rights, uint32_t key,
                                 enum vcx_access access)
{
    const struct vcx_mkey *named = key_find_usable(device, rights, key, 0);
    if (!named)
        return key == VCX_KEY_RESERVED && rights.reserved_key ? VCX_LOCAL_RANGE : VCX_LOCAL_KEY;
    return access & ~VCX_LOCAL_READ & ~named->access ? VCX_LOCAL_RIGHTS : VCX_LOCAL_RANGE;
}
