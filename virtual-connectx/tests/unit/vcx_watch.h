/* Which bytes of the driver's memory the device changes: what a test does not expect to change must not. */
#ifndef VCX_TEST_WATCH_H
#define VCX_TEST_WATCH_H

#include "virtual-connectx/tests/unit/vcx_front.h"

struct watch {
    const struct vcx_front *front;
    uint8_t before[PAGES * VCX_PAGE_BYTES];
};

/* From now on. A test that goes on after it failed does not come here: the watch needs no end. */
static inline void watch_begin(struct watch *w, const struct vcx_front *front)
{
    w->front = front;
    memcpy(w->before, front->memory, sizeof w->before);
}

/* These bytes may have changed; `at` is in the driver's memory. */
static inline void watch_allow(struct watch *w, const uint8_t *at, size_t bytes)
{
    memcpy(w->before + (at - w->front->memory), at, bytes);
}

/* Nothing else has changed. */
static inline void watch_end(const struct watch *w)
{
    for (size_t i = 0; i < sizeof w->before; i++)
        if (w->before[i] != w->front->memory[i])
            fail_msg("page %zu, byte 0x%zx became 0x%02x: it is not the device's to write",
                     i / VCX_PAGE_BYTES, i % VCX_PAGE_BYTES, w->front->memory[i]);
}

#endif
