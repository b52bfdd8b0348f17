/* A front for tests: memory of the driver, a BAR, a clock that the test sets, and what the device sent.
 * The driver's pages follow one another for the test; the device gets each of them between two pages that
 * nobody may touch, so that a read or write that goes on behind its page ends the test. */
#ifndef VCX_TEST_FRONT_H
#define VCX_TEST_FRONT_H

#include "virtual-connectx/tests/unit/vcx_unit.h"
#include "virtual-connectx/model/firmware.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 64 };
#define MEMORY_AT 0x100000000ull /* bus address of the first page */

struct vcx_front {
    uint8_t *memory; /* PAGES pages */
    uint8_t
        *devices_memory; /* the same pages as the device sees them: each with a guard before and behind it */
    uint8_t *bar;
    uint64_t read_only; /* a page's address; 0: none is */
    uint64_t now_ns;
    uint32_t interrupts[16];
    char last_log[200];
};

static inline void *front_memory(struct vcx_front *front, uint64_t address, uint32_t bytes, enum vcx_use use)
{
    uint64_t offset = address - MEMORY_AT;
    if (use == VCX_TO_WRITE && front->read_only == (address & ~(VCX_PAGE_BYTES - 1ull)))
        return NULL;
    assert_true(bytes && offset % VCX_PAGE_BYTES + bytes <= VCX_PAGE_BYTES);
    return address >= MEMORY_AT && offset < PAGES * VCX_PAGE_BYTES
               ? front->devices_memory + (2 * (offset / VCX_PAGE_BYTES) + 1) * VCX_PAGE_BYTES +
                     offset % VCX_PAGE_BYTES
               : NULL;
}

static inline uint32_t front_read(struct vcx_front *front, uint32_t offset)
{
    return vcx_be32(front->bar + offset);
}

static inline void front_write(struct vcx_front *front, uint32_t offset, uint32_t value)
{
    vcx_put32(front->bar + offset, value);
}

static inline uint64_t front_now(struct vcx_front *front)
{
    return front->now_ns;
}

static inline void front_interrupt(struct vcx_front *front, uint16_t vector)
{
    assert_true(vector < 16);
    front->interrupts[vector]++;
}

static inline void front_transmit(struct vcx_front *front, struct vcx_frame *frame)
{
    (void)front;
    vcx_release(frame);
}

static inline void front_log(struct vcx_front *front, const char *text)
{
    snprintf(front->last_log, sizeof front->last_log, "%s", text);
}

static const struct vcx_front_ops front_ops = {.memory = front_memory,
                                               .bar_read = front_read,
                                               .bar_write = front_write,
                                               .now_ns = front_now,
                                               .interrupt = front_interrupt,
                                               .transmit = front_transmit,
                                               .log = front_log};

static const struct vcx_configuration front_configuration = {
    .device_id = 0x1017,
    .mac = {2, 0, 0, 0, 0, 1},
    .nominal_bps = 25000000000,
    .line_bps = 25000000000,
};

#define DEVICES_MEMORY_BYTES ((2 * PAGES + 1) * VCX_PAGE_BYTES)

/* The driver's pages, zeroed, mapped twice. */
static inline void front_map_memory(struct vcx_front *front)
{
    int pages = memfd_create("driver", MFD_CLOEXEC);
    assert_true(pages >= 0 && ftruncate(pages, PAGES * VCX_PAGE_BYTES) == 0);
    front->memory = mmap(NULL, PAGES * VCX_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, pages, 0);
    front->devices_memory = mmap(NULL, DEVICES_MEMORY_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(front->memory != MAP_FAILED && front->devices_memory != MAP_FAILED);
    for (int i = 0; i < PAGES; i++) {
        void *at = front->devices_memory + (2 * i + 1) * VCX_PAGE_BYTES;
        assert_true(mmap(at, VCX_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, pages,
                         i * VCX_PAGE_BYTES) == at);
    }
    close(pages);
}

static inline void front_open(struct vcx_front *front)
{
    *front = (struct vcx_front){.bar = calloc(1, VCX_BAR_BYTES)};
    assert_non_null(front->bar);
    front_map_memory(front);
}

static inline void front_close(struct vcx_front *front)
{
    munmap(front->memory, PAGES * VCX_PAGE_BYTES);
    munmap(front->devices_memory, DEVICES_MEMORY_BYTES);
    free(front->bar);
}

#endif
