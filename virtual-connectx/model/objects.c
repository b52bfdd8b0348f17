// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/objects.h"

#define PAGE_SLOTS 512u

static struct vcx_object **slot_of(struct vcx_numbers *numbers, uint32_t id)
{
    struct vcx_object **page = numbers->pages ? numbers->pages[id / PAGE_SLOTS] : NULL;
    return page ? &page[id % PAGE_SLOTS] : NULL;
}

static uint32_t limit_of(enum vcx_kind kind)
{
    return 1u << vcx_kinds[kind]->log_limit;
}

static uint32_t pages_of(enum vcx_kind kind)
{
    return (limit_of(kind) + PAGE_SLOTS - 1) / PAGE_SLOTS;
}

/* The page that holds a number, made if it is not there. */
static bool make_page(struct vcx_numbers *numbers, enum vcx_kind kind, uint32_t id)
{
    if (!numbers->pages)
        numbers->pages = vcx_allocate(pages_of(kind) * sizeof *numbers->pages);
    if (!numbers->pages)
        return false;
    if (!numbers->pages[id / PAGE_SLOTS])
        numbers->pages[id / PAGE_SLOTS] = vcx_allocate(PAGE_SLOTS * sizeof **numbers->pages);
    return numbers->pages[id / PAGE_SLOTS];
}

/* A free number, taken round the range so that a number is not given again at once. */
static bool find_free(struct vcx_numbers *numbers, enum vcx_kind kind, uint32_t *id)
{
    uint32_t first = vcx_kinds[kind]->first, limit = limit_of(kind);
    if (numbers->used >= limit - first)
        return false;
    for (uint32_t tried = 0; tried < limit - first; tried++) {
        if (numbers->next < first || numbers->next >= limit)
            numbers->next = first;
        *id = numbers->next++;
        struct vcx_object **slot = slot_of(numbers, *id);
        if (!slot || !*slot)
            return true;
    }
    return false;
}

void *vcx_object_new(struct vcx_device *device, enum vcx_kind kind)
{
    struct vcx_numbers *numbers = &device->numbers[kind];
    uint32_t id;
    if (!find_free(numbers, kind, &id) || !make_page(numbers, kind, id))
        return NULL;
    struct vcx_object *object = vcx_allocate(vcx_kinds[kind]->bytes);
    if (!object)
        return NULL;
    object->id = id;
    *slot_of(numbers, id) = object;
    numbers->used++;
    numbers->end = (uint32_t)vcx_most(numbers->end, id + 1);
    return object;
}

void *vcx_object(struct vcx_device *device, enum vcx_kind kind, uint32_t id)
{
    struct vcx_object **slot = id < limit_of(kind) ? slot_of(&device->numbers[kind], id) : NULL;
    return slot ? *slot : NULL;
}

void *vcx_object_from(struct vcx_device *device, enum vcx_kind kind, uint32_t id)
{
    struct vcx_numbers *numbers = &device->numbers[kind];
    uint32_t end = numbers->used ? numbers->end : 0;
    while (id < end) {
        struct vcx_object **slot = slot_of(numbers, id), *object = slot ? *slot : NULL;
        if (object)
            return object;
        id = slot ? id + 1 : (id / PAGE_SLOTS + 1) * PAGE_SLOTS;
    }
    return NULL;
}

bool vcx_object_free(struct vcx_device *device, enum vcx_kind kind, uint32_t id)
{
    struct vcx_object *object = vcx_object(device, kind, id);
    if (!object)
        return false;
    if (vcx_kinds[kind]->clear)
        vcx_kinds[kind]->clear(device, object);
    *slot_of(&device->numbers[kind], id) = NULL;
    device->numbers[kind].used--;
    vcx_release(object);
    return true;
}

static void free_kind(struct vcx_device *device, enum vcx_kind kind)
{
    struct vcx_numbers *numbers = &device->numbers[kind];
    struct vcx_object *object;
    while ((object = vcx_object_from(device, kind, 0)))
        vcx_object_free(device, kind, object->id);
    for (uint32_t i = 0; numbers->pages && i < pages_of(kind); i++)
        vcx_release(numbers->pages[i]);
    vcx_release(numbers->pages);
    *numbers = (struct vcx_numbers){0};
}

void vcx_objects_free(struct vcx_device *device)
{
    for (int kind = VCX_KINDS - 1; kind >= 0; kind--)
        free_kind(device, (enum vcx_kind)kind);
}
