/* A whole function for tests: what it sends is kept. */
#ifndef VCX_TEST_FUNCTION_H
#define VCX_TEST_FUNCTION_H

#include "virtual-connectx/tests/unit/vcx_front.h"
#include "virtual-connectx/tests/unit/vcx_port_owner.h"
#include "virtual-connectx/model/words.h"

#define MS 1000000ull

struct function {
    struct vcx_front front; /* the first member: the front's calls come back with it */
    struct vcx_device device;
    struct vcx_frames sent;
    struct vcx_sentence error;
};

static inline void keep(struct vcx_front *front, struct vcx_frame *frame)
{
    vcx_frames_put(&((struct function *)front)->sent, frame);
}

static inline int function_start(void **state)
{
    struct function *f = calloc(1, sizeof *f);
    assert_non_null(f);
    static struct vcx_front_ops ops;
    ops = front_ops;
    ops.transmit = keep;
    front_open(&f->front);
    f->front.now_ns = 1000 * MS;
    assert_int_equal(vcx_device_start(&f->device, &front_configuration, &f->front, &ops), 0);
    *state = f;
    return 0;
}

static inline int function_stop(void **state)
{
    struct function *f = *state;
    vcx_device_stop(&f->device);
    vcx_frames_drop(&f->sent);
    front_close(&f->front);
    free(f);
    return 0;
}

static inline void turn(struct function *f, uint64_t ns)
{
    f->front.now_ns += ns;
    for (int i = 0; i < 1000 && vcx_device_poll(&f->device); i++)
        continue;
}

#endif
