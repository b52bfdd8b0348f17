/* The virtual ConnectX's command interface, driven as mlx5_core does: a slot in memory, mailboxes, the
 * doorbell in the BAR. */
#include "virtual-connectx/tests/unit/vcx_watch.h"

#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/queue/cq.h"
#include "virtual-connectx/model/queue/eq.h"
#include "virtual-connectx/model/queue/mkey.h"

/* pages of the driver's memory */
enum { COMMANDS = 0, MAILBOXES = 1, EQ_PAGE = 20, CQ_PAGE = 21, RECORD = 22, DATA = 23, NEW_CQ_PAGE = 24 };
#define PAGE_AT(page) (MEMORY_AT + (uint64_t)(page)*VCX_PAGE_BYTES)

struct driver {
    struct vcx_front front;
    struct vcx_device device;
    uint8_t in[1024], out[1024];
    uint8_t token;
};

static uint8_t *page(struct driver *d, int number)
{
    return d->front.memory + (size_t)number * VCX_PAGE_BYTES;
}

/* Blocks of 576 bytes, one in each KiB from a page on; returns the bus address of the first, or 0. */
static uint64_t chain(struct driver *d, int first, const uint8_t *data, uint32_t bytes)
{
    for (uint32_t done = 0, number = 0; done < bytes; number++) {
        uint8_t *block = page(d, first) + 1024 * number;
        uint32_t part = bytes - done < 512 ? bytes - done : 512;
        memcpy(block, data + done, part);
        done += part;
        vcx_put64(block + 560, done < bytes ? PAGE_AT(first) + 1024 * (number + 1) : 0);
        vcx_put32(block + 568, number);
        block[573] = d->token;
    }
    return bytes ? PAGE_AT(first) : 0;
}

static void collect(struct driver *d, int first, uint32_t bytes)
{
    for (uint32_t done = 0, number = 0; done < bytes; number++, done += 512)
        memcpy(d->out + 16 + done, page(d, first) + 1024 * number, bytes - done < 512 ? bytes - done : 512);
}

/* Hands a command over without running it; returns its slot. */
static uint8_t *post(struct driver *d, uint32_t in_bytes, uint32_t out_bytes)
{
    uint8_t *slot = page(d, COMMANDS);
    d->token++;
    memset(slot, 0, 64);
    slot[0] = 7;
    vcx_put32(slot + 4, in_bytes);
    vcx_put64(slot + 8, in_bytes > 16 ? chain(d, MAILBOXES, d->in + 16, in_bytes - 16) : 0);
    memcpy(slot + 16, d->in, 16);
    memset(d->out, 0, sizeof d->out);
    vcx_put64(slot + 48, out_bytes > 16 ? chain(d, MAILBOXES + 4, d->out, out_bytes - 16) : 0);
    vcx_put32(slot + 56, out_bytes);
    slot[60] = d->token;
    slot[63] = 1;
    vcx_put32(d->front.bar + 0x18, 1);
    return slot;
}

/* The status of the transfer; d->out is the answer. */
static uint8_t run(struct driver *d, uint16_t opcode, uint32_t in_bytes, uint32_t out_bytes)
{
    vcx_put16(d->in, opcode);
    uint8_t *slot = post(d, in_bytes, out_bytes);
    assert_true(vcx_device_poll(&d->device));
    assert_int_equal(slot[63] & 1, 0);
    memcpy(d->out, slot + 32, 16);
    if (out_bytes > 16)
        collect(d, MAILBOXES + 4, out_bytes - 16);
    memset(d->in, 0, sizeof d->in);
    return slot[63] >> 1;
}

static uint8_t status(const struct driver *d)
{
    return d->out[0];
}

static void expect_ok(struct driver *d, uint16_t opcode, uint32_t in_bytes, uint32_t out_bytes)
{
    assert_int_equal(run(d, opcode, in_bytes, out_bytes), 0);
    if (status(d))
        fail_msg("command 0x%x: status 0x%x, %s", opcode, status(d), d->front.last_log);
}

static int start(void **state)
{
    struct driver *d = calloc(1, sizeof *d);
    assert_non_null(d);
    front_open(&d->front);
    assert_int_equal(vcx_device_start(&d->device, &front_configuration, &d->front, &front_ops), 0);
    assert_int_equal(vcx_be32(d->front.bar + 0x14), 5 << 4 | 6); /* 32 slots of 64 bytes */
    vcx_put32(d->front.bar + 0x10, (uint32_t)(PAGE_AT(COMMANDS) >> 32));
    vcx_put32(d->front.bar + 0x14, (uint32_t)PAGE_AT(COMMANDS));
    *state = d;
    return 0;
}

static int stop(void **state)
{
    struct driver *d = *state;
    vcx_device_stop(&d->device);
    front_close(&d->front);
    free(d);
    return 0;
}

/* ---- the transfer */

static void a_command_is_answered(void **state)
{
    struct driver *d = *state;
    expect_ok(d, 0x10a, 16, 112); /* QUERY_ISSI */
    assert_int_equal(vcx_get(d->out, query_issi_out, supported_issi_dw0), 3);
    expect_ok(d, 0x100, 16, 16 + 512); /* QUERY_HCA_CAP, general */
    const uint8_t *capability = vcx_at(d->out, query_hca_cap_out, capability);
    assert_int_equal(vcx_get(capability, cmd_hca_cap, log_max_cq), vcx_kinds[VCX_CQ]->log_limit);
    assert_int_equal(vcx_get(capability, cmd_hca_cap, port_type), 1);
    assert_int_equal(vcx_get(capability, cmd_hca_cap, log_max_cq_sz), 22); /* as of a ConnectX-5 */
    assert_int_equal(vcx_get(capability, cmd_hca_cap, log_max_qp), 17);
}

/* Of the driver's memory an answer changes the slot's output and status, and the data of its mailboxes. */
static void an_answer_changes_its_mailboxes_alone(void **state)
{
    struct driver *d = *state;
    static struct watch w;
    enum { BYTES = 16 + 3 * 512 };
    const uint8_t *first = page(d, MAILBOXES + 4);
    vcx_put16(
        d->in,
        0x100); /* QUERY_HCA_CAP: longer than a block; the chain is made here, as d->out has not the room */
    uint8_t *slot = post(d, 16, 16 + 512);
    for (int i = 0; i < 3; i++) {
        uint8_t *block = page(d, MAILBOXES + 4) + (i == 1 ? 3 * VCX_PAGE_BYTES + 3072 : 1024 * i);
        memset(block, 0xa5, 560);
        vcx_put64(block + 560, i == 0   ? PAGE_AT(MAILBOXES + 4) + 3 * VCX_PAGE_BYTES + 3072
                               : i == 1 ? PAGE_AT(MAILBOXES + 4) + 2048
                                        : 0);
        vcx_put32(block + 568, (uint32_t)i);
        block[573] = d->token;
    }
    vcx_put32(slot + 56, BYTES);
    watch_begin(&w, &d->front);
    assert_true(vcx_device_poll(&d->device));
    assert_int_equal(slot[63], 0);
    assert_int_equal(slot[32], VCX_OK);
    watch_allow(&w, slot + 32, 16);
    watch_allow(&w, slot + 63, 1);
    watch_allow(&w, first, 512);
    watch_allow(&w, first + 3 * VCX_PAGE_BYTES + 3072, 512);
    watch_allow(&w, first + 2048, 512);
    watch_end(&w);
    assert_int_not_equal(first[0], 0xa5);
    assert_int_equal(first[2048 + 511], 0); /* zeros behind the capability are written, too */
}

/* mlx5 gives the slot away, sets up its wait for the answer, and rings: an answer before the ring is one
 * that it does not know. */
static void a_slot_is_taken_when_it_is_rung(void **state)
{
    struct driver *d = *state;
    vcx_put16(d->in, 0x10a);
    uint8_t *slot = post(d, 16, 112);
    vcx_put32(d->front.bar + 0x18, 1 << 5); /* the ring of another slot */
    vcx_device_poll(&d->device);
    assert_int_equal(slot[63], 1);
    d->front.now_ns += 1000000;
    vcx_device_poll(&d->device);
    assert_int_equal(slot[63], 1);
    vcx_put32(d->front.bar + 0x18, 1);
    assert_true(vcx_device_poll(&d->device));
    assert_int_equal(slot[63], 0);
}

/* Two rings between two polls: the second overwrites the first in memory. */
static void a_slot_whose_ring_was_lost_is_taken_later(void **state)
{
    struct driver *d = *state;
    d->front.now_ns = 1000000000;
    vcx_put16(d->in, 0x10a);
    uint8_t *slot = post(d, 16, 112);
    vcx_put32(d->front.bar + 0x18, 1 << 5);
    for (int i = 0; i < 4 && slot[63]; i++) {
        assert_true(i < 3);
        vcx_device_poll(&d->device);
        d->front.now_ns += 100000000;
    }
    assert_int_equal(slot[63], 0);
}

/* ... also by a device that was not scheduled for longer than it would look. */
static void a_slot_whose_ring_was_lost_is_not_forgotten(void **state)
{
    struct driver *d = *state;
    d->front.now_ns = 1000000000;
    vcx_put16(d->in, 0x10a);
    uint8_t *slot = post(d, 16, 112);
    vcx_put32(d->front.bar + 0x18, 1 << 5);
    vcx_device_poll(&d->device);
    assert_int_equal(slot[63], 1);
    d->front.now_ns += 5000000000;
    vcx_device_poll(&d->device);
    assert_int_equal(slot[63], 0);
}

/* The driver's memory may be another's when it has not rung for a while: a queue that has nothing for the
 * device is left alone. */
static void an_idle_queue_is_not_looked_at(void **state)
{
    struct driver *d = *state;
    d->front.now_ns = 1000000000;
    vcx_put32(d->front.bar + 0x18, 1 << 5);
    vcx_device_poll(&d->device);
    d->front.now_ns += 5000000000;
    vcx_device_poll(&d->device);
    vcx_put16(d->in, 0x10a);
    const uint8_t *slot = post(d, 16, 112);
    vcx_put32(d->front.bar + 0x18, 0); /* without a ring */
    for (int i = 0; i < 10; i++) {
        vcx_device_poll(&d->device);
        d->front.now_ns += 100000000;
    }
    assert_int_equal(slot[63], 1);
}

static void what_is_not_known_is_refused_and_counted(void **state)
{
    struct driver *d = *state;
    assert_int_equal(run(d, 0x7ff, 16, 16), 0);
    assert_int_equal(status(d), VCX_BAD_OPERATION);
    assert_true(d->device.commands[0].id == 0x7ff && d->device.commands[0].refused == VCX_BAD_OPERATION);
    assert_int_equal(run(d, 0x301, 16, 16), 0); /* CREATE_EQ without its context */
    assert_int_equal(status(d), VCX_BAD_INPUT_LENGTH);
}

static void wrong_transfers_have_their_status(void **state)
{
    struct driver *d = *state;
    uint8_t *slot = post(d, 32, 16);
    slot[60]++; /* not the mailbox's token */
    vcx_device_poll(&d->device);
    assert_int_equal(slot[63], 2 << 1);
    slot = post(d, 32, 16);
    vcx_put32(page(d, MAILBOXES) + 568, 5); /* block number */
    vcx_device_poll(&d->device);
    assert_int_equal(slot[63], 3 << 1);
    slot = post(d, 32, 16);
    vcx_put64(slot + 8, 0x1000); /* a mailbox outside memory */
    vcx_device_poll(&d->device);
    assert_int_equal(slot[63], 5 << 1);
    slot = post(d, 32, 16);
    vcx_put32(slot + 4, 0xffffffff);
    vcx_device_poll(&d->device);
    assert_int_equal(slot[63], 7 << 1);
    slot = post(d, 16, 16);
    vcx_put32(slot + 56, 3);
    vcx_device_poll(&d->device);
    assert_int_equal(slot[63], 8 << 1);
}

/* The driver is not ready for a completion before it rings; but the ring may be overwritten by another
 * slot's. */
static void a_slot_waits_for_its_doorbell(void **state)
{
    struct driver *d = *state;
    vcx_put16(d->in, 0x800);
    uint8_t *slot = post(d, 16, 16);
    vcx_put32(d->front.bar + 0x18, 2);
    vcx_device_poll(&d->device);
    d->front.now_ns += 199999999;
    vcx_device_poll(&d->device);
    assert_int_equal(slot[63], 1);
    vcx_put32(d->front.bar + 0x18, 1);
    vcx_device_poll(&d->device);
    assert_int_equal(slot[63], 0);
    slot = post(d, 16, 16);
    vcx_put32(d->front.bar + 0x18, 2);
    vcx_device_poll(&d->device);
    d->front.now_ns += 200000000;
    vcx_device_poll(&d->device);
    assert_int_equal(slot[63], 0);
}

/* A queue of commands that is not memory is not read. */
static void a_queue_outside_memory_is_left_alone(void **state)
{
    struct driver *d = *state;
    vcx_put32(d->front.bar + 0x10, 0);
    vcx_put32(d->front.bar + 0x14, 0x5000);
    vcx_put32(d->front.bar + 0x18, 0xffffffff);
    assert_false(vcx_device_poll(&d->device));
}

/* ---- queues */

static uint32_t create_eq(struct driver *d)
{
    uint8_t *context = vcx_at(d->in, create_eq_in, eq_context_entry);
    vcx_set(context, eqc, log_eq_size, 6);
    vcx_set(context, eqc, intr, 3);
    vcx_set(d->in, create_eq_in, event_bitmask_0, 1 << VCX_EVENT_CQ_ERROR);
    vcx_put64(vcx_at(d->in, create_eq_in, pas), PAGE_AT(EQ_PAGE));
    expect_ok(d, 0x301, vcx_offset(create_eq_in, pas) + 8, 16);
    return (uint32_t)vcx_get(d->out, create_eq_out, eq_number);
}

static void cq_context(struct driver *d, uint32_t eq, uint64_t record)
{
    uint8_t *context = vcx_at(d->in, create_cq_in, cq_context);
    vcx_set(context, cqc, log_cq_size, 2);
    vcx_set(context, cqc, c_eqn_or_apu_element, eq);
    vcx_set(context, cqc, dbr_addr, record);
    vcx_put64(vcx_at(d->in, create_cq_in, pas), PAGE_AT(CQ_PAGE));
}

static uint32_t create_cq(struct driver *d, uint32_t eq)
{
    cq_context(d, eq, PAGE_AT(RECORD));
    expect_ok(d, 0x400, vcx_offset(create_cq_in, pas) + 8, 16);
    return (uint32_t)vcx_get(d->out, create_cq_out, cqn);
}

static void a_completion_tells_once_per_arm(void **state)
{
    struct driver *d = *state;
    static const uint8_t completion[VCX_CQE_BYTES] = {[VCX_CQE_BYTE_COUNT + 3] = 42};
    uint32_t eq = create_eq(d), cq = create_cq(d, eq);
    vcx_put32(page(d, RECORD) + 4, 0u << 28); /* armed: any completion after number 0 */
    assert_true(vcx_cq_write(&d->device, cq, VCX_CQE_SEND, completion, false));
    assert_true(vcx_cq_write(&d->device, cq, VCX_CQE_SEND, completion, false));
    assert_int_equal(d->front.interrupts[3], 1);
    const uint8_t *entry = page(d, CQ_PAGE), *event = page(d, EQ_PAGE);
    assert_int_equal(entry[63], VCX_CQE_SEND << 4);
    assert_int_equal(vcx_be32(entry + VCX_CQE_BYTE_COUNT), 42);
    assert_int_equal(event[1], 0); /* completion */
    assert_int_equal(vcx_be32(event + 32 + 24), cq);
    assert_int_equal(event[63], 0);          /* first round */
    assert_int_equal(event[64 + 63] & 1, 1); /* the next one is not written */
    vcx_put32(page(d, RECORD), 1);
    vcx_put32(page(d, RECORD) + 4, 1u << 28 | 1); /* armed again, having seen one */
    vcx_device_poll(&d->device);
    assert_int_equal(d->front.interrupts[3], 2);
}

static void owner_bits_turn_each_round(void **state)
{
    struct driver *d = *state;
    static const uint8_t completion[VCX_CQE_BYTES] = {0};
    uint32_t cq = create_cq(d, create_eq(d));
    for (uint32_t i = 0; i < 12; i++) {
        assert_true(vcx_cq_write(&d->device, cq, VCX_CQE_REQUESTER, completion, false));
        assert_int_equal(page(d, CQ_PAGE)[64 * (i % 4) + 63] & 1, i / 4 & 1);
        vcx_put32(page(d, RECORD), i + 1);
    }
}

/* A driver that does not look overruns its queue: one event, nothing is overwritten, and nothing is
 * written afterwards. */
static void a_full_queue_is_not_overwritten(void **state)
{
    struct driver *d = *state;
    static const uint8_t first[VCX_CQE_BYTES] = {1}, later[VCX_CQE_BYTES] = {2};
    uint32_t cq = create_cq(d, create_eq(d));
    vcx_put32(page(d, RECORD) + 4, 1u << 28); /* not armed */
    for (int i = 0; i < 4; i++)
        assert_true(vcx_cq_write(&d->device, cq, VCX_CQE_REQUESTER, first, false));
    assert_false(vcx_cq_write(&d->device, cq, VCX_CQE_REQUESTER, later, false));
    assert_int_equal(d->front.interrupts[3], 1);
    assert_int_equal(page(d, EQ_PAGE)[1], VCX_EVENT_CQ_ERROR);
    assert_int_equal(vcx_be32(page(d, EQ_PAGE) + 32), cq);
    for (int i = 0; i < 28; i++)
        assert_false(vcx_cq_write(&d->device, cq, VCX_CQE_REQUESTER, later, false));
    vcx_put32(page(d, RECORD), 4); /* too late: the completion between is lost */
    assert_false(vcx_cq_write(&d->device, cq, VCX_CQE_REQUESTER, later, false));
    assert_int_equal(d->front.interrupts[3], 1);
    for (int i = 0; i < 4; i++)
        assert_int_equal(page(d, CQ_PAGE)[64 * i], 1);
    vcx_set(d->in, query_cq_in, cqn, cq);
    run(d, 0x402, 16, vcx_offset(query_cq_out, cq_context) + 64);
    assert_int_equal(vcx_get(vcx_at(d->out, query_cq_out, cq_context), cqc, status), 9);
}

/* Of 128 bytes the second half is the completion; the first is written where the driver wants the entry
 * padded. */
static void entries_may_be_of_128_bytes(void **state)
{
    struct driver *d = *state;
    static const uint8_t completion[VCX_CQE_BYTES] = {[VCX_CQE_BYTE_COUNT + 3] = 42};
    const uint8_t *entry = page(d, CQ_PAGE) + 128;
    uint32_t eq = create_eq(d), bytes = vcx_offset(create_cq_in, pas) + 8;
    for (uint64_t stride = 1; stride <= 3; stride++) {
        memset(page(d, CQ_PAGE), 0xa5, 512);
        vcx_put32(page(d, RECORD), 0);
        cq_context(d, eq, PAGE_AT(RECORD));
        vcx_set(vcx_at(d->in, create_cq_in, cq_context), cqc, cqe_sz, stride);
        run(d, 0x400, bytes, 16);
        assert_int_equal(status(d), stride < 3 ? VCX_OK : VCX_BAD_PARAMETER);
        uint32_t cq = (uint32_t)vcx_get(d->out, create_cq_out, cqn);
        for (int i = 0; stride < 3 && i < 2; i++)
            assert_true(vcx_cq_write(&d->device, cq, VCX_CQE_SEND, completion, false));
        bool written = stride < 3, pads = stride == 2;
        assert_int_equal(entry[0], pads ? 0 : 0xa5);
        assert_int_equal(entry[63], pads ? 0 : 0xa5);
        assert_int_equal(entry[64 + VCX_CQE_BYTE_COUNT + 3], written ? 42 : 0xa5);
        assert_int_equal(entry[128], 0xa5); /* the next one */
    }
}

static int resize_cq(struct driver *d, uint32_t cq, uint32_t log_size)
{
    uint8_t *context = vcx_at(d->in, modify_cq_in, cq_context);
    vcx_set(d->in, nop_in, op_mod, 1);
    vcx_set(d->in, modify_cq_in, cqn, cq);
    vcx_set(d->in, modify_cq_in, modify_field_select, 7); /* size, page offset and size */
    vcx_set(context, cqc, log_cq_size, log_size);
    vcx_put64(vcx_at(d->in, modify_cq_in, pas), PAGE_AT(NEW_CQ_PAGE));
    run(d, 0x403, vcx_offset(modify_cq_in, pas) + 8, 16);
    return status(d);
}

/* libmlx5's way: the old memory ends with an entry that says so, whose number the new memory leaves out
 * for what is moved. */
static void a_queue_is_resized(void **state)
{
    struct driver *d = *state;
    static const uint8_t completion[VCX_CQE_BYTES] = {0};
    uint32_t cq = create_cq(d, create_eq(d));
    assert_true(vcx_cq_write(&d->device, cq, VCX_CQE_SEND, completion, false));
    assert_true(vcx_cq_write(&d->device, cq, VCX_CQE_SEND, completion, false));
    assert_int_equal(resize_cq(d, cq, 1), VCX_BAD_SIZE); /* for two and the last */
    assert_int_equal(resize_cq(d, cq, 31), VCX_BAD_PARAMETER);
    assert_int_equal(page(d, CQ_PAGE)[2 * 64 + 63], 0); /* refused: nothing was written */
    assert_int_equal(resize_cq(d, cq, 3), VCX_OK);
    assert_int_equal(page(d, CQ_PAGE)[2 * 64 + 63], VCX_CQE_RESIZE << 4);
    assert_true(vcx_cq_write(&d->device, cq, VCX_CQE_REQUESTER, completion, false));
    assert_int_equal(page(d, NEW_CQ_PAGE)[3 * 64 + 63], VCX_CQE_REQUESTER << 4);
    for (uint32_t i = 4; i < 9; i++) {
        vcx_put32(page(d, RECORD), i);
        assert_true(vcx_cq_write(&d->device, cq, VCX_CQE_REQUESTER, completion, false));
    }
    assert_int_equal(page(d, NEW_CQ_PAGE)[63], VCX_CQE_REQUESTER << 4 | 1);
    for (uint32_t i = 9; i < 16; i++)
        assert_true(vcx_cq_write(&d->device, cq, VCX_CQE_REQUESTER, completion, false));
    assert_int_equal(resize_cq(d, cq, 4), VCX_BAD_SIZE); /* no place is left for the last entry */
}

/* Entries of a new event queue get their owner's bit; the page behind them does not, and a completion
 * queue's memory is left alone. */
static void a_new_queue_changes_owner_bits_alone(void **state)
{
    struct driver *d = *state;
    static struct watch w;
    memset(page(d, EQ_PAGE), 0xa4, VCX_PAGE_BYTES);
    memset(page(d, CQ_PAGE), 0xa4, VCX_PAGE_BYTES);
    watch_begin(&w, &d->front);
    uint8_t *context = vcx_at(d->in, create_eq_in, eq_context_entry);
    vcx_set(context, eqc, log_eq_size, 4);
    vcx_put64(vcx_at(d->in, create_eq_in, pas), PAGE_AT(EQ_PAGE));
    expect_ok(d, 0x301, vcx_offset(create_eq_in, pas) + 8, 16);
    cq_context(d, (uint32_t)vcx_get(d->out, create_eq_out, eq_number), PAGE_AT(RECORD));
    expect_ok(d, 0x400, vcx_offset(create_cq_in, pas) + 8, 16);
    watch_allow(&w, page(d, COMMANDS), 64);
    watch_allow(&w, page(d, MAILBOXES), 4 * VCX_PAGE_BYTES); /* the test's input */
    for (int i = 0; i < 16; i++) {
        assert_int_equal(page(d, EQ_PAGE)[64 * i + 63], 1);
        watch_allow(&w, page(d, EQ_PAGE) + 64 * i + 63, 1);
    }
    watch_end(&w);
}

/* The entry that ends the old memory is one; entries of 128 bytes are written as a whole only if they are
 * padded. */
static void a_resize_changes_one_entry(void **state)
{
    struct driver *d = *state;
    static struct watch w;
    static const uint8_t completion[VCX_CQE_BYTES] = {0};
    uint32_t cq = create_cq(d, create_eq(d));
    assert_true(vcx_cq_write(&d->device, cq, VCX_CQE_SEND, completion, false));
    memset(page(d, NEW_CQ_PAGE), 0xa4, VCX_PAGE_BYTES);
    watch_begin(&w, &d->front);
    assert_int_equal(resize_cq(d, cq, 3), VCX_OK);
    watch_allow(&w, page(d, COMMANDS), 64);
    watch_allow(&w, page(d, MAILBOXES), 4 * VCX_PAGE_BYTES);
    watch_allow(&w, page(d, CQ_PAGE) + 64, 64);
    watch_end(&w);
}

static void bad_contexts_are_refused(void **state)
{
    struct driver *d = *state;
    uint32_t eq = create_eq(d), bytes = vcx_offset(create_cq_in, pas) + 8;
    cq_context(d, eq + 1, PAGE_AT(RECORD)); /* no such event queue */
    assert_int_equal(run(d, 0x400, bytes, 16), 0);
    assert_int_equal(status(d), VCX_BAD_PARAMETER);
    cq_context(d, eq, 0x10); /* a doorbell record outside memory */
    run(d, 0x400, bytes, 16);
    assert_int_equal(status(d), VCX_BAD_PARAMETER);
    cq_context(d, eq, PAGE_AT(RECORD));
    vcx_set(vcx_at(d->in, create_cq_in, cq_context), cqc, log_cq_size, 31); /* more memory than it lists */
    run(d, 0x400, bytes, 16);
    assert_int_equal(status(d), VCX_BAD_PARAMETER);
    assert_int_equal(d->device.numbers[VCX_CQ].used, 0);
}

static void numbers_run_out(void **state)
{
    struct driver *d = *state;
    uint32_t count = 0;
    do
        run(d, 0x80e, 16, 16); /* ALLOC_XRCD */
    while (status(d) == VCX_OK && ++count < 100);
    assert_int_equal(count, 15); /* 2^4, without number 0 */
    assert_int_equal(status(d), VCX_NO_RESOURCES);
    vcx_set(d->in, dealloc_pd_in, pd, 7);
    expect_ok(d, 0x80f, 16, 16);
    vcx_set(d->in, dealloc_pd_in, pd, 7);
    run(d, 0x80f, 16, 16);
    assert_int_equal(status(d), VCX_BAD_RESOURCE);
    expect_ok(d, 0x80e, 16, 16);
    assert_int_equal(vcx_get(d->out, alloc_pd_out, pd), 7);
}

/* ---- memory keys */

static uint32_t create_mkey(struct driver *d, uint64_t start_at, uint64_t bytes, uint32_t pd)
{
    uint8_t *context = vcx_at(d->in, create_mkey_in, memory_key_mkey_entry),
            *list = vcx_at(d->in, create_mkey_in, klm_pas_mtt);
    vcx_set(context, mkc, access_mode_1_0, 1);
    vcx_set(context, mkc, lr, 1);
    vcx_set(context, mkc, rw, 1);
    vcx_set(context, mkc, mkey_7_0, 0x5a);
    vcx_set(context, mkc, log_page_size, 12);
    vcx_set(context, mkc, start_addr, start_at);
    vcx_set(context, mkc, len, bytes);
    vcx_set(context, mkc, pd, pd);
    vcx_set(d->in, create_mkey_in, translations_octword_actual_size, 1);
    vcx_put64(list, PAGE_AT(DATA + 1)); /* pages in the other order */
    vcx_put64(list + 8, PAGE_AT(DATA));
    expect_ok(d, 0x200, vcx_offset(create_mkey_in, klm_pas_mtt) + 16, 16);
    return (uint32_t)vcx_get(d->out, create_mkey_out, mkey_index) << 8 | 0x5a;
}

static void a_key_allows_what_it_says(void **state)
{
    struct driver *d = *state;
    struct vcx_rights own = {.pd = 3}, other = {.pd = 4};
    uint64_t at = 0x7f0000000f00, bytes = 0x300; /* the begin in one page, the end in the next */
    uint32_t key = create_mkey(d, at, bytes, 3);
    uint8_t data[0x300], back[0x300] = {0};
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 7);
    assert_true(vcx_mkey_write(&d->device, own, key, VCX_REMOTE_WRITE, at, data, sizeof data));
    assert_memory_equal(page(d, DATA + 1) + 0xf00, data, 0x100);
    assert_memory_equal(page(d, DATA), data + 0x100, 0x200);
    assert_true(vcx_mkey_read(&d->device, own, key, VCX_LOCAL_READ, at, back, sizeof back));
    assert_memory_equal(back, data, sizeof data);
    assert_false(vcx_mkey_write(&d->device, own, key, VCX_LOCAL_WRITE, at, data, 1)); /* not allowed */
    assert_false(vcx_mkey_read(&d->device, own, key, VCX_REMOTE_READ, at, back, 1));
    assert_false(vcx_mkey_read(&d->device, other, key, VCX_LOCAL_READ, at, back, 1));   /* another domain */
    assert_false(vcx_mkey_read(&d->device, own, key ^ 1, VCX_LOCAL_READ, at, back, 1)); /* an earlier key */
    assert_false(vcx_mkey_read(&d->device, own, key, VCX_LOCAL_READ, at - 1, back, 1));
    assert_false(vcx_mkey_read(&d->device, own, key, VCX_LOCAL_READ, at + bytes, back, 1));
    assert_false(vcx_mkey_read(&d->device, own, key, VCX_LOCAL_READ, at + 1, back, 0x300));
    assert_false(vcx_mkey_read(&d->device, own, key, VCX_LOCAL_READ, UINT64_MAX, back, 8));
}

/* What is not allowed to its end is not begun. */
static void half_a_write_is_none(void **state)
{
    struct driver *d = *state;
    struct vcx_rights own = {.pd = 3};
    uint32_t key = create_mkey(d, 0x1000, 0x2000, 3);
    uint8_t data[16];
    memset(data, 0xee, sizeof data);
    assert_false(vcx_mkey_write(&d->device, own, key, VCX_REMOTE_WRITE, 0x2ff8, data, sizeof data));
    for (int i = 0; i < 16; i++)
        assert_int_equal(page(d, DATA)[0xff0 + i], 0);
}

static void the_reserved_key_is_the_drivers_own(void **state)
{
    struct driver *d = *state;
    uint8_t byte;
    struct vcx_rights user = {.pd = 3}, kernel = {.pd = 3, .reserved_key = true};
    assert_false(vcx_mkey_read(&d->device, user, VCX_KEY_RESERVED, VCX_LOCAL_READ, PAGE_AT(DATA), &byte, 1));
    assert_true(vcx_mkey_read(&d->device, kernel, VCX_KEY_RESERVED, VCX_LOCAL_READ, PAGE_AT(DATA), &byte, 1));
    assert_false(
        vcx_mkey_read(&d->device, kernel, VCX_KEY_RESERVED, VCX_LOCAL_READ, PAGE_AT(PAGES), &byte, 1));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_command_is_answered),
        TEST(an_answer_changes_its_mailboxes_alone),
        TEST(a_new_queue_changes_owner_bits_alone),
        TEST(a_resize_changes_one_entry),
        TEST(a_slot_is_taken_when_it_is_rung),
        TEST(a_slot_whose_ring_was_lost_is_taken_later),
        TEST(a_slot_whose_ring_was_lost_is_not_forgotten),
        TEST(an_idle_queue_is_not_looked_at),
        TEST(what_is_not_known_is_refused_and_counted),
        TEST(wrong_transfers_have_their_status),
        TEST(a_slot_waits_for_its_doorbell),
        TEST(a_queue_outside_memory_is_left_alone),
        TEST(a_completion_tells_once_per_arm),
        TEST(entries_may_be_of_128_bytes),
        TEST(owner_bits_turn_each_round),
        TEST(a_full_queue_is_not_overwritten),
        TEST(a_queue_is_resized),
        TEST(bad_contexts_are_refused),
        TEST(numbers_run_out),
        TEST(a_key_allows_what_it_says),
        TEST(half_a_write_is_none),
        TEST(the_reserved_key_is_the_drivers_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
