/* Commands given to a device without slots and mailboxes, and registers as mlx5_core_access_reg() reads
 * and writes them. */
#ifndef VCX_TEST_CALL_H
#define VCX_TEST_CALL_H

#include "virtual-connectx/tests/unit/vcx_front.h"

#include "virtual-connectx/model/port/function.h"
#include "virtual-connectx/model/register/register.h"

#define CALL_BYTES 2048

struct host {
    struct vcx_front front;
    struct vcx_device device;
    uint8_t in[CALL_BYTES], out[CALL_BYTES]; /* of a command */
    uint8_t reg[CALL_BYTES];                 /* a register's words, before and after */
};

static inline void host_open(struct host *h, const struct vcx_configuration *configuration)
{
    front_open(&h->front);
    assert_int_equal(vcx_device_start(&h->device, configuration, &h->front, &front_ops), 0);
}

static inline int host_start(void **state)
{
    struct host *h = calloc(1, sizeof *h);
    assert_non_null(h);
    host_open(h, &front_configuration);
    *state = h;
    return 0;
}

static inline int host_stop(void **state)
{
    struct host *h = *state;
    vcx_device_stop(&h->device);
    front_close(&h->front);
    free(h);
    return 0;
}

/* The status; h->in is cleared afterwards. Buffers are of the very size, so that a sanitizer sees what is
 * beyond. */
static inline uint8_t host_run(struct host *h, uint16_t opcode, uint32_t in_bytes, uint32_t out_bytes)
{
    uint8_t *in = calloc(1, in_bytes), *out = calloc(1, out_bytes);
    assert_true(in && out && in_bytes <= CALL_BYTES && out_bytes <= CALL_BYTES);
    memcpy(in, h->in, in_bytes);
    vcx_put16(in, opcode);
    struct vcx_call call = {&h->device, in, out, in_bytes, out_bytes};
    uint8_t status = (uint8_t)vcx_command_run(&call);
    memset(h->out, 0, sizeof h->out);
    memcpy(h->out, out, out_bytes);
    memset(h->in, 0, sizeof h->in);
    free(in);
    free(out);
    assert_int_equal(h->out[0], status);
    return status;
}

/* The register's words are taken from h->reg and put there. */
static inline uint8_t host_access(struct host *h, uint16_t id, uint32_t bytes, bool write)
{
    uint32_t at = vcx_offset(access_register_in, register_data);
    vcx_set(h->in, nop_in, op_mod, !write);
    vcx_set(h->in, access_register_in, register_id, id);
    memcpy(h->in + at, h->reg, bytes);
    uint8_t status = host_run(h, 0x805, at + bytes, vcx_offset(access_register_out, register_data) + bytes);
    memcpy(h->reg, vcx_at(h->out, access_register_out, register_data), bytes);
    return status;
}

/* Reads a register of the port into h->reg. */
static inline void host_read(struct host *h, uint16_t id)
{
    memset(h->reg, 0, sizeof h->reg);
    vcx_set(h->reg, pmtu_reg, local_port, VCX_LOCAL_PORT);
    assert_int_equal(host_access(h, id, vcx_register_find(id)->bytes, false), VCX_OK);
}

static inline uint8_t host_write(struct host *h, uint16_t id)
{
    return host_access(h, id, vcx_register_find(id)->bytes, true);
}

/* An empty register of the port in h->reg. */
static inline void host_clear(struct host *h)
{
    memset(h->reg, 0, sizeof h->reg);
    vcx_set(h->reg, pmtu_reg, local_port, VCX_LOCAL_PORT);
}

#endif
