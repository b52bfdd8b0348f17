// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What a memory key translates to. */
#include "virtual-connectx/model/pace/pace.h"
#include "virtual-connectx/model/queue/mkey_inside.h"

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

static bool covers(const struct vcx_mkey *key, uint64_t address, uint32_t bytes)
{
    return key->unbounded ||
           (address >= key->start && bytes <= key->bytes && address - key->start <= key->bytes - bytes);
}

/* A key that may be used so now, or NULL. */
static const struct vcx_mkey *usable(struct vcx_device *device, struct vcx_rights rights, uint32_t number,
                                     uint32_t access)
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

/* What a peer's right to a key of keys needs of the keys in it. */
static uint32_t access_within(uint32_t access)
{
    return access & WRITES ? VCX_LOCAL_WRITE : VCX_LOCAL_READ;
}

/* The stretch at an address of a key, at most `bytes`, which is cut to its length. NULL: it may not be used so. */
static uint8_t *stretch(struct vcx_device *device, struct vcx_rights rights, uint32_t number, uint32_t access,
                        uint64_t address, uint32_t *bytes)
{
    for (uint32_t depth = 0; depth <= VCX_KEY_DEPTH; depth++) {
        if (number == VCX_KEY_RESERVED && rights.reserved_key)
            return bus_at(device, access, address, bytes);
        const struct vcx_mkey *key = usable(device, rights, number, access);
        if (!key || !covers(key, address, *bytes))
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
        access = access_within(access);
    }
    return NULL;
}

/* Either all bytes are allowed or none is touched. */
static bool allowed(struct vcx_device *device, struct vcx_rights rights, uint32_t key, enum vcx_access access,
                    uint64_t address, uint32_t bytes)
{
    for (uint32_t part; bytes; address += part, bytes -= part) {
        part = bytes;
        if (!stretch(device, rights, key, access, address, &part) || part == 0)
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
    if (!allowed(device, rights, key, access, address, bytes))
        return false;
    for (uint32_t part; bytes; address += part, bytes -= part, to = (uint8_t *)to + part) {
        part = bytes;
        const uint8_t *from = stretch(device, rights, key, access, address, &part);
        memcpy(to, from, part);
    }
    return true;
}

bool vcx_mkey_write(struct vcx_device *device, struct vcx_rights rights, uint32_t key, enum vcx_access access,
                    uint64_t address, const void *from, uint32_t bytes)
{
    if (key == VCX_KEY_NULL)
        return true;
    if (!allowed(device, rights, key, access, address, bytes))
        return false;
    for (uint32_t part; bytes; address += part, bytes -= part, from = (const uint8_t *)from + part) {
        part = bytes;
        uint8_t *to = stretch(device, rights, key, access, address, &part);
        memcpy(to, from, part);
        vcx_pace_write(device, key, address, part);
    }
    return true;
}
